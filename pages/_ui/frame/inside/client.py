"""Name what Streamlit's client consists of: its folder, scripts, addresses, and the parts of its page.

`PAGE` is the text of a script that knows these parts; it stands before each of our scripts that needs one. `STYLE` has
the rules for these parts, and `EMBEDDED` those of a page in a frame.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

__all__ = [
    "BAR",
    "COMPONENTS",
    "EMBEDDED",
    "LINKS",
    "PAGE",
    "PAPER",
    "STATIC",
    "STYLE",
    "address",
    "alone",
    "plotly",
    "scripts",
]

_HERE = Path(__file__).parent
STATIC = Path(st.__file__).parent / "static"
_SCRIPTS = STATIC / "static" / "js"
_IMPORT = re.compile(r"""(?:from|import)\s*["']\./([\w.~-]+\.js)["']""")
_HEAD = 20_000  # characters at the start of a bundled script that contain its imports
COMPONENTS = "BidiComponent"  # bundled script that runs our components, without its hash

PAGE = (_HERE / "page.js").read_text()
BAR = PAGE + (_HERE / "menus.js").read_text()
STYLE = (_HERE / "page.css").read_text()
EMBEDDED = (_HERE / "embed.css").read_text()
LINKS = "[data-testid=stPageLink]"  # selects the links to other pages
PAPER = """@media print { /* a dark page turns light on paper, its canvases too */
  :root { print-color-adjust:exact; } body { background:#fff; }
  [data-testid=stApp] { filter:invert(1) hue-rotate(180deg) brightness(1.12); }
}"""


def address(name: str) -> str:
    """Return the path of one of Streamlit's own addresses on this server, such as "metrics"."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}/_stcore/{name}".replace("//", "/")


def scripts(part: str) -> list[str]:
    """Return the paths of a bundled script, given without its hash, and of those that it imports."""
    names: dict[str, None] = {}
    for script in sorted(_SCRIPTS.glob(f"{part}.*.js")):
        _with_imports(script.name, names)
    return [f"static/js/{name}" for name in names]


def _with_imports(name: str, names: dict[str, None]) -> None:
    if name in names:
        return
    names[name] = None
    for other in _IMPORT.findall((_SCRIPTS / name).read_text(errors="ignore")[:_HEAD]):
        _with_imports(other, names)


@cache
def plotly() -> str:
    """Return the file name of the bundled script that contains Plotly."""
    return next(_SCRIPTS.glob("PlotlyChart.*.js")).name


def alone(key: str, *beside: str) -> str:
    """Return a style that hides all elements of a page but the container with a key, and those with the others."""
    kept = "".join(f":not(.st-key-{one})" for one in beside)
    return (
        f"[data-testid=stMain]:has(.st-key-{key}) :is([data-testid=stElementContainer],[data-testid=stLayoutWrapper])"
        f":not(:has(.st-key-{key})):not(.st-key-{key} *){kept}{{display:none}}"
    )
