#!/bin/sh
# PTX and cubins ahead of time, and the cache behind them. RISEC is the binary, RISEC_SAN the one with sanitizers.
#
# Most of it goes through a library that stands in for NVRTC, built here, so that it is the same on all machines. What needs the true one is
# skipped by name where there is none.
RISEC=${RISEC:?set RISEC to the risec binary}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
CC=${CC:-cc}
failed=0

ok() { echo "ok $1"; }
bad() { echo "not ok $1"; failed=1; [ -z "$2" ] || echo "# $2"; sed 's/^/# /' "$dir/out" "$dir/err" 2>/dev/null | head -20; }
# expect NAME CODE PATTERN-OF-STDERR -- COMMAND...
expect() {
    name=$1 code=$2 pattern=$3
    shift 4
    "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -ne "$code" ]; then bad "$name" "exit code $got, wanted $code"
    elif [ -z "$pattern" ] && [ -s "$dir/err" ]; then bad "$name" "messages where there should be none"
    elif [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$dir/err"; then bad "$name" "no message like: $pattern"
    else ok "$name"; fi
}
same() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "got: $2; wanted: $3"; fi; }
count() { "$RISEC" cache --json | sed "s/.*\"$1\": \([0-9]*\).*/\1/"; }

unset CUDA_HOME CUDA_PATH LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX
XDG_CACHE_HOME=$dir/cache
TMPDIR=$dir/tmp
export XDG_CACHE_HOME TMPDIR
mkdir "$TMPDIR"
cat >"$dir/one.rise" <<'RISE'
entry one {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x + 1)
RISE
cd "$dir" || exit 2

# ---- a stand-in for NVRTC: its code is the text, and FAKE says which call fails with what ---------------------------------

mkdir fake gone
cat >fake.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int result(const char *call)
{
    const char *fake = getenv("FAKE");
    size_t n = strlen(call);
    return fake && strncmp(fake, call, n) == 0 && fake[n] == '=' ? atoi(fake + n + 1) : 0;
}
int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 5, result("version"); }
int nvrtcCreateProgram(char **p, const char *text, const char *name, int n, void *a, void *b)
{
    (void)name, (void)n, (void)a, (void)b;
    *p = malloc(strlen(text) + 1);
    return strcpy(*p, text), result("create");
}
int nvrtcDestroyProgram(char **p) { return free(*p), 0; }
int nvrtcCompileProgram(char *p, int n, const char **options)
{
    (void)p;
    for (int i = 0; getenv("FAKE_OPTIONS") && i < n; i++)
        printf("%s\n", options[i]);
    return result("compile");
}
int nvrtcGetProgramLogSize(char *p, size_t *n) { return (void)p, *n = sizeof "the log\n", 0; }
int nvrtcGetProgramLog(char *p, char *log) { return (void)p, strcpy(log, "the log\n"), 0; }
int nvrtcGetPTXSize(char *p, size_t *n) { return *n = strlen(p) + 1, result("size"); }
int nvrtcGetPTX(char *p, char *out) { return strcpy(out, p), result("code"); }
int nvrtcGetCUBINSize(char *p, size_t *n) { return *n = strlen(p), result("size"); }
int nvrtcGetCUBIN(char *p, char *out) { return memcpy(out, p, strlen(p)), result("code"); }
const char *nvrtcGetErrorString(int r) { return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER"; }
C
# A dlopen that finds no NVRTC, for machines that have one.
cat >gone.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int mode)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return name && strstr(name, "nvrtc") ? NULL : next(name, mode);
}
C
if ! "$CC" -shared -fPIC -o fake/libnvrtc.so.13 fake.c 2>err || ! "$CC" -shared -fPIC -o gone/gone.so gone.c -ldl 2>>err; then
    bad stand-in "it cannot be built"
    exit 1
fi
fake() { env LD_LIBRARY_PATH="$dir/fake" "$@"; }

fake "$RISEC" one.rise -o one.cu
expect ptx 0 '' -- fake "$RISEC" one.rise -o one.ptx
cmp -s one.cu one.ptx && ok ptx-text || bad ptx-text "not what the compiler made"
expect cubin 0 '' -- fake "$RISEC" one.rise -o one.cubin --arch=sm_90 -o one.json
cmp -s one.cu one.cubin && [ -s one.json ] && ok cubin-text || bad cubin-text "not what the compiler made"
same misses "$(count misses) $(count hits) $(count entries)" "2 0 2"
expect cached 0 '' -- env FAKE=compile=6 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o again.cubin --arch=sm_90
cmp -s one.cu again.cubin && ok cached-text || bad cached-text "not what the compiler made"
same hits "$(count misses) $(count hits) $(count entries)" "2 1 2"

"$RISEC" cache clear
same clear "$(count misses) $(count hits) $(count entries) $(ls "$dir/cache/rise")" "0 0 0 "
same options "$(env FAKE_OPTIONS=1 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o o.cubin --arch=sm_80 --line | tr '\n' ' ')" \
    "--gpu-architecture=sm_80 --std=c++17 --generate-line-info "
