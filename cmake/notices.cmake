# THIRD-PARTY-NOTICES: the licence of everything that is linked into a program, as the packages on this machine state
# it. packaging.cmake says what is linked in; the test package.notices asks the compiler and the linker.
#
# fixnvpe_write_notices(<file> <Debian packages> <folder of LIEF, or nothing>)
cmake_minimum_required(VERSION 3.25)

function(fixnvpe_write_notices file packages lief)
  set(text "fixnvpe is under the MIT license, which is in the file LICENSE. Its program contains parts of what follows, each\n"
           "under the license that stands with it, as Debian's packages or the library itself have it.\n")
  list(JOIN text "" text)
  foreach(package IN LISTS packages)
    set(copyright "/usr/share/doc/${package}/copyright")
    if(NOT EXISTS "${copyright}")
      message(FATAL_ERROR "The license of ${package} is not here (${copyright}), so nothing that contains it is packaged.")
    endif()
    execute_process(COMMAND dpkg-query -W -f "\${Version}" "${package}" OUTPUT_VARIABLE version
                            COMMAND_ERROR_IS_FATAL ANY)
    fixnvpe_append_notice("Debian's ${package} ${version}" "${copyright}")
  endforeach()
  if(lief)
    fixnvpe_find_licences_of_lief("${lief}" found)
    foreach(licence IN LISTS found)
      cmake_path(GET licence PARENT_PATH folder)
      cmake_path(GET folder FILENAME name)
      fixnvpe_append_notice("${name}, built for this program" "${licence}")
    endforeach()
  endif()

  # What Debian's texts refer to, by the path that it has there.
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" licences "${text}")
  set(versioned "")
  foreach(licence IN LISTS licences)
    file(REAL_PATH "${licence}" licence) # GPL is a link to GPL-3
    list(APPEND versioned "${licence}")
  endforeach()
  list(SORT versioned)
  list(REMOVE_DUPLICATES versioned)
  foreach(licence IN LISTS versioned)
    fixnvpe_append_notice("${licence}" "${licence}")
  endforeach()
  file(WRITE "${file}" "${text}")
endfunction()

# To `text` of the caller.
function(fixnvpe_append_notice title file)
  file(READ "${file}" notice)
  string(REPEAT "=" 120 line)
  set(text "${text}\n${line}\n${title}\n${line}\n\n${notice}" PARENT_SCOPE)
endfunction()

# Those of LIEF and of what it contains: share/NAME/copyright below the folder that it was installed to, as vcpkg has
# it. `lief` is that folder, or one in it, as for FindLIEF.cmake.
function(fixnvpe_find_licences_of_lief lief result)
  cmake_path(ABSOLUTE_PATH lief NORMALIZE)
  foreach(level RANGE 3)
    if(EXISTS "${lief}/share/lief/copyright")
      file(GLOB found "${lief}/share/*/copyright")
      set(${result} "${found}" PARENT_SCOPE)
      return()
    endif()
    cmake_path(GET lief PARENT_PATH lief)
  endforeach()
  message(FATAL_ERROR "LIEF's license is not beside it. Put it, and those of what was built into it, where vcpkg has "
                      "them: share/lief/copyright, share/mbedtls/copyright …, below the folder that LIEF is "
                      "installed to.")
endfunction()
