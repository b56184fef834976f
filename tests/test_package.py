"""The built wheel works from any folder: samples, dashboard and scripts are inside."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


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
    assert not [name for name in names if name.startswith(("tests", "pages", "benchmarks"))]
    assert wheel.stat().st_size < 2_000_000
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    run = [sys.executable, "-m", "dpviz", "run", "glloyd", "--data", "sample:tiny", "--n-clusters", "2"]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
