"""Make the screen for one scene (figure, words, one number) with pure functions that a worker process can run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from dpviz.algorithms import Algorithm
from dpviz.atlas import averages, files, noised
from dpviz.atlas.cells import STOPS, STORY
from dpviz.audits.game import Round, attack, score
from dpviz.audits.game import play as rounds_of
from dpviz.datasets import Dataset
from dpviz.figures import Panel, View, columns, pane
from dpviz.figures.kit.legend import HIDDEN
from dpviz.figures.kit.shots import Shot, complete
from dpviz.figures.kit.theme import SLOTS
from dpviz.figures.scenes import reruns, tradeoff
from dpviz.figures.scenes.game import picture_panel
from dpviz.figures.scenes.lessons import GROUPS, groups_panel
from dpviz.figures.scenes.reconstruction import legend as read_legend
from dpviz.figures.scenes.reruns import Cloud
from dpviz.lessons import limits_in_short, slides, story
from dpviz.lessons.ground import ground
from dpviz.metrics import run_loss
from dpviz.numbers import chance, counted, number, plus_minus, ratio_words
from dpviz.postprocessing.bet import bet_of, briefly, odds_of_any
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import FAR, Groups, demo_verdict, groups_of, private_verdict, reach, regions_verdict
from dpviz.privacy.guarantee import Guarantee
from dpviz.runs.public import STANDS_IN
from dpviz.runs.reruns import rerun
from dpviz.runs.single import Reference, reference, replay
from dpviz.sweeps.conclusion import steadiness
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import Row, Sweep, execute
from dpviz.takeaway.deck import Picture
from dpviz.takeaway.label import block, facts
from dpviz.trace import Trace
from pages._ui.explore.attacker.scores import percent, span
from pages._ui.explore.attacker.setup import Setup
from pages._ui.explore.federated import reconstruction
from pages._ui.explore.player.verdict import lost
from pages._ui.frame import markup
from pages._ui.frame.words import on_screen

__all__ = ["Picture", "clouds", "game", "lesson", "play", "read_off", "run", "start", "sweep", "uncovered", "words"]

CLOUD = 25  # Number of runs of each world's cloud.
MOST_CENTERS, MOST_COLUMNS = 8, 4  # rows and columns of the table of centers on a slide
AGAIN = 20  # Number of reruns at every ε, with the seeds of Again?
OnStep = Callable[[int, int], None]


def _key(pairs: tuple[tuple[str, str], ...], hidden: bool) -> tuple[tuple[str, str], ...]:
    """Return the lines of a key, without those of hidden values if they are not shown."""
    return tuple(pair for pair in pairs if hidden or pair[0] not in HIDDEN)


def _promise(promise: Guarantee) -> str:
    return f"ε {number(promise.epsilon)}, δ {chance(promise.delta)}" if promise.private else str(promise)


def _bet(promise: Guarantee, far: str = "rho") -> tuple[str, str]:
    if not promise.private and not promise.exact:
        return "not known", f"{promise}."
    if not promise.private:
        return "100 of 100 bets", "on who is in the data can be won, because nothing is protected."
    bet = bet_of(promise, far=far)
    any_ = f"Against any method with this ε and δ: {odds_of_any(promise)}. A coin toss wins 50."
    return briefly(bet.odds), f"on {bet.on}, against this method. {any_}"


def _viewed(
    data: Dataset, trace: Trace, best: Reference, axes: tuple[int, int] | None, hidden: bool
) -> tuple[View, tuple[str, ...]]:
    """Return the view of a run, and its verdict."""
    axes, picture = axes or columns(data, trace), None if axes else data.picture
    view = View(trace, SLOTS, axes, data.columns, data.units, noun=data.noun, picture=picture)
    if not hidden:
        return view, private_verdict(trace, data.columns, data.units).parts[:-1]
    there = groups_of(data.X, data.domain, best.trace.cluster_centers, data.groups)
    reference = best.trace.cluster_centers
    if has_regions(trace):
        verdict = regions_verdict(trace, data.X, data.labels, reference)
    else:
        losses = run_loss(trace, data.X), best.loss
        verdict = demo_verdict(trace, there, reference, losses, data.columns, data.units)
    seen = dataclasses.replace(view, people=data.X, reference=reference, hidden=True, missed=lost(trace, there))
    return seen, verdict.parts[:2]


def run(
    data: Dataset, algorithm: Algorithm, seed: int, axes: tuple[int, int] | None, hidden: bool, show: str,
    on_step: OnStep,
) -> Picture:  # fmt: skip
    """Return a run's plane, step by step, or its privacy label."""
    trace = replay(data, algorithm, seed, on_step).trace
    promise = f"{trace.name} · {_promise(trace.claimed)}"
    if show == "label":
        words, k = (f"{trace.name} on {data.title}",), len(trace.cluster_centers)
        stamp = "These people are made up, so the label reads DEMO; a private run of your file reads PRIVATE RELEASE."
        small = f"can be handed out, with their noise and this label. {stamp * (trace.seed is not None)}"
        html = _handed(trace, data) + block(trace)
        return Picture("", "", words, big=counted(k, "center"), small=small, promise=promise, html=html)
    best = reference(
        data, getattr(algorithm, "n_clusters", data.n_clusters), seed, getattr(algorithm, "objective", "means")
    )
    view, verdict = _viewed(data, trace, best, axes, hidden)
    how = pane(trace)
    plane = next(panel for panel in how.panels(view) if panel.name == "plane")
    shots = how.shots(trace)
    sentences = [on_screen(shot.sentence) for shot in shots]
    sentences[-1] = f"{shots[-1].head} · {', '.join(verdict)}"
    big, small = _bet(trace.claimed, reach(trace))
    bigs: tuple[str, ...] = ()
    until = ""
    if hidden and trace.claimed.private and not has_regions(trace):
        there = groups_of(data.X, data.domain, best.trace.cluster_centers, data.groups)
        bigs = tuple(f"{one} of {len(there.means)}" for one in _found(trace, shots, there))
        big, small = bigs[-1], f"{there.words} have a released center."
        until = small.replace(".", " so far.")
    return Picture.of(
        plane,
        titles=tuple(sentences),
        legend=_key(how.key(pictured=view.picture is not None), hidden),
        big=big,
        small=small,
        promise=promise,
        bigs=bigs,
        until=until,
    )


