"""Write a run as a script or notebook: in DEMO it gives the same centers bit for bit; in PRIVATE it spends again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.outside import ORIGINS
from dpviz.escape import line, plain
from dpviz.privacy.guarantee import Notion
from dpviz.takeaway.foreign import algorithm_of
from dpviz.takeaway.label import badge, facts
from dpviz.trace import Trace

__all__ = ["as_notebook", "code_cell", "markdown_cell", "notebook", "script"]

_AGAIN = "# Running this spends the budget AGAIN: it is a new release, which is booked on the file's account first.\n"
_SAME = "# A simulation: the seed is known, so nothing here is private. It gives the same centers, bit for bit.\n"
_CLAIMED = f"# NOT PRIVATE: {Notion.CLAIMED}.\n"
_WHICH = (
    "if len(sys.argv) not in (2, 3):\n"
    '    raise SystemExit("say which file: python THIS.py FILE.csv, and its DICTIONARY.json if it has one")\n'
    "path, *dictionary = map(Path, sys.argv[1:])\n"
)
_HERE = 'path = Path("your-file.csv")\ndictionary = []  # [Path("its-dictionary.json")] if it has one\n'
_EXACT = "# NOT PRIVATE: computed from the raw rows without noise.\n"


def literal(value: Any) -> str:
    """Return a public value as Python source, which is exact for floats, including infinities."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, list | tuple):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    return repr(value)


def parts(trace: Trace) -> list[tuple[str, str]]:
    """Return the code in pieces with headings; scripts and notebooks are made of these."""
    private = trace.seed is None
    algorithm_of(trace)  # refuses invalid names and values of parameters, because they would become code
    values = ", ".join(f"{name}={literal(value)}" for name, value in trace.parameters.items())
    run = f"algorithm = ALGORITHMS[{trace.algorithm!r}]({values})\n"
    if private:
        run += "accounts = Accounts.open()\naccounts.reserve(accounts.key(content), Claim.of(algorithm, domain))\n"
        run += 'trace = algorithm.run(X, domain=domain, noise="secure")'
    else:
        noise = ', noise="none"' * trace.noiseless
        seed, name = literal(trace.seed), trace.dataset_id
        run += f"trace = algorithm.run(X, domain=domain, seed={seed}, dataset_id={name!r}{noise})"
    pieces = [("Load", _load(trace)), ("Run", run), ("Look", "print(trace.cluster_centers)\nprint(trace.spent)")]
    if not private:
        expected = literal(np.asarray(trace.cluster_centers).tolist())
        check = (
            f"expected = np.array({expected})\n"
            f"assert dpviz.__version__ == {trace.version!r}, "
            f"{f'made with dpviz {trace.version}: numbers may differ'!r}\n"
            'assert np.array_equal(trace.cluster_centers, expected), "the rows or this machine\'s libraries differ"'
        )
        pieces.append(("The same centers, bit for bit", check))
    return pieces


def _load(trace: Trace) -> str:
    kind, _, name = trace.dataset_id.partition(":")
    head = "import sys\nfrom pathlib import Path\n\nimport numpy as np\n\nimport dpviz\n"
    head += "from dpviz.algorithms import ALGORITHMS\n"
    here = ORIGINS.get(trace.algorithm)
    if here is not None and here.place.endswith(".py"):
        head += f"from dpviz.algorithms import add_files\n\nadd_files([{here.place!r}])  # lies beside this script\n"
    if here is not None and ALGORITHMS[trace.algorithm].notion is Notion.CLAIMED:
        head += f"from dpviz.algorithms import add_programs\n\nadd_programs([{here.place!r}])\n"
    if here is not None and trace.seed is None:
        head += _asked(trace.algorithm)
    if kind in ("sample", "blobs", "painted") and trace.seed is not None:
        known = name if kind == "sample" else trace.dataset_id
        return f"{head}from dpviz.datasets import load\n\ndata = load({known!r})\nX, domain = data.X, data.domain"
    domain, private = trace.domain, trace.seed is None
    columns = list(domain.columns)
    logs = domain.logs.tolist()
    if columns:
        ends = domain.without_logs(np.array([domain.low, domain.high]))
        pairs = zip(columns, ends.T.tolist(), strict=True)
        bounds = ", ".join(f"{name!r}: ({a!r}, {b!r}, '')" for name, (a, b) in pairs)
        taken = [name for name, log in zip(columns, logs, strict=True) if log]
        declared = f"columns={literal(columns)}, bounds={{{bounds}}}" + (f", logs={literal(taken)}" if taken else "")
    else:
        declared = f"low={literal(domain.low.tolist())}, high={literal(domain.high.tolist())}"
    form = f"private=True, header={bool(columns)}, content=content" if private else "content=content"
    facts_of = ", ".join(f"{key!r}: {literal(value)}" for key, value in domain.to_dict().items())
    return (
        f"{head}from dpviz.datasets import load_csv\nfrom dpviz.domain import Domain\n"
        f"{'from dpviz.privacy.accounts import Accounts, Claim' + chr(10) if private else ''}\n"
        f"domain = Domain.from_dict({{{facts_of}}})\n"
        f"{_WHICH}"
        "content = path.read_bytes()\n"
        "if dictionary:\n"
        f"    data = load_csv(path, dictionary=dictionary[0], {form})\n"
        "else:\n"
        f"    data = load_csv(path, {declared}, n_public={literal(domain.n_public)}, {form})\n"
        f"{_order(columns, logs)}"
        "X = data.X"
    )


