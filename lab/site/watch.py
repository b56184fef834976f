"""Every algorithm on one sample, step by step: a replay drawn over the people of the made-up town."""

from __future__ import annotations

import html
import inspect

from dpviz.algorithms import ALGORITHMS
from dpviz.figures.kit.svg import plane_svg
from dpviz.figures.kit.theme import LIGHT
from dpviz.lessons.ground import ground
from dpviz.numbers import on_screen
from dpviz.takeaway.replay import driver, replay_parts

from .folder import Folder
from .in_tab import OWN
from .shell import Shell, link

__all__ = ["HOME", "add", "address"]

HOME = "watch/index.html"
SAMPLE, SEED = "town", 0


def address(slug: str) -> str:
    """Return the page of an algorithm."""
    return f"watch/{slug}.html"


def add(folder: Folder, shell: Shell) -> None:
    """Add a page for each algorithm, and one that lists them."""
    cards = []
    for slug, cls in ALGORITHMS.items():
        cards.append(
            f'<li><a href="{link(HOME, address(slug))}"><b>{html.escape(cls.name)}</b>'
            f"<span>{html.escape(_first_line(slug))}</span></a></li>"
        )
        folder.put(address(slug), _replay(slug, shell))
    live = link(HOME, shell.live) if shell.live else ""
    here = (
        f'<a href="{live}">run it here</a>, in this tab, also <a href="{live}?data={OWN}">on your own file</a> or '
        f'<a href="{live}?other=dpm">two methods side by side</a>; or '
    )
    body = (
        f"<h1>Watch</h1><p class=lede>Each of the {len(ALGORITHMS)} algorithms runs at its default budget on the "
        "same made-up town. You see every step, what it released, and what it cost.</p>"
        f'<ul class="cards">{"".join(cards)}</ul><p>For other data, another ε or other noise, '
        f'{here * bool(live)}<a href="{link(HOME, "run.html")}">run it yourself</a>.</p>'
    )
    folder.put(HOME, shell.page(HOME, "Watch", body, wide=True))


def _first_line(slug: str) -> str:
    """Return the first line of an algorithm's docstring."""
    first = " ".join(inspect.cleandoc(ALGORITHMS[slug].__doc__ or "").split("\n\n")[0].split())
    name, _, rest = first.partition(": ")
    words = rest if ALGORITHMS[slug].name.split()[0] in name else first
    return on_screen(words[0].upper() + words[1:])


def _replay(slug: str, shell: Shell) -> str:
    there = ground(SAMPLE)
    trace = there.run(slug, SEED)
    view = there.view(trace, LIGHT, kmeans=True)
    title, body, head = replay_parts(trace, view)
    here = address(slug)
    still = f"<noscript><p>Without scripts, only the last step is shown.</p>{plane_svg(view)}</noscript>"
    own = (
        f' · <a href="{link(here, shell.live)}?method={slug}">Run it here with your own values</a>'
        if shell.live
        else ""
    )
    back = f'<p><a href="{link(here, HOME)}">All algorithms</a>{own}</p>'
    return shell.page(here, title, back + body + driver() + still, head=head, wide=True)
