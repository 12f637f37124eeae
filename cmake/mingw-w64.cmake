# Builds the Windows program on Linux, with MinGW-w64's GCC (Debian: g++-mingw-w64-x86-64-posix).
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

# Debian has this compiler twice: the one that ends in -posix has std::thread and std::mutex.
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# Programs are the building machine's; headers, libraries and packages never are.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# One .exe that needs no DLL beyond the system's: no libstdc++-6.dll, libgcc_s_seh-1.dll or libwinpthread-1.dll.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

# Wine, where it is there, lets ctest run what was built. It has a Windows of its own in the build folder, needs no
# display, and says nothing but what the program says.
find_program(FIXNVPE_WINE NAMES wine64 wine PATHS /usr/lib/wine)
mark_as_advanced(FIXNVPE_WINE)
if(FIXNVPE_WINE)
  set(FIXNVPE_WINE_PREFIX "${CMAKE_BINARY_DIR}/wine")
  set(FIXNVPE_WINE_ENVIRONMENT
      "${CMAKE_COMMAND}" -E env --unset=DISPLAY "WINEPREFIX=${FIXNVPE_WINE_PREFIX}" WINEDEBUG=-all
      WINEDLLOVERRIDES=mscoree,mshtml= LC_ALL=C.UTF-8)
  set(CMAKE_CROSSCOMPILING_EMULATOR sh "${CMAKE_CURRENT_LIST_DIR}/in_wine.sh" ${FIXNVPE_WINE_ENVIRONMENT}
                                    "${FIXNVPE_WINE}")
endif()
