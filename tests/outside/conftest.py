"""Provide the file of an algorithm from outside this repository."""

import pytest

from dpviz.cli import main


@pytest.fixture
def mine(registry, tmp_path, monkeypatch, capsys):
    """Return the file that `dpviz new my-own` writes; its algorithm is not registered yet."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my-own"]) == 0
    assert "needs pytest" in capsys.readouterr().out
    return tmp_path / "my_own.py"


@pytest.fixture(autouse=True)
def cleared(registry):
    """Remove what a test adds, because a later test of the same process counts the algorithms."""
