"""Implement the command `federated keys|server|client`, which runs an algorithm over several machines or terminals."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.cli.inputs import add_form, form_of, say_form
from dpviz.cli.run import add_unaudited, book, warn_unaudited
from dpviz.datasets import load_csv
from dpviz.datasets.dictionary import facts_beside
from dpviz.datasets.notation import read_numbers
from dpviz.domain import Domain
from dpviz.federated.parties import Aborted
from dpviz.federated.ring import PAPER, WIDE
from dpviz.federated.shares import CLIENTS, DRAWN_BY, SERVER
from dpviz.numbers import number
from dpviz.privacy.accounts import Accounts, Claim
from dpviz.privacy.delta import check_delta
from dpviz.privacy.noise import Secure
from dpviz.trace import Step

from ..federated.agreement import Agreement
from ..federated.client import take_part
from ..federated.keys import client_context, make_keys, mask_seeds, server_context
from ..federated.server import serve

__all__ = ["add_federated"]

ABORTED = 3  # exit code of a run that another party or the connection ended


def add_federated(command: argparse.ArgumentParser) -> None:
    """Add the subcommands and their arguments."""
    parts = command.add_subparsers(dest="part", required=True)

    keys = parts.add_parser(
        "keys", help="write a folder for each party: certificate, agreement and the clients' mask seeds"
    )
    keys.add_argument("folder", type=Path)
    keys.add_argument("--clients", nargs="+", required=True, metavar="NAME")
    keys.add_argument("--algorithm", required=True, choices=list(ALGORITHMS), metavar="SLUG")
    keys.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="parameters of the algorithm")
    keys.add_argument("--low", type=read_numbers, required=True, metavar="A,B,...", help="public lower bounds")
    keys.add_argument("--high", type=read_numbers, required=True, metavar="A,B,...", help="public upper bounds")
    keys.add_argument("--radius", type=float, help="public l2 bound of normalized rows")
    keys.add_argument("--n-public", type=int, required=True, help="declared number of rows of all clients together")
    keys.add_argument(
        "--n-max",
        type=int,
        default=0,
        help="largest possible number of rows of all clients together (default 4 n-public)",
    )
    keys.add_argument("--seed", type=int, default=0, help="public seed of the starting centers, not of any noise")
    keys.add_argument(
        "--noise", choices=DRAWN_BY, default=CLIENTS,
        help="who draws the noise: by default each client draws a part, so that no party can subtract all of it; or "
            "the server alone, as in the paper, which must then never see the result",
    )  # fmt: skip
    keys.add_argument("--ring", choices=("64", "32"), default="64", help="bits per word")
    keys.add_argument("--host", nargs="*", default=[], help="additional names of the server for its certificate")
    keys.set_defaults(do=_keys)

    for name, help_, do in (
        ("server", "add up the clients' masked words in one run", _server),
        ("client", "take part in one run with your own rows", _client),
    ):
        part = parts.add_parser(name, help=help_)
        part.add_argument("folder", type=Path, help="this party's folder, made by `keys`")
        part.add_argument("--host", default="127.0.0.1")
        part.add_argument("--port", type=int, default=7443)
        part.add_argument("--join-timeout", type=float, default=60.0, metavar="SECONDS")
        part.add_argument("--round-timeout", type=float, default=30.0, metavar="SECONDS")
        part.set_defaults(do=do)
        if name == "client":
            part.add_argument("--data", type=Path, required=True, metavar="FILE.csv")
            part.add_argument("--dictionary", type=Path, metavar="FILE.json", help="this client's data dictionary")
            add_form(part)
            add_unaudited(part)
            part.add_argument("--json", type=Path, help="write the released trace to this file")


def _keys(arguments: argparse.Namespace) -> int:
    cls = ALGORITHMS[arguments.algorithm]
    specs, values = params.specs(cls), {}
    for item in arguments.set:
        name, _, text = item.partition("=")
        if name not in specs:
            raise ValueError(f"federated: {cls.name} has no parameter {name!r}; it has {', '.join(specs)}.")
        values[name] = params.parse(specs[name], text)
    check_delta(cls.name, values.get("delta"), arguments.n_public, private=True)
    domain = Domain.box(arguments.low, arguments.high, radius=arguments.radius, n_public=arguments.n_public)
    ring = WIDE if arguments.ring == "64" else PAPER
    names, noise = tuple(arguments.clients), arguments.noise
    agreement = Agreement(cls(**values), domain, names, arguments.seed, ring, arguments.n_max, noise)
    make_keys(arguments.folder, agreement, arguments.host)
    print(f"{arguments.folder} holds one folder each for server, {', '.join(agreement.clients)}.")
    print(
        "Hand each party only its own folder, over a safe channel, and keep no copy: with several clients' folders "
        "and the"
    )
    print("server's view, anyone can read the other clients' sums.")
    print(f"Trust: {agreement.shares.trust}.")
    return 0


def _server(arguments: argparse.Namespace) -> int:
    agreement = Agreement.read(arguments.folder / "agreement.json")
    if agreement.drawn_by == SERVER:
        print("This server draws the noise: it must never see the result, because it could subtract the noise from it.")
    try:
        report = asyncio.run(
            serve(
                agreement,
                server_context(arguments.folder),
                Secure(),
                host=arguments.host,
                port=arguments.port,
                join_timeout=arguments.join_timeout,
                round_timeout=arguments.round_timeout,
                say=lambda line: print(line, flush=True),
                ready=lambda port: print(f"listening on {arguments.host}:{port}", flush=True),
            )
        )
    except Aborted as reason:
        return _aborted(reason, "The run stays booked in full on the clients' files if all clients had joined")
    print(
        f"{report.rounds} rounds, {report.bytes_up + report.bytes_down:,} bytes of masked words; "
        "no row and no client's sum was seen"
    )
    return 0


def _client(arguments: argparse.Namespace) -> int:
    agreement = Agreement.read(arguments.folder / "agreement.json")
    domain, name = agreement.domain, arguments.folder.resolve().name
    if name not in agreement.clients:
        raise ValueError(f"federated: the folder's name must be the client's; got {name!r}.")
    warn_unaudited(agreement.algorithm.slug, arguments.unaudited)
    low, high = domain.low.tolist(), domain.high.tolist()
    content = arguments.data.read_bytes() if arguments.data.is_file() else None
    form = form_of(arguments)
    source, facts = facts_beside(arguments.data, arguments.dictionary)
    bounds: dict[str, Any] = {"low": low, "high": high}
    if facts is None:
        form["n_columns"] = form["n_columns"] or domain.n_features
    else:
        bounds = {"dictionary": arguments.dictionary}
    data = load_csv(arguments.data, n_public=domain.n_public, private=True, content=content, **bounds, **form)
    if (data.domain.low.tolist(), data.domain.high.tolist()) != (low, high):
        raise ValueError(
            f"federated: {source} and the agreement declare different bounds; use the agreement's columns and "
            f"bounds, in its order. Nothing was sent."
        )
    if data.domain.rows_per_person > domain.rows_per_person:
        raise ValueError(
            f"federated: {source} declares up to {data.domain.rows_per_person} rows per person, and the agreement "
            f"{domain.rows_per_person}; agree on the larger number. Nothing was sent."
        )
    say_form(data.facts["form"])
    accounts = Accounts.open()
    key = accounts.key(content or b"")
    # if the account refuses the run, stop before the other parties start to wait
    accounts.check(key, Claim.of(agreement.algorithm, domain))

    if len(data.X) > agreement.n_max // len(agreement.clients):  # the number is secret: only this terminal shows it
        print(
            f"note: these are more rows than this client's part of the agreed n_max = {agreement.n_max:,}; if the sums "
            "wrap, the result is useless. Agree on a larger n_max.",
            file=sys.stderr,
        )

    booked = []

    def start() -> None:
        # a change in the rows of one client can cost as much as the whole plan
        book(None, key, agreement.algorithm, domain)
        booked.append(key)

    def show(step: Step) -> None:
        print(f"step {step.index + 1}: {step.title}", flush=True)

    try:
        trace = take_part(
            agreement,
            name,
            data.X,
            client_context(arguments.folder),
            mask_seeds(arguments.folder),
            address=(arguments.host, arguments.port),
            join_timeout=arguments.join_timeout,
            round_timeout=arguments.round_timeout,
            on_start=start,
            on_step=show,
        )
    except Aborted as reason:
        return _aborted(reason, "The run stays booked on your file in full" if booked else "Nothing was booked")
    print(f"claimed: {trace.claimed}")
    print(f"spent:   {trace.spent} in {len(trace.ledger)} releases")
    print(f"trust:   {trace.claimed.trust}")
    if agreement.drawn_by == CLIENTS:
        excess = max((entry.excess for entry in trace.ledger), default=1.0)
        print(f"noise:   its variance is {number(excess)} times that of a central run; no party can remove all of it")
    for center in trace.cluster_centers:
        print("  ".join(number(value) for value in center))
    if arguments.json:
        arguments.json.write_text(trace.to_json())
    return 0


def _aborted(reason: Aborted, spent: str) -> int:
    words = str(reason).removeprefix("server: ").removeprefix("aborted: ").rstrip(".")
    print(f"dpviz: aborted: {words}. {spent}; start again for a new run id.", file=sys.stderr)
    return ABORTED
