"""Show the privacy budget of a run in ε, μ or zCDP's ρ: the visitor sets one, the others follow; δ is shown, too."""

from __future__ import annotations

import math
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.numbers import chance, number
from dpviz.privacy.accounting import DEFAULT_DELTA
from dpviz.privacy.budget import Budget, budget, epsilon_of
from dpviz.privacy.delta import allowed, meaning
from pages._ui.explore.form.numbers import converted
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.words import on_screen

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

__all__ = ["GIVEN_AS", "field", "rule"]

_BUDGET = "budget_{}".format

_GIVEN_AS = {"epsilon": "ε", "mu": "μ", "zcdp": "ρ"}
_LABELS = {"mu": "Privacy budget μ (Gaussian DP)", "zcdp": "Privacy budget ρ (zCDP)"}
_HELP = (
    f"The same budget in three notions; when you type one, the others follow. ε at δ: {meaning()}. "
    "μ: telling two data sets apart is at least as hard as telling a unit Gaussian from one shifted by μ. ρ: "
    "zero-concentrated DP, whose values add up over runs. This ρ is a budget and has no unit. The rho of dist-DP is "
    "unrelated: it is the distance up to which moves of a row are hidden."
)
GIVEN_AS = Control(
    "in", "budget_in", "Budget given as", choice("epsilon", tuple(_GIVEN_AS)), widget="segmented_control", help=_HELP,
    named=_GIVEN_AS,
)  # fmt: skip


def field(
    cls: type[Algorithm],
    data: Dataset,
    epsilon: Control,
    delta: float,
    place: DeltaGenerator | None = None,
) -> float:
    """Show the budget (in `place`, if given) and the choice of ε, μ or ρ for it; return ε.

    The control's widget holds ε, whichever of the three the visitor sets.
    """
    leads = GIVEN_AS.draw(width="stretch")
    gaussian = _is_gaussian(cls, data.domain.n_features, data.n_public)  # type: ignore[arg-type]  # a class has a hash
    with place or nullcontext():
        if leads == "epsilon":
            value = epsilon.draw()
        else:
            value = converted(
                _LABELS[leads], _BUDGET(leads), epsilon,
                lambda now: getattr(budget(now, delta, gaussian=gaussian), leads),
                lambda typed: epsilon_of(leads, typed, delta, gaussian=gaussian),
            )  # fmt: skip
    if 0 < value < math.inf:
        st.caption(_words(budget(value, delta, gaussian=gaussian), gaussian=gaussian, leads=leads))
    return value


def _words(now: Budget, *, gaussian: bool, leads: str) -> str:
    about = "" if gaussian else "about "
    parts = {
        "epsilon": f"ε {number(now.epsilon)}",
        "mu": f"{about}μ {number(now.mu)}",
        "zcdp": f"{about}ρ {number(now.zcdp, 2)}",
    }
    others = ", ".join(words for name, words in parts.items() if name != leads)
    end = "" if gaussian else " Not every release here is Gaussian, so the promise is stated in ε and δ."
    return f"= {others}.{end}"


@lru_cache(maxsize=512)
def rule(algorithm: Algorithm, n_features: int, n_public: int) -> str:
    """Return the value, the origin and the meaning of δ in sentences."""
    delta, given = algorithm.guarantee(n_features, n_public).delta, getattr(algorithm, "delta", None)
    if not delta:
        return f"δ = 0: {meaning(algorithm.neighboring, pure=True)}."
    rule = getattr(algorithm, "delta_rule", DEFAULT_DELTA)
    origin = "as typed" if given is not None else f"{rule} for n = {n_public:,}"
    much = on_screen(allowed(delta, n_public)) if delta * n_public < 1 else ""  # `advice` says what a larger δ allows
    return f"δ = {chance(delta)}, {origin}: {meaning(algorithm.neighboring)}. {much}".rstrip()


@lru_cache(maxsize=512)
def _is_gaussian(cls: type[Algorithm], d: int, n: int) -> bool:
    """Return whether every release in an algorithm's plan is Gaussian."""
    try:
        return cls(n_clusters=1).guarantee(d, n).mu is not None
    except ValueError:
        return False
