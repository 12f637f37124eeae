# What Windows programs hold besides code.
enable_language(RC)

set(FIXNVPE_MANIFEST "${PROJECT_SOURCE_DIR}/src/resources/fixnvpe.manifest")
configure_file("${PROJECT_SOURCE_DIR}/src/resources/version.rc.in" version.rc @ONLY)
configure_file("${PROJECT_SOURCE_DIR}/src/resources/manifest.rc.in" manifest.rc @ONLY)
set(FIXNVPE_VERSION_RC "${CMAKE_CURRENT_BINARY_DIR}/version.rc")
set(FIXNVPE_MANIFEST_RC "${CMAKE_CURRENT_BINARY_DIR}/manifest.rc")

# UTF-8 everywhere, and paths of any length.
function(fixnvpe_add_manifest target)
  if(MSVC)
    target_sources(${target} PRIVATE "${FIXNVPE_MANIFEST}")
    target_link_options(${target} PRIVATE /MANIFESTUAC:NO) # ours says it
  else()
    target_sources(${target} PRIVATE "${FIXNVPE_MANIFEST_RC}")
    set_source_files_properties("${FIXNVPE_MANIFEST_RC}" TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS
                                                                                    "${FIXNVPE_MANIFEST}")
  endif()
endfunction()
