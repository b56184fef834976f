"""Check stored rounds: what survives storage on disk, and what makes them outdated."""

import numpy as np
import pytest

from dpviz.atlas import rounds
from dpviz.atlas.rounds import Game
from dpviz.audits.game import play

PLAYED = Game("tiny", "dp-lloyd", "outlier", None, 3)
EXACT = Game("tiny", "kmeans", "outlier", None, 2)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    place = tmp_path_factory.mktemp("atlas")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rounds, "GAMES", (PLAYED, EXACT))
        patched.setattr(rounds, "on_this_machine", lambda batches, run, give_up, *, workers: map(run, batches))
        rounds.make(place)
    return (place / rounds.NAME).read_bytes()


@pytest.fixture
def folder(content, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "GAMES", (PLAYED, EXACT))
    (tmp_path / rounds.NAME).write_bytes(content)
    rounds.read.cache_clear()
    yield tmp_path
    rounds.read.cache_clear()


@pytest.mark.slow
def test_what_is_read_is_what_was_played(folder):
    stored = rounds.read(folder)
    assert list(stored) == [PLAYED, EXACT] and rounds.up_to_date(folder)
    for game in stored:
        made = play(game.question(), game.algorithm(), 0, game.rounds, 0)
        for one, other in zip(stored[game], made, strict=True):
            assert (one.inside, one.speaks) == (other.inside, other.speaks)
            assert np.allclose(one.centers, other.centers, atol=1e-4)


def test_another_release_or_another_list_of_games_makes_them_old(folder, monkeypatch):
    outcome = rounds.outcome
    moved = lambda *which: [row | {"speaks": row["speaks"] + 1e-4} for row in outcome(*which)]  # noqa: E731
    monkeypatch.setattr(rounds, "outcome", moved)
    assert not rounds.up_to_date(folder)
    monkeypatch.setattr(rounds, "outcome", outcome)
    assert rounds.up_to_date(folder)
    monkeypatch.setattr(rounds, "GAMES", (PLAYED,))
    assert not rounds.up_to_date(folder) and rounds.read(folder) is None


@pytest.mark.parametrize("damage", ["missing", "truncated", "text"])
def test_a_damaged_file_is_no_rounds(folder, damage):
    path = folder / rounds.NAME
    if damage == "missing":
        path.unlink()
    elif damage == "text":
        path.write_text("PAR1 is not enough PAR1")
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert rounds.read(folder) is None and not rounds.up_to_date(folder)


def test_one_changed_byte_leaves_no_rounds_or_the_same(folder, content):
    stored, lost = rounds.read(folder), 0
    for place in range(0, len(content), 5):
        (folder / rounds.NAME).write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        rounds.read.cache_clear()
        found = rounds.read(folder)
        lost += found is None
        assert found is None or list(found) == list(stored), place
        assert found is None or all(all(map(same, found[game], stored[game])) for game in stored), place
    assert lost > 50


def same(one, other):
    return (one.inside, one.speaks, one.centers.tolist()) == (other.inside, other.speaks, other.centers.tolist())
