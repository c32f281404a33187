"""What can go wrong: one exception class for each status of librise."""
from __future__ import annotations

from typing import Dict, NamedTuple, Optional, Sequence, Tuple, Type


class Diagnostic(NamedTuple):
    """One error or warning about the text of a program."""

    code: str  # "E0303": `risec explain E0303` says more
    file: str
    line: int  # from 1; 0: nowhere in particular
    column: int  # from 1, in bytes
    begin: int  # bytes [begin, end) of the file
    end: int
    message: str
    help: Optional[str]
    is_warning: bool

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        kind = "warning" if self.is_warning else "error"
        text = f"{place}{kind}[{self.code}]: {self.message}"
        return f"{text}\nhelp: {self.help}" if self.help else text


class RisecWarning(UserWarning):
    """A warning about a program, or about the device that runs it."""


class Error(Exception):
    """Base class of all errors of risec. `status` is the number of librise, `cuda` the driver's or
    0.
    """

    status = 0

    def __init__(self, text: str, cuda: int = 0) -> None:
        super().__init__(text)
        self.cuda = cuda


class ProgramError(Error):
    """The program is wrong. `diagnostics` has all errors and warnings, in order of the text."""

    status = 1

    def __init__(self, text: str, cuda: int = 0, diagnostics: Sequence[Diagnostic] = ()) -> None:
        self.diagnostics: Tuple[Diagnostic, ...] = tuple(diagnostics)
        errors = [d for d in self.diagnostics if not d.is_warning]
        self.first: Optional[Diagnostic] = errors[0] if errors else None
        super().__init__("\n".join(map(str, errors)) or text, cuda)

    @property
    def code(self) -> Optional[str]:
        """Of the first error: "E0303"."""
        return self.first.code if self.first else None

    @property
    def file(self) -> Optional[str]:
        return self.first.file if self.first else None

    @property
    def line(self) -> Optional[int]:
        return self.first.line if self.first else None

    @property
    def column(self) -> Optional[int]:
        return self.first.column if self.first else None

    @property
    def help(self) -> Optional[str]:
        return self.first.help if self.first else None


class ArgumentError(Error, ValueError):
    """A name, a size or a shape does not fit the program."""

    status = 2


class DeviceError(Error, RuntimeError):
    """There is no driver, no GPU, or none that can run the kernel; or the driver refused."""

    status = 3


class HostMemoryError(Error, MemoryError):
    """The host has too little memory."""

    status = 4


class DeviceMemoryError(Error, MemoryError):
    """The GPU has too little memory."""

    status = 5


class FileError(Error, OSError):
    """A file cannot be read."""

    status = 6


class NvrtcError(Error, RuntimeError):
    """There is no NVRTC, or none that knows the GPU's architecture."""

    status = 7


class FaultError(Error, RuntimeError):
    """The simulator found a race, an access out of bounds or the like."""

    status = 8

    def __init__(self, text: str, cuda: int = 0, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text, cuda)
        self.diagnostics: Tuple[Diagnostic, ...] = tuple(diagnostics)


class LostError(Error, RuntimeError):
    """The GPU stopped at a fault. CUDA gives this process no other context: start a new process."""

    status = 9


class CancelledError(Error, RuntimeError):
    """The work was given up, as somebody asked for that."""

    status = 10


class LimitError(Error, RuntimeError):
    """A launch goes beyond max_steps, max_memory or max_result."""

    status = 11


class BugError(Error, RuntimeError):
    """A bug of risec: please report it, with the text."""

    status = 70


BY_STATUS: Dict[int, Type[Error]] = {kind.status: kind for kind in Error.__subclasses__()}


def make(status: int, text: str, cuda: int, diagnostics: Sequence[Diagnostic]) -> Error:
    """The exception for a status."""
    kind = BY_STATUS.get(status, BugError)
    if issubclass(kind, (ProgramError, FaultError)):
        return kind(text, cuda, diagnostics)
    return kind(text, cuda)
