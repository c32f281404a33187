#!/bin/sh
# `risec new`: the folder that it makes is tested, built against an installed package and passes; what is no name is refused.
# BUILD has the builds, RISEC names the binary.
BUILD=${BUILD:?set BUILD to the folder of the builds}
RISEC=${RISEC:?set RISEC to the risec binary}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

report() { # NAME STATUS: the log is in $dir/log
    if [ "$2" -eq 0 ]; then echo "ok $1"; else echo "not ok $1"; failed=1; sed 's/^/# /' "$dir/log" | tail -20; fi
}
check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$dir/log" 2>&1
    report "$name" $?
}
refused() { # NAME PATTERN WORD...: by a message with the pattern, and nothing is made
    name=$1 pattern=$2
    shift 2
    ls -R >before
    "$RISEC" new "$@" >log 2>&1
    [ $? -eq 2 ] && grep -q "$pattern" log
    said=$?
    ls -R | cmp -s - before
    report "$name" $((said | $?))
}
cd "$dir" || exit 2
touch log before
check made "$RISEC" new squares
check tests "$RISEC" test squares/squares.rise
check formatted "$RISEC" fmt --check squares/squares.rise
grep -r '@[A-Z]*@' squares >log
[ $? -eq 1 ]
report filled $?
long=a_name_of_so_many_letters_that_lines_with_it_have_to_be_laid_outAB
check long-made "$RISEC" new ${long%??}
check long-tests "$RISEC" test ${long%??}
check long-formatted "$RISEC" fmt --check ${long%??}

refused there 'there already' squares
refused long 'at most 64' "$long"
for word in 1st a-b a/b .. '' größe; do refused "word-$word" 'cannot be the name of a program$' "$word"; done
for word in map fun def numSM; do refused "taken-$word" 'cannot be the name of a program: ' "$word"; done
refused none 'takes one name' --
refused two 'takes one name' a b
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 500 locked
    (cd locked && "$RISEC" new squares) >log 2>&1
    [ $? -eq 2 ] && grep -q 'error\[E0628\].*cannot be made' log
    report locked $?
else
    echo "skip locked: root may write everywhere"
fi

check install cmake --install "$BUILD/release" --prefix "$dir/prefix"
# Names that CMake has meanings for, too.
for word in squares test; do
    [ -d $word ] || "$RISEC" new $word >log 2>&1
    check "$word-configures" cmake -S $word -B $word/build "-DCMAKE_PREFIX_PATH=$dir/prefix" "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"
    check "$word-builds" cmake --build $word/build
    (cd $word/build && ctest --output-on-failure) >log 2>&1
    [ $? -eq 0 ] && grep -q '100% tests passed, 0 tests failed out of 2' log
    report "$word-passes" $?
done
# A wrong program does not pass: the tests check something.
sed 's/x \* x) /x * x + 1) /' squares/squares.rise >log && mv log squares/squares.rise
(cd squares/build && ctest) >log 2>&1
[ $? -ne 0 ] && grep -q 'program .*Failed' log && grep -q 'caller .*Failed' log
report wrong-fails $?
exit $failed
