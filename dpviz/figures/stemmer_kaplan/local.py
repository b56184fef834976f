"""Draw the local model: individual reports, their sums with error bars, and the parts of the loss."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.domain import Domain
from dpviz.figures.kit.layers import TOP, true_tick, waiting
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, loss_title, spend_panel
from dpviz.figures.kit.shots import Shot, one_a_step, split_title
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames
from dpviz.figures.stemmer_kaplan.stemmer_kaplan import events, losses_panel, plane_panel
from dpviz.numbers import number
from dpviz.trace import Step, Trace

__all__ = ["PANE", "estimate_table", "report_table", "users_panels"]

COLUMNS = 48  # number of cells drawn per report: those with the largest estimates


def shots(trace: Trace) -> list[Shot]:
    """Return one picture per step."""
    return one_a_step(trace, lambda step: _words(step, trace.domain))


def _words(step: Step, domain: Domain) -> tuple[str, str]:
    released, (head, tail) = step.released, split_title(step)
    if step.kind != "reports":
        return head, tail
    how = f"{len(released['estimates'])} noisy bits" if released["oracle"] == "oue" else "one noisy bit"
    return head, (
        f"{released['users']:,} people each send {how} about their cell of width "
        f"{domain.length(released['width'])}; {tail}, ±{number(released['noise_sd'], 2)} each. "
        f"{len(released['sample'])} reports are drawn as sent; the others are only added up"
    )


def warning(trace: Trace) -> str:
    """Return a sentence if even a whole cluster in one cell of the coarsest grid would not stand out, else ""."""
    released = next(step.released for step in trace.steps if step.kind == "reports")
    even = released["users"] / len(trace.cluster_centers)
    if even > released["threshold"]:
        return ""
    return (
        f"A cluster of average size has {number(even)} of the {released['users']:,} people asked, but a cell needs "
        f"{number(released['threshold'])} reports to stand out from the noise. Ask more people, or choose fewer "
        "centers."
    )


def estimate_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the estimates of a step, largest first: rank, estimate, sd, heavy and, if `hidden`, true_count.

    Weights are scaled up from the group that was asked to all people; their true counts are scaled in the same way.
    """
    released = step.released
    estimates = released["estimates"] if step.kind == "reports" else released["noisy_weights"]
    least = released["threshold"] if step.kind == "reports" else 2 * released["noise_sd"]
    order = np.argsort(-estimates, kind="stable")
    table = pd.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "estimate": estimates[order],
            "sd": released["noise_sd"],
            "heavy": estimates[order] > least,
        }
    )
    if hidden and step.hidden:
        true = np.sum([h.statistic["counts"] for h in step.hidden], axis=0)
        scale = released["up"] if "up" in released else 1.0
        table["true_count"] = scale * true[order]
    return table


