#!/bin/sh
# What a program may ask of the machine it is compiled on: the kinds of files that are read. RISEC names the binary.
RISEC=${RISEC:?set RISEC to the risec binary}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

ok() { echo "ok $1"; }
bad() { echo "not ok $1"; failed=1; [ -z "$2" ] || echo "# $2"; sed 's/^/# /' "$dir/out" "$dir/err" 2>/dev/null | head -20; }
# ends NAME CODE PATTERN COMMAND...: within 10 seconds, with that code and that text among the messages
ends() {
    name=$1 code=$2 pattern=$3
    shift 3
    timeout 10 "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -ne "$code" ]; then bad "$name" "exit code $got, wanted $code"
    elif [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$dir/err"; then bad "$name" "no message like: $pattern"
    else ok "$name"; fi
}

mkfifo "$dir/pipe" || exit 2
cat >"$dir/twice.rise" <<'RISE'
entry twice {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * 2)
RISE
echo 'import "pipe"' >"$dir/pipes.rise"
echo 'import "-"' >"$dir/dash.rise"
echo 'import "/dev/zero"' >"$dir/device.rise"

# ---- imports, and what lies beside a program ----------------------------------------------------------------------
ends import-pipe 1 'E0205.*pipe`: it is no regular file' "$RISEC" check "$dir/pipes.rise"
ends import-dash 1 'E0205.*-`: there is no such file' "$RISEC" check "$dir/dash.rise"
ends import-device 1 'E0205.*/dev/zero`: it is no regular file' "$RISEC" check "$dir/device.rise"
ends laws-pipe 2 'E0621.*has to be one' "$RISEC" check --laws /dev/null
cp "$dir/twice.rise" "$dir/tuned.rise"
mkfifo "$dir/tuned.rise.tune"
ends tuning-pipe 1 'E0660.*cannot be read' "$RISEC" run "$dir/tuned.rise" --set n=4 --arg xs=iota

# ---- what the command line names ----------------------------------------------------------------------------------
cat "$dir/twice.rise" >"$dir/pipe" &
ends file-pipe 0 '' "$RISEC" check "$dir/pipe"
wait
"$RISEC" check - <"$dir/twice.rise" >"$dir/out" 2>"$dir/err" && ok file-dash || bad file-dash
"$RISEC" run "$dir/twice.rise" --set n=4 --arg xs=iota --out "$dir/ys.npy" >"$dir/out" 2>"$dir/err" || bad npy
cat "$dir/ys.npy" >"$dir/pipe" &
ends arg-pipe 0 '' "$RISEC" run "$dir/twice.rise" --arg "xs=$dir/pipe"
wait
cat "$dir/ys.npy" >"$dir/pipe" &
ends expect-pipe 0 '' "$RISEC" run "$dir/twice.rise" --set n=4 --arg xs=iota --expect "$dir/pipe"
wait

# ---- Ctrl-C -------------------------------------------------------------------------------------------------------
cat >"$dir/endless.rise" <<'RISE'
entry f (x: f32): 1.f32 = generate{n = 1000000000000}(fun i => x) |> split(1000000000000) |> mapGlobal(reduceSeq((+), 0))
RISE
# The array of that one is too large for the reference.
cat >"$dir/long.rise" <<'RISE'
entry f (x: f32): f32 = generate{n = 10000000}(fun i => x) |> map(fun y => generate{n = 10000000}(fun j => y) |> reduceSeq(max, x)) |> reduceSeq(max, x)
RISE
cat >"$dir/interrupt.py" <<'PYTHON'
import glob, random, signal, subprocess, sys, time
risec, folder, seed = sys.argv[1], sys.argv[2], 20261122
print("# seed", seed)
random.seed(seed)


def interrupted(command, seconds, how=signal.SIG_DFL):
    """The exit code of a command that gets SIGINT after a while, and what it says; -2: it ended by the signal."""
    # A shell may have started us with the signal ignored.
    p = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, how), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(seconds)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=60)[1]
    return p.returncode, said


def check(name, good, *why):
    print("ok" if good else "not ok", name)
    if not good:
        print("#", *why)
    return good


good = True
for device, source in ("sim", "endless.rise"), ("ref", "long.rise"):
    code, said = interrupted([risec, "run", f"{folder}/{source}", "--arg", "x=1", "--device", device], 1)
    good &= check(f"interrupt-{device}", code == -2 and not said, code, said)
out = f"{folder}/out.cu"
whole = subprocess.run([risec, f"{folder}/twice.rise"], stdout=subprocess.PIPE).stdout
bad = []
for i in range(30):
    open(out, "w").write("old")
    code, said = interrupted([risec, f"{folder}/twice.rise", "-o", out], random.random() * 0.03)
    text = open(out, "rb").read()
    if code not in (0, -2) or text not in (b"old", whole) or (code == 0 and text != whole) or glob.glob(f"{folder}/.risec-*") or said:
        bad.append((code, text[:20], said))
good &= check("interrupt-output", not bad, bad[:3])
code, said = interrupted([risec, "check", f"{folder}/twice.rise"], 0, signal.SIG_IGN)
good &= check("interrupt-ignored", code == 0, code, said)
sys.exit(not good)
PYTHON
python3 "$dir/interrupt.py" "$RISEC" "$dir" || failed=1
exit $failed
