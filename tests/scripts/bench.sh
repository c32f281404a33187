#!/bin/sh
# `risec bench` up to where a GPU is needed: the command line, sizes, hand-written kernels, and what is said without a GPU. RISEC names the binary.
RISEC=${RISEC:?set RISEC to the risec binary}
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0
cd "$ROOT" || exit 2

# expect NAME CODE PATTERN -- ARGS...: exit code, and a line of the messages (an extended regular expression)
expect() {
    name=$1 code=$2 pattern=$3
    shift 4
    "$RISEC" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -eq "$code" ] && grep -Eq -- "$pattern" "$dir/err"; then
        echo "ok bench-$name"
    else
        echo "not ok bench-$name"
        echo "# exit code $got, wanted $code and: $pattern"
        sed 's/^/# /' "$dir/out" "$dir/err" | head -20
        failed=1
    fi
}

sum="bench examples/sum.rise"
# shellcheck disable=SC2086
{
    expect no-file 2 'no file is given' -- bench
    expect too-many 2 'one too many' -- bench examples/sum.rise sumBlocks more
    expect no-size 2 'nothing gives the size `n`' -- $sum
    expect unknown-size 2 'sumBlocks has no size `m`' -- $sum --sizes m=4
    expect tunable-in-sizes 2 'sumBlocks has no size `elemsWarp`' -- $sum --sizes elemsWarp=32,64
    expect size-word 2 '`four` is no integer' -- $sum --sizes n=4,four
    expect size-empty 2 '`` is no integer' -- $sum --sizes n=4,
    expect size-twice 2 'given by `--set` and by `--sizes`' -- $sum --set n=4 --sizes n=4
    expect sizes-apart 2 'there are 2 values of `n`, and 3 of another size' -- bench examples/gemv.rise --sizes n=1,2 --sizes m=1,2,3
    expect sizes-many 2 'at most 64 sizes' -- $sum --sizes "n=1$(printf ',%d' $(seq 2 65))"
    expect rounds 2 'from 1 to 1000' -- $sum --set n=4 --rounds 0
    expect forms 2 'give one' -- $sum --set n=4 --json --csv
    expect unknown-input 2 'has no input `ys`' -- $sum --set n=4 --arg ys=ones
    expect bad-input 2 'is no value of type f32' -- $sum --set n=4 --arg xs=const:word
    expect fact 1 'E0601' -- bench examples/shift.rise --sizes n=33
    expect program 1 'E0303' -- bench tests/check/e0303.rise blur --set n=4
    expect vs-missing 2 'E0655.*cannot be read' -- $sum --set n=4 --vs "$dir/none.cu"
    expect vs-other 2 'E0655.*has no function `sumBlocks_hand`' -- $sum --set n=4 --vs tests/handwritten/dot.cu
    expect wrong-option 2 '`--vs` does not belong to `risec run`' -- run examples/sum.rise --vs a.cu
    if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' || [ -e /usr/lib/x86_64-linux-gnu/libcuda.so.1 ]; then
        echo "skip bench-no-gpu: there is a CUDA driver"
    else
        expect no-gpu 3 'E0629.*libcuda.so.1' -- $sum --sizes n=2^10,2^20
        expect no-gpu-two 3 'E0629.*libcuda.so.1' -- bench examples/gemv.rise --sizes n=1,2 --sizes m=3,4 --json --rounds 3
        expect no-gpu-vs 3 'E0629.*libcuda.so.1' -- $sum --sizes n=2^10,2^20 --vs tests/handwritten/sum.cu --csv
    fi
}
exit $failed
