"""Check that outside algorithms are in every list, run in every process, and state who vouches for their promise."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from dpviz import PrivateKMeans
from dpviz.algorithms import ALGORITHMS, add_files, outside
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.estimator import NoiseWarning
from dpviz.figures import pane, plain
from dpviz.privacy.guarantee import Notion
from dpviz.runs.single import replay
from dpviz.sweeps.processes import Pool
from dpviz.sweeps.rowfile import read_rows
from dpviz.takeaway.code import notebook, script
from dpviz.takeaway.foreign import read
from dpviz.takeaway.label import facts
from dpviz.trace import Cancelled
from pages._ui.explore.form import picker

RUN = ["run", "my-own", "--with", "my_own.py", "--data", "sample:tiny", "--n-clusters", "2"]


def edited(path, before, after):
    source = path.read_text()
    assert before in source
    path.write_text(source.replace(before, after))


def test_a_file_is_run_listed_and_read_back(mine, registry, capsys):
    assert main([*RUN, "--json", "run.json"]) == 0
    told = capsys.readouterr()
    assert "My own on sample:tiny" in told.out and "my_own.py and is not audited here" in told.err
    assert list(registry)[-1] == "my-own" and outside.ORIGINS["my-own"].place == "my_own.py"
    trace = read((mine.parent / "run.json").read_text())
    assert any(outside.UNAUDITED in words for words in trace.warnings)
    assert "add_files(['my_own.py'])" in script(trace)
    assert pane(trace) is plain.PANE and isinstance(
        pickle.loads(pickle.dumps(registry["my-own"]())), registry["my-own"]
    )
    assert main(RUN) == 0  # adding the same file again changes nothing


@pytest.mark.slow
def test_what_was_exported_runs_as_a_script(mine, capsys):
    assert main([*RUN, "--json", "run.json"]) == 0
    assert main(["export", "run.json", "--as", "script", "-o", "again.py"]) == 0
    environment = {**os.environ, outside.FILES: "", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "again.py"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


SPEC = """
title = "Mine"
data = ["sample:tiny"]
algorithms = ["my-own"]
n_clusters = 2
epsilon = [1.0, 4.0]
repeats = 2
"""


@pytest.mark.slow
def test_worker_processes_know_it_and_a_sweep_has_its_rows(mine, registry):
    (mine.parent / "spec.toml").write_text(SPEC)
    assert main(["sweep", "spec.toml", "-o", "rows.csv", "--workers", "1", "--with", "my_own.py"]) == 0
    rows = read_rows(mine.parent / "rows.csv")
    assert list(rows.status) == ["ok"] * len(rows) and list(rows.algorithm).count("my-own") == 4
    algorithm, data = registry["my-own"](n_clusters=2), load_sample("tiny")
    workers = Pool(1)
    try:
        away = workers.run(replay, data, algorithm, 3).trace
    finally:
        workers.stop()
    assert away.to_json(include_hidden=True) == replay(data, algorithm, 3).trace.to_json(include_hidden=True)


def test_the_picker_lists_it_last_under_its_own_badge(mine, registry):
    add_files([mine])
    assert picker.offered(False)[-1] == "my-own" == picker.offered(True)[-1]
    assert picker.named("my-own") == "My own · not audited here"
    assert picker.marked("my-own") == "My own · not audited here" and picker.marked("nsm") == "NSM (ours)"
    outside.note_audit("my-own")
    assert picker.named("my-own") == "My own" == picker.marked("my-own") and not outside.unaudited("my-own")


@pytest.mark.slow
def test_the_badge_goes_after_an_audit_and_comes_back_with_a_change(mine, registry, capsys, monkeypatch):
    monkeypatch.setattr("dpviz.cli.audit.RUNS", 12)
    audit = ["audit", "my-own", "--with", "my_own.py", "--runs", "12"]
    assert main(audit) == 0
    assert "my-own counts as audited here" in capsys.readouterr().out
    assert main(RUN) == 0 and outside.UNAUDITED not in capsys.readouterr().err
    origin = outside.ORIGINS["my-own"]
    monkeypatch.setitem(outside.ORIGINS, "my-own", origin._replace(fingerprint="0" * 64))
    assert outside.unaudited("my-own")


PRIVATE_RUN = [
    "run", "my-own", "--with", "my_own.py", "--data", "x.csv", "--private", "--header", "--low", "0", "--high", "1",
    "--n-public", "9", "--n-clusters", "2", "--json", "run.json",
]  # fmt: skip


@pytest.mark.slow
def test_a_private_run_asks_who_vouches_before_it_reads_or_books(mine, registry, capsys, monkeypatch):
    (mine.parent / "x.csv").write_text("a,b\n" + "0.5,0.25\n" * 9)
    opened = []
    monkeypatch.setattr("dpviz.cli.run.data_of", lambda *_: opened.append(0))
    assert main(PRIVATE_RUN) == 2
    told = capsys.readouterr().err
    assert "My own comes from my_own.py and is not audited here: only its authors vouch for its promise." in told
    assert "or give --unaudited; nothing was read" in told and opened == []
    monkeypatch.undo()
    monkeypatch.chdir(mine.parent)
    monkeypatch.setenv("DPVIZ_HOME", str(mine.parent / "state"))
    assert main([*PRIVATE_RUN, "--unaudited"]) == 0
    told = capsys.readouterr()
    assert "warning: My own comes from my_own.py and is not audited here" in told.err
    assert "claimed: by its authors, central DP for one row added or removed" in told.out
    trace = read((mine.parent / "run.json").read_text())
    assert trace.claimed.trust == "by its authors: a trusted curator sees the raw rows"
    assert facts(trace)["Promise"].startswith("by its authors, central DP: ε 1")


def test_a_private_question_and_a_secure_fit_ask_who_vouches_too(mine, registry, capsys, monkeypatch):
    """`explain` asks whether the run's file is named or not; a simulated fit does not ask."""
    table = mine.parent / "x.csv"
    table.write_text("a,b\n" + "0.5,0.25\n" * 9)
    monkeypatch.setenv("DPVIZ_HOME", str(mine.parent / "state"))
    assert main([*PRIVATE_RUN, "--unaudited"]) == 0
    asks = ["explain", "run.json", *PRIVATE_RUN[4:-4]]
    opened = []
    with monkeypatch.context() as closed:
        closed.setattr("dpviz.cli.explain.data_of", lambda *_: opened.append(0))
        capsys.readouterr()
        assert main([*asks, "--with", "my_own.py"]) == 2
        told = capsys.readouterr().err
        assert "My own comes from my_own.py and is not audited here" in told and "--unaudited; nothing was read" in told
        origin = outside.ORIGINS["my-own"]
        closed.delitem(outside.ORIGINS, "my-own")
        assert main(asks) == 2
        assert "My own is an algorithm from outside: only its authors vouch" in capsys.readouterr().err and not opened
    assert main([*asks, "--unaudited"]) == 0 and outside.ORIGINS["my-own"] == origin
    assert "warning: My own comes from my_own.py" in capsys.readouterr().err

    monkeypatch.setattr("dpviz.estimator._spoken", set())  # another test of this process may have fitted before
    X = np.full((60, 2), 0.25)
    public = {"bounds": (0, 1), "n_public": 60, "algorithm": "my-own"}
    refused = r"PrivateKMeans: My own comes from .* or set unaudited=True; nothing was read"
    with pytest.raises(ValueError, match=refused):
        PrivateKMeans(2, **public, secure=True, account="none").fit("not rows")
    with pytest.warns(NoiseWarning) as told:
        given = {**public, "secure": True, "account": "none", "unaudited": True}
        assert PrivateKMeans(2, **given).fit(X).trace_.seed is None
    assert any(outside.UNAUDITED in str(warning.message) for warning in told)
    with pytest.warns(NoiseWarning):
        PrivateKMeans(2, **public, secure=False, random_state=0).fit(X)


