#!/usr/bin/env bash
# Everything that takes a GPU, from a build that was carried there: one line `ok NAME` or `not ok NAME: why` for each point, and a report.
#
#     tests/gpu/validate.sh [BUILD] [REPORT.md] [STAGE...]      BUILD: build/release; REPORT.md: tests/gpu/report.md
#
# Stages, all of them by default: smoke times commands programs order repeat quotients random large twins wrong variants interop package sanitize. A report of some of them says which. Needs bash, python3, the driver and NVRTC; nvcc for
# sanitize, twins, variants and a part of interop; compute-sanitizer; torch for package and a part of interop. Some twelve minutes on 16 cores.
#
# PREFIX: where librise is installed, for interop; without it, and without pkg-config, the programs are built against BUILD. SEED, RANDOM_PROGRAMS, HIGH_PROGRAMS: of the random programs;
# NEW_SEED: of those that are others each time.
# REVISION: which one was built, for the report. KEEP: a new folder for all that the stages write, which stays. DEVICE=sim tries the stages commands, programs and random on the simulator.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(realpath -m "${1:-$ROOT/build/release}")
REPORT=$(realpath -m "${2:-$ROOT/tests/gpu/report.md}")
shift $(($# < 2 ? $# : 2))
ALL='smoke times commands programs order repeat quotients random large twins wrong variants interop package sanitize'
STAGES=${*:-$ALL}
DEVICE=${DEVICE:-gpu}
RISEC=$BUILD/risec
CHECK=$BUILD/gpu/gpu_check
JOBS=$(nproc)
RANDOM_PROGRAMS=${RANDOM_PROGRAMS:-2900} # of which 2,000 have to be compared to the bit
HIGH_PROGRAMS=${HIGH_PROGRAMS:-300}     # which take NVRTC five times as long each
PATH=$PATH:/usr/local/cuda/bin
cd "$ROOT" || exit 1
if [ -n "${KEEP:-}" ]; then
    WORK=$(realpath -m "$KEEP")
    mkdir -p "$WORK"
else
    WORK=$(mktemp -d)
    trap 'rm -rf "$WORK"' EXIT
fi
export XDG_CACHE_HOME=$WORK/cache
LOG=$WORK/log
started=$SECONDS
: >"$LOG"

say() { printf '%s\n' "$*" | tee -a "$LOG"; }
# Lines of a program that says ok and not ok itself; WORDS stand before its names.
take() {
    sed -E "s/^(ok|not ok) /\1 $1 /" "$2" >>"$LOG"
    grep -E '^not ok ' "$2" | head -20
    grep -E '^# ' "$2" | tail -4
}
# point NAME COMMAND...
point() {
    local name=$1
    shift
    if timeout 180 "$@" >"$WORK/point" 2>&1; then
        say "ok $name"
    else
        say "not ok $name: $(grep -v '^ *$' "$WORK/point" | tail -3 | tr '\n' ' ' | cut -c1-400)"
    fi
}
stage() {
    case " $STAGES " in *" $1 "*) ;; *) return 1 ;; esac
    say "# $1 (after $((SECONDS - started)) s)"
}
has() { command -v "$1" >/dev/null || { say "not ok $2: there is no $1"; return 1; }; }

# ---- librise: once with an empty cache, once with what the first run left there ------------------------------------------------------------------------

smoke() {
    for run in cold cached; do
        timeout 120 "$BUILD/gpu/gpu_smoke" >"$WORK/smoke-$run" 2>&1
        code=$?
        take "smoke-$run" "$WORK/smoke-$run"
        [ $code -eq 0 ] && grep -q '^ok new-process-works' "$WORK/smoke-$run" && say "ok smoke-$run" || say "not ok smoke-$run: exit code $code"
    done
}

# ---- what librise costs, each time in a new process ---------------------------------------------------------------------------------------------------------

