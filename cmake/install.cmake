# What is installed, in three components: runtime (the shared library), dev (what programs are built with) and tools
# (risec). Each has the licence.

include(CMakePackageConfigHelpers)

set(RISE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/rise")
if(RISE_BUILD_SHARED)
  install(TARGETS rise EXPORT rise
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT dev)
endif()
# The system keeps a list of the libraries in its own folders, which only root may renew.
if(RISE_BUILD_SHARED)
  install(CODE [[
    if("$ENV{DESTDIR}" STREQUAL "" AND CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
      message(STATUS "Run `ldconfig` once, as root: then programs find librise.so")
    endif()]] COMPONENT runtime)
endif()
if(RISE_BUILD_STATIC)
  install(TARGETS rise_static EXPORT rise ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
endif()
if(RISE_BUILD_TOOLS)
  install(TARGETS risec EXPORT risec RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  install(EXPORT risec FILE risecTargets.cmake NAMESPACE rise:: DESTINATION "${RISE_CMAKE_DIR}" COMPONENT tools)

  # Manual pages and completions are written by risec itself.
  set(RISE_PAGES "${PROJECT_BINARY_DIR}/pages")
  add_custom_command(
    OUTPUT "${RISE_PAGES}/done"
    COMMAND "${CMAKE_COMMAND}" "-DRISEC=$<TARGET_FILE:risec>" "-DOUT=${RISE_PAGES}" -P "${PROJECT_SOURCE_DIR}/cmake/pages.cmake"
    DEPENDS risec cmake/pages.cmake
    COMMENT "Writing manual pages and completions"
    VERBATIM)
  add_custom_target(rise_pages ALL DEPENDS "${RISE_PAGES}/done")
  install(DIRECTORY "${RISE_PAGES}/man1/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)
  install(FILES "${RISE_PAGES}/completion.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME risec COMPONENT tools)
  install(FILES "${RISE_PAGES}/completion.zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _risec COMPONENT tools)
  install(FILES "${RISE_PAGES}/completion.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" RENAME risec.fish COMPONENT tools)
endif()
foreach(component runtime dev tools)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
endforeach()

install(FILES runtime/include/rise.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
find_program(AWK NAMES awk gawk mawk)
mark_as_advanced(AWK)
if(AWK)
  add_custom_command(
    OUTPUT "${PROJECT_BINARY_DIR}/rise.h.3"
    COMMAND "${AWK}" -f "${PROJECT_SOURCE_DIR}/cmake/header_page.awk" "${PROJECT_SOURCE_DIR}/runtime/include/rise.h" >"${PROJECT_BINARY_DIR}/rise.h.3"
    DEPENDS runtime/include/rise.h cmake/header_page.awk
    COMMENT "Writing the manual page of rise.h")
  add_custom_target(rise_header_page ALL DEPENDS "${PROJECT_BINARY_DIR}/rise.h.3")
  install(FILES "${PROJECT_BINARY_DIR}/rise.h.3" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" COMPONENT dev)
else()
  message(STATUS "The manual page of rise.h is left out: there is no awk")
endif()
install(EXPORT rise FILE riseTargets.cmake NAMESPACE rise:: DESTINATION "${RISE_CMAKE_DIR}" COMPONENT dev)
configure_package_config_file(cmake/riseConfig.cmake.in "${PROJECT_BINARY_DIR}/riseConfig.cmake" INSTALL_DESTINATION "${RISE_CMAKE_DIR}")
# Until 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/riseConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/riseConfig.cmake" "${PROJECT_BINARY_DIR}/riseConfigVersion.cmake" cmake/RiseKernels.cmake
  DESTINATION "${RISE_CMAKE_DIR}" COMPONENT dev)

# The prefix is chosen, and may be moved, after this file is made: it is found from where the file is.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(RISE_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(RISE_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(RISE_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(RISE_PC_PREFIX "\${pcfiledir}/${up}")
  set(RISE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(RISE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/rise.pc.in rise.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rise.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
