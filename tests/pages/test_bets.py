"""Check on every page that a number of 100 says what it counts: a bare "55 of 100" reads as a success rate."""

import re

import pytest

from pages._ui.frame.places import PAGES
from tests.pages.visitor import read, visit
from tests.tiers import tiers

RUN = "v=1&d=tiny&a=dpm&k=2&e=1&s=0"
QUERIES = {
    "explore": RUN, "again": RUN, "attacker": RUN, "ledger": RUN, "limits": "v=1&d=tiny",
    "compare": "v=1&d=tiny&run=a%3Ddpm%26k%3D2%26e%3D1&run=a%3Ddpm%26k%3D2%26e%3D4", "tradeoff": "v=1&d=tiny&a=dpm",
}  # fmt: skip
NOUNS = r" (?:bets?|runs?|people|points?|rounds?|draws?|phones?|such bets?)\b"


def bare(text):
    """Return each "N of 100" in a text that no noun precedes or follows."""
    words = re.sub(r"\s+", " ", text)
    return [
        words[max(0, at.start() - 40) : at.end() + 20]
        for at in re.finditer(r"\d+ of 100\b(?![,.]\d)", words)
        if not words[: at.start()].endswith("bet ≤ ") and not re.match(NOUNS, words[at.end() :])
    ]


def test_a_bare_number_is_noticed():
    assert bare("ε 1 · 82 of 100 …") and bare("right in 5 of 100.") and not bare("bet ≤ 82 of 100, 9 of 100 bets")


@pytest.mark.parametrize("page", tiers(PAGES, ("home", "explore", "attacker", "plan", "tradeoff")))
def test_a_number_of_100_has_a_noun(page):
    app = visit(page, QUERIES.get(page))
    assert not app.exception
    assert bare(read(app)) == []
    if page in ("explore", "again", "attacker", "ledger"):
        assert re.search(r"bet ≤ \d+ of 100", read(app))
