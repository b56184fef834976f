"""Show the view of Compare: the planes under one player, verdicts, differences, promises, and trade-off curves."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

import streamlit as st

from dpviz.figures import Panel, View, columns, pane
from dpviz.figures.compare import Timeline, curves_panel, planes, timeline
from dpviz.figures.kit.shots import complete
from dpviz.metrics import reference_name
from dpviz.numbers import having, number, ratio_words
from dpviz.postprocessing.beside import LETTERS, Curves, Fact, budgets, facts, kinds, partners
from dpviz.postprocessing.beside import curves as curves_of
from dpviz.postprocessing.span import Axes, shared
from dpviz.postprocessing.weakest import sentences
from dpviz.takeaway import comparison as one_page
from pages._ui.explore.compare.made import Comparison
from pages._ui.explore.player import how, verdict
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import FIGURES, PLAYER, TRANSPORT, legend_of, view_of
from pages._ui.explore.player.transport import starts, transport
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, choice, switch
from pages._ui.frame.address.state import Opened
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

_COMPARE_PLANE = "compare_{}".format
_COMPARE_CURVES = "compare_curves"

KEY = "compare"

BY = Control(
    "by", "compare_by", "Match by", choice("step", ("step", "event", "spent")), widget="segmented_control",
    named={"step": "by step", "event": "by event", "spent": "by ε spent"},
    help="If runs are matched by the ε spent, each shows the last picture that it reached with that ε.",
)  # fmt: skip
HIDDEN = dataclasses.replace(how.HIDDEN, key="compare_hidden")
WHOLE = Control("whole", "compare_whole", "Other lines", switch(False))


def pictures(
    views: Sequence[View], by: str, numbers: Sequence[tuple[Sequence[str], Sequence[str]]], height: int
) -> tuple[Timeline, list[Panel]]:
    """Return the timeline and the planes of several runs."""
    drawn = planes(views, numbers, height=height)
    return timeline([view.trace for view in views], by, [panel.figure.meta["film"] for panel in drawn]), drawn


@per_run(shared=24, own=4)
def _pictures(identity: str, mode: str, hidden: bool, by: str, _comparison: Comparison) -> tuple[Timeline, list[Panel]]:
    """Return the timeline and the planes, which are made once per view."""
    traces = [run.trace for run in _comparison.runs]
    axes: Axes = columns(_comparison.data, *traces)
    if axes is None and len(_comparison.data.columns) > 1:
        axes = shared(traces)
    views = [view_of(run, how.How(hidden, axes)) for run in _comparison.runs]
    numbers = partners(traces)
    return workers().call(pictures, views, by, numbers, 430)


@per_run(shared=64, own=8)
def _curves(identity: str, _comparison: Comparison) -> Curves:
    return curves_of([run.trace for run in _comparison.runs], _comparison.data.noun)


def unlike_promises(comparison: Comparison) -> None:
    """Warn if the promises are of different kinds; mention different budgets in small print, as they were chosen."""
    traces = [run.trace for run in comparison.runs]
    if unlike := kinds(traces):
        words = " ".join(map(markup.escape, unlike))
        st.html(f'<p class="dp-unlike" role="note"><b>The promises differ in kind.</b> {words}</p>')
    if chosen := budgets(traces, comparison.data.noun):
        st.html(markup.small(" ".join(chosen)))


def player(comparison: Comparison, *, hidden: bool, by: str, opened: Opened | None) -> None:
    """Draw the runs side by side with one set of controls, the verdict below each, and then the differences."""
    clock, panels = _pictures(comparison, st.context.theme.type or "light", hidden, by)
    with st.container(key=TRANSPORT(KEY)):
        transport(
            PLAYER(KEY),
            scope=FIGURES(KEY),
            titles=list(clock.titles),
            marks=list(range(clock.ticks)) if clock.ticks <= 60 else [],
            film=[[{"ms": ms, "says": says, "acts": True}] for ms, says in zip(clock.ms, clock.titles, strict=True)],
            captioned=True,
            **starts(opened),
        )
    with st.container(key=FIGURES(KEY), gap="small"):
        with st.container(key="compare_row"):
            columns = st.columns(len(panels), gap="small")
            pairs = partners([run.trace for run in comparison.runs])
            for i, run in enumerate(comparison.runs):
                with columns[i]:
                    _run(LETTERS[i], panels[i], clock.ends[i], run, sum(map(bool, pairs[i][1])), hidden=hidden)
        alone = "A broken ring marks a center without a partner. All pictures share zoom and pointer."
        st.html(
            markup.small(
                markup.bold("Numbers"),
                " at the last step mark the centers that the runs share: centers are matched one to one, and two "
                "form a pair only if each is the nearest to the other, or if they are closer to each other than "
                f"either is to any other center of its own run. {'' if comparison.data.picture else alone}",
            )
        )
        _why(comparison, hidden=hidden)
        _table(comparison, clock, hidden=hidden)


def _why(comparison: Comparison, *, hidden: bool) -> None:
    """Say of every run what it paid for, and where its signal was weakest; order by loss where losses compare."""
    runs = comparison.runs
    alike = len({(len(run.trace.cluster_centers), reference_name(run.trace)) for run in runs}) == 1
    losses = [float(r.losses[-1]) / r.reference_loss for r in runs if r.losses is not None and r.reference_loss]
    shown = losses if hidden and alike and len(losses) == len(runs) else None
    if words := sentences([run.trace for run in runs], comparison.data.nouns, shown):
        st.header("Where noise mattered")
        st.html("".join(f"<p>{markup.text(line)}</p>" for line in words))
        if shown:
            st.html(markup.small("Losses depend on raw rows: NOT PRIVATE. The rest is released."))


def _run(letter: str, panel: Panel, ends: Sequence[int], run: Result, alone: int, *, hidden: bool) -> None:
    seed = "" if run.trace.seed is None else f", seed {run.trace.seed}"
    given = run.trace.parameters
    words = ", ".join(
        f"{short} {number(given[name], 6)}" for name, short in (("n_clusters", "k"), ("epsilon", "ε")) if name in given
    )
    st.html(
        f'<h2 class="dp-side" tabindex="0"><b>{letter}</b> {markup.escape(run.trace.name)} '
        f"<span>{words}{seed}</span></h2>"
    )
    draw(_COMPARE_PLANE(letter), [panel], run.data.dataset_id, ends=ends, linked=KEY)
    st.html(verdict.written(run, hidden=hidden))
    if alone:
        total = len(run.trace.cluster_centers)
        st.html(markup.small(f"{having(total - alone, total, 'centers')} a partner."))
    shell.key_line(legend_of(run, None), hidden, run.data.noun)


def _table(comparison: Comparison, clock: Timeline, *, hidden: bool) -> None:
    """Show the differences between the runs; the first rows follow the player."""
    head, place = st.columns([3, 2], vertical_alignment="bottom")
    head.header("What differs")
    rows = facts([run.trace for run in comparison.runs], comparison.data.noun)
    same = sum(not row.differs for row in rows)
    whole = WHOLE.draw(place, label=f"Show the {same} equal lines, too", disabled=not same)
    moving = {
        "ε spent so far": [["–" if x != x else number(x) for x in spent] for spent in clock.spent],
        "Releases so far": [[f"{n:,}" for n in releases] for releases in clock.releases],
    }
    note = ""
    if hidden and all(run.reference_loss for run in comparison.runs):
        name, ratios, note = _ratios(comparison, clock)
        moving[name] = ratios
    body = [
        markup.Html(f"<tr><th scope=row>{markup.text(name)}</th>{''.join(map(_moving, cells))}</tr>")
        for name, cells in moving.items()
    ]
    body += [_row(row) for row in rows if whole or row.differs]
    heads = (f"{letter}: {run.trace.name}" for letter, run in zip(LETTERS, comparison.runs, strict=False))
    st.html(
        markup.table("What differs between the runs", ("", *heads), body, look="dp-free dp-beside")
        + markup.small(f"The first lines show the player's current step.{note}")
    )


def _moving(values: Sequence[str]) -> str:
    """Return a table cell that stores a value for every tick of the transport, which shows the current one."""
    every = markup.escape(json.dumps(values, ensure_ascii=False))
    return f'<td data-said="{every}">{markup.escape(values[-1])}</td>'


def _ratios(comparison: Comparison, clock: Timeline) -> tuple[str, list[list[str]], str]:
    """Return the title of the row of relative losses, each run's values at every tick, and a note on the row."""
    ratios = []
    numbers = [len(run.trace.cluster_centers) for run in comparison.runs]
    unlike = len(set(numbers)) > 1
    for run, frames, n in zip(comparison.runs, clock.frames, numbers, strict=True):
        steps = complete(pane(run.trace).shots(run.trace))
        losses, best = run.losses, run.reference_loss
        values = []
        for frame in frames:
            loss = losses[steps[frame]] if frame >= 0 and losses is not None and steps[frame] >= 0 else float("nan")
            star = "*" if unlike and n != numbers[0] else ""
            values.append("–" if loss != loss or not best else f"{ratio_words(float(loss) / best)}{star}")
        ratios.append(values)
    note = " Losses depend on raw rows: NOT PRIVATE."
    if unlike:
        note += (
            f" * {' and '.join(map(str, numbers))} centers: these losses are not comparable, because more centers "
            "always lower the loss."
        )
    against = dict.fromkeys(reference_name(run.trace) for run in comparison.runs)
    if "KMedians" in against and len(against) > 1:
        note += " k-median runs are compared with KMedians (distance), all other runs with KMeans (squared distance)."
    return f"Loss so far, × {' or '.join(against)}", ratios, note


