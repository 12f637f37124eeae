# Holds the samples of output in README.md against what the program prints:
#
#   cmake -DPROGRAM=build/release/fixnvpe -P cmake/readme.cmake
#   cmake -DPROGRAM=build/release/fixnvpe -DWRITE=ON -P cmake/readme.cmake     writes them anew
#
# A sample is a fenced block behind the mark below. Its lines "$ fixnvpe ..." are run in their order, in a fresh copy
# of testdata/sample, and what each prints on standard output must stand below it.
cmake_minimum_required(VERSION 3.25)

option(WRITE "Write the samples anew" OFF)
set(mark "<!-- made by cmake/readme.cmake -->\n")
set(prompt "$ fixnvpe ")

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
cmake_path(ABSOLUTE_PATH PROGRAM BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE)
if(NOT EXISTS "${PROGRAM}")
  message(FATAL_ERROR "There is no program ${PROGRAM}: build it, and name it with -DPROGRAM=FILE")
endif()
cmake_path(GET PROGRAM PARENT_PATH work)
string(APPEND work "/readme")

# Runs the commands of one sample. @param sample without its fences
function(fixnvpe_run_sample sample result)
  file(REMOVE_RECURSE "${work}")
  file(COPY "${source}/testdata/sample/" DESTINATION "${work}")
  string(REGEX MATCHALL "(^|\n)[$] fixnvpe [^\n]*" commands "${sample}")
  set(printed "")
  foreach(command IN LISTS commands)
    string(STRIP "${command}" command)
    string(REPLACE "${prompt}" "" words "${command}")
    separate_arguments(words UNIX_COMMAND "${words}")
    execute_process(COMMAND "${PROGRAM}" ${words} WORKING_DIRECTORY "${work}" OUTPUT_VARIABLE output ERROR_QUIET)
    if(CMAKE_HOST_WIN32)
      string(REPLACE "\\" "/" output "${output}")
    endif()
    string(APPEND printed "\n${command}\n${output}")
  endforeach()
  file(REMOVE_RECURSE "${work}")
  string(SUBSTRING "${printed}" 1 -1 printed)
  set(${result} "${printed}" PARENT_SCOPE)
endfunction()

# Takes from `rest` what comes before `end`, and `end` too.
macro(fixnvpe_take_to end result)
  string(FIND "${rest}" "${end}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "README.md: a sample that is marked as made has no ${end}")
  endif()
  string(SUBSTRING "${rest}" 0 ${at} ${result})
  string(LENGTH "${end}" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${rest}" ${at} -1 rest)
endmacro()

file(READ "${source}/README.md" readme)
set(rest "${readme}")
set(made "")
while(rest MATCHES "${mark}")
  fixnvpe_take_to("${mark}" before)
  fixnvpe_take_to("```\n" nothing)
  fixnvpe_take_to("```\n" sample)
  string(FIND "${sample}" "${prompt}" at)
  if(NOT nothing STREQUAL "" OR NOT at EQUAL 0)
    message(FATAL_ERROR "README.md: behind ${mark}no block that begins with \"${prompt}\" follows")
  endif()
  fixnvpe_run_sample("${sample}" sample)
  string(APPEND made "${before}${mark}```\n${sample}```\n")
endwhile()
if(made STREQUAL "")
  message(FATAL_ERROR "README.md has no sample behind ${mark}")
endif()
string(APPEND made "${rest}")

if(made STREQUAL readme)
  return()
endif()
if(WRITE)
  file(WRITE "${source}/README.md" "${made}")
  return()
endif()
file(WRITE "${work}/README.md" "${made}")
execute_process(COMMAND git diff --no-index -- "${source}/README.md" "${work}/README.md")
message(FATAL_ERROR "README.md does not say what the program prints: see above, or ${work}/README.md. Where the "
                    "program is right, -DWRITE=ON mends README.md.")
