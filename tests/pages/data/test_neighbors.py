"""Check that all pages look the same for neighboring private files until a run is paid for."""

import re

import numpy as np
import pytest

from tests.pages.visitor import declare, drop, facts, press

ROWS = [f"{a:.2f},{b:.2f}" for a, b in np.random.default_rng(1).uniform(5, 95, (40, 2))]
NEIGHBORS = {
    "one more": [*ROWS, "50.00,50.00"],
    "one less": ROWS[1:],
    "another form": [*ROWS, '"HIV positive",7,5'],
    "out of bounds": ["-500,1e300", *ROWS[1:]],
    "no row left": [],
}
# the pages that show no samples
PAGES = ("data", "bounds", "spend", "account", "explore", "again", "attacker", "compare", "ledger")


def shown(block):
    """Return everything that the blocks of a page send to the browser, without the random names of widgets."""
    sent = [str(getattr(block, "proto", ""))]
    for child in getattr(block, "children", {}).values():
        sent += shown(child)
    return [re.sub(r'id: ".*?"|\$\$ID-[0-9a-f]+|[0-9a-f-]{16,}|/media/\S+', "", text) for text in sent]


def visited(app, rows):
    """Return what each page shows of a private file with these rows, from its drop to the card that asks for a run."""
    drop(app.switch_page("pages/data.py").run(), "mine.csv", "\n".join(["a,b", *rows]).encode(), "No, it is private")
    seen = {"dropped": shown(app._tree)}
    declare(app, facts("a", "b", n_public=40))
    for page in PAGES:
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page
        seen[page] = shown(app._tree)
    press(app.switch_page("pages/explore.py").run(), "Run")
    seen["card"] = shown(app._tree)
    assert "Run and spend" in {button.label for button in app.button}
    return seen


@pytest.mark.slow
def test_no_page_tells_neighboring_private_files_apart(start):
    visited(start(), ROWS)  # the first visit prepares samples
    same = visited(start(), ROWS)
    assert sum(map(len, same.values())) > 300
    for name, rows in NEIGHBORS.items():
        other = visited(start(), rows)
        assert [page for page in same if other[page] != same[page]] == [], name
