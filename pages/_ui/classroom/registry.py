"""Hold the classes of this server, one list for all sessions."""

from __future__ import annotations

import streamlit as st

from pages._ui.classroom.room import Classrooms

__all__ = ["rooms"]


@st.cache_resource
def rooms() -> Classrooms:
    """Return the server's classes."""
    return Classrooms()
