# Builds fixnvpe and its tests, installing what that takes, and runs all of them:
#
#   cmake -P cmake/test.cmake
#   cmake -DFIXNVPE_LONG_TESTS=ON -P cmake/test.cmake     the long tests whole
#
# Each test in as few builds as can tell something by it: CMakePresets.json says which (FIXNVPE_TEST_GROUPS). It ends with
# an error if lint.cmake finds anything, or anything can't be built, fails, or can't be tested for want of a tool.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

option(FIXNVPE_LONG_TESTS "Run the long tests whole, not shortened" OFF)

fixnvpe_install_needed(${FIXNVPE_BUILD_PACKAGES} ${FIXNVPE_PACKAGE_PACKAGES} ${FIXNVPE_TEST_PACKAGES})

# The oracles. A missing one must not make its tests pass by not running.
if(NOT CMAKE_HOST_WIN32)
  set(lacking "")
  foreach(tool IN ITEMS llvm-readobj osslsigncode strace python3)
    find_program(found ${tool} NO_CACHE)
    if(NOT found)
      list(APPEND lacking ${tool})
    endif()
    unset(found)
  endforeach()
  execute_process(COMMAND /usr/bin/python3 -c "import pefile" RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    list(APPEND lacking "pefile for /usr/bin/python3")
  endif()
  if(lacking)
    list(JOIN lacking ", " lacking)
    message(FATAL_ERROR "The tests need tools that are not to be found: ${lacking}")
  endif()
endif()

# Runs one step, and keeps how long that took.
set(spent "")
function(fixnvpe_step result step)
  string(TIMESTAMP began "%s")
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status)
  string(TIMESTAMP ended "%s")
  math(EXPR seconds "${ended} - ${began}")
  set(spent "${spent}\n  ${seconds} s ${step}" PARENT_SCOPE)
  set(${result} "${status}" PARENT_SCOPE)
endfunction()

# A failure here or in tests doesn't stop the tests that follow: what fails where is worth knowing.
set(failed "")
fixnvpe_step(status "lint" "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_LIST_DIR}/lint.cmake")
if(NOT status EQUAL 0)
  list(APPEND failed lint)
endif()
# One more than there are cores: some tests wait.
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR tests_at_once "${cores} + 1")
foreach(preset IN LISTS FIXNVPE_TEST_PRESETS)
  foreach(command IN ITEMS
          "--preset ${preset} -DFIXNVPE_LONG_TESTS=${FIXNVPE_LONG_TESTS}" "--build --preset ${preset}")
    separate_arguments(words UNIX_COMMAND "${command}")
    fixnvpe_step(status "${command}" "${CMAKE_COMMAND}" ${words})
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "fixnvpe could not be built (preset ${preset}): the reason is above.")
    endif()
  endforeach()
  fixnvpe_step(status "tests, preset ${preset}" "${CMAKE_CTEST_COMMAND}" --preset ${preset} --parallel ${tests_at_once})
  if(NOT status EQUAL 0)
    list(APPEND failed ${preset})
  endif()
endforeach()
fixnvpe_step(status "README's samples" "${CMAKE_COMMAND}" "-DPROGRAM=${FIXNVPE_RUN_PROGRAM}" -P
             "${CMAKE_CURRENT_LIST_DIR}/readme.cmake")
if(NOT status EQUAL 0)
  list(APPEND failed README)
endif()
message(STATUS "It took:${spent}")
if(failed)
  list(JOIN failed ", " failed)
  message(FATAL_ERROR "Failed: ${failed}")
endif()
