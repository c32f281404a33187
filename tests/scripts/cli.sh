#!/bin/sh
# The command line: exit codes, messages, forms of output, inputs and results. RISEC names the binary.
# Each check prints `ok NAME`, `not ok NAME` or `skip NAME: reason`.
RISEC=${RISEC:?set RISEC to the risec binary}
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

ok() { echo "ok $1"; }
bad() { echo "not ok $1"; failed=1; [ -z "$2" ] || echo "# $2"; sed 's/^/# /' "$dir/out" "$dir/err" 2>/dev/null | head -20; }

# expect NAME CODE PATTERN-OF-STDERR -- ARGS...: exit code, and a line of the messages (an extended regular expression; "" for none at all)
expect() {
    name=$1 code=$2 pattern=$3
    shift 4
    "$RISEC" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -ne "$code" ]; then bad "$name" "exit code $got, wanted $code"
    elif [ -z "$pattern" ] && [ -s "$dir/err" ]; then bad "$name" "messages where there should be none"
    elif [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$dir/err"; then bad "$name" "no message like: $pattern"
    else ok "$name"; fi
}
# shows NAME PATTERN -- ARGS...: exit code 0, no message, and a line of standard output
shows() {
    name=$1 pattern=$2
    shift 3
    "$RISEC" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -ne 0 ]; then bad "$name" "exit code $got"
    elif [ -s "$dir/err" ]; then bad "$name" "messages where there should be none"
    elif ! grep -Eq -- "$pattern" "$dir/out"; then bad "$name" "no line like: $pattern"
    else ok "$name"; fi
}

cat >"$dir/sum.rise" <<'RISE'
entry sums {n: nat} (block: nat = 64 in [32, 64]) (xs: n.f32): ceilDiv(n, block).f32
  where block >= 1 =
  xs |> padTo(block, 0) |> split(block) |> mapGlobal(reduceSeq((+), 0))
RISE
cat >"$dir/ints.rise" <<'RISE'
entry addOne {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x + 1)
RISE
cat >"$dir/axpy.rise" <<'RISE'
entry axpy {n: nat} (a: f32) (xs: n.f32) (ys: n.f32): n.f32 =
  zip(xs, ys) |> mapGlobal(fun (x, y) => a * x + y)
RISE
cat >"$dir/pairs.rise" <<'RISE'
entry pairs {n: nat} (ps: (4 * n).(f32, i32)): (4 * n).(i32, f32) =
  ps |> mapGlobal(fun (a, b) => (b, a))
RISE
cat >"$dir/two.rise" <<'RISE'
entry first {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x + 1)
entry second {n: nat} (xs: n.i32): n.i32 where n % 2 == 0 = xs |> mapGlobal(fun x => x * 2)
RISE
cat >"$dir/matrix.rise" <<'RISE'
entry rows {n m: nat} (xss: n.m.i32): n.i32 = xss |> mapGlobal(reduceSeq((+), 0))
RISE
cat >"$dir/wrong.rise" <<'RISE'
entry wrong {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x + tru)
RISE
echo 'def twice (x: f32): f32 = x + x' >"$dir/library.rise"
sum=$dir/sum.rise

# ---- usage ------------------------------------------------------------------------------------------------------
# Every option that is not hidden stands in `risec help options`; `risec help` fits a terminal.
"$RISEC" help options >"$dir/out" 2>"$dir/err"
missing=
for option in $("$RISEC" help --emit-docs=fish | sed -n "s/.* -l \([a-z-]*\) .*/\1/p"); do
    grep -qE -- "^  (-[a-zA-Z], )?--$option( |=|$)" "$dir/out" || missing="$missing --$option"
done
if grep -q -- --set "$dir/out" && [ -z "$missing" ]; then ok help-options; else bad help-options "risec help options lacks$missing"; fi
lines=$("$RISEC" --help | wc -l)
if [ "$lines" -lt 60 ] && "$RISEC" --help | grep -q 'risec help options'; then ok help-short; else bad help-short "$lines lines"; fi

cat >"$dir/high.rise" <<'RISE'
entry double {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)
RISE
shows profile-library '^lib/std/vectors.rise:[0-9]+ ' -- run "$dir/high.rise" --set n=64 --arg xs=iota --profile

