"""Show the form of Compare: one form per run, and buttons that add, swap and remove runs."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from dpviz.postprocessing.beside import LETTERS
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
    chosen = [
        _edit(letter, start, now, data)
        for letter, start, now in zip(LETTERS, compare_state.compare_start, sides.get(), strict=False)
    ]
    _buttons(chosen)
    before = [_called(letter, side) for letter, side in zip(LETTERS, sides.get(), strict=False)]
    sides.put(chosen)
    compare_state.compare_drawn = sides.get()
    if before != [_called(letter, side) for letter, side in zip(LETTERS, chosen, strict=False)]:
        st.rerun()  # a form's label is sent before its fields are read
    return chosen


def _called(letter: str, side: Side) -> str:
    """Return the label of a run's form."""
    epsilon = getattr(side.algorithm, "epsilon", None)
    return f"{letter} · {side.algorithm.name}" + (f" · ε {number(epsilon, 3)}" if epsilon is not None else "")


def _edit(letter: str, start: Side, now: Side, data: Dataset) -> Side:
    """Show the form of one run."""
    turn, old = compare_state.compare_turn, start.algorithm
    slugs = offered(False)
    with st.popover(plain(_called(letter, now)), key=f"compare_{letter}_form"):
        slug = st.selectbox(
            "Method", slugs, slugs.index(old.slug), disabled=locked(),
            format_func=lambda slug: named(slug).removesuffix(" · recommended"),  # to save room
            key=f"compare_{turn}_{letter}_algorithm",
        )  # fmt: skip
        cls = ALGORITHMS[slug]
        values = _values(cls, old, data)
        specs = params.specs(cls)
        whole = any(spec.advanced for spec in specs.values()) and st.toggle(
            "All parameters", key=f"compare_{turn}_{letter}_all"
        )
        try:
            for name, spec in specs.items():
                if whole or not spec.advanced:
                    mine = dataclasses.replace(spec, default=values[name])
                    field = Parameter.of(cls.name, name, mine, _COMPARE_PARAM(turn, letter, slug, name))
                    values[name] = distance.field(field, data) if name == distance.NAME else field.ask()
            algorithm = cls(**values)
            algorithm.guarantee(data.domain.n_features, data.n_public)
            runs.check(data, algorithm)
        except (ValueError, TypeError) as problem:
            st.error(plain(f"{in_words(problem, cls)} The picture still shows the last valid run."))
            return now
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
