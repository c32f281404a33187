#!/usr/bin/env bash
# ./test.sh editor: what editors make of risec. Prints `ok`, `not ok` and `skip NAME: reason` as
# scripts do, and a last line with the numbers of them.
#
#   - The words in the grammars are the compiler's.
#   - The TextMate grammar, Vim's and Emacs's give each token of each .rise of the tree the class
#     that the lexer gives it. With a word taken out, a difference is found.
#   - Neovim's client and vscode-jsonrpc talk to `risec lsp`.
#   - The extension of VS Code runs on stand-ins, and is packed.
#
# Node's packages come from editors/vscode/package-lock.json, by `npm ci --ignore-scripts` where they
# are missing and EDITOR_OFFLINE is not set. What is not there (Node, Neovim, Emacs, the network) is
# skipped by name.
set -uo pipefail
ROOT=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
export ROOT RISEC=${RISEC:-$ROOT/build/release/risec} LC_ALL=C.UTF-8
HERE=$ROOT/tests/editor
EXTENSION=$ROOT/editors/vscode
MODULES=$EXTENSION/node_modules
GRAMMAR=$EXTENSION/rise.tmLanguage.json
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export FILES=$scratch/files SAID=$scratch/said
export XDG_CACHE_HOME=$scratch/cache XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data
log=$scratch/log
: >"$log"

say() { printf '%s\n' "$*" | tee -a "$log"; }
have() { command -v "$1" >/dev/null 2>&1; }

PATH=$(dirname "$RISEC"):$PATH
served=yes
if "$RISEC" lsp </dev/null 2>&1 | grep -q E0680; then
    served=
fi
export served

list_programs() {
    cd "$ROOT" &&
        { git ls-files '*.rise' 2>/dev/null || find . -name '*.rise' -not -path './build/*'; }
}
(list_programs) | sed "s|^|$ROOT/|" >"$FILES"

# result NAME COMMAND...: ok, or what it printed
result() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        say "ok $name"
    else
        say "not ok $name"
        tail -n 20 <<<"$out" | sed 's/^/# /'
    fi
}

modules() {
    have node && have npm || { reason='no Node here'; return 1; }
    [ -d "$MODULES/vscode-textmate" ] && return 0
    [ -z "${EDITOR_OFFLINE:-}" ] || { reason='its packages are not installed'; return 1; }
    (cd "$EXTENSION" && npm ci --ignore-scripts) >"$scratch/npm" 2>&1 && return 0
    reason='npm ci could not install its packages'
    return 1
}

# The same grammar without one of its words is found.
planted() {
    sed 's/|transpose|/|/' "$GRAMMAR" >"$scratch/planted.json"
    ! cmp -s "$GRAMMAR" "$scratch/planted.json" &&
        node "$HERE/grammar.js" "$RISEC" "$MODULES" "$scratch/planted.json" \
            "$ROOT"/examples/*.rise |
        grep -q 'transpose.* is primitive, and has name'
}

packed() {
    cp -r "$EXTENSION" "$scratch/vscode" && cp "$ROOT/LICENSE" "$scratch/vscode" &&
        cd "$scratch/vscode" && npm run pack && python3 - <<'PYTHON'
import sys, zipfile
names = set(zipfile.ZipFile("rise.vsix").namelist())
wanted = {"extension.js", "rise.tmLanguage.json", "language-configuration.json", "package.json",
          "LICENSE.txt", "node_modules/vscode-languageclient/package.json",
          "node_modules/vscode-jsonrpc/package.json"}
missing = sorted(x for x in wanted if "extension/" + x not in names)
extra = sorted(x for x in names if "vsce" in x or "textmate" in x)
print("missing:", missing, "extra:", extra[:5])
sys.exit(bool(missing or extra))
PYTHON
}

# As docs/editors.md sets it up: messages become a list of places, gq formats.
vim_works() {
    printf 'entry  e {n: nat} (xs: n.f32): n.f32 = xs |> map(g)\n' >"$scratch/a.rise"
    sed -n '/^```vim$/,/^```$/p' "$ROOT/docs/editors.md" | grep -v '^```' |
        sed "s|/path/to/risec|$ROOT|" >"$scratch/vimrc"
    cat >"$scratch/try.vim" <<'VIM'
filetype plugin on
syntax on
execute 'edit' $SCRATCH . '/a.rise'
silent make!
let place = getqflist()[0]
normal! gqG
let where = place.lnum . ':' . place.col . ' ' . place.type
call writefile([&filetype, where, getline(1), b:current_syntax], $SCRATCH . '/tried')
qall!
VIM
    SCRATCH=$scratch timeout 60 vim -es -N -u "$scratch/vimrc" -i NONE -n \
        -S "$scratch/try.vim" </dev/null
    cat "$scratch/tried"
    printf '%s\n' rise '1:50 e' 'entry e {n: nat} (xs: n.f32): n.f32 = xs |> map(g)' rise |
        cmp - "$scratch/tried"
}

result editor-words python3 "$HERE/words.py"
if modules; then
    mapfile -t programs <"$FILES"
    node "$HERE/grammar.js" "$RISEC" "$MODULES" "$GRAMMAR" "${programs[@]}" | tee -a "$log"
    result editor-grammar-planted planted
    if [ -z "$served" ]; then
        say 'skip editor-rpc: risec is built without libjansson'
    else
        node "$HERE/rpc.js" "$RISEC" "$MODULES" | tee -a "$log"
    fi
    result editor-vscode-extension node "$HERE/extension.js" "$EXTENSION"
    result editor-vscode-packed packed
else
    for name in grammar grammar-planted rpc vscode-extension vscode-packed; do
        say "skip editor-$name: $reason"
    done
fi
if have nvim; then
    : >"$SAID"
    timeout 600 nvim --headless -u NONE -i NONE -n -c "luafile $HERE/nvim.lua" >"$scratch/nvim" 2>&1
    if ! grep -q 'editor-vim-syntax' "$SAID"; then
        say 'not ok editor-neovim'
        sed 's/^/# /' "$scratch/nvim"
    fi
    tee -a "$log" <"$SAID"
else
    for name in neovim vim-syntax; do say "skip editor-$name: no Neovim here"; done
fi
if have vim && vim --version | grep -q '+quickfix'; then
    result editor-vim vim_works
else
    say 'skip editor-vim: no Vim here'
fi
if have emacs; then
    timeout 600 emacs --batch -Q -l "$HERE/emacs.el" 2>/dev/null | tee -a "$log"
else
    say 'skip editor-emacs: no Emacs here'
fi

count() { grep -c "^$1 " "$log"; }
passed=$(count ok) failed=$(count 'not ok') skipped=$(count skip)
echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped skipped")"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