shows help-definition '^import std.block' -- help blockReduce
shows help-rule '^import rules.lowering' -- help mapToBlock
shows help-library '^  std.warp ' -- help std
shows help-module '^def warpTree ' -- help std.warp
expect help-no-module 2 'no help on' -- help std.nothing
expect usage-entry 2 'named by `--entry sums`' -- "$dir/sum.rise" sums
expect usage-nothing 2 'E0621.*no file' --
shows help 'risec run FILE.rise' -- help
shows help-verb '--device' -- help run
shows help-verb-option '--device' -- run --help
shows help-primitive 'split' -- help split
shows help-topic 'mapWarp' -- help levels
shows help-topics 'verify' -- help topics
shows help-option 'NAME=NAT' -- help set
expect help-unknown 2 'did you mean .risec help split' -- help spilt
shows explain 'command line' -- explain e0621
expect explain-unknown 2 'no diagnostic' -- explain E9999
shows version '^risec [0-9]' -- --version
expect option-unknown 2 'did you mean .--device' -- run "$sum" --devise sim
expect option-value-missing 2 'needs a value' -- run "$sum" --device
expect option-choice 2 'did you mean .--device=sim' -- run "$sum" --device=sin
expect option-choice-other 2 'help: a GPU is `gpu`' -- run "$sum" --device=cuda
expect option-twice 2 'given twice' -- run "$sum" --seed 1 --seed 2
expect lower-profile-alone 2 'goes with `--trace` or `--json`' -- lower "$ROOT/examples/high/sum.rise" --profile
expect lower-replay-and-strategy 2 'there is no `--strategy`' -- lower "$ROOT/examples/high/sum.rise" --replay none.json --strategy tidy
expect lower-replay-missing 2 'the file cannot be read' -- lower "$ROOT/examples/high/sum.rise" --replay "$dir/none.json"
expect lower-save-nowhere 2 'E0628' -- lower "$ROOT/examples/high/sum.rise" --save "$dir/no/such.json"
expect lower-no-strategy 2 'is no strategy' -- lower "$ROOT/examples/high/sum.rise" --strategy 'tidy strategy b = tidy'
shows lower-step '^-- lowered, in 2 steps:' -- lower "$ROOT/examples/high/sum.rise" --trace --step 2
shows lower-verify-fixed 'gives at n = 5000; seed 3$' -- lower "$ROOT/examples/high/sum.rise" --verify-each --set n=5000 --seed 3
expect option-of-other-verb 2 'does not belong' -- check "$sum" --grid 1
expect option-number 2 'needs an integer' -- run "$sum" --seed x
expect option-flag-value 2 'takes no value' -- run "$sum" --json=yes
expect pair-without-value 2 'needs a name and a value' -- run "$sum" --set n
expect set-no-size 2 'integer of at least 0' -- run "$sum" --set n=-1
expect set-too-large 2 'below 2.63' -- run "$sum" --set n=9223372036854775808
expect verb-misspelt 2 'did you mean .risec check' -- chekc "$sum"
expect file-missing 2 'no such file' -- "$dir/nothing.rise"
expect file-missing-check 2 'no such file' -- check "$sum" "$dir/nothing.rise"

# ---- check and compile ------------------------------------------------------------------------------------------
expect check-good 0 '' -- check "$sum" "$dir/axpy.rise" "$dir/library.rise"
expect check-wrong 1 'error\[E0' -- check "$dir/wrong.rise"
expect check-names-place 1 'wrong.rise:1:[0-9]+: error' -- check "$sum" "$dir/wrong.rise"
expect compile-library 2 'no entry' -- "$dir/library.rise"
expect compile-wrong 1 'error\[E0' -- "$dir/wrong.rise"
for form in ast core imp cuda manifest; do
    shows "emit-$form" . -- --emit=$form "$sum"
