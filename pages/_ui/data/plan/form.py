"""Show the form of a plan: public facts, typed or copied from a data set's declaration, and questions."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from dpviz.algorithms import RECOMMENDED
from dpviz.datasets import SAMPLES, Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.planning.facts import MOST_CLUSTERS, MOST_PEOPLE, Facts, numbers
from dpviz.planning.rehearsal import EPSILONS, offered, stops_around
from pages._ui.data.plan.state import plan_state
from pages._ui.explore.form.numbers import whole_number
from pages._ui.explore.form.picker import marked
from pages._ui.frame import keys
from pages._ui.frame.catalog import chosen, names, sample
from pages._ui.frame.prepared import args, locked

__all__ = ["FIRST", "LIKE", "SCALES", "START", "Wish", "form"]

START: dict[str, Any] = {  # the town's declaration
    keys.PLAN_N: 5000,
    keys.PLAN_COLUMNS: "east, north",
    keys.PLAN_UNITS: "km",
    keys.PLAN_LOW: "-12, -9",
    keys.PLAN_HIGH: "12, 9",
    keys.PLAN_SCALE: "common",
    keys.PLAN_K: 5,
}
FIRST = (RECOMMENDED, "pe-means", "fastlloyd")
MOST_METHODS = 6
LIKE = ("", *SAMPLES)
SCALES = {"common": "one scale", "column": "each its own"}


@dataclasses.dataclass(frozen=True, eq=False)
class Wish:
    """The declared facts and the questions: algorithms, precision, or ε."""

    facts: Facts
    slugs: tuple[str, ...]
    within: float | None
    epsilon: float | None

    @property
    def at(self) -> float:
        """Return the ε of the detailed rehearsal."""
        return self.epsilon or 1.0

    @property
    def stops(self) -> tuple[float, ...]:
        """Return the values of ε on the curve."""
        return stops_around(self.at)


def form() -> Wish:
    """Show the form; return its declaration and questions.

    Raises
    ------
    ValueError
        If a value is missing or impossible; the message is one sentence.
    """
    state, own = st.session_state, chosen()
    if own.private and plan_state.plan_of != own.dataset_id:
        plan_state.plan_taken, plan_state.plan_of = own.dataset_id, own.dataset_id
    _take()
    for key, value in START.items():
        state.setdefault(key, value)
    _take_back()
    a, b, c, d = st.columns([2, 2, 3, 5], gap="small", vertical_alignment="bottom")
    k = whole_number("Centers k", value=START[keys.PLAN_K], on=a, **args(keys.PLAN_K))
    epsilon = b.text_input("Privacy budget ε", **args(keys.PLAN_EPSILON), placeholder="1")
    within = c.text_input(
        "How exact a center should be: ±", **args(keys.PLAN_WITHIN), placeholder="0.1", help=_IN_UNITS
    )
    slugs = d.multiselect(
        "Methods", offered(), FIRST, format_func=marked, **args(keys.PLAN_ALGORITHMS),
        max_selections=MOST_METHODS,
    )  # fmt: skip
    with st.expander("More: the public facts behind the plan"):
        taken = st.selectbox(
            "Copy the declaration of", names(), None, format_func=lambda name: sample(name).title, key=keys.PLAN_FROM,
            placeholder="a data set", disabled=locked(),
            help="Copies the declared names, units, bounds and number of people. No row is read.",
        )  # fmt: skip
        if taken is not None:
            plan_state.plan_taken = taken
            st.rerun()
        n = whole_number(
            "People",
            value=START[keys.PLAN_N],
            help="The approximate number of people, which is public.",
            **args(keys.PLAN_N),
        )
        columns = st.text_input("Columns", **args(keys.PLAN_COLUMNS), help="Names of the columns, separated by commas.")
        units = st.text_input(
            "Units",
            **args(keys.PLAN_UNITS),
            help="One unit per column (empty if it has none), separated by commas, or a single unit for all.",
        )
        low = st.text_input("Lowest possible values", **args(keys.PLAN_LOW), help="One value per column.")
        high = st.text_input("Highest possible values", **args(keys.PLAN_HIGH))
        scale = st.segmented_control(
            "Scale of the columns", list(SCALES), format_func=SCALES.__getitem__, required=True,
            **args(keys.PLAN_SCALE), help="One scale keeps the shape of a map.",
        )  # fmt: skip
        like = st.selectbox(
            "Shape of the data, assumed", LIKE, **args(keys.PLAN_LIKE), format_func=_shape,
            help="Assume round groups, or rows spread like those of a public data set.",
        )  # fmt: skip
    if not slugs:
        raise ValueError("Choose at least one algorithm for the plan.")
    facts = Facts.declare(
        n,
        numbers(low, "the lowest values"),
        numbers(high, "the highest values"),
        k,
        columns=_listed(columns),
        units=[unit.strip() for unit in units.split(",")] if units.strip() else [],
        scale=str(scale),
        like=like,
    )
    return Wish(facts, tuple(slugs), _one(within, "the noise per center"), _one(epsilon, _BUDGET))


_BUDGET = "the budget ε"
_IN_UNITS = "One standard deviation, in the unit of the columns. The plan says which ε you would need."


def _take() -> None:
    """Fill the form from a data set's declaration, which is public even for a private file."""
    state = st.session_state
    name = plan_state.plan_taken
    if name is None:
        return
    state.pop(keys.PLAN_FROM, None)
    data: Dataset = sample(name)
    domain, plan_state.plan_private = data.domain, data.private
    state.update(
        {
            keys.PLAN_N: min(data.n_public, MOST_PEOPLE),
            keys.PLAN_COLUMNS: ", ".join(column.replace(",", " ") for column in data.columns),
            keys.PLAN_UNITS: ", ".join(unit.replace(",", " ") for unit in data.units) if any(data.units) else "",
            keys.PLAN_LOW: ", ".join(f"{value:.15g}" for value in domain.low),
            keys.PLAN_HIGH: ", ".join(f"{value:.15g}" for value in domain.high),
            keys.PLAN_SCALE: domain.scale,
            keys.PLAN_K: min(data.n_clusters, MOST_CLUSTERS),
        }
    )


def _take_back() -> None:
    """Take over the method, k and ε of a postponed run, so that this run is rehearsed."""
    run, state = plan_state.plan_back, st.session_state
    if run is None or run.slug not in offered():
        return
    others = (slug for slug in state.get(keys.PLAN_ALGORITHMS) or FIRST if slug != run.slug)
    state[keys.PLAN_ALGORITHMS] = [run.slug, *others][:MOST_METHODS]
    state[keys.PLAN_METHOD] = run.slug
    epsilon, k = (getattr(run, name, None) for name in ("epsilon", "n_clusters"))
    state[keys.PLAN_EPSILON] = f"{epsilon:g}"
    if k:
        state[keys.PLAN_K] = min(k, MOST_CLUSTERS)


def _shape(name: str) -> str:
    return "k round groups" if not name else f"as {plain(sample(name).title.split(',')[0])}"


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _one(text: str, what: str) -> float | None:
    values = numbers(text, what)
    if not values:
        return None
    if len(values) > 1 or not values[0] > 0:
        raise ValueError(f"plan: {what} must be one number above 0.")
    least, most = EPSILONS
    if what == _BUDGET and not least <= values[0] <= most:
        raise ValueError(f"plan: {what} must lie between {number(least)} and {number(most)}; got {number(values[0])}.")
    return values[0]
