"""Show a plan: answers in words, noise per center against ε, a table, and the effect of tighter bounds."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.figures.scenes.plan import cloud_panel, noise_panel
from dpviz.numbers import length, number, ratio_words
from dpviz.planning.facts import MOST_CLUSTERS, Facts
from dpviz.planning.rehearsal import REPEATS, Rehearsal, middle_of, rehearse
from dpviz.planning.solver import epsilon_for, noise_at, widest
from dpviz.planning.words import HALF, amount, answer, assumption, compact, tighter
from pages._ui.data.plan.form import Wish
from pages._ui.frame import markup, shell
from pages._ui.work.batch import Gathered, Piece, follow, gather, halt
from pages._ui.work.pace import duration
from pages._ui.work.runs import pace

__all__ = ["show"]

CLOSELY = 20  # Number of runs in the chosen rehearsal.
LONGEST = 15.0  # Maximum number of seconds per run of a method that is rehearsed together with others.
Rehearsals = dict[str, list[Rehearsal]]


def show(wish: Wish) -> None:
    """Show the part of the plan that has been rehearsed; the rest appears by itself."""
    wish = _affordable(wish)
    follow(partial(_gather, wish), partial(_body, wish), 0.7)


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


def _name(facts: Facts, slug: str, epsilon: float, repeats: int = REPEATS) -> str:
    return f"plan {facts.key} {slug} {epsilon:g} {repeats}"


def _piece(wish: Wish, slug: str, epsilon: float) -> tuple[Facts, str, float, int]:
    """Return the request for a method's rehearsal at an ε; the chosen rehearsal has more runs than the others."""
    return wish.facts, slug, epsilon, CLOSELY if (slug, epsilon) == (wish.slugs[0], wish.at) else REPEATS


def _near(wish: Wish) -> list[Facts]:
    """Return the facts with the chosen number of centers, followed by those with up to two centers fewer or more."""
    k, most = wish.facts.n_clusters, min(MOST_CLUSTERS, wish.facts.n_people)
    return [
        dataclasses.replace(wish.facts, n_clusters=one) for one in (k, k - 1, k + 1, k - 2, k + 2) if 1 <= one <= most
    ]


def _wanted(wish: Wish) -> list[tuple[Facts, str, float, int]]:
    """List the needed rehearsals: the chosen one, every method at every ε, other k, and tighter bounds."""
    half = dataclasses.replace(wish.facts, filled=0.5)
    close = [(facts, wish.slugs[0], wish.at, CLOSELY) for facts in _near(wish)]
    middle = middle_of(wish.at)
    order = sorted(wish.stops, key=lambda stop: abs(math.log(stop / middle)))
    runs = [_piece(wish, slug, epsilon) for epsilon in order for slug in wish.slugs]
    tighter = [(facts, slug, middle, REPEATS) for slug in wish.slugs for facts in (half, half.tight())]
    return [close[0], *(one for one in runs if one[1:] != close[0][1:]), *close[1:], *tighter]


def _gather(wish: Wish) -> Gathered:
    pieces = [Piece(_name(*one), rehearse, one) for one in _wanted(wish)]
    return gather("plan", "Plan", pieces, public=False)


def _body(wish: Wish, now: Gathered) -> None:
    rehearsals = {
        slug: [now.ready[name] for stop in wish.stops if (name := _name(*_piece(wish, slug, stop))) in now.ready]
        for slug in wish.slugs
    }
    _progress(wish, now)
    _closely(wish, now)
    if any(rehearsals.values()):
        _answers(wish, rehearsals)
        _picture(wish, rehearsals)
        _table(wish, rehearsals)
        _tighter(wish, now)


def _progress(wish: Wish, now: Gathered) -> None:
    if now.active and now.job is not None:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        done, every = len(now.ready), len(_wanted(wish))
        bar.progress(done / every, f"Rehearsed {done} of {every} settings, on made-up people or public rows")
        if button.button("Cancel", key="plan_cancel", width="stretch"):
            now.job.cancel()
    elif now.problem:
        st.error(plain(f"{now.problem} Nothing was read or spent."))
    elif now.stopped:
        words, button = st.columns([5, 1], vertical_alignment="center")
        words.info("The plan was canceled; you see the finished part.")
        button.button("Go on", key="plan_on", width="stretch", on_click=halt, args=("plan",))


