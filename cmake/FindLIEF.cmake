# LIEF::LIEF, the PE reader.
#
# Newer releases ship a CMake package of their own, which is taken where it is there; Debian's 0.9.0 has
# only a header folder and a library. LIEF_DIR may name the package's folder, as it does for any
# find_package(), or the folder that LIEF was installed to.
if(LIEF_DIR)
  # NO_CMAKE_FIND_ROOT_PATH: a cross-build looks for nothing outside its root, but this folder was asked for.
  find_package(LIEF CONFIG QUIET HINTS "${LIEF_DIR}" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
else()
  find_package(LIEF CONFIG QUIET)
endif()
if(TARGET LIEF::LIEF)
  if(WIN32)
    # Mbed TLS, which is in LIEF, takes random numbers and sockets from these; the package doesn't say so.
    set_property(TARGET LIEF::LIEF APPEND PROPERTY INTERFACE_LINK_LIBRARIES bcrypt ws2_32)
  endif()
  set(LIEF_FOUND TRUE)
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(LIEF CONFIG_MODE)
  return()
endif()

find_path(LIEF_INCLUDE_DIR NAMES LIEF/PE/Parser.hpp)
if(FIXNVPE_STATIC)
  # Mbed TLS, which comes along with the shared library, is not in the archive.
  find_library(LIEF_ARCHIVE NAMES libLIEF.a)
  find_library(LIEF_MBEDX509_ARCHIVE NAMES libmbedx509.a)
  find_library(LIEF_MBEDCRYPTO_ARCHIVE NAMES libmbedcrypto.a)
  set(_lief_libraries LIEF_ARCHIVE LIEF_MBEDX509_ARCHIVE LIEF_MBEDCRYPTO_ARCHIVE)
else()
  find_library(LIEF_LIBRARY NAMES LIEF)
  set(_lief_libraries LIEF_LIBRARY)
endif()
if(LIEF_INCLUDE_DIR AND EXISTS "${LIEF_INCLUDE_DIR}/LIEF/version.h")
  file(STRINGS "${LIEF_INCLUDE_DIR}/LIEF/version.h" _lief_version REGEX "#define LIEF_VERSION ")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LIEF_VERSION "${_lief_version}")
  unset(_lief_version)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LIEF REQUIRED_VARS ${_lief_libraries} LIEF_INCLUDE_DIR VERSION_VAR LIEF_VERSION)

if(LIEF_FOUND)
  add_library(LIEF::LIEF INTERFACE IMPORTED)
  target_include_directories(LIEF::LIEF INTERFACE "${LIEF_INCLUDE_DIR}")
  foreach(library IN LISTS _lief_libraries)
    target_link_libraries(LIEF::LIEF INTERFACE "${${library}}")
  endforeach()
endif()
unset(_lief_libraries)
mark_as_advanced(LIEF_INCLUDE_DIR LIEF_LIBRARY LIEF_ARCHIVE LIEF_MBEDX509_ARCHIVE LIEF_MBEDCRYPTO_ARCHIVE)
