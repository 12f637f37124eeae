# Builds all that is released, installing what that takes, and collects it in build/packages: the zip for Windows, the
# Debian package, the wheels for pip and uv, the manifests for scoop and winget, and SHA256SUMS.
#
#   cmake -P cmake/package.cmake
#   cmake -DREPOSITORY=https://… -P cmake/package.cmake   where it is released: the manifests and wheels name it
#   cmake -DLIEF_DIR=DIR -P cmake/package.cmake           a LIEF built for MinGW-w64: without one, the Windows program
#                                                         has fixnvpe's own reader of PE headers alone
#
# The programs are those that test.cmake built and tested, if it ran before. The tests make their packages with
# -DBUILD=OFF (collect what is built) and -DTO=FOLDER.
include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")

option(BUILD "Build the programs first" ON)
set(TO "build/packages" CACHE STRING "The folder that everything is collected in: made anew")
set(REPOSITORY "" CACHE STRING "The address of the repository")
cmake_path(ABSOLUTE_PATH TO BASE_DIRECTORY "${FIXNVPE_SOURCE}" NORMALIZE)
if(CMAKE_HOST_WIN32)
  message(FATAL_ERROR "The packages, those for Windows too, are made on Debian.")
endif()
if(NOT REPOSITORY)
  set(REPOSITORY "https://fixnvpe.invalid") # such a name never leads anywhere
  if(BUILD)
    message(NOTICE "fixnvpe: without -DREPOSITORY=URL the manifests and wheels name ${REPOSITORY}")
  endif()
endif()

set(linux "${FIXNVPE_SOURCE}/build/release")
set(windows "${FIXNVPE_SOURCE}/build/mingw")

# What the program alone takes. A folder that test.cmake has set up keeps its tests.
function(fixnvpe_build preset)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TARGETS;OPTIONS")
  set(options ${arg_OPTIONS})
  if(NOT EXISTS "${FIXNVPE_SOURCE}/build/${preset}/CMakeCache.txt")
    list(APPEND options -DBUILD_TESTING=OFF)
  endif()
  fixnvpe_talk(status "${CMAKE_COMMAND}" --preset ${preset} ${options})
  if(status EQUAL 0)
    fixnvpe_talk(status "${CMAKE_COMMAND}" --build --preset ${preset} --target ${arg_TARGETS})
  endif()
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "fixnvpe could not be built (preset ${preset}): the reason is above.")
  endif()
endfunction()

# Runs a step that is silent unless it fails.
function(fixnvpe_step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}\n${said}")
  endif()
endfunction()

