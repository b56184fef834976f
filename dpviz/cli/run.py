"""Implement the command `run`: run one algorithm on one data set."""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm, outside
from dpviz.cli.inputs import (
    RunInput,
    add_bounds,
    add_declaration,
    add_form,
    declared_by,
    form_of,
    in_memory,
    in_parts,
    limits_by,
    say_form,
)
from dpviz.cli.output import Output
from dpviz.cli.progress import Bar
from dpviz.datasets import Dataset, load_csv, load_sample
from dpviz.datasets.dictionary import amended, facts_beside
from dpviz.datasets.loading import present
from dpviz.datasets.notation import quote_name
from dpviz.datasets.public_rows import read_public_rows
from dpviz.datasets.readers import Form
from dpviz.datasets.readers.form import with_form
from dpviz.datasets.readers.recode import DAYS, date_of
from dpviz.domain import Domain
from dpviz.metrics import reference_name
from dpviz.numbers import chance, number, percent, place, unlogged
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.privacy.accounts import Accounts, Claim, refuse_private
from dpviz.privacy.chunked import Spread, on_cluster, threads
from dpviz.privacy.delta import check_delta
from dpviz.privacy.guarantee import Guarantee, Neighboring
from dpviz.privacy.secret import replace
from dpviz.sweeps.dask_engine import connect
from dpviz.sweeps.processes import cpu_count
from dpviz.trace import Trace

__all__ = ["add_data", "add_run", "add_unaudited", "book", "data_of", "say_person", "warn_unaudited"]


