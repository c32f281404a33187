#!/usr/bin/env bash
# librise on a GPU machine, from a build that was carried there: one line `ok NAME` or `not ok NAME`, lines with # say more.
#
#     tests/gpu/smoke.sh [BUILD]      BUILD: build/release. DEVICE=sim tries the script itself, on the simulator
#
# Needs the driver and NVRTC; python3 with torch for the last part, which is skipped without.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${1:-$ROOT/build/release}
RISEC=$BUILD/risec
DEVICE=${DEVICE:-gpu}
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
cd "$ROOT" || exit 1
failed=0

# point NAME COMMAND...
point() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        echo "ok $name"
    else
        echo "not ok $name"
        printf '%s\n' "$out" | tail -8 | sed 's/^/# /'
        failed=1
    fi
}

# Once with an empty cache, once with what the first run left there.
for run in cold cached; do
    echo "# $run"
    "$BUILD/gpu/gpu_smoke" "$DEVICE" || failed=1
done

# Every example as its first comment runs it, and with more elements, against the reference.
for file in examples/*.rise; do
    name=$(basename "$file" .rise)
    while read -r words; do
        # shellcheck disable=SC2086
        point "example-$name" "$RISEC" $words --device "$DEVICE" --verify
    done < <(sed -n 's/^--   \$ risec \(run .*\)/\1/p' "$file")
done
for name in argmin asum block_scan device_scan dot harris1 harris2 harris3 harris4 harris5 harris6 max minmax minmax_last minmax_two shift sum sum_down sum_naive sum_tree; do
    args=$(sed -n 's/^--   \$ risec run [^ ]* //p' "examples/$name.rise" | head -1 | grep -o 'arg [^=]*=' | sed 's/arg \(.*\)=/--arg \1=uniform:0:9/')
    for n in 0 1 33 1024 65537 1000003; do
        [ "$name" = shift ] && n=$((n / 32 * 32))
        # shellcheck disable=SC2086
        point "size-$name-$n" "$RISEC" run "examples/$name.rise" --set "n=$n" $args --device "$DEVICE" --verify
    done
done

# PyTorch's tensors, on its stream. The library lies in BUILD, or was installed from it.
library=$(find "$BUILD" -name librise.so -print -quit 2>/dev/null)
if [ -z "$library" ] || ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    echo 'skip torch: no librise.so in the build, or no torch with a GPU'
else
    for n in 1 1000003 16777217; do
        point "torch-sum-$n" env LIBRISE="$library" python3 examples/python/sum_torch.py "$n"
    done
fi
exit $failed
