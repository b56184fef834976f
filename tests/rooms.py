"""Count rooms, imports between them, and imports against their order.

`python -m tests.rooms [CHECKOUT]` prints the counts. A room is a module or a folder of the examined package. An arrow
leads from a room to a room that it imports, even if only for type checking or by a string.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PLACES = ("dpviz", "dpviz.algorithms", "dpviz.figures", "pages._ui")


def sources(root: Path) -> dict[str, str]:
    """Return {module: source} for the package, the pages, the app, and what a wheel holds of lab/."""
    folders = ("dpviz", "pages", "lab/cli", "lab/federated", "lab/papers", "lab/site")
    files = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path.read_text()
        for path in (*files, root / "app.py")
    }


def by_string(node: ast.AST) -> str | None:
    """Return the module named in a call of `import_module` or `__import__`, or None for any other node.

    The name is, for example, "dpviz.cli.*" if its end is computed, and "" if the whole name is computed.
    """
    if not isinstance(node, ast.Call):
        return None
    if getattr(node.func, "attr", getattr(node.func, "id", "")) not in ("import_module", "__import__"):
        return None
    name, end = node.args[0] if node.args else None, ""
    if isinstance(name, ast.JoinedStr) and name.values:
        name, end = name.values[0], "*"
    return f"{name.value}{end}" if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def imports(nodes: Iterable[ast.AST], *, typing: bool = False) -> Iterator[str]:
    """Yield the modules imported by whole names or a string at run time; with `typing`, also those for type checks."""
    nodes = list(nodes)
    typing_only = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in nodes:
        if id(node) in typing_only and not typing:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif name := by_string(node):
            yield name


@functools.cache
def parsed(source: str) -> list[ast.AST]:
    """Return all syntax nodes of a source; they are cached, because several tests read the same source."""
    return list(ast.walk(ast.parse(source)))


@functools.cache
def imported(source: str) -> frozenset[str]:
    """Return the modules that a source imports, including those for type checking only and those named in a string."""
    return frozenset(imports(parsed(source), typing=True))


def circle(names: Mapping[str, set[str]]) -> list[str]:
    """Return a cycle of imports, as a list of names; [] if there is none."""
    try:
        TopologicalSorter({name: inner & names.keys() for name, inner in names.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def arrows(modules: Mapping[str, str], place: str) -> dict[str, set[str]]:
    """Return {room: the rooms that it imports} for one package."""
    depth = place.count(".") + 2

    def room(name: str) -> str | None:
        parts = name.split(".")[:depth]
        return ".".join(parts) if name.startswith(f"{place}.") else None

    inside = {module: room(module) for module in modules if room(module)}
    rooms = set(inside.values())
    found: dict[str, set[str]] = {name: set() for name in rooms}
    for module, mine in inside.items():
        named = {room(name) for name in imported(modules[module])}
        found[mine] |= {name for name in named if name in rooms and name != mine}
    return found


def against(tied: Mapping[str, set[str]]) -> int:
    """Return how many arrows point against the order that a greedy search finds (Eades, Lin and Smyth 1993)."""
    left = {room: set(inner) for room, inner in tied.items()}
    low: list[str] = []
    high: list[str] = []
    while left:
        into: dict[str, set[str]] = defaultdict(set)
        for room, inner in left.items():
            for other in inner:
                into[other].add(room)
        ends = sorted(room for room in left if not left[room]) or sorted(room for room in left if not into[room])
        room = ends[0] if ends else max(sorted(left), key=lambda room: len(left[room]) - len(into[room]))
        (low if not left[room] else high).append(room)
        del left[room]
        for inner in left.values():
            inner.discard(room)
    order = {room: place for place, room in enumerate([*low, *reversed(high)])}
    return sum(order[other] > order[room] for room, inner in tied.items() for other in inner)


def main(root: Path) -> None:
    """Print the counts for a checkout."""
    modules = sources(root)
    print(f"{'place':18}{'rooms':>6}{'arrows':>8}{'upward':>8}  a circle")
    for place in PLACES:
        tied = arrows(modules, place)
        ring = " -> ".join(room.removeprefix(f"{place}.") for room in circle(tied))
        print(f"{place:18}{len(tied):6}{sum(map(len, tied.values())):8}{against(tied):8}  {ring or 'none'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
