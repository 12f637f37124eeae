# cmake -DBUILD=<build folder> -DVERSION=<x.y.z> -DRUNNER=<emulator> -DCONFIG=<configuration> -P check_package.cmake
cmake_minimum_required(VERSION 3.25)

set(folder "${BUILD}/package-test")
file(REMOVE_RECURSE "${folder}")
execute_process(COMMAND "${CMAKE_CPACK_COMMAND}" --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -B "${folder}"
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

file(GLOB packages "${folder}/*.deb" "${folder}/*.zip")
list(LENGTH packages count)
if(NOT count EQUAL 1 OR NOT EXISTS "${packages}.sha256")
  message(FATAL_ERROR "expected one package and its .sha256, found: ${packages}")
endif()

set(unpacked "${folder}/unpacked")
file(MAKE_DIRECTORY "${unpacked}")
if(packages MATCHES "\\.deb$")
  set(program usr/bin/fixnvpe)
  set(expected
      usr/bin/fixnvpe
      usr/share/bash-completion/completions/fixnvpe
      usr/share/doc/fixnvpe/LICENSE
      usr/share/doc/fixnvpe/README.md
      usr/share/fish/vendor_completions.d/fixnvpe.fish
      usr/share/man/man1/fixnvpe.1.gz
      usr/share/zsh/vendor-completions/_fixnvpe)
  execute_process(COMMAND dpkg-deb -x "${packages}" "${unpacked}" COMMAND_ERROR_IS_FATAL ANY)
else()
  set(top "fixnvpe-${VERSION}-windows-x64")
  set(program "${top}/fixnvpe.exe")
  set(expected "${top}/LICENSE" "${top}/README.md" "${program}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E tar xf "${packages}" WORKING_DIRECTORY "${unpacked}"
                                                                     COMMAND_ERROR_IS_FATAL ANY)
endif()

file(GLOB_RECURSE files RELATIVE "${unpacked}" "${unpacked}/*")
list(SORT files)
if(NOT files STREQUAL expected)
  message(FATAL_ERROR "expected in ${packages}: ${expected}\nfound: ${files}")
endif()
execute_process(COMMAND ${RUNNER} "${unpacked}/${program}" --version OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
if(NOT said MATCHES "^fixnvpe ${VERSION} ")
  message(FATAL_ERROR "expected of the packaged program: fixnvpe ${VERSION}, it said: ${said}")
endif()

# What the packaged program says of itself, the documents beside it say, too.
if(packages MATCHES "\\.deb$")
  set(share "${unpacked}/usr/share")
  foreach(pair IN ITEMS bash:bash-completion/completions/fixnvpe fish:fish/vendor_completions.d/fixnvpe.fish
                        zsh:zsh/vendor-completions/_fixnvpe)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 shell)
    list(GET pair 1 file)
    execute_process(COMMAND "${unpacked}/${program}" completion ${shell} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    file(READ "${share}/${file}" packaged)
    if(NOT packaged STREQUAL said)
      message(FATAL_ERROR "${file} is not what fixnvpe completion ${shell} prints")
    endif()
  endforeach()

  execute_process(COMMAND gzip -dc "${share}/man/man1/fixnvpe.1.gz" OUTPUT_FILE "${folder}/fixnvpe.1"
                                                                    COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${folder}/fixnvpe.1" page)
  string(REPLACE "\\-" "-" plain "${page}")
  set(wanted ".SH NAME\nfixnvpe - " ".SH SYNOPSIS\n" "fixnvpe ${VERSION}")
  execute_process(COMMAND "${unpacked}/${program}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n  [a-z]+  " commands "${help}")
  list(LENGTH commands count)
  if(count LESS 6)
    message(FATAL_ERROR "expected at least six commands in the help, found: ${commands}")
  endif()
  foreach(command IN LISTS commands)
    string(STRIP "${command}" command)
    list(APPEND wanted ".SS ${command}\n")
    execute_process(COMMAND "${unpacked}/${program}" ${command} --help OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND help "${said}")
  endforeach()
  string(REGEX MATCHALL "\n  (-[a-z],)?--[a-z-]+" options "${help}")
  list(REMOVE_DUPLICATES options)
  foreach(option IN LISTS options)
    string(REGEX REPLACE "\n  (-.,)?" "" option "${option}")
    list(APPEND wanted "\\fB${option}\\fR")
  endforeach()
  foreach(text IN LISTS wanted)
    string(FIND "${plain}" "${text}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "expected in fixnvpe.1: ${text}\nit is: ${page}")
    endif()
  endforeach()

  # Troff's own opinion, where there is a troff. mandoc asks for a date, which would make each build another.
  find_program(groff groff)
  find_program(mandoc mandoc)
  if(groff)
    execute_process(COMMAND "${groff}" -man -Tascii -ww "${folder}/fixnvpe.1" OUTPUT_VARIABLE shown ERROR_VARIABLE said
                                                                              COMMAND_ERROR_IS_FATAL ANY)
  elseif(mandoc)
    execute_process(COMMAND "${mandoc}" -Tascii -Werror "${folder}/fixnvpe.1" OUTPUT_VARIABLE shown ERROR_VARIABLE said
                                                                              COMMAND_ERROR_IS_FATAL ANY)
  else()
    message(STATUS "neither groff nor mandoc is here: fixnvpe.1 was read, but not shown")
  endif()
  if((groff OR mandoc) AND NOT (said STREQUAL "" AND shown MATCHES "User Commands"))
    message(FATAL_ERROR "fixnvpe.1 is not shown as it should be: ${said}\n${shown}")
  endif()
endif()
file(REMOVE_RECURSE "${folder}")
