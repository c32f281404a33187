# Sourced by run.sh and test.sh, which set ROOT: installs what is missing and builds, without a word unless something fails.

fail() {
    printf '%s\n' "$*" >&2
    exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# Does clang make programs with its fuzzer?
has_fuzzer() {
    local dir status=0
    have clang || return 1
    dir=$(mktemp -d)
    printf 'int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return size && !data; }\n' >"$dir/a.c"
    clang -fsanitize=address,fuzzer "$dir/a.c" -o "$dir/a" >/dev/null 2>&1 || status=1
    rm -rf "$dir"
    return $status
}

# Debian packages that are missing here. With "tests": also what only tests need; with "fuzz": what tests/fuzz/fuzz.sh needs; with
# "packages": what tests/packages/run.sh needs.
missing_packages() {
    have cmake || echo cmake
    have ninja || have make || echo make
    if ! have "${CC:-cc}"; then
        echo gcc libc6-dev
    elif ! printf '#include <stdio.h>\n' | "${CC:-cc}" -E -x c - >/dev/null 2>&1; then
        echo libc6-dev
    fi
    if ! [ -e "$ROOT/grammar/generated/rise.c" ]; then
        have re2c || echo re2c
        have lemon || echo lemon
    fi
    if [ "${1:-}" = tests ]; then
        have "${CXX:-c++}" || echo g++
        have python3 || echo python3
        have pkg-config || echo pkg-config
    fi
    if [ "${1:-}" = packages ]; then
        have dpkg-buildpackage || echo dpkg-dev
        have dh || echo debhelper
        have dh_python3 || echo dh-python
        have lintian || echo lintian
        have debootstrap || echo debootstrap
        /usr/bin/python3 -c 'import build, setuptools, wheel' >/dev/null 2>&1 || echo python3-build python3-setuptools python3-wheel
        printf '#include <jansson.h>\n' | "${CC:-cc}" -E -x c - >/dev/null 2>&1 || echo libjansson-dev
    fi
    if [ "${1:-}" = fuzz ] && ! has_fuzzer; then
        echo clang libclang-rt-dev
    fi
}

# What some tests want and others do without: packages of Debian's that are missing here.
wanted_packages() {
    [ "${1:-}" = tests ] && have apt-get || return 0
    /usr/bin/python3 -c 'import numpy' >/dev/null 2>&1 || echo python3-numpy
    printf '#include <jansson.h>\n' | "${CC:-cc}" -E -x c - >/dev/null 2>&1 || echo libjansson-dev
    /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libedit.so.2")' >/dev/null 2>&1 || echo libedit2
    /usr/bin/python3 -c 'import build, ensurepip, setuptools, wheel' >/dev/null 2>&1 ||
        echo python3-build python3-setuptools python3-venv python3-wheel
    hunspell -d en_GB -l </dev/null >/dev/null 2>&1 || echo hunspell hunspell-en-gb
}

# Asks for nothing, and calls apt-get only when something is missing.
install_missing() {
    local missing admin=()
    missing=$(missing_packages "${1:-}" | tr '\n' ' ')
    if [ "$(id -u)" -eq 0 ] || [ -n "$missing" ]; then
        missing+=$(wanted_packages "${1:-}" | tr '\n' ' ')
    fi
    missing=${missing% }
    [ -n "$missing" ] || return 0
    have apt-get || fail "risec needs these (Debian's names), and there is no apt-get to install them: $missing"
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || fail "risec needs these packages. Install them as root: apt-get install $missing"
        admin=(sudo)
    fi
    printf 'risec: installing %s\n' "$missing" >&2
    local log
    log=$(mktemp)
    # The lists of a fresh machine are empty, and without lists there is nothing to install.
    # shellcheck disable=SC2086
    if ! { "${admin[@]}" apt-get update -q &&
           "${admin[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -f "$log"
        fail "risec: apt-get could not install: $missing"
    fi
    rm -f "$log"
}

# Does the compiler make programs with the address and undefined behaviour sanitizers, and do these run?
has_sanitizers() {
    local dir status=0
    dir=$(mktemp -d)
    printf 'int main(void) { return 0; }\n' >"$dir/a.c"
    { "$1" -fsanitize=address,undefined "$dir/a.c" -o "$dir/a" && "$dir/a"; } >/dev/null 2>&1 || status=1
    rm -rf "$dir"
    return $status
}

cache_has() { grep -qsx "$2" "$ROOT/build/$1/CMakeCache.txt"; }

# build PRESET TARGET [-DNAME=VALUE...]: up to date in build/PRESET, configured with these values. What the tools say is shown only when
# they fail.
build() {
    local preset=$1 target=$2 log status=0 stale=no setting
    shift 2
    local tree=$ROOT/build/$preset
    # A tree that was copied or moved along with the clone still points to the old place.
    if [ -e "$tree/CMakeCache.txt" ] && ! cache_has "$preset" "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT"; then
        rm -rf "$tree"
    fi
    [ -e "$tree/build.ninja" ] || [ -e "$tree/Makefile" ] || stale=yes
    for setting in "$@"; do
        setting=${setting#-D}
        cache_has "$preset" "${setting%%=*}:[A-Z]*=${setting#*=}" || stale=yes
    done
    mkdir -p "$tree"
    log=$tree/build.log
    (
        # Two runs at once must not build the same tree.
        if have flock; then
            flock 9
        fi
        cd "$ROOT"
        if [ $stale = yes ]; then
            printf 'risec: building build/%s\n' "$preset" >&2
            if ! [ -e "$tree/CMakeCache.txt" ] && [ -z "${CMAKE_GENERATOR:-}" ]; then
                if have ninja; then
                    export CMAKE_GENERATOR=Ninja
                else
                    export CMAKE_GENERATOR='Unix Makefiles'
                fi
            fi
            cmake --preset "$preset" "$@" >"$log" 2>&1 || exit 1
        fi
        cmake --build "$tree" --target "$target" --parallel "$(nproc)" >"$log" 2>&1
    ) 9>"$tree/.lock" || status=$?
    if [ $status -ne 0 ]; then
        cat "$log" >&2
        printf 'risec: the build of build/%s failed\n' "$preset" >&2
        return 1
    fi
}
