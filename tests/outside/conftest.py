"""Provide an outside algorithm's file."""

import pytest

from dpviz.cli import main


@pytest.fixture
def mine(registry, tmp_path, monkeypatch, capsys):
    """Return the file that `dpviz new my-own` writes; it is not added yet."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my-own"]) == 0
    capsys.readouterr()
    return tmp_path / "my_own.py"
