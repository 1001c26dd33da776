# gemmtune_embed(<target> NAME <name> BASE <dir> FILES <file>...)
# Compiles the text files into <target>. The generated header "embedded/<name>.h" declares
#   namespace gemmtune::embedded { std::span<const File> <name>(); }
# File (see src/core/embedded_file.h) holds the path relative to BASE and the text.
function(gemmtune_embed target)
  cmake_parse_arguments(ARG "" "NAME;BASE" "FILES" ${ARGN})
  set(out "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  string(REPLACE ";" "|" joined "${ARG_FILES}")
  add_custom_command(
    OUTPUT "${out}/${ARG_NAME}.h" "${out}/${ARG_NAME}.cc"
    COMMAND "${CMAKE_COMMAND}" "-DNAME=${ARG_NAME}" "-DBASE=${ARG_BASE}" "-DFILES=${joined}"
            "-DOUT=${out}" -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    DEPENDS ${ARG_FILES} "${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    COMMENT "Embedding ${ARG_NAME}" VERBATIM)
  # Kernels change more often than what they are compiled into.
  set_source_files_properties("${out}/${ARG_NAME}.cc" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${out}/${ARG_NAME}.cc" "${out}/${ARG_NAME}.h")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
