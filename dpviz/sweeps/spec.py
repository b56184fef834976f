"""Read and write sweeps as TOML files."""

from __future__ import annotations

import dataclasses
import itertools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.sweeps.sweep import Sweep, Variant, measured
from dpviz.version import __version__

__all__ = ["Published", "Spec", "read_spec", "sweep_of", "to_script", "to_toml"]

_AXES = ("delta", "rho_distance", "n_clusters")  # "auto" leaves these to the preset or the data set
_LISTS = ("data", "epsilon", "n_rows", "metrics")
_SCALARS = ("repeats", "seed", "bounds", "public")
_OTHER = ("title", "algorithms", "published")


@dataclasses.dataclass(frozen=True)
class Published:
    """A number printed in a paper, to compare with ours."""

    data: str
    label: str
    value: float
    what: str = "loss"
    epsilon: float | None = None
    source: str = ""


@dataclasses.dataclass(frozen=True)
class Spec:
    """A sweep with its title and the published numbers with which it is compared."""

    title: str
    sweep: Sweep
    published: tuple[Published, ...] = ()


def read_spec(path: Path) -> Spec:
    """Read a TOML file.

    Keys: data, algorithms, epsilon (each a value or a list); optional n_rows, metrics, repeats, seed, bounds, public,
    title, and any parameter of the algorithms (delta, rho_distance, n_clusters, alpha, ...), which becomes an axis for
    the algorithms that have it. A table named after an entry of `algorithms` fixes that entry's parameters; a list
    there makes one curve per value. The table's keys `algorithm`, `preset` and `noise` make the entry an additional
    curve of an algorithm, as in `[fastlloyd-paper]`. "auto" stands for the data set's own k or size, or for the
    default delta. If k-median is among the algorithms and no metrics are named, its own cost is measured, too. Tables
    [[published]] hold published numbers.

    Raises
    ------
    ValueError
        If the file is not a valid specification; the message is one sentence that names the file and the key, and says
        what to do.
    """
    if not path.is_file():
        raise ValueError(f"sweep: the file {path.name} does not exist.")
    try:
        record = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"sweep: {path.name} is nested too deeply; use tables of values and flat lists.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"sweep: {path.name} is not valid TOML: {error}.") from None
    except ValueError:  # a number with more digits than Python reads
        raise ValueError(f"sweep: {path.name} holds a number with thousands of digits.") from None
    published = record.pop("published", [])
    if not isinstance(published, list) or not all(isinstance(entry, dict) for entry in published):
        raise ValueError("sweep: published must be a list of tables, [[published]].")
    title = record.get("title", path.stem)
    if not isinstance(title, str):
        raise ValueError("sweep: title must be a string.")
    return Spec(title, sweep_of(record), tuple(map(_published, published)))


def _published(entry: dict[str, Any]) -> Published:
    """Parse one [[published]] table, its numbers as numbers and the rest as text."""
    names = {field.name for field in dataclasses.fields(Published)}
    if set(entry) - names or {"data", "label", "value"} - set(entry):
        raise ValueError(
            f"sweep: a [[published]] table may have the keys {', '.join(sorted(names))} "
            "and must have data, label and value."
        )
    for name, value in entry.items():
        number = name in ("value", "epsilon")
        if not isinstance(value, int | float if number else str) or isinstance(value, bool):
            raise ValueError(f"sweep: {name} of a [[published]] table must be a {'number' if number else 'string'}.")
    return Published(**entry)


