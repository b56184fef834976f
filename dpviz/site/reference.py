"""Write the API reference from the docstrings: `python -m dpviz.site.reference OUT`, and as pages of the site."""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

from dpviz.figures.kit.theme import DARK, LIGHT, Theme
from dpviz.site.folder import Folder
from dpviz.site.shell import ICON, Shell, link

__all__ = ["HOME", "MODULES", "add", "write"]

HOME = "api/index.html"
MODULES = (
    *("algorithms", "audits", "datasets", "domain", "estimator", "federated", "geometry", "metrics", "params"),
    *("planning", "postprocessing", "privacy", "runs", "sweeps", "takeaway", "testing", "trace"),
)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_NAV = '<nav class="pdoc">'
_NOT_THESE = "!dpviz.datasets.readers.child"  # the child process of the readers imports its parsers at once


def write(out: Path, *, search: bool = True) -> None:
    """Write the reference into a folder.

    Raises
    ------
    ModuleNotFoundError
        If pdoc is not installed.
    """
    import pdoc

    with tempfile.TemporaryDirectory() as looks, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # annotations for type checkers alone
        look = f"{_colors(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colors(DARK)}}}"
        Path(looks, "theme.css").write_text(look, encoding="utf-8")
        pdoc.render.configure(
            docformat="numpy", show_source=False, search=search, template_directory=Path(looks), footer_text="dpviz"
        )
        pdoc.pdoc(*(f"dpviz.{name}" for name in MODULES), _NOT_THESE, output_directory=out)


def _colors(theme: Theme) -> str:
    """Return CSS that sets pdoc's colors to those of a theme."""
    names = {
        **{"text": theme.ink, "muted": theme.muted, "link": theme.released, "link-hover": theme.ink},
        **{"code": theme.panel, "active": theme.hidden_tag, "accent": theme.grid, "accent2": theme.line},
        **{"nav-hover": theme.panel, "name": theme.released, "def": theme.muted, "annotation": theme.muted},
    }
    inside = "".join(f"--{name}:{color};" for name, color in names.items())
    return f":root{{--pdoc-background:{theme.bg}}}.pdoc{{{inside}}}"


def add(folder: Folder, shell: Shell) -> None:
    """Add the reference without its search, which would double it; without pdoc, add a sentence that says so."""
    if find_spec("pdoc") is None:
        body = (
            "<h1>Reference</h1><p>This site was built without pdoc, so the reference is missing; "
            "<code>pip install pdoc</code> and <code>python -m dpviz site</code> add it.</p>"
        )
        folder.put(HOME, shell.page(HOME, "Reference", body))
        return
    with tempfile.TemporaryDirectory() as made:
        write(Path(made), search=False)
        pages = {f"api/{path.relative_to(made).as_posix()}": path.read_text() for path in Path(made).rglob("*.html")}
    looks: dict[str, str] = {}
    for name, page in sorted(pages.items()):
        page = page.replace("</head>", f'<link rel="icon" href="{ICON}"></head>', 1)
        page = page.replace(_NAV, f'{_NAV}<p><a href="{link(name, "index.html")}">The site</a></p>', 1)
        folder.put(name, _STYLE.sub(lambda style, here=name: _shared(style[1], here, looks), page))  # type: ignore[misc]
    for look, style in looks.items():
        folder.put(look, style)


def _shared(style: str, here: str, looks: dict[str, str]) -> str:
    """Return a link to a style that many pages share; `looks` maps file to style."""
    look = f"api/look-{hashlib.sha256(style.encode()).hexdigest()[:8]}.css"
    looks[look] = style
    return f'<link rel="stylesheet" href="{link(here, look)}">'


if __name__ == "__main__":
    write(Path(sys.argv[1]))
