"""Check that the built wheel works from any folder and contains samples, dashboard and scripts."""

import ast
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from dpviz.atlas.files import FOLDER as ATLAS
from dpviz.papers.registry import papers
from dpviz.papers.writeup import OURS
from dpviz.version import __version__
from pages._ui.learn.papers import view, writeup
from tests.rooms import imports, sources

ROOT = Path(__file__).parent.parent
READ = [  # files that the Papers page needs
    *(view.RESULTS / f"{paper.id}-{item.id}.csv" for paper in papers().values() for item in paper.items),
    *(writeup.MEASURED / f"{slug}.csv" for slug in OURS),
    *(writeup.MEASURED / f"{name}.md" for name in writeup.MORE),
]


@pytest.mark.slow
def test_the_wheel_holds_what_an_installed_package_needs(tmp_path):
    copy = tmp_path / "source"
    subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, copy]
    subprocess.run(command, check=True, capture_output=True, timeout=250)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    assert {"dpviz/py.typed", "dpviz/dashboard/app.py", "dpviz/dashboard/.streamlit/config.toml"} <= names
    assert {"dpviz/sample_data/town.csv", "dpviz/figures/stage/stage.js", "dpviz/takeaway/replay.js"} <= names
    assert "dpviz/takeaway/schemas/trace.json" in names
    results = [path for path in READ if path.is_file()]
    assert len(results) > 20
    assert {str(path.relative_to(ROOT)) for path in results} <= names
    assert not [name for name in names if name.startswith(("tests", "pages", "lab"))]
    assert {path.name for path in ATLAS.iterdir()} == {
        name.rpartition("/")[2] for name in names if name.startswith("dpviz/sample_data/atlas/")
    }
    assert wheel.stat().st_size < 8_000_000
    assert {"dpviz_lab/cli/site.py", "dpviz_lab/site/site.css", "dpviz_lab/federated/keys.py"} <= names
    assert not [name for name in names if "benchmarks" in name]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    run = [sys.executable, "-m", "dpviz", "run", "glloyd", "--data", "sample:tiny", "--n-clusters", "2"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    read = "from dpviz.atlas import averages, files, rounds; print(bool(averages.read() and rounds.read()), "
    stored = [sys.executable, "-c", f"{read}files.read('town', 'pe-means').seeds)"]
    installed = subprocess.run(stored, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert installed.stdout.split() == ["True", "100"]
    listing = [sys.executable, "-m", "dpviz", "reproduce"]
    listed = subprocess.run(listing, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert listed.returncode == 0 and "Table I" in listed.stdout, listed.stderr
    shutil.rmtree(tmp_path / "installed" / "dpviz_lab")
    missing = subprocess.run(listing, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (missing.returncode, missing.stderr) == (
        2, "dpviz: reproduce: this command is in the package dpviz_lab, which is missing here; install dpviz again, or "
        "run the command in a clone.\n",
    )  # fmt: skip


def test_what_was_tested_lies_in_the_ranges_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = {wanted.name: wanted.specifier for wanted in map(Requirement, project["dependencies"])}
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    tested = {wanted.name: str(wanted.specifier) for wanted in map(Requirement, lines)}
    assert ranges.keys() == tested.keys()
    for name, versions in tested.items():
        assert versions.startswith("=="), name
        assert ranges[name].contains(versions[2:].replace("*", "999")), name
        assert not any(part.operator == "==" for part in SpecifierSet(str(ranges[name]))), name
    assert {"federated", "cluster", "notebook"} <= project["optional-dependencies"].keys()


def test_the_citation_names_this_version_and_nobody():
    lines = (ROOT / "CITATION.cff").read_text().splitlines()
    assert f"version: {__version__}" in lines and "license: Apache-2.0" in lines
    assert lines[lines.index("authors:") :] == ["authors:", "  - name: The dpviz developers"]


@pytest.mark.slow
def test_the_package_needs_what_it_imports_and_nothing_else():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = {"sklearn": "scikit-learn", "dateutil": "python-dateutil"}
    extras = {Requirement(one).name for some in project["optional-dependencies"].values() for one in some}
    needed = {Requirement(one).name for one in project["dependencies"]}
    tops = {name.split(".")[0] for source in sources(ROOT).values() for name in imports(ast.walk(ast.parse(source)))}
    tops -= {*sys.stdlib_module_names, "dpviz", "pages"}
    imported = {named.get(top, top) for top in tops}
    assert needed <= imported  # every required package is used
    assert imported <= needed | extras | CARRIED


CARRIED = {"dask", "tornado", "starlette", "uvicorn", "psycopg"}  # they come with Streamlit or with an extra


def test_help_and_version_load_nothing_heavy():
    code = (
        "import sys\nfrom dpviz.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'pandas', 'sklearn', 'plotly', 'opendp') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n" and "exit codes" in done.stdout