done
shows line-directives '#line 3 ".*sum.rise"' -- --line "$sum"
shows stop-after . -- --stop-after=translate "$sum"
# A rule for make names what was read, however it was found; also where a name has a blank.
mkdir "$dir/a b"
echo 'def inc (x: f32): f32 = x + 1' >"$dir/a b/inc.rise"
echo 'import "a b/inc.rise"
entry up {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(inc)' >"$dir/up.rise"
expect depfile 0 '' -- "$dir/up.rise" -o "$dir/up.cu" -o "$dir/up.json" --depfile "$dir/up.d"
printf '%s %s: \\\n  %s \\\n  %s\n' "$dir/up.cu" "$dir/up.json" "$dir/up.rise" "$dir/a\\ b/inc.rise" >"$dir/wanted"
if cmp "$dir/wanted" "$dir/up.d" >"$dir/err" 2>&1; then ok depfile-rule; else bad depfile-rule "$(cat "$dir/up.d")"; fi
expect depfile-of-nothing 2 'says what a file is made of, and none is written' -- "$dir/up.rise" --depfile "$dir/up.d"
expect depfile-of-check 2 'does not belong' -- check "$sum" --depfile "$dir/up.d"
expect stop-after-unknown 2 'did you mean .--stop-after=barriers' -- --stop-after=barrier "$sum"
expect verify-each 0 '' -- check --verify-each "$sum" "$dir/pairs.rise"
shows compile-tunable 'split\(32\)' -- --emit=core "$sum" --set block=32
expect compile-size 2 'known only at launch' -- "$sum" --set n=5
expect compile-setting-unknown 2 'did you mean .block' -- "$sum" --set blok=32
expect compile-where 1 'error\[E0' -- "$sum" --set block=0
expect output-cubin 2 'add `--arch=sm_90`' -- "$sum" -o "$dir/x.cubin"
expect output-arch 2 'did you mean `--arch=sm_90`' -- "$sum" -o "$dir/x.ptx" --arch=90
expect output-suffix 2 'suffix' -- "$sum" -o "$dir/x.o"
expect output-folder 2 'E0628' -- "$sum" -o "$dir/no/x.cu"
expect output-two 0 '' -- "$sum" -o "$dir/a.cu" -o "$dir/a.json"
if [ -s "$dir/a.cu" ] && python3 -m json.tool "$dir/a.json" >/dev/null; then ok output-files; else bad output-files; fi
rm -f "$dir/b.cu"
expect output-none-with-errors 1 'error' -- "$dir/wrong.rise" -o "$dir/b.cu"
if [ ! -e "$dir/b.cu" ]; then ok output-untouched; else bad output-untouched; fi
shows entry-one 'second' -- --emit=core --entry second "$dir/two.rise"
if grep -q first "$dir/out"; then bad entry-only-one; else ok entry-only-one; fi
"$RISEC" --emit=core - <"$sum" >"$dir/out" 2>"$dir/err" && grep -q sums "$dir/out" && ok stdin || bad stdin
"$RISEC" check - <"$dir/wrong.rise" >"$dir/out" 2>"$dir/err"
[ $? -eq 1 ] && ok stdin-wrong || bad stdin-wrong
"$RISEC" --emit=core "$sum" >"$dir/core.rise" 2>"$dir/err" && "$RISEC" check "$dir/core.rise" >"$dir/out" 2>"$dir/err" && ok core-is-rise || bad core-is-rise
if [ -e /dev/full ]; then
    "$RISEC" --emit=core "$sum" >/dev/full 2>"$dir/err"
    [ $? -eq 2 ] && grep -q E0628 "$dir/err" && ok disk-full || bad disk-full
else
    echo "skip disk-full: no /dev/full"
fi
# A reader that leaves is no reason to complain.
{ "$RISEC" help; echo $? >"$dir/code"; } 2>"$dir/err" | true
case $(cat "$dir/code") in 0|2) [ -s "$dir/err" ] && bad broken-pipe || ok broken-pipe ;; *) bad broken-pipe ;; esac
if LC_ALL=C "$RISEC" check "$dir/wrong.rise" 2>&1 | grep -q "$(printf '\033')"; then bad no-colour-in-pipe; else ok no-colour-in-pipe; fi