def words(
    data: Dataset, algorithm: Algorithm, seed: int, show: str, others: Sequence[tuple[Algorithm, Sequence[int]]],
    on_step: OnStep,
) -> Picture:  # fmt: skip
    """Return in words what a run promises, whom one trusts, what is not covered, or what its ε gains and costs.

    `others` holds the algorithm at several values of ε, smallest first, each with the number of groups that every one
    of its stored runs found.
    """
    trace = replay(data, algorithm, seed, on_step).trace
    lines, title, promise = facts(trace), f"{trace.name} on {data.title}", f"{trace.name} · {_promise(trace.claimed)}"
    if show == "why":
        best = reference(data, data.n_clusters, seed)
        there = len(groups_of(data.X, data.domain, best.trace.cluster_centers, data.groups).means)
        big, small = f"ε {number(trace.claimed.epsilon)}", _why(algorithm, others, there)
        return Picture("", "", (title,), (), big, small, promise, _priced(data, algorithm, others, there))
    names = {"promise": ("Protects", "Promise", "In a bet"), "trust": ("Trusts", "Public inputs", "Noise from")}
    chosen = {name: lines[name] for name in names.get(show, ("Not protected",)) if name in lines}
    more = {"promise": _whoever(trace.claimed), "gaps": limits_in_short()}.get(show, {})
    return Picture("", "", (title,), promise=promise, html=slides.table({**chosen, **more}))


def _whoever(promise: Guarantee) -> dict[str, str]:
    """Return the line on any method with this ε and δ; none if nothing is promised."""
    words = f"with this ε and δ: right at most {odds_of_any(promise)} times in 100"
    return {"Any method": words} if promise.private else {}


def _why(algorithm: Algorithm, others: Sequence[tuple[Algorithm, Sequence[int]]], groups: int) -> str:
    """Return what this ε finds in stored runs, against the next smaller one."""
    found = [(one, sum(n == groups for n in runs), len(runs)) for one, runs in others if len(runs)]
    at = next((i for i, (one, _, _) in enumerate(found) if one == algorithm), None)
    if at is None:
        return "is the ε of this run. No stored runs say what it finds, so only bets are compared."
    _, now, runs = found[at]
    less = f", and in {found[at - 1][1]} of {found[at - 1][2]} at the next smaller ε" if at else ""
    return f"is the ε of this run: all {groups} groups are found in {now} of {runs} stored runs{less}."


