"""Show the part of the sweep's form that turns parameters into axes, and presets into curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.params import ParamSpec
from dpviz.privacy.accounting import DELTAS
from dpviz.sweeps.sweep import Variant
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.words import on_screen

__all__ = [
    "MOST",
    "curves_of",
    "deltas",
    "example",
    "names_of",
    "numbers",
    "presets",
    "values_field",
    "values_of",
    "varied",
    "vary",
]

OWN = ("n_clusters", "epsilon", "delta", "rho_distance")  # parameters with fields of their own
MOST = 2
_NUMBERS = {"float": "numbers", "int": "whole numbers", "bool": "true or false"}


def vary(slugs: list[str]) -> tuple[list[tuple[str, str]], list[Variant]]:
    """Show the fields; return pairs (parameter name, values as text), and further curves.

    Two parameters add a table of colors below the curves.
    """
    names = names_of(slugs)
    chosen = varied(slugs).draw()
    given = []
    for name in (n for n in chosen if n in names):
        spec = params.specs(ALGORITHMS[names[name][0]])[name]
        hint = ", ".join(map(str, spec.choices)) if spec.choices else f"such as {example(names[name][0], name)}"
        text = values_field(name).draw(placeholder=hint, help=on_screen(spec.help))
        given.append((name, text or hint.removeprefix("such as ")))
    curves = curves_of(slugs)
    wanted = presets(slugs).draw()
    return given, [Variant(name, *curves[name]) for name in wanted if name in curves]


def varied(slugs: list[str]) -> Control:
    """Return the control of the parameters that become an axis."""
    names = names_of(slugs)
    return Control(
        "vary", "sweep_vary", "Vary parameters", choice((), [*names]), many=True, most=MOST, placeholder="none",
        named=lambda n: f"{n.replace('_', ' ')} ({', '.join(ALGORITHMS[slug].name for slug in names[n])})",
        help="A parameter becomes an axis for the algorithms that have it; all other curves stay flat along it.",
    )  # fmt: skip


def presets(slugs: list[str]) -> Control:
    """Return the control of the curves that presets add."""
    return Control(
        "curves", "sweep_presets", "Presets as additional curves", choice((), [*curves_of(slugs)]), many=True,
        placeholder="none",
        help="Adds a curve for each chosen preset: the values of a paper or of its published code.",
    )  # fmt: skip


def values_field(name: str, accepts: Callable[[str], str] | None = None) -> Control:
    """Return the control of the values of a parameter that is an axis."""
    return Control(
        f"p.{name}", f"sweep_vary_{name}", f"Values of {name.replace('_', ' ')}", ParamSpec(""), accepts=accepts
    )


def names_of(slugs: list[str]) -> dict[str, list[str]]:
    """Return the parameters that may become an axis, each with the algorithms that have it."""
    names: dict[str, list[str]] = {}
    for slug in slugs:
        for name in params.specs(ALGORITHMS[slug]):
            if name not in OWN:
                names.setdefault(name, []).append(slug)
    return names


def curves_of(slugs: list[str]) -> dict[str, tuple[str, str]]:
    """Return the (algorithm, preset) of each curve that presets can add, keyed by label."""
    pairs = [(slug, preset) for slug in slugs for preset in ALGORITHMS[slug].PRESETS]
    return {f"{ALGORITHMS[slug].name}: {preset}": (slug, preset) for slug, preset in pairs}


def values_of(slugs: list[str], name: str, text: str) -> tuple[Any, ...]:
    """Parse the values of a parameter from comma-separated text.

    Raises
    ------
    ValueError
        If a value is not valid; one sentence names the field and the value.
    """
    spec = next(params.specs(ALGORITHMS[slug])[name] for slug in slugs if name in params.specs(ALGORITHMS[slug]))
    try:
        values = [params.parse(spec, part.strip()) for part in text.split(",") if part.strip()]
    except ValueError:
        words = (
            f"one or more of {', '.join(map(str, spec.choices))}" if spec.choices else _NUMBERS.get(spec.kind, "values")
        )
        raise ValueError(
            f"sweep: {name.replace('_', ' ')} must be {words}, separated by commas; got {text!r}."
        ) from None
    return tuple(dict.fromkeys(values))


def deltas(text: str) -> tuple[Any, ...]:
    """Parse values of delta from text: numbers, or rules of n such as 1/(n ln n)."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    try:
        return tuple(part if part in DELTAS else float(part) for part in parts)
    except ValueError:
        rules = ", ".join(DELTAS)
        raise ValueError(
            f"sweep: delta must be numbers or rules ({rules}), separated by commas; got {text!r}."
        ) from None


def numbers(name: str, text: str, kind: type) -> tuple[Any, ...]:
    """Parse numbers from comma-separated text; raise an error of one sentence if some are not numbers."""
    try:
        return tuple(kind(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError(f"sweep: {name} must be numbers, separated by commas; got {text!r}.") from None


def example(slug: str, name: str) -> str:
    """Return values that the algorithm accepts around a number's default or, without one, from its minimum upward."""
    spec = params.specs(ALGORITHMS[slug])[name]
    if spec.kind == "bool":
        return "true, false"
    if spec.default is None:
        low, high = spec.low or 1, spec.high or 10
        texts = [f"{value:g}" for value in (low, min(4 * low, high), min(16 * low, high))]
        return ", ".join(text for text in texts if _taken(slug, name, params.parse(spec, text)))
    values = [spec.default / 2, spec.default, spec.default * 2]
    values = [max(round(one), 1) for one in values] if spec.kind == "int" else values
    low = -float("inf") if spec.low is None else spec.low
    high = float("inf") if spec.high is None else spec.high
    inside = [f"{one:.3g}" for one in dict.fromkeys(values) if low <= one <= high]
    return ", ".join(text for text in inside if _taken(slug, name, params.parse(spec, text)))


def _taken(slug: str, name: str, value: Any) -> bool:
    """Return whether an algorithm accepts a value when its other parameters have their defaults."""
    try:
        ALGORITHMS[slug](**{name: value})
    except ValueError:
        return False
    return True
