#!/usr/bin/env bash
# Puts into a new folder what tests/gpu/validate.sh needs on another machine: some 15 MB, nothing of it built there.
#
#     tests/gpu/carry.sh DIR [BUILD]        BUILD: build/release
#     DIR/validate.sh [REPORT.md] [STAGE...]      there
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
DIR=$(realpath -m "${1:?name a new folder}")
BUILD=$(realpath "${2:-$ROOT/build/release}")
[ ! -e "$DIR" ] || { echo "$DIR is there already"; exit 2; }
cd "$ROOT"
mkdir -p "$DIR/build/release/gpu" "$DIR/build/release/runtime" "$DIR/runtime" "$DIR/docs" "$DIR/tests"
cp "$BUILD/risec" "$DIR/build/release"
cp "$BUILD"/gpu/gpu_{check,large,smoke} "$DIR/build/release/gpu"
cp -a "$BUILD"/runtime/librise.so* "$DIR/build/release/runtime"
cp -r examples "$DIR"
mkdir "$DIR/python"
cp -r python/risec "$DIR/python"
mkdir -p "$DIR/bench"
cp -r bench/programs "$DIR/bench"
cp -r tests/{gpu,handwritten,nests,programs} "$DIR/tests"
mkdir "$DIR/tests/run" "$DIR/tests/scripts"
cp tests/run/order.rise "$DIR/tests/run"
cp tests/scripts/order.py "$DIR/tests/scripts"
cp -r runtime/include "$DIR/runtime"
cp docs/errors.md "$DIR/docs"
cmake --install "$BUILD" --prefix "$DIR/prefix" >/dev/null
revision=$(git rev-parse --short=10 HEAD 2>/dev/null || true)
cat >"$DIR/validate.sh" <<END
#!/usr/bin/env bash
cd "\$(dirname "\$0")"
REVISION='${revision:+commit $revision}' PREFIX=\$PWD/prefix exec tests/gpu/validate.sh build/release "\${1:-gpu-report.md}" "\${@:2}"
END
chmod +x "$DIR/validate.sh"
