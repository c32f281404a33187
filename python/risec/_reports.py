"""Plans, traces and profiles: what `risec` says of an entry, as objects that print and that Jupyter
shows.
"""
from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Tuple

from . import _arguments, _errors

if TYPE_CHECKING:
    from ._entry import Entry

HERE = os.path.dirname(os.path.abspath(__file__))


def command() -> str:
    """The `risec` of this package; else $RISEC; else that of the PATH."""
    own = os.path.join(HERE, "bin", "risec")
    found = os.environ.get("RISEC") or (own if os.path.exists(own) else shutil.which("risec"))
    if not found:
        raise _errors.FileError(
            "there is no `risec` beside the package, nor in the PATH; RISEC can name one"
        )
    return found


class _Report:
    """Text, and the same as data."""

    def __init__(self, text: str, data: Dict[str, Any]) -> None:
        self.text, self.data = text, data

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        kind = type(self).__name__.lower()
        return f"<risec {kind} of {self.data.get('entry')}: print it, or see .data>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class Plan(_Report):
    """What an entry becomes: arrays that are stored or not and why, kernels, and launches by sizes.
    """

    @property
    def kernels(self) -> int:
        """How many kernels are launched one after the other, at most."""
        return self.data["kernels"]

    @property
    def stored(self) -> Tuple[str, ...]:
        """The arrays that lie in global memory between kernels."""
        return tuple(
            a["name"] for a in self.data["arrays"] if a["place"] not in ("input", "result")
        )


class Trace(_Report):
    """The steps that lower an entry."""

    @property
    def steps(self) -> Sequence[Mapping[str, Any]]:
        return self.data["steps"]


class Profile(_Report):
    """What a GPU would do, counted on the simulator: memory traffic, bank conflicts, divergence,
    instructions.
    """

    @property
    def totals(self) -> Mapping[str, float]:
        return self.data["profile"]["totals"]


class _Workplace:
    """A folder with the program, where `risec` runs."""

    def __init__(self, entry: "Entry") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="risec-")
        text, name = entry._program.source
        self.program = name
        if text is not None:
            base = os.path.basename(name) or "text.rise"
            self.program = self.file(base if base.endswith(".rise") else f"{base}.rise", text)
        self._entry, o = entry.name, entry.options
        self.words: List[str] = [w for n, v in o.settings for w in ("--set", f"{n}={v}")]
        self.words += ["--strategy", o.strategy] if o.strategy else []
        self.words += ["--costs", self.file("costs.rise", o.costs)] if o.costs else []

    def __enter__(self) -> "_Workplace":
        self._folder.__enter__()
        return self

    def __exit__(self, *about: Any) -> None:
        self._folder.__exit__(*about)

    def path(self, name: str) -> str:
        return os.path.join(self._folder.name, name)

    def file(self, name: str, text: str) -> str:
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def risec(self, verb: str, *words: str) -> str:
        argv = [command(), verb, self.program, self._entry, *self.words, *words]
        done = subprocess.run(
            argv,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "NO_COLOR": "1"},
        )
        if done.returncode:
            said = (
                done.stderr.strip()
                or done.stdout.strip()
                or f"`{' '.join(argv)}` ended with {done.returncode}"
            )
            raise (_errors.FaultError if done.returncode == 3 else _errors.ProgramError)(said)
        return done.stdout


def _both(place: _Workplace, kind: type, verb: str, *words: str) -> Any:
    return kind(place.risec(verb, *words), json.loads(place.risec(verb, *words, "--json")))


def plan(entry: "Entry", sizes: Mapping[str, int]) -> Plan:
    with _Workplace(entry) as place:
        given = [w for name, value in sizes.items() for w in ("--set", f"{name}={int(value)}")]
        return _both(place, Plan, "lower", "--plan", *given)


def trace(entry: "Entry") -> Trace:
    with _Workplace(entry) as place:
        return _both(place, Trace, "lower", "--trace")


def profile(entry: "Entry", args: Tuple[Any, ...], named: Dict[str, Any]) -> Profile:
    import numpy as np

    s = entry.signature
    values, sizes = _arguments.bind(entry.name, s, args, named)
    with _Workplace(entry) as place:
        words = [w for name, value in sizes.items() for w in ("--set", f"{name}={value}")]
        for k, (a, value) in enumerate(zip(s.inputs, values)):
            said = str(value).lower()
            if a.rank or not isinstance(value, (bool, int, float)):
                said = place.path(f"{k}.npy")
                np.save(said, np.asarray(value))
            words += ["--arg", f"{a.name}={said}"]
        words += ["--untuned"] if entry.options.untuned else []
        return _both(place, Profile, "run", "--device=sim", "--profile", *words)


def main() -> int:
    """The command `risec`."""
    import sys

    path = command()
    os.execv(path, [path, *sys.argv[1:]])
