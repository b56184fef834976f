"""Show the form of a sweep: data, algorithms, grid, repeats."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import METHODS, SEEDS, STOPS
from dpviz.escape import plain
from dpviz.numbers import fraction, number
from dpviz.params import ParamSpec, in_labels, label_of
from dpviz.privacy.guarantee import Notion
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import REFERENCE, Sweep, Variant, measured
from pages._ui.explore.form import picker
from pages._ui.explore.form.fields import SEED
from pages._ui.explore.form.forms import fields_of, preset
from pages._ui.explore.form.numbers import whole
from pages._ui.explore.form.picker import marked
from pages._ui.explore.tradeoff.data import choices, made_up, open_choice, source
from pages._ui.explore.tradeoff.vary import OWN, deltas, numbers, values_of, vary
from pages._ui.frame import catalog
from pages._ui.frame.address.control import Control, choice, switch
from pages._ui.frame.address.control import number as number_of
from pages._ui.frame.address.data import SweepData, any_data, is_linked
from pages._ui.frame.prepared import FORM_DETAILS
from pages._ui.frame.session import session

_SWEEP_DATA = "sweep_data"

EPSILONS = (0.1, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)  # includes the papers' budgets
ROWS = (None, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
RHOS = (0.0001, 0.008, 0.01, 0.02, 0.05, 0.08, 0.1, 0.2, 1.0)  # Includes the papers' distances.
DATA, RUNS = 200, 144  # Widths of the fields, in pixels.
FIRST = tuple(slug for slug in METHODS if ALGORITHMS[slug].notion is Notion.CENTRAL)  # Curves that share an axis.


SWEEP_DATA = SweepData(
    "d", _SWEEP_DATA, "Data", ParamSpec(("town",)), many=True, accepts=any_data, always=True, most=4,
    widget="multiselect",
)  # fmt: skip
BUDGETS = Control(
    "e", "sweep_epsilon", "Privacy budgets ε", choice(STOPS, EPSILONS), many=True, widget="pills", named=fraction,
    help="Every algorithm runs at each of these budgets.",
)  # fmt: skip
REPEATS = Control(
    "runs", "sweep_repeats", "Runs per point", number_of(SEEDS, 2, 50),
    help="More runs give narrower intervals and take longer. Seeds count up from the first seed.",
)  # fmt: skip
PEOPLE = Control(
    "n", "sweep_rows", "People in the data", choice((None,), ROWS), many=True, widget="pills",
    named=lambda n: "as it is" if n is None else f"{n:,}",
    help="Runs on this many people, drawn without replacement. "
    "If the data have fewer people, whole copies of the data are taken first, and only the rest is drawn.",
)  # fmt: skip
OWN_K = Control(
    "own", "sweep_free", "Let methods choose their own number of centers", switch(False),
    help="Some methods, such as DPM, release more centers than k. More centers always lower the loss, so "
    "their curves cannot be compared with those of k centers.",
)  # fmt: skip
MEASURES = Control(
    "m", "sweep_metrics", "Metrics", choice(("loss",), tuple(METRICS)), many=True,
    named=lambda name: METRICS[name].title,
    help="All metrics are computed from the raw rows, in half-widths of the public bounds, and are not "
    "private. If a k-median method runs, the k-median cost is measured, too.",
)  # fmt: skip
FIRST_SEED = dataclasses.replace(SEED, key="sweep_seed", title="First seed")
RHO = Control(
    "rho", "sweep_rho", label_of("rho_distance"), choice((0.05,), RHOS), many=True, widget="pills",
    help="How far one row may move and stay protected, as a share of the half-width of the public bounds where no unit "
    "is shown.",
)  # fmt: skip


def listed(check: Callable[[str], Any], text: str) -> str:
    """Return a list of comma-separated values as text.

    Raises
    ------
    ValueError
        If it is empty, too long, or one of its values fails the check.
    """
    if len(text) > 200 or not text.isprintable() or not check(text):
        raise ValueError("not a list of values")
    return text


DELTAS = Control(
    "delta", "sweep_delta", label_of("delta"), ParamSpec(""), accepts=partial(listed, deltas),
    placeholder="1/(100 n) for all",
    help="One value for all algorithms: a number, or a rule from a paper such as 1/(n ln n) or 1/(n sqrt n).",
)  # fmt: skip


def methods() -> Control:
    """Return the control of the algorithms."""
    return Control(
        "a", "sweep_algorithms", "Algorithms", choice(FIRST, [slug for slug in ALGORITHMS if slug != REFERENCE]),
        many=True, always=True, named=marked, help="KMeans, the non-private reference, always runs too.",
    )  # fmt: skip


def centers(slugs: Sequence[str]) -> Control:
    """Return the control of the numbers of centers, which all chosen algorithms must accept."""
    return Control(
        "k", "sweep_k", label_of("n_clusters"), ParamSpec(""), accepts=partial(listed, partial(_clusters, slugs)),
        placeholder="each data set's own", help="Whole numbers separated by commas.",
    )  # fmt: skip


def _clusters(slugs: Sequence[str], text: str) -> tuple[int, ...]:
    """Return the numbers of centers; raise ValueError if a chosen algorithm does not accept one of them."""
    values: tuple[int, ...] = numbers("centers k", text, int)
    specs = [params.specs(ALGORITHMS[slug]).get("n_clusters") for slug in slugs]
    for value, spec in itertools.product(values, filter(None, specs)):
        params.check_one("sweep", "n_clusters", spec, value)
    return values


def moving(slugs: Sequence[str]) -> bool:
    """Return whether a chosen algorithm hides moves of a row."""
    return any("rho_distance" in params.specs(ALGORITHMS[slug]) for slug in slugs)


def private_notice() -> None:
    """Say why this page does not use a chosen private file, and which simulated people stand in for its people."""
    if catalog.chosen().private:
        st.info(
            "Your private file is not on this page: every run of a sweep would be a separate release that spends ε "
            "again, and the metrics would read raw rows. "
            + (
                "A sweep over people made up from a release on this file costs nothing more."
                if made_up()
                else "Run NSM once on Watch: a sweep over people made up from that run's release costs nothing more."
            )
        )


def linked() -> bool:
    """Return whether an address can name the form's data: no private file, and no people simulated from a run."""
    chosen = st.session_state.get(SWEEP_DATA.key) or ()
    return not catalog.chosen().private and all(map(is_linked, chosen))


