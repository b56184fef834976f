"""Every command that the READMEs print does what they say, in a fresh home."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.cli import main

ROOT = Path(__file__).parents[2]
_ELSEWHERE = ("reproduce", "audit", "app", "accounts")  # take minutes, a folder or an account of another machine
SWEEP = 'data = "sample:tiny"\nalgorithms = ["nsm"]\nepsilon = [1]\nrepeats = 2\n'


def printed(name: str) -> list[list[str]]:
    """Return the words of each command in the blocks of a README."""
    blocks = re.findall(r"^```bash\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^.*?-m dpviz (.*)$", "\n".join(blocks), re.MULTILINE)
    return [words for line in lines if (words := shlex.split(line, comments=True))[0] not in _ELSEWHERE]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "dpviz/cli/README.md"])
def test_every_printed_command_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.uniform(0, 100, (5000, 2)).round(3), columns=["a", "b"]).to_csv("mine.csv", index=False)
    cars = pd.DataFrame(rng.uniform(10, 40, (90, 2)).round(1), columns=["mpg", "weight"])
    cars["origin"] = ["USA", "Europe", "Japan"] * 30
    cars.loc[3, "mpg"] = None
    Path("cars.csv.gz").write_bytes(gzip.compress(cars.to_csv(index=False).encode()))
    Path("sweep.toml").write_text(SWEEP)
    commands = printed(name)
    assert len(commands) > 4
    for words in commands:
        assert main(words) == 0, (words, capsys.readouterr().err)
