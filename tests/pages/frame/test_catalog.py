"""Check the names that pages give to data sets."""

from pages._ui.frame import catalog


def test_short_titles_never_read_alike():
    titles = {"town": "Town, 5,000 made-up people", "a": "Made up from k 3, ε 1", "b": "Made up from k 3, ε 4"}
    assert catalog.short(titles) == titles | {"town": "Town"}