def report_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the reports of the drawn people on the cells with the largest estimates: columns user, rank, says, true.

    `says` is 1 if a person's report supports the cell: an OUE bit that is set, or a Hadamard bit whose sign agrees with
    the cell's entry. `true`, which exists only if `hidden`, marks the person's own cell.
    """
    released = step.released
    order = np.argsort(-released["estimates"], kind="stable")[:COLUMNS]
    if released["oracle"] == "oue":
        says = released["sample"][:, order].astype(int)
    else:
        row, bit = released["sample"].T
        agrees = np.bitwise_count((row[:, None] & (order + 1)).astype(np.uint64)) % 2 == 0
        says = (agrees == (bit[:, None] == 1)).astype(int)
    users, ranks = np.indices(says.shape)
    table = pd.DataFrame({"user": users.ravel() + 1, "rank": ranks.ravel() + 1, "says": says.ravel()})
    truth = next((h.statistic for h in step.hidden if "answers" in h.statistic), None)
    if hidden and truth is not None:
        table["true"] = (truth["answers"][:, None] == order).ravel()
    return table


def _reports(view: View, shots: list[Shot]) -> Panel:
    """Draw the reports of some people as rows of cells; reports on the last grid stay during later questions."""
    trace, colors = view.trace, view.colors
    tables = {t: report_table(step, hidden=view.hidden) for t, step in enumerate(trace.steps) if step.kind == "reports"}
    true = all("true" in table for table in tables.values())
    users = int(max(table.user.max() for table in tables.values())) if len(next(iter(tables.values()))) else 0
    named = np.mean([table.groupby("user").says.sum().mean() for table in tables.values() if len(table)] or [0])
    figure = base(colors, f"A report names {named:.0f} of {COLUMNS} cells", height=190)
    scale = [[0, colors.panel], [1, colors.released]]
    figure.add_heatmap(colorscale=scale, zmin=0, zmax=1, showscale=False, xgap=1, ygap=1, hoverinfo="skip")
    if true:
        tag(figure, colors, "NOT PRIVATE □ own cell", below=True)
        figure.add_scatter(
            mode="markers", name="the person's own cell (not private)", hoverinfo="skip",
            marker={"symbol": "square-open", "size": 6, "color": colors.hidden, "line": {"width": 1.6}},
        )  # fmt: skip
    figure.update_xaxes(title_text="cell, largest estimate first", showgrid=False, range=[0.5, COLUMNS + 0.5])
    figure.update_yaxes(title_text="person", showgrid=False, range=[users + 0.5, 0.5], nticks=4)
    words = waiting(figure, colors, (COLUMNS + 1) / 2, (users + 1) / 2)
    updates, last = [], 0
    for shot in shots:
        last = shot.step if shot.step in tables else last
        table = tables[last]
        grid = table.pivot(index="user", columns="rank", values="says")
        own = table[table.true] if true else table.iloc[:0]
        marks_ = {"x": own["rank"].tolist() or [None], "y": own["user"].tolist() or [None]}
        heat = {"x": list(grid.columns), "y": list(grid.index), "z": grid.to_numpy().tolist()}
        nobody = {"text": ["" if len(table) else "nobody is asked this question"]}
        updates.append([heat, *([marks_] if true else []), nobody])
    add_frames(figure, list(range(words + 1)), updates)
    return Panel(
        "side",
        figure,
        f"A grid with the reports of {users} people, one row each: cells that a report supports are filled.",
    )


def _estimates(view: View, shots: list[Shot]) -> Panel:
    """Draw the largest estimates with error bars of two standard deviations, and the threshold."""
    trace, colors = view.trace, view.colors
    tables = {
        t: estimate_table(step, hidden=view.hidden)
        for t, step in enumerate(trace.steps)
        if step.kind in ("reports", "weights")
    }
    true = all("true_count" in table for table in tables.values())
    last = tables[max(tables)]
    figure = base(colors, f"{int(last.heavy.sum())} of {len(last)} cells stand out", height=178)
    bar = {"type": "data", "array": [], "color": colors.ink, "thickness": 1, "width": 2}
    figure.add_scatter(mode="markers", name="estimate", error_y=bar, hovertemplate="%{y:.0f}<extra></extra>")
    figure.add_scatter(mode="lines", name="threshold", line={"color": colors.ink, "width": 1.6}, hoverinfo="skip")
    if true:
        tag(figure, colors, "NOT PRIVATE ― true", below=True)
        figure.add_scatter(name="true count (not private)", **true_tick(colors, 11))
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, TOP + 0.6])
    updates, last, top = [], 0, 1.0
    for shot in shots:
        last = shot.step if shot.step in tables else last
        table, released = tables[last].head(TOP), trace.steps[last].released
        share = 100 / max(released["total"] if "total" in released else released["users"], 1)
        least = share * (released["threshold"] if "threshold" in released else 2 * released["noise_sd"])
        color = [colors.released if heavy else colors.released_soft for heavy in table.heavy]
        dots = {
            "x": table["rank"].tolist(),
            "y": (share * table.estimate).round(2).tolist(),
            "error_y": {"array": (2 * share * table.sd).round(2).tolist()},
            "marker": {"color": color, "size": 7},
        }
        ticks = [{"x": table["rank"].tolist(), "y": (share * table.true_count).round(2).tolist()}] if true else []
        updates.append([dots, {"x": [0.4, TOP + 0.6], "y": [least, least]}, *ticks])
        top = max(top, least, float((share * (table.estimate + 2 * table.sd)).max()))
    figure.update_yaxes(title_text="% of people", range=[0, 1.08 * min(top, 100)])
    add_frames(figure, [0, 1, 2] if true else [0, 1], updates)
    return Panel(
        "side",
        figure,
        f"Dots: the {TOP} largest estimates with error bars; the line is the most that noise alone may reach.",
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, reports, estimates, the parts of the loss (if hidden layers are on), and ledger."""
    drawn = [plane_panel(view, shots), _reports(view, shots), _estimates(view, shots)]
    if view.hidden and view.people is not None and view.reference_loss is not None:
        drawn.append(losses_panel(view, shots))
    if not view.hidden:
        drawn.append(spend_panel(view, shots))
    return [*drawn, ledger_panel(view, shots)]


