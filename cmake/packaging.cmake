# What is installed, and the packages that cpack makes of it: a Debian package, or for Windows a zip of one folder that
# needs no installing. package.cmake calls it.
include(GNUInstallDirs)
if(WIN32)
  set(CMAKE_INSTALL_BINDIR .)
  set(CMAKE_INSTALL_DOCDIR .)
  set(CPACK_GENERATOR ZIP)
  set(CPACK_PACKAGE_FILE_NAME "fixnvpe-${PROJECT_VERSION}-windows-x64")
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
install(TARGETS fixnvpe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Installed, the two lie side by side.
foreach(page IN ITEMS README.md .github/README.zh-CN.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  string(REPLACE "](.github/" "](" text "${text}")
  string(REPLACE "](../" "](" text "${text}")
  cmake_path(GET page FILENAME name)
  file(WRITE "${PROJECT_BINARY_DIR}/pages/${name}" "${text}")
  install(FILES "${PROJECT_BINARY_DIR}/pages/${name}" DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()

# Whose licenses a package carries. GCC's is that of libstdc++ and libgcc, too.
set(linked libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev)
set(lief "")
if(WIN32)
  list(APPEND linked g++-mingw-w64-x86-64-posix mingw-w64-x86-64-dev)
  if(FIXNVPE_WITH_LIEF)
    set(lief "${LIEF_DIR}")
  endif()
else()
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libstdc++.a OUTPUT_VARIABLE gcc)
  string(REGEX REPLACE ".*/([0-9]+)/.*" "\\1" gcc "${gcc}") # Clang takes one of the GCCs that are there
  list(APPEND linked libc6-dev gcc-${gcc}-base)
  if(FIXNVPE_WITH_LIEF)
    list(APPEND linked liblief-dev libmbedtls-dev)
  endif()
endif()
install(
  CODE "include(\"${PROJECT_SOURCE_DIR}/cmake/notices.cmake\")
        fixnvpe_write_notices(
          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/THIRD-PARTY-NOTICES\" \"${linked}\" \"${lief}\")"
  COMPONENT package EXCLUDE_FROM_ALL)

# The manual page and the completion scripts are what the built program says of itself, so it must run here.
if(NOT WIN32 AND NOT CMAKE_CROSSCOMPILING AND NOT FIXNVPE_SANITIZE)
  find_program(FIXNVPE_GZIP gzip REQUIRED)
  mark_as_advanced(FIXNVPE_GZIP)
  add_executable(fixnvpe_make_man_page cmake/make_man_page.cpp)
  target_link_libraries(fixnvpe_make_man_page PRIVATE fixnvpe_core)
  add_custom_command(
    OUTPUT fixnvpe.1.gz
    COMMAND fixnvpe_make_man_page > fixnvpe.1
    COMMAND "${FIXNVPE_GZIP}" -9nf fixnvpe.1
    DEPENDS fixnvpe_make_man_page
    VERBATIM)
  foreach(shell IN ITEMS bash zsh fish)
    add_custom_command(
      OUTPUT completion.${shell}
      COMMAND fixnvpe completion ${shell} > completion.${shell}
      DEPENDS fixnvpe
      VERBATIM)
  endforeach()
  add_custom_target(fixnvpe_documents ALL DEPENDS fixnvpe.1.gz completion.bash completion.zsh completion.fish)

  set(made "${PROJECT_BINARY_DIR}")
  set(data ${CMAKE_INSTALL_DATADIR})
  install(FILES "${made}/fixnvpe.1.gz" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES "${made}/completion.bash" DESTINATION ${data}/bash-completion/completions RENAME fixnvpe)
  install(FILES "${made}/completion.fish" DESTINATION ${data}/fish/vendor_completions.d RENAME fixnvpe.fish)
  # Debian leaves zsh's site-functions to the computer's owner; its packages have a folder of their own.
  install(FILES "${made}/completion.zsh" DESTINATION ${data}/zsh/site-functions RENAME _fixnvpe COMPONENT site)
  install(FILES "${made}/completion.zsh" DESTINATION ${data}/zsh/vendor-completions RENAME _fixnvpe
          COMPONENT package EXCLUDE_FROM_ALL)
endif()

set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};fixnvpe;Unspecified;/;${PROJECT_BINARY_DIR};fixnvpe;package;/")
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # package.cmake builds what is packed, and no test
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGE_CONTACT "the fixnvpe authors <fixnvpe@localhost>")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
