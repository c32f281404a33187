#!/bin/sh
# The documents that are made from tables of the source are up to date. `docs.sh --write` makes them again. RISEC names the binary.
RISEC=${RISEC:?set RISEC to the risec binary}
docs=$(cd "$(dirname "$0")/../../docs" && pwd) || exit 2
failed=0
for name in primitives errors counters rules; do
    if [ "$1" = --write ]; then
        # A risec that fails leaves the old document.
        text=$("$RISEC" help --emit-docs=$name) && printf "%s\n" "$text" >"$docs/$name.md" || failed=1
    elif "$RISEC" help --emit-docs=$name | cmp -s - "$docs/$name.md"; then
        echo "ok docs-$name"
    else
        echo "not ok docs-$name"
        echo "# docs/$name.md differs from its table: run tests/scripts/docs.sh --write"
        failed=1
    fi
done
# The pages of the library: each part begins with the name of its file.
library=$(mktemp -d) || exit 2
trap 'rm -rf "$library"' EXIT
"$RISEC" help --emit-docs=library | awk -v dir="$library" '/^<!-- [A-Za-z]*\.md -->$/ { file = dir "/" $2; next } { print >file }'
if [ "$1" = --write ]; then
    if [ -s "$library/README.md" ]; then
        mkdir -p "$docs/library" && rm -f "$docs"/library/*.md && cp "$library"/*.md "$docs/library" || failed=1
    else
        failed=1
    fi
elif [ -s "$library/README.md" ] && diff -r "$library" "$docs/library" >/dev/null; then
    echo "ok docs-library"
else
    echo "not ok docs-library"
    echo "# docs/library differs from lib/std: run tests/scripts/docs.sh --write"
    failed=1
fi
# Every code is explained, and every explanation has a case that fails and one that does not.
codes=$("$RISEC" help --emit-docs=errors | sed -n 's/^### \([EW][0-9]*\):.*/\1/p')
missing=
for code in $codes; do
    text=$("$RISEC" explain "$code") || failed=1
    case $text in *bad:*good:*) ;; *) missing="$missing $code" ;; esac
done
if [ -n "$codes" ] && [ -z "$missing" ]; then echo "ok docs-explain"; else echo "not ok docs-explain"; echo "# without bad: and good: $missing"; failed=1; fi
# The passes are listed where they can be named.
passes=$(echo 'entry f: i32 = 1' | "$RISEC" --emit=imp --stop-after=nosuch - 2>&1 | sed -n 's/.*the passes are //p')
missing=
for pass in $(echo "$passes" | tr -d ,); do
    grep -q "$pass" "$docs/hacking.md" || missing="$missing $pass"
    for topic in emit stop-after; do "$RISEC" help $topic | grep -q "$pass" || missing="$missing $pass"; done
done
if [ -n "$passes" ] && [ -z "$missing" ]; then echo "ok docs-passes"; else echo "not ok docs-passes"; echo "# not listed: $missing"; failed=1; fi
exit $failed
