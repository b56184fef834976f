"""Check what a tab is given: Pyodide exactly as published, packages as installed, and dpviz without its server."""

import hashlib
import importlib.metadata
import io
import json
import zipfile

import pytest

from dpviz.datasets import SAMPLES
from lab.site.distribution import distribution, installed, ours

PACKAGES = {"numpy": [], "scipy": ["numpy"], "scikit-learn": ["scipy", "joblib"], "pandas": ["numpy"], "joblib": []}


def digest(content):
    return hashlib.sha256(content).hexdigest()


def small(folder):
    """Write a made-up distribution into a folder; return the hashes of its core."""
    wheels = {name: f"wheel of {name}".encode() for name in PACKAGES}
    about = {
        name: {"file_name": f"{name}-1.whl", "sha256": digest(wheels[name]), "depends": depends}
        for name, depends in PACKAGES.items()
    }
    about["django"] = {"file_name": "django-1.whl", "sha256": digest(b""), "depends": []}
    core = {"pyodide-lock.json": json.dumps({"packages": about}).encode(), "pyodide.mjs": b"export {}"}
    folder.mkdir(exist_ok=True)
    for name, content in (core | {f"{name}-1.whl": content for name, content in wheels.items()}).items():
        (folder / name).write_bytes(content)
    return {name: digest(content) for name, content in core.items()}


def names(archive):
    return zipfile.ZipFile(io.BytesIO(archive)).namelist()


def test_a_distribution_is_its_core_and_what_the_packages_need(tmp_path):
    found = distribution(tmp_path, small(tmp_path))
    assert set(found) == {"pyodide-lock.json", "pyodide.mjs", *(f"{name}-1.whl" for name in PACKAGES)}
    assert found["joblib-1.whl"] == b"wheel of joblib"


@pytest.mark.parametrize("name", ["pyodide-lock.json", "pyodide.mjs", "joblib-1.whl"])
def test_a_changed_or_missing_file_is_named(tmp_path, name):
    core = small(tmp_path)
    changed = bytearray((tmp_path / name).read_bytes())
    changed[-1] ^= 1
    (tmp_path / name).write_bytes(changed)
    with pytest.raises(ValueError, match=f"{name} is not the {name} that Pyodide .* published; get it again."):
        distribution(tmp_path, core)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=f"lacks {name} of Pyodide"):
        distribution(tmp_path, core)


@pytest.mark.slow
def test_dpviz_comes_with_its_samples_and_without_server_and_stored_runs():
    archive = ours({"more.py": b"pass"})
    inside = names(archive)
    assert {f"dpviz/sample_data/{sample}.csv" for sample in SAMPLES} | {"dpviz/estimator.py", "more.py"} <= set(inside)
    assert "dpviz/takeaway/replay.js" in inside and not any("atlas/" in name for name in inside if ".py" not in name)
    assert not any(name.startswith(("dpviz/cli/", "dpviz/federated/")) or "__pycache__" in name for name in inside)
    assert archive == ours({"more.py": b"pass"}) and len(archive) < 2_000_000


@pytest.mark.slow
def test_a_package_leaves_its_javascript_and_keeps_its_license():
    inside = names(installed("plotly"))
    assert "plotly/graph_objs/__init__.py" in inside and any("license" in name.lower() for name in inside)
    assert not any(name.endswith(".js") for name in inside)


def test_a_package_that_changed_after_its_installation_is_refused(tmp_path, monkeypatch):
    about = tmp_path / "thing-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    (tmp_path / "thing.py").write_text("x = 1")
    (about / "RECORD").write_text("thing.py,sha256=W6iLZo1ZK_8W1iWJCdYbFH5-9d4pxVhFaQw1gZBJfD0,5\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.metadata.version("thing") == "1"
    with pytest.raises(ValueError, match=r"thing.py of thing has changed since its installation"):
        installed("thing")
    with pytest.raises(ValueError, match="nowhere-at-all is not installed here"):
        installed("nowhere-at-all")
