#!/bin/sh
# risec as a part of another project: add_subdirectory and FetchContent from the source release, which needs no re2c, lemon or
# git. Configured only, at this level; at the level all also built and run, with kernels by NVRTC's stand-in, and built by
# clang and with musl. BUILD has the builds.
BUILD=${BUILD:?set BUILD to the folder of the builds}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
CC=${CC:-cc}
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
cd "$dir" || exit 2
unset CMAKE_GENERATOR

# ---- a source release, and a machine without re2c, lemon and git -------------------------------------------------------

check release cpack --config "$BUILD/release/CPackSourceConfig.cmake"
release=$(echo "$dir"/risec-*.tar.gz)
tar -tzf "$release" >log 2>&1
grep -q '/grammar/generated/rise_lexer.c$' log && ! grep -q '/\.git\|/build/' log
report release-files $?
mkdir bin lib
set -f
for folder in $(echo "$PATH" | tr : ' '); do
    set +f
    for tool in "$folder"/*; do
        case ${tool##*/} in re2c | lemon | git) ;; *) [ -e "bin/${tool##*/}" ] || ln -s "$tool" bin ;; esac
    done
done
set +f
! env PATH="$dir/bin" sh -c 'command -v re2c || command -v lemon || command -v git' >log
report bare-machine $?
# A release of a tree that is only configured, with its build tree inside: the same files.
mkdir again && tar -xzf "$release" -C again --strip-components=1
if command -v re2c >/dev/null && command -v lemon >/dev/null; then rm -r again/grammar/generated; fi
check again-configures cmake -S again -B again/out
(cd again/out && cpack --config CPackSourceConfig.cmake) >log 2>&1
tar -tzf "$release" | sort >files
tar -tzf again/out/risec-*.tar.gz 2>>log | sort | diff files - >>log
report release-again $?

# ---- somebody's project ------------------------------------------------------------------------------------------------

guest() { # FOLDER OPTION...: configures it
    folder=$1
    shift
    cmake -S "$root/tests/cmake" -B "$folder" "$@"
}
# CMake looks into /usr/bin whatever the PATH, unless it is told.
bare() { env PATH="$dir/bin" "$@"; }
check folder guest folder -DRISE_FROM=folder "-DRISE_FOLDER=$root"
check folder-tests guest tests -DRISE_FROM=folder "-DRISE_FOLDER=$root" -DRISE_BUILD_TESTS=ON
check fetched bare cmake -S "$root/tests/cmake" -B fetched -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DRISE_FROM=release "-DRISE_RELEASE=$release"
check shared guest shared -DRISE_FROM=folder "-DRISE_FOLDER=$root" -DBUILD_SHARED_LIBS=ON
targets() { # FOLDER: what can be built there, but for the guest's own
    cmake --build "$1" --target help | sed -n 's/^\.\.\. \([^ ]*\).*/\1/p' |
        grep -v '\.[ios]$\|^all$\|^clean$\|^depend$\|_cache$' | grep -vx 'unit_shared\|test_api\|plugin\|text_cases' | sort -u
}
for folder in folder tests fetched shared; do
    targets $folder >targets
    grep -v '^rise' targets >log
    [ -s targets ] && [ ! -s log ]
    report "prefixed-$folder" $?
    grep -q '^rise_test_' targets
    case $folder,$? in tests,0 | [!t]*,1) status=0 ;; *) status=1 ;; esac
    cp targets log
    report "tests-asked-for-$folder" $status
    # What is the parent's stays so: its kind of build, its packages, its installation.
    grep '^CMAKE_BUILD_TYPE:[A-Z]*=..*' $folder/CMakeCache.txt >log
    [ ! -s log ] && [ ! -e $folder/CPackConfig.cmake ] && ! find $folder -name cmake_install.cmake -exec grep -l 'rise\.h' {} + | grep -q .
    report "parents-own-$folder" $?
done
targets folder | grep -qx rise_static && ! targets folder | grep -qx rise
report kinds-static $?
targets shared | grep -qx rise && ! targets shared | grep -qx rise_static
report kinds-shared $?
printf 'cmake_minimum_required(VERSION 3.21)\nproject(p C)\nset(RISE_BUILD_STATIC OFF)\nadd_subdirectory("%s" rise)\n' "$root" >CMakeLists.txt
if cmake -S . -B none >log 2>&1; then report kinds-none 1; else grep -q 'are both off' log; report kinds-none $?; fi
printf 'cmake_minimum_required(VERSION 3.21)\nproject(p C)\nset(RISE_BUILD_TOOLS OFF)\nadd_subdirectory("%s" rise)\nadd_library(l a.c)\nrise_add_kernels(l FILES a.rise)\n' "$root" >CMakeLists.txt
touch a.c
if cmake -S . -B toolless >log 2>&1; then report kernels-toolless 1; else grep -q 'needs risec: build with RISE_BUILD_TOOLS' log; report kernels-toolless $?; fi

if [ "${RISEC_LEVEL:-}" != all ]; then
    exit $failed
fi

# ---- built -------------------------------------------------------------------------------------------------------------

check stand-in "$CC" -shared -fPIC "$root/tests/header/fake_nvrtc.c" -o lib/libnvrtc.so.13
LD_LIBRARY_PATH=$dir/lib
export LD_LIBRARY_PATH
jobs=$(nproc)
cp -R "$root/tests/cmake" project
bare cmake -S project -B built -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF -DRISE_FROM=release "-DRISE_RELEASE=$release" >log 2>&1
check fetched-builds bare cmake --build built -j "$jobs"
check fetched-runs built/test_api
grep -q '6 3: .*driver' log
report fetched-prints $?
# A header follows what its program imports, and nothing else is made again.
header=built/rise_kernels/test_api/sum.h
cp $header before
bare cmake --build built >log 2>&1
! grep -q 'Compiling sum.rise' log
report kernels-once $?
sleep 1
sed 's/reduce/map(fun x => 2 * x) |> reduce/' "$root/tests/cmake/part.rise" >project/part.rise
check kernels-again bare cmake --build built
! cmp -s before $header && grep -q 'Compiling sum.rise' log
report kernels-follow $?
unset LD_LIBRARY_PATH

# By other compilers.
other() { # NAME COMPILER
    if ! command -v "$2" >/dev/null; then echo "skip $1: no $2"; return; fi
    check "$1" cmake -S "$root" -B "$1" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_COMPILER=$2" -DRISE_BUILD_TESTS=OFF
    check "$1-builds" cmake --build "$1" -j "$jobs"
    check "$1-runs" "$1/risec" run "$root/examples/sum.rise" --set n=5000 --arg xs=uniform --verify
}
other clang clang
other musl musl-gcc
exit $failed
