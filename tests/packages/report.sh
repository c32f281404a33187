# Sourced by the scripts that run inside of a root: they say `ok NAME` or `not ok NAME` with what was printed.

HERE=/test
log=$HERE/log
failed=0

report() { # NAME STATUS: what was printed is in $log
    if [ "$2" -eq 0 ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        tail -n 20 "$log" | sed 's/^/# /'
        failed=1
    fi
}
check() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$log" 2>&1
    report "$name" $?
}
refuse() { # NAME COMMAND...: it must fail
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then report "$name" 1; else report "$name" 0; fi
}
prints() { # NAME TEXT COMMAND...
    local name=$1 wanted=$2
    shift 2
    "$@" >"$log" 2>&1
    grep -qF "$wanted" "$log"
    report "$name" $?
}
# Without a network: what is not here comes from apt's cache.
install() { apt-get install -q -y --no-install-recommends "$@"; }
