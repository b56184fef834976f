"""Show a rehearsal, the worst town first; a switch adds other ε, methods and numbers of centers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.figures.scenes.plan import cloud_panel, noise_panel
from dpviz.numbers import number
from dpviz.planning.facts import MOST_CLUSTERS, Facts
from dpviz.planning.rehearsal import REPEATS, Rehearsal, middle_of, rehearse
from dpviz.planning.solver import epsilon_for, noise_at, widest
from dpviz.planning.words import (
    HALF,
    amount,
    answer,
    assumption,
    headline,
    judgment,
    loss,
    noise_ranges,
    ranked,
    remarks,
    tighter,
)
from pages._ui.data.plan.form import CURVE, Wish
from pages._ui.explore.state import explore_state
from pages._ui.frame import markup, shell
from pages._ui.work.batch import Gathered, Piece, follow, gather, halt, peek
from pages._ui.work.pace import duration
from pages._ui.work.runs import pace

__all__ = ["show"]

FEW, CLOSELY = 4, 20  # numbers of runs per town: of the first look, and of the whole rehearsal
KEPT = 12  # number of rehearsals that a visit remembers
LONGEST = 15.0  # Maximum number of seconds per run of a method that is rehearsed together with others.
Rehearsals = dict[str, list[Rehearsal]]
Request = tuple[Facts, str, float, int, int]  # the arguments of `rehearse`: facts, method, ε, runs, first seed


def show(wish: Wish) -> None:
    """Show the part of the plan that has been rehearsed; the rest appears by itself."""
    follow(partial(_gather, "plan", _towns(wish)), partial(_first, wish), 0.7)
    looked = _looked(wish)
    if not looked or any(one.runs < CLOSELY for one in looked):
        return
    _remember(looked)
    if CURVE.draw():
        worst, wish = looked[0].facts, _affordable(wish)
        follow(partial(_gather, "curve", _curve(wish, worst)), partial(_more, wish, worst), 0.7)


def _remember(looked: list[Rehearsal]) -> None:
    """Keep the rehearsal for the result of the same run; of many rehearsals, keep the latest."""
    mine, run = explore_state.rehearsed, looked[0].run
    mine.pop(run, None)
    mine[run] = looked
    while len(mine) > KEPT:
        del mine[next(iter(mine))]


def _affordable(wish: Wish) -> Wish:
    """Leave out methods, but never the first, whose runs would take too long; name them, and say what to do."""
    facts, first = wish.facts, wish.slugs[0]
    size = facts.domain.n_features, facts.n_rows
    times = {slug: pace().seconds(ALGORITHMS[slug](n_clusters=facts.n_clusters), *size) for slug in wish.slugs[1:]}
    slow = [slug for slug, seconds in times.items() if seconds > LONGEST]
    if slow:
        names = " and ".join(ALGORITHMS[slug].name for slug in slow)
        st.info(
            f"{names} would take {duration(max(times[slug] for slug in slow))} a run with {size[0]} columns and "
            f"{'is' if len(slow) == 1 else 'are'} left out. To rehearse a slow method, choose it alone under Methods."
        )
    return dataclasses.replace(wish, slugs=(first, *(slug for slug in times if slug not in slow)))


def _name(request: Request) -> str:
    facts, slug, epsilon, repeats, first = request
    return f"plan {facts.key} {slug} {epsilon:g} {repeats} from {first}"


def _ready(request: Request) -> Rehearsal | None:
    return peek(_name(request), public=False)


def _towns(wish: Wish) -> list[Request]:
    """List the rehearsals of the chosen method: a first look at every town, and then the rest of each."""
    places, chosen = wish.facts.everywhere(wish.town), (wish.slugs[0], wish.at)
    return [(facts, *chosen, *runs) for runs in ((FEW, 0), (CLOSELY - FEW, FEW)) for facts in places]


def _looked(wish: Wish) -> list[Rehearsal]:
    """Return the finished part of the chosen rehearsal in every town, the worst first; [] until each has a part."""
    parts = [_ready(request) for request in _towns(wish)]
    first, rest = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    known = [(one, more) for one, more in zip(first, rest, strict=True) if one is not None]
    return ranked(one if more is None else one.extend(more) for one, more in known) if len(known) == len(first) else []


def _curve(wish: Wish, worst: Facts) -> list[Request]:
    """List the rehearsals of the worst town: every method at every ε, other k, and tighter bounds."""
    middle, half = middle_of(wish.at), dataclasses.replace(worst, filled=0.5)
    order = sorted(wish.stops, key=lambda stop: abs(math.log(stop / middle)))
    runs = [_point(worst, slug, epsilon) for epsilon in order for slug in wish.slugs]
    near = [(facts, wish.slugs[0], wish.at, REPEATS, 0) for facts in _near(worst)]
    tight = [_point(facts, slug, middle) for slug in wish.slugs for facts in (half, half.tight())]
    return [*runs, *near, *tight]


def _point(facts: Facts, slug: str, epsilon: float) -> Request:
    return facts, slug, epsilon, REPEATS, 0


def _near(worst: Facts) -> list[Facts]:
    """Return the worst kind of town with up to two groups, and centers, fewer or more."""
    k, most = worst.n_clusters, min(MOST_CLUSTERS, worst.n_people)
    return [worst.with_centers(one) for one in (k - 1, k + 1, k - 2, k + 2) if 1 <= one <= most]


def _gather(topic: str, requests: Sequence[Request]) -> Gathered:
    pieces = [Piece(_name(one), rehearse, one) for one in requests]
    return gather(topic, "Plan", pieces, public=False)


def _first(wish: Wish, now: Gathered) -> None:
    looked = _looked(wish)
    if looked:
        _everywhere(wish, looked)
    _progress("plan", now)


def _more(wish: Wish, worst: Facts, now: Gathered) -> None:
    rehearsals = {
        slug: [one for stop in wish.stops if (one := _ready(_point(worst, slug, stop))) is not None]
        for slug in wish.slugs
    }
    _progress("curve", now)
    if any(rehearsals.values()):
        _answers(wish, worst, rehearsals)
        _picture(wish, rehearsals)
        _table(wish, rehearsals)
        _others(wish, worst)
        _tighter(wish, worst)


def _progress(topic: str, now: Gathered) -> None:
    if now.active and now.job is not None:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        done, every = len(now.ready), now.asked
        bar.progress(done / every, f"Rehearsed {done} of {every} settings, on made-up people or public rows")
        if button.button("Cancel", key=f"{topic}_cancel", width="stretch"):
            now.job.cancel()
    elif now.problem:
        st.error(plain(f"{now.problem} Nothing was read or spent."))
    elif now.stopped:
        words, button = st.columns([5, 1], vertical_alignment="center")
        words.info("The plan was canceled; you see the finished part.")
        button.button("Go on", key=f"{topic}_on", width="stretch", on_click=halt, args=(topic,))


def _everywhere(wish: Wish, looked: Sequence[Rehearsal]) -> None:
    """Show the chosen rehearsal: every town, the worst one drawn with its runs, and the noise in every column."""
    worst, facts = looked[0], wish.facts
    st.header(f"{headline(looked)}{', so far' * any(one.runs < CLOSELY for one in looked)}")
    st.markdown(f"**{plain(judgment(looked))}**")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        panel = cloud_panel(shell.colors(), worst.facts.stand_in().X, worst.centers, facts.domain)
        st.plotly_chart(
            panel.figure, width="stretch", theme=None, config={"displayModeBar": False}, key="plan_cloud",
            alt=panel.alt,
        )  # fmt: skip
    with right:
        rows = (
            markup.row([one.facts.title, f"{one.whole} of {one.runs}", loss(one)], lit=one is worst) for one in looked
        )
        st.html(markup.table("Towns, the worst first", ("town", "all groups found", "loss × KMeans"), rows))
        lines = zip(facts.domain.columns, noise_ranges(looked), strict=True)
        st.html(
            markup.table("Noise of a center", ("column", "noise of a center"), (markup.row(line) for line in lines))
        )
    st.html(markup.small(remarks(looked, CLOSELY, "; the picture shows the worst town")))


def _others(wish: Wish, worst: Facts) -> None:
    """Show how often every group is found with other numbers of centers, in the worst kind of town."""
    near = sorted(_near(worst), key=lambda facts: facts.n_clusters)
    looks = {facts: _ready((facts, wish.slugs[0], wish.at, REPEATS, 0)) for facts in near}
    rows = (
        markup.row([f.n_clusters, f.title, "…" if one is None else f"{one.whole} of {one.runs}"])
        for f, one in looks.items()
    )
    st.html(markup.table("Other numbers of centers", ("centers k", "town", "all groups found"), rows))


def _answers(wish: Wish, facts: Facts, rehearsals: Rehearsals) -> None:
    """Answer the question in both directions: the noise for a given ε, and the ε for a given noise."""
    lines = []
    for slug, some in rehearsals.items():
        if not some:
            continue
        if wish.within is not None and len(some) == len(wish.stops):
            lines.append(answer(slug, wish.within, epsilon_for(some, wish.within), facts, wish.stops))
        if wish.epsilon is not None and len(some) == len(wish.stops):
            noise = amount(noise_at(some, wish.epsilon), facts, "±")
            lines.append(f"{ALGORITHMS[slug].name}: ε {number(wish.epsilon)} gives noise of {noise} per center.")
    for line in lines:
        st.markdown(f"**{plain(line)}**")
    st.html(markup.small(f"{assumption(facts)} Nothing was read or spent."))


def _picture(wish: Wish, rehearsals: Rehearsals) -> None:
    curves = {slug: [(one.epsilon, widest(one)) for one in some] for slug, some in rehearsals.items() if some}
    names = {slug: ALGORITHMS[slug].name for slug in curves}
    unit = amount(1.0, wish.facts).partition(" ")[2]
    panel = noise_panel(shell.colors(), curves, names, unit, wish.within)
    st.plotly_chart(panel.figure, width="stretch", theme=None, config={"displayModeBar": False}, key="plan_figure")
    st.html(markup.small(panel.alt))


def _table(wish: Wish, rehearsals: Rehearsals) -> None:
    rows = (
        markup.row((_cell(wish.facts, some, stop) for stop in wish.stops), head=ALGORITHMS[slug].name)
        for slug, some in rehearsals.items()
    )
    heads = ("Algorithm", *(f"ε {number(stop)}" for stop in wish.stops))
    st.html(
        markup.table("Noise and loss for every ε", heads, rows, look="dp-free")
        + markup.small(
            "The noise of a run's widest center in its widest column (one standard deviation, in half of the runs at "
            f"most this), in the worst town. “~” marks an algorithm that states none, whose centers' scatter is "
            f"measured over {REPEATS} runs. Below: the loss × KMeans on the same people (lowest to highest run)."
        )
    )


def _cell(facts: Facts, some: list[Rehearsal], epsilon: float) -> markup.Html:
    one = next((each for each in some if each.epsilon == epsilon), None)
    if one is None:
        return markup.text("…")
    noise = amount(widest(one), facts, "±" if one.by_formula else "~")
    return markup.Html(f"{markup.bold(noise)}<br><small>{markup.text(loss(one))}</small>")


def _tighter(wish: Wish, worst: Facts) -> None:
    """State the table's noise, and the noise if people fill half of each range, with and without tighter bounds."""
    half, middle = dataclasses.replace(worst, filled=0.5), middle_of(wish.at)
    lines = []
    for slug in wish.slugs:
        full, wide, tight = (_ready(_point(facts, slug, middle)) for facts in (worst, half, half.tight()))
        if full is not None and wide is not None and tight is not None:
            lines.append(f"- {plain(f'{ALGORITHMS[slug].name}: {tighter(full, wide, tight, worst)}')}")
    if lines:
        st.markdown(
            f"**Tight bounds, {HALF}** (the table above assumes that they fill each range)\n" + "\n".join(lines)
        )
