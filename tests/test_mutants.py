"""Check that mutants fit the code, and that a few of them, different ones every day, are killed."""

import dataclasses
import datetime

import pytest

from tests.mutants import MUTANTS, ROOT, survives

A_DAY = 4  # number of mutants tried per day, so that all are tried in a hundred days; the command tries all at once


def test_there_are_many_and_each_has_its_own_name():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 90


def stale(mutant):
    """Return the reason why a mutant does not fit: the line, a test file, or the changed module's syntax."""
    text = (ROOT / mutant.path).read_text()
    if mutant.old not in text or mutant.old == mutant.new:
        return f"{mutant.name}: its line is not in {mutant.path}"
    if lacking := [word for word in mutant.tests.partition(" -k ")[0].split() if not (ROOT / word).is_file()]:
        return f"{mutant.name}: no file {lacking[0]}"
    try:
        compile(text.replace(mutant.old, mutant.new, 1), mutant.path, "exec")
    except SyntaxError as problem:
        return f"{mutant.name}: {problem}"
    return None


def test_the_line_that_a_mutant_changes_is_there():
    """A mutant must be updated when its line changes; otherwise the unchanged line would be tested."""
    assert [words for mutant in MUTANTS if (words := stale(mutant))] == []


@pytest.mark.parametrize("wrong", [{"old": "no such line"}, {"new": "("}, {"tests": "tests/none.py"}])
def test_a_stale_mutant_is_noticed(wrong):
    assert stale(dataclasses.replace(MUTANTS[0], **wrong)).startswith(f"{MUTANTS[0].name}: ")


@pytest.mark.slow
@pytest.mark.parametrize("place", range(A_DAY))
def test_a_mutant_is_noticed(place):
    """The mutants are chosen here, so that test processes started before and after midnight collect the same tests."""
    mutant = MUTANTS[(A_DAY * datetime.date.today().toordinal() + place) % len(MUTANTS)]
    assert not survives(mutant), mutant.name
