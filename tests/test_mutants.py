"""Mutants are wrong where they say so, and a few of them, others every day, die."""

import datetime

import pytest

from tests.mutants import MUTANTS, ROOT, survives

A_DAY = 7  # all of them within a month; the command tries all at once


def test_there_are_many_and_each_has_its_own_name():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 90


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_line_that_a_mutant_changes_is_there(mutant):
    """After a change of the code a mutant must be changed too, or it would live on as the honest line."""
    text = (ROOT / mutant.path).read_text()
    assert mutant.old in text and mutant.old != mutant.new
    for word in mutant.tests.partition(" -k ")[0].split():
        assert (ROOT / word).is_file()
    compile(text.replace(mutant.old, mutant.new, 1), mutant.path, "exec")


@pytest.mark.slow
@pytest.mark.parametrize("place", range(A_DAY))
def test_a_mutant_is_noticed(place):
    """Which one is decided here: test processes that begin on both sides of midnight collect the same tests."""
    mutant = MUTANTS[(A_DAY * datetime.date.today().toordinal() + place) % len(MUTANTS)]
    assert not survives(mutant), mutant.name
