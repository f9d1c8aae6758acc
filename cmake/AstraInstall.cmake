# What `cmake --install` puts where, in three components: `runtime` (the shared
# library), `dev` (headers, static library, package files, astra-info, astra-prof)
# and `compiler` (astrac, the standard library).
include(CMakePackageConfigHelpers)

install(TARGETS astra_rt EXPORT AstraRuntimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS astra_rt_static EXPORT AstraRuntimeTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY runtime/include/astra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(ASTRA_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Astra)
install(EXPORT AstraRuntimeTargets NAMESPACE Astra:: DESTINATION ${ASTRA_CMAKE_DIR} COMPONENT dev)
configure_package_config_file(cmake/package/AstraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/AstraConfig.cmake
  INSTALL_DESTINATION ${ASTRA_CMAKE_DIR} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/AstraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/AstraConfig.cmake
  ${PROJECT_BINARY_DIR}/package/AstraConfigVersion.cmake
  cmake/package/AstraModule.cmake DESTINATION ${ASTRA_CMAKE_DIR} COMPONENT dev)

# The installed folder may be another one than was configured, and may be moved.
file(RELATIVE_PATH ASTRA_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/package/astra.pc.in ${PROJECT_BINARY_DIR}/package/astra.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/astra.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
# What the README links to.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev
  PATTERN docs/man EXCLUDE)

# Tools that need no compiler.
set_target_properties(astra-info astra-prof PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS astra-info astra-prof RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT dev)
install(FILES docs/man/astra-info.1 docs/man/astra-prof.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT dev)

if(ASTRA_BUILD_COMPILER)
  # The installed folder may be moved: the library is looked for beside the program.
  set_target_properties(astrac PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS astrac astra-bits RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  install(DIRECTORY frontend/std DESTINATION ${CMAKE_INSTALL_DATADIR}/astra COMPONENT compiler
    FILES_MATCHING PATTERN "*.astra")
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler
    FILES_MATCHING PATTERN "astrac.1")
endif()
