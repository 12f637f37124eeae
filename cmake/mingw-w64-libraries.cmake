# The libraries for the cross-build of mingw-w64.cmake.
#
# Debian has none of them for MinGW-w64, but all can be used as headers alone, and headers fit any compiler. Only
# their own folders may be seen: with the whole of /usr/include, the cross-compiler would take Linux's headers for
# Windows's. So a folder in the build tree holds links to them, and find_package() is answered from here.
#
# LIEF is no such library: it is in the program where LIEF_DIR names one that was built for this compiler.
if(LIEF_DIR)
  option(FIXNVPE_WITH_LIEF "Read PE headers with LIEF (off: with fixnvpe's own reader alone)" ON)
else()
  option(FIXNVPE_WITH_LIEF "Read PE headers with LIEF (off: with fixnvpe's own reader alone)" OFF)
endif()

set(FIXNVPE_HEADERS "/usr/include" CACHE PATH "Where the header folders of the libraries are")
set(FIXNVPE_LINKED_HEADERS "${CMAKE_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${FIXNVPE_LINKED_HEADERS}")

# Called by CMake for every find_package().
macro(fixnvpe_provide_library method name)
  if("${name}" STREQUAL "CLI11")
    fixnvpe_header_library(CLI11 CLI CLI11::CLI11)
  elseif("${name}" STREQUAL "fmt")
    fixnvpe_header_library(fmt fmt fmt::fmt FMT_HEADER_ONLY)
  elseif("${name}" STREQUAL "nlohmann_json")
    fixnvpe_header_library(nlohmann_json nlohmann nlohmann_json::nlohmann_json)
  elseif("${name}" STREQUAL "spdlog")
    fixnvpe_header_library(spdlog spdlog spdlog::spdlog SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
  elseif("${name}" STREQUAL "Catch2")
    fixnvpe_header_library(Catch2 catch2 Catch2::Catch2)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER fixnvpe_provide_library SUPPORTED_METHODS FIND_PACKAGE)

# fixnvpe_header_library(<package> <folder> <target> [<definition>...])
function(fixnvpe_header_library package folder target)
  if(NOT TARGET ${target})
    if(NOT IS_DIRECTORY "${FIXNVPE_HEADERS}/${folder}")
      message(FATAL_ERROR "${package} was not found: there is no ${FIXNVPE_HEADERS}/${folder}")
    endif()
    file(CREATE_LINK "${FIXNVPE_HEADERS}/${folder}" "${FIXNVPE_LINKED_HEADERS}/${folder}" SYMBOLIC)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    set_target_properties(
      ${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${FIXNVPE_LINKED_HEADERS}"
                           INTERFACE_COMPILE_DEFINITIONS "${ARGN}")
  endif()
  set(${package}_FOUND TRUE PARENT_SCOPE)
endfunction()