# within NAME FILE WORDS BOUND: the median of the numbers after WORDS in FILE is there, and at most BOUND
within() {
    local median
    median=$(sed -n "s/^# $3 \(-\{0,1\}[0-9.][0-9.]*\).*/\1/p" "$2" | sort -g | awk '{ us[NR] = $1 } END { if (NR) print us[int((NR + 1) / 2)] }')
    if [ -n "$median" ] && awk "BEGIN { exit !($median <= $4) }"; then
        say "ok times-$1: $median, bound $4"
    else
        say "not ok times-$1: ${median:-not measured}, bound $4"
    fi
}

times() {
    local run k
    for k in 1 2 3 4 5 6 7; do
        rm -rf "$XDG_CACHE_HOME"
        for run in cold cached; do
            timeout 60 "$BUILD/gpu/gpu_smoke" times >>"$WORK/times-$run" 2>&1 || say "not ok times-$run: $(tail -1 "$WORK/times-$run")"
        done
    done
    within first-jit-ms "$WORK/times-cold" 'from text to a loaded kernel, ms:' 150
    within cached-jit-ms "$WORK/times-cached" 'from text to a loaded kernel, ms:' 5
    within launch-more-than-bare-us "$WORK/times-cached" 'more than a bare cuLaunchKernel, us:' 2
}

# ---- the command line: every example as its first comment runs it ----------------------------------------------------------------------------------------