def _priced(data: Dataset, algorithm: Algorithm, others: Sequence[tuple[Algorithm, Sequence[int]]], groups: int) -> str:
    """Return a table of what other values of ε promise, and of what their stored runs found."""
    counts = any(len(found) for _, found in others)
    heads = ["ε", "Bet, this method", "Bet, any method", *[f"All {groups} groups found"] * counts]
    rows = []
    for one, found in others:
        promise = one.guarantee(data.domain.n_features, data.n_public)
        every = f"{sum(n == groups for n in found)} of {len(found)} runs" if len(found) else "not run"
        cells = [number(promise.epsilon), *map(briefly, (promise.odds, odds_of_any(promise))), *[every] * counts]
        tag = "th" if one == algorithm else "td"
        rows.append("<tr>" + "".join(f"<{tag}>{markup.escape(cell)}</{tag}>" for cell in cells) + "</tr>")
    head = "".join(f"<th scope=col>{markup.escape(name)}</th>" for name in heads)
    return f'<section class="centers"><table><thead><tr>{head}</tr></thead>{"".join(rows)}</table></section>'


def _found(trace: Trace, shots: Sequence[Shot], there: Groups) -> list[int]:
    """Return how many groups the latest centers find at every shot: 0 before the first ones are released."""
    every = [step.released.get("centers") for step in trace.steps]
    counts = []
    for done in complete(shots):
        latest = next((centers for centers in reversed(every[: done + 1]) if centers is not None), np.empty((0, 2)))
        counts.append(int(there.found_by(np.asarray(latest)).sum()))
    return [*counts[:-1], int(there.found_by(trace.domain.normalize(trace.cluster_centers)).sum())]


def _handed(trace: Trace, data: Dataset) -> str:
    """Return the released centers as an HTML table, each value with the standard deviation of its noise if known."""
    noise, units = center_noise(trace), [f" ({unit})" * bool(unit) for unit in data.units]
    columns = [f"{name}{unit}" for name, unit in zip(data.columns, units, strict=True)][:MOST_COLUMNS]
    head = "".join(f"<th scope=col>{markup.escape(name)}</th>" for name in ("Center", "Size", *columns))
    rows = []
    for i, center in enumerate(np.asarray(trace.cluster_centers)[:MOST_CENTERS]):
        size = "" if noise.sizes is None else plus_minus(float(noise.sizes[i]), noise.sizes_sd or 0.0)
        sd = np.zeros(len(center)) if noise.sd is None else noise.sd[i] * trace.domain.half_width
        values = [plus_minus(float(value), float(one)) for value, one in zip(center, sd, strict=True)]
        cells = "".join(f"<td>{cell}</td>" for cell in (str(i + 1), size, *values[:MOST_COLUMNS]))
        rows.append(f"<tr>{cells}</tr>")
    more = [
        f"{total - most} more {word}"
        for total, most, word in (
            (len(trace.cluster_centers), MOST_CENTERS, "centers"),
            (len(data.columns), MOST_COLUMNS, "columns"),
        )
        if total > most
    ]
    rest = f"<p>… and {' and '.join(more)}</p>" if more else ""
    return f'<section class="centers"><table><thead><tr>{head}</tr></thead>{"".join(rows)}</table>{rest}</section>'


def clouds(
    data: Dataset, algorithms: dict[str, Algorithm], stored: dict[str, Sequence[np.ndarray]], seed: int,
    axes: tuple[int, int] | None, hidden: bool, on_step: OnStep,
) -> Picture:  # fmt: skip
    """Return the picture of the reruns' results; each step shows the same algorithm at a different ε."""
    drawn: list[Cloud] = []
    titles = []
    trace = replay(data, next(iter(algorithms.values())), seed).trace
    best = reference(data, len(trace.cluster_centers), seed)
    there = groups_of(data.X, data.domain, best.trace.cluster_centers, data.groups)
    for i, (name, algorithm) in enumerate(algorithms.items()):
        runs = tuple(stored[name][:AGAIN]) if name in stored else rerun([data], algorithm, range(AGAIN)).centers
        on_step(i + 1, len(algorithms))
        every = sum(bool(there.found_by(data.domain.normalize(centers)).all()) for centers in runs)
        drawn.append(Cloud(name, runs))
        titles.append(f"{name} · all {len(there.means)} {there.words} found in {every} of {AGAIN} runs")
    view, _ = _viewed(data, trace, best, axes, hidden)
    plane = reruns.clouds(dataclasses.replace(view, missed=None), drawn, "")[0]
    small = "runs at every ε, on the same people. Each dot is a released center."
    legend = tuple(pair for pair in reruns.LEGEND if pair[0] != "hoop")
    return Picture.of(
        plane, titles=tuple(titles), legend=_key(legend, hidden), big=str(AGAIN), small=small,
        promise=trace.name,
    )  # fmt: skip


