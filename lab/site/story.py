"""The site's first page: the story in six screens, with static SVG pictures for browsers without JavaScript."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.atlas import averages, noised
from dpviz.atlas.cells import METHODS
from dpviz.datasets import SAMPLES
from dpviz.figures.kit.view import thin
from dpviz.lessons import story

from .folder import Folder
from .runs import chart
from .shell import Shell, aliases, link, text_of

__all__ = ["HOME", "add"]

HOME = "index.html"
_DOORS = (  # screen, page, text of its link, description
    (1, "limits.html", "What the promise does not cover", ""),
    (3, "run.html", "Keep betting: run it yourself", ""),
    (3, "lessons/definition.html", "What a bet means, as a picture", ""),
    (6, "watch/pe-means.html", "Watch a run", "Step by step, with every release and what it costs."),
    (
        6,
        "tradeoff/town.html",
        "Drag ε",
        f"Compare {len(METHODS) - 1} methods on this town and on {len(SAMPLES) - 1} other samples.",
    ),
    (6, "lessons/index.html", "Lessons", "Predict first, then see what a stored run says."),
    (6, "run.html", "Run it yourself", "One command starts the app, for your own file, other noise, or a class."),
)
_PEOPLE = 1_500  # maximum number of people drawn in a still picture
_LOUPE = (-8300, -5300, 3400)  # middle and radius of the lens in a still picture, as in the script, in meters


def add(folder: Folder, shell: Shell) -> None:
    """Add the first page.

    Raises
    ------
    ValueError
        If the stored averages are missing.
    """
    stored, drowned = averages.read(), noised.read()
    if stored is None or drowned is None:
        raise ValueError("site: the stored averages are missing; `python -m dpviz atlas --make` makes them.")
    reruns = [story.of_chart(chart(story.SAMPLE, story.METHOD, people)) for people in story.EDITIONS]
    record = story.record(*stored, reruns, drowned)
    doors = [
        {"screen": screen, "page": page, "title": title, "words": words, "href": link(HOME, page)}
        for screen, page, title, words in _DOORS
    ]
    given = json.dumps({"record": record, "doors": doors}, ensure_ascii=False, separators=(",", ":"))
    look = f".dp-story{{{aliases()}--st-font:system-ui,sans-serif;--st-heading-font:Georgia,serif}}"
    body = (
        f'<div class="dp-story">{_still(record, doors)}</div>'
        f'<script type="application/json" id="story">{given.replace("<", chr(92) + "u003c")}</script>'
        f'<script type="module">{story.text_of("story.js")}{text_of("story_host.js")}</script>'
    )
    head = f"<style>{look}{story.text_of('story.css')}{text_of('story.css')}</style>"
    folder.put(HOME, shell.page(HOME, record["titles"][0].rstrip("."), body, head=head, wide=True, foot=False))


def _still(record: dict[str, Any], doors: Sequence[dict[str, Any]]) -> str:
    """Return the six screens as sections with their pictures."""
    start, whole, few = record["start"], record["editions"][0], record["editions"][-1]
    given, bets, noise = record["given"], record["bets"], record["noise"]
    says = [
        [given["big"], given["note"]],
        [noise["stops"][-1]["big"], noise["stops"][-1]["note"], noise["smart"]["smarter"], noise["smart"]["why"]],
        [bets["after"][-1], bets["coin"][1]],
        [whole["stops"][start]["epsilon"]["big"]],
        [few["stops"][start]["people"]["big"]],
        [],
    ]
    spoken = [given["say"], noise["stops"][-1]["say"], bets["say"], whole["stops"][start]["epsilon"]["say"]]
    spoken += [few["stops"][start]["people"]["say"], record["turn"]]
    sections = []
    for i, picture in enumerate(_pictures(record)):
        words = "".join(f"<p{' class=big' * (not j)}>{_bold(one)}</p>" for j, one in enumerate(says[i]))
        links = "".join(
            f'<a {"class=door " * bool(door["words"])}href="{door["href"]}"><b>{html.escape(door["title"])}</b> '
            f"<span>{html.escape(door['words'])}</span></a>"
            for door in doors
            if door["screen"] == i + 1
        )
        sections.append(
            f"<section class=still><div><h{1 + (i > 0)}>{html.escape(record['titles'][i])}</h{1 + (i > 0)}>"
            f"<p>{_bold(record['texts'][i])}</p>{words}{links}</div>{_svg(record, picture, spoken[i])}</section>"
        )
    return "".join(sections)


def _bold(words: str) -> str:
    return re.sub(r"\*\*(.*?)\*\*", r"<b>\1</b>", html.escape(words))


def _svg(record: dict[str, Any], inside: str, words: str) -> str:
    (left, low), (right, high) = record["low"], record["high"]
    return (
        f'<figure><svg viewBox="{left} {-high} {right - left} {high - low}" role="img" '
        f'aria-label="{html.escape(words)}">{inside}</svg><figcaption><span class="tag">NOT PRIVATE</span> rings: '
        "people's rows, dashed: nobody's; dots: where an attacker places Alex; "
        "blue: released centers; hollow diamonds: exact averages"
        "</figcaption></figure>"
    )


def _pictures(record: dict[str, Any]) -> list[str]:
    """Return the contents of the six pictures; the first defines the people that the others reuse."""
    start, whole, few = record["start"], record["editions"][0], record["editions"][-1]
    given, bets = record["given"], record["bets"]
    again = '<use href="#people"/>'
    people = (
        '<defs><marker id="person" viewBox="-6 -6 12 12" markerWidth="260" markerHeight="260" '
        'markerUnits="userSpaceOnUse"><circle r="4" class="person"/></marker>'
        f'<path id="people" fill="none" d="{_places(_unpacked(record["people"]))}"/></defs>{again}'
    )
    exposed = "".join(_ring(x, y, 330, "hidden") for step in given["steps"] for x, y in step["rows"])
    exposed += "".join(_ring(x, y, 330, "hidden wrong") for step in given["steps"] for x, y in step["wrong"])
    drowned = _unpacked(record["noise"]["stops"][-1]["places"]).tolist()
    averaged, guesses = drowned[: len(given["kmeans"])], drowned[len(given["kmeans"]) :]
    last = given["steps"][-1]["centers"]
    alex = _alex(*given["alex"])
    one, cloud = _clouds(whole["cloud"], record, start)
    _, small = _clouds(few["cloud"], record, start)
    exact = next(round_ for round_ in bets["exact"] if round_["inside"])
    return [
        people + exposed + "".join(_diamond(x, y, 380) for x, y in last) + alex,
        again
        + "".join(_ring(x, y, 150, "guess") for x, y in guesses)
        + "".join(_disc(x, y) for x, y in averaged)
        + alex,
        again + "".join(_diamond(x, y, 420) for x, y in exact["centers"]) + alex + _lens(bets, exact),
        again + "".join(_disc(x, y, "cloud") for x, y in cloud) + "".join(_disc(x, y) for x, y in one) + alex,
        f'<path class="some" fill="none" d="{_places(_unpacked(few["people"]))}"/>'
        + "".join(_disc(x, y, "cloud") for x, y in small)
        + "".join(_disc(x, y) for x, y in small[: len(one)]),
        again + "".join(_disc(x, y) for x, y in one),
    ]


def _unpacked(text: str) -> np.ndarray:
    """Return positions (n, 2) in whole meters."""
    return np.frombuffer(base64.b64decode(text), "<i2").reshape(-1, 2).astype(int)


def _clouds(text: str, record: dict[str, Any], stop: int) -> tuple[list[Any], list[Any]]:
    """Return the centers of the first run at a stop of ε, and those of all its runs."""
    whole = _unpacked(text)
    size, k = len(whole) // len(record["stops"]), len(record["given"]["kmeans"])
    here = whole[stop * size : (stop + 1) * size].tolist()
    return here[:k], here


def _places(places: np.ndarray) -> str:
    """Return positions, or a sample of them if there are many, as an SVG path that has a mark at each position."""
    places = places[thin(len(places), _PEOPLE)]
    return "M" + "L".join(f"{x} {-y}" for x, y in places.tolist())


def _ring(x: int, y: int, r: int, look: str) -> str:
    return f'<circle class="{look}" cx="{x}" cy="{-y}" r="{r}"/>'


def _disc(x: int, y: int, look: str = "released") -> str:
    return f'<circle class="{look}" cx="{x}" cy="{-y}" r="{230 if look == "cloud" else 330}"/>'


def _diamond(x: float, y: float, r: int) -> str:
    return f'<path class="hidden" d="M{x} {-y - r}l{r} {r}-{r} {r}-{r}-{r}z"/>'


def _alex(x: int, y: int) -> str:
    return f'{_ring(x, y, 420, "hidden alex")}<text x="{x + 400}" y="{-y - 400}">Alex</text>'


def _lens(bets: dict[str, Any], published: dict[str, Any]) -> str:
    """Draw the lens: the center nearest to Alex, computed with and without Alex, and the published center."""
    cx, cy, r = _LOUPE
    zoom, s = r / bets["reach"], 170
    inside = [(cx + x * zoom, cy + y * zoom) for x, y in bets["inside"]]
    outside = [(cx + x * zoom, cy + y * zoom) for x, y in bets["outside"]]
    x, y = published["near"]
    return (
        f'<circle class="lens" cx="{cx}" cy="{-cy}" r="{r}"/>'
        + "".join(f'<path class="ink" d="M{u - s:.0f} {-v:.0f}h{2 * s}m-{s} -{s}v{2 * s}"/>' for u, v in inside)
        + "".join(f'<circle class="ink" cx="{u:.0f}" cy="{-v:.0f}" r="{s}"/>' for u, v in outside)
        + _diamond(round(cx + x * zoom), round(cy + y * zoom), 420)
        + f'<text class="small" x="{cx}" y="{-cy + 0.84 * r:.0f}">{html.escape(bets["wide"])}</text>'
    )
