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
# Expressions about whole paths, so that a source tree may lie in somebody's build folder. What is generated lies in ours,
# which may be any folder of the source tree. Debian's packages are made of a release and of debian/, which is no part of it.
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" here "${PROJECT_SOURCE_DIR}")
string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" built "${PROJECT_BINARY_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${here}/build/" "^${built}/" "^${here}/_CPack_Packages/" "^${here}/grammar/generated/" "^${here}/debian/"
  "^${here}/risec-[^/]*\\\\.tar\\\\.gz$" "/\\\\.git" "/__pycache__/" "/node_modules/" "\\\\.egg-info/")
# A build tree may be as it was configured: what is made of the grammar is made now.
file(CONFIGURE OUTPUT pack_grammar.cmake CONTENT [[
execute_process(COMMAND "${CMAKE_COMMAND}" --build "@PROJECT_BINARY_DIR@" --target rise_grammar RESULT_VARIABLE status OUTPUT_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The grammar's sources cannot be made: the build of rise_grammar in @PROJECT_BINARY_DIR@ failed")
endif()
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