commands() {
    local file words name n=0
    while IFS=: read -r file words; do
        name=commands-$(basename "$file" .rise)
        # shellcheck disable=SC2086
        (timeout 120 "$RISEC" $words --device "$DEVICE" --verify >"$WORK/$name" 2>&1 && grep -Eq '^(equals the reference|differs by at most )' "$WORK/$name" && echo "ok $name" ||
            echo "not ok $name: $(head -2 "$WORK/$name" | tr '\n' ' ')") >"$WORK/$name.point" &
        n=$((n + 1))
        [ $((n % JOBS)) -eq 0 ] && wait
    done < <(grep -m 1 -H '^--   \$ risec run ' examples/*.rise | sed 's/:--   \$ risec /:/')
    wait
    cat "$WORK"/commands-*.point >>"$LOG"
    grep -h '^not ok' "$WORK"/commands-*.point
    [ $n -eq "$(ls examples/*.rise | wc -l)" ] && [ "$(cat "$WORK"/commands-*.point | grep -c '^ok')" -eq $n ] && say "ok commands: $n examples" || say "not ok commands: an example is wrong, or has no command"
}

# ---- programs against the reference --------------------------------------------------------------------------------------------------------------------

# check NAME ARGUMENT...: gpu_check, whose last lines say how many
check() {
    local name=$1
    shift
    timeout 300 "$CHECK" --jobs "$JOBS" --device "$DEVICE" "$@" >"$WORK/check-$name" 2>&1
    local code=$?
    take "$name" "$WORK/check-$name"
    [ $code -eq 0 ] && say "ok $name" || say "not ok $name: exit code $code"
}

# A check that finds nothing wrong in wrong results is none: another bit in one element, and each program that ran has to be found wrong.
planted() { # NAME low|high ARGUMENT...
    local name=$1 bit=$2 wrong
    shift 2
    timeout 120 "$CHECK" --jobs "$JOBS" --device "$DEVICE" --plant "$bit" "$@" >"$WORK/check-planted-$name" 2>&1
    wrong=$(sed -n 's/^# seed.* programs: 0 to the bit, 0 with rounding, \([1-9][0-9]*\) wrong.*/\1/p' "$WORK/check-planted-$name")
    [ -n "$wrong" ] && say "ok planted-$name: all $wrong programs were found wrong" || say "not ok planted-$name: wrong results were not found: $(grep '^# seed' "$WORK/check-planted-$name")"
}

programs() {
    planted low-bit low --sizes 33,1024 files examples/{argmin,dot,histogram,max,reverse,sum,transpose_tiled}.rise
    planted high-bit high --sizes 32,1024 files examples/*.rise
    check examples files examples/*.rise
    check programs files tests/programs/*.rise tests/gpu/*.rise
    check high files examples/high/*.rise
    check bench files bench/programs/*.rise
    check nests files tests/nests/*.rise
    check in-place --in-place 1 files {examples,examples/high,tests/programs,tests/nests}/*.rise
    check large-examples --sizes 131071,1000003 --cells 1100000 --steps 2000000000 files examples/{argmin,asum,axpy,block_scan,device_scan,dot,harris3,harris7,histogram,max,minmax,minmax_last,minmax_two,reverse,scal,sum,sum_down,sum_naive,sum_tree,warp_scan}.rise
}

# std.order: the same bits as by its definition, for each type.
order() {
    RISEC=$RISEC timeout 280 python3 tests/scripts/order.py "${SEED:-1}" gpu >"$WORK/order" 2>&1
    local code=$?
    cat "$WORK/order" >>"$LOG"
    [ $code -eq 0 ] && say "ok order: $(tail -1 "$WORK/order")" || say "not ok order: $(tail -1 "$WORK/order")"
}

# The same inputs, the same bits, run after run.
repeat() {
    timeout 280 python3 tests/gpu/repeat.py "$RISEC" "$DEVICE" bench/programs/*.rise >"$WORK/repeat" 2>&1
    local code=$?
    cat "$WORK/repeat" >>"$LOG"
    grep '^not ok' "$WORK/repeat"
    [ $code -eq 0 ] && say "ok repeat: $(grep -c '^ok' "$WORK/repeat") entries, four runs each" || say "not ok repeat: exit code $code"
}

# Each quotient of two f16 or bf16 numbers.
quotients() {
    timeout 120 python3 tests/gpu/quotients.py "$RISEC" "$DEVICE" >"$WORK/quotients" 2>&1
    local code=$?
    cat "$WORK/quotients" >>"$LOG"
    [ $code -eq 0 ] && say "ok quotients: all pairs of two types" || say "not ok quotients: $(grep -v '^ok' "$WORK/quotients" | tail -1)"
}

# The same programs each time, and others each time, whose seed is printed.
random() {
    local new=${NEW_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
    check random --seed "${SEED:-1}" random "$RANDOM_PROGRAMS"
    check random-high --seed "${SEED:-1}" high "$HIGH_PROGRAMS"
    say "# new seed: $new"
    check random-new --seed "$new" random "$RANDOM_PROGRAMS"
    check random-new-high --seed "$new" high "$HIGH_PROGRAMS"
    local exact
    exact=$(sed -n 's/.* programs: \([0-9]*\) to the bit.*/\1/p' "$WORK/check-random")
    [ "${exact:-0}" -ge 2000 ] && say "ok random-2000: $exact programs agree with the reference to the bit" || say "not ok random-2000: only ${exact:-0} programs were compared to the bit"
}

large() {
    timeout 200 "$BUILD/gpu/gpu_large" i8 >"$WORK/large-i8" 2>&1 &
    timeout 200 "$BUILD/gpu/gpu_large" f32 >"$WORK/large-f32" 2>&1
    wait $!
    for type in i8 f32; do
        cat "$WORK/large-$type" >>"$LOG"
        grep '^not ok' "$WORK/large-$type"
        [ "$(grep -c '^ok large' "$WORK/large-$type")" -eq 6 ] && say "ok large-$type" || say "not ok large-$type: $(tail -1 "$WORK/large-$type")"
    done
}

# ---- compute-sanitizer: first what it must find, then the examples and bench/programs -----------------------------------------------------------------------------------------

plant() {
    tests/gpu/plant.sh "$RISEC" "$WORK/planted" | tee -a "$LOG"
    [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
    for kind in clean memcheck racecheck initcheck synccheck; do
        nvcc -O1 -lineinfo "-arch=${ARCH:-native}" "-DPLANTED=\"$WORK/planted/$kind.cu\"" tests/gpu/planted.cu -o "$WORK/planted/$kind" >"$WORK/planted/$kind.log" 2>&1 &
    done
    wait
    for kind in clean memcheck racecheck initcheck synccheck; do
        [ -x "$WORK/planted/$kind" ] || { say "not ok planted-$kind: $(head -1 "$WORK/planted/$kind.log")"; return 1; }
    done
}

sanitizer() { # TOOL COMMAND...: 0 for no finding, 77 for findings
    local tool=$1
    shift
    timeout 150 compute-sanitizer --tool "$tool" --error-exitcode 77 --print-limit 20 "$@"
}

SANITIZED='examples/*.rise bench/programs/*.rise' # a pattern
sanitize() {
    has compute-sanitizer sanitize && has nvcc sanitize || return
    local tools="memcheck racecheck initcheck synccheck" tool shard shards=4 files code valid=1
    plant || { say "not ok sanitize: the faults could not be planted"; return; }
    for tool in $tools; do
        local argument=
        [ $tool = initcheck ] && argument=unwritten
        sanitizer "$tool" "$WORK/planted/clean" >"$WORK/san-clean-$tool" 2>&1
        code=$?
        [ $code -eq 0 ] && say "ok sanitize-clean-$tool" || say "not ok sanitize-clean-$tool: exit code $code: $(grep '=====' "$WORK/san-clean-$tool" | head -3 | tr '\n' ' ')"
        # shellcheck disable=SC2086
        sanitizer "$tool" "$WORK/planted/$tool" $argument >"$WORK/san-planted-$tool" 2>&1
        code=$?
        if [ $code -eq 77 ]; then
            say "ok sanitize-planted-$tool: $(grep -E '=+ (Error|ERROR|Invalid|Warning|Uninit|Barrier|Race)' "$WORK/san-planted-$tool" | head -1 | sed 's/^=* *//' | cut -c1-120)"
        else
            say "not ok sanitize-planted-$tool: exit code $code: the fault was not found, so this run says nothing"
            valid=0
        fi
    done
    for tool in $tools; do
        for ((shard = 0; shard < shards; shard++)); do
            files=$(ls $SANITIZED | awk -v k=$shard -v n=$shards 'NR % n == k')
            # shellcheck disable=SC2086
            (sanitizer "$tool" "$CHECK" --jobs 0 --sizes 0,1,33,1000,2047 --cells 20000 files $files >"$WORK/san-$tool-$shard" 2>&1; echo $? >"$WORK/san-$tool-$shard.code") &
        done
    done
    wait
    for tool in $tools; do
        local programs=0 bad=0
        for ((shard = 0; shard < shards; shard++)); do
            code=$(cat "$WORK/san-$tool-$shard.code")
            programs=$((programs + $(grep -c '^ok ' "$WORK/san-$tool-$shard")))
            if [ "$code" -ne 0 ]; then
                bad=1
                say "# $tool, part $shard: exit code $code: $(grep -E '^(not ok|=+ (Error|ERROR|Invalid|Warning|Uninit|Barrier|Race))' "$WORK/san-$tool-$shard" | head -3 | tr '\n' ' ' | cut -c1-500)"
            fi
        done
        if [ $bad -eq 0 ] && [ $valid -eq 1 ] && [ $programs -eq "$(cat $SANITIZED | grep -c '^entry ')" ]; then
            say "ok sanitize-$tool: $programs programs, 0 findings"
        else
            say "not ok sanitize-$tool: $programs programs clean and right$([ $valid -eq 1 ] || echo '; a planted fault was missed')"
        fi
    done
}

# ---- times ---------------------------------------------------------------------------------------------------------------------------------------------------

# What risec bench gets for an example: two sizes, a small and a large one.
bench_arguments() {
    case $1 in
    shift) echo "--sizes n=65536,16777216" ;;
    gemv | row_sums | column_sums | column_sums_rows | column_totals | softmax | softmax_registers | layer_norm | stencil | transpose_*) echo "--sizes n=1000,8192 --sizes m=1025,4096" ;;
    matmul_element) echo "--sizes n=64,100 --sizes k=64,100 --sizes m=64,100" ;;
    matmul_*) echo "--sizes n=500,2048 --sizes k=500,2048 --sizes m=500,2048" ;;
    nearest | knearest) echo "--sizes n=1000,16384 --sizes m=1000,8192" ;;
    nbody*) echo "--sizes n=1000,16384" ;;
    levenshtein) echo "--sizes n=1000,1000003 --arg aLengths=uniform:0:32 --arg bLengths=uniform:0:32" ;;
    *) echo "--sizes n=65536,30000001" ;;
    esac
}