def users_panels(view: View, table: pd.DataFrame, users: int, tried: dict[int, float]) -> list[Panel]:
    """Draw the accuracy for different numbers of people, and the losses for the numbers that were tried.

    Parameters
    ----------
    table : columns users, heavy (the smallest count that stands out), center (error of a center, z units)
    users : int, the number of people to mark
    tried : users -> loss (z units, NOT PRIVATE)
    """
    colors, k = view.colors, int(view.trace.parameters["n_clusters"])
    share = (100 * table.heavy / table.users).tolist()
    counts = table.users.tolist()
    title = f"{users:,} people: a cell of {number(share[counts.index(users)], 2)}% stands out"
    figure = base(colors, title, height=280)
    figure.add_scatter(
        x=counts, y=share, mode="lines+markers", name="smallest share that stands out",
        line={"color": colors.released, "width": 2}, hovertemplate="%{x:,} people: %{y:,.2~r}%<extra></extra>",
    )  # fmt: skip
    here = counts.index(users)
    figure.add_scatter(
        x=[users], y=[share[here]], mode="markers", hoverinfo="skip",
        marker={"color": colors.released, "size": 13, "line": {"color": colors.ink, "width": 2}},
    )  # fmt: skip
    figure.add_scatter(
        x=[counts[0], counts[-1]], y=[100 / k, 100 / k], mode="lines+text", hoverinfo="skip",
        text=["", f"average cluster: {number(100 / k)}%"], textposition="bottom left",
        textfont={"size": 12, "color": colors.ink}, line={"color": colors.ink, "dash": "dot", "width": 1.4},
    )  # fmt: skip
    figure.update_xaxes(type="log", title_text="people")
    figure.update_yaxes(type="log", title_text="% of people that a cell needs", dtick=1)
    seen = Panel(
        "side", figure, f"A curve: with {users:,} people a cell needs {number(share[here], 2)}% of them to stand out."
    )

    asked = sorted(tried)
    best = view.reference_loss or 1.0
    unit = f" × {view.against}" * bool(view.reference_loss)
    title = (
        f"{asked[-1]:,} people: loss {number(tried[asked[-1]] / best)}{unit}"
        if asked
        else "No number of people tried yet"
    )
    figure = base(colors, title, height=280)
    tag(figure, colors, below=True)
    curve: dict[str, list] = {"x": asked or [None], "y": [tried[n] / best for n in asked] or [None]}
    figure.add_scatter(
        **curve, mode="lines+markers", name="tried",
        line={"color": colors.person, "width": 1.6}, marker={"symbol": "circle-open", "size": 10},
        hovertemplate="%{x:,} people: %{y:,.3~r}<extra></extra>",
    )  # fmt: skip
    top = max([*(loss / best for loss in tried.values()), 1.0 if view.reference_loss else 0.0])
    if view.reference_loss:
        figure.add_hline(
            y=1,
            line={"color": colors.hidden, "dash": "dot", "width": 1.6},
            annotation={"text": view.against, "font": {"color": colors.hidden, "size": 12}},
            annotation_position="bottom right",
        )
    if not asked:
        figure.add_annotation(
            text="Press “Ask them” for a first point.", showarrow=False, x=0.5, y=0.5, xref="paper",
            yref="paper", font={"color": colors.muted, "size": 13},
        )  # fmt: skip
    figure.update_xaxes(type="log", title_text="people", range=[np.log10(0.8 * counts[0]), np.log10(1.25 * counts[-1])])
    figure.update_yaxes(title_text=loss_title(view), range=[0, 1.25 * max(top, 1e-9)])
    words = ", ".join(f"{n:,} people {number(tried[n] / best)}" for n in asked) or "nothing tried yet"
    return [seen, Panel("wide", figure, f"A curve of the loss on the sample's people, not private: {words}.")]


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    legend=(
        ("box", "cell that stands out"),
        ("path", "anchor to average"),
        ("disc", "candidate"),
        ("dashed", "to the nearest center, at no cost"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="All people are simulated on one machine. The reports drawn as sent are real; of the others, only the "
    "sums are sampled, with exactly the same distribution (aggregate simulation). Over all questions together, a "
    "person spends at most epsilon.",
    warning=warning,
)
