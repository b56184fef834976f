"""Provide the stage: one script without dependencies that draws the same figures step by step on a canvas."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

__all__ = ["reel", "script"]

# files of the script; a part comes after the parts that it imports
_PARTS = ("read", "paint", "axes", "marks", "notes", "reel", "film", "events", "glide", "lacks", "stage")


@cache
def script() -> str:
    """Return the stage as one ES module that exports what `_FACE` lists, for any page or file, without comments."""
    folder = files(__package__)
    parts = ((folder / f"{part}.js").read_text() for part in _PARTS)
    # all parts share a scope, so each becomes a function that returns its exports; this keeps private names apart
    return "\n".join(_joined(part, text) for part, text in zip(_PARTS, parts, strict=True)) + _FACE


@cache
def reel() -> str:
    """Return the clock of films alone, as code that defines `Reel`, for a component that draws nothing."""
    return _EXPORT.sub(r"\1 \2", (files(__package__) / "reel.js").read_text())


_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?s:.*?)\*/)\n", re.MULTILINE)  # whole lines, which every page would hold
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|class) (\w+)", re.MULTILINE)
_FACE = "\nexport const { Film, Reel, Stage, lacks } = { ...$film, ...$reel, ...$stage, ...$lacks };\n"


def _joined(part: str, text: str) -> str:
    names = [name for _, name in _EXPORT.findall(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const \1 = $\2;", _COMMENT.sub("", text)))
    return f"const ${part} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"