# A wheel: a zip in which pip finds the program, a package `fixnvpe` that finds it, too, and what is said of both.
function(fixnvpe_make_wheel build program)
  set(tree "${TO}/tree")
  set(info "${tree}/fixnvpe-${VERSION}.dist-info")
  file(COPY "${build}/${program}" DESTINATION "${tree}/fixnvpe-${VERSION}.data/scripts")
  file(GLOB modules "${FIXNVPE_SOURCE}/cmake/python/fixnvpe/*.py")
  file(COPY ${modules} DESTINATION "${tree}/fixnvpe" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  fixnvpe_step("${CMAKE_COMMAND}" --install "${build}" --component package --prefix "${TO}/installed")
  file(GLOB_RECURSE notices "${TO}/installed/THIRD-PARTY-NOTICES")
  file(COPY "${FIXNVPE_SOURCE}/LICENSE" "${notices}" DESTINATION "${info}/licenses"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  list(TRANSFORM ARGN PREPEND "Tag: py3-none-" OUTPUT_VARIABLE TAGS)
  list(JOIN TAGS "\n" TAGS)
  configure_file("${FIXNVPE_SOURCE}/cmake/python/WHEEL.in" "${info}/WHEEL" @ONLY NO_SOURCE_PERMISSIONS)
  configure_file("${FIXNVPE_SOURCE}/cmake/python/METADATA.in" "${info}/METADATA" @ONLY NO_SOURCE_PERMISSIONS)
  fixnvpe_step("${FIXNVPE_PYTHON}" -m wheel pack "${tree}" -d "${TO}")
  file(REMOVE_RECURSE "${tree}" "${TO}/installed")
endfunction()

fixnvpe_install_needed(${FIXNVPE_BUILD_PACKAGES} ${FIXNVPE_PACKAGE_PACKAGES})
if(BUILD)
  set(options "")
  if(DEFINED LIEF_DIR)
    set(options "-DLIEF_DIR=${LIEF_DIR}" -DFIXNVPE_WITH_LIEF=ON)
  endif()
  fixnvpe_build(release TARGETS fixnvpe fixnvpe_documents)
  fixnvpe_build(mingw TARGETS fixnvpe OPTIONS ${options})
endif()
find_program(FIXNVPE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH NO_CACHE REQUIRED) # that which has Debian's packages
file(STRINGS "${linux}/CMakeCache.txt" about REGEX "^CMAKE_PROJECT_(VERSION|DESCRIPTION):")
foreach(line IN LISTS about)
  string(REGEX MATCH "^CMAKE_PROJECT_([A-Z]+):[A-Z]+=(.*)$" line "${line}")
  set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# The same programs make the same packages: the time in them is its last commit's.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND git -c safe.directory=* log -1 --format=%ct WORKING_DIRECTORY "${FIXNVPE_SOURCE}"
                  OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT committed)
    set(committed 315532800) # 1980, where the times of a zip begin
  endif()
  set(ENV{SOURCE_DATE_EPOCH} "${committed}")
endif()

file(REMOVE_RECURSE "${TO}")
file(MAKE_DIRECTORY "${TO}")
foreach(build IN ITEMS "${linux}" "${windows}")
  fixnvpe_step("${CMAKE_CPACK_COMMAND}" --config "${build}/CPackConfig.cmake" -B "${TO}")
endforeach()
file(REMOVE_RECURSE "${TO}/_CPack_Packages")

# The Linux program is linked statically and needs of the system nothing but a kernel of 3.2 or later (its ABI tag).
# manylinux_2_17 and musllinux_1_1 are the oldest of their kind in which all have one.
cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
file(READ "${FIXNVPE_SOURCE}/README.md" README)
# What is a link within the repository leads there from elsewhere, too.
string(REGEX REPLACE "\\]\\(([^():# ]+)([)#])" "](${REPOSITORY}/blob/v${VERSION}/\\1\\2" README "${README}")
fixnvpe_make_wheel("${linux}" fixnvpe manylinux2014_${machine} manylinux_2_17_${machine} musllinux_1_1_${machine})
fixnvpe_make_wheel("${windows}" fixnvpe.exe win_amd64)

set(ZIP_FOLDER "fixnvpe-${VERSION}-windows-x64")
set(ZIP "${ZIP_FOLDER}.zip")
file(SHA256 "${TO}/${ZIP}" ZIP_SHA256)
string(TOUPPER "${ZIP_SHA256}" ZIP_SHA256_UPPER)
set(manifests "${FIXNVPE_SOURCE}/cmake/packaging")
configure_file("${manifests}/scoop.json.in" "${TO}/fixnvpe.json" @ONLY)
foreach(part IN ITEMS "" .installer .locale.en-US)
  configure_file("${manifests}/winget${part}.yaml.in" "${TO}/fixnvpe.fixnvpe${part}.yaml" @ONLY)
endforeach()

file(GLOB packages RELATIVE "${TO}" "${TO}/*")
set(sums "")
foreach(package IN LISTS packages)
  file(SHA256 "${TO}/${package}" sum)
  string(APPEND sums "${sum}  ${package}\n")
endforeach()
file(WRITE "${TO}/SHA256SUMS" "${sums}")
execute_process(COMMAND "${CMAKE_COMMAND}" -E cat "${TO}/SHA256SUMS")
