"""Show the form of Compare: k, ε and seed for all runs, a form per run, and buttons that add, swap and remove runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.params import ParamSpec
from dpviz.postprocessing.beside import LETTERS
from dpviz.runs.public import started
from pages._ui.explore.compare import sides
from pages._ui.explore.compare.state import Side, compare_state
from pages._ui.explore.form import distance
from pages._ui.explore.form.forms import Parameter, in_words
from pages._ui.explore.form.numbers import whole_number
from pages._ui.explore.form.picker import named, offered
from pages._ui.frame.prepared import locked
from pages._ui.frame.session import session
from pages._ui.work import runs

_COMPARE_SEED = "compare_{}_{}_seed".format
_COMPARE_PARAM = "compare_{}_{}_{}_{}".format
_COMPARE_SHARED = "compare_{}_all_{}".format
IN_COMMON = ("n_clusters", "epsilon")  # parameters that all runs take from one field, like the seed
FIELD = 92  # width of a field of the line for all runs, in pixels
SHORT = {"n_clusters": "k", "epsilon": "ε"}


def form(data: Dataset) -> list[Side]:
    """Show the form of every run, and return the runs; a form with an error keeps its last valid run."""
    name = data.dataset_id.removeprefix("sample:")
    if not sides.get():
        sides.put(sides.first(data))
    elif compare_state.compare_on != name and not session.opened_now:  # the visitor has picked other data
        sides.put([_fitted(side, data) for side in sides.get()])
    compare_state.compare_on = name
    if sides.get() is not compare_state.compare_drawn:  # a link, a button or another page has set the runs
        compare_state.compare_turn, compare_state.compare_start = compare_state.compare_turn + 1, list(sides.get())
    shared, problems = _shared(), st.container()
    with st.container(horizontal=True, width="content", gap="small"):
        chosen = [
            _edit(letter, start, now, data, shared, problems)
            for letter, start, now in zip(LETTERS, compare_state.compare_start, sides.get(), strict=False)
        ]
        _buttons(chosen)
    before = [_called(letter, side) for letter, side in zip(LETTERS, sides.get(), strict=False)]
    sides.put(chosen)
    compare_state.compare_drawn = sides.get()
    if before != [_called(letter, side) for letter, side in zip(LETTERS, chosen, strict=False)]:
        st.rerun()  # a form's label is sent before its fields are read
    return chosen


def _held() -> dict[str, tuple[ParamSpec, Any]]:
    """Return the specification and first value of each parameter that runs share, as this form started with them."""
    found: dict[str, tuple[ParamSpec, Any]] = {}
    for side in compare_state.compare_start:
        for name in set(params.specs(type(side.algorithm))) & set(IN_COMMON):
            found.setdefault(name, (params.specs(type(side.algorithm))[name], getattr(side.algorithm, name)))
    return {name: found[name] for name in IN_COMMON if name in found}


def _shared() -> dict[str, Any]:
    """Show the fields of what all runs share, unless a run keeps its own; return their values."""
    turn, values = compare_state.compare_turn, {}
    with st.container(horizontal=True, width="content", gap="xsmall"):
        for name, (spec, value) in _held().items():
            with st.container(width=FIELD):
                mine = dataclasses.replace(spec, default=value)
                values[name] = Parameter.of("", name, mine, _COMPARE_SHARED(turn, name)).ask(label=SHORT[name])
        with st.container(width=FIELD):
            start, key = compare_state.compare_start[0].seed, _COMPARE_SHARED(turn, "seed")
            values["seed"] = whole_number("Seed", 0, value=start, key=key, disabled=locked())
    return values


def _apart(start: Side) -> bool:
    """Return whether a run starts with a k, ε or seed of its own."""
    alike = all(getattr(start.algorithm, name, value) == value for name, (_, value) in _held().items())
    return not alike or start.seed != compare_state.compare_start[0].seed


def _called(letter: str, side: Side) -> str:
    """Return the label of a run's form."""
    epsilon = getattr(side.algorithm, "epsilon", None)
    return f"{letter} · {side.algorithm.name}" + (f" · ε {number(epsilon, 3)}" if epsilon is not None else "")