@pytest.mark.parametrize("kind", [script, notebook])
def test_an_exported_private_run_asks_who_vouches_before_it_reads_or_books(kind, mine, registry, capsys, monkeypatch):
    """What was exported stops without a file; with consent, and after an audit, it books."""
    table = mine.parent / "x.csv"
    table.write_text("a,b\n" + "0.5,0.25\n" * 9)
    monkeypatch.setenv("DPVIZ_HOME", str(mine.parent / "state"))
    assert main([*PRIVATE_RUN, "--unaudited"]) == 0
    trace = read((mine.parent / "run.json").read_text())
    text = kind(trace)
    if kind is notebook:
        cells = [cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        text = "\n".join(cells[:-1])  # the last shows the player
    monkeypatch.setattr("sys.argv", ["again.py", "no-such-file.csv"])
    with pytest.raises(SystemExit, match="My own comes from my_own.py and is not audited here.* UNAUDITED = True"):
        exec(text, {})
    capsys.readouterr()
    assert main(["accounts", "list"]) == 0 and "1 run;" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["again.py", str(table)])
    agreed = text.replace("UNAUDITED = False", "UNAUDITED = True").replace("your-file.csv", str(table))
    exec(agreed, {})
    outside.note_audit("my-own")
    exec(text.replace("your-file.csv", str(table)), {})
    capsys.readouterr()
    assert main(["accounts", "list"]) == 0 and "3 runs;" in capsys.readouterr().out


