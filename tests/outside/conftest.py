"""A file of somebody's own, and a registry that forgets it after the test."""

import sys

import pytest

from dpviz.algorithms import ALGORITHMS, outside
from dpviz.cli import main


@pytest.fixture
def registry(monkeypatch):
    """Return the registry; what a test adds to it is gone afterward."""
    monkeypatch.setenv(outside.FILES, "")
    before, modules = dict(ALGORITHMS), set(sys.modules)
    yield ALGORITHMS
    for known in (ALGORITHMS, outside.ORIGINS):
        for slug in set(known) - set(before):
            del known[slug]
    for name in set(sys.modules) - modules:
        if name.startswith(f"{outside.__name__}."):
            del sys.modules[name]


@pytest.fixture
def mine(registry, tmp_path, monkeypatch, capsys):
    """Return the file that `dpviz new my-own` writes; it is not added yet."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "my-own"]) == 0
    capsys.readouterr()
    return tmp_path / "my_own.py"
