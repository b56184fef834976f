"""Run a method on a private file: priced first, drawn once, and only after the page has counted it.

Nothing leaves this module but public declarations, prices and released values: no seconds, no number of rows, no cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS, Algorithm, outside
from dpviz.datasets import Dataset
from dpviz.datasets.dictionary import domain_of
from dpviz.numbers import chance, number
from dpviz.postprocessing.together import bet
from dpviz.postprocessing.verdict import private_verdict
from dpviz.privacy.accounts import Account, Claim
from dpviz.privacy.delta import check_delta
from dpviz.runs.single import replay
from dpviz.takeaway.label import label_json
from dpviz.takeaway.replay import replay_parts
from dpviz.trace import Trace

from . import own
from .clusters import clusters
from .count import COUNTED, claims_of, known
from .forms import algorithm_of, answered
from .rehearsal import matching

__all__ = ["checked", "drawn", "priced", "release_of"]

_TRIED = 200  # number of made-up people, more if there are more centers

_drawn_here: dict[str, Trace] = {}  # the releases of this tab, by their claims
_waiting: dict[str, tuple[Dataset, Algorithm]] = {}  # the run that was priced last, by its claim


def checked(asked: str) -> str:
    """Check a form for a private run; return an empty answer, or `refused`. No byte of the file is read.

    Parameters
    ----------
    asked : JSON with `method`, `values`, `columns`, `n_public` and `rows_per_person`
    """

    def answer(form: dict[str, Any]) -> dict[str, Any]:
        _checked(form)
        return {}

    return answered(asked, answer)


def _checked(form: dict[str, Any]) -> Algorithm:
    domain = domain_of(own.declared(form))
    cls = ALGORITHMS[form["method"]]
    if not cls.notion.private:
        raise ValueError(f"{cls.name}: {cls.tagline.rstrip('.')}. It is not run on private data; nothing was read.")
    if words := outside.warning(cls.slug):
        raise ValueError(f"{words}. It is not run on private data here; nothing was read.")
    algorithm = algorithm_of(form)
    n = domain.n_public or 0
    check_delta(cls.name, algorithm.resolved_delta(n), n, private=True)
    algorithm.check_domain(domain, n)
    Claim.of(algorithm, domain)
    # what a method refuses only when it runs must not cost anything, so it first runs on people who are made up
    made = np.random.default_rng(0).uniform(
        domain.low, domain.high, (max(_TRIED, algorithm.n_clusters), domain.n_features)
    )
    algorithm.run(made, domain=domain, seed=0)
    return algorithm


def priced(asked: str, read: own.Read) -> str:
    """Read the file and price a run on it; return its `claim` and, as sentences, its `price`, or `refused`.

    Parameters
    ----------
    asked : JSON as for `checked`, with the stored `claims` on the same file
    read : function that returns bytes of the file
    """
    return answered(asked, lambda form: _priced(form, read))


def _priced(form: dict[str, Any], read: own.Read) -> dict[str, Any]:
    _waiting.clear()
    algorithm, before = _checked(form), Account("", claims_of(form["claims"]))
    data = own.private(form, read)
    domain, claim, relation = data.domain, Claim.of(algorithm, data.domain), algorithm.neighboring
    after = before.after(claim)
    promise = algorithm.guarantee(domain.n_features, data.n_public, rows_per_person=domain.rows_per_person)
    far = domain.length((after.rho_distance(relation) or 0.0) / float(domain.half_width.max()))
    now, then = (bet(one, relation, domain.rows_per_person, far).odds for one in (before, after))
    words = bet(after, relation, domain.rows_per_person, far).on
    price = [
        f"{algorithm.name} claims ε = {number(promise.epsilon)}, δ = {chance(promise.delta)} for {claim.hides}.",
        f"Before: {known(before, relation)}",
        f"Afterwards: {known(after, relation)}",
        f"A bet on {words} is right at most {now} times in 100 today, and {then} times in 100 after this run; a coin "
        "is right 50 times.",
    ]
    if domain.rows_per_person > 1:
        whole = promise.person
        price.insert(
            1,
            f"For a person with {domain.rows_per_person} rows: ε = {number(whole.epsilon)}, δ = {chance(whole.delta)}.",
        )
    _waiting[claim.id] = data, algorithm
    return {"claim": claim.to_dict(), "price": price, "after": known(after, relation)}


def drawn(asked: str, say: Callable[[int, int], None]) -> str:
    """Draw the run that was priced last, once; return what it released, or `refused`.

    Parameters
    ----------
    asked : JSON with the id of the run's `claim`, which the page has counted
    say : function that receives the numbers of releases made and planned
    """
    return answered(asked, lambda form: _drawn(form["claim"], say))


def _drawn(claim: str, say: Callable[[int, int], None]) -> dict[str, Any]:
    if claim not in _waiting:
        raise ValueError("This run has no price any more: ask for it again. Nothing was drawn.")
    data, algorithm = _waiting.pop(claim)
    trace = replay(data, algorithm, None, say).trace
    _drawn_here[claim] = trace
    title, film, _ = replay_parts(trace, counted=COUNTED)
    size = data.domain.n_features, data.n_public
    return {
        "title": title,
        "film": film.replace("<h1>", "<h2>").replace("</h1>", "</h2>"),  # the page has a title of its own
        "verdict": str(private_verdict(trace, data.columns, data.units)),
        "doubts": [*algorithm.advice(*size), *trace.warnings],
        "trace": trace.to_json(),
        "label": label_json(trace, COUNTED),
        **clusters(trace, data, COUNTED),
        "rehearsed": matching(trace),
    }


def release_of(claim: str) -> Trace:
    """Return a release that was counted and drawn in this tab.

    Raises
    ------
    ValueError
        If there is none with this claim.
    """
    if claim not in _drawn_here:
        raise ValueError("This release is not in this tab any more. Nothing was drawn or spent.")
    return _drawn_here[claim]
