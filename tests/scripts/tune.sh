#!/bin/sh
# `risec tune --device sim`: what it writes, that it is the same each time, and who uses it. RISEC names the binary.
RISEC=${RISEC:?set RISEC to the risec binary}
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0
cp "$ROOT/tests/run/tunable.rise" "$dir/sum.rise"
cd "$dir" || exit 2

# result NAME STATUS: the last command's, with its output in out and err
result() {
    if [ "$2" -eq 0 ]; then
        echo "ok tune-$1"
    else
        echo "not ok tune-$1"
        sed 's/^/# /' out err | head -20
        failed=1
    fi
}

# has NAME CODE PATTERN COMMAND...: exit code, and a line of what is printed (an extended regular expression)
has() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$RISEC" "$@" >out 2>err </dev/null
    [ $? -eq "$code" ] && cat out err | grep -Eq -- "$pattern"
    result "$name" $?
}

tune="tune sum.rise --device sim --sizes n=64,4096 --set numSM=8"
use="run sum.rise --arg xs=iota --verify"
# shellcheck disable=SC2086
{
    has left-out 0 '^left out: 2, as E0325' $tune
    has threads 0 '^left out: 2, as E0409' $tune
    cp sum.rise.tune first
    has again 0 'written to sum.rise.tune' $tune
    cmp sum.rise.tune first >out 2>err
    result same-file $?
    "$RISEC" $tune -o - >out 2>err && [ "$(sed 1d out)" = "$(sed 1d sum.rise.tune)" ]
    result standard-output $?
    [ "$(grep -c '^entry' sum.rise.tune)" -eq 1 ] && grep -Eq '^  n <= 512: threads = [0-9]+, each = [0-9]+  -- ' sum.rise.tune && grep -Eq '^  else: ' sum.rise.tune
    result classes $?

    # Both classes and their boundary, against the reference.
    small=$(sed -n 's/^  n <= 512: \(.*\)  -- .*/\1/p' sum.rise.tune) large=$(sed -n 's/^  else: \(.*\)  -- .*/\1/p' sum.rise.tune)
    for n in 0 1 511 512; do has "below-$n" 0 "tuned: $small" $use --set n=$n; done
    for n in 513 4096 100003; do has "above-$n" 0 "tuned: $large" $use --set n=$n; done
    for n in 512 513; do "$RISEC" $use --set n=$n >out 2>err && grep -q '^equals the reference' out; result "right-$n" $?; done
    has json 0 '"tuned": true' $use --set n=512 --json
    has untuned 0 'sum\(n = 512\) on sim: ' $use --set n=512 --untuned
    has set 0 'sum\(n = 512, each = 2\) on sim: ' $use --set n=512 --set each=2
    has reference 0 'on ref: ' run sum.rise --arg xs=iota --set n=512 --device ref
    has compile 0 '^// sum_small for n <= 512: ' sum.rise --tuned sim
    has manifest 0 '"when": "n <= 512"' sum.rise --tuned sim --emit=manifest
    has compile-untuned 0 '^// sum: ' sum.rise
    has no-such-device 2 'nothing that could be used for that device' sum.rise --tuned 'NVIDIA H200'
    has form 2 'does not show' sum.rise --tuned sim --emit=core

    # The lines of another device, and comments, stay.
    sed 's/"sim"/"A GPU"/;1s/$/\n-- kept by hand/' first >sum.rise.tune
    has other-device 0 'sum\(n = 512\) on sim: ' $use --set n=512
    "$RISEC" $tune >out 2>err && [ "$(grep -c '^entry' sum.rise.tune)" -eq 2 ] && grep -q '^-- kept by hand' sum.rise.tune && sed 1d first | tail -n +2 >rest &&
        [ "$(tail -n "$(wc -l <rest)" sum.rise.tune)" = "$(cat rest)" ]
    result second-device $?

    # What is no longer true.
    spoil() { # NAME CODE PATTERN SED
        sed "$4" first >sum.rise.tune
        has "$1" "$2" "$3" $use --set n=100
    }
    spoil changed-facts 1 'E0325.*never hold' 's/n <= 512: .*/n <= 512: threads = 2048, each = 4/'
    spoil where-from 1 'sum.rise.tune:3' 's/n <= 512: .*/n <= 512: threads = 2048, each = 4/'
    spoil no-threads 1 'is tuned, from this line on' 's/n <= 512: .*/n <= 512: threads = 2048, each = 1/'
    spoil foreign-tunable 1 'E0661.*`other` is no tunable' 's/each/other/'
    spoil foreign-size 1 'E0661.*`m` is no size' 's/n <= 512/m <= 512/'
    spoil twice 1 'E0660.*has a value here already' 's/, each/, threads/'
    spoil no-else 1 'E0660.*no line .else' '/else/d'
    spoil empty 1 'E0660' d
    spoil other-version 1 'E0660.*version of the format' 's/^tuning 1/tuning 2/'
    spoil overflow 1 'E0660.*<= NUMBER' 's/<= 512/<= 9223372036854775808/'
    has damaged-stays 2 'E0660' $tune
    cp first sum.rise.tune
    sed -i 's/xs |> padTo/xs |> take(n) |> padTo/' sum.rise
    has stale 0 'W0702.*has changed since it was tuned' $use --set n=100
    has renewed 0 'written' $tune
    has nowhere 0 'written to /dev/null' $tune -o /dev/null
    has renewed-use 0 'tuned: ' $use --set n=100

    # Callers would see it.
    printf 'entry f {n: nat} (k: nat = 4 in [2, 8]) (j: nat = 32 in [32, 64]) (xs: n.i32): (n / k).i32\n  where n %% k == 0 launch [threads = j] =\n  xs |> split(k) |> mapGlobal(reduceSeq((+), 0))\n' >f.rise
    has interface 0 '^`k` stays 4: callers would see' tune f.rise --device sim
    sed -i 's/threads/j/;s/j = [0-9]*/k = 8/' f.rise.tune
    has interface-file 1 'E0661' run f.rise --arg xs=iota --set n=64
    has interface-set 2 'no tunable that could be tuned' tune f.rise --device sim --set j=32
    printf 'entry g {n m: nat} (j: nat = 32 in [32, 64]) (xs: n.m.i32): n.i32 launch [threads = j] =\n  xs |> mapGlobal(reduceSeq((+), 0))\n' >g.rise
    has products 0 'written' tune g.rise --device sim --sizes n=16,256 --sizes m=4,64
    grep -Eq '^  n\*m <= 1024: j|^  else: j' g.rise.tune
    result products-file $?
    has by 0 written tune g.rise --device sim --sizes n=16,256,16 --sizes m=4,4,64 --by m
    grep -Eq "^  m <= 16: j|^  else: j" g.rise.tune
    result by-file $?
    has by-unknown 2 "has no size .k" tune g.rise --device sim --sizes n=16,256 --set m=4 --by k
    # Strategies, and the candidates of their parameters.
    cat >h.rise <<'RISE'
import rules.algorithmic
import rules.lowering
import strategies.reductions
strategy parts (k: nat = 64 in [16, 64]) (threads: nat = 128 in halving(256)) =
  launch[threads = threads] ; reduceSplit(k) at reduce ; mapToGlobal at map ; reduceToSeq at reduce inside mapGlobal ; lastly
strategy lastly = finishNextKernel at reduce ; byOne at reduce
rule byOne {n: nat} {t: data} (op: t -> t -> t) (unit: t) (xs: n.t):
  reduce(op, unit, xs) == generate{n = 1}(fun _ => reduceSeq(op, unit, xs)) |> mapGlobal(id) |> single
strategy broken = reduceSplit(4) at scan
entry sum {n: nat} (xs: n.u32): u32 lowered by parts(16, 128) = xs |> reduce((+), 0)
RISE
    high="tune h.rise --device sim --sizes n=2^6,2^16 --set numSM=8"
    has strategies-many 0 '^sum on sim: 8 candidates, ' $high --strategies 'parts, harris4'
    has strategies-given 0 '^sum on sim: 3 candidates, ' $high --strategies 'parts{k = 16, threads = 64},parts(64, 32)'
    has strategies-broken 0 '^left out: 1, as E0801' $high --strategies broken,harris4
    has strategies-unknown 2 'E0804.*.harriss4. is neither' $high --strategies harriss4
    has strategies-none 2 'E0621' $high --strategies harris4,
    has strategies-no-strategy 1 'error.*is expected|error.E0' $high --strategies 'parts )'
    has strategies 0 'lowered by harris6\{threads = 512\}  <- kept' $high --strategies harris4,harris6
    grep -Eq '^  else: lowered by harris6\{threads = 512\}  -- ' h.rise.tune && grep -Eq '^  n <= 2048: ' h.rise.tune
    result strategies-file $?
    used="run h.rise --arg xs=iota --verify"
    has strategies-used 0 '^sum\(n = 5000\) on sim \(tuned: lowered by harris6\{threads = 512\}\): ' $used --set n=5000
    for n in 0 1 64 2048 2049 5000; do has "strategies-right-$n" 0 '^equals the reference' $used --set n=$n; done
    has strategies-json 0 '"tuned": true, "strategy": "harris6.threads = 512."' $used --set n=5000 --json
    has strategies-manifest 0 '"strategy": "harris6.threads = 512."' h.rise --tuned sim --emit=manifest
    sed -i 's/harris6/harris7/' h.rise.tune
    has strategies-other 0 'tuned: lowered by harris7' $used --set n=5000
    sed -i 's/harris7/gone/' h.rise.tune
    has strategies-gone 1 'is tuned, from this line on' $used --set n=5000
    has no-gpu-name 2 'gpu or sim' tune f.rise --device ref
    has open-size 2 'for which' tune g.rise --device sim
}
exit $failed
