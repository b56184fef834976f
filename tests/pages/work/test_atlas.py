"""Check that a page uses stored runs only if they are of samples and of this version."""

import dataclasses
import os
import shutil
import sys

import pytest

from dpviz.atlas import averages, cells, files, rounds
from dpviz.atlas.cells import Chapter
from dpviz.datasets import load_sample
from pages._ui.work import atlas
from pages._ui.work.atlas import chart

TINY = Chapter("tiny", "kmeans")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files.write(TINY, [cells.row(cell) for cell in TINY.cells()], tmp_path)
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    files.read.cache_clear()
    return tmp_path


@pytest.mark.slow
def test_a_folder_that_nobody_may_write_to_is_enough(folder, monkeypatch):
    shutil.copy(files.FOLDER / averages.NAME, folder)
    shutil.copy(files.FOLDER / rounds.NAME, folder)
    folder.chmod(0o555)
    written, watching = [], True

    def watch(event, arguments):  # root, who may run the tests, ignores file modes
        if watching and event == "open" and str(folder) in str(arguments[0]):
            written.extend([arguments[0]] * bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
        elif watching and event in ("os.mkdir", "os.rename", "os.remove") and str(folder) in str(arguments[0]):
            written.append(arguments[0])

    sys.addaudithook(watch)  # an audit hook cannot be removed
    try:
        assert chart("tiny", "kmeans").seeds == cells.SEEDS
        assert rounds.read(folder) and averages.read(folder)
    finally:
        watching = False
        folder.chmod(0o755)
    assert written == []


def test_rounds_are_looked_up_for_a_sample_and_never_for_private_rows(monkeypatch):
    asked = []
    monkeypatch.setattr(atlas.rounds, "read", lambda folder: asked.append(folder))
    game, town = atlas.GAMES[0], load_sample("town")
    question = game.algorithm(), game.question().person
    for private in (True, False):  # a file may have a sample's name
        assert atlas.played(dataclasses.replace(town, private=private), *question) == ()
        assert len(asked) == (not private)
