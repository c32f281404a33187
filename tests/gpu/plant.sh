#!/usr/bin/env bash
# Plants the faults that compute-sanitizer must find: one change each to what risec emits for examples/sum.rise.
#
#     tests/gpu/plant.sh RISEC FOLDER       writes FOLDER/{clean,memcheck,racecheck,initcheck,synccheck}.cu
#
# Fails where the text has no place for a fault. planted.cu launches them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
risec=${1:?name risec} folder=${2:?name a folder}
text=$folder/clean.cu
mkdir -p "$folder"
"$risec" "$root/examples/sum.rise" -o "$text"
awk '!done && sub(/full_or_not\(block\*1024 \+ 1024 <= n,/, "full_or_not(true,") { done = 1 } { print }' "$text" >"$folder/memcheck.cu"
awk '/__syncthreads\(\);/ && ++seen == 2 { next } { print }' "$text" >"$folder/racecheck.cu"
awk '/__syncthreads\(\);/ && ++seen == 2 { sub(/__syncthreads/, "if (threadIdx.x < 40) __syncthreads") } { print }' "$text" \
    >"$folder/synccheck.cu"
for kind in memcheck racecheck synccheck; do
    ! cmp -s "$text" "$folder/$kind.cu" || { echo "not ok planted-$kind: the text has no such place"; exit 1; }
done
cp "$text" "$folder/initcheck.cu" # run with an input that nobody wrote
echo "# planted: memcheck racecheck initcheck synccheck"
