# What can be said of the source without running it. test.cmake runs this, too:
#
#   cmake -P cmake/lint.cmake
#   cmake -DFIXNVPE_ANALYZER=ON -P cmake/lint.cmake     clang-analyzer, too: it takes three times as long
#
# It goes through all checks, and ends with an error if one of them found anything.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

option(FIXNVPE_ANALYZER "Run clang-analyzer, too" OFF)

fixnvpe_install_needed(${FIXNVPE_BUILD_PACKAGES} ${FIXNVPE_TEST_PACKAGES})

set(found "")

# Half a merge. The owner of the folder need not be who tests: in a container it often is not.
find_program(FIXNVPE_GIT git REQUIRED NO_CACHE)
execute_process(
  COMMAND "${FIXNVPE_GIT}" -c safe.directory=* grep --untracked -nIE "^([<]{7} |[|]{7} |[>]{7} |={7}$)"
  WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status)
if(status EQUAL 0)
  list(APPEND found "conflict markers")
elseif(NOT status EQUAL 1)
  message(FATAL_ERROR "git could not look for conflict markers: its reason is above.")
endif()

# One version in two places
file(STRINGS "${FIXNVPE_SOURCE}/CMakeLists.txt" version REGEX "^ *VERSION [0-9.]+$" LIMIT_COUNT 1)
string(REGEX REPLACE "^ *VERSION " "" version "${version}")
file(READ "${FIXNVPE_SOURCE}/cmake/vcpkg.json" vcpkg)
string(JSON vcpkg_version GET "${vcpkg}" version)
if(NOT version STREQUAL vcpkg_version)
  message(NOTICE "CMakeLists.txt has version ${version}, cmake/vcpkg.json has ${vcpkg_version}")
  list(APPEND found "two versions")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_LIST_DIR}/links.cmake" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  list(APPEND found "pages that say what is not so")
endif()

if(CMAKE_HOST_WIN32)
  message(STATUS "clang-format and clang-tidy are not run on Windows: the same source is checked on Debian")
else()
  # By number: another version finds and formats other things.
  find_program(FIXNVPE_CLANG_FORMAT clang-format-14 REQUIRED NO_CACHE)
  find_program(FIXNVPE_CLANG_TIDY clang-tidy-14 REQUIRED NO_CACHE)
  find_program(FIXNVPE_RUN_CLANG_TIDY run-clang-tidy-14 REQUIRED NO_CACHE)

  file(GLOB_RECURSE sources RELATIVE "${FIXNVPE_SOURCE}" "${FIXNVPE_SOURCE}/src/*.[ch]pp"
       "${FIXNVPE_SOURCE}/include/*.[ch]pp" "${FIXNVPE_SOURCE}/tests/*.[ch]pp" "${FIXNVPE_SOURCE}/tests/*.c")
  execute_process(COMMAND "${FIXNVPE_CLANG_FORMAT}" --dry-run --Werror ${sources} WORKING_DIRECTORY "${FIXNVPE_SOURCE}"
                  RESULT_VARIABLE status ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    string(REGEX MATCHALL "[^\n:]+:[0-9]+:[0-9]+: error" changes "${said}")
    list(TRANSFORM changes REPLACE ":.*" "")
    list(REMOVE_DUPLICATES changes)
    list(JOIN changes " " changes)
    message(NOTICE "${FIXNVPE_CLANG_FORMAT} -i ${changes}")
    list(APPEND found "files that clang-format would change")
  endif()

  # GCC's precompiled headers and a few of its warnings are Greek to clang.
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S . -B build/tidy -G Ninja -DBUILD_TESTING=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    WORKING_DIRECTORY "${FIXNVPE_SOURCE}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  set(checks "-checks=-clang-analyzer-*")
  if(FIXNVPE_ANALYZER)
    set(checks "")
  endif()
  execute_process(
    COMMAND "${FIXNVPE_RUN_CLANG_TIDY}" -quiet -p build/tidy -clang-tidy-binary "${FIXNVPE_CLANG_TIDY}"
            -extra-arg=-Wno-unknown-warning-option ${checks}
    WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_QUIET)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE "[^\n]*clang-tidy-14 [^\n]*\n" "" said "${said}") # how it was called
    message(NOTICE "${said}")
    list(APPEND found "findings of clang-tidy")
  endif()
endif()

if(found)
  list(JOIN found ", " found)
  message(FATAL_ERROR "Found in the source: ${found}")
endif()