# ---- run --------------------------------------------------------------------------------------------------------
shows run-sim '^\[64, 64, 36\]$' -- run "$sum" --set n=164 --arg xs=ones
shows run-head '^sums\(n = 164\) on sim: 3.f32$' -- run "$sum" --set n=164 --arg xs=ones
shows run-ref '^sums\(n = 164\) on ref: 3.f32$' -- run "$sum" --device ref --set n=164 --arg xs=ones
shows run-tunable '^sums\(n = 164, block = 32\) on sim: 6.f32$' -- run "$sum" --set n=164 --set block=32 --arg xs=ones
shows run-size-expression 'n = 1025' -- run "$sum" --set n=2^10+1 --arg xs=ones
shows run-entry-named '^second' -- run "$dir/two.rise" second --set n=4 --arg xs=iota
expect run-entry-which 2 'has 2 entries' -- run "$dir/two.rise" --set n=4 --arg xs=iota
expect run-entry-unknown 2 'did you mean .second' -- run "$dir/two.rise" secnd
expect run-fact 1 'E0601' -- run "$dir/two.rise" second --set n=5 --arg xs=iota
expect run-nothing-given 2 '--set n=1000 --arg xs=uniform' -- run "$sum"
expect run-size-missing 2 '--set n=' -- run "$sum" --arg xs=iota
expect run-arg-missing 2 'nothing is given for .ys' -- run "$dir/axpy.rise" --set n=4 --arg a=1 --arg xs=iota
expect run-arg-unknown 2 'did you mean .xs' -- run "$sum" --set n=4 --arg x=iota
expect run-arg-is-size 2 'is a size' -- run "$sum" --arg n=4 --arg xs=iota
expect run-set-is-arg 2 'there is no size' -- run "$dir/axpy.rise" --set n=4 --set a=2 --arg a=1 --arg xs=iota --arg ys=iota
expect run-word-misspelt 2 'did you mean .uniform:0:9' -- run "$sum" --set n=4 --arg xs=unifrm:0:9
expect run-word-alone 2 'the length is known from the sizes: .--arg xs=iota' -- run "$sum" --set n=4 --arg xs=iota:3
# Also where there is a GPU, there is none.
CUDA_VISIBLE_DEVICES='' expect run-gpu 3 'error.E0629.*driver' -- run "$sum" --device gpu --set n=4 --arg xs=iota
CUDA_VISIBLE_DEVICES='' shows run-auto 'on sim' -- run "$sum" --device auto --set n=4 --arg xs=iota
expect run-wrong 1 'error\[E0' -- run "$dir/wrong.rise" --set n=4 --arg xs=iota
shows run-scalar '^\[1, 3.5, 6\]$' -- run "$dir/axpy.rise" --set n=3 --arg a=2.5 --arg xs=iota --arg ys=ones
shows run-tuple '^.1: \[0, 1, 2, 3\]$' -- run "$dir/pairs.rise" --set n=1 --arg ps.1=ones --arg ps.2=iota
expect run-tuple-whole 2 'ps.1=' -- run "$dir/pairs.rise" --set n=1 --arg ps=ones
shows run-long '^\[1, 2, 3, 4, 5, 6, 7, 8, ..., 99, 100\]$' -- run "$dir/ints.rise" --set n=100 --arg xs=iota
shows run-stats '^warp instructions +[1-9]' -- run "$sum" --stats --set n=164 --arg xs=ones
shows run-stats-loads '^global loads +164$' -- run "$sum" --stats --set n=164 --arg xs=ones
for n in 0 1 31 32 33 64 65 1000 1025; do
    shows "verify-$n" '^equals the reference$' -- run "$sum" --set n=$n --arg xs=uniform --verify
    for grid in 1 3; do
        shows "verify-$n-grid-$grid" '^equals the reference$' -- run "$sum" --set n=$n --arg xs=uniform --verify --grid $grid --seed 7
    done
done
expect grid-too-large 2 'blocks from 1' -- run "$sum" --set n=4 --arg xs=ones --grid 2^31
expect grid-none 2 'blocks from 1' -- run "$sum" --set n=4 --arg xs=ones --grid 0
shows matrix '^\[0, 0' -- run "$dir/matrix.rise" --set n=2 --set m=0 --arg xss=iota

# ---- JSON -------------------------------------------------------------------------------------------------------
cat >"$dir/check_json.py" <<'PY'
import json, sys
got = json.load(open(sys.argv[1]))
assert got["entry"] == "sums" and got["device"] == "sim" and got["sizes"] == {"n": 70} and got["tunables"] == {"block": 64}, got
assert got["results"] == [{"type": "f32", "shape": [2], "values": [64, 6]}], got
assert got["compared"]["verdict"] == "equal" and got["compared"]["undecided"] == 0, got
assert got["stats"]["global_loads"] == 70, got
PY
expect json 0 '' -- run "$sum" --set n=70 --arg xs=ones --json --verify --stats
python3 "$dir/check_json.py" "$dir/out" 2>"$dir/err" && ok json-content || bad json-content
expect json-not-finite 0 '' -- run "$dir/axpy.rise" --set n=2 --arg a=inf --arg xs=iota --arg ys=zeros --json
python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["results"][0]["values"] == ["nan", "inf"]' "$dir/out" 2>"$dir/err" \
    && ok json-not-finite-content || bad json-not-finite-content

