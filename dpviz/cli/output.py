"""Write the trace of a run to a file, whose room is reserved before anything is spent."""

from __future__ import annotations

import glob
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from dpviz.datasets.dictionary import is_dictionary
from dpviz.trace import Trace

__all__ = ["Output"]

_LEAST, _PER_RELEASE = 1_000_000, 4_000  # bytes; the traces of all algorithms at their defaults need less


class Output:
    """The file of `--json`, or none.

    Parameters
    ----------
    path : Path, or None if no file was requested
    stack : ExitStack that closes the file; if the run is refused, it leaves no file behind and an old one as it was

    Raises
    ------
    ValueError
        If the file cannot be written, holds a data dictionary, or now holds the trace of a run that was stopped.
    """

    def __init__(self, path: Path | None, stack: ExitStack) -> None:
        self._path, self._stack, self._part = path, stack, path
        if path:
            if is_dictionary(path):
                raise ValueError(
                    f"--json: {path} is a data dictionary and is never overwritten; give another name, such as "
                    f"{path.with_suffix('.run.json').name}. Nothing was spent."
                )
            if _cleared(path) or not path.exists():
                stack.callback(_remove_empty, path)
            try:
                stack.enter_context(path.open("a", encoding="utf-8"))
            except OSError:
                raise ValueError(f"--json: {path} cannot be written; nothing was spent.") from None

    def reserve(self, releases: int) -> None:
        """Reserve room for the trace of so many releases, because a release that cannot be stored is lost.

        Raises
        ------
        ValueError
            If there is not enough room, or standard output takes no more text.
        """
        sys.stdout.flush()  # what was said before the booking shows whether the rest can be said
        if self._path is None or not self._path.is_file():  # a device has no room to reserve
            return
        target = self._path.resolve()
        self._part = target.with_name(f".{target.name}.{os.getpid()}.part")
        size = _LEAST + _PER_RELEASE * releases
        del releases
        self._stack.callback(self._part.unlink, missing_ok=True)
        try:
            with self._part.open("xb") as file:
                for _ in range(0, size, _LEAST):
                    file.write(bytes(_LEAST))
                file.flush()
                os.fsync(file.fileno())
        except OSError as problem:
            raise ValueError(
                f"--json: {self._path} cannot be given {size / 1e6:.1f} MB of room ({problem.strerror}); nothing was "
                "spent."
            ) from None

    def write(self, text: str, *, spent: bool) -> None:
        """Write the trace; if that fails, print it, because it cannot be had again.

        Raises
        ------
        ValueError
            If the trace could only be printed.
        """
        if self._path is None or self._part is None:
            return
        try:
            if self._part == self._path:
                self._path.write_text(text)
                return
            with self._part.open("r+b") as file:  # the reserved room is used, and only then is the rest given back
                file.write(text.encode())
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            self._part.replace(self._path.resolve())
        except OSError as problem:
            print(text, flush=True)
            paid = "The run is spent, so keep what" if spent else "What"
            raise ValueError(
                f"--json: {self._path} could not be written ({problem.strerror}). {paid} was printed above: the trace."
            ) from None


def _cleared(path: Path) -> bool:
    """Clear away what runs that were killed have left of a file; return whether there was anything.

    A run that was killed after its trace was written, but before it had its name, still gets its file.

    Raises
    ------
    ValueError
        If the file now holds the trace of such a run.
    """
    target, found = path.resolve(), False
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        if _is_alive(part.name.split(".")[-2]):
            continue
        found = True
        if _is_whole(part) and not (target.exists() and target.stat().st_size):
            part.replace(target)
            raise ValueError(
                f"--json: {path} now holds the trace of an earlier run, which was stopped before its file had a "
                "name; give this run another name. Nothing was spent."
            )
        part.unlink(missing_ok=True)
    if found:
        _remove_empty(target)
        print(
            f"--json: an earlier run to {path} was stopped; its unfinished file was removed. What it booked stays "
            "booked.",
            file=sys.stderr,
        )
    return found


def _is_alive(process: str) -> bool:
    """Return whether a process runs; where that cannot be asked without harm, it does."""
    if os.name != "posix" or not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _is_whole(part: Path) -> bool:
    """Return whether reserved room holds a whole trace, perhaps with the rest of the room behind it."""
    text = part.read_bytes().rstrip(b"\0")
    try:
        Trace.from_json(text.decode())
    except ValueError:
        return False
    part.write_bytes(text)
    return True


def _remove_empty(path: Path) -> None:
    if path.is_file() and not path.stat().st_size:
        path.unlink()
