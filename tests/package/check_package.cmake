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
  set(expected usr/bin/fixnvpe usr/share/doc/fixnvpe/LICENSE usr/share/doc/fixnvpe/README.md)
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
file(REMOVE_RECURSE "${folder}")
