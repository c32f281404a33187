#!/usr/bin/env bash
# ./test.sh [quick|all] [WORD...]: builds risec and runs the tests (those with one of the words in their names).
#   quick       the release build only: unit tests, goldens, 300 random programs; a minute or two
#   (neither)   also the build with sanitizers, and the scripts: about 35 minutes on two cores
#   all         more of everything, for hours: docs/testing.md says of what
# ./test.sh editor: what editors make of risec (tests/editor/run.sh)
# ./test.sh packages: packages, wheel, release and headers in fresh Debians (tests/packages/run.sh)
# ./test.sh site: the pages as a site (tests/site/run.sh)
# The last line is `N passed, N failed` or `N passed, N failed, N skipped`. RISEC_WERROR=ON makes warnings errors, from then on.
set -euo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
# shellcheck source=tools/setup.sh
. "$ROOT/tools/setup.sh"

if [ "${1:-}" = editor ]; then
    install_missing tests
    build release risec
    exec "$ROOT/tests/editor/run.sh"
fi
if [ "${1:-}" = packages ]; then
    shift
    [ -n "${PACKAGES_OFFLINE:-}" ] || install_missing packages
    build release risec
    exec "$ROOT/tests/packages/run.sh" "$@"
fi
if [ "${1:-}" = site ]; then
    exec "$ROOT/tests/site/run.sh"
fi
level=whole
case ${1:-} in
quick | all)
    level=$1
    shift
    ;;
esac
presets=(release)
how=(--level "$level")
install_missing tests
if [ "$level" != quick ]; then
    if has_sanitizers "${CC:-cc}"; then
        presets+=(sanitize)
    else
        how+=(--no-sanitizers "${CC:-cc} does not link -fsanitize=address,undefined")
    fi
fi
for preset in "${presets[@]}"; do
    if ! build "$preset" all ${RISEC_WERROR:+"-DRISEC_WERROR=$RISEC_WERROR"}; then
        echo '0 passed, 1 failed'
        exit 1
    fi
done
exec python3 "$ROOT/tests/run_tests.py" "${how[@]}" "$@"
