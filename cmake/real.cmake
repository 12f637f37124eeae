# Tries fixnvpe on real packages, which it downloads by pip and mvn, and runs them in Wine; installs what that takes:
#
#   cmake -P cmake/real.cmake                   0.6 GB to download, 8 GB of disk while it runs
#   cmake -DLARGE=ON -P cmake/real.cmake        3.3 GB and 35 GB: torch 1.10, CUDA 11.6, TensorFlow and cuDNN, too
#   cmake -DCACHE_DIR=DIR -P cmake/real.cmake    keeps the archives there, and not in build/real/cache
#
# It ends with an error if anything is not as promised, or an archive is not the one that testdata/real.tsv means. What
# can't be had is named, and counted at the end. The report is build/real/report.md and report.json. Nothing of the
# packages leaves build/real. tests/real has the program that does all this.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

option(LARGE "The large packages, too" OFF)
set(work "${FIXNVPE_SOURCE}/build/real")
if(NOT CACHE_DIR)
  set(CACHE_DIR "${work}/cache")
endif()
cmake_path(ABSOLUTE_PATH CACHE_DIR BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" NORMALIZE)

if(CMAKE_HOST_WIN32)
  message(FATAL_ERROR "This runs on Debian: Windows' programs run in Wine there.")
endif()
fixnvpe_install_packages(${FIXNVPE_BUILD_PACKAGES} g++-mingw-w64-x86-64-posix llvm python3 python3-pefile python3-pip
                         python3-venv wine64)
find_program(FIXNVPE_MAVEN mvn NO_CACHE)
if(NOT FIXNVPE_MAVEN)
  fixnvpe_install_packages(OPTIONAL maven)
endif()
foreach(preset IN ITEMS release mingw)
  message(NOTICE "fixnvpe: building it (preset ${preset})")
  fixnvpe_build_preset(${preset})
endforeach()

# Debian's own Python: another one that comes first on PATH need not have Debian's pefile.
set(words --source "${FIXNVPE_SOURCE}" --cache "${CACHE_DIR}" --work "${work}" --program
          "${FIXNVPE_SOURCE}/build/release/fixnvpe" --windows-program "${FIXNVPE_SOURCE}/build/mingw/fixnvpe.exe")
if(LARGE)
  list(APPEND words --large)
endif()
file(MAKE_DIRECTORY "${work}")
execute_process(COMMAND /usr/bin/python3 "${FIXNVPE_SOURCE}/tests/real/real.py" ${words} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "Not all is as promised: what is not, is above.")
endif()
message(NOTICE "fixnvpe: the report is build/real/report.md")
