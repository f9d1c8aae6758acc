# astra_add_module(<target> <file.astra> [SHARED] [OPTIONS <astrac option>...])
#
# Compiles an .astra file when the project is built. Without SHARED, <target> is a
# library to link: it brings the object file, the folder of the generated header
# (<file>.h) and the runtime. With SHARED it makes the loadable module <file>.so;
# the target's property ASTRA_MODULE is its path.
function(astra_add_module target source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "SHARED" "" "OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "astra_add_module(${target}): unknown argument ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  get_filename_component(name ${source} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.astra)
  file(MAKE_DIRECTORY ${folder})
  if(ARG_SHARED)
    set(output ${folder}/${name}.so)
    add_custom_command(OUTPUT ${output}
      COMMAND ${ASTRA_ASTRAC} ${source} -shared -o ${output} ${ARG_OPTIONS}
      DEPENDS ${source} ${ASTRA_ASTRAC} COMMENT "Compiling ${name}.astra to a module" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${output})
    set_target_properties(${target} PROPERTIES ASTRA_MODULE ${output})
    return()
  endif()
  set(object ${folder}/${name}.o)
  add_custom_command(OUTPUT ${object} ${folder}/${name}.h
    COMMAND ${ASTRA_ASTRAC} ${source} -o ${object} ${ARG_OPTIONS}
    DEPENDS ${source} ${ASTRA_ASTRAC} COMMENT "Compiling ${name}.astra" VERBATIM)
  add_custom_target(${target}_object DEPENDS ${object} ${folder}/${name}.h)
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_object)
  target_sources(${target} INTERFACE ${object} ${folder}/${name}.h)
  target_include_directories(${target} INTERFACE ${folder})
  target_link_libraries(${target} INTERFACE Astra::astra_rt)
endfunction()
