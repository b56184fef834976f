"""Write the privacy label: half a page of HTML or JSON, in a fixed order and without colors that judge."""

from __future__ import annotations

import html
import json

import numpy as np

from dpviz.datasets import SAMPLES, title_of_sample
from dpviz.numbers import chance, number, unlogged
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.verdict import private_verdict, reach
from dpviz.privacy.delta import meaning
from dpviz.takeaway.style import document
from dpviz.trace import Trace

__all__ = ["badge", "block", "facts", "headline", "inline", "label", "label_json", "names_of"]

SCHEMA = 1
MOST = 4  # maximum number of columns whose bounds are listed
_FILE = (
    "a file, not verified: its promise was recomputed from its plan, but nobody here can tell whether the run "
    "happened as stated and drew its noise in secret"
)


def names_of(trace: Trace) -> tuple[list[str], list[str]]:
    """Return names and units of the columns; without declared names, the columns are numbered."""
    d = trace.domain.n_features
    columns = list(trace.domain.columns) or [f"column {i + 1}" for i in range(d)]
    return columns, list(trace.domain.units) or [""] * d


def headline(trace: Trace) -> str:
    """Return a file's headline: the data if they are a sample, the number of centers, ε, and the algorithm."""
    kind, _, name = trace.dataset_id.partition(":")
    where = f"{title_of_sample(name)}: " if kind == "sample" and name in SAMPLES else ""
    promise = f" at ε {number(trace.claimed.epsilon)}" if trace.claimed.private else f", {trace.claimed}"
    return f"{where}{len(trace.cluster_centers)} centers{promise}, {trace.name}"


def badge(trace: Trace) -> str:
    """Return the kind of the release, in capitals."""
    if not trace.claimed.private:
        return "NOT PRIVATE" if trace.claimed.exact else "NOT CHECKED HERE"
    if trace.seed is not None:
        return "DEMO: NOT A RELEASE"
    return "PRIVATE RELEASE: NOT VERIFIED" if trace.from_file else "PRIVATE RELEASE"


def facts(trace: Trace, counted: str = "") -> dict[str, str]:
    """Return the label's lines, in their order; every one follows from released values and public facts.

    `counted` says who adds up the runs, if it is not a server or its command line.
    """
    promise, spent = trace.claimed, trace.spent
    if promise.private:
        whose = "by its authors, " * promise.by_authors
        words = f"{whose}{promise.notion}: ε {number(promise.epsilon)}, δ {chance(promise.delta)}"
        if promise.mu is not None:
            words += f", μ {number(promise.mu)}"
        if promise.rho_distance is not None:
            words += f", for moves of up to {reach(trace)}"
        rows, pure = promise.rows_per_person, not promise.delta
        words += f", so {meaning(promise.neighboring, rows_per_person=rows, pure=pure, far=reach(trace))}"
        limit = bet_of(promise, far=reach(trace))
        bet = f"on {limit.on}: right at most {limit.odds} times in 100 (a coin 50, no privacy 100)"
    else:
        words, bet = ("none", "100 in 100: nothing is protected") if promise.exact else (str(promise), "not known here")
    person = ""
    if promise.private and promise.rows_per_person > 1:
        whole = promise.person
        person = (
            f"; one person has up to {promise.rows_per_person} rows: ε {number(whole.epsilon)}, δ {chance(whole.delta)}"
        )
    lines = {
        "Protects": f"{promise.unit}{person}" if promise.private else "nobody" if promise.exact else "not known here",
        "Promise": words,
        "In a bet": bet,
        "Spent by this run": f"ε {number(spent.epsilon)}, δ {chance(spent.delta)}" if promise.private else "no budget",
        **({"Counted": counted} if counted else {}),
        "Trusts": promise.trust,
        "Public inputs": _public(trace),
        "Not protected": "facts about everybody; families and other groups; the fact that a run took place, and its "
        "duration",
        "Result": _result(trace),
        **({"At a bound": bounds} if (bounds := bounds_sentence(trace, *names_of(trace))) else {}),
        **({"Noise from": trace.sampler} if trace.sampler else {}),
        "Numbers from": _FILE if trace.from_file else "the run itself, which made this label",
    }
    return lines


