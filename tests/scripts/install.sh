#!/bin/sh
# `cmake --install` into a folder of its own, and programs built against what is there: with pkg-config and with find_package, shared and
# static, on the simulator. What needs CUDA's headers or nvcc is built where they are, and skipped by name elsewhere. BUILD has the builds.
BUILD=${BUILD:?set BUILD to the folder of the builds}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
CC=${CC:-cc}
warnings='-std=c11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror'
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
prefix=$dir/prefix
check install cmake --install "$BUILD/release" --prefix "$prefix"
# What is installed must work where it is moved to.
mv "$prefix" "$dir/moved" && prefix=$dir/moved
lib=$(dirname "$(find "$prefix" -name librise.a)")
unset LD_LIBRARY_PATH

# ---- what is there ---------------------------------------------------------------------------------------------------------

version=$("$prefix/bin/risec" --version 2>log | sed 's/risec //')
grep -q "\"risec $version\"" "$prefix/share/man/man1/risec.1" 2>>log
report manual-version $?
manuals=0
for verb in check fmt test lower run bench tune cache doctor lsp help explain; do
    [ -s "$prefix/share/man/man1/risec-$verb.1" ] || { echo "no risec-$verb.1" >log; manuals=1; }
done
[ -s "$prefix/share/man/man3/rise.h.3" ] || { echo "no rise.h.3" >log; manuals=1; }
report manuals $manuals
for file in bash-completion/completions/risec zsh/site-functions/_risec fish/vendor_completions.d/risec.fish; do
    grep -q -e --device -e '-l device' "$prefix/share/$file" 2>log
    report "completion-${file%%[-/]*}" $?
done
[ -n "$version" ] && [ -e "$lib/librise.so.$version" ] && [ "$(readlink "$lib/librise.so")" = "librise.so.${version%.*}" ]
report library-version $?
check risec-runs "$prefix/bin/risec" check "$root/examples/sum.rise"

# Nothing but rise_ is seen of it, and all that the header declares is.
declared() { sed -n 's/^RISE_API .*[ *]\(rise_[a-z_]*\)(.*/\1/p' "$prefix/include/rise.h" | sort -u; }
declared >declared
abi=RISE_${version%.*}
nm -D --defined-only "$lib/librise.so" >log
awk -v abi="$abi" '$3 != abi {print $3}' log | sed 's/@.*//' | sort -u >shared
awk -v abi="$abi" '$3 != abi && $3 !~ "@@" abi "$" {print $3}' log >unversioned
mv unversioned log
[ -s shared ] && [ ! -s log ]
report symbols-versions $?
nm -g --defined-only "$lib/librise.a" | awk 'NF == 3 {print $3}' | sort -u >static
for kind in shared static; do
    grep -v '^rise_' $kind >log
    [ -s $kind ] && [ ! -s log ]
    report "symbols-$kind" $?
    diff declared $kind >log
    report "declared-$kind" $?
done
# Debian's package of the library promises the same.
symbols=$root/debian/librise${version%.*}.symbols
if [ -d "$root/debian" ]; then
    sed -n 's/^ \(rise_[a-z_]*\)@.*/\1/p' "$symbols" 2>log | sort | diff declared - >>log
    report declared-debian $?
else
    echo "skip declared-debian: a release has no debian/"
fi

# ---- programs ----------------------------------------------------------------------------------------------------------------

wanted='SIMT simulator: the sum of 100003 numbers is 300006'
runs() { # NAME PROGRAM
    if [ ! -x "$2" ]; then echo "not built" >log; report "$1" 1; return; fi
    "$2" sim "$root/examples/sum.rise" 100003 >log 2>&1
    [ "$(cat log)" = "$wanted" ]
    report "$1" $?
}
# An error of the program is told, and is no crash.
tells() { # PROGRAM
    echo 'entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x + tru)' >wrong.rise
    "$1" sim wrong.rise 5 >log 2>&1
    [ $? -eq 1 ] && grep -q 'wrong.rise:1:.*error\[E0' log && grep -q RISE_ERROR_PROGRAM log
}

check header-c11 "$CC" $warnings -pedantic -fsyntax-only -x c "$prefix/include/rise.h"
if command -v "${CXX:-c++}" >/dev/null; then
    check header-c++ "${CXX:-c++}" -std=c++11 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ "$prefix/include/rise.h"
else
    echo "skip header-c++: no C++ compiler"
fi
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$lib/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion rise 2>log)" = "$version" ]
    report pkg-config-version $?
    check pkg-config-shared "$CC" $warnings "$root/examples/c/sum.c" $(pkg-config --cflags --libs rise) "-Wl,-rpath,$lib" -o shared_sum
    runs pkg-config-shared-runs ./shared_sum
    tells ./shared_sum
    report pkg-config-shared-tells $?
    # -lrise means the shared library where both are there.
    check pkg-config-static "$CC" $warnings "$root/examples/c/sum.c" $(pkg-config --static --cflags --libs rise | sed 's/-lrise/-l:librise.a/') -o static_sum
    runs pkg-config-static-runs ./static_sum
    ldd static_sum | grep librise >log
    [ ! -s log ]
    report pkg-config-static-alone $?
