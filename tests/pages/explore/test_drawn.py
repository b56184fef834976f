"""Check that if full DP replaces a method that hides moves, every page describes the run that is drawn."""

import re

import pytest

LINK = "v=1&d=ring&a=dist-dp-region-means&k=2&e=1&s=0&rho="


def said(app):
    """Return the strip, the heading and the verdict of a page, without tags."""
    blocks = [block.proto.body for block in app.get("html")]
    wanted = [body for body in blocks if any(mark in body for mark in ("dp-strip", "Explore: ", "dp-verdict"))]
    return re.sub(r"<style>.*?</style>|<[^>]*>", "", " ".join(wanted), flags=re.DOTALL)


@pytest.mark.parametrize(
    ("rho", "there", "absent"),
    [
        ("0.01", ["WEAKER: hides moves of up to", "dist-DP region means (ours)", "away is right"], ["NSM (ours)"]),
        ("2.8", ["NSM (ours)", "one row changed to any value", "which of two values"], ["WEAKER", "dist-DP", "away"]),
    ],
)
def test_strip_heading_and_bet_follow_the_run_that_is_drawn(open_link, rho, there, absent):
    explore = open_link("explore", LINK + rho)
    pages = [said(explore), said(explore.switch_page("pages/ledger.py").run())]
    assert not explore.exception
    for words, expected in zip(pages, (there, there[:2]), strict=True):
        assert all(part in words for part in expected), words
        assert not any(part in words for part in absent), words
