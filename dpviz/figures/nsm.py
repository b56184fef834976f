"""NSM: how far rows reach, where they spread, candidates and their noisy counts, free thinking, two paid corrections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.panels import ledger_panel, loss_panel, plane, reference, spend_panel
from dpviz.figures.pe import GUESS, KEEP, TOP, VOTE, disc_sizes, drawn, marks, releases, shots, votes_frame
from dpviz.figures.theme import base, tag
from dpviz.figures.view import Pane, Panel, View, add_frames, xy
from dpviz.trace import Step, Trace

__all__ = ["PANE", "outline", "radius_frame", "spokes", "strength_frame"]

MAX_GUESSES = 500
CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 73)), np.sin(np.linspace(0, 2 * np.pi, 73))], axis=1)
GAP = np.full((1, 2), np.nan)  # between two lines of one trace


def sentences(trace: Trace) -> list[str]:
    """Return what is said at every frame."""
    lines, corrections = [], 0
    for t, phase in shots(trace):
        step, said = trace.steps[t], trace.steps[t].released
        corrections += step.kind == "correction"
        lines.append(_WORDS[step.kind](said, phase, trace, corrections))
    return lines


def _radius_words(said: Any, phase: int, trace: Trace, corrections: int) -> str:
    share = said["radius"] / trace.domain.radius
    return (
        f"Radius \u00b7 how many rows lie in each of {len(said['edges'])} shells, \u00b1{said['noise_sd']:.1f}: they "
        f"reach to {share:.0%} of the declared radius"
    )


def _moment_words(said: Any, phase: int, trace: Trace, corrections: int) -> str:
    table = strength_frame(said)
    return (
        f"Directions \u00b7 the noisy second moment: {int(table.signal.sum())} of {len(table)} directions stand out "
        "from the noise; candidates will follow them"
    )


def _summary_words(said: Any, phase: int, trace: Trace, corrections: int) -> str:
    closer = "variations" not in said and said.get("stage") == "zoom"
    head, size = ("Zoom" if closer else "Candidates"), len(said["population"])
    if phase == GUESS:
        return f"{head} \u00b7 {size:,} points placed by public and released values only"
    if phase == VOTE:
        return (
            f"{head} \u00b7 each row counts once, at its nearest point, and adds its offset; "
            f"\u00b1{said['noise_sd']:.1f} on every count"
        )
    return (
        f"{head} \u00b7 {int(said['kept'].sum())} of {size:,} stay and move to the noisy average of their rows; "
        f"a count below {said['threshold']:.0f} could be noise alone"
    )