def read_off(data: Dataset, noise: str, on_step: OnStep) -> Picture:
    """Return the picture of the rows that follow from plain Lloyd's rounds."""
    trace, read = reconstruction.read_in(data, noise)
    on_step(1, 1)
    titles, by_then = reconstruction.titles_of(data, trace, read)
    if trace.noiseless:
        bigs = tuple(f"{len(one.people):,} of {len(data.X):,}" for one in by_then)
        small = f"people's rows are among the {counted(len(by_then[-1]), 'row')} computed from the published averages."
    else:
        bigs, small = (), "No count is whole, so this arithmetic stops."
    return Picture.of(
        reconstruction.panel_of(data, trace, by_then, SLOTS),
        titles=tuple(titles),
        legend=read_legend(trace.noiseless),
        big=bigs[-1] if bigs else "",
        bigs=bigs,
        small=small,
        promise="no promise" if noise == "none" else _promise(trace.claimed),
    )


def lesson(name: str, seed: int, on_step: OnStep) -> Picture:
    """Return the first plane of a lesson, step by step."""
    made = slides.picture(name, seed)
    on_step(1, 1)
    return made


def start(on_step: OnStep) -> Picture:
    """Return Start's averages under more and more noise, and then what its method publishes for the last ε.

    Raises
    ------
    ValueError
        If the stored runs of Start are missing or of another version.
    """
    given, stored, chart = averages.read(), noised.read(), files.read(*STORY)
    if given is None or stored is None or chart is None:
        raise ValueError("Start's stored runs are missing or come from another version, so it has no slide.")
    there, whole = ground(STORY[0]), story.of_chart(chart)
    told = story.record(given[0], None, [whole], stored)["noise"]
    noisy = [i for i, one in enumerate(stored) if one.epsilon is not None]
    shots = [*(stored[i].centers for i in noisy), whole.centers[STOPS.index(averages.EPSILON), 0]]
    on_step(1, 1)
    spoken = [*(told["stops"][i]["say"] for i in noisy), f"{told['smart']['told']} {told['smart']['why']}"]
    kmeans = there.run("kmeans", 0)
    bigs = tuple(f"{there.found(centers)} of {len(there.groups.means)}" for centers in shots)
    return Picture.of(
        groups_panel(there.view(kmeans, SLOTS), "", there.groups, shots),
        titles=tuple(words.replace(": ", " · ", 1) for words in spoken),
        legend=GROUPS,
        big=bigs[-1],
        bigs=bigs,
        small="neighborhoods have a center among what is published.",
        promise="made-up people",
    )


def play(on_step: OnStep) -> Picture:
    """Return what a class does with its phones, in short."""
    on_step(1, 1)
    lines = {
        "Join": "Open Class; its code lets the phones in.",
        "Place": "Everybody is one point on one map. A method looks for the groups, with noise.",
        "Bet": "“Was I in?” Each phone bets on whether its own point was used.",
        "Compare": "How many bets were right, and how many the promise allows.",
    }
    return Picture("", "", ("A class with phones",), html=slides.table(lines))


def uncovered(on_step: OnStep) -> Picture:
    """Return what no promise covers, in short."""
    on_step(1, 1)
    return Picture("", "", ("Limits says each of these at length.",), html=slides.table(limits_in_short()))


def game(setup: Setup, stored: tuple[Sequence[Round], ...], on_step: OnStep) -> Picture:
    """Return the two worlds as clouds, with the bound on bets and, from stored rounds, the best known attack's success.

    `stored` holds finished rounds of the game with seed 0, in three lists, which may be empty: rounds with worlds
    decided by a coin, rounds with the person, and rounds without.
    """
    question, algorithm, data = setup.question, setup.algorithm, setup.data

    def told(before: int) -> Callable[[int], None]:
        return lambda done: on_step(before + done, 2 * CLOUD)

    both = [
        stored[i + 1] or rounds_of(question, algorithm, 0, CLOUD, 0, world, on_round=told(i * CLOUD))
        for i, world in enumerate((True, False))
    ]
    axes = data.view if len(data.columns) > 1 else None
    names = [f"{data.columns[i]}{f' ({data.units[i]})' if data.units[i] else ''}" for i in (axes or (0,))]
    places = {"Alex": question.person}
    if question.elsewhere is not None and setup.ask == "moved":
        places["or here"] = question.elsewhere
    promise = algorithm.guarantee(data.domain.n_features, data.n_public)
    panel = picture_panel(
        SLOTS, data.domain, axes, (names[0], names[1] if axes else ""), both[0][0].centers, places,
        (np.concatenate([one.centers for one in both[0]]), np.concatenate([one.centers for one in both[1]])),
        exact=not promise.private,
    )  # fmt: skip
    words = setup.words
    if stored[0]:
        machine = score(stored[0], attack(stored[0]))
        words += (
            f" · In {len(stored[0]):,} rounds the best known attack was right {percent(machine.share)} times in 100 "
            f"({span(machine)} with 95% confidence)."
        )
    bound = question.bound.odds
    public = f" {algorithm.name}: {STANDS_IN}." if getattr(algorithm, "public_centers", None) else ""
    any_ = f" Against any method with this ε and δ: {odds_of_any(promise)}." * promise.private
    small = (
        f"in the long run against this method, even for an attacker who knows everybody else's row.{any_} A coin toss "
        f"wins 50.{public}"
    )
    legend = (
        *zip(("disc", "circle"), (f"released {name}" for name in setup.worlds), strict=True),
        ("hidden_ring", "Alex"),
    )
    return Picture.of(
        panel, titles=(words,), legend=legend, big=briefly(bound), small=small,
        promise=f"{algorithm.name} · {_promise(promise)}",
    )  # fmt: skip


