#!/usr/bin/env bash
# ./run.sh FILE.rise [OPTIONS]: sets up and builds what is missing, then runs the program: `risec run FILE.rise OPTIONS`.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$ROOT/build"
. "$ROOT/tools/setup.sh"
install_missing
build_preset release risec
exec "$ROOT/build/release/risec" run "$@"
