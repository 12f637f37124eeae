# sh in_wine.sh COMMAND...
#
# Runs a test program in Wine. On a busy machine Wine itself may fail, once in some thousand times, before the program
# has done anything: then there is not a word of it, and it is started once more. A test that fails says so, and a crash
# is told by Wine.
said=$("$@" 2>&1)
status=$?
if [ "$status" -ne 0 ] && [ -z "$said" ]; then
  echo "Wine could not start it (exit status $status): once more"
  said=$("$@" 2>&1)
  status=$?
fi
printf '%s\n' "$said"
exit "$status"
