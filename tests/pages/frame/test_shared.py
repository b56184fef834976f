"""Check that what all visitors share is made once, and that no cache of Streamlit holds what cannot be made again."""

import ast
import threading
import time
from pathlib import Path

import pytest
import streamlit as st

from pages._ui.explore.tradeoff.sweeps import shelf
from pages._ui.frame.shared import once
from pages._ui.learn import exhibits
from pages._ui.teach.classroom.registry import rooms
from pages._ui.work import batch, private, results, runs
from pages._ui.work.workers import workers

ROOT = Path(__file__).parents[3]
AGAIN = {  # functions that Streamlit caches: each computes the same value again from its arguments
    "explore/attacker/who.py": {"_found"},
    "data/gallery.py": {"_picture"},
    "explore/drag.py": {"_record"},
    "explore/local.py": {"_loss"},
    "explore/federated/wire.py": {"make"},
    "start/story.py": {"_record"},
    "learn/definition.py": {"_record"},
    "learn/exhibits.py": {"_asked", "_panels"},
    "explore/ledger/view.py": {"_table"},
    "explore/federated/reconstruction.py": {"read_on"},
    "learn/papers/view.py": {"_read", "_counts"},
    "work/caches.py": {"make"},
    "work/runs.py": {"_public_kmeans", "demo"},
}


def _accounts():
    return private._open("folder", "")


@pytest.mark.parametrize(
    "held",
    [rooms, runs.jobs, shelf, results.store, batch._everybody, exhibits._threads, workers, _accounts],
    ids=["classes", "queue", "sweeps", "results", "pieces", "lessons", "processes", "accounts"],
)
def test_what_visitors_share_survives_the_clearing_of_every_cache(held):
    before = held()
    st.cache_resource.clear()
    st.cache_data.clear()
    assert held() is before


def test_the_pace_survives_the_clearing_of_every_cache(monkeypatch):
    monkeypatch.undo()  # tests of pages replace the pace
    before = runs.pace()
    st.cache_resource.clear()
    assert runs.pace() is before


def test_two_first_visitors_get_the_same_value():
    made, got = [], []

    @once
    def slow():
        made.append(1)
        time.sleep(0.1)
        return object()

    visitors = [threading.Thread(target=lambda: got.append(slow())) for _ in range(8)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert len(made) == 1 and len(got) == 8 and len(set(map(id, got))) == 1


def _cached(tree):
    """Yield the names of the functions that a module's code gives to a cache of Streamlit."""
    caches = {"st.cache_resource", "st.cache_data"}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if ast.unparse(decorator).split("(")[0] in caches:
                    yield node.name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Call):
            if ast.unparse(node.func.func) in caches:
                yield ast.unparse(node.args[0])


@pytest.mark.slow
def test_streamlit_caches_only_what_is_computed_again():
    found = {}
    for path in (ROOT / "pages").rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = list(_cached(tree))
        uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr.startswith("cache_")]
        assert len(uses) == len(names), f"{path}: another use of a cache"
        if names:
            found[path.relative_to(ROOT / "pages" / "_ui").as_posix()] = set(names)
    new = {name: functions - AGAIN.get(name, set()) for name, functions in found.items()}
    assert not {name: functions for name, functions in new.items() if functions}
    assert "work/runs.py" in found and "work/caches.py" in found