# bench FILE.rise ENTRY TWIN.cu OUT ARGUMENT...
bench() {
    local file=$1 entry=$2 twin=$3 out=$4
    shift 4
    timeout 120 "$RISEC" bench "$file" "$entry" --vs "$twin" --keep "$WORK/keep" --csv "$@" >"$out.csv" 2>"$out.err"
}

list_twins() { # lines of FILE.rise ENTRY TWIN.cu
    local file name entry
    for file in examples/*.rise; do
        name=$(basename "$file" .rise)
        for entry in $(sed -n 's/^entry \([A-Za-z0-9_]*\).*/\1/p' "$file"); do
            [ -e "tests/handwritten/$name.cu" ] && grep -q "${entry}_hand" "tests/handwritten/$name.cu" && echo "$file $entry tests/handwritten/$name.cu"
        done
    done
}

twins() {
    has nvcc twins || return
    local file entry twin out name
    mkdir -p "$WORK/keep" "$WORK/twins"
    # First all that nvcc has to compile, many at a time; then the times, one after the other on a quiet machine.
    while read -r file entry twin; do
        name=$(basename "$file" .rise)
        echo "$RISEC bench $file $entry --vs $twin --keep $WORK/keep --rounds 1 --csv $(bench_arguments "$name" | sed -E 's/=([0-9]+),[0-9]+/=\1/g') >/dev/null 2>&1"
    done < <(list_twins) | xargs -d '\n' -P "$JOBS" -I{} bash -c '{}'
    while read -r file entry twin; do
        name=$(basename "$file" .rise)
        out=$WORK/twins/$name-$entry
        # shellcheck disable=SC2046
        if bench "$file" "$entry" "$twin" "$out" $(bench_arguments "$name"); then
            say "ok twins-$name-$entry"
        else
            say "not ok twins-$name-$entry: $(head -2 "$out.err" | tr '\n' ' ' | cut -c1-300)"
        fi
    done < <(list_twins)
    [ "$(list_twins | wc -l)" -ge "$(ls tests/handwritten/*.cu | wc -l)" ] && say "ok twins-all" || say "not ok twins-all: a hand-written kernel has no entry"
}

