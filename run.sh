#!/usr/bin/env bash
# ./run.sh FILE.rise [ENTRY] [options of `risec run`]: builds risec, installing what that needs, and runs a program.
# `./run.sh FILE.rise --help` says more.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tools/setup.sh
. "$ROOT/tools/setup.sh"

[ -x "$ROOT/build/release/risec" ] || install_missing
build release risec
exec "$ROOT/build/release/risec" run "$@"
