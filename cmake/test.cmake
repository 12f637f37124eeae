# Builds fixnvpe and its tests, installing what that takes, and runs all of them:
#
#   cmake -P cmake/test.cmake
#   cmake -DFIXNVPE_LONG_TESTS=ON -P cmake/test.cmake     the long tests whole
#
# It ends with an error if anything can't be built, fails, or can't be tested for want of a tool.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

option(FIXNVPE_LONG_TESTS "Run the long tests whole, not shortened" OFF)

fixnvpe_install_needed(${FIXNVPE_BUILD_PACKAGES} ${FIXNVPE_TEST_PACKAGES})

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

cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(failed "")
foreach(preset IN LISTS FIXNVPE_TEST_PRESETS)
  foreach(command IN ITEMS
          "--preset ${preset} -DFIXNVPE_LONG_TESTS=${FIXNVPE_LONG_TESTS}" "--build --preset ${preset}")
    separate_arguments(command)
    execute_process(COMMAND "${CMAKE_COMMAND}" ${command} WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "fixnvpe could not be built (preset ${preset}): the reason is above.")
    endif()
  endforeach()
  # A failure here doesn't stop the other preset's tests: what fails where is worth knowing.
  execute_process(COMMAND "${CMAKE_CTEST_COMMAND}" --preset ${preset} --parallel ${cores}
                  WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(APPEND failed ${preset})
  endif()
endforeach()
if(failed)
  list(JOIN failed ", " failed)
  message(FATAL_ERROR "Tests failed: ${failed}")
endif()
