# What run.cmake, lint.cmake, test.cmake, package.cmake and real.cmake share: installing what is missing, configuring
# and building.
#
# The talk goes to stderr. stdout belongs to the program and to ctest.
cmake_minimum_required(VERSION 3.25)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH FIXNVPE_SOURCE)

# What Debian 12 calls the things needed.
set(FIXNVPE_BUILD_PACKAGES libcli11-dev libfmt-dev liblief-dev libmbedtls-dev libspdlog-dev ninja-build
    nlohmann-json3-dev)
set(FIXNVPE_PACKAGE_PACKAGES dpkg-dev file g++-mingw-w64-x86-64-posix git gzip python3-wheel)
set(FIXNVPE_TEST_PACKAGES btrfs-progs catch2 clang-format-14 clang-tidy-14 fish git groff-base llvm mount osslsigncode
    python3 python3-pefile python3-venv strace unzip wine64 zsh)
find_program(FIXNVPE_GCC g++ NO_CACHE)
find_program(FIXNVPE_CLANG clang++ NO_CACHE)
if(FIXNVPE_CLANG AND NOT FIXNVPE_GCC)
  list(APPEND FIXNVPE_TEST_PACKAGES libclang-rt-14-dev) # its sanitizers; GCC's come with it
endif()

# On Windows the compiler is Visual Studio's, and the libraries come from vcpkg by cmake/vcpkg.json.
if(CMAKE_HOST_WIN32)
  set(FIXNVPE_RUN_PRESET msvc)
  set(FIXNVPE_RUN_PROGRAM build/msvc/Release/fixnvpe.exe)
  set(FIXNVPE_TEST_PRESETS msvc)
else()
  set(FIXNVPE_RUN_PRESET release)
  set(FIXNVPE_RUN_PROGRAM build/release/fixnvpe)
  set(FIXNVPE_TEST_PRESETS release asan mingw)
endif()

# Runs a command with all that it says on stderr.
function(fixnvpe_talk result)
  if(CMAKE_HOST_WIN32)
    # cmd.exe can't pass words on unharmed, so what the command said is shown when it has ended badly.
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${FIXNVPE_SOURCE}" RESULT_VARIABLE status OUTPUT_VARIABLE said
                            ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
      message(NOTICE "${said}")
    endif()
  else()
    execute_process(COMMAND sh -c [[exec "$@" >&2]] sh ${ARGN} WORKING_DIRECTORY "${FIXNVPE_SOURCE}"
                    RESULT_VARIABLE status)
  endif()
  set(${result} "${status}" PARENT_SCOPE)
endfunction()

# Installs those of the named Debian packages that are missing. Where none is, nothing is run but dpkg-query. With
# OPTIONAL before them, what can't be had is said and no error.
function(fixnvpe_install_packages)
  set(too_bad FATAL_ERROR)
  if(ARGV0 STREQUAL "OPTIONAL")
    set(too_bad NOTICE)
    list(POP_FRONT ARGN)
  endif()
  find_program(FIXNVPE_DPKG_QUERY dpkg-query NO_CACHE)
  find_program(FIXNVPE_APT_GET apt-get NO_CACHE)
  if(NOT FIXNVPE_DPKG_QUERY OR NOT FIXNVPE_APT_GET)
    list(JOIN ARGN " " names)
    message(NOTICE "fixnvpe: this is not a Debian system, so nothing is installed. Needed are what Debian calls: "
                   "${names} and a C++20 compiler.")
    return()
  endif()

  execute_process(COMMAND "${FIXNVPE_DPKG_QUERY}" -W -f "\${Package} \${db:Status-Status}\n" ${ARGN}
                  OUTPUT_VARIABLE known ERROR_QUIET)
  set(missing ${ARGN})
  foreach(name IN LISTS ARGN)
    string(FIND "\n${known}" "\n${name} installed\n" at)
    if(NOT at EQUAL -1)
      list(REMOVE_ITEM missing "${name}")
    endif()
  endforeach()
  if(NOT FIXNVPE_GCC AND NOT FIXNVPE_CLANG AND NOT DEFINED ENV{CXX})
    list(APPEND missing g++)
  endif()
  if(NOT missing)
    return()
  endif()

  list(JOIN missing " " names)
  set(by_hand "Install them by hand (apt-get install ${names}), then run this command again.")
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(as_root "")
  if(NOT user STREQUAL "0")
    find_program(FIXNVPE_SUDO sudo NO_CACHE)
    if(NOT FIXNVPE_SUDO)
      message(${too_bad} "These Debian packages are missing: ${names}. Installing them needs root, and there is no "
                         "sudo. ${by_hand}")
      return()
    endif()
    set(as_root "${FIXNVPE_SUDO}")
  endif()

  # The lists may be missing (a container) or too old to find anything by, so they are always brought up to date. A
  # source that can't be reached need not be the one that has the packages: whether they can be had, install tells.
  message(NOTICE "fixnvpe: installing ${names}")
  set(apt_get ${as_root} env DEBIAN_FRONTEND=noninteractive "${FIXNVPE_APT_GET}" -q -o DPkg::Lock::Timeout=60)
  fixnvpe_talk(status ${apt_get} update)
  fixnvpe_talk(status ${apt_get} install -y --no-install-recommends ${missing})
  if(NOT status EQUAL 0)
    message(${too_bad} "apt-get could not install what is missing: its reason is above. If that is a lock held by "
                       "another process, wait until that has ended and run this command again. ${by_hand}")
  endif()
