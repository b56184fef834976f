"""Say what changed since an earlier run on a file of the same kind, whose released values the visitor has saved."""

from __future__ import annotations

import time

import streamlit as st

from dpviz.escape import plain
from dpviz.figures.kit.theme import Theme
from dpviz.sweeps.processes import Died
from dpviz.takeaway.changes import since
from pages._ui.frame import markup, shell
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

__all__ = ["section"]

_MOST = 32  # maximum size of a saved run, in MB
_PATIENCE = 30.0  # seconds after which a file is given up, because it may have been written to keep the server busy


def section(key: str, result: Result) -> None:
    """Open a saved run, and show what differs from this one beyond the noise of both; only released values are read."""
    box = st.expander("What changed since an earlier run", key=f"{key}_since", on_change="rerun")
    if not box.open:
        return
    with box:
        file = st.file_uploader(
            "The earlier run", "json", key=f"{key}_since_file", max_upload_size=_MOST,
            help="Its released values as JSON, as saved here, or by `dpviz run --json`. This costs nothing.",
        )  # fmt: skip
        if file is None:
            return
        try:
            *lines, picture = _since(result, file.getvalue().decode(), shell.colors())
        except UnicodeDecodeError:
            st.error("This file is not the JSON of a run.")
        except (ValueError, Died) as problem:
            st.error(plain(str(problem).removeprefix("compare: ")))
        else:
            st.html("".join(markup.small(line) for line in lines))
            st.html(picture)


@per_run(shared=4, own=4)
def _since(identity: str, text: str, colors: Theme, _result: Result) -> tuple[str, ...]:
    end = time.monotonic() + _PATIENCE

    def look(done: int, total: int) -> None:
        if time.monotonic() > end:
            raise ValueError(f"compare: this file takes more than {_PATIENCE:.0f} seconds to read.")

    return workers().once(since, text, _result.trace, colors, look=look)
