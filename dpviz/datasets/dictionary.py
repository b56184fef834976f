"""The data dictionary: the declared public facts of a table, one JSON format for samples, uploads and command line."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz import validate
from dpviz.datasets.earth import Equirectangular
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.recode import Recoding
from dpviz.domain import Domain
from dpviz.numbers import number

__all__ = ["FROM_THE_DATA", "PRESETS", "complete", "domain_of", "dump", "parse", "promises"]

PRESETS: dict[str, tuple[float, float, str]] = {  # low, high, unit: bounds that follow from what a column means
    "percent": (0, 100, "%"),
    "age": (0, 120, "years"),
    "latitude": (-90, 90, "degrees"),
    "longitude": (-180, 180, "degrees"),
    "0 to 255": (0, 255, ""),
    "Likert, 5 points": (1, 5, "points"),
    "Likert, 7 points": (1, 7, "points"),
    "0 or 1": (0, 1, ""),
}
FROM_THE_DATA = "bounds taken from the data: NOT PRIVATE"
_DEFAULTS: dict[str, Any] = {
    "title": "",
    "description": "",
    "label": None,
    "n_clusters": 3,
    "view": None,
    "scale": "column",
    "radius": None,
    "projection": None,
    "picture": None,
    "recode": [],
    "form": {},
    "n_public": None,
    "n_is": "exact",
    "declared": True,
    "unit_of_privacy": "one row is one person",
    "rows_per_person": 1,
    "origin": "",
    "licence": "",
}
_COLUMN = {"unit": "", "description": "", "fill": None}
MOST_CLUSTERS = 256  # what every algorithm takes at most
_LONGEST = 1_000_000  # characters of a dictionary file
_MOST_COLUMNS = 1024  # more than a table may have


def complete(facts: Mapping[str, Any], name: str = "data dictionary") -> dict[str, Any]:
    """Check the facts and add the defaults; `name` is how messages call them.

    Keys: columns (each with name, low, high and perhaps unit, description, fill: what stands in for a missing cell),
    scale, radius, n_public, n_is ("exact" or "approximate"), declared (False where bounds were read off rows: NOT
    PRIVATE), unit_of_privacy, rows_per_person, origin, licence, title, description, label, n_clusters, view (the two
    columns to draw first), picture ([height, width] where the columns are a picture's cells, row by row),
    form (how the file is written: header, sheet, header_row, separator, decimal, thousands, n_columns, see
    `readers.form.Form`), recode (which columns of words and dates become numbers: see `readers.recode.Recoding`; a
    column that is named without bounds, or not at all, stands for all that its rule makes), projection (how kilometers
    are made from latitude and longitude, see `projection.Equirectangular`). Other keys are left out.

    Raises
    ------
    ValueError
        One sentence that names the wrong entry.
    """
    facts = _with_recoded(facts, name)
    columns = facts.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(column, Mapping) for column in columns):
        raise ValueError(f"{name}: 'columns' must be a list with at least one column of name, low and high.")
    if len(columns) > _MOST_COLUMNS:
        raise ValueError(f"{name}: at most {_MOST_COLUMNS} columns can be declared.")
    full = {**_DEFAULTS, **{key: facts[key] for key in _DEFAULTS if key in facts}}
    full["columns"] = [_column(column, name, place) for place, column in enumerate(columns, 1)]
    names: set[str] = set()
    for column in full["columns"]:
        if column["name"] in names:
            raise ValueError(f"{name}: column {column['name']!r} is declared twice.")
        names.add(column["name"])
    try:
        validate.one_of(name, ("exact", "approximate"), n_is=full["n_is"])
        validate.one_of(name, (True, False), declared=full["declared"])
        validate.integer(name, 1, MOST_CLUSTERS, n_clusters=full["n_clusters"])
        full["form"] = Form.checked(full["form"], name)
        if full["label"] is not None and not isinstance(full["label"], str):
            raise ValueError(f"{name}: label must be the name of a column, or null.")
        for key in ("title", "description", "unit_of_privacy", "origin", "licence"):
            if not isinstance(full[key], str):
                raise ValueError(f"{name}: {key} must be text.")
        view = full["view"]
        if view is not None:
            pair = isinstance(view, list) and len(view) == 2 and all(isinstance(one, str) for one in view)
            if not pair or not names.issuperset(view):
                raise ValueError(f"{name}: view must name two declared columns.")
        size = full["picture"]
        if size is not None:
            sides = isinstance(size, list) and len(size) == 2 and all(type(side) is int and side > 0 for side in size)
            if not sides or size[0] * size[1] != len(columns):
                raise ValueError(
                    f"{name}: picture must be a height and a width whose product is the number of columns."
                )
        domain_of(full)
        if full["projection"] is not None:
            Equirectangular.parse(full["projection"], name)
    except TypeError as problem:
        raise ValueError(str(problem)) from None
    return full


def _with_recoded(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the facts with the columns that the rules of `recode` make, in the place of those they are made of."""
    listed, columns = facts.get("recode") or [], facts.get("columns", [])
    if not isinstance(listed, list) or not isinstance(columns, list):
        return facts
    rules = [Recoding.parse(entry, name) for entry in listed]
    if len({rule.column for rule in rules}) < len(rules):
        raise ValueError(f"{name}: 'recode' names a column twice.")
    for rule in rules:
        made = {column["name"] for column in rule.columns}
        bare = [place for place, column in enumerate(columns) if _bare(column, rule.column)]
        if bare:
            known = {key: columns[bare[0]][key] for key in ("fill",) if key in columns[bare[0]]}
            columns = [*columns[: bare[0]], *({**c, **known} for c in rule.columns), *columns[bare[0] + 1 :]]
        elif not any(isinstance(column, Mapping) and column.get("name") in made for column in columns):
            columns = [*columns, *rule.columns]
    return {**facts, "columns": columns, "recode": [rule.facts for rule in rules]}


def _bare(column: Any, name: str) -> bool:
    """Return whether an entry names a column and gives no bound."""
    return (
        isinstance(column, Mapping) and column.get("name") == name and column.get("low") is None is column.get("high")
    )


def _column(column: Mapping[str, Any], name: str, place: int) -> dict[str, Any]:
    found = {**_COLUMN, **{key: column[key] for key in ("name", "low", "high", *_COLUMN) if key in column}}
    label = found.get("name")
    if not isinstance(label, str) or not label:
        raise ValueError(f"{name}: column {place} must have a name.")
    for key in ("low", "high"):
        if found.get(key) is None:
            raise ValueError(f"{name}: column {label!r} needs {'a lower' if key == 'low' else 'an upper'} bound.")
    for key in ("low", "high", "fill"):
        value = found[key]
        if not validate.is_finite(value) and not (key == "fill" and value is None):
            raise ValueError(f"{name}: column {label!r}: {key} must be a number below 1e308.")
    if found["low"] >= found["high"]:
        raise ValueError(f"{name}: column {label!r} must have low < high; got {found['low']:g} and {found['high']:g}.")
    if found["fill"] is not None and not found["low"] <= found["fill"] <= found["high"]:
        raise ValueError(f"{name}: column {label!r}: fill must lie within the bounds; got {found['fill']:g}.")
    if not all(isinstance(found[key], str) for key in ("unit", "description")):
        raise ValueError(f"{name}: column {label!r}: unit and description must be text.")
    return found


def parse(text: str | bytes, name: str = "data dictionary") -> dict[str, Any]:
    """Read a dictionary file.

    Raises
    ------
    ValueError
        One sentence that names the wrong entry.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"{name}: a data dictionary may have at most {_LONGEST // 1_000_000} MB.")
    try:
        facts = json.loads(text)
        json.dumps(facts, ensure_ascii=False).encode()  # half a surrogate pair can be parsed, but never written
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: this is not a JSON file; a data dictionary of dpviz is needed.") from None
    if not isinstance(facts, dict):
        raise ValueError(f"{name}: this is not a data dictionary; it needs the entry 'columns'.")
    return complete(facts, name)


def dump(facts: Mapping[str, Any]) -> str:
    """Return the facts as the text of a dictionary file."""
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def domain_of(facts: Mapping[str, Any], *, n_public: int | None = None) -> Domain:
    """Return the domain that the facts declare; `n_public` wins over theirs."""
    domain = Domain.box(
        np.array([column["low"] for column in facts["columns"]], dtype=float),
        np.array([column["high"] for column in facts["columns"]], dtype=float),
        scale=facts.get("scale", "column"),
        radius=facts.get("radius"),
        n_public=facts.get("n_public") if n_public is None else n_public,
        rows_per_person=facts.get("rows_per_person", 1),
        columns=[column["name"] for column in facts["columns"]],
        units=[column.get("unit", "") for column in facts["columns"]],
    )
    return domain if facts.get("declared", True) else dataclasses.replace(domain, origin=FROM_THE_DATA)


def promises(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what one person can change at most, one plain sentence each; it follows from declared facts alone."""
    domain = domain_of(facts)
    rows = domain.rows_per_person
    who = "One person" if rows == 1 else f"One person, with up to {rows} rows,"
    reach = rows * np.minimum(domain.box_z, domain.radius) * domain.half_width
    parts = [
        f"{column['name']} by {_round_up(value)}{' ' * bool(column['unit'])}{column['unit']}"
        for column, value in zip(facts["columns"], reach, strict=True)
    ]
    shown = "; ".join(parts[:4]) + (f"; and so on for {len(parts) - 4} more" if len(parts) > 4 else "")
    sentences = [
        f"{who} can change a count by at most {rows}.",
        f"{who} can move a sum, taken from the middle of the bounds, by at most: {shown}.",
    ]
    if domain.n_public is not None:
        first = facts["columns"][0]
        share = _round_up(reach[0] / domain.n_public)
        sentences.append(
            f"On an average over {domain.n_public:,} rows that is about "
            f"{share}{' ' * bool(first['unit'])}{first['unit']} for {first['name']}; noise has to cover it."
        )
    if rows > 1:
        sentences.append(
            f"A promise ε for one row is {rows} ε for one person. dpviz cannot check how many rows a person has."
        )
    return tuple(sentences)


def _round_up(value: float) -> str:
    """Return three digits, never less than the value: the sentence says "at most"."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 2)
    return number(np.ceil(value / unit - 1e-6) * unit)
