"""Measure how processor time and memory grow with rows, columns and clusters; print a table with fitted exponents.

python -m lab.benchmarks.growth --algorithms nsm pe-means --rows growth.jsonl
python -m lab.benchmarks.growth --rows growth.jsonl --axes parts --folder FOLDER   # n to 10^7 from a file, in parts

Each run (epsilon 1, seed 0, as many blobs as clusters) has its own process; its processor time and its peak memory
beyond that of the rows are measured (on Linux only). A point is the minimum of --runs runs, or of the runs begun before
--enough processor seconds are used up. One axis grows while the others stay at 10,000 rows, 8 columns and 8 clusters;
the point that all axes share is measured once. An exponent is the slope of the logarithm of the time or memory against
the logarithm of the size, fitted to the three largest points above .05 s (for time) or 1 MB (for memory). A run that
takes more than --most seconds is stopped, and larger points on its axis are not tried, just as the app refuses runs
that its forecast calls too long. Finished points stay in the file and are used again while the algorithms' code is the
same.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets.parts import parts_of
from dpviz.domain import Domain
from dpviz.privacy.chunked import ChunkedRows, threads

from ..bench.fingerprint import fingerprint
from .disk import generate

BASE = {"n": 10_000, "d": 8, "k": 8}
AXES = {
    "n": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "d": (2, 8, 32, 128, 784),
    "k": (2, 8, 32, 128, 256),
    "parts": (100_000, 1_000_000, 10_000_000),
}
LARGEST = 3  # the exponent is fitted to this many of the largest sizes
SHORT = 0.05  # number of seconds below which startup time dominates a run


def blobs(n: int, d: int, k: int) -> tuple[np.ndarray, Domain]:
    """Return n rows scattered about k centers in the box [-1, 1]^d, and the box."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.7, 0.7, (k, d))[rng.integers(k, size=n)]
    X += rng.normal(0, 0.05, (n, d))
    return np.clip(X, -1, 1), Domain.box(-1, 1, d, n_public=n)


def on_disk(n: int, folder: Path) -> ChunkedRows:
    """Return n rows from a file, which is generated if it does not exist."""
    path = folder / f"rows_{n}.npy"
    if not path.exists():
        generate(path, n)
    return ChunkedRows(parts_of(path), Domain.box(-1, 1, BASE["d"], n_public=n), "growth", threads(1))


def peak() -> float:
    """Return the peak of this process's memory in megabytes, as the kernel reports it."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measure(answer: Connection, slug: str, axis: str, size: int, folder: Path) -> None:
    """Send one run's seconds, its megabytes beyond those of the rows, and the error message if it was refused."""
    shape = BASE | ({axis: size} if axis in BASE else {})
    X, domain = (on_disk(size, folder), None) if axis == "parts" else blobs(**shape)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak, so that making the rows does not count
    before = peak()
    begun, refused = time.process_time(), ""
    with threadpool_limits(1):
        try:
            ALGORITHMS[slug](n_clusters=shape["k"]).run(X, domain=domain, seed=0)
        except (ValueError, PermissionError) as error:
            refused = str(error)
    spent = time.process_time() - begun
    risen = peak() - before
    answer.send({"seconds": round(spent, 4), "megabytes": round(risen, 1), "refused": refused})


def point(slug: str, axis: str, size: int, folder: Path, most: float) -> dict[str, Any]:
    """Return what `measure` sends, or only the entry "over" if the process takes over `most` seconds or is killed."""
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=measure, args=(theirs, slug, axis, size, folder))
    process.start()
    theirs.close()
    found: dict[str, Any] = {"over": True}
    try:
        if ours.poll(most):
            found = ours.recv()
        else:
            process.terminate()
    except EOFError:  # the system killed the process, usually because it used too much memory
        pass
    process.join()
    return found


def least(slug: str, axis: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return the minimum time and memory of a point's runs, or the first run that is over the limit or refused."""
    runs: list[dict[str, Any]] = []
    while len(runs) < options.runs and sum(one["seconds"] for one in runs) <= options.enough:
        runs.append(point(slug, axis, size, options.folder, options.most))
        if "over" in runs[-1] or runs[-1]["refused"]:
            return runs[-1]
    return runs[0] | {name: min(one[name] for one in runs) for name in ("seconds", "megabytes")}


def exponent(sizes: list[int], values: list[float]) -> float:
    """Return the slope of log value over log size at the three largest sizes; NaN if there are fewer than two."""
    pairs = [(size, value) for size, value in zip(sizes, values, strict=True) if value > 0][-LARGEST:]
    if len(pairs) < 2:
        return float("nan")
    x, y = np.log(np.array(pairs, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])


def line(slug: str, axis: str, points: dict[int, dict[str, Any]]) -> str:
    """Return an algorithm's line in the table of one axis."""
    cells = []
    for size in AXES[axis]:
        one = points.get(size, {"over": True})
        if "over" in one:
            cells.append("over")
        elif one["refused"]:
            cells.append("refused")
        else:
            cells.append(f"{one['seconds']:.2f} s, {one['megabytes']:.0f} MB")
    ran = {size: one for size, one in points.items() if "over" not in one and not one["refused"]}
    sizes = [size for size in ran if ran[size]["seconds"] > SHORT]
    time_slope = exponent(sizes, [ran[size]["seconds"] for size in sizes])
    large = [size for size in ran if ran[size]["megabytes"] >= 1]
    memory_slope = exponent(large, [ran[size]["megabytes"] for size in large])
    slopes = ["–" if np.isnan(slope) else f"{slope:.1f}" for slope in (time_slope, memory_slope)]
    return f"| {ALGORITHMS[slug].name} | {' | '.join(cells)} | {' | '.join(slopes)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), choices=list(ALGORITHMS))
    parser.add_argument("--axes", nargs="+", default=["n", "d", "k"], choices=list(AXES))
    parser.add_argument("--most", type=float, default=60.0, help="maximum number of seconds that a run may take")
    parser.add_argument("--runs", type=int, default=3, help="maximum number of runs per point")
    parser.add_argument(
        "--enough", type=float, default=3.0, help="processor seconds after which no further run of a point begins"
    )
    parser.add_argument("--folder", type=Path, default=Path("/tmp"), help="folder for the file that is read in parts")
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    lines = options.rows.read_text().splitlines() if options.rows.exists() else []
    done = {row["key"]: row["point"] for row in map(json.loads, lines)}
    for axis in options.axes:
        print(
            f"\n| {axis} | {' | '.join(f'{size:,}' for size in AXES[axis])} | exponent of time | exponent of memory |"
        )
        print("|---" * (len(AXES[axis]) + 3) + "|")
        for slug in options.algorithms:
            points: dict[int, dict[str, Any]] = {}
            for size in AXES[axis]:
                shape = BASE | {axis: size}
                key = json.dumps([slug, shape, options.runs, options.enough, options.most, fingerprint()])
                if key not in done:
                    done[key] = least(slug, axis, size, options)
                    with options.rows.open("a") as file:
                        file.write(json.dumps({"key": key, "point": done[key]}) + "\n")
                points[size] = done[key]
                if "over" in points[size]:
                    break
            print(line(slug, axis, points), flush=True)
    print(f"\n`python -m lab.benchmarks.growth {' '.join(sys.argv[1:])}`")


if __name__ == "__main__":
    main()
