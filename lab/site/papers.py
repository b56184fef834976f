"""The five papers with a verdict and a picture for every figure and table, and the write-up of our own method."""

from __future__ import annotations

import html

import pandas as pd

from dpviz.algorithms import ALGORITHMS
from dpviz.figures.kit.theme import DARK, LIGHT, Theme
from dpviz.numbers import on_screen
from dpviz.papers.overview import overview
from dpviz.papers.picture import Plot, key_entries, looks, panel_svg, panels
from dpviz.papers.registry import Item, Paper, papers
from dpviz.papers.results import MORE, RESULTS, load_numbers, measured
from dpviz.papers.verdicts import DOES_NOT, NOT_RUN, REPRODUCES, RULE, PaperVerdict, behind
from dpviz.papers.words import plainly
from dpviz.papers.writeup import OURS, write_up

from .folder import Folder
from .markdown import inline, rendered
from .shell import Shell, link

__all__ = ["HOME", "add"]

HOME = "papers/index.html"
_AGAINST = 4  # maximum number of contradicting comparisons to list


def _address(name: str) -> str:
    return f"papers/{name}.html"


def add(folder: Folder, shell: Shell) -> None:
    """Add a page for each paper and each method of our own, and one that lists them."""
    every = papers()
    numbers = {(paper.id, item.id): _numbers(paper, item) for paper in every.values() for item in paper.items}
    seen = overview(every, numbers)
    verdicts = {(paper.id, item.id): verdict for paper, item, verdict in seen.verdicts}
    cards = [
        f'<li><a href="{link(HOME, _address(paper.id))}"><b>{html.escape(paper.short)}</b>'
        f"<span>{html.escape(_counted([verdicts[paper.id, item.id] for item in paper.items]))}</span></a></li>"
        for paper in every.values()
    ]
    cards += [
        f'<li><a href="{link(HOME, _address(slug))}"><b>{html.escape(ALGORITHMS[slug].name)}</b>'
        "<span>Our own method: its idea, its proof, measurements, and weak spots</span></a></li>"
        for slug in OURS
    ]
    body = (
        f"<h1>Papers</h1><p class=lede>{html.escape(seen.sentence)}</p><ul class=cards>{''.join(cards)}</ul>"
        f"<p class=small>{html.escape(RULE)} "
        f'All settings and tables are in the app: <a href="{link(HOME, "run.html")}">run it yourself</a>.</p>'
    )
    folder.put(HOME, shell.page(HOME, "Papers", body, wide=True))
    for paper in every.values():
        keys = [(item, (paper.id, item.id)) for item in paper.items]
        items = "".join(_item(paper, item, numbers[key], verdicts[key]) for item, key in keys)
        top = f"<h1>{html.escape(paper.title)}</h1><p class=small>{html.escape(paper.cite)}</p>"
        folder.put(_address(paper.id), shell.page(_address(paper.id), paper.short, top + items, wide=True))
    for slug in OURS:
        folder.put(_address(slug), shell.page(_address(slug), ALGORITHMS[slug].name, _own(slug)))


def _numbers(paper: Paper, item: Item) -> pd.DataFrame:
    return load_numbers(RESULTS / f"{paper.id}-{item.id}.csv")


def _counted(verdicts: list[PaperVerdict]) -> str:
    """Return how many of a paper's items got each verdict."""
    words = [verdict.word for verdict in verdicts]
    many = {REPRODUCES: "reproduce", DOES_NOT: "do not reproduce"}
    counts = {word: words.count(word) for word in dict.fromkeys(words)}
    return "; ".join(f"{n} {many.get(word, word) if n > 1 else word}" for word, n in counts.items())


def _item(paper: Paper, item: Item, numbers: pd.DataFrame, verdict: PaperVerdict) -> str:
    ours = f"{behind(item, verdict)}."
    if verdict.word == NOT_RUN:
        ours = f"not yet run; <code>python -m dpviz reproduce {paper.id} {item.id}</code> runs it."
    against = "".join(f"<li>{html.escape(on_screen(plainly(words)))}</li>" for words in verdict.against[:_AGAINST])
    differs = "".join(f"<li>{inline(on_screen(words))}</li>" for words in item.differs)
    drawn = panels(item, numbers)
    return (
        f'<section id="{item.id}"><h2>{html.escape(item.name)} <span class="badge">{verdict.word}</span> '
        f"<span class=small>{verdict.shares}</span></h2>"
        f"<p><b>The paper says:</b> {inline(item.claim)} <i>Printed: {inline(item.prints)}.</i></p>"
        f"<p><b>Ours:</b> {ours}</p>"
        + (_pictures(drawn, LIGHT, "light") + _pictures(drawn, DARK, "dark") if drawn else "")
        + ("<details><summary>What contradicts the claim</summary>"
           f"<p>{inline(item.because)}</p><ul>{against}</ul></details>"
           if against else "")
        + (f"<details><summary>Settings that differ</summary><ul>{differs}</ul></details>" if differs else "")
        + "</section>"
    )  # fmt: skip


def _pictures(plots: list[Plot], colors: Theme, mode: str) -> str:
    """Return an item's panels, with their key above."""
    look = looks(plots)
    keys = "".join(f"<li>{mark} {html.escape(name)}</li>" for name, mark in key_entries(plots, colors))
    drawn = "".join(f"<li>{panel_svg(panel, look, colors)}</li>" for panel in plots)
    return (
        f'<div class="{mode}"><ul class="marks"><li><span class="tag">NOT PRIVATE</span></li>{keys}</ul>'
        f'<ul class="panels">{drawn}</ul></div>'
    )


def _own(slug: str) -> str:
    paper = write_up(slug)

    def section(title: str, paragraphs: tuple[str, ...]) -> str:
        return f"<h2>{title}</h2>" + "".join(f"<p>{inline(on_screen(one))}</p>" for one in paragraphs)

    code = html.escape("\n".join(line.text for line in ALGORITHMS[slug].CODE))
    more = "".join(
        f"<details><summary>{html.escape(words)}</summary>"
        f"{rendered(on_screen((RESULTS / f'{name}.md').read_text(encoding='utf-8')), 3)}</details>"
        for name, words in MORE.items()
        if (RESULTS / f"{name}.md").is_file()
    )
    return (
        f"<h1>{inline(on_screen(paper.title))}</h1><p class=small>This is our own method. "
        "The text comes from the source code, and the numbers come from our benchmarks.</p>"
        f"{section('Idea', paper.idea)}<h2>Algorithm</h2><pre>{code}</pre>"
        f"{section('Theorem and proof', paper.guarantee)}<h2>Measured <span class=tag>NOT PRIVATE</span></h2>"
        f"{_measured(slug)}{section('Ablations, limits, and weak spots', paper.findings)}{more}"
        f"{section('References', paper.sources)}"
        f'<p><a href="{link(_address(slug), f"watch/{slug}.html")}">Watch it step by step</a></p>'
    )


def _measured(slug: str) -> str:
    table = measured(slug)
    if table.empty:
        return "<p>Not yet run.</p>"
    heads = "".join(f"<th scope=col>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in table.itertuples(index=False)
    )
    return (
        "<p>Loss relative to KMeans at each ε, and the area under the loss curve relative to KMeans, with its standard "
        'error. The bounds come from the data.</p><div class="scroll" tabindex="0" role="region" '
        f'aria-label="Measured"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