def _free(points: pd.DataFrame) -> pd.Series | None:
    """Return the point with the smallest ε from which on a curve stays within 10% of the reference, or None."""
    found = []
    for _, curve in points.sort_values("epsilon").groupby("series", sort=False):
        near = (curve.ratio <= FAR).to_numpy()[::-1].cumprod()[::-1].astype(bool)
        found += [point for _, point in curve[near].head(1).iterrows()]
    return min(found, key=lambda point: point.epsilon, default=None)


def sweep(asked: Sweep, data: Dataset, log: bool, single: bool, stored: Sequence[Row], on_step: OnStep) -> Picture:
    """Return the curves of a sweep of one data set under one promise; rows in `stored` are not computed again.

    Raises
    ------
    ValueError
        If the sweep has several data sets or promises, which cannot share a picture.
    """
    cells = list(asked.runs())
    rows, there = [], {row["key"]: row for row in stored}
    for i, cell in enumerate(cells):
        rows.append(there.get(cell.key) or execute(cell))
        on_step(i + 1, len(cells))
    frame, metric = table(rows), METRICS[asked.metrics[0]]
    summary = Summary(frame, asked.metrics[0])
    points = summary.points
    if points.empty:
        raise ValueError("No run of this sweep has a result.")
    if points.notion.nunique() > 1:
        raise ValueError("These algorithms make different promises, so their curves cannot share an axis.")
    if points.epsilon.isna().any():
        raise ValueError(f"{points.series.iloc[0]} has no ε, so it has no curve over ε.")
    name = metric.title.partition(" (")[0]
    figure = tradeoff.curves(
        points, summary.runs, SLOTS, tradeoff.styles(points),
        axis="epsilon", metric=metric.title, log=log, single=single, labels=True, height=470, title="",
        against=metric.against, times=metric.relative,
    )  # fmt: skip
    figure.update_layout(showlegend=False)
    title = data.title
    at = points.iloc[(points.epsilon.map(math.log)).abs().argsort(kind="stable")]
    at = at[at.epsilon == at.epsilon.iloc[0]].dropna(subset=["ratio"])
    runs, against = f"mean of {asked.repeats} runs", metric.against
    big = small = ""
    if len(at) and not metric.higher_is_better:
        best = at.loc[at.ratio.idxmin()]
        big = f"{ratio_words(best.ratio)} ×"
        small = f"{against}' {name.lower()}, reached by {best.series} at ε {number(best.epsilon)}, {runs}."
        free = _free(points) if metric.relative and metric.objective == "means" else None
        if free is not None:
            ends = float(points.epsilon.min()), float(points.epsilon.max())
            tradeoff.free_line(figure, ends, FAR, SLOTS)
            exact, far = (data.domain.length(math.sqrt(loss)) for loss in (free.reference, free["mean"]))
            farther = f"{100 * (math.sqrt(free.ratio) - 1):.1f}%"
            big = f"ε {number(free.epsilon)}"
            small = (
                f"or more is free here: a {data.noun} is typically {far} from the nearest center of {free.series} "
                f"instead of {exact} with exact centers, {farther} farther ({runs})."
            )
    alt = f"{name} against ε on {title}, {points.series.nunique()} curves."
    above = any("above the picture" in curve.name for curve in figure.data)
    words = f"{title} · each point is the {runs}{'; ticks at the top: runs above the picture' * above}"
    words += f"; dotted: {against}, which reads every row"
    words = " ".join([f"{words}.", *steadiness(summary.turns, "epsilon")])
    return Picture.of(
        Panel("plane", figure, alt), titles=(words,), big=big, small=small,
        promise=tradeoff.promise(points.notion.iloc[0]),
    )  # fmt: skip
