#!/bin/bash
# Runs the program, and shows what it said in the summary of the job, too. Its exit status is the step's.
set -uo pipefail

words=()
while IFS= read -r word; do
    if [ -n "$word" ]; then
        words+=("$word")
    fi
done <<<"$FIXNVPE_WORDS"

export MSYS2_ARG_CONV_EXCL='*' # on Windows this shell takes /word for a path of its own
said=$(mktemp)
"$FIXNVPE_PROGRAM" "$FIXNVPE_COMMAND" --color never --no-progress "${words[@]}" 2>&1 | tee "$said"
status=$?
{
    printf '```\n$ fixnvpe %s\n' "$FIXNVPE_COMMAND ${words[*]}"
    cat "$said"
    printf '```\n'
} >>"$GITHUB_STEP_SUMMARY"
exit $status