def add_run(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command, with a subcommand for each algorithm."""
    by_slug = command.add_subparsers(dest="slug", required=True, metavar="ALGORITHM")
    for slug, cls in ALGORITHMS.items():
        _add_options(by_slug.add_parser(slug, help=cls.tagline, description=cls.tagline), cls)
    command.set_defaults(do=_run)


def add_data(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the arguments for the data, their format, the noise and the output file."""
    parser.add_argument("--data", required=required, metavar="sample:NAME|FILE")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--public", action="store_true", help="the file is public: a seeded DEMO run")
    mode.add_argument("--private", action="store_true", help="the file is private: secure noise, no seed")
    add_form(parser)
    add_bounds(parser)
    add_declaration(parser)
    parser.add_argument("--label", metavar="NAME", help="column of known groups in a public file; not used to cluster")
    parser.add_argument(
        "--missing",
        choices=("drop", "middle"),
        default="drop",
        help="leave out a row with a missing cell (default), or fill the cell with the middle of the bounds",
    )
    parser.add_argument("--seed", type=int, help="seed of a DEMO run; default 0")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the trace (released part) to this file")
    parser.add_argument(
        "--account",
        "--ledger",
        type=Path,
        metavar="FILE",
        help="with --private: a signed copy of the data file's account, for a server with the same secret; it is "
        "read if it exists, and written before the run",
    )
    parser.add_argument(
        "--in-parts", action="store_true", help="read a .npy or .parquet file part by part, if it is larger than memory"
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help='read the file in parts on the workers of a Dask scheduler (tls://..., or on this machine) or of "local"; '
        "they see raw rows and must find the file under the same name (extra: cluster)",
    )


def add_unaudited(parser: argparse.ArgumentParser) -> None:
    """Add the consent to a promise for which only an outside algorithm's authors vouch."""
    words = "let an algorithm from outside that is not audited here read private data"
    parser.add_argument("--unaudited", action="store_true", help=words)


def warn_unaudited(slug: str, consent: bool, words: str | None = None) -> None:
    """Say who vouches for an unaudited algorithm's promise, before private data are read.

    Parameters
    ----------
    slug : str, the algorithm
    consent : bool, whether the user gave `--unaudited`
    words : str or None, who vouches, as a clause; by default what is known here about the algorithm

    Raises
    ------
    ValueError
        Without the user's consent.
    """
    words = outside.warning(slug) if words is None else words
    if not words:
        return
    if not consent:
        raise ValueError(f"{words}. Run its audit first (dpviz audit {slug}), or give --unaudited; nothing was read.")
    print(f"warning: {words}.", file=sys.stderr)


def _add_options(parser: argparse.ArgumentParser, cls: type) -> None:
    add_data(parser)
    add_unaudited(parser)
    parser.add_argument("--preset", help="start from a named preset", choices=sorted(cls.PRESETS) or None)  # type: ignore[attr-defined]
    for name, spec in params.specs(cls).items():
        default = "auto" if spec.default is None else spec.default
        words = f"{spec.help} (default {default})"
        if name == "rho_distance":
            words = f"longest move of a row that is hidden, in the data's own units (default: {default} half-widths)"
        parser.add_argument(
            f"--{name.replace('_', '-')}", dest=f"param_{name}", metavar=_kind(spec), help=words.replace("%", "%%")
        )
    if cls.takes_public_rows:  # type: ignore[attr-defined]
        parser.add_argument(
            "--public-rows", type=Path, metavar="FILE",
            help="a table of rows that you declare public, with the data's columns and inside their bounds; nothing "
            "checks that they are public, and the promise does not cover them",
        )  # fmt: skip


def _kind(spec: params.ParamSpec) -> str:
    """Return the values that a parameter accepts, as the help text shows them."""
    if spec.kind == "choice":
        return "{" + ",".join(map(str, spec.choices or ())) + "}"
    return {"int": "N", "bool": "{true,false}"}.get(spec.kind, "X")


def data_of(arguments: argparse.Namespace, stack: ExitStack, relation: Neighboring) -> RunInput:
    """Open the data named by the arguments of `add_data`; `relation` decides the treatment of rows with a missing cell.

    Raises
    ------
    ValueError
        If options contradict each other or do not fit the data; the message is one sentence.
    """
    parts = arguments.in_parts or arguments.cluster
    if arguments.data.startswith("sample:"):
        if arguments.private:
            raise ValueError("--private is for your own files; a sample is public.")
        if parts:
            raise ValueError("--in-parts and --cluster are for files; a sample fits in memory.")
        return in_memory(load_sample(arguments.data.removeprefix("sample:")))
    if not (arguments.public or arguments.private):
        raise ValueError(f"say whether {arguments.data} is public: give --public or --private.")
    path = Path(arguments.data)
    if arguments.public:
        refuse_private(path)
    limits, declared = limits_by(arguments), declared_by(arguments)
    accounts = Accounts.open() if arguments.private else None
    if parts:
        return _large(path, arguments, limits, declared, accounts, stack)
    return _small(path, arguments, limits | declared, accounts, relation)


def _large(
    path: Path,
    arguments: argparse.Namespace,
    limits: dict[str, Any],
    declared: dict[str, Any],
    accounts: Accounts | None,
    stack: ExitStack,
) -> RunInput:
    """Open a file in parts, perhaps on a cluster; `stack` closes the connection."""
    whole = ("recode", "label", "sheet", "header_row", "lines_below", "separator")
    if any(getattr(arguments, name) for name in whole):
        raise ValueError(
            "--recode, --label, --sheet, --header-row, --lines-below and --separator are for files that fit in memory."
        )
    spread: Spread = threads(cpu_count())
    if arguments.cluster:
        spread = on_cluster(stack.enter_context(connect(arguments.cluster, cpu_count())))
    before = _stamp(path)
    source, facts = facts_beside(path, limits.pop("dictionary"))
    facts = amended(facts, source, **limits, **declared)
    form = with_form(facts, **form_of(arguments))
    if form["decimal_of"]:
        raise ValueError("--decimal COLUMN=SIGN is for files that fit in memory; give one sign for all columns.")
    form["missing_marks"] = tuple(form["missing_marks"] or ())
    rows = in_parts(
        path,
        limits["low"],
        limits["high"],
        declared["n_public"],
        spread,
        columns=declared["columns"],
        form=Form(private=arguments.private, **form),
        facts=facts,
        rows_per_person=declared["rows_per_person"],
    )
    if accounts is None:
        return rows
    key = accounts.key_of(path)
    if _stamp(path) != before:
        raise ValueError(f"{path.name}: the file changed while it was read; run the command again. Nothing was spent.")
    return dataclasses.replace(rows, account=key)


def _small(
    path: Path,
    arguments: argparse.Namespace,
    declared: dict[str, Any],
    accounts: Accounts | None,
    relation: Neighboring,
) -> RunInput:
    """Open a file that fits in memory, and print how rows with a missing cell are treated."""
    content = path.read_bytes() if accounts is not None and path.is_file() else None
    data = load_csv(
        path,
        **declared,
        private=arguments.private,
        label=arguments.label,
        missing=arguments.missing,
        content=content,
        **form_of(arguments),
    )
    if arguments.private:
        say_form(data.facts["form"])
        if relation is Neighboring.ADD_REMOVE and any(column["fill"] is None for column in data.facts["columns"]):
            print("missing: rows with a missing cell are left out and not counted; --missing middle keeps them")
    if data.incomplete:
        _say_incomplete(data, relation)
    rows = in_memory(data)
    if accounts is None or content is None:
        return rows
    return dataclasses.replace(rows, account=accounts.key(content))


def _say_incomplete(data: Dataset, relation: Neighboring) -> None:
    """Print how many rows of public data have a missing cell, and name a column that lacks many cells."""
    dropped = relation is Neighboring.ADD_REMOVE
    treatment = "left out" if dropped else "set to the middle of the bounds"
    print(f"{data.incomplete:,} of {len(data.X):,} rows have a missing cell and are {treatment}.", file=sys.stderr)
    lacking = (~np.isfinite(data.X)).sum(axis=0)
    worst = int(lacking.argmax())
    if dropped and lacking[worst] * 5 > len(data.X):
        others = ",".join(quote_name(name) for name in data.columns if name != data.columns[worst])
        print(
            f"column {data.columns[worst]!r} alone has {lacking[worst]:,} missing cells: give --missing middle, "
            f"{f'or leave it out with --columns {others!r}' if others else 'or drop it'}.",
            file=sys.stderr,
        )


def _stamp(path: Path) -> tuple[int, ...]:
    """Return values that differ after a file has been written or replaced; () if it does not exist."""
    if not path.is_file():
        return ()
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _run(arguments: argparse.Namespace) -> int:
    with ExitStack() as stack:
        return _run_on(arguments, stack, Output(arguments.json, stack))


def _run_on(arguments: argparse.Namespace, stack: ExitStack, output: Output) -> int:
    cls = ALGORITHMS[arguments.slug]
    values = _values_of(arguments, cls)
    delta = values.pop("delta", None)  # what it means depends on n
    algorithm = cls.preset(arguments.preset, **values) if arguments.preset else cls(**values)
    if arguments.private and arguments.seed is not None:
        raise ValueError("--seed is for DEMO runs; a private release has no seed.")
    if arguments.private and not cls.notion.private:
        why = cls.tagline.rstrip(".")
        raise ValueError(f"{cls.name}: {why}. It is not run on private data; nothing was read.")
    if arguments.private:
        warn_unaudited(cls.slug, arguments.unaudited)
    if arguments.account and not arguments.private:
        raise ValueError("--account is for private runs; a DEMO run makes no promise.")
    data = data_of(arguments, stack, cls.neighboring)
    if delta is not None:
        check_delta(cls.name, delta, data.size(), private=arguments.private)
        algorithm = dataclasses.replace(algorithm, **{"delta": delta})
    if "rho_distance" in values:  # given in the units of the data, such as kilometers
        rho = values["rho_distance"] / float(data.domain.half_width.max())
        algorithm = dataclasses.replace(algorithm, **{"rho_distance": rho})
    if getattr(arguments, "public_rows", None) is not None:
        rows = _public_rows(arguments, data)
        algorithm = algorithm.with_public_rows(rows, data.domain)
        print(f"public:  {len(rows):,} rows of {arguments.public_rows.name}, as you declare; nothing checks it")
    algorithm.check_domain(data.domain, data.size())  # before anything is booked
    output.reserve(algorithm.releases(data.domain.n_features, data.size()))
    if arguments.private:
        book(arguments.account, data.account, algorithm, data.domain)
        randomness: dict[str, Any] = {"noise": "secure"}
    else:
        randomness = {"seed": 0 if arguments.seed is None else arguments.seed}
    with Bar(algorithm.releases(data.domain.n_features, data.size()), unit="release", quiet=True) as bar:
        trace = algorithm.run(
            data.X,
            domain=data.domain,
            dataset_id=data.dataset_id,
            on_step=lambda step: bar.reach(step.n_releases),
            **randomness,
        )
    output.write(trace.to_json(), spent=arguments.private)  # before the screen, so that a stop leaves the file
    for sentence in (*algorithm.advice(trace.domain.n_features, data.size()), *trace.warnings):
        print(f"warning: {sentence}", file=sys.stderr)
    print(f"{trace.name} on {arguments.data}: {trace.notice}")
    _say_promise(trace)
    if not arguments.private:
        _say_quality(trace, data, regions=cls.regions)
    _say_centers(trace, data.columns)
    if sentence := bounds_sentence(trace, data.columns, trace.domain.units):
        print(sentence)
    return 0


def _public_rows(arguments: argparse.Namespace, data: RunInput) -> np.ndarray:
    """Read the rows that are declared public, which must not be a file that was declared private."""
    path = present(arguments.public_rows)
    refuse_private(path)
    if data.account and Accounts.open().key_of(path) == data.account:
        raise ValueError(f"--public-rows: {path.name} is the private file itself; its rows are not public.")
    return read_public_rows(path.read_bytes(), path.name, data.facts)


def _values_of(arguments: argparse.Namespace, cls: type[Algorithm]) -> dict[str, Any]:
    """Return the values that the arguments give to an algorithm's parameters."""
    values = {}
    for name, spec in params.specs(cls).items():
        text = getattr(arguments, f"param_{name}")
        if text is not None:
            try:
                values[name] = params.parse(spec, text)
            except ValueError as error:
                raise ValueError(f"{cls.name}: {name} is not valid: {error}.") from None
    return values


def _say_promise(trace: Trace) -> None:
    """Print what a run promises and what it spent."""
    print(f"claimed: {trace.claimed}")
    say_person(trace.claimed)
    print(f"spent:   {trace.spent} in {len(trace.ledger)} releases")
    if trace.claimed.rho_distance is not None:
        print(f"hidden:  moves of up to {trace.domain.length(trace.claimed.rho_distance)};")
        print("         who is in the data, and roughly where, is not protected")


def _say_quality(trace: Trace, data: RunInput, *, regions: bool) -> None:
    """Print the quality of a DEMO run's centers or regions: NOT PRIVATE."""
    if regions:
        if data.agreement is not None:
            agreement = f"{data.agreement(trace):.2f} (adjusted Rand index, NOT PRIVATE)"
            print(f"agreement of regions and known groups: {agreement}")
        return
    what = "k-median cost per row" if reference_name(trace) == "KMedians" else "normalized loss"
    print(f"{what} of {len(trace.cluster_centers)} centers: {number(data.loss(trace))} (NOT PRIVATE)")
    if data.groups is not None:
        print(f"rows in the largest known group of their center: {percent(data.groups(trace.cluster_centers), 3)}")


def _say_centers(trace: Trace, columns: tuple[str, ...]) -> None:
    """Print the released centers as a table; columns of days are printed as dates, those of logarithms as values."""
    widths, units = trace.domain.high - trace.domain.low, trace.domain.units or ("",) * len(columns)
    heads = (name if unlogged(unit) is None else f"typical {name}" for name, unit in zip(columns, units, strict=True))
    print("  ".join(heads))
    for center in trace.cluster_centers:
        cells = zip(center, widths, units, strict=True)
        print("  ".join(_place(value, width, unit) for value, width, unit in cells))


def _place(value: float, width: float, unit: str) -> str:
    """Return a coordinate as text: a day as a date, a logarithm as the typical value that it is of."""
    if unit == DAYS:
        return date_of(value)
    return place(value, width) if unlogged(unit) is None else number(math.expm1(value), 3)


def say_person(promise: Guarantee) -> None:
    """Print the guarantee for one person, if a person may have several rows."""
    if promise.private and promise.rows_per_person > 1:
        whole = promise.person
        print(
            f"         one person has up to {promise.rows_per_person} rows: epsilon = {whole.epsilon:.4g}, "
            f"delta = {whole.delta:.2g} for the person"
        )


def book(copy: Path | None, key: str, algorithm: Algorithm, domain: Domain) -> None:
    """Book a private run's claim before it starts, and print the total of all runs on the file.

    `key` is computed from the bytes that were read, because the file may have been replaced since.

    Raises
    ------
    ValueError
        If the account file is a symbolic link.
    """
    claim, accounts = Claim.of(algorithm, domain), Accounts.open()
    if copy is not None and copy.is_symlink():
        raise ValueError(f"--account: {copy} is a symbolic link, which is not followed; name the file itself.")
    if copy is not None and copy.exists():
        accounts.load(key, copy.read_bytes())
    account = accounts.reserve(key, claim)
    if copy is not None:
        replace(copy, accounts.to_file(key).encode())
    total, runs = account.total(claim.neighboring), len(account.under(claim.neighboring))
    print(
        f"booked:  epsilon = {number(total.epsilon, 4)}, delta = {chance(total.delta)} in all, "
        f"by {runs} run{'s' * (runs != 1)} on this file, for {account.hides(claim.neighboring)}"
    )
