"""The files of this session, and which of them the page is about."""

from __future__ import annotations

import dataclasses
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.datasets.readers import Form, Table
from pages._ui.frame import keys
from pages._ui.frame.session import session


@dataclasses.dataclass(eq=False)
class Upload:
    """A file of this session. `draft` and `cells` hold what was declared so far, `base` what the editor began with.

    `content` is the file itself, so that it can be read in another `form`; both go with the file.
    """

    token: str
    table: Table
    private: bool
    fingerprint: str
    draft: dict[str, Any]
    content: bytes = dataclasses.field(repr=False)
    form: Form
    cells: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    base: pd.DataFrame | None = None
    editing: str = ""
    version: int = 0
    filled: bool = False
    dataset_id: str = ""

    @property
    def key(self) -> str:
        """Start of the keys of the widgets about it; read again or filled anew, it has fresh widgets."""
        return f"{self.token}_{self.version}"


def shown() -> Upload | None:
    """Return the file that the page is about, or None."""
    uploads = session.uploads
    return uploads.get(st.session_state.get(keys.UPLOAD_SHOWN), next(iter(uploads.values()), None))
