"""Hash the code of the algorithms, so that rows stored by older code are not used again."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import dpviz

ROOMS = ("algorithms", "geometry", "postprocessing", "privacy")  # single modules, such as domain.py, are not hashed


@cache
def fingerprint() -> str:
    """Return a hash (12 hex digits) of the code of `ROOMS`, which ignores comments, docstrings and layout."""
    root = Path(dpviz.__file__).parent
    parts = (
        f"{path.relative_to(root)} {code(path.read_text(encoding='utf-8'))}"
        for room in ROOMS
        for path in sorted((root / room).rglob("*.py"))
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def code(source: str) -> str:
    """Return a source's syntax tree without docstrings: it determines what the source computes."""
    tree = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.dump(tree)
