#!/usr/bin/env bash
# ./test.sh [WORD...]: builds risec, plainly and with sanitizers, and runs the tests (those with one of the words in their names).
# The last line is `N passed, N failed` or `N passed, N failed, N skipped`. RISEC_WERROR=ON makes warnings errors, from then on.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tools/setup.sh
. "$ROOT/tools/setup.sh"

install_missing tests
for preset in release sanitize; do
    if ! build "$preset" all ${RISEC_WERROR:+"-DRISEC_WERROR=$RISEC_WERROR"}; then
        echo '0 passed, 1 failed'
        exit 1
    fi
done
exec python3 "$ROOT/tests/run_tests.py" "$@"
