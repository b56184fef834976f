"""Measure uploads: `python -m lab.benchmarks.uploads` uploads 2 million rows; then 20 visitors upload 50 MB each.

The script prints the seconds from "Yes, it is public" until the form appears, the server's processor time for the first
visit, and the server's memory beyond that of an idle server. The script drives a real server through headless Chromium.
On a busy machine everything takes longer, so the machine's load is printed, too. `--large` stops after the first part.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS

ROOT = Path(__file__).parent.parent

PORT = 8614
URL = f"http://127.0.0.1:{PORT}/data"


class Memory:
    """The resident memory of a process and its maximum since the last reset, sampled every 20 ms, in MB."""

    def __init__(self, pid: int) -> None:
        self._statm, self.peak = Path(f"/proc/{pid}/statm"), 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def now(self) -> float:
        return int(self._statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def processor(self) -> float:
        """Return the processor time that the process has used, in seconds."""
        fields = self._statm.with_name("stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while True:
            try:
                self.peak = max(self.peak, self.now())
            except OSError:
                return
            time.sleep(0.02)


def make_csv(path: Path, n_rows: int, n_columns: int) -> Path:
    rng = np.random.default_rng(0)
    columns = {f"c{j}": np.round(rng.normal(50, 10, n_rows), 4) for j in range(n_columns)}
    pyarrow.csv.write_csv(pa.table(columns), path)
    return path


def drop(page: Page, file: Path) -> float:
    """Upload a file and say that it is public; return the seconds from then until the form appears."""
    page.goto(URL)
    page.get_by_text("Your file", exact=True).click()
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("button", name="Yes, it is public").click()
    start = time.perf_counter()
    page.get_by_text("Columns to cluster on").wait_for()
    return time.perf_counter() - start


def main() -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true", f"--server.port={PORT}"]
    command += ["--server.address=127.0.0.1", "--server.disconnectedSessionTTL=2"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
            large = make_csv(Path(folder) / "large.csv", 2_000_000, 10)
            small = make_csv(Path(folder) / "small.csv", 640_000, 10)
            time.sleep(8)
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

            def visit(file: Path | None) -> float:
                context = browser.new_context()
                page = context.new_page()
                page.set_default_timeout(180_000)
                try:
                    if file is not None:
                        return drop(page, file)
                    page.goto(URL)
                    page.get_by_role("button", name="Use", exact=True).first.wait_for()
                    return 0.0
                finally:
                    context.close()

            visit(None)
            time.sleep(6)
            memory = Memory(server.pid)
            idle = memory.peak = memory.now()
            before = memory.processor()
            seconds = visit(large)
            used, peak = memory.processor() - before, memory.peak - idle
            print(
                f"2,000,000 x 10 CSV of {large.stat().st_size / 1e6:.0f} MB: {seconds:.1f} s until the form appears",
                flush=True,
            )
            print(
                f"{used:.1f} s of processor time, peak {peak:.0f} MB above {idle:.0f} MB, load {os.getloadavg()[0]:.1f}"
            )
            time.sleep(8)
            print(f"after that visitor left: {memory.now() - idle:+.0f} MB", flush=True)
            if "--large" in sys.argv:
                return
            third = 0.0
            for number in range(1, 21):
                seconds = visit(small)
                time.sleep(6)
                third = memory.now() if number == 3 else third
                print(f"visitor {number}: {seconds:.1f} s, {memory.now() - idle:+.0f} MB", flush=True)
            size = small.stat().st_size / 1e6
            print(f"20 visitors, {size:.0f} MB each: {memory.now() - third:+.0f} MB from the third visitor to the last")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