def _asked(slug: str) -> str:
    """Return code that stops before it reads private rows with an outside algorithm that is not audited where it runs.

    Whoever runs the code consents by a constant, because a notebook has no command line.
    """
    return (
        "from dpviz.algorithms import outside\n\n"
        "UNAUDITED = False  # True lets it read private rows on its authors' word alone\n"
        f"if (whose := outside.warning({slug!r})) and not UNAUDITED:\n"
        f'    raise SystemExit(whose + ". Run its audit first (dpviz audit {slug}), '
        'or set UNAUDITED = True; nothing was read.")\n\n'
    )


def _order(columns: list[str], logs: list[bool]) -> str:
    """Return code that stops before anything is booked if the columns are not those of the run, in their order."""
    if not columns:
        return ""
    words = "the file or its dictionary has other columns than the run, or in another order; nothing was run"
    code = f"if list(data.columns) != {literal(columns)}:\n    raise SystemExit({words!r})\n"
    if any(logs):
        words = "the dictionary takes the logarithms of other columns than the run; nothing was run"
        code += f'if [unit.startswith("ln(1 + ") for unit in data.units] != {logs}:\n    raise SystemExit({words!r})\n'
    return code


def _first(trace: Trace) -> str:
    if not trace.claimed.private:
        return _EXACT if trace.claimed.exact else _CLAIMED
    return _AGAIN if trace.seed is None else _SAME


def script(trace: Trace) -> str:
    """Return a Python script; if the run has a seed, it ends with a check, which requires the same version of dpviz."""
    body = "\n\n".join(code for _, code in parts(trace))
    return f"{_first(trace)}# {line(trace.name)}, dpviz {line(trace.version)}\n{body}\n"


def notebook(trace: Trace) -> str:
    """Return a Jupyter notebook (format 4.5) of the same code, with the promise on top and the player at the end."""
    promise = "\n".join(f"- **{name}**: {plain(text)}" for name, text in facts(trace).items())
    cells = [markdown_cell(f"# {plain(trace.name)}\n\n**{badge(trace)}**\n\n{promise}\n\n{_first(trace).lstrip('# ')}")]
    for heading, code in parts(trace):
        if trace.seed is None or ":" not in trace.dataset_id:
            code = code.replace(_WHICH, _HERE)
        cells += [markdown_cell(f"## {heading}"), code_cell(code)]
    return as_notebook([*cells, markdown_cell("## Step through it"), code_cell("trace.show()")])


def as_notebook(cells: Sequence[Mapping[str, Any]], **metadata: Any) -> str:
    """Return cells as a Jupyter notebook (format 4.5), with further metadata."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    record = {
        "cells": numbered, "metadata": {"kernelspec": kernel, **metadata}, "nbformat": 4, "nbformat_minor": 5,
    }  # fmt: skip
    return json.dumps(record, indent=1, ensure_ascii=False)


def markdown_cell(text: str) -> dict[str, Any]:
    """Return a cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code_cell(text: str) -> dict[str, Any]:
    """Return a cell of code that has not run."""
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text}
