"""Declare the controls of Plan: public facts and questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.params import ParamSpec
from dpviz.planning.facts import MOST_CLUSTERS, MOST_PEOPLE
from pages._ui.data.plan import form as facts
from pages._ui.explore.form.fields import choice
from pages._ui.explore.form.forms import label_of
from pages._ui.frame import keys
from pages._ui.frame.address.scene import Control, number


def plan(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls for the declared facts and the questions, which default to the town's declaration."""
    typed = (
        ("columns", keys.PLAN_COLUMNS, "Columns"),
        ("units", keys.PLAN_UNITS, "Units"),
        ("low", keys.PLAN_LOW, "Lowest values"),
        ("high", keys.PLAN_HIGH, "Highest values"),
    )
    start = facts.START
    number_or_none = ParamSpec(None, low=0, optional=True, kind="float")
    return [
        Control("n", keys.PLAN_N, "People", number(start[keys.PLAN_N], 2, MOST_PEOPLE), always=True),
        *(Control(word, key, title, ParamSpec(start[key]), accepts=_line) for word, key, title in typed),
        Control("scale", keys.PLAN_SCALE, "Scale of the columns", choice(start[keys.PLAN_SCALE], tuple(facts.SCALES))),
        Control("k", keys.PLAN_K, label_of("n_clusters"), number(start[keys.PLAN_K], 1, MOST_CLUSTERS), always=True),
        Control("like", keys.PLAN_LIKE, "Shape of the data", choice("", facts.LIKE)),
        Control(
            "a",
            keys.PLAN_ALGORITHMS,
            "Algorithms",
            choice(facts.FIRST, facts.offered()),
            many=True,
            most=facts.MOST_METHODS,
        ),
        Control("within", keys.PLAN_WITHIN, "Noise per center at most", number_or_none, typed=True),
        Control("e", keys.PLAN_EPSILON, label_of("epsilon"), number_or_none, typed=True),
    ]


def _line(text: str) -> str:
    if len(text) > 2_000 or not text.isprintable():
        raise ValueError("not a line of text")
    return text
