"""The stage: a canvas drawing of the same figures, step by step, as one script without dependencies."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

__all__ = ["script"]

_PARTS = ("read", "paint", "axes", "marks", "notes", "film", "glide", "lacks", "stage")  # in the order of their imports


@cache
def script() -> str:
    """Return the stage as one ES module that exports `Stage`, `Film` and `lacks`, for any page or file."""
    folder = files(__package__)
    parts = ((folder / f"{part}.js").read_text() for part in _PARTS)
    # one scope for all parts: a part's own names must not meet another's, so each is a block that hands out its exports
    return "\n".join(_joined(part, text) for part, text in zip(_PARTS, parts, strict=True)) + _FACE


_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (const|class) (\w+)", re.MULTILINE)
_FACE = "\nexport const { Film, Stage, lacks } = { ...$film, ...$stage, ...$lacks };\n"


def _joined(part: str, text: str) -> str:
    names = [name for _, name in _EXPORT.findall(text)]
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const \1 = $\2;", text))
    return f"const ${part} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"
