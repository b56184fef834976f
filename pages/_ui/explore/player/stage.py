"""Serve the script that draws every panel, which a browser fetches once instead of with every answer."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dpviz.figures.stage import script
from pages._ui.frame.inside.client import PAGE

__all__ = ["NAME", "SCRIPT"]

SCRIPT = (script() + PAGE + (Path(__file__).parent / "panel.js").read_text()).encode()
NAME = f"dpviz/stage.{hashlib.sha256(SCRIPT).hexdigest()[:12]}.js"  # a changed script gets a new file name
