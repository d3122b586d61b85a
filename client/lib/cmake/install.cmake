# The client library as the CMake package `sinew` (target sinew::client) and the pkg-config module `sinew`. It is static, so
# the generated messages go with it, without their headers.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set_target_properties(sinew_client PROPERTIES EXPORT_NAME client)
set_target_properties(sinew_proto PROPERTIES EXPORT_NAME proto)
install(TARGETS sinew_client sinew_proto EXPORT sinew-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT client)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT client)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(EXPORT sinew-targets NAMESPACE sinew:: DESTINATION ${package_dir} COMPONENT client)
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/sinew-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sinew-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sinew-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/sinew.pc.in ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/sinew-config-version.cmake
  DESTINATION ${package_dir} COMPONENT client)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT client)
