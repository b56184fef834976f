"""Read and check data dictionaries: JSON files with a table's declared public facts."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpviz import validate
from dpviz.datasets.earth import Equirectangular
from dpviz.datasets.meanings import suggested
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.recode import Recoding
from dpviz.domain import LIGHTEST, Domain
from dpviz.numbers import log_unit, number

__all__ = [
    "FROM_THE_DATA", "PRESETS", "amended", "complete", "domain_of", "dump", "facts_beside", "parse", "promises",
    "weigh", "written_to",
]  # fmt: skip

PRESETS: dict[str, tuple[float, float, str]] = {  # low, high, unit: the bounds that a column's meaning implies
    **{name: suggested(name) for name in ("percent", "age", "latitude", "longitude")},
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
_DISTANCES: dict[str, Any] = {"weight": 1.0, "log": False}  # left out where they say nothing
MOST_CLUSTERS = 256  # largest number of clusters that every algorithm accepts
_LONGEST = 1_000_000  # maximum number of characters in a dictionary file
_MOST_COLUMNS = 1024  # maximum number of declared columns, including those that rules make


def complete(facts: Mapping[str, Any], name: str = "data dictionary") -> dict[str, Any]:
    """Check the facts and add the defaults; messages call the dictionary `name`.

    Keys: columns (each with name, low, high and optionally unit, description, fill, which replaces a missing cell,
    weight, by which distances in the column count more or less than in others, and log, which is true if the column is
    clustered as ln(1 + value)),
    scale, radius, n_public, n_is ("exact" or "approximate"), declared (False if bounds were computed from rows: NOT
    PRIVATE), unit_of_privacy, rows_per_person, origin, licence, title, description, label, n_clusters, view (the two
    columns to draw first), picture ([height, width] where the columns are a picture's cells, row by row), form (the
    format of the file: header, sheet, header_row, separator, decimal, decimal_of, thousands, n_columns, missing_marks,
    no_missing_marks, lines_below, see `readers.form.Form`), recode (rules that turn columns of text and dates into
    numbers, see `readers.recode.Recoding`; a column listed without bounds, or not at all, stands for all columns that
    its rule makes), projection (from latitude and longitude to kilometers, see `earth.Equirectangular`). A column
    without bounds may carry its own rule, as `recode`: "ordinal:never,rarely,often". Other keys are dropped here, but
    refused in a file.

    Raises
    ------
    ValueError
        If an entry is wrong; the message names it.
    """
    facts = _with_recoded(_with_rules(facts, name), name)
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
        _check(full, names, name)
    except TypeError as problem:
        raise ValueError(str(problem)) from None
    return full


def _check(full: dict[str, Any], names: set[str], name: str) -> None:
    """Raise an error for the first wrong entry outside the columns, which are called `names`; normalize the form."""
    validate.one_of(name, ("exact", "approximate"), n_is=full["n_is"])
    validate.one_of(name, (True, False), declared=full["declared"])
    validate.integer(name, 1, MOST_CLUSTERS, n_clusters=full["n_clusters"])
    if full["rows_per_person"] is None:
        raise ValueError(
            f"{name}: rows_per_person must say how many rows one person has at most: 1 if one row is one person "
            "(on the command line: --rows-per-person 1)."
        )
    full["form"] = Form.checked(full["form"], name)
    if full["label"] is not None and not isinstance(full["label"], str):
        raise ValueError(f"{name}: label must be the name of a column, or null.")
    for key in ("title", "description", "unit_of_privacy", "origin", "licence"):
        if not isinstance(full[key], str):
            raise ValueError(f"{name}: {key} must be text.")
    if full["view"] is not None and not (_is_pair(full["view"], str) and names.issuperset(full["view"])):
        raise ValueError(f"{name}: view must name two declared columns.")
    size = full["picture"]
    if size is not None and not (_is_pair(size, int) and min(size) > 0 and size[0] * size[1] == len(names)):
        raise ValueError(f"{name}: picture must be a height and a width whose product is the number of columns.")
    domain_of(full)
    if full["projection"] is not None:
        Equirectangular.parse(full["projection"], name)


def _is_pair(value: Any, kind: type) -> bool:
    """Return whether a value is a list of two values of exactly this type; a bool does not count as a number."""
    return isinstance(value, list) and len(value) == 2 and all(type(one) is kind for one in value)


def _with_rules(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the facts with the columns' own rules moved to `recode`."""
    columns, listed = facts.get("columns"), facts.get("recode") or []
    if not isinstance(columns, list) or not isinstance(listed, list):
        return facts
    rules, bare = [], []
    for column in columns:
        text = column.get("recode") if isinstance(column, Mapping) else None
        if text is not None:
            label = column.get("name")
            if not isinstance(text, str) or not isinstance(label, str):
                raise ValueError(f"{name}: the rule of a column must be text, such as ordinal:never,rarely,often.")
            if not _bare(column, label):
                raise ValueError(f"{name}: column {label!r} has bounds and a rule; keep one of them.")
            rules.append(Recoding.of(label, text).facts)
        bare.append(
            {key: value for key, value in column.items() if key != "recode"} if isinstance(column, Mapping) else column
        )
    return {**facts, "columns": bare, "recode": [*listed, *rules]}