def _public(trace: Trace) -> str:
    columns, units = names_of(trace)
    domain = trace.domain
    bounds = []
    for j, (name, unit) in enumerate(zip(columns, units, strict=True)):
        plain = unlogged(unit)
        log = plain is not None
        ends = " to ".join(
            number(np.expm1(end) if log else end, 6) for end in (float(domain.low[j]), float(domain.high[j]))
        )
        words = f"{name} {ends} {plain if log else unit}".rstrip() + ", in logarithms" * log
        bounds.append(f"{words}, weight {number(domain.weights[j])}" if domain.weights else words)
    more = f" and {len(bounds) - MOST} more" if len(bounds) > MOST else ""
    size = "" if domain.n_public is None else f"; about {domain.n_public:,} rows"
    origin = "" if domain.origin == "declared" else f" ({domain.origin})"
    start = trace.parameters.get("public_centers")
    begun = f"; {len(start)} first centers from rows that were declared public, which nothing protects" if start else ""
    return f"{', '.join(bounds[:MOST])}{more}{origin}{size}; {trace.name} with all its parameters{begun}"


def _result(trace: Trace) -> str:
    if trace.claimed.exact:
        return f"{len(trace.cluster_centers)} exact centers"
    verdict = private_verdict(trace, *names_of(trace))
    return " · ".join(verdict.parts[:-1])


def block(trace: Trace, counted: str = "") -> str:
    """Return the label as HTML for use in a page; `counted` is as in `facts`."""
    rows = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th><td{_raw(name, trace)}>{html.escape(text)}</td></tr>"
        for name, text in facts(trace, counted).items()
    )
    return (
        f'<section class="label"><header><b>PRIVACY LABEL</b><span class="badge">{badge(trace)}</span></header>'
        f"<table>{rows}</table></section>"
    )


def _raw(line: str, trace: Trace) -> str:
    """Return a tooltip with all digits of a line's numbers, as an HTML attribute; it is empty for most lines."""
    promise = {"Promise": trace.claimed, "Spent by this run": trace.spent}.get(line)
    return (
        f' title="ε {float(promise.epsilon)!r}, δ {float(promise.delta)!r}"'
        if promise is not None and promise.private
        else ""
    )


def label(trace: Trace) -> str:
    """Return the label as a document."""
    return document(f"Privacy label: {headline(trace)}", f"{block(trace)}{footer(trace)}")


def inline(trace: Trace) -> str:
    """Return the label for a notebook's cell, in a plain style of its own that does not affect the rest of the page."""
    left = 'style="text-align:left"'
    rows = "".join(
        f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
        for name, text in facts(trace).items()
    )
    return f"<p><b>{html.escape(trace.name)}</b> [{badge(trace)}]</p><table>{rows}</table>"


def footer(trace: Trace) -> str:
    """Return the last line of a page about a run, as HTML: whether the run is private, and the version of dpviz."""
    return f"<footer>{html.escape(trace.notice)}. Made with dpviz {html.escape(trace.version)}.</footer>"


def label_json(trace: Trace, counted: str = "") -> str:
    """Return the label as JSON: `schema`, `badge`, `notice`, the lines by their names, both prices with all digits.

    `counted` is as in `facts`.
    """
    lines = {name.lower().replace(" ", "_"): text for name, text in facts(trace, counted).items()}
    record = {"schema": SCHEMA, "badge": badge(trace), "notice": trace.notice, "version": trace.version, **lines}
    for name, promise in (("claimed", trace.claimed), ("spent", trace.spent)):
        if trace.claimed.private:
            record[name] = {"epsilon": promise.epsilon, "delta": promise.delta, "mu": promise.mu}
    return json.dumps(record, ensure_ascii=False)
