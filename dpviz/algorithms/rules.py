"""Check an algorithm's imports, attributes, draws and overrides, because it may read rows only through the curator.

The rules catch mistakes, not malice: anyone who can start a program can run any code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["broken_rules"]

_ROWS = ("dpviz.privacy.rows", "dpviz.privacy.chunked", "dpviz.privacy.block", "dpviz.audits.witness")
_OPEN = {"getattr", "setattr", "vars", "globals", "locals", "eval", "exec", "open", "__import__", "gc", "inspect"}
_SHUT = {"run", "_rows", "_size", "_randomness", "_promise"}  # methods of the base class, which alone holds the rows
_DRAWS = {"laplace", "gumbel", "geometric"}
_SEEDED = {"default_rng", "Generator", "SeedSequence"}
_QUERIES = {"Query", "Score", "Predicate", "KeyQuery", "Question"}


def broken_rules(source: str) -> list[str]:
    """Return one sentence for each broken rule in an algorithm's source, in the order of its lines."""
    broken = {(node.lineno, words) for node in ast.walk(ast.parse(source)) for words in _broken(node)}  # type: ignore[attr-defined]
    return [f"an algorithm {words} (line {line})" for line, words in sorted(broken)]


def _broken(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names]
        modules = [f"{node.module}.{name}" for name in names] if isinstance(node, ast.ImportFrom) else names
        if any(module.startswith(_ROWS) for module in modules):
            yield "imports rows"
        if any(module.startswith("dpviz.privacy.noise") for module in modules):
            yield "imports noise"
        yield from (f"uses {name}" for name in {name.split(".")[0] for name in names} & {"gc", "inspect"})
    elif isinstance(node, ast.Attribute):
        if node.attr.startswith("_") and ast.unparse(node.value) not in ("self", "cls", "super()"):
            yield f"touches {node.attr}"
        if ast.unparse(node.value) in ("np.random", "numpy.random") and node.attr not in _SEEDED:
            yield f"uses the global {ast.unparse(node)}"
    elif isinstance(node, ast.Name) and node.id in _OPEN:
        yield f"uses {node.id}"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DRAWS:
        yield f"draws noise itself with {node.func.attr}"
    elif isinstance(node, ast.ClassDef):
        if {ast.unparse(base).split(".")[-1] for base in node.bases} & _QUERIES:
            yield "defines a query, whose sensitivity nobody has tested"
        methods = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        yield from (f"overrides {one.name}" for one in methods if one.name in _SHUT)