def reworded(path, words):
    edited(path, '    slug: ClassVar[str] = "my-own"\n', f'    slug: ClassVar[str] = "my-own"\n    {words}\n')


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "notion: ClassVar[str] = Notion.LOCAL",
            "it says local DP, where people send reports, but its plan has Laplace",
        ),
        ("notion: ClassVar[str] = Notion.SHUFFLE", "it says shuffle DP, where people send reports, but its plan has"),
        ("notion: ClassVar[str] = Notion.RHO", "it says rho-distance DP, but its promise is about one row added"),
    ],
)
def test_a_notion_that_its_mechanisms_do_not_have_is_refused(words, told, mine, registry):
    edited(
        mine,
        "from dpviz.privacy.plan import Plan\n",
        "from dpviz.privacy.guarantee import Notion\nfrom dpviz.privacy.plan import Plan\n",
    )
    reworded(mine, words)
    with pytest.raises(ValueError, match=rf"my_own\.py: MyOwn: {told}"):
        add_files([mine])
    assert "my-own" not in registry


def test_a_plan_whose_notion_changes_with_a_parameter_reads_nothing():
    class Moody(ALGORITHMS["dp-lloyd"]):
        notion = Notion.LOCAL

    rows = load_sample("tiny")
    with pytest.raises(ValueError, match="it says local DP, .* has Laplace. Nothing was read"):
        Moody(n_clusters=2).run(rows.X, domain=rows.domain, noise="secure")


def test_a_trust_of_ones_own_is_quoted(mine, registry):
    reworded(mine, 'trust: ClassVar[str] = "nobody: every person adds noise"')
    add_files([mine])
    promise = registry["my-own"]().guarantee(2, 100)
    assert promise.trust == 'by its authors: "nobody: every person adds noise"' and promise.by_authors
    assert str(promise).startswith("by its authors, central DP")
    assert not str(ALGORITHMS["dp-lloyd"]().guarantee(2, 100)).startswith("by its authors")


@pytest.mark.slow
def test_an_audit_that_fails_leaves_the_badge(mine, capsys, monkeypatch):
    monkeypatch.setattr("dpviz.cli.audit.RUNS", 12)
    edited(mine, "[1, 20]", "[1, 21]")
    assert main(["audit", "my-own", "--with", "my_own.py", "--runs", "12"]) == 1
    assert "ranges in the docstring" in capsys.readouterr().out and outside.unaudited("my-own")