else
    echo "not ok pkg-config: there is none; tools/setup.sh installs it"
    failed=1
fi

check find-package cmake -S "$root/examples/c" -B c "-DCMAKE_PREFIX_PATH=$prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
check find-package-builds cmake --build c
runs find-package-shared c/sum
runs find-package-static c/sum_static
# Kernels as headers, by NVRTC's stand-in; and a plugin with the archive in it, which shows nothing of that.
mkdir lib
check stand-in "$CC" -shared -fPIC "$root/tests/header/fake_nvrtc.c" -o lib/libnvrtc.so.13
LD_LIBRARY_PATH=$dir/lib
export LD_LIBRARY_PATH
check add-kernels cmake -S "$root/tests/cmake" -B guest -DRISE_FROM=installed "-DCMAKE_PREFIX_PATH=$prefix"
check add-kernels-builds cmake --build guest
unset LD_LIBRARY_PATH
guest/test_api >log 2>&1
grep -q "^$version 6 3: .*driver" log && [ -s guest/rise_kernels/text_cases/sum.cu ]
report add-kernels-runs $?
nm -D --defined-only guest/libplugin.so >log 2>&1
grep -q plugin_version log && ! grep -q ' rise_' log
report plugin-alone $?

# Each component by itself: what runs, what programs are built with, the compiler.
for part in runtime dev tools; do
    cmake --install "$BUILD/release" --prefix "$dir/$part" --component $part >log 2>&1
    (cd "$dir/$part" && find . ! -type d | sed "s|lib/[a-z0-9_]*-linux-gnu/|lib/|" | sort) >$part.list
    [ -s $part.list ] && grep -q '/LICENSE$' $part.list
    report "component-$part" $?
done
{ grep '\.so' runtime.list; grep -v 'LICENSE\|\.so' runtime.list; } >log
[ "$(cat log)" = "./lib/librise.so.${version%.*}
./lib/librise.so.$version" ]
report component-runtime-files $?
grep -q '/bin/risec$' tools.list && ! grep -q 'risec$\|\.so\.' dev.list && grep -q 'librise\.so$' dev.list && grep -q 'rise\.h$' dev.list
report component-files $?

# Another minor version may differ: it is not taken for this one.
mkdir other
printf 'cmake_minimum_required(VERSION 3.21)\nproject(other C)\nfind_package(rise 0.0 REQUIRED)\n' >other/CMakeLists.txt
if cmake -S other -B other/b "-DCMAKE_PREFIX_PATH=$prefix" >log 2>&1; then report find-package-other 1; else report find-package-other 0; fi

# ---- programs with CUDA's headers -----------------------------------------------------------------------------------------------

cuda=${CUDA_HOME:-/usr/local/cuda}
if [ -e "$cuda/include/cuda.h" ] && [ -e "$cuda/lib64/stubs/libcuda.so" ]; then
    check aot-launch "$CC" $warnings "$root/examples/c/aot_launch.c" -isystem "$cuda/include" "-L$cuda/lib64/stubs" -lcuda -o aot_launch
else
    echo "skip aot-launch: no cuda.h and libcuda.so in $cuda"
fi
if [ -e "$cuda/include/cuda_runtime_api.h" ] && [ -e "$cuda/lib64/libcudart.so" ]; then
    check stream "$CC" $warnings "$root/examples/c/stream.c" "-I$prefix/include" "-L$lib" -lrise "-Wl,-rpath,$lib" -isystem "$cuda/include" "-L$cuda/lib64" -lcudart -o stream
else
    echo "skip stream: no CUDA runtime in $cuda"
fi
if [ -x "$cuda/bin/nvcc" ]; then
    "$prefix/bin/risec" "$root/examples/sum.rise" -o sum.cu && "$cuda/bin/nvcc" -arch=sm_90 -c sum.cu >log 2>&1
    check cu-launch "$CC" $warnings "$root/examples/c/cu_launch.c" sum.o -isystem "$cuda/include" "-L$cuda/lib64" -lcudart -lstdc++ -o cu_launch
    "$prefix/bin/risec" "$root/tests/programs/workspace.rise" -o workspace.cu && "$cuda/bin/nvcc" -arch=sm_90 -c workspace.cu >log 2>&1
    check cu-workspace "$CC" $warnings "$root/tests/gpu/workspace.c" workspace.o -isystem "$cuda/include" "-L$cuda/lib64" -lcudart -lstdc++ -o workspace
else
    echo "skip cu-launch: no nvcc in $cuda"
fi
exit $failed
