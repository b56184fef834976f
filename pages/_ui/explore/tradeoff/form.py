"""Show the form of a sweep: data, algorithms, grid, repeats."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import METHODS, SEEDS, STOPS
from dpviz.escape import plain
from dpviz.numbers import fraction, number
from dpviz.privacy.guarantee import Notion
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import REFERENCE, Sweep, Variant, measured
from pages._ui.explore.form.forms import fields_of, in_labels
from pages._ui.explore.form.numbers import whole_number
from pages._ui.explore.form.picker import marked
from pages._ui.explore.tradeoff.data import choices, made_up, open_choice, source
from pages._ui.explore.tradeoff.vary import OWN, deltas, numbers, values_of, vary
from pages._ui.frame import catalog, keys
from pages._ui.frame.address.data import is_linked
from pages._ui.frame.prepared import args
from pages._ui.frame.session import session

EPSILONS = (0.1, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)  # includes the papers' budgets
ROWS = (None, 300, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
RHOS = (0.0001, 0.008, 0.01, 0.02, 0.05, 0.08, 0.1, 0.2, 1.0)  # Includes the papers' distances.
DATA, RUNS = 200, 144  # Widths of the fields, in pixels.
FIRST = tuple(slug for slug in METHODS if ALGORITHMS[slug].notion is Notion.CENTRAL)  # Curves that share an axis.


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
    chosen = st.session_state.get(keys.SWEEP_DATA) or ()
    return not catalog.chosen().private and all(map(is_linked, chosen))


def sweep_form() -> tuple[Sweep | None, str, str, DeltaGenerator]:
    """Show the form; return (sweep or None, its title, the error or "", the box of details)."""
    private = catalog.chosen().private
    names = choices()
    if not private:
        catalog.follow(keys.SWEEP_DATA, names, many=True)
    titles = catalog.short({name: open_choice(name).title for name in names})
    with st.container(width=DATA):
        data = st.multiselect(
            "Data", names, [names[0] if private else "town"], format_func=titles.__getitem__,
            max_selections=4, **args(keys.SWEEP_DATA_PRIVATE if private else keys.SWEEP_DATA),
        )  # fmt: skip
    slugs = [slug for slug in ALGORITHMS if slug != REFERENCE]
    if not private:
        _follow(slugs)
    count = len(st.session_state.get(keys.SWEEP_ALGORITHMS, FIRST))
    with st.popover(f"{count} algorithm{'s' * (count != 1)}", key=keys.FORM_ALGORITHMS):
        chosen = st.multiselect(
            "Algorithms", slugs, list(FIRST), format_func=marked,
            **args(keys.SWEEP_ALGORITHMS), help="KMeans, the non-private reference, always runs too.",
        )  # fmt: skip
    with st.container(width="content"):
        epsilon = st.pills(
            "Privacy budgets ε", EPSILONS, selection_mode="multi", default=STOPS, format_func=fraction,
            **args(keys.SWEEP_EPSILON), help="Every algorithm runs at each of these budgets.",
        )  # fmt: skip
    with st.container(width=RUNS):
        repeats = whole_number(
            "Runs per point", 2, 50, SEEDS, **args(keys.SWEEP_REPEATS),
            help="More runs give narrower intervals and take longer. Seeds count up from the first seed.",
        )  # fmt: skip
    more = st.popover("Details", key=keys.FORM_DETAILS)
    axes: list[tuple[str, tuple[Any, ...]]] = []
    if any("rho_distance" in params.specs(ALGORITHMS[slug]) for slug in chosen):
        with st.container(width="content"):
            rho = st.pills(
                "rho (distance)", RHOS, selection_mode="multi", default=(0.05,), **args(keys.SWEEP_RHO),
                format_func=partial(_distance, data), help="How far one row may move and stay protected, as a share "
                    "of the half-width of the public bounds where no unit is shown.",
            )  # fmt: skip
        axes.append(("rho_distance", tuple(rho)))
    with more:
        n_rows = st.pills(
            "People in the data", ROWS, selection_mode="multi", default=(None,), **args(keys.SWEEP_ROWS),
            format_func=lambda n: "as it is" if n is None else f"{n:,}",
            help="Runs on this many people, drawn without replacement. "
            "If the data have fewer people, whole copies of the data are taken first, and only the rest is drawn.",
        )  # fmt: skip
        k = st.text_input(
            "Centers k",
            "",
            placeholder="each data set's own",
            **args(keys.SWEEP_K),
            help="Whole numbers separated by commas.",
        )
        delta = st.text_input(
            "Delta δ",
            "",
            placeholder="1/(100 n) for all",
            **args(keys.SWEEP_DELTA),
            help="One value for all algorithms: a number, or a rule from a paper such as 1/(n ln n) or 1/(n sqrt n).",
        )
        free = st.toggle(
            "Let methods choose their own number of centers", **args(keys.SWEEP_FREE),
            help="Some methods, such as DPM, release more centers than k. More centers always lower the loss, so "
                "their curves cannot be compared with those of k centers.",
        )  # fmt: skip
        varied, curves = vary(chosen)
        metrics = st.multiselect(
            "Metrics", METRICS, ["loss"], format_func=lambda name: METRICS[name].title, **args(keys.SWEEP_METRICS),
            help="All metrics are computed from the raw rows, in half-widths of the public bounds, and are not "
                "private. If a k-median method runs, the k-median cost is measured, too.",
        )  # fmt: skip
        seed = whole_number(
            "First seed", 0, **args(keys.SWEEP_SEED),
            help="DEMO only. A published seed lets anyone subtract the noise.",
        )  # fmt: skip
    if not private:
        _give_back(chosen, k)
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
    method = state.get(keys.EXPLORE_ALGORITHM)
    cls, own = ALGORITHMS[method or FIRST[0]], {"n_clusters": data.n_clusters}
    fields = fields_of(cls, state[keys.EXPLORE_DATA], own, state.get(keys.PRESET(cls.slug)))
    return method, fields["n_clusters"][1], data.n_clusters


def _follow(slugs: Collection[str]) -> None:
    """Fill in the method and k of the current run when they have changed; a link takes precedence."""
    state, (method, field, own) = st.session_state, _run()
    k = int(state.get(field) or own)  # Streamlit returns a typed number as a float
    now = f"{state[keys.EXPLORE_DATA]} {method} {k}"
    if method in slugs and not session.opened_now and now != session.followed.get(keys.SWEEP_ALGORITHMS):
        others = state.get(keys.SWEEP_ALGORITHMS) or FIRST
        state[keys.SWEEP_ALGORITHMS] = [method, *(slug for slug in others if slug != method)]
        state[keys.SWEEP_K] = "" if k == own else str(k)
    session.followed[keys.SWEEP_ALGORITHMS] = now


def _give_back(chosen: Sequence[str], k: str) -> None:
    """Give the current run the sweep's k, if any, and one of the sweep's methods if the sweep lacks the run's own."""
    state, (method, field, own) = st.session_state, _run()
    if chosen and method is not None and method not in chosen:
        state[keys.EXPLORE_ALGORITHM] = chosen[0]
        field = _run()[1]
    if k.strip().isdecimal() and 0 < int(k) <= catalog.chosen().n_public:
        state[field] = int(k)
    elif not k.strip() and state.get(field):
        state[field] = own
    session.followed[keys.SWEEP_ALGORITHMS] = (
        f"{state[keys.EXPLORE_DATA]} {state.get(keys.EXPLORE_ALGORITHM)} {int(state.get(field) or own)}"
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
    if any("rho_distance" in params.specs(ALGORITHMS[slug]) for slug in chosen):
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
    lengths = {data.domain.length(rho) for data in map(open_choice, names) if data.domain.scale == "common"}
    return plain(lengths.pop()) if len(lengths) == len(names) == 1 else number(rho)
