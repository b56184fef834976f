"""Implement the command `audit`: print an adversary's lower bounds beside the claim, on adversarial neighbors."""

from __future__ import annotations

import argparse

import numpy as np

from dpviz import validate
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.audits.audit import Pair, audit, draws, instance, pairs
from dpviz.audits.wide import second_instance, wide_pairs
from dpviz.cli.progress import Bar
from dpviz.numbers import number
from dpviz.privacy.guarantee import Notion

__all__ = ["add_audit"]


def add_audit(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command; `do` returns 1 if a claim is broken."""
    private = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]
    command.add_argument("slug", choices=private, metavar="ALGORITHM")
    command.add_argument("--runs", type=int, default=300, help="runs on each of two neighbors, per pair (default 300)")
    command.add_argument("--confidence", type=float, default=0.95, help="confidence of each bound (default 0.95)")
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(do=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    validate.integer("audit", 3, None, runs=arguments.runs)
    validate.in_range("audit", 0, 1, open_ends=True, confidence=arguments.confidence)
    cls = ALGORITHMS[arguments.slug]
    algorithm = instance(cls)
    print(f"{cls.name}, {algorithm.guarantee(2, 12)}; {arguments.runs} runs on each neighbor")
    heads = "claimed  realized   reach  at least  read by       seconds"
    print(f"{'pair':<30}{'notion':<9} {heads}")
    holds = True
    wide = second_instance(cls)
    cases: list[tuple[Algorithm, Pair, int | None]] = [(algorithm, pair, None) for pair in pairs(cls.neighboring)]
    cases += [(wide, pair._replace(name=f"{pair.name}, wide"), n) for pair, n in wide_pairs(cls.neighboring)]
    for one, pair, n_public in cases:
        with Bar(2 * arguments.runs, quiet=True) as bar:
            found = audit(
                one, pair, runs=arguments.runs, confidence=arguments.confidence, seed=arguments.seed,
                n_public=n_public, on_run=bar.reach,
            )  # fmt: skip
        holds &= found.holds
        print(
            f"{found.pair:<30}{found.notion:<9}{found.claimed:>8.4f}{found.realized:>10.4f}{found.reach:>8.3f}"
            f"{found.lower_bound:>10.4f}  {found.statistic:<13}{found.seconds:>8.1f}"
            f"{'' if found.holds else '  ABOVE THE CLAIM'}"
        )
    X = np.random.default_rng(arguments.seed).uniform(-1, 1, (60, 2))
    noise = draws(algorithm, X, runs=min(arguments.runs, 50), seed=arguments.seed)
    print(
        f"{noise.entries} noise values: smallest p-value against the ledger's scale {number(noise.p_value, 2)}, "
        f"largest correlation {noise.correlation:.1f} standard errors, {noise.repeats} repeats; "
        f"selections {noise.selections:.1f} standard errors off"
    )
    return 0 if holds else 1
