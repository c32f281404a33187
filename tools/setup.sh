# Set-up that run.sh and test.sh share: installs what is missing on a Debian machine, and builds. Sourced, with ROOT set.
# Nothing is asked of the package manager when everything is there, and building again costs a fraction of a second.

missing_packages() {
    command -v cmake >/dev/null || echo cmake
    command -v ninja >/dev/null || command -v make >/dev/null || echo ninja-build
    command -v cc >/dev/null || command -v gcc >/dev/null || echo gcc libc6-dev
    command -v re2c >/dev/null || echo re2c
    command -v lemon >/dev/null || echo lemon
    for extra in "$@"; do
        command -v "$extra" >/dev/null || echo "$extra"
    done
}

install_missing() {
    local packages
    packages=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "${packages// /}" ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "missing: $packages; install these with your package manager" >&2
        exit 2
    fi
    local as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || { echo "missing: $packages; run as root: apt-get install $packages" >&2; exit 2; }
        as_root=sudo
    fi
    echo "installing: $packages" >&2
    # shellcheck disable=SC2086
    { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages ||
        { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages; }
    } >"$ROOT/build/install.log" 2>&1 || { cat "$ROOT/build/install.log" >&2; echo "could not install: $packages" >&2; exit 2; }
}

# build_preset NAME [TARGET...]: configures once, builds what has changed; quiet unless it fails. NAME is a preset of CMakePresets.json.
build_preset() {
    local name=$1 dir="$ROOT/build/$1" log="$ROOT/build/$1.log"
    shift
    if [ ! -f "$dir/CMakeCache.txt" ] || { [ ! -f "$dir/build.ninja" ] && [ ! -f "$dir/Makefile" ]; }; then
        local generator="Unix Makefiles"
        command -v ninja >/dev/null && generator=Ninja
        echo "configuring build/$name" >&2
        (cd "$ROOT" && cmake --preset "$name" -G "$generator" ${RISEC_CMAKE_OPTIONS:-}) >"$log" 2>&1 || { cat "$log" >&2; exit 2; }
        echo "building build/$name" >&2
    fi
    local targets=()
    [ $# -eq 0 ] || targets=(--target "$@")
    cmake --build "$dir" -j "$(nproc 2>/dev/null || echo 2)" "${targets[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 2; }
}
