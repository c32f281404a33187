#!/usr/bin/env bash
# ./test.sh packages: risec as others get it, each in a fresh Debian of its own. Prints `ok`, `not ok` and `skip NAME: reason`, and
# a last line with the numbers of them.
#
#   release   the source release builds with a compiler and CMake: alone, by FetchContent and by add_subdirectory
#   debs      the packages of debian/: lintian, the symbols file, then installed, used and purged beside a library of 0.1
#   wheel     pip installs it over Debian's numpy, without a compiler
#   header    a header written here compiles there by gcc and g++, and tells that there is no driver
#
# WORD... runs only these. Set-up fetches what is missing by apt and debootstrap: build/packages/base, the Debian that each root is
# a copy of, has all packages in its cache. All else runs without a network. PACKAGES_OFFLINE leaves out the set-up, and what then
# is missing is skipped by name.
set -uo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
HERE=$ROOT/tests/packages
WORK=${PACKAGES_WORK:-$ROOT/build/packages}
BASE=$WORK/base
OUT=$WORK/out
DEBS=$ROOT/build/deb
BUILT=$ROOT/build/release
INSIDE=(gcc g++ libc6-dev pkg-config cmake make python3-numpy python3-venv libjansson4)
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unset LD_LIBRARY_PATH CMAKE_GENERATOR
mkdir -p "$WORK"
scratch=$(mktemp -d)
results=$scratch/results
: >"$results"
trap 'rm -rf "$scratch" "$WORK/roots"' EXIT

say() { printf '%s\n' "$*" | tee -a "$results"; }
have() { command -v "$1" >/dev/null 2>&1; }
wanted() { [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]; }
# result NAME COMMAND...: ok, or what it printed
result() {
    local name=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        say "ok $name"
        return 0
    fi
    say "not ok $name"
    tail -n 20 "$scratch/said" | cut -c1-300 | sed 's/^/# /'
    return 1
}

# ---- set-up -----------------------------------------------------------------------------------------------------------------

# Is there a base with all that is wanted inside?
has_base() { [ "$(cat "$BASE/inside" 2>/dev/null)" = "${INSIDE[*]}" ]; }

# Why there can be no roots here, or nothing.
no_roots() {
    if [ "$(id -u)" -ne 0 ]; then
        echo 'debootstrap and chroot need root'
    elif ! have debootstrap; then
        echo 'no debootstrap here'
    elif ! unshare --net --mount --pid --fork true 2>/dev/null; then
        echo 'no namespaces of its own can be made here'
    elif ! has_base && [ -n "${PACKAGES_OFFLINE:-}" ]; then
        echo 'there is no build/packages/base yet, and PACKAGES_OFFLINE is set'
    fi
}

# A Debian as small as there is, of this machine's version, with packages in its cache and not installed.
make_base() {
    local suite
    suite=$(. /etc/os-release && echo "${ID}-${VERSION_CODENAME:-}")
    case $suite in debian-?*) suite=${suite#debian-} ;; *) suite=bookworm ;; esac
    rm -rf "$BASE" "$BASE.new"
    debootstrap --variant=minbase "$suite" "$BASE.new" ${PACKAGES_MIRROR:+"$PACKAGES_MIRROR"} &&
        chroot "$BASE.new" apt-get update -q &&
        chroot "$BASE.new" apt-get install -q -y --no-install-recommends --download-only "${INSIDE[@]}" &&
        echo "${INSIDE[*]}" >"$BASE.new/inside" &&
        mv "$BASE.new" "$BASE"
}

# ---- roots ------------------------------------------------------------------------------------------------------------------

# in_root NAME FILE...: tests/packages/NAME.sh in a fresh root, with these files in /test, and no network.
in_root() {
    local name=$1 root=$WORK/roots/$1
    shift
    if [ -n "$REASON" ]; then
        say "skip $name: $REASON"
        return
    fi
    rm -rf "$root"
    mkdir -p "$WORK/roots"
    cp -a --reflink=auto "$BASE" "$root"
    mkdir "$root/test"
    cp -R "$HERE/report.sh" "$HERE/$name.sh" "$@" "$root/test"
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive \
        unshare --net --mount --pid --fork sh -c \
        'mount -t proc proc "$1/proc" && mount -t devpts devpts "$1/dev/pts" && exec chroot "$1" "$2"' sh "$root" "/test/$name.sh" \
        >"$scratch/inside" 2>"$scratch/errors" </dev/null
    local status=$?
    sed "s/^\(ok\|not ok\|skip\) /&$name-/" "$scratch/inside" | tee -a "$results"
    # A script that ends early has said nothing of the rest.
    if [ $status -gt 1 ] || ! grep -q '^\(not \)\?ok ' "$scratch/inside"; then
        say "not ok $name: exit code $status"
        tail -n 20 "$scratch/errors" | sed 's/^/# /'
    fi
    rm -rf "$root"
}

