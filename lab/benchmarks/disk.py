"""Time runs on a file larger than memory: compare a pass with reading the file once; print the peak memory.

python -m lab.benchmarks.disk --folder FOLDER --rows 50_000_000 --algorithms nsm fastlloyd

The script generates rows_N.npy (8 clusters in 8 columns, float32) in the folder unless it exists, reads it once from
the disk with nothing cached, then, for each algorithm, runs `python -m dpviz run ALGORITHM --in-parts` in a separate
process. A pass reads the file once; a run takes one pass per release, and two for the loss.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil

ROOT = Path(__file__).parents[2]
COLUMNS, CLUSTERS, BLOCK = 8, 8, 10**6


def generate(path: Path, rows: int) -> None:
    """Write the file block by block."""
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.7, 0.7, (CLUSTERS, COLUMNS))
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, COLUMNS))
    for start in range(0, rows, BLOCK):
        n = min(BLOCK, rows - start)
        file[start : start + n] = np.clip(
            centers[rng.integers(CLUSTERS, size=n)] + rng.normal(0, 0.05, (n, COLUMNS)), -1, 1
        )
    file.flush()


def read_seconds(path: Path) -> float:
    """Return the seconds of one reading from front to back, after the file was dropped from the cache."""
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begun = time.perf_counter()
        while file.read(2**24):
            pass
        return time.perf_counter() - begun


def run(path: Path, rows: int, slug: str, k: int) -> tuple[float, int, float, str]:
    """Return (seconds, releases, peak memory in MB, the printed loss) of one run in a process of its own."""
    command = [sys.executable, "-m", "dpviz", "run", slug, "--data", str(path), "--public", "--in-parts"]
    command += ["--low", "-1", "--high", "1", "--n-public", str(rows), "--n-clusters", str(k)]
    begun, peak = time.perf_counter(), 0
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    watched = psutil.Process(process.pid)
    while process.poll() is None:
        peak = max(peak, watched.memory_info().rss)
        time.sleep(0.1)
    spent = time.perf_counter() - begun
    output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"disk: {slug} ended with {process.returncode}: {output}")
    releases = int(re.search(r"in (\d+) releases", output)[1])
    return spent, releases, peak / 1e6, re.search(r"centers: (\S+)", output)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--algorithms", nargs="+", default=["nsm", "fastlloyd"])
    options = parser.parse_args()
    path = options.folder / f"rows_{options.rows}.npy"
    if not path.exists():
        generate(path, options.rows)
    size = path.stat().st_size / 1e6
    reading = read_seconds(path)
    rate = size / reading
    print(f"{options.rows:,} x {COLUMNS} rows, {size:,.0f} MB, read once in {reading:.1f} s ({rate:,.0f} MB/s)")
    print("| algorithm | seconds | passes | seconds a pass | times reading | peak MB | loss |")
    print("|---|---|---|---|---|---|---|")
    for slug in options.algorithms:
        spent, releases, peak, loss = run(path, options.rows, slug, CLUSTERS)
        each = spent / (releases + 2)
        print(
            f"| {slug} | {spent:.0f} | {releases + 2} | {each:.1f} | {each / reading:.1f} | {peak:.0f} | {loss} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