same options-ptx "$(env FAKE_OPTIONS=1 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o o.ptx | tr '\n' ' ')" "--gpu-architecture=compute_75 --std=c++17 "

# What fails: nothing is written, and the text that is refused is kept.
rm -f x.*
expect refused 70 'E0652.: a bug in risec, not in your program: NVRTC 13.5 refuses the CUDA C of one.cu' -- \
    env FAKE=compile=6 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o x.cubin --arch=sm_89 -o x.json
grep -q 'the log' err && ok refused-log || bad refused-log "the log is not shown"
kept=$(sed -n 's/.*the text is kept in \([^;]*\);.*/\1/p' err)
[ -n "$kept" ] && cmp -s "$kept" one.cu && ok refused-text || bad refused-text "the text is not kept"
expect fails 3 'E0653.: nvrtcCompileProgram of NVRTC 13.5 fails on one.cu' -- \
    env FAKE=compile=7 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o x.ptx --arch=sm_86 -o x.json
expect fails-code 3 'E0653.: nvrtcGetPTX of NVRTC 13.5 fails' -- env FAKE=code=1 LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o x.ptx --arch=sm_86 -o x.json
expect missing 3 'E0650.: there is no NVRTC.*libnvrtc.so.13, libnvrtc.so.12' -- env LD_PRELOAD="$dir/gone/gone.so" XDG_CACHE_HOME="$dir/none" "$RISEC" one.rise -o x.ptx -o x.json
grep -q 'o FILE.cu' err && ok missing-help || bad missing-help "no way out is told"
same nothing-written "$(ls x.* 2>/dev/null)" ""

# ---- the cache as a user sees it -------------------------------------------------------------------------------------------

expect cache-show 0 '' -- "$RISEC" cache
grep -Eq "^directory +$dir/cache/rise$" out && ok cache-directory || bad cache-directory "it is not shown"
"$RISEC" cache --json >out
if python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(sorted(d) != ["bytes", "directory", "entries", "hits", "limit", "misses"])' out
then ok cache-json; else bad cache-json "other keys"; fi
expect cache-none 2 'E0654.: there is no cache' -- env -u XDG_CACHE_HOME -u HOME "$RISEC" cache
expect cache-new 0 '' -- env XDG_CACHE_HOME="$dir/none" "$RISEC" cache clear
[ ! -e "$dir/none" ] && ok cache-not-made || bad cache-not-made "looking at the cache made it"
chmod 777 "$dir/cache/rise"
expect cache-open 2 'E0654.*nobody else may write' -- "$RISEC" cache
expect cache-open-works 0 '' -- fake "$RISEC" one.rise -o one.ptx
chmod 700 "$dir/cache/rise"
expect cache-word 2 'E0621' -- "$RISEC" cache empty
expect no-home 0 '' -- env -u XDG_CACHE_HOME -u HOME LD_LIBRARY_PATH="$dir/fake" "$RISEC" one.rise -o one.ptx

# ---- NVIDIA's own ------------------------------------------------------------------------------------------------------------

"$RISEC" "$root/examples/sum.rise" -o sum.ptx >out 2>err
status=$?
if [ $status -eq 3 ] && grep -q 'E0650' err; then
    for name in nvrtc-ptx nvrtc-cubin nvrtc-lines nvrtc-arch nvrtc-frames nvrtc-frames-header nvrtc-frames-near; do
        echo "skip $name: no NVRTC on this machine"
    done
else
    [ $status -eq 0 ] && grep -q '^\.target sm_75' sum.ptx && grep -q '^\.visible \.entry' sum.ptx && ok nvrtc-ptx || bad nvrtc-ptx "no PTX for sm_75"
    expect nvrtc-cubin 0 '' -- "$RISEC" "$root/examples/sum.rise" -o sum.cubin --arch=sm_90
    same nvrtc-elf "$(head -c 4 sum.cubin | od -An -tx1 | tr -d ' ')" 7f454c46
    "$RISEC" "$root/examples/sum.rise" -o sum.ptx --line 2>err
    grep -q '\.file.*sum\.rise' sum.ptx && ok nvrtc-lines || bad nvrtc-lines "the PTX names no line of sum.rise"
    expect nvrtc-arch 2 'E0651.: NVRTC .* and not for sm_999' -- "$RISEC" "$root/examples/sum.rise" -o sum.cubin --arch=sm_999
    expect nvrtc-frames 0 'W0712.: on sm_90, each thread of `long' -- "$RISEC" "$root/tests/check/w0705.rise" -o long.cubin --arch=sm_90
    expect nvrtc-frames-header 0 'W0712.: on sm_90, each thread of `long' -- "$RISEC" "$root/tests/check/w0705.rise" -o long.h --arch=sm_90
    expect nvrtc-frames-near 0 '' -- "$RISEC" "$root/examples/high/rows.rise" -o rows.cubin --arch=sm_90
fi
exit $failed
