"""Show the transport: a small component that drives every figure of a keyed container, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dpviz.figures.stage import reel
from pages._ui.frame.inside.client import PAGE

if TYPE_CHECKING:
    from pages._ui.frame.address.state import Opened

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_transport",
    html='<div class="dpviz-transport"></div>',
    css=(_HERE / "transport.css").read_text(),
    js=PAGE + reel() + (_HERE / "transport.js").read_text(),
)


def transport(
    key: str,
    *,
    scope: str | tuple[str, ...],
    titles: list[str],
    marks: list[int],
    film: Sequence[Sequence[dict[str, Any]]] | None = None,
    captioned: bool = False,
    premiere: bool = False,
    lines: list[list[list[int]]] | None = None,
    opened: int = 0,
    step: int | None = None,
    play: bool = False,
    within: bool = False,
    run: str = "",
    what: str = "Steps of the run",
    main: bool = True,
    private: bool = False,
) -> None:
    """Show the controls for the figures inside the containers with keys `scope`; stepping never calls the server.

    `film` lists the events that lead to each step (`film.told`), by default one. If the figures are `captioned` with
    them, the line of words is only for screen readers, and the verdict waits for the last picture. With `premiere`, the
    first visit in a browser plays the first round.

    `lines` lists, for each event of each frame, the numbers of the lines of pseudo-code that run in it. With a new
    `opened`, the player goes to `step`, plays from the first one, or, `within` the session, goes to the step at which
    the run was last seen. The step is stored for every `run` (or, without one, for every list of titles). Only the
    `main` player of a page writes its step to the address.
    """
    data: dict[str, Any] = {
        "id": key,
        "scope": f":is({','.join(f'.st-key-{one}' for one in ((scope,) if isinstance(scope, str) else scope))})",
        "titles": titles,
        "marks": marks,
        "events": film,
        "begins": film is not None and film[0][0]["acts"],
        "captioned": captioned,
        "premiere": premiere,
        "lines": lines,
        "opened": opened,
        "step": step,
        "play": play,
        "within": within,
        "run": run,
        "what": what,
        "main": main,
        "mode": "PRIVATE" if private else "DEMO",
    }
    _component(key=key, data=data, height="content")


def starts(opened: Opened | None) -> dict[str, Any]:
    """Return the arguments that say how the player starts in a scene opened by an address."""
    if opened is None:
        return {}
    return {"opened": opened.number, "step": opened.scene.step, "play": opened.scene.play, "within": opened.within}