BAD = {
    "cannot be imported: NameError: name 'nothing' is not defined (line 90)": ("", "nothing\n"),
    "cannot be imported: line 90": ("", "def\n"),
    "defines no algorithm": ('    slug: ClassVar[str] = "my-own"\n', ""),
    "NSM of dpviz already has the slug 'nsm'": ('slug: ClassVar[str] = "my-own"', 'slug: ClassVar[str] = "nsm"'),
    "cannot be imported: SystemExit: 3 (line 90)": ("", "raise SystemExit(3)\n"),
    "MyOwn of my_own.py already has the slug 'my-own'": ("", "class Twin(MyOwn):\n    slug = MyOwn.slug\n"),
    "an algorithm touches _session (line 80)": ("curator.n_features, 1.0", "curator._session, 1.0"),
    "an algorithm imports rows (line 90)": ("", "from dpviz.privacy.rows import Rows\n"),
    "an algorithm overrides run (line 90)": ("", "class Other(MyOwn):\n    def run(self, X):\n        return X\n"),
    "MyOwn() fails: ValueError: My own: rounds": ("= param(5, low=1", "= param(50, low=1"),
}


@pytest.mark.parametrize("words", BAD)
def test_a_file_that_cannot_be_added_is_one_sentence_and_adds_nothing(words, mine, registry, capsys):
    before, after = BAD[words]
    lines = mine.read_text().splitlines()
    assert len(lines) < 90
    if before:
        edited(mine, before, after)
    else:
        mine.write_text("\n".join([*lines, *[""] * (89 - len(lines)), after]))
    known = dict(registry)
    assert main(RUN) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1 and "Traceback" not in told
    assert registry == known and os.environ[outside.FILES] == ""


def test_two_files_with_one_slug_are_refused(mine, capsys):
    (mine.parent / "twin.py").write_text(mine.read_text() + "\n")
    assert main([*RUN, "--with", "twin.py"]) == 2
    assert "twin.py: MyOwn of my_own.py already has the slug 'my-own'" in capsys.readouterr().err
    assert main(["run", "my-own", "--with", "no.py", "--data", "sample:tiny"]) == 2
    assert "no.py cannot be read" in capsys.readouterr().err


def test_one_that_raises_at_step_3_ends_in_one_sentence(mine, capsys):
    edited(mine, "            title = f", "            1 / (2 - round_)\n            title = f")
    assert main(RUN) == 2
    told = capsys.readouterr().err
    assert "My own of my_own.py: step 3 failed with ZeroDivisionError: division by zero (line 86)" in told
    assert "A private run stays booked in full." in told and "Traceback" not in told


def test_an_error_says_nothing_about_rows_under_secure_noise(mine, registry):
    edited(mine, "            title = f", "            np.zeros(40) + np.zeros(3)\n            title = f")
    add_files([mine])
    rows, cls = load_sample("tiny"), registry["my-own"]
    with pytest.raises(ValueError, match=r"shapes \(40,\) \(3,\)"):
        cls(n_clusters=2).run(rows.X, domain=rows.domain, seed=0)
    with pytest.raises(ValueError, match=r"step 1 failed with ValueError \(line \d+\)\. A private"):
        cls(n_clusters=2).run(rows.X, domain=rows.domain, noise="secure")


@pytest.mark.slow
def test_one_that_never_ends_is_canceled_and_its_process_works_on(mine, registry):
    edited(mine, "            title = f", "            while round_ == 1:\n                pass\n            title = f")
    add_files([mine])

    def impatient(done, total):
        if done:
            raise Cancelled

    workers, data = Pool(1), load_sample("tiny")
    try:
        with pytest.raises(Cancelled):
            workers.run(_reporting, registry["my-own"](n_clusters=2), data, look=impatient)
        assert workers.call(os.getpid) != os.getpid()  # another process answers
    finally:
        workers.stop()


def _reporting(algorithm, data, on_step):
    algorithm.run(data.X, domain=data.domain, seed=0, on_step=lambda step: on_step(step.n_releases, 10))


def test_new_refuses_what_is_no_slug_and_what_is_there(mine, capsys):
    for name, words in (("My Own", "lowercase letters"), ("nsm", "is the slug of"), ("my-own", "exists already")):
        assert main(["new", name]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.slow
def test_what_new_writes_passes_every_check(mine):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_own.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout[-2000:]
