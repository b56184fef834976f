"""Translate addresses of earlier versions whose view now has another page or another word."""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

from dpviz.algorithms import ALGORITHMS
from dpviz.privacy.guarantee import Notion
from pages._ui.frame.address.scene import MOST, MOST_FIELDS

__all__ = ["OLD", "today"]

Words = dict[str, list[str]]


def today(page: str, query: str) -> tuple[str, str]:
    """Return the current page and query of an address; an address that is not old stays the same."""
    if page not in OLD or len(query) > MOST:
        return page, query
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return page, query
    words: Words = {}
    for word, text in pairs:
        words.setdefault(word, []).append(text)
    before = {word: list(texts) for word, texts in words.items()}
    to = OLD[page](words)
    if to == page and words == before:
        return page, query
    return to, urlencode([(word, text) for word, texts in words.items() for text in texts], safe=":,=")


def _explore(words: Words) -> str:
    """Translate addresses from the time when Alex was a part of Explore."""
    alex = words.pop("alex", [""])
    if alex == [""]:
        return "explore"
    words["who"] = ["near" if who == "typical" else who for who in alex]
    return "attacker"


def _attacker(words: Words) -> str:
    """Translate addresses from the time when a pin was a separate person, with two words for its position."""
    x, y = (words.pop(word, [""])[-1] for word in "xy")
    if words.get("who") == ["pin"]:
        words["who"] = [f"at:{x},{y}"]
    return "attacker"


def _distance(words: Words) -> str:
    """Translate addresses from the time when a promise about moves had its own page, which used the city by default."""
    if words.setdefault("d", ["city"]) == ["city"]:
        if not _is_distance(words.setdefault("rho", ["0.0089"])):
            words["no_rho"], words["rho"] = words["rho"], ["0.0089"]
    chosen = ALGORITHMS.get(words.setdefault("a", ["dist-dp-region-means"])[-1])
    if chosen is not None and chosen.notion is not Notion.RHO:
        words.setdefault("rho", [""])  # causes a note that this method hides no moves
    return "explore"


def _is_distance(texts: list[str]) -> bool:
    try:
        return len(texts) == 1 and 0 < float(texts[0]) < math.inf
    except ValueError:
        return False


def _federated(words: Words) -> str:
    """Translate addresses from the time when clients had their own page, on which "exact" meant a run without noise."""
    words.setdefault("a", ["fastlloyd"])
    words["trust"] = ["clients"]
    if "exact" in words:
        words["bare"] = words.pop("exact")
    return "explore"


OLD: dict[str, Callable[[Words], str]] = {
    "explore": _explore,
    "attacker": _attacker,
    "distance": _distance,
    "federated": _federated,
}
