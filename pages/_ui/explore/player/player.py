"""Draw the player: the plane, the panels beside it, the transport below, and the folded ledger."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import lines_of
from dpviz.algorithms.pseudocode import Line
from dpviz.figures import Panel, View, pane, printed
from dpviz.figures.code import listing, lit
from dpviz.figures.kit.film import PrintedFigure
from dpviz.figures.kit.panels import ledger_table
from dpviz.figures.kit.shots import Shot
from dpviz.metrics import reference_name
from dpviz.numbers import number
from dpviz.postprocessing.span import Axes, Span
from dpviz.trace import Trace
from pages._ui.explore.player import verdict
from pages._ui.explore.player.how import How
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.transport import starts, transport
from pages._ui.frame import markup, shell
from pages._ui.frame.address.state import Opened
from pages._ui.frame.prepared import shows
from pages._ui.frame.words import on_screen
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

PLAYER = "{}_player".format
TRANSPORT = "{}_transport".format
FIGURES = "{}_figures".format
_SWIPE = "{}_swipe".format


def view_of(result: Result, how: How) -> View:
    """Return the view of a run in the visitor's colors; a private run has no hidden layers."""
    data, axes = result.data, how.axes
    hidden = how.hidden and not data.private
    return View(
        trace=result.trace,
        colors=shell.colors(),
        axes=None if isinstance(axes, Span) else axes,
        span=axes if isinstance(axes, Span) else None,
        columns=data.columns,
        units=data.units,
        people=data.X if hidden else None,
        reference=result.reference.cluster_centers if hidden and result.reference else None,
        losses=result.losses if hidden else None,
        reference_loss=result.reference_loss if hidden else None,
        hidden=hidden,
        missed=verdict.missed(result) if hidden and result.reference else None,
        noun=data.noun,
        picture=pictured(result, axes),
    )


def pictured(result: Result, axes: Axes) -> tuple[int, int] | None:
    """Return the size of the pictures that replace the plane, or None if there are none or columns are chosen."""
    return None if isinstance(axes, tuple) else result.data.picture


@per_run(shared=64, own=8)
def _panels(identity: str, mode: str, how: How, compact: bool, _result: Result) -> list[Panel]:
    """Return the figures of a run, built once for each view."""
    return workers().call(printed, view_of(_result, how), compact)


@per_run(shared=64, own=32)
def _lit(identity: str, kinds: tuple[tuple[str, ...], ...], _result: Result) -> list[list[list[int]]]:
    """Return, for each event of each frame, the lines of pseudo-code that run in it."""
    return lit(_result.trace, _lines(_result.trace), kinds)


@per_run(shared=64, own=32)
def _ledger(identity: str, _result: Result) -> str:
    """Return the ledger as a table; the transport highlights the rows released up to the shown step."""
    per_frame = [shot.releases for shot in pane(_result.trace).shots(_result.trace)]
    rows = (
        f'<tr data-frame="{next(i for i, done in enumerate(per_frame) if done >= row.release)}">'
        f"<td>{row.release}</td><td>{markup.escape(row.label)}</td><td>{row.mechanism}</td>"
        f"<td>{number(row.sensitivity)}</td><td>{number(row.scale)}</td><td>{number(row.epsilon)}</td>"
        f"<td>{markup.escape(row.reason)}</td></tr>"
        for row in ledger_table(_result.trace).itertuples()
    )
    heads = ("#", "release", "mechanism", "sensitivity", "noise scale", "ε so far", "why this sensitivity")
    return markup.table("Ledger", heads, map(markup.Html, rows))


def legend_of(result: Result, axes: Axes) -> tuple[tuple[str, str], ...]:
    """Return the key of a run's picture as pairs (symbol, word), with the name of its reference."""
    against, key = reference_name(result.trace), pane(result.trace).key(pictured=pictured(result, axes) is not None)
    return tuple((symbol, word.replace("KMeans", against)) for symbol, word in key)


