"""Write the API reference from the docstrings, as pages of the site or by `python -m lab.site.reference OUT`."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

from dpviz.figures.kit.theme import DARK, LIGHT, Theme

from .folder import Folder
from .shell import ICON, Shell, link, text_of

__all__ = ["HOME", "MODULES", "add", "write"]

HOME = "api/index.html"
MODULES = (
    *("algorithms", "audits", "datasets", "domain", "estimator", "federated", "geometry", "metrics", "params"),
    *("planning", "postprocessing", "privacy", "runs", "sweeps", "takeaway", "testing", "trace"),
)
_REPEATED = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)
_HEADERLINK = re.compile(r'(<a class="headerlink" href="#([^"]*)")>')
_SMALL = re.compile(r"<(/?)h[56]\b")  # pdoc's headings skip levels
_PARAGRAPH = re.compile(r"<p>.*?</p>", re.DOTALL)
_ENTRIES = "const docs = "  # pdoc's text before the entries of its search index
_NEEDED = ("fullname", "modulename", "qualname", "kind", "funcdef", "bases")
_NAV = '<nav class="pdoc">'
_FIRST = """{% extends "default/index.html.jinja2" %}
{% block content %}
<header class="pdoc"><h1>Reference</h1><input type="search" placeholder="Search" aria-label="search"></header>
<main class="pdoc"><ul>{% for name, module in all_modules.items() if name.count(".") == 1 %}
<li><a href="{{ name | replace(".", "/") }}.html">{{ name }}</a>: {{ module.docstring.partition("\n")[0] }}</li>
{% endfor %}</ul></main>
{% include "search.html.jinja2" %}
{% endblock %}"""
# left out: the first imports parsers of files, and only the curator uses the others
_NOT_THESE = ("!dpviz.datasets.readers.child", "!dpviz.privacy.chunked", "!dpviz.privacy.secret")


def write(out: Path) -> None:
    """Write the reference into a folder.

    Raises
    ------
    ModuleNotFoundError
        If pdoc is not installed.
    """
    import pdoc

    with tempfile.TemporaryDirectory() as looks, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pdoc warns about annotations that only type checkers read
        look = f"{_colors(LIGHT)}@media screen and (prefers-color-scheme:dark){{{_colors(DARK)}}}"
        files = {"theme.css": look, "syntax-highlighting.css": "", "custom.css": text_of("reference.css")}
        for name, text in {**files, "index.html.jinja2": _FIRST}.items():
            Path(looks, name).write_text(text, encoding="utf-8")
        pdoc.render.configure(docformat="numpy", show_source=False, template_directory=Path(looks), footer_text="dpviz")
        pdoc.pdoc(*(f"dpviz.{name}" for name in MODULES), *_NOT_THESE, output_directory=out)


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
    """Add the reference or, if pdoc is not installed, a sentence that says so."""
    if find_spec("pdoc") is None:
        body = (
            "<h1>Reference</h1><p>This site was built without pdoc, so the reference is missing; "
            "<code>pip install pdoc</code> and <code>python -m dpviz site</code> add it.</p>"
        )
        folder.put(HOME, shell.page(HOME, "Reference", body))
        return
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        pages = {f"api/{path.relative_to(place).as_posix()}": path.read_text() for path in Path(place).rglob("*.html")}
        folder.put("api/search.js", _short(Path(place, "search.js").read_text()))
    shared: dict[str, str] = {}
    for name, page in sorted(pages.items()):
        page = _SMALL.sub(r'<\1h2 class="part"', _HEADERLINK.sub(r'\1 aria-label="Link to \2">', page))
        page = page.replace("</head>", f'<link rel="icon" href="{ICON}"></head>', 1)
        page = page.replace(_NAV, f'{_NAV}<p><a href="{link(name, "index.html")}">The site</a></p>', 1)
        folder.put(name, _REPEATED.sub(lambda part, here=name: _shared(part, here, shared), page))  # type: ignore[misc]
    for name, content in shared.items():
        folder.put(name, content)


def _short(search: str) -> str:
    """Return pdoc's search, limited to names, bases and first paragraphs; an index of whole docstrings takes 4 MB."""
    before, _, rest = search.partition(_ENTRIES)
    index, end = json.JSONDecoder().raw_decode(rest)  # a list of entries or, if pdoc found Node.js, an index
    entries = [
        {
            **{name: entry[name] for name in _NEEDED if name in entry},
            **{"signature": "", "doc": "".join(_PARAGRAPH.findall(entry.get("doc", ""))[:1])},
        }
        for entry in (index["documentStore"]["docs"].values() if isinstance(index, dict) else index)
    ]
    return f"{before}{_ENTRIES}{json.dumps(entries)}{rest[end:]}"


def _shared(part: re.Match[str], here: str, shared: dict[str, str]) -> str:
    """Return a link to a style or script that many pages share; `shared` maps each file's name to its content."""
    kind, content = part.groups()
    name = f"api/{kind}-{hashlib.sha256(content.encode()).hexdigest()[:8]}.{'css' if kind == 'style' else 'js'}"
    shared[name] = content
    there = link(here, name)
    return f'<link rel="stylesheet" href="{there}">' if kind == "style" else f'<script src="{there}"></script>'


if __name__ == "__main__":
    write(Path(sys.argv[1]))
