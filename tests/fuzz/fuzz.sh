#!/usr/bin/env bash
# tests/fuzz/fuzz.sh [SECONDS] [plant N]: builds build/fuzz, and looks for programs that break
# risec, from the small .rise files of the tree on; ten minutes without SECONDS.
# `plant N`: with planted fault N of planted.h, which none of these files shows.
# Exit code 0: nothing was found, or the planted fault was; 1: something was found, or the planted
# fault was not; 3: something stopped the fuzzer before its time, which says nothing.
# What is found stays in build/fuzz/found, and what was learned in build/fuzz/corpus. SEED: of the
# fuzzer; printed. Needs Debian's packages clang and libclang-rt-dev.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# shellcheck source=../../tools/setup.sh
. "$ROOT/tools/setup.sh"

seconds=${1:-600}
plant=0
[ "${2:-}" != plant ] || plant=$3
seed=${SEED:-1}
install_missing fuzz
build fuzz rise_fuzz
work=$ROOT/build/fuzz
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
corpus=$work/corpus
[ "$plant" = 0 ] || corpus=$own/corpus
mkdir -p "$corpus" "$work/found" "$own/seeds"
export FUZZ_PLANT=$plant
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1
echo "seed $seed"

number=0
find "$ROOT" -name '*.rise' -size -3000c -not -path "$ROOT/build/*" | LC_ALL=C sort |
    while read -r file; do
        number=$((number + 1))
        cp "$file" "$own/seeds/$number.rise"
    done
# Each of them once: none fails, or shows the planted fault. Those that take long would take all of
# the time, so of them there is one in ten. It is counted in looks at the brake, so that the
# programs are the same on all machines.
if ! FUZZ_LOOKS=1 "$work/fuzz" -rss_limit_mb=3000 "$own"/seeds/*.rise >"$work/seeds.log" 2>&1; then
    echo "a program of the tree fails, or shows the planted fault: $work/seeds.log"
    tail -5 "$work/seeds.log"
    exit 1
fi
awk '/^Running: / { file = $2 }
     /^LOOKS: / { looks[file] += $2 }
     END { for (file in looks) if (looks[file] > 40000) print file }' "$work/seeds.log" |
    LC_ALL=C sort | awk 'NR % 10 != 1' | xargs -r rm
echo "$(find "$own/seeds" -type f | wc -l) programs to start from"

# One on each core, which take over what the others have found. Without entropy, which takes
# libFuzzer more time than the programs take; without counts of edges, by which nearly each program
# is new. The first one that fails ends all.
pids=()
for ((core = 0; core < $(nproc); core++)); do
    "$work/fuzz" -seed=$((seed + core)) -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 \
        -max_len=8000 -entropic=0 -use_counters=0 -keep_seed=1 -cross_over_uniform_dist=1 \
        -print_final_stats=1 -artifact_prefix="$work/found/" "$corpus" "$own/seeds" \
        >"$own/$core.log" 2>&1 &
    pids+=($!)
done
status=0
for _ in "${pids[@]}"; do
    ended=0
    wait -n || ended=$?
    if [ $ended -ne 0 ] && [ $status -eq 0 ]; then
        status=$ended
        kill "${pids[@]}" 2>/dev/null || true
    fi
done
cat "$own"/*.log >"$work/fuzz.log"
grep -E 'FOUND|ERROR: |runtime error|SUMMARY|stat::number_of_executed_units|Test unit written' \
    "$work/fuzz.log" || true
# A unit that is slow, and ends, is written as well.
unit=$(sed -n 's/.*Test unit written to //p' "$work/fuzz.log" | grep -v '/slow-unit-[^/]*$' |
    tail -1 || true)
if [ -z "$unit" ] && [ $status -ne 0 ]; then
    echo "the fuzzer was stopped before its time: exit code $status"
    exit 3
elif [ "$plant" = 0 ]; then
    [ -n "$unit" ] || { echo "nothing was found in $seconds s"; exit 0; }
    echo "found: $unit"
    exit 1
fi
[ -n "$unit" ] || { echo "planted fault $plant was not found in $seconds s"; exit 1; }
# What fails without the fault as well is something else.
if ! FUZZ_PLANT=0 "$work/fuzz" -timeout=60 -rss_limit_mb=3000 "$unit" >"$work/again.log" 2>&1; then
    echo "not the planted fault $plant, but another was found: $unit"
    exit 1
fi
echo "planted fault $plant was found: $unit"
