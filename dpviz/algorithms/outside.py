"""Add algorithms from outside: Python files named at startup, entry points, and other libraries' clusterers.

Every process that imports `dpviz.algorithms` reads the same files, so worker processes know the same algorithms.
A file is imported as `dpviz.algorithms.outside.NAME`, where pickle finds it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.base import Algorithm, StepFailed, misnamed
from dpviz.algorithms.programs import Program, program
from dpviz.algorithms.rules import broken_rules
from dpviz.domain import Domain
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import BY_AUTHORS, TRUST
from dpviz.privacy.secret import private_folder, read_private, replace, state_folder
from dpviz.trace import Cancelled, Step

__all__ = [
    "FILES",
    "GROUP",
    "ORIGINS",
    "PROGRAMS",
    "UNAUDITED",
    "Origin",
    "everything",
    "hire",
    "load",
    "note_audit",
    "unaudited",
    "warning",
]

FILES = "DPVIZ_WITH"  # environment variable: absolute paths of the files, separated as in PATH
GROUP = "dpviz.algorithms"  # group of entry points, each an `Algorithm`
PROGRAMS = "DPVIZ_OUTSIDE"  # environment variable: programs as MODULE:CLASS, separated by commas
UNAUDITED = "not audited here"
_NOTES = "audited"  # file in the state folder: a line per algorithm that passed its audit, with its file's fingerprint
_LONGEST = 200  # maximum number of characters shown of another program's message


class Origin(NamedTuple):
    """Origin of an algorithm: its file's name, the SHA-256 of its source, and the algorithm's name."""

    place: str
    fingerprint: str
    name: str = ""


ORIGINS: dict[str, Origin] = {}  # by slug


def everything(known: dict[str, type[Algorithm]]) -> None:
    """Add the algorithms of entry points, and those of the files and programs that the environment names.

    Raises
    ------
    ValueError
        If one of them cannot be added; the message is one sentence.
    """
    for point in entry_points(group=GROUP):
        place = f"entry point {point.name}"
        try:
            cls = point.load()
            module = inspect.getmodule(cls)
            source = inspect.getsource(module) if module else ""
        except Exception as error:
            raise ValueError(f"{place} cannot be loaded: {_words(error)}.") from None
        _check(source, place)
        _enlist(cls, Origin(place, _fingerprint(source)), known)
    for path in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        load(Path(path), known)
    for place in filter(None, os.environ.get(PROGRAMS, "").split(",")):
        hire(place, known)


def hire(place: str, known: dict[str, type[Algorithm]]) -> str:
    """Add the program at MODULE:CLASS; return its slug.

    Raises
    ------
    ValueError
        If the class cannot be imported, is not a clusterer, needs arguments that dpviz does not pass, or has a slug
        that is taken.
    """
    cls = program(place)
    if known.get(cls.slug) is not cls:
        _enlist(cls, Origin(place, _fingerprint(place)), known)
    return cls.slug


def load(path: Path, known: dict[str, type[Algorithm]]) -> list[str]:
    """Add the algorithms that a file defines; return their slugs.

    Raises
    ------
    ValueError
        If the file cannot be read or imported, breaks a rule, defines no algorithm, or defines one that cannot be
        added.
    """
    place = path.name
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"--with: {path} cannot be read; name a Python file.") from None
    here = Origin(place, _fingerprint(source))
    name = f"{__name__}.{re.sub(r'[^0-9a-zA-Z]', '_', path.stem)}_{here.fingerprint[:8]}"
    if name in sys.modules:
        return [slug for slug, cls in known.items() if cls.__module__ == name]
    _check(source, place)
    module = _imported(name, path)
    classes = [one for one in module.__dict__.values() if isinstance(one, type) and issubclass(one, Algorithm)]
    own = [cls for cls in classes if cls.__module__ == name and "slug" in cls.__dict__]
    try:
        if not own:
            raise ValueError(f"{place} defines no algorithm, that is, no subclass of Algorithm with a slug.")
        for cls in own:
            _enlist(cls, here, known)
    except ValueError:
        del sys.modules[name]
        for cls in own:
            if known.get(cls.slug) is cls:
                del known[cls.slug], ORIGINS[cls.slug]
        raise
    return [cls.slug for cls in own]


def _imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path.name} cannot be imported: its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ValueError(f"{path.name} cannot be imported: {_words(error)}{_line(error, str(path))}.") from None
    return module


def _check(source: str, place: str) -> None:
    try:
        broken = broken_rules(source)
    except SyntaxError as error:
        raise ValueError(f"{place} cannot be imported: line {error.lineno}: {error.msg}.") from None
    if broken:
        raise ValueError(f"{place} is refused: {'; '.join(broken)}. An algorithm may ask only the curator.")


def _enlist(cls: type[Algorithm], here: Origin, known: dict[str, type[Algorithm]]) -> None:
    """Check a class's slug, its name and an instance with defaults, then add the class."""
    if not (isinstance(cls, type) and issubclass(cls, Algorithm)):
        raise ValueError(f"{here.place}: {cls!r:.60} is not a subclass of dpviz.algorithms.Algorithm.")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", getattr(cls, "slug", "")):
        raise ValueError(f"{here.place}: the slug of {cls.__name__} must be lowercase letters, digits and hyphens.")
    if cls.slug in known:
        other = ORIGINS[cls.slug].place if cls.slug in ORIGINS else "dpviz"
        raise ValueError(f"{here.place}: {known[cls.slug].__name__} of {other} already has the slug {cls.slug!r}.")
    if not getattr(cls, "name", "") or not dataclasses.is_dataclass(cls) or cls.__hash__ is None:
        raise ValueError(f"{here.place}: {cls.__name__} must be a frozen dataclass with a name.")
    try:
        why = misnamed(cls(), cls().plan(2, 1000))
    except Exception as error:
        raise ValueError(f"{here.place}: {cls.__name__}() fails: {_words(error)}.") from None
    if why:
        raise ValueError(f"{here.place}: {cls.__name__}: {why}.")
    if not issubclass(cls, Program):  # programs give a warning of their own
        _guard(cls, here)
    known[cls.slug], ORIGINS[cls.slug] = cls, here._replace(name=cls.name)


