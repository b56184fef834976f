"""Check that workbooks and Parquet files are read in separate processes, which have limits, end, and delay nobody."""

import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from dpviz.datasets import readers
from dpviz.datasets.readers import Form, Limits, Stopped, TableError, apart, child, read_table
from tests.broken_files import CELL, make_files, parquet, workbook

TOO_MUCH = "x.xlsx: reading it takes more time or memory than is allowed; save the table as CSV."
BOOK = workbook(["a", "b"], [1, 2.5], [3, None])


@pytest.fixture(autouse=True)
def really_apart(files_are_read_here, monkeypatch):
    monkeypatch.setattr(readers, "read_apart", apart.read_apart)
    started, start = [], apart._start

    def noted():
        started.append(start())
        return started[-1]

    monkeypatch.setattr(apart, "_start", noted)
    yield started
    apart.stop()
    assert started and all(process.poll() is not None for process in started)


def stuck(monkeypatch, script):
    """Let later processes run another program instead of the reader."""
    monkeypatch.setattr(
        apart,
        "_start",
        lambda: subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE),
    )


@pytest.mark.slow
def test_what_comes_back_is_what_was_read():
    single = pd.DataFrame({"a": np.arange(600_000.0), "b": 1.5, "c": "text"})  # stored in single precision
    mixed = workbook(["a", "b", "c"], [True, 2, "x"], [False, CELL, 3])
    for content, private in ((BOOK, True), (mixed, False), (single.to_parquet(), False)):
        away = read_table(content, "x", header=True, private=private)
        here = child.read(memoryview(content), "x", Form(True, private), Limits(), lambda done: None)
        assert (away.name, away.n_rows, away.notes) == (here.name, here.n_rows, here.notes)
        for one, other in zip(away.columns, here.columns, strict=True):
            assert (one.name, one.kind, one.reason) == (other.name, other.kind, other.reason)
            assert (one.values is None) == (other.values is None)
            if one.values is not None:
                assert one.values.dtype == other.values.dtype and not one.values.flags.writeable
                assert np.array_equal(one.values, other.values, equal_nan=True)


def test_in_a_browser_a_file_is_read_where_it_is(really_apart, monkeypatch):
    away = read_table(BOOK, "x", header=True, private=True)
    monkeypatch.setattr(sys, "platform", "emscripten")
    here = read_table(BOOK, "x", header=True, private=True)
    assert len(really_apart) == 1 and repr(here) == repr(away)
    np.testing.assert_array_equal(here.matrix(here.usable), away.matrix(away.usable))


@pytest.mark.slow
def test_a_refusal_comes_back_as_it_is_and_a_spare_is_used_once(really_apart):
    apart.warm()
    assert len(really_apart) == 2
    file, content, expected = make_files()["sheet with header only"]
    with pytest.raises(TableError) as caught:
        read_table(content, file)
    assert str(caught.value) == f"{file}: {expected}" and caught.value.__cause__ is None
    assert len(really_apart) == 3 and [p.poll() is None for p in really_apart].count(True) == 2, "and replaced"
    for process in really_apart:
        process.kill()
        process.wait()
    assert read_table(BOOK, "x.xlsx").n_rows == 2, "processes that died without a file are replaced"


@pytest.mark.slow
def test_the_process_has_no_memory_no_time_and_no_files_beyond_its_limits(tmp_path):
    with pytest.raises(TableError) as caught:
        read_table(parquet(a=np.zeros(4_000_000)), "x.xlsx", limits=Limits(memory=300_000_000))
    assert str(caught.value) == TOO_MUCH
    script = "from dpviz.datasets.readers import Limits, child\nchild._limit(Limits(seconds=0))\n"
    write = f"with open({str(tmp_path / 'cells')!r}, 'w') as file: file.write('1')"
    for more, status, words in (("while True: pass", -9, ""), (write, 1, "File too large")):
        ended = subprocess.run([sys.executable, "-c", script + more], capture_output=True, text=True, check=False)
        assert ended.returncode == status and words in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("unknown", ["RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE"])
def test_a_limit_that_the_system_does_not_know_is_skipped(unknown, tmp_path, monkeypatch, really_apart):
    """macOS refuses a limit on memory, and other systems lack other limits."""
    (tmp_path / "sitecustomize.py").write_text(
        "import resource\n"
        "old = resource.setrlimit\n"
        "def setrlimit(which, most):\n"
        f"    if which == resource.{unknown}:\n"
        "        raise ValueError('current limit exceeds maximum limit')\n"
        "    old(which, most)\n"
        "resource.setrlimit = setrlimit\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    apart.stop()
    assert read_table(BOOK, "x.xlsx").n_rows == 2


@pytest.mark.parametrize(
    "script",
    [
        "",
        "import os; os.kill(os.getpid(), 11)",
        "print('not a frame')",
        "import sys; sys.stdout.write('t' + chr(9) + 7 * chr(0) + '[1,2,3,4]')",
        "import sys; sys.stdout.write('t' + chr(22) + 7 * chr(0) + '[9,[],[[1,2,3,\"|O\"]]]')",
        "import sys; sys.stdout.write('v' + 7 * chr(127) + chr(0))",
    ],
    ids=["ends", "crashes", "babbles", "wrong form", "wrong type", "a frame without an end"],
)
def test_a_process_that_dies_or_lies_is_one_sentence(script, monkeypatch, really_apart):
    apart._start().kill()
    really_apart[-1].wait()
    stuck(monkeypatch, script)
    with pytest.raises(TableError) as caught:
        read_table(BOOK, "x.xlsx")
    assert str(caught.value) == TOO_MUCH and caught.value.__cause__ is None


@pytest.mark.slow
def test_stuck_files_take_no_turn_from_the_next_one_and_end_when_they_are_stopped(monkeypatch):
    """A visitor who stops a file that still waits for a process is released at once."""
    start, stop, ended = apart._start, threading.Event(), []

    def advance(fraction):
        if stop.is_set():
            raise Stopped

    def hostile():
        with pytest.raises(Stopped):
            read_table(BOOK, "x.xlsx", on_progress=advance)
        ended.append(1)

    threads = [threading.Thread(target=hostile) for _ in range(apart._AT_A_TIME - 1)]
    with monkeypatch.context() as patched:
        stuck(patched, "import time; time.sleep(600)")
        for thread in threads:
            thread.start()
        while apart._places._value > 1:
            time.sleep(0.01)
        patched.setattr(apart, "_start", start)
        assert read_table(BOOK, "x.xlsx").n_rows == 2
        stuck(patched, "import time; time.sleep(600)")
        more = [threading.Thread(target=hostile) for _ in range(3)]
        for thread in more:
            thread.start()
        stop.set()
        for thread in threads + more:
            thread.join(240)
    assert len(ended) == len(threads + more) and apart._places._value == apart._AT_A_TIME
