"""Collect what a browser tab needs to run dpviz: Pyodide as published, and the packages of this environment."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import json
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from dpviz.datasets.loading import SAMPLE_FOLDER, SAMPLES

__all__ = ["PYODIDE", "distribution", "installed", "ours"]

PYODIDE = "314.0.3"
_CORE = {  # SHA-256 of the files of npm's pyodide@314.0.3, whose lock has those of all packages
    "pyodide-lock.json": "c963d22858f6bcb8f41586a2142f03905ab370c88ea22a86a2736e95fac2a8f3",
    "pyodide.mjs": "5cfc46f5dcbaf2a16f26e2363f441873eb424762609cc03db00d6a2ace4d00e5",
    "pyodide.asm.mjs": "1a9775427ef6e8abaa7db88ece0515422d1886915ae5c9093776410c865dfd8d",
    "pyodide.asm.wasm": "e7f8fac36f8bf11085309cbc5c829b3ec3057c18bf1d73b05a6741612d63cdbf",
    "python_stdlib.zip": "444c770dfd75a32097fc0a7d5c1413fd3140601f49c3a1f2e9af0376fcd124b4",
}
_NEEDED = ("numpy", "scipy", "scikit-learn", "pandas")  # with all that they depend on
_KINDS = {".py", ".js", ".css", ".toml", ".csv", ".json"}  # files of dpviz that Python reads
_LEFT_OUT = {"cli", "dashboard", "federated", "sample_data", "__pycache__"}  # folders that a tab has no use for
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every file in a ZIP archive, so that the same files give the same bytes


def distribution(folder: Path, core: Mapping[str, str] = _CORE) -> dict[str, bytes]:
    """Return the files of Pyodide in a folder that a tab needs, by name; `core` has the SHA-256 of the first ones.

    Raises
    ------
    ValueError
        If a file is missing, or is not the one that was published.
    """
    found = {name: _checked(folder, name, digest) for name, digest in core.items()}
    packages = json.loads(found["pyodide-lock.json"])["packages"]
    wanted = list(_NEEDED)
    for name in wanted:  # grows in the loop
        wanted += [other for other in packages[name]["depends"] if other not in wanted]
    for name in wanted:
        wheel = packages[name]["file_name"]
        found[wheel] = _checked(folder, wheel, packages[name]["sha256"])
    return found


def _checked(folder: Path, name: str, digest: str) -> bytes:
    path = folder / name
    if not path.is_file():
        raise ValueError(f"site: {folder} lacks {name} of Pyodide {PYODIDE}; deploy/README.md says where to get it.")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"site: {path} is not the {name} that Pyodide {PYODIDE} published; get it again.")
    return content


def installed(package: str) -> bytes:
    """Return an installed package as a ZIP archive, without the JavaScript that Python never reads.

    Raises
    ------
    ValueError
        If the package is missing, or one of its files has changed since its installation.
    """
    try:
        listed = importlib.metadata.files(package) or ()
    except importlib.metadata.PackageNotFoundError:
        raise ValueError(f"site: {package} is not installed here.") from None
    kept = {}
    for path in listed:
        if path.parts[0] == ".." or not (path.suffix in {".py", ".json"} or ".dist-info" in path.parts[0]):
            continue
        if path.hash is not None:  # the list itself has none
            content = kept[path.as_posix()] = path.read_binary()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            if digest != path.hash.value:
                raise ValueError(f"site: {path} of {package} has changed since its installation; install it again.")
    return _archive(kept)


def ours(more: Mapping[str, bytes]) -> bytes:
    """Return dpviz, its samples and `more` files as a ZIP archive, without stored runs and what needs a server."""
    root = Path(str(files("dpviz")))
    inside = {path.relative_to(root.parent): path for path in root.rglob("*") if path.suffix in _KINDS}
    kept = {name.as_posix(): path for name, path in inside.items() if not _LEFT_OUT & set(name.parts)}
    kept |= {
        f"dpviz/sample_data/{sample}{kind}": SAMPLE_FOLDER / f"{sample}{kind}"
        for sample in SAMPLES
        for kind in (".csv", ".json")
    }
    return _archive({name: path.read_bytes() for name, path in kept.items()} | dict(more))


def _archive(content: Mapping[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content[name])
    return held.getvalue()