# ---- .npy -------------------------------------------------------------------------------------------------------
cat >"$dir/npy.py" <<'PY'
import struct, sys
# npy.py write FILE DESCR SHAPE VALUES... | npy.py show FILE
CODES = {"<f4": "f", "<i4": "i", "<i8": "q", "<f8": "d"}
if sys.argv[1] == "write":
    path, descr, shape = sys.argv[2], sys.argv[3], tuple(int(s) for s in sys.argv[4].split(",") if s)
    values = [float(v) if "f" in descr else int(v) for v in sys.argv[5:]]
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    data = struct.pack("<%d%s" % (len(values), CODES[descr]), *values)
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
else:
    data = open(sys.argv[2], "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    size = struct.unpack("<H", data[8:10])[0]
    assert (10 + size) % 64 == 0
    head = eval(data[10:10 + size])
    values = [v[0] for v in struct.iter_unpack("<" + CODES[head["descr"]], data[10 + size:])]
    print(head["descr"], head["shape"], head["fortran_order"], *values)
PY
npy() { python3 "$dir/npy.py" "$@"; }
npy write "$dir/xs.npy" '<i4' 5 10 20 30 40 50
npy write "$dir/four.npy" '<f4' 4 1 2 3 4
npy write "$dir/five.npy" '<f4' 5 1 2 3 4 5
npy write "$dir/six.npy" '<i4' 2,3 1 2 3 4 5 6
npy write "$dir/double.npy" '<f8' 4 1 2 3 4
shows npy-size-follows '^\[11, 21, 31, 41, 51\]$' -- run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --out "$dir/ys.npy"
[ "$(npy show "$dir/ys.npy")" = "<i4 (5,) False 11 21 31 41 51" ] && ok npy-round-trip || bad npy-round-trip
shows npy-matrix '^rows\(n = 2, m = 3\)' -- run "$dir/matrix.rise" --arg "xss=$dir/six.npy"
shows npy-and-words '^\[2, 3, 4, 5\]$' -- run "$dir/axpy.rise" --arg a=1 --arg "xs=$dir/four.npy" --arg ys=ones
npy write "$dir/fours.npy" '<i4' 4 1 2 3 4
shows npy-linear 'pairs\(n = 1\)' -- run "$dir/pairs.rise" --arg "ps.1=$dir/four.npy" --arg "ps.2=$dir/fours.npy" --out "$dir/two.npy"
[ "$(npy show "$dir/two.1.npy") $(npy show "$dir/two.2.npy")" = "<i4 (4,) False 1 2 3 4 <f4 (4,) False 1.0 2.0 3.0 4.0" ] \
    && ok npy-two-results || bad npy-two-results
expect npy-not-linear 2 'E0625.*five.npy.*5 elements' -- run "$dir/pairs.rise" --arg "ps.1=$dir/five.npy" --arg ps.2=ones
expect npy-contradiction 2 'E0625' -- run "$dir/axpy.rise" --arg a=1 --arg "xs=$dir/four.npy" --arg "ys=$dir/five.npy"
if grep -q four.npy "$dir/err" && grep -q five.npy "$dir/err"; then ok npy-contradiction-names-both; else bad npy-contradiction-names-both; fi
expect npy-against-set 2 '--set n=9' -- run "$dir/ints.rise" --set n=9 --arg "xs=$dir/xs.npy"
expect npy-dtype 2 'E0627.*f64.*f32' -- run "$sum" --arg "xs=$dir/double.npy"
expect npy-rank 2 'E0627.*2 dimensions.*has 1' -- run "$dir/ints.rise" --arg "xs=$dir/six.npy"
cp "$sum" "$dir/program.npy"
expect npy-broken 2 'E0608' -- run "$dir/ints.rise" --arg "xs=$dir/program.npy"
expect text-broken 2 'E0671' -- run "$dir/ints.rise" --arg "xs=$sum"
expect npy-unwritable 2 'E0628' -- run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --out "$dir/no/ys.npy"
"$RISEC" run "$dir/ints.rise" --arg xs=- --json <"$dir/xs.npy" >"$dir/out" 2>"$dir/err" && grep -q '11, 21' "$dir/out" && ok npy-stdin || bad npy-stdin
"$RISEC" run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --out - >"$dir/piped.npy" 2>"$dir/err" && cmp -s "$dir/piped.npy" "$dir/ys.npy" \
    && ok npy-stdout || bad npy-stdout

# ---- comparing --------------------------------------------------------------------------------------------------
# --verify and --expect compare with the same code, so a result that was tampered with stands for a wrong one.
shows expect-same 'equals .*ys.npy' -- run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --expect "$dir/ys.npy"
npy write "$dir/bad.npy" '<i4' 5 11 21 32 41 52
expect expect-differs 1 'E0631.*at \[2\] differs: 31 on sim, 32 by' -- run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --expect "$dir/bad.npy"
npy write "$dir/bad.npy" '<i4' 4 11 21 31 41
expect expect-shape 1 'is 5.i32, and .* is 4.i32' -- run "$dir/ints.rise" --arg "xs=$dir/xs.npy" --expect "$dir/bad.npy"
npy write "$dir/bad.npy" '<f4' 2 64 6.001
expect expect-float-differs 1 'E0631.*\[1\] differs: 6 on sim, 6.001 by' -- run "$sum" --set n=70 --arg xs=ones --expect "$dir/bad.npy"
npy write "$dir/near.npy" '<f4' 2 64.00001 6
expect expect-float-exact 1 'E0631.*\[0\] differs: 64 on sim, 64.0000' -- run "$sum" --set n=70 --arg xs=ones --expect "$dir/near.npy"
expect out-near 0 '' -- run "$sum" --set n=70 --arg xs=uniform --out "$dir/near.npy"
python3 - "$dir/near.npy" <<'PY'
import sys
text = bytearray(open(sys.argv[1], "rb").read())
text[-8] ^= 1  # the lowest bit of the first of two floats
open(sys.argv[1], "wb").write(text)
PY
shows expect-float-near 'differs by at most .* \(relative .*\); bound ' -- run "$sum" --set n=70 --arg xs=uniform --expect "$dir/near.npy"
npy write "$dir/nan.npy" '<f4' 2 nan 6
expect expect-nan 1 'E0631.*64 on sim, nan by' -- run "$sum" --set n=70 --arg xs=ones --expect "$dir/nan.npy"
expect expect-json 1 'E0631' -- run "$sum" --set n=70 --arg xs=ones --expect "$dir/nan.npy" --json
python3 -c 'import json,sys; assert json.load(open(sys.argv[1]))["compared"]["verdict"] == "different"' "$dir/out" 2>"$dir/err" && ok expect-json-content || bad expect-json-content

# ---- memory -----------------------------------------------------------------------------------------------------
if (ulimit -v 300000 && "$RISEC" --version) >/dev/null 2>&1; then
    (ulimit -v 300000; "$RISEC" run "$dir/ints.rise" --set n=200000000 --arg xs=ones) >"$dir/out" 2>"$dir/err"
    [ $? -eq 4 ] && grep -q 'E0635.*takes 8800000000 bytes' "$dir/err" && ok no-room || bad no-room
    cat >"$dir/inside.rise" <<'END'
entry inside {n: nat} (x: f32): (n / 2^20).f32 where n % 2^20 == 0 =
  generate{n = n}(fun i => x) |> mapGlobal(fun y => y + 1) |> toGlobal |> split(2^20) |> mapGlobal(reduceSeq((+), 0))
END
    (ulimit -v 300000; "$RISEC" run "$dir/inside.rise" --set n=2^28 --arg x=1 --device ref) >"$dir/out" 2>"$dir/err"
    [ $? -eq 4 ] && grep -q 'out of memory' "$dir/err" && ok out-of-memory || bad out-of-memory
else
    echo "skip no-room: this build does not start with little memory (a sanitizer)"
    echo "skip out-of-memory: this build does not start with little memory (a sanitizer)"
fi
exit $failed