def player(
    key: str,
    result: Result,
    how: How,
    *,
    compact: bool = False,
    opened: Opened | None = None,
    fold: bool = True,
) -> None:
    """Draw a run and its controls. `compact` draws the plane alone, with the controls below.

    `opened` is the scene with which the page was opened; its step is shown first. A prepared scene may hide side
    panels. With `fold`, the folded releases follow directly; otherwise the page calls `releases`.
    """
    shots, hidden = pane(result.trace).shots(result.trace), how.hidden
    legend = legend_of(result, how.axes)
    panels = _panels(result, st.context.theme.type or "light", how, compact)
    plane, side = ([p for p in panels if p.name == name] for name in ("plane", "side"))
    zoom_of = f"{result.data.dataset_id} {how.axes}"
    if compact:
        with st.container(key=FIGURES(key)):
            draw(key, plane, zoom_of, how=how)
        _transport(key, result, shots, plane[0], opened, brief=True)
        shell.key_line(legend, hidden, result.data.noun)
        return
    first, *more = plane
    side = [*more, *side]
    with st.container(key=FIGURES(key), gap="xsmall"):
        with st.container(key=f"{key}_scene", horizontal=True, gap="medium"):
            with st.container(key=f"{key}_planecol", gap="xxsmall"):
                draw(key, [first], zoom_of, tall=True, how=how)
                if not shows("panels"):
                    shell.key_line(legend, hidden, result.data.noun)
            if shows("panels"):
                with st.container(key=f"{key}_sidecol", gap="xxsmall"):
                    # the transport highlights the lines of the shown step, and folds them on a phone
                    st.html(listing(result.trace, _lines(result.trace)))
                    shell.key_line(legend, hidden, result.data.noun)
                    with st.container(key=_SWIPE(key), gap="xxsmall"):  # on a phone, a row directly below the plane
                        draw(_SWIPE(key), side, how=how)
    with st.container(key=TRANSPORT(key)):
        _transport(key, result, shots, first, opened)
    if fold:
        releases(key, result, how)


def releases(key: str, result: Result, how: How) -> None:
    """Draw the parts of a run's picture that are as wide as the page, and the folded list of releases and prices."""
    drawn = _panels(result, st.context.theme.type or "light", how, False)
    panels, n = [panel for panel in drawn if panel.name == "wide"], len(result.trace.ledger)
    if not panels or not shows("panels"):
        return
    words = f"Every release and what it cost: {n}" if n else "Loss after each step"
    box = st.expander(words, key=f"{key}_releases", on_change="rerun")
    if box.open:  # send it only when the box is unfolded
        with box, st.container(key=_more(key), gap="xsmall"):
            draw(key, panels, how=how)
            if n:
                st.html(_ledger(result))


def _more(key: str) -> str:
    return FIGURES(f"{key}_more")


def briefly(shot: Shot) -> str:
    """Return a picture's sentence up to its first semicolon, after which the numbers come."""
    return shot.sentence.partition(";")[0]


def _transport(
    key: str,
    result: Result,
    shots: list[Shot],
    plane: Panel,
    opened: Opened | None,
    *,
    brief: bool = False,
) -> None:
    """Draw the controls for the film of a plane; if `brief`, without captions, with shorter sentences below it."""
    assert isinstance(plane.figure, PrintedFigure)
    transport(
        PLAYER(key),
        scope=(FIGURES(key), _more(key)),
        titles=[on_screen(briefly(shot) if brief else shot.sentence) for shot in shots],
        marks=[i for i, shot in enumerate(shots) if shot.tick],
        film=plane.figure.meta["film"],
        captioned=not brief,
        premiere=not brief,
        lines=_lit(result, plane.figure.kinds),
        private=result.data.private,
        run="" if result.data.private else result.identity,  # the same name on every page, so that a run keeps its step
        **starts(opened),
    )


def _lines(trace: Trace) -> tuple[Line, ...]:
    return lines_of(trace.algorithm, {step.kind for step in trace.steps})
