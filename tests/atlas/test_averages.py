"""Check Start's stored facts: what survives storage on disk, and what makes them outdated."""

import dataclasses

import numpy as np
import pytest

from dpviz.atlas import averages


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patched:
        shorten(patched)
        return averages._computed()


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shorten(monkeypatch)
    monkeypatch.setattr(averages, "_computed", lambda: made)
    averages.make(tmp_path)
    averages.read.cache_clear()
    yield tmp_path
    averages.read.cache_clear()


def shorten(patched):
    patched.setattr(averages, "CLUSTERS", range(3, 4))
    patched.setattr(averages, "POOL", 1)
    patched.setattr(averages, "TRIED", 1)


def test_what_is_read_is_what_was_computed(made, folder):
    who, bets = averages.read(folder)
    assert who.rows == (tuple(made["rows"][0]),) and who.alex in who.rows[0] and who.count == who.candidates == 3
    assert [centers.shape for centers in who.centers] == [(3, 2)] and who.kmeans.shape == (5, 2)
    assert [one.inside for one in bets.private] == [True, False] and bets.private[0].centers.shape == (5, 2)
    assert bets.exact[1].centers.ravel().tolist() == made["exact"][1]["centers"]
    assert len(bets.inside) == len(bets.outside) == 1


def test_another_machines_last_digits_are_not_old_and_another_number_is(made, folder, monkeypatch):
    def shifted(value, share):
        if isinstance(value, float):
            return value * (1 + share)
        if isinstance(value, list):
            return [shifted(one, share) for one in value]
        return {name: shifted(one, share) for name, one in value.items()} if isinstance(value, dict) else value

    for computed, current in (
        (shifted(made, 1e-9), True),
        (shifted(made, 1e-4), False),
        (made | {"alex": made["alex"] + 1}, False),
        (made | {"rows": [made["rows"][0][1:]]}, False),
    ):
        monkeypatch.setattr(averages, "_computed", lambda computed=computed: computed)
        assert averages.up_to_date(folder) is current


def test_what_was_made_from_something_else_is_old(folder, monkeypatch):
    assert averages.up_to_date(folder)
    monkeypatch.setattr(averages, "POOL", 2)
    assert not averages.up_to_date(folder) and averages.read(folder) is None


@pytest.mark.parametrize("damage", ["missing", "truncated", "text", "empty"])
def test_a_damaged_file_tells_nothing(folder, damage):
    path = folder / averages.NAME
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"truncated": content[:-200], "text": b"PAR1 is not enough PAR1", "empty": b""}[damage])
    assert averages.read(folder) is None and not averages.up_to_date(folder)


def test_one_changed_byte_tells_nothing_or_the_same(folder):
    path, stored, lost = folder / averages.NAME, averages.read(folder), 0
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        averages.read.cache_clear()
        found = averages.read(folder)
        lost += found is None
        assert found is None or all(map(same, found, stored)), place
    assert lost > 50


def same(one, other):
    """Return whether two parts of the file hold the same values."""
    if dataclasses.is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)
