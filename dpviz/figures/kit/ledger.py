"""Tabulate a run's ledger: totals in every notion, the reason for each sensitivity, and the spending per step."""

from __future__ import annotations

import math

import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.kit.panels import whole
from dpviz.figures.kit.theme import Theme, base
from dpviz.numbers import number
from dpviz.postprocessing.release_names import release_name
from dpviz.privacy.accounting import Total
from dpviz.privacy.costs import Report, cost_of
from dpviz.privacy.ledger import Release, spent
from dpviz.trace import Trace

__all__ = ["plot_steps", "releases_table", "steps_table", "why"]

_NORM = {1: "l1 norm", 2: "l2 norm", math.inf: "range of the scores"}


def why(entry: Release, unit: str) -> str:
    """Explain a release's sensitivity, and what its noise therefore costs."""
    cost = cost_of(entry.mechanism, entry.cost)
    noise = cost.noise.format(scale=number(entry.scale))
    if isinstance(cost, Report):
        return f"{_sentence(entry.reason)}: {noise} costs {cost.words}, whatever the question."
    norm = cost.within or _NORM[entry.norm]
    part = ""
    if len(entry.path) > 1:
        part = " Each row lies in only one part, so the costs of different parts are not added together."
    if entry.excess > 1:
        part += (
            f" The noise has {number(entry.excess)} times that variance: several parties draw it, and each could "
            f"subtract its own share, so the others' shares alone must be enough."
        )
    return (
        f"{_sentence(entry.reason)}: {unit} changes the value by at most {number(entry.sensitivity)} ({norm}). "
        f"So {noise} costs {cost.words}.{part}"
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def releases_table(trace: Trace) -> pd.DataFrame:
    """Return one row per release with the totals so far; a total that does not apply is NaN, never 0.

    Columns: release, label, mechanism, scope, norm, sensitivity, scale, excess, neighboring, entries, epsilon, delta,
    mu, pure_epsilon, zcdp, why.
    """
    totals = [spent(trace.ledger[: i + 1], trace.claimed.delta) for i in range(len(trace.ledger))]
    columns = ("epsilon", "delta", "mu", "pure_epsilon", "zcdp")
    return pd.DataFrame(
        {
            "release": range(1, len(trace.ledger) + 1),
            "label": [release_name(entry) for entry in trace.ledger],
            "mechanism": [entry.mechanism for entry in trace.ledger],
            "scope": [" > ".join(map(str, entry.path)) for entry in trace.ledger],
            "norm": [entry.norm for entry in trace.ledger],
            "sensitivity": [entry.sensitivity for entry in trace.ledger],
            "scale": [entry.scale for entry in trace.ledger],
            "excess": [entry.excess for entry in trace.ledger],
            "neighboring": [entry.neighboring for entry in trace.ledger],
            "entries": [math.prod(entry.shape) for entry in trace.ledger],
            **{column: [_number(total, column) for total in totals] for column in columns},
            "why": [why(entry, trace.claimed.unit) for entry in trace.ledger],
        }
    )


def _number(total: Total, notion: str) -> float:
    value = getattr(total, notion)
    return math.nan if value is None else float(value)


def steps_table(trace: Trace) -> pd.DataFrame:
    """Return one row per step: step, title, releases (made in it), epsilon (after it), added (epsilon spent in it)."""
    epsilon = [0.0, *(spent(trace.ledger[: step.n_releases], trace.claimed.delta).epsilon for step in trace.steps)]
    done = [0, *(step.n_releases for step in trace.steps)]
    return pd.DataFrame(
        {
            "step": range(1, len(trace.steps) + 1),
            "title": [step.title for step in trace.steps],
            "releases": [b - a for a, b in zip(done, done[1:], strict=False)],
            "epsilon": epsilon[1:],
            "added": [b - a for a, b in zip(epsilon, epsilon[1:], strict=False)],
        }
    )


def plot_steps(trace: Trace, colors: Theme) -> go.Figure:
    """Draw, for each step, the epsilon that it added as a bar on top of the total so far; draw the claim as a line."""
    table = steps_table(trace)
    dearest = table.loc[table.added.idxmax()]
    total = number(float(table.epsilon.iloc[-1]))
    title = f"Step {dearest.step} adds the most: {number(float(dearest.added))} of ε {total}"
    figure = base(colors, title, height=230)
    figure.update_layout(barmode="stack", bargap=0.15)
    before, words = (table.epsilon - table.added).tolist(), table.title.tolist()
    figure.add_bar(x=table.step.tolist(), y=before, marker={"color": colors.released_soft}, hoverinfo="skip")
    figure.add_bar(
        x=table.step.tolist(), y=table.added.tolist(), marker={"color": colors.released},
        customdata=list(zip(words, table.epsilon.tolist(), table.releases.tolist(), strict=True)),
        hovertemplate="step %{x}: %{customdata[0]}<br>%{customdata[2]} releases, ε = %{customdata[1]:,.3~r} after it"
        "<extra></extra>",
    )  # fmt: skip
    claimed = trace.claimed.epsilon
    figure.add_hline(
        y=claimed,
        line={"color": colors.muted, "dash": "dot", "width": 1.4},
        annotation={"text": f"claimed {number(claimed)}", "font": {"size": 12, "color": colors.muted}},
        annotation_position="top left",
    )
    figure.update_xaxes(title_text="step", dtick=whole(len(table)), range=[0.4, len(table) + 0.6])
    figure.update_yaxes(title_text="ε", range=[0, 1.25 * claimed])
    return figure