# Kernels with a planted fault beside ours: `risec bench --vs` must not call their results equal.
wrong() {
    has nvcc wrong || return
    timeout 280 python3 tests/gpu/wrong_kernels.py "$RISEC" "$WORK/wrong" "$JOBS" >"$WORK/wrong.log" 2>&1
    local code=$?
    cat "$WORK/wrong.log" >>"$LOG"
    [ $code -eq 0 ] && say "ok wrong: $(tail -1 "$WORK/wrong.log")" || say "not ok wrong: $(tail -1 "$WORK/wrong.log")"
}

# The thesis's figure 5.3: sums of 2^16 to 2^20 floats down to one number. 5 values of elemsWarp, 6 of elemsBlock, two kinds of shuffle.
variants() {
    local warp times entry r threads rivals=() out sizes=n=2^16,2^17,2^18,2^19,2^20
    for warp in 32 64 128 256 512; do
        for times in 1 2 4 8 16 32; do
            for file in tests/gpu/sum_variants.rise examples/sum.rise examples/sum_down.rise; do
                echo "$CHECK --jobs 1 --set elemsWarp=$warp --set elemsBlock=$((warp * times)) --sizes 65536,131072,262144,524288,1048576,1000003 --cells 1100000 files $file >$WORK/variant-$(basename $file .rise)-$warp-$times 2>&1 || true"
            done
        done
    done | xargs -d '\n' -P "$JOBS" -I{} bash -c '{}'
    local right
    for file in sum_variants sum sum_down; do
        right=$(grep -l '^passed' "$WORK/variant-$file"-* | wc -l)
        grep -h '^not ok' "$WORK/variant-$file"-* | head -5
        [ "$right" -eq 30 ] && say "ok variants-$file: 30 of 30 right for 2^16 to 2^20 and 1000003" || say "not ok variants-$file: only $right of 30 are right"
    done
    has nvcc variants || return
    mkdir -p "$WORK/keep" "$WORK/rivals" "$WORK/variants"
    for entry in sumXor sumDown; do
        printf '#define RIVAL %s_hand\n#include "%s"\n' $entry "$ROOT/tests/gpu/rivals/cub.cu" >"$WORK/rivals/cub_$entry.cu"
    done
    for r in shuffle harris7; do
        for threads in 64 128 256 512 1024; do
            printf '#define RIVAL sumXor_hand\n#define THREADS %s\n#include "%s"\n' $threads "$ROOT/tests/gpu/rivals/$r.cu" >"$WORK/rivals/${r}_$threads.cu"
            rivals+=(--vs "$WORK/rivals/${r}_$threads.cu")
        done
    done
    # Compiled at once, then measured alone.
    for r in "$WORK"/rivals/*.cu; do
        entry=sumXor
        [[ $r = *_sumDown.cu ]] && entry=sumDown
        "$RISEC" bench tests/gpu/sum_variants.rise $entry --vs "$r" --keep "$WORK/keep" --rounds 1 --csv --set n=1000 >/dev/null 2>&1 &
    done
    wait
    point variants-rivals "$RISEC" bench tests/gpu/sum_variants.rise sumXor --vs "$WORK/rivals/cub_sumXor.cu" "${rivals[@]}" --keep "$WORK/keep" --csv --sizes $sizes
    cp "$WORK/point" "$WORK/variants/rivals.csv"
    local timed=0
    for entry in sumXor sumDown; do
        for warp in 32 64 128 256 512; do
            for times in 1 2 4 8 16 32; do
                out=$WORK/variants/$entry-$warp-$times
                bench tests/gpu/sum_variants.rise $entry "$WORK/rivals/cub_$entry.cu" "$out" --set elemsWarp=$warp --set elemsBlock=$((warp * times)) --sizes $sizes --rounds 15 && timed=$((timed + 1)) ||
                    say "# $entry, elemsWarp $warp, elemsBlock $((warp * times)): $(head -1 "$out.err")"
            done
        done
    done
    [ $timed -eq 60 ] && say "ok variants-timed: 60 beside CUB" || say "not ok variants-timed: only $timed of 60"
}

# ---- programs of others ---------------------------------------------------------------------------------------------------------------------------------------

interop() {
    local library=$BUILD/runtime n arch cuda flags
    cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
    arch=$("$BUILD/gpu/gpu_smoke" arch)
    flags="-Iruntime/include -L$library -lrise"
    if [ -n "${PREFIX:-}" ] && command -v pkg-config >/dev/null; then
        library=$(dirname "$(find "$PREFIX" -name librise.so)")
        flags=$(PKG_CONFIG_PATH=$library/pkgconfig pkg-config --cflags --libs rise)
        say "# pkg-config: $(printf '%s' "$flags" | sed "s|$PREFIX|PREFIX|g")"
    else
        say 'skip interop-pkg-config: no PREFIX, or no pkg-config'
    fi
    # shellcheck disable=SC2086
    point interop-c-sum-build cc examples/c/sum.c $flags "-Wl,-rpath,$library" -o "$WORK/sum"
    point interop-c-sum "$WORK/sum" gpu examples/sum.rise 1000003
    # shellcheck disable=SC2086
    point interop-c-stream-build cc examples/c/stream.c "-I$cuda/include" $flags "-Wl,-rpath,$library" "-L$cuda/lib64" "-Wl,-rpath,$cuda/lib64" -lcudart -o "$WORK/stream"
    point interop-c-stream "$WORK/stream" examples/sum.rise 1000003
    point interop-cubin "$RISEC" examples/sum.rise -o "$WORK/sum.cubin" "--arch=$arch" -o "$WORK/sum.ptx" -o "$WORK/sum.json" -o "$WORK/sum.cu"
    point interop-c-aot-build cc examples/c/aot_launch.c "-I$cuda/include" -o "$WORK/aot" "-L$cuda/lib64/stubs" -lcuda
    for n in cubin ptx; do
        point "interop-c-aot-$n" "$WORK/aot" "$WORK/sum.$n" 1000003
    done
    point interop-header "$RISEC" tests/gpu/header.rise -o "$WORK/sum.h"
    point interop-header-build cc -std=c99 "-I$WORK" tests/gpu/header.c -o "$WORK/header" -ldl -pthread
    point interop-header-run "$WORK/header"
    if has nvcc interop-c-cu; then
        point interop-c-cu-build nvcc "-arch=$arch" -c "$WORK/sum.cu" -o "$WORK/sum.o"
        point interop-c-cu-link cc examples/c/cu_launch.c "$WORK/sum.o" "-I$cuda/include" "-L$cuda/lib64" "-Wl,-rpath,$cuda/lib64" -lcudart -lstdc++ -o "$WORK/cu_launch"
        point interop-c-cu "$WORK/cu_launch" 1000003
        point interop-workspace-emit "$RISEC" tests/programs/workspace.rise -o "$WORK/workspace.cu"
        point interop-workspace-build nvcc "-arch=$arch" -c "$WORK/workspace.cu" -o "$WORK/workspace.o"
        point interop-workspace-link cc tests/gpu/workspace.c "$WORK/workspace.o" "-I$cuda/include" "-L$cuda/lib64" "-Wl,-rpath,$cuda/lib64" -lcudart -lstdc++ -o "$WORK/workspace"
        point interop-workspace "$WORK/workspace"
    fi
    if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
        for n in 1 1000003 16777217; do
            point "interop-torch-$n" env PYTHONPATH=python RISEC_LIBRISE="$library/librise.so" python3 examples/python/sum_torch.py "$n"
        done
    else
        say 'skip interop-torch: no torch with a GPU'
    fi
}

# The Python package, from its sources, with what was built.
package() {
    if ! python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
        say 'skip package: no torch with a GPU'
        return
    fi
    local library
    library=$(find "$BUILD/runtime" -name 'librise.so.*.*.*' | head -1)
    timeout 300 env PYTHONPATH="$ROOT/python" RISEC_LIBRISE="$library" RISEC="$RISEC" python3 tests/gpu/package.py >"$WORK/package" 2>&1 ||
        grep -q '^not ok' "$WORK/package" || say "not ok package: $(tail -2 "$WORK/package" | tr '\n' ' ')"
    grep -E '^(ok|not ok|#) ' "$WORK/package" | tee -a "$LOG"
}

if [ "$DEVICE" = gpu ] && ! timeout 60 "$BUILD/gpu/gpu_smoke" fresh; then
    "$RISEC" bench examples/sum.rise --set n=1 >/dev/null
    echo "not ok device: nothing can be run on a GPU here"
    exit 3
fi
for s in $ALL; do
    stage "$s" && "$s"
done
say "# done after $((SECONDS - started)) s"
python3 tests/gpu/report.py "$WORK" "$STAGES" "$("$RISEC" --version)${REVISION:+, $REVISION}" >"$REPORT"
failed=$(grep -c '^not ok' "$LOG")
echo "$(grep -c '^ok' "$LOG") ok, $failed not ok; the report is in $REPORT"
[ "$failed" -eq 0 ]
