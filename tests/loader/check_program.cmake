# cmake -DREADOBJ=<llvm-readobj> -DPROGRAM=<fixnvpe.exe> -P check_program.cmake
#
# The program is one file of a few MB that needs no DLL beyond the system's.
cmake_minimum_required(VERSION 3.25)

set(system_dlls ADVAPI32 KERNEL32 bcrypt msvcrt ws2_32) # Mbed TLS, which LIEF brings, needs bcrypt and ws2_32; msvcrt.dll is part of Windows; MSVCP140.dll is not

file(SIZE "${PROGRAM}" size)
if(size GREATER 8000000)
  message(SEND_ERROR "${PROGRAM} has ${size} bytes")
endif()
execute_process(COMMAND "${READOBJ}" --coff-imports "${PROGRAM}" OUTPUT_VARIABLE imports COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Name: [^\n\r]+" names "${imports}")
if(NOT names)
  message(FATAL_ERROR "no imports found:\n${imports}")
endif()
foreach(name IN LISTS names)
  string(REGEX REPLACE "^Name: (.*)\\.[dD][lL][lL]$" "\\1" name "${name}")
  if(name MATCHES "^api-ms-win-" OR name IN_LIST system_dlls)
    continue()
  endif()
  message(SEND_ERROR "imports ${name}.dll")
endforeach()

# Its manifest: UTF-8, long paths, no administrator.
file(STRINGS "${PROGRAM}" manifest REGEX "<activeCodePage[^>]*>UTF-8<|<longPathAware[^>]*>true<|level=\"asInvoker\"")
list(LENGTH manifest lines)
if(NOT lines EQUAL 3)
  message(SEND_ERROR "no such manifest: ${manifest}")
endif()
execute_process(COMMAND "${READOBJ}" --coff-resources "${PROGRAM}" OUTPUT_VARIABLE resources COMMAND_ERROR_IS_FATAL ANY)
foreach(kind IN ITEMS VERSION MANIFEST)
  if(NOT resources MATCHES "Type: [A-Z_]*${kind}")
    message(SEND_ERROR "no resource ${kind}:\n${resources}")
  endif()
endforeach()
