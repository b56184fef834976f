"""Implement the command `bench`: compare methods on families of generated data, and place methods in the table."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz import validate
from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.algorithms.outside import ORIGINS
from dpviz.cli.progress import Bar
from dpviz.papers.bench import areas
from dpviz.sweeps.engines import Engine, on_this_machine
from dpviz.sweeps.processes import cpu_count
from dpviz.version import __version__

from ..bench import VERSION
from ..bench.families import FAMILIES
from ..bench.fingerprint import fingerprint
from ..bench.frozen import METHODS, frozen
from ..bench.places import markdown
from ..bench.runs import BOXES, Bench, perform

__all__ = ["add_bench"]

USUAL = ("nsm", "privtree", "eugkm", "hdpe-means", "fastlloyd", "stemmer-kaplan", "lsh-splits")  # fast, and k centers


def add_bench(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("-o", "--output", type=Path, required=True, metavar="TABLE.parquet", help="a row per run")
    command.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES), metavar="FAMILY")
    command.add_argument("--boxes", nargs="+", default=["tight"], choices=list(BOXES))
    command.add_argument("--methods", nargs="+", metavar="SLUG", help=f"default: {', '.join(USUAL)} and those added")
    command.add_argument("--epsilons", nargs="+", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0])
    command.add_argument("--draws", type=int, default=6, help="data sets per family (default 6)")
    command.add_argument("--seeds", type=int, default=3, help="runs on each data set at each epsilon (default 3)")
    command.add_argument(
        "--frozen",
        metavar="TEXT",
        help="text from which the generators' seeds follow (default: hash of the last commit that touched "
        f"{' or '.join(METHODS)}, so that nobody can tune a method on its own test)",
    )
    command.add_argument("--place", nargs="+", metavar="SLUG", help="methods to compare with the best other method")
    command.add_argument("--workers", type=int, default=cpu_count(), help="number of processes (default: one per core)")
    command.set_defaults(do=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    if arguments.output.suffix != ".parquet":
        raise ValueError(f"bench: the table's name must end in .parquet; got {arguments.output.name!r}.")
    for name in ("draws", "seeds", "workers"):
        validate.integer("bench", 1, None, **{name: getattr(arguments, name)})
    methods = list(dict.fromkeys(arguments.methods or [*USUAL, *ORIGINS]))
    for slug in methods:
        validate.one_of("bench", [one for one, cls in ALGORITHMS.items() if not cls.regions], method=slug)
    for epsilon in arguments.epsilons:
        validate.in_range("bench", 0.01, 100, epsilon=epsilon)
    place = arguments.place or [one for one in methods if one in ORIGINS or one == RECOMMENDED] or methods[:1]
    for slug in place:
        validate.one_of("bench", methods, place=slug)
    bench = Bench(
        arguments.frozen or frozen(Path(__file__).parents[2]),
        tuple(dict.fromkeys(arguments.families)),
        tuple(dict.fromkeys(arguments.boxes)),
        tuple(methods),
        tuple(sorted(set(arguments.epsilons))),
        arguments.draws,
        arguments.seeds,
    )
    print(f"bench {VERSION}: seeds from {bench.frozen!r}; generated data, nothing here is private.", file=sys.stderr)
    engine: Engine = partial(on_this_machine, workers=arguments.workers)
    total = len(bench.families) * len(bench.boxes) * len(methods) * len(bench.epsilons) * bench.draws * bench.seeds
    try:
        with Bar(total) as bar:
            rows = perform(bench, arguments.output.with_suffix(".jsonl"), engine, lambda done, _: bar.reach(done))
    except KeyboardInterrupt:
        print("\nstopped; run the same command again to resume.", file=sys.stderr)
        return 130
    _save(rows, bench, arguments.output)
    print(
        f"dpviz {__version__}, bench {VERSION}, seeds from {bench.frozen}; {bench.draws} draws, {bench.seeds} seeds, "
        f"ε {', '.join(f'{one:g}' for one in bench.epsilons)}. Area under the curve of the loss against ε, divided by "
        "KMeans': geometric mean over draws ± standard error.\n"
    )
    print("\n".join(markdown(areas(rows), place)))
    for reason, group in rows.dropna(subset="reason").groupby("reason"):
        print(f"bench: {len(group)} runs of {', '.join(group.method.unique())} failed: {reason}", file=sys.stderr)
    return 0


def _save(rows: pd.DataFrame, bench: Bench, path: Path) -> None:
    """Write a row per run, in single precision; the file's metadata say which seeds and which code made them."""
    kinds = {"family": "category", "box": "category", "method": "category", "loss": "float32", "reference": "float32"}
    table = pa.Table.from_pandas(rows.astype(kinds), preserve_index=False)
    families = {name: FAMILIES[name].words for name in bench.families}
    about = {
        "bench": VERSION,
        "dpviz": __version__,
        "frozen": bench.frozen,
        "code": fingerprint(),
        "families": families,
    }
    metadata = {**(table.schema.metadata or {}), b"bench": json.dumps(about).encode()}
    pq.write_table(
        table.replace_schema_metadata(metadata),
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in table.column_names if name != "loss"],  # nearly all losses differ
        column_encoding={"loss": "BYTE_STREAM_SPLIT"},
    )