def sweep_of(record: Mapping[str, Any]) -> Sweep:
    """Turn a mapping with the keys of a spec file into a `Sweep`.

    Raises
    ------
    ValueError
        If the mapping is not a valid specification; the message is one sentence that names the key and says what to do.
    """
    labels = _list("algorithms", record.get("algorithms", ()))
    variants = [one for label in labels for one in _variants(label, record.get(label, {}))]
    known = {name for variant in variants for name in params.specs(ALGORITHMS[variant.algorithm])} | set(_AXES)
    axes_given = [key for key in record if key in known and key not in (*_LISTS, *_SCALARS, *_OTHER, *labels)]
    unknown = [key for key in record if key not in (*axes_given, *_LISTS, *_SCALARS, *_OTHER, *labels)]
    if unknown:
        raise ValueError(
            f"sweep: {unknown[0]!r} is not a key of a sweep, one of its algorithms or a parameter of one; the "
            f"keys are {', '.join((*_LISTS, 'algorithms', *_AXES, *_SCALARS, 'title'))}."
        )
    for key in ("data", "algorithms", "epsilon"):
        if key not in record:
            raise ValueError(f"sweep: the spec must have the key {key}.")
    given: dict[str, Any] = {key: _list(key, record[key]) for key in _LISTS if key in record}
    given |= {key: record[key] for key in _SCALARS if key in record}
    if not all(isinstance(name, str) for name in given["data"]):
        raise ValueError('sweep: data must be a name like "sample:town" or a path, or a list of them.')
    axes = tuple((key, _list(key, record[key])) for key in axes_given)
    given.setdefault("metrics", measured(("loss",), variants, dict(axes)))
    return Sweep(variants=tuple(variants), axes=axes, **given)


def _variants(label: Any, values: Any) -> list[Variant]:
    """Return the curves of an entry: one, or one per combination of the lists in its table."""
    if not isinstance(label, str) or not isinstance(values, Mapping):
        raise ValueError(f"sweep: algorithms must be a list of names, each with a table of parameters; got {label!r}.")
    values = dict(values)
    slug = values.pop("algorithm", label)
    for key, value in values.items():
        _list(f"{key} of {label}", value)
    lists = {key: value for key, value in values.items() if isinstance(value, list | tuple)}
    variants = []
    for chosen in itertools.product(*(_list(key, value) for key, value in lists.items())):
        own = dict(zip(lists, chosen, strict=True))
        name = ", ".join([label, *(f"{key} = {value}" for key, value in own.items())])
        fixed = {**values, **own}
        preset, noise = fixed.pop("preset", None), fixed.pop("noise", "seeded")
        variants.append(Variant(name, slug, preset, tuple(fixed.items()), noise))
    return variants


def _list(key: str, value: Any) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(item, str | int | float | None) for item in values):
        raise ValueError(f"sweep: {key} must be one value or a flat list of numbers and strings.")
    return tuple(None if item == "auto" and key in (*_AXES, "n_rows") else item for item in values)


def to_toml(sweep: Sweep, title: str) -> str:
    """Return a spec file that reruns exactly this sweep."""
    lines = [f"title = {_toml(title)}", f"data = {_toml(sweep.data)}"]
    lines += [f"algorithms = {_toml([variant.label for variant in sweep.variants])}"]
    lines += [f"epsilon = {_toml(sweep.epsilon)}"]
    lines += [f"{name} = {_toml(values)}" for name, values in (*sweep.axes, ("n_rows", sweep.n_rows))]
    lines += [f"repeats = {sweep.repeats}", f"seed = {sweep.seed}", f"metrics = {_toml(sweep.metrics)}"]
    lines += [f"bounds = {_toml(sweep.bounds)}", f"public = {_toml(sweep.public)}"]
    for variant in sweep.variants:
        own = {"algorithm": variant.algorithm, "preset": variant.preset, **dict(variant.values)}
        own |= {"noise": variant.noise} if variant.noise != "seeded" else {}
        lines += ["", f"[{_toml(variant.label)}]", *(f"{k} = {_toml(v)}" for k, v in own.items() if v is not None)]
    return "\n".join(lines) + "\n"


def to_script(sweep: Sweep, title: str) -> str:
    """Return a Python script that reruns exactly this sweep with this version of dpviz."""
    return f'''"""Rerun of a dpviz sweep: python dpviz-sweep.py writes dpviz-sweep.csv; run it again to resume.

Simulation on public data: the seeds are known, nothing here is private. Made with dpviz {__version__}.
"""

from pathlib import Path

from dpviz.cli import main

SPEC = r"""
{to_toml(sweep, title)}"""

if __name__ == "__main__":
    path = Path("dpviz-sweep.toml")
    path.write_text(SPEC, encoding="utf-8")
    raise SystemExit(main(["sweep", str(path), "-o", "dpviz-sweep.csv"]))
'''


def _toml(value: Any) -> str:
    if value is None:
        return '"auto"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)
