#!/bin/bash
# Inside a root with headers of risec's in /test: programs in C and C++, which need nothing but a compiler, and without a driver end
# with the header's code for that.
. /test/report.sh
cd "$HERE" || exit 2
check tools install gcc g++ libc6-dev
refuse bare sh -c 'command -v risec || command -v nvcc || ldconfig -p | grep libcuda'
program() { # FOLDER COMPILER OPTION...
    local folder=$1 compiler=$2
    shift 2
    check "$folder-$compiler" "$compiler" "$@" -Wall -Wextra -pedantic -Werror "-I$folder" no_driver.c -o "$folder/$compiler"
    "$folder/$compiler" >"$log" 2>&1
    [ $? -eq 1 ] && grep -q '^-1: .*driver' "$log"
    report "$folder-$compiler-runs" $?
}
for folder in committed written; do
    [ -d $folder ] || continue
    program $folder gcc -std=c99 -x c
    program $folder g++ -std=c++20 -x c++
done
exit "$failed"
