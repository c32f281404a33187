#!/usr/bin/env python3
"""What shells and man know of risec: all of it is made from the tables of verbs and options, and from rise.h.

completion-bash, -zsh   words that a person types, and a tab: the line that the shell makes of them, on a terminal
completion-fish         the same by `complete -C`
completion-options      each shell knows each option of each verb
man-verbs               there is a page for each verb, with all of its options and no others
man-header              rise.h(3) has all functions and types of the header, and every word of its comments
man-warnings            groff has nothing to say about any page

RISEC and BUILD name what was built."""
import glob
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.path.abspath(os.environ.get("BUILD", f"{ROOT}/build")), "release")
RISEC = os.path.abspath(os.environ.get("RISEC", f"{BUILD}/risec"))
PAGES = f"{BUILD}/pages"
FILES = ("sum.rise", "data.npy", "notes.txt", "kept/")
# What is typed before the tab, and the line after it.
LINES = [
    ("risec ru", "risec run "),
    ("risec run --dev", "risec run --device="),
    ("risec run --device=g", "risec run --device=gpu "),
    ("risec run --device re", "risec run --device ref "),
    ("risec run --verify-", "risec run --verify-each "),
    ("risec check su", "risec check sum.rise "),
    ("risec su", "risec sum.rise "),
    ("risec run sum.rise --expect=da", "risec run sum.rise --expect=data.npy "),
    ("risec bench --keep ke", "risec bench --keep kept/"),
    ("risec fmt --dev", "risec fmt --dev"),
    ("risec explain E030", "risec explain E030"),
    ("risec explain E0303", "risec explain E0303 "),
    ("risec help environ", "risec help environment "),
    ("risec cache cl", "risec cache clear "),
]
failed = False


def say(name, good, why=""):
    global failed
    failed = failed or not good
    print(f"{'ok' if good else 'not ok'} {name}")
    if not good:
        print("".join(f"# {line}\n" for line in why.splitlines()[-30:]), end="")


def run(*argv, **how):
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, **how)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def said(*words):
    return run(RISEC, "help", *words).stdout


# ---- on a terminal -----------------------------------------------------------------------------------------------------

# Each shell gets a key, Control-T, that writes the line as it stands to the file `line` and clears it.
SET_UP = {
    "bash": "PS1=; bind 'set bell-style none'; source '{pages}/completion.bash'; "
            "keep() {{ printf '%s\\n' \"$READLINE_LINE\" >line.new; mv line.new line; READLINE_LINE=; }}; bind -x '\"\\C-t\": keep'\n",
    "zsh": "PS1=; unsetopt beep; fpath=({folder}/functions $fpath); autoload -U compinit; compinit -u -D; "
           "keep() {{ print -r -- \"$BUFFER\" >line.new; mv line.new line; BUFFER= }}; zle -N keep; bindkey '^T' keep\n",
}
START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}


class Terminal:
    def __init__(self, argv, folder):
        self.folder = folder
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, {**os.environ, "TERM": "xterm", "HOME": folder, "LC_ALL": "C.UTF-8", "HISTFILE": "/dev/null"})
        self.pid = pid

    def line(self, keys):
        """The line after these keys, or what came instead of one."""
        path = f"{self.folder}/line"
        if os.path.exists(path):
            os.remove(path)
        os.write(self.fd, keys.encode() + b"\x14")
        end = time.monotonic() + 60
        shown = b""
        while not os.path.exists(path):
            if select.select([self.fd], [], [], 0.05)[0]:
                shown += os.read(self.fd, 4096)
            if time.monotonic() > end:
                return shown.decode("utf-8", "replace")
        return read(path)[:-1]

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def on_terminal(shell, folder):
    terminal = Terminal(START[shell], folder)
    os.write(terminal.fd, SET_UP[shell].format(pages=PAGES, folder=folder).encode())
    terminal.line("")
    wrong = []
    for typed, wanted in LINES:
        line = terminal.line(typed + "\t")
        # Where several words fit, a shell stays at what they share.
        if line.rstrip() != wanted.rstrip() or wanted.endswith(" ") != line.endswith(" "):
            wrong.append(f"{typed!r} became {line!r}, not {wanted!r}")
    terminal.close()
    say(f"completion-{shell}", not wrong, "\n".join(wrong))


