# Device text as C++ strings: tamis_embed_text() makes a .cpp with one function that returns the
# files, which it rebuilds when they change. Run as a script (cmake -P) it writes that .cpp.
if(CMAKE_SCRIPT_MODE_FILE)
  set(entries "")
  foreach(name IN LISTS FILES)
    file(READ ${ROOT}/${name} text)
    # The delimiter cannot occur: the text would have to contain it on purpose.
    string(APPEND entries "    {\"${name}\", R\"tamis(${text})tamis\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Made from device text by cmake/EmbedText.cmake.\n#include <span>\n\n"
    "#include \"gpu/source_file.hpp\"\n\nnamespace ${NAMESPACE} {\n\n"
    "std::span<const tamis::gpu::SourceFile> ${FUNCTION}() noexcept;\n\n"
    "std::span<const tamis::gpu::SourceFile> ${FUNCTION}() noexcept {\n"
    "  static constexpr tamis::gpu::SourceFile kFiles[] = {\n${entries}  };\n"
    "  return kFiles;\n}\n\n}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(TAMIS_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

# tamis_embed_text(TARGET name FUNCTION name NAMESPACE name FILES file...): adds to the target a
# source with that function. Files are named relative to src/ (or ROOT), as others include them.
function(tamis_embed_text)
  cmake_parse_arguments(arg "" "TARGET;FUNCTION;NAMESPACE;ROOT" "FILES" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${arg_FUNCTION}_text.cpp)
  set(sources ${arg_FILES})
  if(NOT arg_ROOT)
    set(arg_ROOT ${PROJECT_SOURCE_DIR}/src)
  endif()
  list(TRANSFORM sources PREPEND ${arg_ROOT}/)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${arg_FILES}" -DROOT=${arg_ROOT}
      -DNAMESPACE=${arg_NAMESPACE} -DFUNCTION=${arg_FUNCTION}
      -DOUTPUT=${output} -P ${TAMIS_EMBED_SCRIPT}
    DEPENDS ${sources} ${TAMIS_EMBED_SCRIPT} VERBATIM COMMENT "Embedding ${arg_FUNCTION}")
  # The target may belong to another folder, whose rules do not see this one's files.
  add_custom_target(${arg_FUNCTION}_text DEPENDS ${output})
  add_dependencies(${arg_TARGET} ${arg_FUNCTION}_text)
  target_sources(${arg_TARGET} PRIVATE ${output})
endfunction()
