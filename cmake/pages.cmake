# cmake -DRISEC=risec -DOUT=folder -P pages.cmake
# Writes the manual pages of risec and its verbs into OUT/man1, and what bash, zsh and fish read to complete its command line.

function(write_document path)
  execute_process(COMMAND "${RISEC}" help ${ARGN} OUTPUT_FILE "${path}" RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "risec help ${ARGN}: exit code ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE "${OUT}")
file(MAKE_DIRECTORY "${OUT}/man1")
write_document("${OUT}/man1/risec.1" --emit-docs=man)
# That page names the others.
file(STRINGS "${OUT}/man1/risec.1" verbs REGEX "^\\.BR risec\\\\-[a-z]+ \\(1\\)")
foreach(verb IN LISTS verbs)
  string(REGEX REPLACE ".*\\\\-([a-z]+) .*" "\\1" verb "${verb}")
  write_document("${OUT}/man1/risec-${verb}.1" ${verb} --emit-docs=man)
endforeach()
foreach(shell bash zsh fish)
  write_document("${OUT}/completion.${shell}" --emit-docs=${shell})
endforeach()
file(TOUCH "${OUT}/done")