# ---- what is given to others --------------------------------------------------------------------------------------------------

pack() {
    rm -rf "$OUT"
    mkdir -p "$OUT"
    (cd "$OUT" && cpack --config "$BUILT/CPackSourceConfig.cmake")
}

# By the commands of docs/install.md.
build_debs() {
    local recipe
    recipe=$(awk '/^<!-- packages: debs -->$/ { wanted = 1; next } /^```$/ { inside = 0 } inside; wanted && /^```sh$/ { inside = 1; wanted = 0 }' \
        "$ROOT/docs/install.md")
    [[ $recipe == *dpkg-buildpackage* ]] || { echo 'docs/install.md has no commands for this'; return 1; }
    rm -rf "$DEBS"
    (cd "$ROOT" && DEB_BUILD_OPTIONS=parallel=$(nproc) bash -e -c "$recipe")
}

# Nothing but what every first upload is told.
lintian_silent() {
    lintian --allow-root -i -E "$DEBS"/risec_*.changes >"$scratch/lintian" 2>&1
    grep -v '^N:' "$scratch/lintian" | grep -v ' initial-upload-closes-no-bugs' >"$scratch/tags"
    cat "$scratch/tags"
    ! [ -s "$scratch/tags" ] && ! find "$ROOT/debian" -name '*lintian-overrides*' | grep .
}

# dpkg-gensymbols knows every symbol, and misses a line that is taken out. (tests/scripts/install.sh compares the file with rise.h.)
symbols_checked() {
    local library
    rm -rf "$scratch/library"
    dpkg-deb -x "$DEBS"/librise0.2_*.deb "$scratch/library"
    library=$(find "$scratch/library" -name 'librise.so.0.2.*')
    cd "$DEBS/risec-$VERSION" || return 1
    dpkg-gensymbols -q -c4 -plibrise0.2 "-v$VERSION" "-e$library" -Idebian/librise0.2.symbols -O/dev/null || return 1
    sed '/rise_call_new/d' debian/librise0.2.symbols >"$scratch/symbols"
    ! dpkg-gensymbols -q -c4 -plibrise0.2 "-v$VERSION" "-e$library" "-I$scratch/symbols" -O/dev/null
}

# Of a copy, so that the tree stays as it is.
build_wheel() {
    rm -rf "$WORK/wheel"
    mkdir -p "$WORK/wheel"
    tar -xzf "$RELEASE" -C "$WORK/wheel" &&
        /usr/bin/python3 -m build --no-isolation --wheel --outdir "$OUT" "$WORK/wheel/risec-$VERSION/python"
}

# ---- all of them ----------------------------------------------------------------------------------------------------------------

VERSION=$("$BUILT/risec" --version | sed 's/risec //')
result release-packed pack || exit 1
RELEASE=$OUT/risec-$VERSION.tar.gz
REASON=$(no_roots)
if [ -z "$REASON" ] && ! has_base; then
    result base make_base || REASON='its Debian could not be made'
fi

if wanted release "$@"; then
    in_root release "$RELEASE"
fi
if wanted debs "$@"; then
    missing=$(cd "$ROOT" && dpkg-checkbuilddeps 2>&1 || true)
    if ! have dpkg-buildpackage || [ -n "$missing" ]; then
        say "skip debs: ${missing:-no dpkg-buildpackage here}"
    elif result debs-built build_debs; then
        if have lintian; then result lintian lintian_silent; else say 'skip lintian: no lintian here'; fi
        result symbols symbols_checked
        in_root debs "$DEBS"/*.deb "$ROOT/examples/c/sum.c" "$ROOT/examples/sum.rise" "$ROOT/examples/c" "$HERE/ten_lines.py"
    fi
fi
if wanted wheel "$@"; then
    if ! /usr/bin/python3 -c 'import build, setuptools, wheel' 2>/dev/null; then
        say 'skip wheel: no python3-build, python3-setuptools and python3-wheel here'
    elif result wheel-built build_wheel; then
        in_root wheel "$OUT"/risec-*.whl "$HERE/ten_lines.py"
    fi
fi
if wanted header "$@"; then
    mkdir -p "$scratch/committed" "$scratch/written"
    cp "$ROOT/tests/header/sum.h" "$scratch/committed"
    headers=("$scratch/committed")
    if "$BUILT/risec" "$ROOT/examples/high/sum.rise" -o "$scratch/written/sum.h" >"$scratch/said" 2>&1; then
        headers+=("$scratch/written")
    else
        say 'skip header-written: no NVRTC here, so a committed header stands for it'
    fi
    in_root header "${headers[@]}" "$HERE/no_driver.c"
fi

passed=$(grep -c '^ok ' "$results")
failed=$(grep -c '^not ok ' "$results")
skipped=$(grep -c '^skip ' "$results")
echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
