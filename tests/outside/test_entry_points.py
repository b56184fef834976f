"""Check algorithms of installed packages: an entry-point group names them, and every new process finds them."""

import os
import subprocess
import sys

import pytest

from dpviz.algorithms import outside


@pytest.fixture
def installed(mine, tmp_path, monkeypatch):
    """Return a function that writes a distribution's metadata next to the file that `dpviz new my-own` wrote."""

    def install(*names):
        folder = tmp_path / "somebodys_package-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-package\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("\n".join([f"[{outside.GROUP}]", *names]))
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    sys.modules.pop("my_own", None)


@pytest.mark.slow
def test_a_program_that_starts_loads_an_algorithm_from_a_distribution(installed, tmp_path):
    installed("mine = my_own:MyOwn")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "DPVIZ_HOME": str(tmp_path / "home")}
    run = ["run", "my-own", "--data", "sample:tiny", "--n-clusters", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "dpviz", *run], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "My own on sample:tiny" in done.stdout, done.stderr
    assert "comes from entry point mine and is not audited here" in done.stderr


BAD = {
    "entry point gone cannot be loaded: AttributeError": ["gone = my_own:Gone"],
    "entry point none cannot be loaded: ModuleNotFoundError": ["none = no_such_module:One"],
    "entry point no: <class 'my_own.Other'> is not a subclass of": ["no = my_own:Other"],
    "entry point b: MyOwn of entry point a already has the slug 'my-own'.": ["a = my_own:MyOwn", "b = my_own:MyOwn"],
}


@pytest.mark.parametrize("words", BAD)
def test_what_does_not_load_is_one_sentence(words, mine, installed):
    mine.write_text(f"{mine.read_text()}\n\nclass Other:\n    pass\n")
    installed(*BAD[words])
    with pytest.raises(ValueError) as caught:
        outside.everything({})
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_one_that_breaks_a_rule_is_refused_with_its_name(mine, installed):
    mine.write_text(mine.read_text().replace("curator.n_features, 1.0", "curator._session.n_features, 1.0"))
    installed("mine = my_own:MyOwn")
    with pytest.raises(ValueError, match="entry point mine is refused: an algorithm touches _session"):
        outside.everything({})
