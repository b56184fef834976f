"""Show the form of a plan: public facts, typed or copied from a data set's declaration, and questions."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpviz.algorithms import RECOMMENDED
from dpviz.datasets import SAMPLES, Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.params import ParamSpec, label_of
from dpviz.planning.facts import MOST_CLUSTERS, MOST_PEOPLE, Facts, numbers
from dpviz.planning.rehearsal import EPSILONS, offered, stops_around
from dpviz.planning.towns import APART, FARTHEST, NEAREST, Town, shaped
from pages._ui.data.plan.state import plan_state
from pages._ui.explore.form.numbers import whole
from pages._ui.explore.form.picker import marked
from pages._ui.frame.address.control import MOST_WHOLE, Control, choice, switch
from pages._ui.frame.address.control import number as number_of
from pages._ui.frame.catalog import chosen, names, sample
from pages._ui.frame.prepared import locked

__all__ = ["CURVE", "FIRST", "Wish", "controls", "form"]

_PLAN_FROM = "plan_from"
PLAN_METHOD = "plan_method"

FIRST = (RECOMMENDED, "pe-means", "fastlloyd")
MOST_METHODS = 6


def _line(text: str) -> str:
    if len(text) > 2_000 or not text.isprintable():
        raise ValueError("not a line of text")
    return text


_SCALES = {"common": "one scale", "column": "each its own"}
_POSITIVE = ParamSpec(None, low=0, optional=True, kind="float")
# the facts, first those of the town's declaration
N = Control(
    "n", "plan_n", "People", number_of(5000, 2, MOST_PEOPLE), always=True,
    help="The approximate number of people, which is public.",
)  # fmt: skip
COLUMNS = Control(
    "columns", "plan_columns", "Columns", ParamSpec("east, north"), accepts=_line,
    help="Names of the columns, separated by commas.",
)  # fmt: skip
UNITS = Control(
    "units", "plan_units", "Units", ParamSpec("km"), accepts=_line,
    help="One unit per column (empty if it has none), separated by commas, or a single unit for all.",
)  # fmt: skip
WEIGHTS = Control(
    "weights", "plan_weights", "Weights", ParamSpec(""), accepts=_line, placeholder="1, 2",
    help="How much each column counts in distances, separated by commas. Empty: all the same.",
)  # fmt: skip
LOW = Control(
    "low", "plan_low", "Lowest possible values", ParamSpec("-12, -9"), accepts=_line, help="One value per column."
)
HIGH = Control("high", "plan_high", "Highest possible values", ParamSpec("12, 9"), accepts=_line)
SCALE = Control(
    "scale", "plan_scale", "Scale of the columns", choice("common", tuple(_SCALES)), widget="segmented_control",
    named=_SCALES, help="One scale keeps the shape of a map.",
)  # fmt: skip
K = Control("k", "plan_k", label_of("n_clusters"), number_of(5, 1, MOST_CLUSTERS), always=True)
LIKE = Control(
    "like", "plan_like", "Look-alike", choice("", ("", *SAMPLES)), named=lambda name: _shape(name),
    help="A public data set: also rehearse on rows that are spread like its rows.",
)  # fmt: skip
WITHIN = Control(
    "within", "plan_within", "How exact a center should be: ±", _POSITIVE, typed=True, placeholder="0.1",
    help="One standard deviation, in the unit of the columns. The plan says which ε you would need.",
)  # fmt: skip
SHARES = Control(
    "shares", "plan_shares", "Shares of your groups", ParamSpec(""), accepts=_line, placeholder="60, 30, 10",
    help="One positive number for each of the k groups, separated by commas. Empty: only the towns of dpviz.",
)  # fmt: skip
NEAR = Control(
    "near", "plan_near", "From touching to far apart", number_of(APART, NEAREST, FARTHEST), widget="slider",
    help="The distance between the nearest two groups, in standard deviations of a group: 2 is nearly one group, at 3 "
    "they touch, at 8 they are apart.",
)  # fmt: skip
CURVE = Control(
    "curve", "plan_curve", "Other ε, methods and numbers of centers", switch(False),
    help="Rehearses the worst town for every ε and method, takes up to a minute, and reads nothing.",
)  # fmt: skip
EPSILON = Control("e", "plan_epsilon", label_of("epsilon"), _POSITIVE, typed=True, placeholder="1")


def controls() -> list[Control]:
    """Return the controls for the declared facts, then those of the questions."""
    return [N, COLUMNS, UNITS, LOW, HIGH, SCALE, WEIGHTS, K, LIKE, _methods(), WITHIN, EPSILON, SHARES, NEAR, CURVE]


def _methods() -> Control:
    return Control(
        "a", "plan_algorithms", "Methods", choice(FIRST, offered()), many=True, most=MOST_METHODS, named=marked
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Wish:
    """The declared facts and the questions: algorithms, precision, or ε."""

    facts: Facts
    slugs: tuple[str, ...]
    within: float | None
    epsilon: float | None
    town: Town | None = None  # the town that the owner has shaped

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
    for control in (N, COLUMNS, UNITS, LOW, HIGH, SCALE, K):
        state.setdefault(control.key, control.spec.default)
    _take_back()
    a, b, c, d = st.columns([2, 2, 3, 5], gap="small", vertical_alignment="bottom")
    k, epsilon, within, slugs = whole(K, a, **_ANY), EPSILON.draw(b), WITHIN.draw(c), _methods().draw(d)
    with st.expander("More: the public facts behind the plan"):
        taken = st.selectbox(
            "Copy the declaration of", names(), None, format_func=lambda name: sample(name).title, key=_PLAN_FROM,
            placeholder="a data set", disabled=locked(),
            help="Copies the declared names, units, bounds and number of people. No row is read.",
        )  # fmt: skip
        if taken is not None:
            plan_state.plan_taken = taken
            st.rerun()
        n = whole(N, **_ANY)
        columns, units, low, high, scale, weights, like = (
            one.draw() for one in (COLUMNS, UNITS, LOW, HIGH, SCALE, WEIGHTS, LIKE)
        )
    with st.expander("Shape a town like yours"):
        a, b = st.columns(2, gap="medium")
        shares, near = SHARES.draw(a), NEAR.draw(b)
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
        weights=numbers(weights, "the weights"),
    )
    given = numbers(shares, "the shares of your groups")
    town = shaped(given, float(near), k) if given else None
    return Wish(facts, tuple(slugs), _one(within, "the noise per center"), _one(epsilon, _BUDGET), town)


_BUDGET = "the budget ε"
_ANY = {"min_value": float(-MOST_WHOLE), "max_value": float(MOST_WHOLE)}  # `Facts` says which numbers do not fit


def _take() -> None:
    """Fill the form from a data set's declaration, which is public even for a private file."""
    state = st.session_state
    name = plan_state.plan_taken
    if name is None:
        return
    state.pop(_PLAN_FROM, None)
    data: Dataset = sample(name)
    domain, plan_state.plan_private = data.domain, data.private
    state.update(
        {
            N.key: min(data.n_public, MOST_PEOPLE),
            COLUMNS.key: ", ".join(column.replace(",", " ") for column in data.columns),
            UNITS.key: ", ".join(unit.replace(",", " ") for unit in data.units) if any(data.units) else "",
            LOW.key: ", ".join(f"{value:.15g}" for value in domain.low),
            HIGH.key: ", ".join(f"{value:.15g}" for value in domain.high),
            SCALE.key: domain.scale,
            WEIGHTS.key: ", ".join(f"{weight:.15g}" for weight in domain.weights),
            K.key: min(data.n_clusters, MOST_CLUSTERS),
            SHARES.key: "",
        }
    )


def _take_back() -> None:
    """Take over the method, k and ε of a postponed run, so that this run is rehearsed."""
    run, state = plan_state.plan_back, st.session_state
    if run is None or run.slug not in offered():
        return
    methods = _methods()
    others = (slug for slug in methods.held or FIRST if slug != run.slug)
    state[methods.key] = [run.slug, *others][:MOST_METHODS]
    state[PLAN_METHOD] = run.slug
    epsilon, k = (getattr(run, name, None) for name in ("epsilon", "n_clusters"))
    state[EPSILON.key] = f"{epsilon:g}"
    if k:
        state[K.key] = min(k, MOST_CLUSTERS)


def _shape(name: str) -> str:
    return "none" if not name else f"as {plain(sample(name).title.split(',')[0])}"


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
