"""Check the bar that shows a score: its tick, its label and its words state the same bound."""

import re

import pytest

from dpviz.audits.game import Tally
from dpviz.numbers import odds
from pages._ui.explore.attacker.scores import bar


@pytest.mark.parametrize("bound", [0.5, 0.562, 0.57, 0.75, 1.0])
def test_the_label_of_the_bound_stands_at_its_tick(bound):
    drawn, most = bar(Tally(0, 0), Tally(0, 0), bound, least=200), odds(bound)
    (tick,) = re.findall(r'<s style="left:([\d.]+)%', drawn)
    ((place, words),) = re.findall(r'<b style="left:([\d.]+)%[^>]*>([^<]*)</b>', drawn)
    assert float(tick) == float(place) == pytest.approx(2 * (most - 50), abs=0.05)  # the bar reaches from 50 to 100
    assert words == f"bound: {most}" and f"bound {most} of 100 bets" in drawn


def test_a_share_of_few_rounds_is_not_shown_as_the_best_attacks():
    few, many = (bar(Tally(3, 4), Tally(hits, rounds), 0.63, least=200) for hits, rounds in ((149, 199), (110, 200)))
    assert "attack 75" not in few and "lower dot): shown from 200 rounds on" in few and few.count("<u ") == 1
    assert "best known attack 55" in many and "lower dot): <b>55</b> of 100 bets won after 200 rounds" in many
    assert "You 75" in few and many.count("<u ") == 2
