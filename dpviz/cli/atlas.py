"""Implement the command `atlas`: make missing stored runs, or check some of the stored runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dpviz.atlas import averages, noised, rounds
from dpviz.atlas.cells import chapters
from dpviz.atlas.files import FOLDER
from dpviz.atlas.make import check, drawn, make, missing
from dpviz.cli.progress import Bar
from dpviz.sweeps.processes import cpu_count

__all__ = ["add_atlas"]


def add_atlas(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--make",
        action="store_true",
        help="make the files that are missing, damaged or of another version; a second call resumes",
    )
    what.add_argument("--check", action="store_true", help="repeat some stored runs and compare; exit 1 if one differs")
    command.add_argument(
        "--sample", action="append", default=[], metavar="NAME", help="only this sample; may be given more than once"
    )
    command.add_argument(
        "--share", type=float, default=0.01, help="share of all runs that --check repeats (default .01)"
    )
    command.add_argument("--seed", default="0", metavar="TEXT", help="seed that chooses the runs that --check repeats")
    command.add_argument("--workers", type=int, default=cpu_count(), help="number of processes (default: one per core)")
    command.add_argument("--folder", type=Path, default=FOLDER, help="folder of the files (default: the shipped ones)")
    command.set_defaults(do=_atlas)


def _atlas(arguments: argparse.Namespace) -> int:
    if arguments.workers < 1:
        raise ValueError(f"atlas: workers must be >= 1; got {arguments.workers}.")
    if not 0 < arguments.share <= 1:
        raise ValueError(f"atlas: share must be above 0 and at most 1; got {arguments.share:g}.")
    known = {chapter.sample for chapter in chapters()}
    if unknown := [name for name in arguments.sample if name not in known]:
        raise ValueError(f"atlas: sample must be one of {', '.join(sorted(known))}; got {unknown[0]!r}.")
    return _make(arguments) if arguments.make else _check(arguments)


def _make(arguments: argparse.Namespace) -> int:
    wanted = missing(arguments.folder, arguments.sample)
    if not arguments.sample and rounds.read(arguments.folder) is None:
        total = sum(game.rounds for game in rounds.GAMES)
        print(f"atlas: {rounds.NAME} to make, {total:,} rounds", file=sys.stderr)
        arguments.folder.mkdir(parents=True, exist_ok=True)
        with Bar(total) as bar:
            rounds.make(arguments.folder, workers=arguments.workers, on_run=bar.step)
    if not arguments.sample and averages.read(arguments.folder) is None:
        print(f"atlas: {averages.NAME} to make", file=sys.stderr)
        arguments.folder.mkdir(parents=True, exist_ok=True)
        averages.make(arguments.folder)
    if not arguments.sample and noised.read(arguments.folder) is None:
        total = len(noised.STRENGTHS) * noised.DRAWS
        print(f"atlas: {noised.NAME} to make, {total:,} draws", file=sys.stderr)
        with Bar(total) as bar:
            noised.make(arguments.folder, workers=arguments.workers, on_run=bar.step)
    if not wanted:
        print("atlas: no file is missing", file=sys.stderr)
        return 0
    total = sum(len(chapter.cells()) for chapter in wanted)
    print(f"atlas: {len(wanted)} files to make, {total:,} runs", file=sys.stderr)
    with Bar(total) as bar:
        make(wanted, arguments.folder, workers=arguments.workers, on_run=bar.step)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    cells = drawn(arguments.share, arguments.seed)
    if arguments.sample:
        cells = [cell for cell in cells if cell.chapter.sample in arguments.sample]
    differences = []
    with Bar(len(cells)) as bar:
        for difference in check(cells, arguments.folder, workers=arguments.workers):
            bar.step(failed=difference is not None)
            differences += [difference] if difference else []
    for difference in differences:
        print(f"atlas: {difference}", file=sys.stderr)
    print(f"{len(cells) - len(differences)} of {len(cells)} runs were reproduced")
    others = (
        []
        if arguments.sample
        else [one.NAME for one in (rounds, averages, noised) if not one.up_to_date(arguments.folder)]
    )
    for name in others:
        print(f"atlas: {name} differs from the stored file", file=sys.stderr)
    return 1 if differences or others else 0