def fish(folder):
    wrong = []
    for typed, wanted in LINES:
        done = run("fish", "--no-config", "-c", f"source '{PAGES}/completion.fish'; complete -C '{typed}'", cwd=folder,
                   env={**os.environ, "HOME": folder})
        found = [line.split("\t")[0] for line in done.stdout.splitlines()]
        last = wanted.split()[-1]
        if last.startswith("--") and last.endswith("="):
            last = last[:-1]  # fish leaves the sign to the person
        good = last in found if wanted != typed else len(found) != 1
        if not good:
            wrong.append(f"{typed!r}: {found} {done.stderr}, without {last!r}")
    say("completion-fish", not wrong, "\n".join(wrong))


def completions():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        for name in FILES:
            if name.endswith("/"):
                os.mkdir(f"{folder}/{name}")
            else:
                open(f"{folder}/{name}", "w").close()
        os.mkdir(f"{folder}/functions")
        shutil.copyfile(f"{PAGES}/completion.zsh", f"{folder}/functions/_risec")
        for shell in START:
            if shutil.which(shell):
                on_terminal(shell, folder)
            else:
                print(f"skip completion-{shell}: no {shell}")
        if shutil.which("fish"):
            fish(folder)
        else:
            print("skip completion-fish: no fish")


# ---- from the tables ----------------------------------------------------------------------------------------------------


def verbs():
    """The words behind `risec` at the start of its help, but for the forms without one."""
    return re.findall(r"^  risec ([a-z]+)\b", said("options").split("\nOptions")[0], re.M)


def options(verb):
    return set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", said(verb), re.M))


def every_option():
    missing = []
    shells = {shell: read(f"{PAGES}/completion.{shell}") for shell in ("bash", "zsh", "fish")}
    for verb in ["compile", *verbs()]:
        name = r"\*" if verb == "compile" else verb
        for option in options(verb):
            patterns = {
                "bash": rf"^    {name}\) options='[^']* --{option}[= ']",
                "zsh": rf"^  {name}\)\n(?:    .*\n)*      '\*?--{option}[=\[]",
                "fish": rf"^complete -c risec.* -l {option} ",
            }
            missing += [f"{shell}: {verb} --{option}" for shell, text in shells.items() if not re.search(patterns[shell], text, re.M)]
    say("completion-options", len(verbs()) >= 10 and not missing, "\n".join(missing))


def verb_pages():
    wrong = []
    for verb in ["compile", "version", *verbs()]:
        path = f"{PAGES}/man1/risec{'' if verb == 'compile' else '-' + verb}.1"
        if not os.path.exists(path):
            wrong.append(f"there is no {os.path.basename(path)}")
            continue
        page = read(path)
        section = re.search(r"^\.SH OPTIONS\n(.*?)^\.SH", page, re.M | re.S)[1]
        has = {name.replace("\\", "") for name in re.findall(r"^\.TP\n.*?\\-\\-([a-z\\-]+)\\fR", section, re.M)}
        if has != options(verb) or not has:
            wrong.append(f"{verb}: {has ^ options(verb)}")
    made = len(glob.glob(f"{PAGES}/man1/*.1"))
    say("man-verbs", not wrong and made == len(verbs()) + 2, "\n".join(wrong) + f"\n{made} pages")


def plain(text):
    """The words of a text, whatever its signs."""
    return re.findall(r"[A-Za-z_]\w*", text)


def header_page():
    header, page = read(f"{ROOT}/runtime/include/rise.h"), read(f"{BUILD}/rise.h.3")
    bold = " ".join(re.findall(r"\\fB(.*?)\\fR", page)).replace("\\-", "-")
    names = re.findall(r"^RISE_API .*?(rise_\w+)\(", header, re.M) + re.findall(r"^} (rise_\w+);", header, re.M)
    missing = [name for name in names if name not in bold]
    shown = re.sub(r"\\f[BR]|^\.\w+", "", page, flags=re.M)
    shown = set(plain(shown.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace("\\&", "")))
    comments = " ".join(re.findall(r"/\*(?! ----)(.*?)\*/", header, re.S))
    missing += sorted(set(plain(comments)) - shown - {"librise"})
    say("man-header", len(names) > 60 and not missing, " ".join(missing))


def warnings():
    if not shutil.which("groff"):
        return print("skip man-warnings: no groff")
    wrong = ""
    pages = [*sorted(glob.glob(f"{PAGES}/man1/*.1")), f"{BUILD}/rise.h.3"]
    for page in pages:
        done = run("groff", "-man", "-Tutf8", "-ww", "-z", page)
        wrong += done.stderr + ("" if done.returncode == 0 else page)
    say("man-warnings", not wrong and len(pages) > 10, wrong)


every_option()
verb_pages()
header_page()
warnings()
completions()
sys.exit(failed)
