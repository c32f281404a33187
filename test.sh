#!/usr/bin/env bash
# ./test.sh: sets up and builds, with and without sanitizers, and runs all tests. Options go to tests/run_tests.py.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$ROOT/build"
. "$ROOT/tools/setup.sh"
install_missing python3
RISEC_CMAKE_OPTIONS="-DRISEC_WERROR=ON"
build_preset release
build_preset sanitize
exec python3 "$ROOT/tests/run_tests.py" "$@"