def _guard(cls: type[Algorithm], here: Origin) -> None:
    """Turn a run's failure into one sentence, and warn in every run until the algorithm has passed its audit here.

    Its promise is marked as its authors'; a trust sentence other than that of the notion is theirs, too, and quoted.
    """
    cls.trust = BY_AUTHORS + (cls.trust if cls.trust == TRUST[cls.notion] else f'"{cls.trust}"')
    inner, doubts = cls.steps, cls.doubts

    def steps(self: Algorithm, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        step, count = None, 0
        try:
            for step in inner(self, curator, domain, rng):
                yield step
                count += 1
            if step is None or np.ndim(step.released["centers"]) != 2:
                raise ValueError("the last step must release `centers` of shape (k, d)")
        except Cancelled:
            raise
        except Exception as error:
            # outside DEMO the message is omitted: one of NumPy's may contain a shape and thus the exact number of rows
            words = (
                f"{self.name} of {here.place}: step {count + 1} failed with {why}{_line(error, here.place)}. "
                "A private run stays booked in full."
                for why in (_words(error), type(error).__name__)
            )
            raise StepFailed(*words) from None

    def more(self: Algorithm, released: object, domain: Domain) -> tuple[str, ...]:
        words = warning(self.slug)
        return (*((f"{words}.",) if words else ()), *doubts(self, released, domain))  # type: ignore[arg-type]

    cls.steps, cls.doubts = steps, more  # type: ignore[method-assign]


def _fingerprint(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def _words(error: BaseException) -> str:
    """Return an error as one short line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST].rstrip(".")


def _line(error: BaseException, file: str) -> str:
    """Return the file's last line that led to an error, in parentheses; "" if none did."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(file)]
    return f" (line {lines[-1]})" if lines else ""


def unaudited(slug: str) -> bool:
    """Return whether an algorithm comes from outside and has not passed its audit here."""
    here = ORIGINS.get(slug)
    return here is not None and f"{slug} {here.fingerprint}" not in _notes()


def warning(slug: str) -> str:
    """Return who vouches for an algorithm from outside, as a clause; "" for ours, and after an audit here."""
    if not unaudited(slug):
        return ""
    here = ORIGINS[slug]
    return f"{here.name} comes from {here.place} and is {UNAUDITED}: only its authors vouch for its promise"


def note_audit(slug: str) -> None:
    """Record that an outside algorithm, with this fingerprint, has passed its audit."""
    notes = _notes() | {f"{slug} {ORIGINS[slug].fingerprint}"}
    replace(private_folder() / _NOTES, "\n".join(sorted(notes)).encode())


def _notes() -> set[str]:
    try:
        return set(read_private(state_folder() / _NOTES).decode().splitlines())
    except (FileNotFoundError, UnicodeDecodeError):
        return set()
