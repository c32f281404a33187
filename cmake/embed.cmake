# cmake -DROOT=lib -DLIST=files.txt -DTABLE=risec_lib_file -DOUT=embedded.c -P embed.cmake
# Turns the files that are listed, one path a line, into a table of src/support/embedded.h.

file(STRINGS "${LIST}" FILES)
set(TEXTS "")
set(ROWS "")
set(COUNT 0)
foreach(path IN LISTS FILES)
  file(RELATIVE_PATH name "${ROOT}" "${path}")
  file(READ "${path}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND TEXTS "static const unsigned char text_${COUNT}[] = {\n${hex}0x00};\n\n")
  string(APPEND ROWS "    {\"${name}\", (const char *)text_${COUNT}, ${size}},\n")
  math(EXPR COUNT "${COUNT} + 1")
endforeach()
# The last row is there for a library without files: C has no empty arrays.
file(WRITE "${OUT}" "#include \"support/embedded.h\"

${TEXTS}const LibFile ${TABLE}s[] = {
${ROWS}    {0, 0, 0},
};

const int ${TABLE}_count = ${COUNT};
")
