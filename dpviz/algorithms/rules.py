"""Check an algorithm's imports, attributes, draws and overrides, because it may read rows only through the curator.

The rules catch mistakes, not malice: anyone who can start a program can run any code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dpviz.privacy.queries import LISTED

__all__ = ["broken_rules"]

_ROWS = ("dpviz.privacy.rows", "dpviz.privacy.chunked", "dpviz.privacy.block", "dpviz.audits.witness")
# Functions and modules that reach any attribute of an object, or any object, by a name in a string or by a frame.
_OPEN = {
    "__import__", "attrgetter", "builtins", "ctypes", "delattr", "eval", "exec", "format_map", "gc", "getattr",
    "globals", "importlib", "inspect", "locals", "methodcaller", "open", "pickle", "setattr", "sys", "traceback",
    "vars",
}  # fmt: skip
_FRAMES = {"ag_frame", "cr_frame", "f_back", "f_globals", "f_locals", "gi_frame", "tb_frame"}
_SEED = "bit_generator"  # a generator's seed shows whether the run is a DEMO
_SHUT = {"run", "_rows", "_size", "_randomness", "_promise"}  # methods of the base class, which alone holds the rows
_CURATORS = {  # a function whose first parameter is named `self` may be called with the curator
    "_admit", "_by_user", "_check_move", "_exact", "_hidden", "_ledger", "_mixed", "_next", "_noise", "_price",
    "_price_one", "_refuse_parts", "_remember", "_session", "_tally", "_way",
}  # fmt: skip
_OWN = {"__init__", "__post_init__", "__name__"}  # the only names with two underscores that an algorithm may touch
_DRAWS = {"laplace", "gumbel", "geometric"}
_SEEDED = {"default_rng", "Generator", "SeedSequence"}
_QUERIES = {"Query", "Score", "Predicate", "KeyQuery", "Question"} | {one.__name__ for one in LISTED}
_ASKED = {"statistic", "sensitivity", "assign", "answers", "utility"}
_PATH = re.compile(r"[\w.\[\]]*(?<![A-Za-z0-9])_[A-Za-z_]\w*[\w.\[\]]*|.*\{[^}]*\._.*", re.DOTALL)


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
        yield from (f"uses {name}" for name in {name for module in modules for name in module.split(".")} & _OPEN)
    elif isinstance(node, ast.Attribute):
        yield from _touched(node)
    elif isinstance(node, ast.Name) and node.id in _OPEN:
        yield f"uses {node.id}"
    elif isinstance(node, ast.MatchClass):
        yield "matches a class pattern, which reads attributes"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != "__main__":
        if _PATH.fullmatch(node.value):
            yield f"names {node.value[:40]!r} in a string"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DRAWS:
        yield f"draws noise itself with {node.func.attr}"
    elif isinstance(node, ast.ClassDef):
        defined = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        assigned = (one.targets for one in node.body if isinstance(one, ast.Assign))
        defined |= {ast.unparse(target) for targets in assigned for target in targets}
        if {ast.unparse(base).split(".")[-1] for base in node.bases} & _QUERIES or defined & _ASKED:
            yield "defines a query, whose sensitivity nobody has tested"
        yield from (f"overrides {name}" for name in defined & _SHUT)


def _touched(node: ast.Attribute) -> Iterator[str]:
    """Yield what an attribute does that only the curator, or another object itself, may do."""
    owner, name = ast.unparse(node.value), node.attr
    own = owner in ("self", "cls", "super()") and name not in _CURATORS and (name in _OWN or not name.startswith("__"))
    if name.startswith("_") and not own:
        yield f"touches {name}"
    if name in _OPEN | _FRAMES | {_SEED}:
        yield f"uses {name}"
    if name == "setflags":
        yield "uses setflags, which opens arrays that were checked"
    if isinstance(node.ctx, ast.Store | ast.Del) and owner not in ("self", "cls"):
        yield f"sets {name} of another object"
    if owner in ("np.random", "numpy.random") and name not in _SEEDED:
        yield f"uses the global {ast.unparse(node)}"
