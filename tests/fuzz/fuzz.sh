#!/usr/bin/env bash
# tests/fuzz/fuzz.sh [SECONDS] [plant N]: builds build/fuzz, and looks for programs that break risec, from all .rise files of less than 1,200 bytes on; ten minutes without SECONDS.
# `plant N`: with planted fault N of planted.h, which none of these files shows, and which must be found: exit code 0 then.
# What is found stays in build/fuzz/found, and what was learned in build/fuzz/corpus. SEED: of the fuzzer; printed. Needs Debian's packages clang and libclang-rt-dev.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# shellcheck source=../../tools/setup.sh
. "$ROOT/tools/setup.sh"

seconds=${1:-600}
plant=0
[ "${2:-}" != plant ] || plant=$3
seed=${SEED:-1}
install_missing fuzz
build fuzz fuzz
work=$ROOT/build/fuzz
corpus=$work/corpus
[ "$plant" = 0 ] || corpus=$(mktemp -d)
mkdir -p "$corpus" "$work/found" "$work/seeds"
number=0
find "$ROOT" -name '*.rise' -size -1200c -not -path "$ROOT/build/*" | LC_ALL=C sort | while read -r file; do
    number=$((number + 1))
    cp "$file" "$work/seeds/$number.rise"
done
export FUZZ_PLANT=$plant
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_abort=1 UBSAN_OPTIONS=print_stacktrace=1
echo "seed $seed"
if [ "$plant" != 0 ]; then
    "$work/fuzz" -runs=0 -rss_limit_mb=3000 "$work/seeds" >"$work/seeds.log" 2>&1 || { echo "a program shows the planted fault"; tail -5 "$work/seeds.log"; exit 1; }
fi
status=0
"$work/fuzz" -seed="$seed" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 -artifact_prefix="$work/found/" \
    "$corpus" "$work/seeds" >"$work/fuzz.log" 2>&1 || status=$?
grep -E 'FOUND|ERROR: |runtime error|SUMMARY|stat::number_of_executed_units|artifact_prefix|Test unit written' "$work/fuzz.log" || true
if [ "$plant" != 0 ]; then
    rm -rf "$corpus"
    unit=$(sed -n 's/.*Test unit written to //p' "$work/fuzz.log" | tail -1)
    [ $status -ne 0 ] && [ -e "$unit" ] || { echo "planted fault $plant was not found: exit code $status"; exit 1; }
    # What fails without the fault as well is something else.
    FUZZ_PLANT=0 "$work/fuzz" -timeout=60 -rss_limit_mb=3000 "$unit" >"$work/again.log" 2>&1 || { echo "not the planted fault $plant, but another was found: $unit"; exit 1; }
    echo "planted fault $plant was found: $unit"
    exit 0
fi
[ $status -ne 0 ] || echo "nothing was found in $seconds s"
exit $status
