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
# The manual page has the options as they are: its section OPTIONS, up to the next one.
if grep -q '^\.SH' "$docs/risec.1"; then
    options=$("$RISEC" help --emit-docs=options) || failed=1
    page=$(printf '%s\n' "$options" | awk '
        FNR == NR { options = options $0 "\n"; next }
        /^\.SH/ { inside = $2 == "OPTIONS"; if (inside) printf "%s", options }
        !inside' - "$docs/risec.1")
    if [ "$1" = --write ]; then
        printf '%s\n' "$page" >"$docs/risec.1"
    elif printf '%s\n' "$page" | cmp -s - "$docs/risec.1"; then
        echo "ok docs-man-options"
    else
        echo "not ok docs-man-options"
        echo "# docs/risec.1 has other options: run tests/scripts/docs.sh --write"
        failed=1
    fi
else
    echo "skip docs-man-options: docs/risec.1 has no text yet"
fi
# The passes are listed where they can be named.
passes=$(echo 'entry f: i32 = 1' | "$RISEC" --emit=imp --stop-after=nosuch - 2>&1 | sed -n 's/.*the passes are //p')
missing=
for pass in $(echo "$passes" | tr -d ,); do
    for page in "$docs/risec.1" "$docs/hacking.md"; do grep -q "$pass" "$page" || missing="$missing $pass"; done
    "$RISEC" help emit | grep -q "$pass" || missing="$missing $pass"
done
if [ -n "$passes" ] && [ -z "$missing" ]; then echo "ok docs-passes"; else echo "not ok docs-passes"; echo "# not listed: $missing"; failed=1; fi
exit $failed