def sweep_form() -> tuple[Sweep | None, str, str, DeltaGenerator]:
    """Show the form; return (sweep or None, its title, the error or "", the box of details)."""
    private = catalog.chosen().private
    names = choices()
    if not private:
        catalog.follow(SWEEP_DATA.key, names, many=True)
    titles = catalog.short({name: open_choice(name).title for name in names})
    with st.container(width=DATA):
        picker_of_data = dataclasses.replace(SWEEP_DATA, key="sweep_data_private") if private else SWEEP_DATA
        data = picker_of_data.draw(
            options=names, default=[names[0]] if private else ["town"], format_func=titles.__getitem__
        )
    algorithms = methods()
    if not private:
        _follow(algorithms)
    count = len(algorithms.held)
    with st.popover(f"{count} algorithm{'s' * (count != 1)}", key="form_algorithms"):
        chosen = algorithms.draw()
    with st.container(width="content"):
        epsilon = BUDGETS.draw()
    with st.container(width=RUNS):
        repeats = whole(REPEATS)
    more = st.popover("Details", key=FORM_DETAILS)
    axes: list[tuple[str, tuple[Any, ...]]] = []
    if moving(chosen):
        with st.container(width="content"):
            rho = RHO.draw(format_func=partial(_distance, data))
        axes.append(("rho_distance", tuple(rho)))
    with more:
        n_rows = PEOPLE.draw()
        k, delta, free = centers(chosen).draw(), DELTAS.draw(), OWN_K.draw()
        varied, curves = vary(chosen)
        metrics = MEASURES.draw()
        seed = whole(FIRST_SEED)
    if not private:
        _give_back(algorithms, chosen, k)
    try:
        axes += _typed(chosen, k, delta, varied)
        variants = (*(_variant(slug, free) for slug in chosen), *curves)
        sweep = Sweep(
            data=tuple(map(source, data)),
            variants=variants,
            epsilon=tuple(sorted(epsilon)),
            axes=tuple(axes),
            n_rows=tuple(sorted(n_rows, key=lambda n: n or 0)),
            repeats=repeats,
            seed=seed,
            metrics=measured(metrics, variants, dict(axes)),
            public=True,
        )
    except (ValueError, TypeError) as problem:
        return None, "", in_labels(str(problem).replace("variants must", "algorithms must")), more
    return sweep, " and ".join(open_choice(name).title for name in data), "", more


def _run() -> tuple[str | None, str, int]:
    """Return the method of the current run, the key of its field for k, and the k of its data."""
    state, data = st.session_state, catalog.chosen()
    method = state.get(picker.METHOD)
    cls, own = ALGORITHMS[method or FIRST[0]], {"n_clusters": data.n_clusters}
    fields = fields_of(cls, state[catalog.CHOSEN], own, preset(cls).held)
    return method, fields["n_clusters"].key, data.n_clusters