endfunction()

# Makes VCPKG_ROOT, which the preset msvc reads, name the user's vcpkg or else the one that came with Visual Studio.
function(fixnvpe_find_vcpkg)
  if(NOT DEFINED ENV{VCPKG_ROOT} AND DEFINED ENV{VCPKG_INSTALLATION_ROOT})
    set(ENV{VCPKG_ROOT} "$ENV{VCPKG_INSTALLATION_ROOT}") # as GitHub's Windows machines call it
  endif()
  if(NOT DEFINED ENV{VCPKG_ROOT})
    set(program_files "ProgramFiles(x86)") # parentheses can't stand in $ENV{...}
    find_program(FIXNVPE_VSWHERE vswhere HINTS "$ENV{${program_files}}/Microsoft Visual Studio/Installer" NO_CACHE)
    if(FIXNVPE_VSWHERE)
      execute_process(
        COMMAND "${FIXNVPE_VSWHERE}" -latest -products * -requires Microsoft.VisualStudio.Component.Vcpkg -property
                installationPath -utf8
        OUTPUT_VARIABLE visual_studio OUTPUT_STRIP_TRAILING_WHITESPACE)
      if(visual_studio)
        cmake_path(SET vcpkg "${visual_studio}/VC/vcpkg")
        set(ENV{VCPKG_ROOT} "${vcpkg}")
      endif()
    endif()
  endif()
  if(NOT EXISTS "$ENV{VCPKG_ROOT}/scripts/buildsystems/vcpkg.cmake")
    message(FATAL_ERROR "No vcpkg found. Tick 'vcpkg package manager' in the Visual Studio installer, or set "
                        "VCPKG_ROOT to the folder of your own vcpkg; then run this command again.")
  endif()
endfunction()

# All that a build needs and the machine lacks.
function(fixnvpe_install_needed)
  if(CMAKE_HOST_WIN32)
    fixnvpe_find_vcpkg()
  else()
    fixnvpe_install_packages(${ARGN})
  endif()
endfunction()

# Configures and builds the program alone, which needs none of what the tests need. A folder that test.cmake has set up
# stays as it is.
function(fixnvpe_build_preset preset)
  set(testing OFF)
  set(cache "${FIXNVPE_SOURCE}/build/${preset}/CMakeCache.txt")
  if(EXISTS "${cache}")
    file(STRINGS "${cache}" testing_on REGEX "^BUILD_TESTING:[A-Z]*=ON$")
    if(testing_on)
      set(testing ON)
    endif()
  endif()
  fixnvpe_talk(status "${CMAKE_COMMAND}" --preset ${preset} -DBUILD_TESTING=${testing})
  if(status EQUAL 0)
    fixnvpe_talk(status "${CMAKE_COMMAND}" --build --preset ${preset} --target fixnvpe)
  endif()
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "fixnvpe could not be built (preset ${preset}): the reason is above.")
  endif()
endfunction()
