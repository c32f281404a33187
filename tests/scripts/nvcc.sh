#!/bin/sh
# Compiles what risec emits for every program in examples/ and tests/cuda/, and the texts of the printer's unit test, with nvcc
# and NVRTC. A warning is a failure.
#
#   RISEC=build/risec tests/scripts/nvcc.sh [PRINTER_TEST]
#
# PRINTER_TEST: the unit test test_cuda_print; found beside RISEC when it is not named. Prints `ok NAME`, `not ok NAME` or
# `skip NAME: REASON` for each; fails if anything is not ok.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
risec=${RISEC:-$root/build/risec}
printer=${1:-$(dirname "$risec")/unit/test_cuda_print}
all="75 80 90 100"
some="75 100" # the oldest and the newest: enough for most, and twice as fast
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

nvcc=$(command -v nvcc || true)
if [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ]; then
    nvcc=/usr/local/cuda/bin/nvcc
fi

report() { # name, status, log
    if [ "$2" -eq 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        sed 's/^/# /' "$3"
        failed=1
    fi
}

compile() { # name, text, architectures
    if [ -z "$nvcc" ]; then
        echo "skip $1 nvcc: no nvcc on PATH or in /usr/local/cuda/bin"
    else
        status=0
        : >"$work/log"
        for arch in $3; do
            "$nvcc" -arch="sm_$arch" -cubin -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wno-unused-parameter -o "$work/out.cubin" "$2" \
                >"$work/one" 2>&1 || status=1
            # A warning of the host compiler does not fail nvcc.
            if [ -s "$work/one" ]; then
                status=1
                cat "$work/one" >>"$work/log"
            fi
        done
        report "$1 nvcc ($3)" "$status" "$work/log"
    fi
    python3 "$root/tests/scripts/nvrtc.py" "$2" $3 >"$work/log" 2>&1
    status=$?
    if [ "$status" -eq 77 ]; then
        echo "skip $1 nvrtc: $(cat "$work/log")"
    else
        report "$1 nvrtc ($3)" "$status" "$work/log"
    fi
}

for file in "$root"/examples/*.rise "$root"/tests/cuda/*.rise; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .rise)
    if ! "$risec" "$file" -o "$work/$name.cu" >"$work/log" 2>&1; then
        report "$name risec" 1 "$work/log"
        continue
    fi
    case $name in
    sum | minmax | dot) archs=$all ;;
    *) archs=$some ;;
    esac
    compile "$name" "$work/$name.cu" "$archs"
done

mkdir "$work/printer"
if [ ! -x "$printer" ]; then
    echo "skip printer: $printer is not built"
elif ! "$printer" "$work/printer" >"$work/log" 2>&1; then
    report printer 1 "$work/log"
else
    for file in "$work"/printer/*.cu; do
        compile "printer/$(basename "$file" .cu)" "$file" "$all"
    done
fi
exit $failed
