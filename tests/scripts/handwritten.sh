#!/bin/sh
# nvcc compiles the hand-written kernels, tests/handwritten/*.cu, without a warning. Their results are checked by text.py.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
nvcc=$(command -v nvcc || true)
if [ -z "$nvcc" ] && [ -x /usr/local/cuda/bin/nvcc ]; then
    nvcc=/usr/local/cuda/bin/nvcc
fi
for file in "$root"/tests/handwritten/*.cu; do
    name=$(basename "$file" .cu)
    if [ -z "$nvcc" ]; then
        echo "skip $name nvcc: no nvcc on PATH or in /usr/local/cuda/bin"
        continue
    fi
    # One call for the four: the host's part is compiled once.
    if "$nvcc" -gencode=arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 \
        -gencode=arch=compute_100,code=sm_100 -c -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wno-unused-parameter -o "$work/out.o" "$file" \
        >"$work/log" 2>&1 && [ ! -s "$work/log" ]; then
        echo "ok $name nvcc (75 80 90 100)"
    else
        echo "not ok $name nvcc (75 80 90 100)"
        sed 's/^/# /' "$work/log"
        failed=1
    fi
done
exit $failed