def _with_recoded(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the facts with each column that has a rule in `recode` replaced by the columns that the rule makes."""
    listed, columns = facts.get("recode") or [], facts.get("columns", [])
    if not isinstance(listed, list) or not isinstance(columns, list):
        return facts
    rules = [Recoding.parse(entry, name) for entry in listed]
    if len({rule.column for rule in rules}) < len(rules):
        raise ValueError(f"{name}: 'recode' names a column twice.")
    for rule in rules:
        names = {column["name"] for column in rule.columns}
        bare = [place for place, column in enumerate(columns) if _bare(column, rule.column)]
        if bare:
            known = {key: columns[bare[0]][key] for key in ("fill", "weight") if key in columns[bare[0]]}
            columns = [*columns[: bare[0]], *({**c, **known} for c in rule.columns), *columns[bare[0] + 1 :]]
        elif not any(isinstance(column, Mapping) and column.get("name") in names for column in columns):
            columns = [*columns, *rule.columns]
    return {**facts, "columns": columns, "recode": [rule.facts for rule in rules]}


def _bare(column: Any, name: str) -> bool:
    """Return whether an entry is for the column `name` and gives no bounds."""
    return (
        isinstance(column, Mapping) and column.get("name") == name and column.get("low") is None is column.get("high")
    )


def _column(column: Mapping[str, Any], name: str, place: int) -> dict[str, Any]:
    entry = {**_COLUMN, **{key: column[key] for key in ("name", "low", "high", *_COLUMN) if key in column}}
    label = entry.get("name")
    if not isinstance(label, str) or not label:
        raise ValueError(f"{name}: column {place} must have a name.")
    for key in ("low", "high"):
        if entry.get(key) is None:
            raise ValueError(
                f"{name}: column {label!r} needs {'a lower' if key == 'low' else 'an upper'} bound: fill it in, give "
                "the column a rule in 'recode', or take the column out (on the command line: --bounds "
                f"'{label}=LOW..HIGH', --recode '{label}=RULE', or --columns with the others)."
            )
    entry |= {key: column[key] for key, usual in _DISTANCES.items() if column.get(key, usual) != usual}
    for key in ("low", "high", "fill", "weight"):
        value = entry.get(key, 1.0)
        if not validate.is_finite(value) and not (key == "fill" and value is None):
            raise ValueError(f"{name}: column {label!r}: {key} must be a number below 1e308.")
    if entry["low"] >= entry["high"]:
        raise ValueError(f"{name}: column {label!r} must have low < high; got {entry['low']:g} and {entry['high']:g}.")
    if entry["fill"] is not None and not entry["low"] <= entry["fill"] <= entry["high"]:
        raise ValueError(f"{name}: column {label!r}: fill must lie within the bounds; got {entry['fill']:g}.")
    if entry.get("log", True) is not True:
        raise ValueError(f"{name}: column {label!r}: log must be true or false.")
    if "log" in entry and entry["low"] < 0:
        raise ValueError(
            f"{name}: column {label!r} is clustered as ln(1 + value), so its lower bound must be 0 or more; got "
            f"{entry['low']:g}."
        )
    if not LIGHTEST <= entry.get("weight", 1.0) <= 1 / LIGHTEST:
        raise ValueError(
            f"{name}: column {label!r}: its weight must lie between {LIGHTEST:g} and {1 / LIGHTEST:g}; got "
            f"{entry['weight']:g}."
        )
    if not all(isinstance(entry[key], str) for key in ("unit", "description")):
        raise ValueError(f"{name}: column {label!r}: unit and description must be text.")
    return entry


def parse(text: str | bytes, name: str = "data dictionary") -> dict[str, Any]:
    """Read a dictionary file.

    Raises
    ------
    ValueError
        If an entry is wrong; the message names it.
    """
    return complete(_parsed(text, name), name)


def _parsed(text: str | bytes, name: str) -> dict[str, Any]:
    """Return the unchecked entries of a dictionary file."""
    if len(text) > _LONGEST:
        raise ValueError(f"{name}: a data dictionary may have at most {_LONGEST // 1_000_000} MB.")
    try:
        facts = json.loads(text)
        json.dumps(facts, ensure_ascii=False).encode()  # a single surrogate can be parsed but not written
    except (ValueError, RecursionError):
        raise ValueError(f"{name}: this is not a JSON file; a data dictionary of dpviz is needed.") from None
    if not isinstance(facts, dict):
        raise ValueError(f"{name}: this is not a data dictionary; it needs the entry 'columns'.")
    # an unknown entry may be a misspelled one
    if unknown := [key for key in facts if key not in (*_DEFAULTS, "columns", "left_out")]:
        raise ValueError(
            f"{name}: a data dictionary has no entry {str(unknown[0])[:40]!r}; its entries are columns, left_out, "
            f"{', '.join(_DEFAULTS)}. (`dpviz describe FILE` drafts a dictionary of this version.)"
        )
    return facts


def written_to(path: Path) -> Path:
    """Return the path for writing a file's dictionary: NAME.json, or NAME.dictionary.json if NAME.json holds data."""
    plain = path.with_suffix(".json")
    taken = plain == path or (plain.is_file() and not is_dictionary(plain))
    return path.with_suffix(".dictionary.json") if taken else plain


def facts_beside(path: Path, given: Path | None = None) -> tuple[str, dict[str, Any] | None]:
    """Return the name of a file's dictionary, and its unchecked facts; these are None if there is no dictionary.

    Parameters
    ----------
    path : the data file; its dictionary is NAME.dictionary.json, NAME.json or, with its ending, NAME.csv.json
    given : the dictionary, if it has another name

    Raises
    ------
    ValueError
        If the given file is not a dictionary, or the dictionary next to the data cannot be read.
    """
    if given is not None:
        if not given.is_file():
            raise ValueError(f"--dictionary: the file {given.name} does not exist.")
        return given.name, _parsed(given.read_bytes(), given.name)
    for place in (path.with_suffix(".dictionary.json"), path.with_suffix(".json"), Path(f"{path}.json")):
        if place != path and is_dictionary(place):
            return place.name, _parsed(place.read_bytes(), place.name)
    return written_to(path).name, None


def is_dictionary(place: Path) -> bool:
    """Return whether the file exists and is a dictionary, not the trace of a run or data with the same name."""
    if not place.is_file():
        return False
    text = place.read_bytes()[:_LONGEST]
    return b'"columns"' in text and not text.startswith(b'{"schema"')


def amended(
    facts: Mapping[str, Any] | None,
    name: str,
    *,
    columns: Sequence[str] | None = None,
    bounds: Mapping[str, tuple[float, float, str]] | None = None,
    recode: Sequence[Recoding] = (),
    low: float | Sequence[float] | None = None,
    high: float | Sequence[float] | None = None,
    rows_per_person: int | None = None,
    n_public: int | None = None,
    logs: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
) -> dict[str, Any] | None:
    """Return a dictionary's facts, in which the other arguments replace entries; return None if no column is declared.

    Parameters
    ----------
    facts : a dictionary's facts, before `complete` checks them; None if there is no dictionary
    name : name of the dictionary in messages
    columns : names of the columns to cluster, in this order; None means all declared columns
    bounds : bounds and unit by column name; the dictionary need not list these columns
    recode : rules by column name; the dictionary need not list these columns
    low, high : the bounds of the columns without a rule: one number for all, or one per column
    logs : names of the columns that are clustered as ln(1 + value)
    weights : weights by column name

    Raises
    ------
    ValueError
        If an entry is wrong; the message names it.
    """
    bounds, given = dict(bounds or {}), {rule.column: rule for rule in recode}
    if len(given) < len(recode):
        raise ValueError("datasets: recode each column once.")
    _refuse_clashes(bounds, given, low, high, declared=facts is not None)
    if facts is None and not bounds and (not recode or low is not None):
        if logs or weights:
            raise ValueError("datasets: --log and --weight need bounds by name (--bounds NAME=LOW..HIGH).")
        return None
    facts = dict(_with_rules(facts or {"columns": []}, name))
    declared, left_out = facts.get("columns"), facts.get("left_out") or []
    entries = [*declared, *left_out] if isinstance(declared, list) and isinstance(left_out, list) else []
    if len(entries) < len(declared or ()) or not all(isinstance(entry, Mapping) for entry in entries):
        return complete(facts, name)  # raises the error
    rules = {rule.column: rule for rule in (Recoding.parse(entry, name) for entry in facts.get("recode") or [])}
    known: dict[str, Any] = {str(entry.get("name")): dict(entry) for entry in reversed(entries)}
    wanted = [str(entry.get("name")) for entry in declared or []]
    for column, rule in given.items():
        fill = known.get(column, {}).get("fill")
        known[column] = {"name": column, "fill": fill, "low": None, "high": None}
        replaced = {one["name"] for one in rules[column].columns} if column in rules else set()
        wanted = list(dict.fromkeys(column if one in replaced else one for one in wanted))
        rules[column] = rule
    for column, (smallest, largest, unit) in bounds.items():
        known[column] = {"unit": unit} | known.get(column, {"name": column}) | {"low": smallest, "high": largest}
        known[column].pop("recode", None)
        rules.pop(column, None)
    if columns is not None:
        wanted = _chosen(columns, known, rules, name)
    else:
        wanted += [column for column in (*bounds, *given) if column not in wanted]
    facts["columns"] = [known[column] for column in wanted]
    recoded = {column: {one["name"] for one in rule.columns} for column, rule in rules.items()}
    if columns is not None:
        rules = {column: rule for column, rule in rules.items() if {column, *recoded[column]} & set(wanted)}
        facts |= {"view": None, "picture": None}
    facts["recode"] = [rule.facts for rule in rules.values()]
    if low is not None and high is not None:
        _bound_all(facts["columns"], {one for names in recoded.values() for one in names} | set(recoded), low, high)
        facts["declared"] = True
    if bounds.keys() >= {column["name"] for column in facts["columns"]}:
        facts["declared"] = True
    weigh(facts["columns"], recoded, logs, weights or {})
    facts |= {} if n_public is None else {"n_public": n_public}
    facts |= {} if rows_per_person is None else {"rows_per_person": rows_per_person}
    return complete(facts, name)


def weigh(
    columns: Sequence[dict[str, Any]],
    made: Mapping[str, Iterable[str]],
    logs: Sequence[str],
    weights: Mapping[str, float],
) -> None:
    """Mark the columns that are clustered as logarithms, and write weights.

    Parameters
    ----------
    columns : entries of a dictionary, which are changed
    made : names of the columns that a rule makes, by the column with the rule; its weight is that of each of them

    Raises
    ------
    ValueError
        If a column is not among the entries, or a rule makes the numbers of a column in `logs`.
    """
    known = {column["name"]: column for column in columns}
    for what, names in (("--log", logs), ("--weight", tuple(weights))):
        for name in names:
            if what == "--log" and name in made:
                raise ValueError(f"{what}: column {name!r} has a rule, which makes its numbers; keep one of them.")
            if name not in known and not set(made.get(name, ())) & set(known):
                raise ValueError(f"{what}: column {name!r} is not among the columns to cluster.")
    for name in logs:
        known[name]["log"] = True
    for name, weight in weights.items():
        for one in {name, *made.get(name, ())} & set(known):
            known[one]["weight"] = weight


def _refuse_clashes(
    bounds: Mapping[str, Any], rules: Mapping[str, Recoding], low: object, high: object, *, declared: bool
) -> None:
    """Raise an error if bounds by name, bounds for all columns and rules contradict each other."""
    if (bounds or declared) and (low is None) != (high is None):
        raise ValueError("datasets: low and high must be given together.")
    if bounds and low is not None:
        raise ValueError("datasets: give bounds by name (--bounds), or --low and --high, not both.")
    if twice := next((column for column in bounds if column in rules), None):
        raise ValueError(f"datasets: column {twice!r} has bounds and a rule; keep one of them.")


def _chosen(columns: Sequence[str], known: Mapping[str, Any], rules: Mapping[str, Recoding], name: str) -> list[str]:
    """Return the columns that the names select: the column of that name, or all columns that its rule makes."""
    wanted: list[str] = []
    for column in columns:
        recoded = [one["name"] for one in rules[column].columns] if column in rules else []
        entries = [column] if column in known else [one for one in recoded if one in known]
        if not entries and column not in rules:
            raise ValueError(f"{name}: there is no column {column!r} in it; give --bounds {column}=LOW..HIGH as well.")
        wanted += entries
    if len(set(wanted)) < len(wanted) or not columns:
        raise ValueError(f"{name}: name at least one column, and each only once.")
    return wanted


def _bound_all(
    columns: list[dict[str, Any]], ruled: set[str], low: float | Sequence[float], high: float | Sequence[float]
) -> None:
    """Give the columns without a rule their bounds."""
    free = [column for column in columns if column["name"] not in ruled]
    bounds = [np.asarray(bound, dtype=float).reshape(-1) for bound in (low, high)]
    if any(bound.size not in (1, len(free)) for bound in bounds):
        raise ValueError(f"datasets: low and high must have 1 or {len(free)} values, one per column of the dictionary.")
    for column, a, b in zip(free, *(np.broadcast_to(bound, (len(free),)).tolist() for bound in bounds), strict=True):
        column |= {"low": a, "high": b}


def dump(facts: Mapping[str, Any]) -> str:
    """Return the facts as the text of a dictionary file."""
    return json.dumps(facts, indent=1, ensure_ascii=False) + "\n"


def domain_of(facts: Mapping[str, Any]) -> Domain:
    """Return the domain that the facts declare; a column with `log` has bounds and a unit of logarithms."""
    columns = facts["columns"]
    ends = np.array([[column["low"], column["high"]] for column in columns], dtype=float)
    logs = np.array([bool(column.get("log")) for column in columns])
    ends[logs] = np.log1p(ends[logs])
    domain = Domain.box(
        *ends.T,
        scale=facts.get("scale", "column"),
        radius=facts.get("radius"),
        n_public=facts.get("n_public"),
        rows_per_person=facts.get("rows_per_person", 1),
        columns=[column["name"] for column in columns],
        units=[log_unit(c.get("unit", "")) if c.get("log") else c.get("unit", "") for c in columns],
        weights=[column.get("weight", 1.0) for column in columns],
    )
    domain = dataclasses.replace(domain, closed=_closed(facts))
    return domain if facts.get("declared", True) else dataclasses.replace(domain, origin=FROM_THE_DATA)


def _closed(facts: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the columns that no value can leave: those of declared words, and all columns of a picture."""
    rules = [Recoding.parse(entry, "data dictionary") for entry in facts.get("recode", [])]
    made = {column["name"] for rule in rules if rule.code != "days" for column in rule.columns}
    return tuple(
        j for j, column in enumerate(facts["columns"]) if facts.get("picture") is not None or column["name"] in made
    )


def promises(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """State in plain sentences how much one person can change at most, computed from declared facts alone."""
    domain = domain_of(facts)
    rows = domain.rows_per_person
    who = "One person" if rows == 1 else f"One person, with up to {rows} rows,"
    reach = rows * np.minimum(domain.box_z, domain.radius) * domain.half_width
    parts = [
        f"{name} by {_round_up(value)}{' ' * bool(unit)}{unit}"
        for name, unit, value in zip(domain.columns, domain.units, reach, strict=True)
    ]
    lengths = "; ".join(parts[:4]) + (f"; and so on for {len(parts) - 4} more" if len(parts) > 4 else "")
    sentences = [
        f"{who} can change a count by at most {rows}.",
        f"{who} can change a sum, measured from the middle of the bounds, by at most: {lengths}.",
    ]
    if domain.n_public is not None:
        name, unit = domain.columns[0], domain.units[0]
        share = _round_up(reach[0] / domain.n_public)
        sentences.append(
            f"In an average over {domain.n_public:,} rows, that is about "
            f"{share}{' ' * bool(unit)}{unit} for {name}; noise has to cover it."
        )
    if rows > 1:
        sentences.append(
            f"A promise of ε for one row is at least {rows} ε for one person with {rows} rows, and more under Gaussian "
            "noise. dpviz cannot check how many rows a person has."
        )
    return tuple(sentences)


def _round_up(value: float) -> str:
    """Return the value rounded up to three significant digits; the sentence around it says "at most"."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 2)
    return number(np.ceil(value / unit - 1e-6) * unit)
