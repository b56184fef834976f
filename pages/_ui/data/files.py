"""Find the file that the page shows among those of this session."""

from __future__ import annotations

import streamlit as st

from pages._ui.data.state import Upload, data_state
from pages._ui.data.upload import UPLOAD_SHOWN


def shown() -> Upload | None:
    """Return the file that the page shows, or None."""
    uploads = data_state.uploads
    first: Upload | None = next(iter(uploads.values()), None)
    return uploads.get(st.session_state.get(UPLOAD_SHOWN, ""), first)
