#!/bin/bash
# Planted faults in many programs, one process for each program, as many at once as there are processors:
#
#     faults_all.sh TEST_FAULTS SURVIVORS OUT SECONDS PROGRAM.rise...
#
# appends a part for each program that is done to OUT: `== PROGRAM: N s, exit code N` and what test_faults said. Programs with such a part are not
# run again, and after SECONDS what is not done is stopped: call it again until it is all done. Then the end of OUT, and what is printed, are the
# totals (with PARTS=N in the environment, the programs that take longest are done in N parts, each of which plants every N-th fault); until then the programs that are missing are printed. The exit code is 0 when all are done and have nothing left, 1 when a program has
# something left, 2 when some are not done.
set -u
test=$1 survivors=$2 out=$3 seconds=$4
shift 4

# Those that take longest come first; in parts they come last.
long='examples/(argmax|softmax_registers|matmul_registers|mean_variance|column_totals|argmin|layer_norm|device_scan|nrm2)\.rise|tests/programs/(high_views|high_scatters|device_fold|scan_blocks|computed_indices)\.rise'

touch "$out"
sed -i '/^== all/,$d' "$out"
is_done() { grep -qF "== $1: " "$out"; }

# Launches that some faults want and that are hardly drawn: 961 to 1023 and 241 to 255 parts of 4096 rows.
extra() { case $1 in examples/column_totals.rise) echo --sizes 4000000,4 --sizes 1000000,1 ;; esac; }

one() { # PROGRAM or PROGRAM#PART
    local program=$1 file=${1%#*} part='' left=$((deadline - $(date +%s))) log start
    [ "$left" -gt 1 ] || return 0
    [ "$file" = "$program" ] || part="--every $PARTS --part ${program#*#}"
    log=$(mktemp) start=$(date +%s)
    timeout "$left" "$test" --survivors "$survivors" $(extra "$file") $part "$file" > "$log" 2>&1
    local code=$?
    [ "$code" = 124 ] || flock "$out" sh -c 'echo "== $1: $2 s, exit code $3"; cat "$4"' - "$program" $(($(date +%s) - start)) "$code" "$log" >> "$out"
    rm -f "$log"
}
export -f one extra
export PARTS=${PARTS:-1} test survivors out deadline=$(($(date +%s) + seconds))

parts=()
for p in "$@"; do
    if [ "$PARTS" -gt 1 ] && [[ $p =~ ^($long)$ ]]; then
        for ((k = 0; k < PARTS; k++)); do parts+=("$p#$k"); done
    else
        parts+=("$p")
    fi
done
set -- "${parts[@]}"
for p in "$@"; do is_done "$p" || echo "$p"; done > "$out.todo"
is_long() { grep "$@" -E "^($long)(#|\$)" "$out.todo"; }
{ if [ "$PARTS" -gt 1 ]; then is_long -v; is_long; else is_long; is_long -v; fi; } | xargs -r -P "$(nproc)" -I{} bash -c 'one {}'
rm -f "$out.todo"

missing=0
for p in "$@"; do is_done "$p" || { echo "not done: $p"; missing=$((missing + 1)); }; done
[ "$missing" = 0 ] || exit 2

# "barrier dropped 15 of 15, store index + 1 48 of 48": noticed and planted. What is not noticed in a program with nothing left is listed.
awk '
FNR == NR                { # SURVIVORS
    if (/^#/ || !/ -- /) next
    sub(/ -- .*/, ""); places = 1
    if (match($0, / \([0-9]+ places\)$/)) { places = substr($0, RSTART + 2) + 0; $0 = substr($0, 1, RSTART - 1) }
    listed[$0] = places; next
}
/^seen /                 { times = $2; sub(/^seen [0-9]+ of [0-9]+: /, ""); seen[$0] += times; next }
/^== .*#0: /             { in_parts[substr($2, 1, index($2, "#") - 1)] = 1 }
/^== /                   { program = $2; programs += $2 !~ /#[1-9]/; secs += $3; if ($NF != 0) bad[program] = $NF }
/^  [a-z].* of [0-9]+(,|$)/ && !/noticed: / {
    n = split($0, part, ", ")
    for (i = 1; i <= n; i++)
        if (match(part[i], / [0-9]+ of [0-9]+$/)) {
            kind = substr(part[i], 1, RSTART - 1); sub(/^ +/, "", kind)
            split(substr(part[i], RSTART + 1), number, " of ")
            if (!(kind in planted)) order[++kinds] = kind
            caught[kind] += number[1]; planted[kind] += number[2]
        }
}
/^  noticed: /           { for (i = 1; i < NF; i++) { if ($(i + 1) == "in" && $(i + 2) == "kernels") unreached += $i; if ($(i + 1) == "proved") none += $i } }
/^[0-9]+ survivors known/ { known += $1; far += $4 }
/is launched by no size/ { unrun[++n_unrun] = $0 }
/were not run|not run were/ { dropped[++n_dropped] = $0 }
/^faults: /              { wrong += $4; checks += $2 }
END {
    printf "== all: %d programs, %d s of processes\n", programs, secs
    printf "| fault | planted | noticed | listed |\n| --- | ---: | ---: | ---: |\n"
    for (i = 1; i <= kinds; i++) {
        k = order[i]
        if (planted[k]) printf "| %s | %d | %d | %d |\n", k, planted[k], caught[k], planted[k] - caught[k]
        all += planted[k]; noticed += caught[k]
    }
    printf "| together | %d | %d | %d |\n", all, noticed, all - noticed
    printf "%d listed survivors, %d of them out of reach; %d wrong; not planted: %d in kernels that no launch gets to, %d that are proved to change nothing\n", known, far, wrong, unreached, none
    for (i = 1; i <= n_unrun; i++) print unrun[i]
    for (i = 1; i <= n_dropped; i++) print dropped[i]
    for (line in listed)
        if ((substr(line, 1, index(line, ":") - 1) in in_parts) && seen[line] != listed[line])
            printf "something is left: %d of %d survive: %s\n", seen[line], listed[line], line
    for (p in bad) printf "something is left: %s exit code %s\n", p, bad[p]
}' "$survivors" "$out" > "$out.all" || exit 2
cat "$out.all" >> "$out"
cat "$out.all"
! grep -q "^something is left" "$out.all"
code=$?
rm -f "$out.all"
exit $code
