#!/bin/bash
# Inside a root with the wheel in /test: a virtual environment over Debian's numpy, and no compiler.
. /test/report.sh
cd "$HERE" || exit 2
check tools install python3-venv python3-numpy
refuse no-compiler sh -c 'command -v cc || command -v gcc || command -v c++ || command -v clang'
refuse no-jansson sh -c "ldconfig -p | grep jansson"
check venv python3 -m venv --system-site-packages venv
check install venv/bin/pip install --no-index ./risec-*.whl
prints ten-lines right venv/bin/python ten_lines.py
prints risec 'risec 0.2' venv/bin/risec --version
prints lsp Content-Length sh -c "printf 'Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}' | venv/bin/risec lsp"
prints numpy /usr/lib/python3/dist-packages venv/bin/python -c 'import numpy; print(numpy.__file__)'
exit "$failed"
