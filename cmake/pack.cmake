# Packages by cpack. The source release (cpack --config CPackSourceConfig.cmake) has what is generated from the grammar,
# so that its users need neither re2c nor lemon.

set(CPACK_PACKAGE_NAME risec)
set(CPACK_PACKAGE_VENDOR "The risec authors")
set(CPACK_PACKAGE_CONTACT "The risec authors <risec@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "risec-${PROJECT_VERSION}")
set(CPACK_SOURCE_INSTALLED_DIRECTORIES "${PROJECT_SOURCE_DIR};/")
# Expressions about whole paths, so that a source tree may lie in somebody's build folder. What is generated lies in ours.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" here "${PROJECT_SOURCE_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${here}/build/" "^${here}/grammar/generated/" "/\\\\.git" "/__pycache__/"
    "/node_modules/")
file(CONFIGURE OUTPUT pack_grammar.cmake CONTENT [[
file(GLOB generated "@GRAMMAR_DIR@/*.c" "@GRAMMAR_DIR@/*.h")
file(COPY ${generated} DESTINATION "${CMAKE_INSTALL_PREFIX}/grammar/generated")
]] @ONLY)
# Read by cpack, for a release as for packages of what is built.
file(CONFIGURE OUTPUT pack_source.cmake CONTENT [[
if(CPACK_INSTALLED_DIRECTORIES)
  set(CPACK_INSTALL_SCRIPTS "@CMAKE_CURRENT_BINARY_DIR@/pack_grammar.cmake")
endif()
]] @ONLY)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_BINARY_DIR}/pack_source.cmake")
include(CPack)
