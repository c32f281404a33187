#!/usr/bin/env bash
# Rewrites the goldens that exist with what risec gives now. Read the difference before you commit it.
set -euo pipefail
exec python3 "$(dirname "${BASH_SOURCE[0]}")/run_tests.py" --regen
