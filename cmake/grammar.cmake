# Lexer and parser: grammar/rise.re through re2c, grammar/rise.y through lemon. Sets GRAMMAR_SOURCES, and GRAMMAR_DIR, where
# they are. A source release has them in grammar/generated and needs neither tool.

set(GRAMMAR_SOURCES)
set(GRAMMAR_DIR "${PROJECT_BINARY_DIR}/grammar")
file(MAKE_DIRECTORY "${GRAMMAR_DIR}")
set(RELEASED "${PROJECT_SOURCE_DIR}/grammar/generated")

if(EXISTS "${RELEASED}/rise_lexer.c" AND EXISTS "${RELEASED}/rise.c")
  set(GRAMMAR_DIR "${RELEASED}")
  set(GRAMMAR_SOURCES "${RELEASED}/rise_lexer.c" "${RELEASED}/rise.c")
else()
  find_program(RE2C re2c)
  find_program(LEMON lemon)
  set(MISSING)
  if(NOT RE2C)
    list(APPEND MISSING re2c)
  endif()
  if(NOT LEMON)
    list(APPEND MISSING lemon)
  endif()
  if(MISSING)
    string(REPLACE ";" " " MISSING "${MISSING}")
    message(FATAL_ERROR "risec needs re2c and lemon to build. Missing here: ${MISSING}. On Debian and Ubuntu: apt-get install ${MISSING}")
  endif()
  execute_process(COMMAND "${RE2C}" --vernum OUTPUT_VARIABLE RE2C_NUMBER OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT RE2C_NUMBER GREATER_EQUAL 020000)
    message(FATAL_ERROR "risec needs re2c 2.0 or newer, and ${RE2C} is ${RE2C_NUMBER}. On Debian and Ubuntu: apt-get install re2c")
  endif()
  # Lemon has called itself 1.0 for twenty years; -d, the newest option used here, tells an old one.
  execute_process(COMMAND "${LEMON}" "-?" OUTPUT_VARIABLE LEMON_HELP ERROR_VARIABLE LEMON_HELP_TOO)
  if(NOT "${LEMON_HELP}${LEMON_HELP_TOO}" MATCHES "-d<")
    message(FATAL_ERROR "risec needs a lemon that knows -d (of 2018 or newer), and ${LEMON} does not. On Debian and Ubuntu: apt-get install lemon")
  endif()

  set(LEXER_RE "${PROJECT_SOURCE_DIR}/grammar/rise.re")
  set(PARSER_Y "${PROJECT_SOURCE_DIR}/grammar/rise.y")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/grammar")
  if(EXISTS "${LEXER_RE}")
    add_custom_command(
      OUTPUT "${GRAMMAR_DIR}/rise_lexer.c"
      COMMAND "${RE2C}" -W --no-generation-date --no-debug-info -o "${GRAMMAR_DIR}/rise_lexer.c" "${LEXER_RE}"
      DEPENDS "${LEXER_RE}"
      COMMENT "Generating the lexer"
      VERBATIM)
    list(APPEND GRAMMAR_SOURCES "${GRAMMAR_DIR}/rise_lexer.c")
  endif()
  # Lemon's exit code is the number of conflicts: a grammar with one does not build.
  if(EXISTS "${PARSER_Y}")
    add_custom_command(
      OUTPUT "${GRAMMAR_DIR}/rise.c" "${GRAMMAR_DIR}/rise.h"
      COMMAND "${LEMON}" -l -q "-d${GRAMMAR_DIR}" "${PARSER_Y}"
      DEPENDS "${PARSER_Y}"
      COMMENT "Generating the parser"
      VERBATIM)
    list(APPEND GRAMMAR_SOURCES "${GRAMMAR_DIR}/rise.c")
  endif()
endif()
