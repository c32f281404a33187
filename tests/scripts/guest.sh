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
exit $failed