def _closely(wish: Wish, now: Gathered) -> None:
    """Show the chosen rehearsal: the cloud of its runs, the noise in every column, and other numbers of centers."""
    slug, facts = wish.slugs[0], wish.facts
    looks = {k.n_clusters: now.ready.get(_name(k, slug, wish.at, CLOSELY)) for k in _near(wish)}
    one: Rehearsal | None = looks[facts.n_clusters]
    if one is None:
        return
    st.header(f"{facts.n_clusters} centers at ε {number(wish.at)}: all found again in {one.found} of {CLOSELY} runs")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        panel = cloud_panel(shell.colors(), facts.stand_in().X, one.centers, facts.domain)
        st.plotly_chart(
            panel.figure, width="stretch", theme=None, config={"displayModeBar": False}, key="plan_cloud",
            alt=panel.alt,
        )  # fmt: skip
    with right:
        units = facts.domain.units or ("",) * facts.domain.n_features
        noise = one.best or (math.nan,) * facts.domain.n_features
        mark = "±" if one.by_formula else "~"
        lines = zip(facts.domain.columns, units, noise, strict=True)
        rows = (markup.row([name, f"{mark}{length(sd, unit, 2)}"], lit=True) for name, unit, sd in lines)
        st.html(markup.table("Noise of a center", ("column", "noise of a center"), rows))
        near = (
            markup.row([k, "…" if look is None else f"{look.found} of {CLOSELY}"], lit=k == facts.n_clusters)
            for k, look in sorted(looks.items())
        )
        st.html(markup.table("Other numbers of centers", ("centers k", "all groups found"), near))
    fewer = f" Only {facts.n_rows:,} people stand in for {facts.n_people:,}: your noise would be smaller than shown."
    st.html(
        markup.small(
            f"{ALGORITHMS[slug].name} ran {CLOSELY} times with fresh noise on made-up people within the declared "
            f"bounds. ± is one standard deviation of a typical center. No file was read and nothing was spent."
            f"{fewer * one.capped}"
        )
    )


def _answers(wish: Wish, rehearsals: Rehearsals) -> None:
    """Answer the question in both directions: the noise for a given ε, and the ε for a given noise."""
    facts, lines = wish.facts, []
    for slug, some in rehearsals.items():
        if not some:
            continue
        if wish.within is not None and len(some) == len(wish.stops):
            lines.append(answer(slug, wish.within, epsilon_for(some, wish.within), facts, wish.stops))
        if wish.epsilon is not None and len(some) == len(wish.stops):
            noise = amount(noise_at(some, wish.epsilon), facts)
            lines.append(f"{ALGORITHMS[slug].name}: ε {number(wish.epsilon)} gives noise of ±{noise} per center.")
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
            "The noise of a typical center (one standard deviation), from the algorithm's own formula. “~” marks an "
            f"algorithm without a formula, whose noise is measured over {REPEATS} rehearsals. Below the noise: the "
            f"loss relative to KMeans on the same people, as the mean (lowest to highest run). {compact(wish.facts)}"
        )
    )


def _cell(facts: Facts, some: list[Rehearsal], epsilon: float) -> markup.Html:
    one = next((each for each in some if each.epsilon == epsilon), None)
    if one is None:
        return markup.text("…")
    mark = "±" if one.by_formula else "~"
    noise = f"{mark}{amount(widest(one), facts)}"
    ratio = f"{ratio_words(one.ratio)} × ({ratio_words(one.ratio_low)} to {ratio_words(one.ratio_high)})"
    return markup.Html(f"{markup.bold(noise)}<br><small>{markup.text(ratio)}</small>")


def _tighter(wish: Wish, now: Gathered) -> None:
    """State the table's noise, and the noise if people fill half of each range, with and without tighter bounds."""
    half, middle = dataclasses.replace(wish.facts, filled=0.5), middle_of(wish.at)
    lines = []
    for slug in wish.slugs:
        pieces = _piece(wish, slug, middle), (half, slug, middle), (half.tight(), slug, middle)
        full, wide, tight = (now.ready.get(_name(*one)) for one in pieces)
        if full is not None and wide is not None and tight is not None:
            lines.append(f"- {plain(f'{ALGORITHMS[slug].name}: {tighter(full, wide, tight, wish.facts)}')}")
    if lines:
        st.markdown(
            f"**Tight bounds, {HALF}** (the table above assumes that they fill each range)\n" + "\n".join(lines)
        )
