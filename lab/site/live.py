"""Run it here: every method in the visitor's tab, on public or made-up people, with Python in one worker."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import METHODS, STOPS
from dpviz.datasets import SAMPLES, Blobs, Dataset, Painted, load, title_of_sample
from dpviz.datasets.readers import Limits
from dpviz.datasets.readers.form import NUMBERS
from dpviz.figures.code import style
from dpviz.figures.scenes import paint
from dpviz.numbers import on_screen
from dpviz.planning.towns import APART, FARTHEST, NEAREST
from dpviz.takeaway import style as exported
from dpviz.takeaway.cards import cards_style
from dpviz.takeaway.replay import driver_code

from .distribution import PYODIDE, distribution, installed, ours
from .folder import Folder
from .in_tab import CURVES, GROUPS, OWN
from .shell import Shell, aliases, link, text_of

__all__ = ["HOME", "add"]

HOME = "watch/run.html"
_FILES = "python/"
_OFFLINE = "offline.js"  # in the site's own folder, because a service worker serves pages beside and below it alone
_INSIDE = (  # the modules of `in_tab`
    "__init__", "clusters", "compare", "count", "forms", "own", "private", "public", "rehearsal", "tradeoff",
)  # fmt: skip
_SCRIPTS = (  # which together are one module
    "live", "live_offline", "live_count", "live_file", "live_private", "live_cards", "live_rehearse",
    "live_compare", "live_tradeoff", "live_start",
)  # fmt: skip
_MADE = "blobs:"  # the name of the data that the form itself describes


def add(folder: Folder, shell: Shell, pyodide: Path) -> None:
    """Add the page and the files that it loads.

    Raises
    ------
    ValueError
        If a file of the distribution is missing or is not the one that was published.
    """
    loaded = distribution(pyodide) | {
        "plotly.zip": installed("plotly"),
        "narwhals.zip": installed("narwhals"),
        "dpviz.zip": ours({f"in_tab/{name}.py": text_of(f"in_tab/{name}.py").encode() for name in _INSIDE}),
    }
    for name, content in loaded.items():
        folder.put(f"{_FILES}{name}", content)
    page = _page(shell, loaded)
    folder.put(HOME, page)
    folder.put(
        _OFFLINE,
        _offline(
            {HOME: _digest(page.encode())}, {f"{_FILES}{name}": _digest(content) for name, content in loaded.items()}
        ),
    )


def _offline(pages: Mapping[str, str], named: Mapping[str, str]) -> str:
    """Return the service worker, which has the hashes of the pages and of the files that it keeps."""
    return f"const PAGES = {json.dumps(pages)}, FILES = {json.dumps(named)};\n{text_of('offline.js')}"


def _page(shell: Shell, loaded: Mapping[str, bytes]) -> str:
    size = f"{sum(map(len, loaded.values())) / 1e6:.0f} MB"
    record = {
        "folder": link(HOME, _FILES) + "/",
        "offline": link(HOME, _OFFLINE),
        "files": {name: [_digest(content), len(content)] for name, content in loaded.items()},
        "methods": {
            slug: {"name": cls.name, "fields": _fields(cls), "private": cls.notion.private}
            for slug, cls in ALGORITHMS.items()
        },
        "data": {name: {"title": title_of_sample(name), "k": load(name).n_clusters} for name in SAMPLES}
        | {_MADE: {"title": "Made-up groups", "k": Blobs().n_clusters}}
        | {Painted.PREFIX: {"title": "Painted people", "k": 1}}
        | {OWN: {"title": "Your own CSV or TSV file", "k": Dataset.n_clusters}},
        "made": _MADE,
        "painted": Painted.PREFIX,
        "painting": paint.LIMITS,
        "own": OWN,
        "most": Limits().bytes,
        "blobs": [one | {"label": GROUPS.get(one["name"], one["label"])} for one in _fields(Blobs)],
    }
    given = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    canvas = f"const Painting = (() => {{ {paint.text_of('paint.js')} return Painting; }})();\n"
    scripts = canvas + "".join(text_of(f"{name}.js") for name in _SCRIPTS)
    body = (
        f'<p><a href="{link(HOME, "watch/index.html")}">All algorithms</a></p><h1>Run it here</h1>'
        "<p class=lede>Any method, or two side by side, on any sample or on your own file, with your own ε and k. The "
        "runs happen in this tab: Python is loaded into it once, and then nothing is sent anywhere.</p>"
        '<noscript><p>This page needs scripts.</p></noscript><div class="live" hidden>'
        f'<p><button class="load">Load Python here ({size}, about 20 s)</button></p><form class="run" hidden>'
        '<label>Data<select name="data"></select></label><div class="blobs fields" hidden></div>'
        '<div class="painting" hidden><p>Press and drag to paint people; everybody here is made up.</p>'
        f"{paint.HTML}</div>"
        f"{_file_panel()}"
        '<label>Method<select name="method"></select></label><div class="fields own"></div>'
        '<label class="other">Compare with<select name="other"><option value="">nothing</option></select></label>'
        '<label class="seeds">Seed<input name="seed" value="0" inputmode="numeric" autocomplete="off"></label>'
        '<details><summary>More</summary><div class="more fields"></div></details>'
        f"{_grid()}"
        '<p class="acts"><button class="go">Run</button> <button type="button" class="again" disabled>'
        'Again with 20 other seeds</button> <button type="button" class="rehearse" hidden>Rehearse</button> '
        '<button type="button" class="stop" hidden>Stop</button></p></form>'
        '<div class="paid fields" hidden></div><div class="price" hidden></div>'
        '<p class="status"><output aria-live="polite"></output> <progress max="1" hidden></progress></p>'
        '<section class="rehearsal" hidden></section><div class="curves"></div><div class="found"></div></div>'
        f'<p class="small">Python here is Pyodide {PYODIDE} (MPL-2.0, from github.com/pyodide/pyodide) with numpy, '
        "scipy, scikit-learn and pandas as Pyodide publishes them; each package holds its license. The page compares "
        "every file with the hash that the build of this site wrote.</p>"
        f'<script type="application/json" id="live">{given}</script>'
        f'<script type="text/plain" id="worker">{text_of("live_worker.js")}</script>'
        f'<script type="module">{driver_code()}{scripts}</script>'
    )
    head = (
        f"<style>{exported.text_of('replay.css')}{style()}{cards_style()}{_paint_style()}{text_of('live.css')}</style>"
    )
    return shell.page(HOME, "Run it here", body, head=head, wide=True, worker=True)


def _paint_style() -> str:
    """Return the style of the canvas, with the site's colors in place of the app's."""
    names = {"text-color": "ink", "border-color": "line", "background-color": "panel", "primary-color": "released"}
    colors = "".join(f"--st-{name}:var(--{ours});" for name, ours in names.items())
    return f".dpviz-paint{{{aliases()}{colors}--st-font:inherit}}{paint.text_of('paint.css')}"


def _grid() -> str:
    """Return the part of the form in which methods and values of ε are chosen for the trade-off."""
    ticks = "".join(
        f'<label><input type="checkbox" value="{slug}"{" checked" * (slug in METHODS)}>'
        f"{html.escape(ALGORITHMS[slug].name)}</label>"
        for slug in CURVES
    )
    return (
        '<details class="grid" id="trade-off"><summary>Trade-off: the loss over ε</summary>'
        "<p>Each ticked method runs on these people at each ε, with the seed above and the next ones; k and δ are as "
        f"above, all else has its default.</p><div class=fields><fieldset>{ticks}</fieldset>"
        f'<label>Values of ε<input name="budgets" value="{" ".join(f"{stop:g}" for stop in STOPS)}" '
        'inputmode="decimal" autocomplete="off"></label><label>Runs at each ε<input name="runs" value="5" '
        'inputmode="numeric" autocomplete="off"></label>'
        '<button type="button" class="plot">Draw the curves</button></div></details>'
    )


def _file_panel() -> str:
    numbers = "".join(f"<option>{example}</option>" for example in NUMBERS)
    return (
        '<fieldset class="file" hidden><legend>Your file</legend><p>Your file is read by this tab and sent nowhere: '
        "since Python is ready, the browser refuses every request of this page, even to its own server. Switch off "
        "your network, then open your file, and everything works as before.</p>"
        '<p class="kinds"><label><input type="radio" name="kind" value="public"> Public: the rows are made up, '
        "published, or yours to show. You see them, and plain KMeans beside each result.</label>"
        '<label><input type="radio" name="kind" value="private"> Private: of the rows nothing is shown but what a run '
        "releases; each run has a price, which adds up.</label></p>"
        '<p class="alone" hidden>Noise comes from this browser\'s generator, and a run is counted before it draws. '
        "Only this browser counts, for these exact bytes: another browser, a changed copy of the file and deleted site "
        "data begin at 0, while the ε of all runs on the same people adds up. Nobody else counts.</p>"
        '<div class="opening fields" hidden><label>Numbers look like<select name="numbers">'
        f'<option value="">as detected</option>{numbers}</select></label>'
        '<label class="sure"><input type="checkbox" name="names"> The first line holds the names of the columns</label>'
        '<label class="drop">Open the file, or drop it here'
        '<input type="file" accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"></label></div>'
        '<div class="columns"></div><div class="people fields" hidden>'
        '<label>Number of rows, rounded<input name="n_public" inputmode="numeric" autocomplete="off"></label>'
        '<label>Rows per person, at most<input name="rows_per_person" value="1" inputmode="numeric" autocomplete="off">'
        f"</label></div>{_town()}</fieldset>"
    )


def _town() -> str:
    """Return the part of the form in which an owner shapes a town to rehearse."""
    return (
        '<details class="town"><summary>Rehearse a town like yours, too</summary><div class=fields>'
        '<label>Shares of your groups<input name="shares" placeholder="60, 30, 10" autocomplete="off" '
        'title="One positive number for each of the k groups, separated by commas."></label>'
        f'<label>From touching to far apart<input type="range" name="near" min="{NEAREST:g}" max="{FARTHEST:g}" '
        f'step="0.5" value="{APART:g}" title="The distance between the nearest two groups, in standard deviations of a '
        'group."></label></div></details>'
    )


def _fields(cls: type) -> list[dict[str, Any]]:
    """Return what the form shows of each parameter, in declaration order."""
    return [
        {
            "name": name,
            "label": params.label_of(name),
            "help": on_screen(spec.help),
            "start": ""
            if spec.default is None
            else f"{spec.default:.12g}"
            if spec.kind == "float"
            else str(spec.default),
            "choices": [str(choice) for choice in spec.choices or ((True, False) if spec.kind == "bool" else ())],
            "optional": spec.optional,
            "more": spec.advanced,
            "whole": spec.kind == "int",
        }
        for name, spec in params.specs(cls).items()
    ]


def _digest(content: bytes) -> str:
    """Return a file's hash as `integrity` takes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
