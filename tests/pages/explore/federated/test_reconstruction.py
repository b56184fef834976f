"""Check that exact centers reveal people, on the pages Limits and Federated, and what is said about noisy ones."""

import re

import pytest

from tests.pages.visitor import words


def strip(app):
    return next(block.proto.body for block in app.get("html") if 'class="dp-strip"' in block.proto.body)


def read_off(app):
    found = re.search(r"<b>([\d,]+) rows? computed, ([\d,]+) of them people&#x27;s</b>", words(app))
    return int(found[2].replace(",", "")) if found else 0


def test_people_are_read_off_exact_centers_and_noise_is_no_proof_of_privacy(open_link):
    app = open_link("limits", "v=1&d=iris")
    assert not app.exception and read_off(app) >= 1 and "from 3 centers in 15 rounds" in words(app)
    app.segmented_control(key="exact_noise").set_value("seeded").run()
    assert not app.exception and read_off(app) == 0
    assert "no count is whole, so this arithmetic stops" in words(app) and "that alone protects nobody" in words(app)


def test_the_strip_names_the_sample_of_the_picture(open_link):
    app = open_link("limits", "v=1&d=digits")
    assert "Handwritten digits" in strip(app) and "Town" not in strip(app)
    app.selectbox(key="exact_data").set_value("iris").run()
    assert "Iris" in strip(app)


@pytest.mark.slow
def test_clients_without_noise_give_people_away_too(open_link):
    app = open_link("explore", "v=1&d=iris&a=fastlloyd&trust=clients&bare=1")
    assert not app.exception and read_off(app) >= 1
    app.toggle(key="fed_exact").set_value(False).run()
    assert not app.exception and read_off(app) == 0
