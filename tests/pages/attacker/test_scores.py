"""Check the bar that shows a score: its tick, its label and its words state the same bound."""

import re

import pytest

from dpviz.audits.game import Tally
from dpviz.numbers import odds
from pages._ui.attacker.scores import bar


@pytest.mark.parametrize("bound", [0.5, 0.562, 0.57, 0.75, 1.0])
def test_the_label_of_the_bound_stands_at_its_tick(bound):
    drawn, most = bar(Tally(0, 0), Tally(0, 0), bound), odds(bound)
    (tick,) = re.findall(r'<s style="left:([\d.]+)%', drawn)
    ((place, words),) = re.findall(r'<b style="left:([\d.]+)%[^>]*>([^<]*)</b>', drawn)
    assert float(tick) == float(place) == pytest.approx(2 * (most - 50), abs=0.05)  # the bar reaches from 50 to 100
    assert words == f"bound: {most}" and f"bound {most} of 100" in drawn
