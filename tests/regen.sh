#!/usr/bin/env bash
# tests/regen.sh [WORD...]: writes the goldens again that exist and whose names have one of the words. For a new one, `touch` it first.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# shellcheck source=../tools/setup.sh
. "$ROOT/tools/setup.sh"

install_missing tests
build release risec
exec python3 "$ROOT/tests/run_tests.py" --regen "$@"
