"""Check that every command in the READMEs does what the text says, with a fresh home folder."""

import gzip
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.cli import main
from dpviz.privacy.accounts import Accounts

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "dpviz/cli/README.md")
SWEEP = 'data = "sample:tiny"\nalgorithms = ["nsm"]\nepsilon = [1]\nrepeats = 2\n'
REFUSED = {  # refused in one sentence, because something is missing: a folder of data sets, an account, a database
    "reproduce": "DPVIZ_DATASETS",
    "accounts assign": "3fa9c01b22de",
    "accounts merge": "there is no database of accounts at",
}
ELSEWHERE = {"site"}  # The site takes half a minute to build; tests/browser/test_site.py builds it.
FEWER = {"plan": ["--repeats", "2"], "audit": ["--runs", "20"]}  # Otherwise these two commands take minutes.


def printed(name):
    """Return the words of each command that a README prints, in a block or in a line of text."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^.*?/python -m dpviz (.*)$", "\n".join(blocks), re.MULTILINE)
    lines += re.findall(r"`\.venv/bin/python -m dpviz ([^`]*)`", text)
    return [shlex.split(line, comments=True) for line in lines]


COMMANDS = [(name, words) for name in READMES for words in printed(name)]


@pytest.fixture
def home(tmp_path, monkeypatch, registry):
    """Work in a new folder that holds only the files named in the READMEs, with an empty home folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DPVIZ_DATASETS", "folder")
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.uniform(0, 100, (5000, 2)).round(3), columns=["a", "b"]).to_csv("mine.csv", index=False)
    cars = pd.DataFrame(rng.uniform(10, 40, (90, 2)).round(1), columns=["mpg", "weight"])
    cars["origin"] = ["USA", "Europe", "Japan"] * 30
    cars.loc[3, "mpg"] = None
    Path("cars.csv.gz").write_bytes(gzip.compress(cars.to_csv(index=False).encode()))
    visits = pd.DataFrame({"Age": rng.integers(18, 90, 600), "Visits": rng.integers(0, 50, 600).astype(str)})
    visits.loc[::50, "Visits"] = "k. A."
    for number in (1, 2, 3):
        visits[f"Q{number}"] = rng.choice(["never", "rarely", "often"], 600)
    visits.to_csv("visits.csv", index=False)
    visits[::-1].to_csv("visits-june.csv", index=False)
    people = pd.DataFrame({"age": rng.normal(50, 12, 3000).round(), "visits": rng.integers(0, 50, 3000)})
    people.to_csv("customers.csv", index=False)
    pd.DataFrame(rng.uniform(0, 100, (80, 2)), columns=["b", "a"]).to_csv("open.csv", index=False)
    Path("sweep.toml").write_text(SWEEP)
    return tmp_path


def did(words, capsys):
    """Run a command and return its output; it must succeed, or fail as listed in `REFUSED`."""
    code, shown = main(words), capsys.readouterr()
    refused = next((about for command, about in REFUSED.items() if " ".join(words).startswith(command)), None)
    assert code == (2 if refused else 0), (words, shown.err)
    if refused:
        assert refused in shown.err and shown.err.count("dpviz: ") == 1 and "usage:" not in shown.err
    return shown.out


def test_every_printed_command_is_tried():
    commands = {words[0] for _, words in COMMANDS}
    assert {"algorithms", "plan", "run", "export", "explain", "describe", "sweep", "report", "audit"} <= commands
    assert len(COMMANDS) >= 15 and [name for name, _ in COMMANDS].count("README.md") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", READMES)
def test_the_printed_commands_run_one_after_another(name, home, capsys):
    for file, words in COMMANDS:
        if file == name and words[0] not in ELSEWHERE:
            out = did(words + FEWER.get(words[0], []), capsys)
            if words[0] == "run" and "visits.csv" in words:
                assert "one person has up to 5 rows" in out and "Age  Visits  Q1  Q2  Q3" in out
    if name != "README.md":
        assert json.loads(Path("visits.json").read_text())["form"]["missing_marks"] == ["k. A.", "-999"]
        for kind in ("label", "page", "script", "notebook"):  # the formats listed next to the `export` command
            did(["export", "out.json", "--as", kind, "-o", f"made.{kind}"], capsys)


def snippets_of(name):
    """Run the Python that a README prints; return the values of its names."""
    names = {}
    for snippet in re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL):
        exec(snippet, names)
    return names


def booked(file):
    accounts = Accounts.open()
    return [claim.parameters["n_clusters"] for claim in accounts.of(accounts.key_of(Path(file))).claims]


def test_the_printed_example_of_a_private_fit_runs_and_books(home, capsys):
    model = snippets_of("README.md")["model"]
    assert model.trace_.seed is None and booked("customers.csv") == [5]
    assert capsys.readouterr().out == f"{model.cluster_centers_}\n"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PrivateKMeans. this is not the first secure fit:dpviz.PrivacyLeakWarning")
def test_the_printed_snippets_of_python_run(home):
    names = snippets_of("dpviz/cli/README.md")
    assert names["trace"].cluster_centers.shape == (5, 2) and names["model"].cluster_centers_.shape == (5, 2)
    assert names["release"].trace_.claimed.rows_per_person == 2 and names["pipeline"][-1].trace_.seed is None
    assert booked("mine.csv") == [5, 5]


def test_the_printed_start_command_is_the_one_that_tests_of_servers_run():
    block = (ROOT / "README.md").read_text().partition("<!-- start command -->")[2].partition("```\n")[0]
    assert block.rstrip().endswith("&& .venv/bin/streamlit run app.py")  # `tests/serving.py` starts the same app
