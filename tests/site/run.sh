#!/usr/bin/env bash
# ./test.sh site: the pages of README and docs as a site. Prints `ok`, `not ok` and
# `skip NAME: reason` as scripts do, and a last line with the numbers of them.
#
#   - The lock file names no registry.
#   - The site is built without the network. A link to a file that is not there is an error.
#   - textlint.py: the rules of site/.textlintrc.json hold for the pages' prose.
#   - built.py: each page is there, links and anchors lead somewhere, and RISE is coloured.
#   - search.mjs: the search finds each page.
#   - browser.mjs: how the pages look in Chromium. PICTURES=DIR leaves pictures of them.
#
# Node's packages come from site/package-lock.json, by `npm ci --ignore-scripts` where they are
# missing and SITE_OFFLINE is not set. What is not there (Node, the network, Chromium) is skipped by
# name.
set -uo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
HERE=$ROOT/tests/site
SITE=$ROOT/site
BUILT=$ROOT/build/site
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8
unset SITE_REPOSITORY
log=$scratch/log
: >"$log"

say() { printf '%s\n' "$*" | tee -a "$log"; }
have() { command -v "$1" >/dev/null 2>&1; }

# result NAME COMMAND...: ok, or what it printed
result() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        say "ok $name"
    else
        say "not ok $name"
        tail -n 20 <<<"$out" | sed 's/^/# /'
        return 1
    fi
}

# reports NAME COMMAND...: what it reports, and `not ok` if it fails without a report
reports() {
    local name=$1
    shift
    "$@" 2>"$scratch/errors" | tee -a "$log"
    [ "${PIPESTATUS[0]}" = 0 ] && return 0
    say "not ok $name"
    tail -n 20 "$scratch/errors" | sed 's/^/# /'
}

skip() {
    local reason=$1 name
    shift
    for name in "$@"; do say "skip site-$name: $reason"; done
}

modules() {
    have node && have npm || { reason='no Node here'; return 1; }
    cmp -s "$SITE/package-lock.json" "$SITE/node_modules/.installed" && return 0
    [ -z "${SITE_OFFLINE:-}" ] || { reason='its packages are not installed'; return 1; }
    reason='npm ci could not install its packages'
    (cd "$SITE" && npm ci --ignore-scripts) >"$scratch/npm" 2>&1 &&
        cp "$SITE/package-lock.json" "$SITE/node_modules/.installed"
}

no_addresses() { ! grep -n '"resolved"' "$SITE/package-lock.json"; }

# In a namespace without a network, where this machine makes one.
build_offline() {
    local alone=(unshare --map-root-user --net)
    "${alone[@]}" true 2>/dev/null || alone=()
    (cd "$SITE" && "${alone[@]}" npm run --silent build)
}

find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" && return 0
    done
    return 1
}

result site-lock no_addresses
browser=(browser-400 browser-1280 browser-search browser-planted)
if ! modules; then
    skip "$reason" destinations textlint textlint-planted build pages links colours built-planted search search-planted "${browser[@]}"
else
    reports site-destinations node "$HERE/destinations.mjs"
    reports site-textlint python3 "$HERE/textlint.py"
    if result site-build build_offline; then
        reports site-built python3 "$HERE/built.py" "$BUILT"
        reports site-search node "$HERE/search.mjs" "$BUILT"
        if path=$(find_chromium); then
            reports site-browser node "$HERE/browser.mjs" "$BUILT" "$path" ${PICTURES:+"$PICTURES"}
        else
            skip 'no Chromium here' "${browser[@]}"
        fi
    fi
fi

count() { grep -c "^$1 " "$log"; }
passed=$(count ok) failed=$(count 'not ok') skipped=$(count skip)
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
