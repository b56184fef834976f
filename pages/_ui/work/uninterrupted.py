"""A piece of a script that is done as a whole: Streamlit ends a script at any look into the session when a click comes.

What a click must not end halfway is, say, a claim on a file's account and the run that it pays for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = ["whole"]


@contextmanager
def whole() -> Iterator[None]:
    """Let the script end before or after the block, not at a look into the session in it. Draw nothing there."""
    context = get_script_run_ctx(suppress_warning=True)
    state = context.session_state if context is not None else None
    if state is None:
        yield
        return
    before = state._yield_callback
    object.__setattr__(state, "_yield_callback", lambda: None)  # its own `__setattr__` writes into the session
    try:
        yield
    finally:
        object.__setattr__(state, "_yield_callback", before)
