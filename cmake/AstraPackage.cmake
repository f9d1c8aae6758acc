# What `cpack` makes in the build folder: the Debian packages libastra-rt,
# libastra-dev and astrac, one for each component of AstraInstall.cmake; and the
# SPDX document of the build's inputs, which is installed with the runtime.
find_package(Python3 COMPONENTS Interpreter REQUIRED)

set(ASTRA_SPDX ${PROJECT_BINARY_DIR}/package/astra.spdx.json)
set(spdx_parts astra_rt astra_rt_static)
if(ASTRA_BUILD_COMPILER)
  list(APPEND spdx_parts astrac)
endif()
add_custom_command(OUTPUT ${ASTRA_SPDX}
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/package/spdx.py
    --source ${PROJECT_SOURCE_DIR} --version ${PROJECT_VERSION}
    --compiler ${CMAKE_CXX_COMPILER} --output ${ASTRA_SPDX}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/package/spdx.py ${spdx_parts}
  COMMENT "SPDX document of what the build is made of" VERBATIM)
add_custom_target(astra-spdx ALL DEPENDS ${ASTRA_SPDX})
install(FILES ${ASTRA_SPDX} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# The terms of everything inside a package, where Debian wants them.
foreach(package libastra-rt:runtime libastra-dev:dev astrac:compiler)
  string(REPLACE ":" ";" parts ${package})
  list(GET parts 0 name)
  list(GET parts 1 component)
  if(component STREQUAL "compiler" AND NOT ASTRA_BUILD_COMPILER)
    continue()
  endif()
  install(FILES cmake/package/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME astra)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of Astra <astra@example.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# CPack indents the second line of a description, not the others.
set(same_version "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Runtime for compiled Astra programs
Runs tensor programs that astrac compiled: loading, checked calls, streams,
 memory, files. Has the CPU kernels inside and needs the C library only.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libastra-rt ${same_version}, libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "astrac ${same_version}, pkg-config, cmake")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Runtime for compiled Astra programs (development)
Headers, the static library, files for CMake and pkg-config, documents and
 examples.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
# Named here, not looked up: libMLIR lies in LLVM's own folder, where libLLVM is a link
# of llvm-22-dev too, and dpkg-shlibdeps finds now the one package and now the other.
set(CPACK_DEBIAN_COMPILER_PACKAGE_SHLIBDEPS OFF)
set(llvm_major ${LLVM_VERSION_MAJOR})
set(llvm_since "(>= 1:${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR})")
string(JOIN ", " CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS
  "libastra-rt ${same_version}" "libllvm${llvm_major} ${llvm_since}" "libmlir-${llvm_major} ${llvm_since}"
  "libstdc++6 (>= 12)" libgcc-s1 libzstd1 zlib1g)
set(CPACK_DEBIAN_COMPILER_PACKAGE_RECOMMENDS "libastra-dev ${same_version}")
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "Ahead-of-time compiler of the Astra tensor language
Compiles typed tensor programs with automatic differentiation to object files
 with C headers, or to loadable modules.")
# Libraries of other packages of the same build have no entry in dpkg's files yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
include(CPack)
