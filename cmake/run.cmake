# Builds fixnvpe, installing what that takes, and runs it:
#
#   cmake -P cmake/run.cmake                      verify, patch and restore on a copy of the sample files
#   cmake -P cmake/run.cmake -- verify PATH...    with the words after --
#
# Once all is built, nothing but the program's output is to be seen.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

set(build "build/${FIXNVPE_RUN_PRESET}")
set(program "${FIXNVPE_RUN_PROGRAM}")

# Brings the program up to date.
function(fixnvpe_build_program)
  set(ninja_file "${FIXNVPE_SOURCE}/${build}/build.ninja")
  set(presets "${FIXNVPE_SOURCE}/CMakePresets.json")
  if(EXISTS "${ninja_file}" AND EXISTS "${FIXNVPE_SOURCE}/${program}" AND NOT "${presets}" IS_NEWER_THAN "${ninja_file}")
    execute_process(COMMAND ninja -C "${FIXNVPE_SOURCE}/${build}" -n fixnvpe OUTPUT_VARIABLE plan ERROR_QUIET)
    if(plan MATCHES "no work to do")
      return()
    endif()
  endif()

  fixnvpe_install_needed(${FIXNVPE_BUILD_PACKAGES})
  message(NOTICE "fixnvpe: building ${program}")
  fixnvpe_build_preset(${FIXNVPE_RUN_PRESET})
endfunction()

# One step of the walk through the sample: shown as one would type it in the project's folder.
function(fixnvpe_step expected)
  list(JOIN ARGN " " words)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "$ ${program} ${words}")
  execute_process(COMMAND "${FIXNVPE_SOURCE}/${program}" ${ARGN} WORKING_DIRECTORY "${FIXNVPE_SOURCE}"
                  RESULT_VARIABLE status)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "(exit status ${status})\n")
  if(NOT status STREQUAL expected)
    message(FATAL_ERROR "fixnvpe ${words}: exit status ${status}, where ${expected} was expected")
  endif()
endfunction()

# Is there a -- among the words of this command? What follows it goes to the program, word for word: each is named by
# its CMAKE_ARGV variable in the code below, since a list would drop empty words and split others at semicolons.
set(words "")
set(has_words FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(has_words)
    string(APPEND words " \"\${CMAKE_ARGV${i}}\"")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(has_words TRUE)
  endif()
endforeach()

fixnvpe_build_program()

if(has_words)
  cmake_language(EVAL CODE "execute_process(COMMAND \"\${FIXNVPE_SOURCE}/\${program}\" ${words} RESULT_VARIABLE status)")
  if(status STREQUAL "0")
    return()
  endif()
  # Before CMake 3.29 a script can't choose its exit status: an error, which makes it 1, is all it has.
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.29 AND status MATCHES "^[0-9]+$")
    cmake_language(EXIT ${status})
  endif()
  message(FATAL_ERROR "fixnvpe ended with exit status ${status}")
endif()

# A fresh copy each time: the files in testdata/ are never touched.
set(sample "${build}/sample")
file(REMOVE_RECURSE "${FIXNVPE_SOURCE}/${sample}")
file(COPY "${FIXNVPE_SOURCE}/testdata/sample/" DESTINATION "${FIXNVPE_SOURCE}/${sample}")
fixnvpe_step(1 verify ${sample})
fixnvpe_step(0 patch ${sample})
fixnvpe_step(0 verify ${sample})
fixnvpe_step(0 restore ${sample})
fixnvpe_step(1 verify ${sample})
