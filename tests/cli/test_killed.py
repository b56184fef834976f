"""Check what a killed run leaves: the next run clears it away or saves its trace, and what was booked stays booked."""

import os
import signal
import subprocess
import sys

import pytest

from dpviz.cli import main
from dpviz.privacy.accounts import Accounts
from dpviz.takeaway.foreign import read
from tests.serving import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")

KILLED = """
import os, signal, sys
from pathlib import Path
from dpviz.cli import main, output
def killed(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)
{patch}
main(sys.argv[1:])
"""
BEFORE = KILLED.format(patch="output.Output.write = killed")
AT_RENAMING = """
rename = Path.replace
Path.replace = lambda path, to: killed() if path.suffix == ".part" else rename(path, to)
"""
BETWEEN = KILLED.format(patch=AT_RENAMING)  # the trace is written, but its file has no name yet
RUN = ["run", "nsm", "--data", "may.csv", "--private", "--header", "--bounds", "a=0..9,b=0..9", "--n-public", "300",
       "--n-clusters", "2", "--json", "may.run.json"]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "may.csv").write_text("a,b\n" + "".join(f"{i % 10},{i % 7}\n" for i in range(300)))
    return tmp_path


def kill(script):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script, *RUN], capture_output=True, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name not in ("may.csv", "accounts"))


def booked():
    (account,) = [account for account in Accounts.open().local() if account.private]
    return len(account.claims)


@pytest.mark.slow
def test_the_next_run_removes_what_a_killed_one_left_and_says_so(folder, capsys):
    kill(BEFORE)
    before = left(folder)
    assert len(before) == 2 and before[0].endswith(".part") and (folder / "may.run.json").stat().st_size == 0
    assert main(RUN) == 0
    told = capsys.readouterr().err
    assert "an earlier run to may.run.json was stopped; its unfinished file was removed" in told
    assert left(folder) == ["may.run.json"] and read((folder / "may.run.json").read_text()).claimed.private
    assert booked() == 2


@pytest.mark.slow
def test_a_refused_run_leaves_nothing_of_a_killed_one_either(folder, capsys):
    kill(BEFORE)
    assert main([*RUN, "--epsilon", "-1"]) == 2
    assert left(folder) == [] and booked() == 1


@pytest.mark.slow
def test_a_trace_that_was_written_is_saved_and_costs_no_second_run(folder, capsys):
    kill(BETWEEN)
    assert main(RUN) == 2
    told = capsys.readouterr().err
    assert "may.run.json now holds the trace of an earlier run" in told and "Nothing was spent." in told
    assert left(folder) == ["may.run.json"] and read((folder / "may.run.json").read_text()).claimed.private
    assert booked() == 1


def test_the_file_of_a_run_that_goes_on_is_left_alone(folder):
    mine = folder / f".may.run.json.{os.getpid()}.part"
    mine.write_bytes(bytes(10))
    assert main([*RUN, "--epsilon", "-1"]) == 2
    assert left(folder) == [mine.name]