def _follow(algorithms: Control) -> None:
    """Fill in the method and k of the current run when they have changed; a link takes precedence."""
    state, (method, field, own) = st.session_state, _run()
    k = int(state.get(field) or own)  # Streamlit returns a typed number as a float
    now = f"{state[catalog.CHOSEN]} {method} {k}"
    slugs, key = algorithms.spec.choices or (), algorithms.key
    if method in slugs and not session.opened_now and now != session.followed.get(key):
        others = algorithms.held or FIRST
        state[key] = [method, *(slug for slug in others if slug != method)]
        state[centers(()).key] = "" if k == own else str(k)
    session.followed[key] = now


def _give_back(algorithms: Control, chosen: Sequence[str], k: str) -> None:
    """Give the current run the sweep's k, if any, and one of the sweep's methods if the sweep lacks the run's own."""
    state, (method, field, own) = st.session_state, _run()
    if chosen and method is not None and method not in chosen:
        state[picker.METHOD] = chosen[0]
        field = _run()[1]
    if k.strip().isdecimal() and 0 < int(k) <= catalog.chosen().n_public:
        state[field] = int(k)
    elif not k.strip() and state.get(field):
        state[field] = own
    session.followed[algorithms.key] = (
        f"{state[catalog.CHOSEN]} {state.get(picker.METHOD)} {int(state.get(field) or own)}"
    )


def sweep_of(values: Mapping[str, Any], named: Callable[[str], str] = source) -> Sweep:
    """Return the sweep for the words of Trade-off's address; `form_of` is the inverse, but leaves out presets.

    `named` returns the name under which worker processes open a data set (if all are samples: "sample:{}".format).

    Raises
    ------
    ValueError, TypeError
        If the words do not fit together.
    """
    chosen, axes = list(values["a"]), []
    if moving(chosen):
        axes.append(("rho_distance", tuple(values["rho"])))
    varied = [(name, values[f"p.{name}"]) for name in values.get("vary", ()) if values[f"p.{name}"].strip()]
    axes += _typed(chosen, values["k"], values["delta"], varied)
    variants = tuple(_variant(slug, values["own"]) for slug in chosen)
    return Sweep(
        data=tuple(map(named, values["d"])),
        variants=variants,
        epsilon=tuple(sorted(values["e"])),
        axes=tuple(axes),
        n_rows=tuple(sorted(values["n"], key=lambda n: n or 0)),
        repeats=int(values["runs"]),
        seed=int(values["s"]),
        metrics=measured(values["m"], variants, dict(axes)),
        public=True,
    )


def _typed(chosen: list[str], k: str, delta: str, varied: Iterable[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Return the axes with typed values."""
    pairs: list[tuple[str, Any]] = []
    if k.strip():
        pairs.append(("n_clusters", numbers("centers k", k, int)))
    if delta.strip():
        pairs.append(("delta", deltas(delta)))
    return pairs + [(name, values_of(chosen, name, text)) for name, text in varied]


def form_of(sweep: Sweep) -> dict[str, Any]:
    """Return the form's values for a sweep on public data, keyed by the words of Trade-off's address."""
    axes, plain = dict(sweep.axes), [one for one in sweep.variants if one.preset is None]
    own = any("exactly_k" in params.specs(ALGORITHMS[one.algorithm]) and not one.values for one in plain)
    texts = {name: ", ".join(map(str, values)) for name, values in axes.items()}
    varied = tuple(name for name in axes if name not in OWN)
    return {
        "d": tuple(name.removeprefix("sample:") for name in sweep.data),
        "a": tuple(one.algorithm for one in plain),
        "e": sweep.epsilon,
        "runs": sweep.repeats,
        "rho": axes.get("rho_distance", (0.05,)),
        "n": sweep.n_rows,
        "k": texts.get("n_clusters", ""),
        "delta": texts.get("delta", ""),
        "m": sweep.metrics,
        "s": sweep.seed,
        "own": own,
        "vary": varied,
        "curves": tuple(one.label for one in sweep.variants if one.preset is not None),
        **{f"p.{name}": texts[name] for name in varied},
    }


def _variant(slug: str, free: bool) -> Variant:
    """Return an algorithm's curve, with exactly k centers unless the form lets the algorithm choose their number."""
    exact = "exactly_k" in params.specs(ALGORITHMS[slug]) and not free
    return Variant(slug, slug, values=(("exactly_k", True),) if exact else ())


def _distance(names: Sequence[str], rho: float) -> str:
    """Return rho in the unit of the data, or as a share of the half-width if data sets or columns differ in scale."""
    lengths = {data.domain.length(rho) for data in map(open_choice, names) if data.domain.one_scale}
    return plain(lengths.pop()) if len(lengths) == len(names) == 1 else number(rho)
