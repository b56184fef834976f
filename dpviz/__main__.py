"""Command line: `python -m dpviz algorithms|run|sweep|audit ...`; every command has its own --help."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.audit_command import add_audit
from dpviz.datasets import Dataset, load_csv, load_sample
from dpviz.metrics import normalized_loss
from dpviz.sweep_command import add_commands

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Run one command; return the exit code. A user's mistake prints one sentence."""
    parser = argparse.ArgumentParser(prog="dpviz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("algorithms", help="list the algorithms").set_defaults(do=_algorithms)
    run = commands.add_parser("run", help="run one algorithm on one data set")
    by_slug = run.add_subparsers(dest="slug", required=True, metavar="ALGORITHM")
    for slug, cls in ALGORITHMS.items():
        _add_run_options(by_slug.add_parser(slug, help=cls.tagline), cls)
    run.set_defaults(do=_run)
    add_commands(commands)
    add_audit(commands)
    arguments = parser.parse_args(argv)
    try:
        return arguments.do(arguments)
    except (ValueError, TypeError, OSError) as error:
        print(f"dpviz: {error}", file=sys.stderr)
        return 2


def _add_run_options(parser: argparse.ArgumentParser, cls: type) -> None:
    parser.add_argument("--data", required=True, metavar="sample:NAME|FILE.csv")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--public", action="store_true", help="the file is public: a seeded DEMO run")
    mode.add_argument("--private", action="store_true", help="the file is private: secure noise, no seed")
    parser.add_argument("--low", type=float, nargs="+", help="public lower bound(s) of a CSV without a data dictionary")
    parser.add_argument("--high", type=float, nargs="+", help="public upper bound(s)")
    parser.add_argument("--n-public", type=int, help="declared nominal number of rows")
    parser.add_argument("--seed", type=int, help="DEMO only; default 0")
    parser.add_argument("--preset", help="start from a named preset", choices=sorted(cls.PRESETS) or None)  # type: ignore[attr-defined]
    parser.add_argument("--json", type=Path, help="write the trace (released part) to this file")
    for name, spec in params.specs(cls).items():
        default = "auto" if spec.default is None else spec.default
        parser.add_argument(
            f"--{name.replace('_', '-')}", dest=f"param_{name}", help=f"{spec.help} (default {default})"
        )


def _algorithms(_: argparse.Namespace) -> int:
    width = max(map(len, ALGORITHMS))
    for slug, cls in ALGORITHMS.items():
        print(f"{slug:<{width}}  {cls.name}: {cls.tagline} [{cls.notion}]")
    return 0


def _data(arguments: argparse.Namespace) -> Dataset:
    if arguments.data.startswith("sample:"):
        if arguments.private:
            raise ValueError("--private is for your own files; a sample is public.")
        return load_sample(arguments.data.removeprefix("sample:"))
    if not (arguments.public or arguments.private):
        raise ValueError(f"say whether {arguments.data} is public: give --public or --private.")
    return load_csv(Path(arguments.data), low=arguments.low, high=arguments.high, n_public=arguments.n_public)


def _run(arguments: argparse.Namespace) -> int:
    cls = ALGORITHMS[arguments.slug]
    values = {}
    for name, spec in params.specs(cls).items():
        text = getattr(arguments, f"param_{name}")
        if text is not None:
            try:
                values[name] = params.parse(spec, text)
            except ValueError as error:
                raise ValueError(f"{cls.name}: {name} is not valid: {error}.") from None
    algorithm = cls.preset(arguments.preset, **values) if arguments.preset else cls(**values)
    if arguments.private and arguments.seed is not None:
        raise ValueError("--seed is for DEMO runs; a private release has no seed.")
    dataset = _data(arguments)
    if arguments.private:
        trace = algorithm.run(dataset.X, domain=dataset.domain, noise="secure", dataset_id=dataset.dataset_id)
    else:
        seed = 0 if arguments.seed is None else arguments.seed
        trace = algorithm.run(dataset.X, domain=dataset.domain, seed=seed, dataset_id=dataset.dataset_id)
    for sentence in algorithm.advice(trace.domain.n_features, trace.domain.n_public or len(dataset.X)):
        print(f"warning: {sentence}", file=sys.stderr)
    print(f"{trace.name} on {arguments.data}: {trace.notice}")
    print(f"claimed: {trace.claimed}")
    print(f"spent:   {trace.spent} in {len(trace.ledger)} releases")
    if not arguments.private:
        loss = normalized_loss(dataset.X, trace.cluster_centers, trace.domain)
        print(f"normalized loss of {len(trace.cluster_centers)} centers: {loss:.4g} (NOT PRIVATE)")
    print("  ".join(dataset.columns))
    for center in trace.cluster_centers:
        print("  ".join(f"{value:.4g}" for value in center))
    if arguments.json:
        arguments.json.write_text(trace.to_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
