"""The papers' reported results as data: one TOML file for each paper, one entry for each figure or table."""

from __future__ import annotations

import csv
import dataclasses
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dpviz.sweeps.spec import sweep_of
from dpviz.sweeps.sweep import Sweep

__all__ = ["FOLDER", "Check", "Item", "Paper", "PrintedNumber", "item_of", "papers"]

FOLDER = Path(__file__).parent
_KINDS = ("below", "scales", "printed", "grows", "flat", "trend")


@dataclasses.dataclass(frozen=True)
class PrintedNumber:
    """A number printed in a paper.

    Attributes
    ----------
    what : a metric, or "auc" for the area under the curve of the loss against epsilon
    rounding : half a unit of the last printed digit if the number has a decimal point, else 0
    """

    data: str
    label: str
    value: float
    what: str = "loss"
    source: str = ""
    rounding: float = 0.0


@dataclasses.dataclass(frozen=True)
class Check:
    """One testable sentence of a claim; see `verdicts` for what each kind compares.

    Attributes
    ----------
    kind : "below" (better against worse, point by point), "scales" (better's loss changes less with k than worse's),
        "printed" (ours against printed numbers), "grows" and "flat" (along an axis), "trend" (the best value of an axis
        grows with a property of the data sets)
    metric : a metric, "auc" or "seconds"
    better, worse : labels of curves
    either : labels that may take the place of `better`: at each point, the lowest of all counts ("below" only)
    axis : the parameter along which values are compared
    fact : the property of the data sets, n_rows or n_features
    data : the sets to which the sentence applies, empty for all
    where : the values of parameters to which the sentence applies, empty for all
    within : relative tolerance; a smaller difference counts for neither side
    """

    kind: str
    metric: str = "loss"
    better: str = ""
    worse: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    axis: str = ""
    fact: str = ""
    data: tuple[str, ...] = ()
    where: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    within: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise ValueError(f"papers: the kind of a check must be one of {', '.join(_KINDS)}; got {self.kind!r}.")


@dataclasses.dataclass(frozen=True)
class Item:
    """One figure or table.

    Attributes
    ----------
    id, name, claim : "fig2", "Figure 2", the paper's claim
    prints : the form in which the paper prints the item: numbers, or "curve only"
    differs : settings in which our rerun differs from the paper
    because : the reason for what contradicts the claim, if it is known
    hours : hours that the full run takes on one core, measured or estimated; 0 if nobody measured them
    sweeps : TOML records of the sweeps to run
    quick : entries that replace those of every record under --quick
    uses : items of the same paper whose runs this item also reads
    runner : "sweep", or "federated" for rounds between parties
    """

    id: str
    name: str
    claim: str
    prints: str = "curve only"
    differs: tuple[str, ...] = ()
    because: str = ""
    hours: float = 0.0
    sweeps: tuple[Mapping[str, Any], ...] = ()
    quick: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    uses: tuple[str, ...] = ()
    runner: str = "sweep"
    checks: tuple[Check, ...] = ()
    printed: tuple[PrintedNumber, ...] = ()
    facts: tuple[tuple[str, ...], ...] = ()

    def planned(self, *, quick: bool) -> list[Sweep]:
        """Return the sweeps to run."""
        sweeps = []
        for record in self.sweeps:
            own = {key: value for key, value in record.items() if key != "quick"}
            given = {**own, **self.quick, **record.get("quick", {})} if quick else own
            left_out = set(own["algorithms"]) - set(given["algorithms"])  # these algorithms' tables are left out, too
            sweeps.append(sweep_of({key: value for key, value in given.items() if key not in left_out}))
        return sweeps

    def shortened(self) -> list[dict[str, Any]]:
        """Return the entries that a quick run replaces, for each sweep."""
        return [{**self.quick, **record.get("quick", {})} for record in self.sweeps]


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper with its items."""

    id: str
    short: str
    title: str
    cite: str
    items: tuple[Item, ...]


@cache
def papers() -> dict[str, Paper]:
    """Return every paper of the registry by its id, in file order."""
    return {path.stem.split("-", 1)[1]: _read(path) for path in sorted(FOLDER.glob("*.toml"))}


def item_of(paper: str, item: str) -> Item:
    """Return one item.

    Raises
    ------
    ValueError
        If there is no such paper or item; the message lists the known ones.
    """
    if paper not in papers():
        raise ValueError(f"reproduce: there is no paper {paper!r}; the papers are {', '.join(papers())}.")
    items = {one.id: one for one in papers()[paper].items}
    if item not in items:
        raise ValueError(f"reproduce: {paper} has no item {item!r}; its items are {', '.join(items)}.")
    return items[item]


def _read(path: Path) -> Paper:
    record = tomllib.loads(path.read_text(encoding="utf-8"))
    items = tuple(_item(one, path.parent) for one in record["item"])
    return Paper(path.stem.split("-", 1)[1], record["short"], record["title"], record["cite"], items)


def _item(record: dict[str, Any], folder: Path) -> Item:
    values: dict[str, Any] = dict(record)
    printed = [PrintedNumber(**one) for one in values.pop("printed_numbers", [])]
    if "printed_file" in values:
        printed += _printed_file(folder / values.pop("printed_file"))
    lists = ("worse", "either", "data")
    checks = [
        Check(**{
            **one, **{key: tuple(one.get(key, ())) for key in lists},
            "where": {name: tuple(given) for name, given in one.get("where", {}).items()},
        })
        for one in values.pop("check", [])
    ]  # fmt: skip
    facts = tuple(tuple(map(str, row)) for row in values.pop("facts", []))
    sweeps = tuple(values.pop("sweep", []))
    for key in ("differs", "uses"):
        values[key] = tuple(values.get(key, ()))
    return Item(**values, sweeps=sweeps, checks=tuple(checks), printed=tuple(printed), facts=facts)


def _printed_file(path: Path) -> list[PrintedNumber]:
    """Read a CSV with the columns data, label, what, value (with the digits that the paper prints) and source."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    values = ((r["data"], r["label"], float(r["value"]), r["what"], r["source"], _rounding(r["value"])) for r in rows)
    return [PrintedNumber(*value) for value in values]


def _rounding(text: str) -> float:
    """Return half a unit of the last digit after the point, 5e3 for 5.8e+05; 0 for a number without a point."""
    digits, _, exponent = text.partition("e")
    _, point, decimals = digits.partition(".")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(decimals)) if point else 0.0
