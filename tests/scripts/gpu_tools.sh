#!/bin/bash
# What tests/gpu runs on a GPU, here on the simulator: that the tools themselves work, and notice wrong results. About 15 seconds on two cores.
# Of seed 4 some programs are refused: the report says with what.
BUILD=${BUILD:?set BUILD to the folder of the builds}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 2
tools=$BUILD/release/gpu
failed=0

# expect NAME CODE PATTERN COMMAND...: the exit code, and a line of the output (an extended regular expression)
expect() {
    local name=$1 code=$2 pattern=$3 got
    shift 3
    "$@" >"$dir/log" 2>&1
    got=$?
    if [ $got -eq "$code" ] && grep -Eq -- "$pattern" "$dir/log"; then
        echo "ok $name"
    else
        echo "not ok $name"
        echo "# exit code $got, wanted $code and: $pattern"
        sed 's/^/# /' "$dir/log" | tail -20
        failed=1
    fi
}

files=(examples/{argmin,dot,histogram,minmax,nbody,sum}.rise)
check="$tools/gpu_check --device sim --jobs 2"
# shellcheck disable=SC2086
{
    expect smoke 0 '^passed' "$tools/gpu_smoke" sim
    expect large-i8 0 '^ok large-i8' "$tools/gpu_large" i8 sim
    expect large-f32 0 '^ok large-f32' "$tools/gpu_large" f32 sim
    expect check 0 ' 6 programs: 6 to the bit, 0 with rounding, 0 wrong' $check --sizes 0,33,1000 files "${files[@]}"
    expect check-low-bit 1 ' 6 programs: 0 to the bit, 0 with rounding, 6 wrong' $check --sizes 33,1000 --plant low files "${files[@]}"
    expect check-high-bit 1 ' 6 programs: 0 to the bit, 0 with rounding, 6 wrong' $check --sizes 33,1000 --plant high files "${files[@]}"
    expect check-steps 0 ' 1 programs: 1 to the bit.* 1 too long for the reference' $check --sizes 33,1000 --steps 100000 files examples/nbody.rise
    expect check-none 1 '^not ok shift.rise' $check --sizes 33 files examples/shift.rise
    expect check-random 0 '^passed' $check random 40
    # Some have results without elements, or are refused.
    expect check-random-high 1 ' 40 programs: [012] to the bit.* 3[0-9] wrong' $check --plant high random 40
    # Faults are planted in emitted texts, which change: each has to find its place.
    expect plant 0 '^# planted' tests/gpu/plant.sh "$BUILD/release/risec" "$dir/planted"
    expect wrong-kernels 0 '^[0-9]+ faults of 12 examples' tests/gpu/wrong_kernels.py "$BUILD/release/risec" "$dir/wrong" texts
    expect validate 1 '^not ok random-2000: only [1-9]' env DEVICE=sim SEED=3 NEW_SEED=4 KEEP= RANDOM_PROGRAMS=20 HIGH_PROGRAMS=5 tests/gpu/validate.sh "$BUILD/release" "$dir/report.md" random
}
if grep -q '^| random programs, the fixed seed | seed 3 | 20 |' "$dir/report.md" && grep -Eq '^\| E0[0-9]+ \| [a-z].* \| [0-9]+ \|' "$dir/report.md"; then
    echo 'ok report'
else
    echo 'not ok report'
    failed=1
fi
exit $failed