def _edit(
    letter: str, start: Side, now: Side, data: Dataset, shared: Mapping[str, Any], problems: DeltaGenerator
) -> Side:
    """Show the form of one run, which takes the shared values unless it keeps its own."""
    turn, old = compare_state.compare_turn, start.algorithm
    slugs = offered(False)
    with st.popover(plain(_called(letter, now)), key=f"compare_{letter}_form"):
        slug = st.selectbox(
            "Method", slugs, slugs.index(old.slug), disabled=locked(),
            format_func=lambda slug: named(slug).removesuffix(" · recommended"),  # to save room
            key=f"compare_{turn}_{letter}_algorithm",
        )  # fmt: skip
        cls = ALGORITHMS[slug]
        own = st.toggle(
            "Its own k, ε and seed", _apart(start), key=f"compare_{turn}_{letter}_own", disabled=locked(),
            help="Without it, this run takes the k, ε and seed of the line above.",
        )  # fmt: skip
        specs = params.specs(cls)
        values = _values(cls, old, data) | ({} if own else {n: v for n, v in shared.items() if n in specs})
        whole = any(spec.advanced for spec in specs.values()) and st.toggle(
            "All parameters", key=f"compare_{turn}_{letter}_all"
        )
        try:
            for name, spec in specs.items():
                if (whole or not spec.advanced) and (own or name not in shared):
                    mine = dataclasses.replace(spec, default=values[name])
                    field = Parameter.of(cls.name, name, mine, _COMPARE_PARAM(turn, letter, slug, name))
                    values[name] = distance.field(field, data) if name == distance.NAME else field.ask()
            algorithm = cls(**values)
            algorithm.guarantee(data.domain.n_features, data.n_public)
            runs.check(data, started(algorithm, data))
        except (ValueError, TypeError) as problem:
            problems.error(plain(f"{letter}: {in_words(problem, cls)} The picture still shows the last valid run."))
            return now
        seed = int(shared["seed"])
        if own:
            key = _COMPARE_SEED(turn, letter)
            seed = whole_number("Seed", 0, value=start.seed, key=key, disabled=locked())
    return Side(algorithm, seed)


def _values(cls: type[Algorithm], old: Algorithm, data: Dataset) -> dict[str, Any]:
    """Return the fields' initial values: the run's own or, for another algorithm, those of the `SHARED` parameters."""
    defaults = {name: spec.default for name, spec in params.specs(cls).items()}
    mine = {field.name: getattr(old, field.name) for field in dataclasses.fields(old)}
    values = mine if cls is type(old) else {name: mine[name] for name in SHARED if name in mine}
    return {**defaults, "n_clusters": data.n_clusters, **{n: v for n, v in values.items() if n in defaults}}


SHARED = ("n_clusters", "epsilon", "delta", "rho_distance")  # parameters kept when the algorithm changes


def changed_to(side: Side, slug: str, data: Dataset) -> Side:
    """Return the same run with another algorithm."""
    return Side(ALGORITHMS[slug](**_values(ALGORITHMS[slug], side.algorithm, data)), side.seed)


def _fitted(side: Side, data: Dataset) -> Side:
    """Return the same run on other data, with the default number of centers of these data."""
    return Side(dataclasses.replace(side.algorithm, n_clusters=data.n_clusters), side.seed)


def _buttons(chosen: list[Side]) -> None:
    """Show the buttons that add a run, remove the last one, and swap the first two."""
    last = chosen[-1]
    with st.container(horizontal=True, width="content", gap="xsmall"):
        st.button(
            "Add", icon=":material/add:", key="compare_add", on_click=sides.put,
            args=([*chosen, dataclasses.replace(last, seed=last.seed + 1)],),
            help="Adds the last run with another seed.",
            disabled=locked() or len(chosen) == sides.MOST,
        )  # fmt: skip
        st.button(
            "Remove", key="compare_remove", on_click=sides.put, args=(chosen[:-1],),
            disabled=locked() or len(chosen) == 2, help=f"Removes run {LETTERS[len(chosen) - 1]}.",
        )  # fmt: skip
        st.button(
            "Swap", icon=":material/swap_horiz:", key="compare_swap", disabled=locked(), on_click=sides.put,
            args=([chosen[1], chosen[0], *chosen[2:]],), help="Swaps runs A and B.",
        )  # fmt: skip