def _row(row: Fact) -> markup.Html:
    cells = "".join(f"<td>{markup.escape(value)}</td>" for value in row.values)
    unlike = "unlike" if row.differs else ""
    return markup.Html(f'<tr class="{unlike}"><th scope=row>{markup.escape(row.name)}</th>{cells}</tr>')


def curves(comparison: Comparison) -> None:
    """Draw the promises' trade-off curves in one figure, and offer the comparison as a file."""
    bounds, on, doubled, note = _curves(comparison)
    picture, words = st.columns([1, 1], gap="medium")
    with picture:
        draw(_COMPARE_CURVES, [curves_panel(shell.colors(), bounds)])
    odds = markup.Html(", ".join(markup.bold(f"{letter} {bound.odds}") for letter, bound in bounds.items()))
    promised = {letter: run.trace.claimed.person.odds for letter, run in zip(bounds, comparison.runs, strict=True)}
    apart = ", ".join(
        f"{letter} {promised[letter]}"
        for letter, bound in bounds.items()
        if letter not in doubled and promised[letter] != bound.odds
    )
    looser = (
        markup.small(f"The lines above use promises alone, which allow more: {apart} times in 100.") if apart else ""
    )
    with words:
        st.header("What the promises allow")
        st.html(
            markup.odds(f"Starting from even odds, a bet on {on} is right at most ", odds, " times in 100.")
            + (markup.small(note) if note else "")
            + looser
            + markup.small(
                "Every attacker has a rate of false alarms and a rate of misses, and lies on or above "
                "the curve of the promise. On the dotted line, a coin would do as well. For a plan of "
                "Gaussian releases the curve is exact; other plans are composed at many δ, and their curves may "
                "understate the promise."
            )
            + markup.fooled(
                "Curves of different promises answer different questions: one row added or removed, one row changed, "
                "one row moved by rho. A higher curve is better only for the same question."
            )
        )
        traces = [run.trace for run in comparison.runs]
        st.download_button(
            "One page", lambda: one_page(traces), "dpviz-comparison.html", "text/html", icon=":material/download:",
            key="compare_page", on_click="ignore", help="Promises, differences, curves and centers on A4.",
        )  # fmt: skip
