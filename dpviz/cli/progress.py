"""Report progress on the error stream: as a bar on a terminal, or as a line after every tenth in a file or pipe."""

from __future__ import annotations

import sys

from tqdm import tqdm

__all__ = ["Bar"]


class Bar:
    """Count finished items, including those finished in an earlier call.

    Parameters
    ----------
    total : number of all items
    done : number of items finished in an earlier call
    unit : name of an item
    quiet : whether to write nothing if there is no terminal
    """

    def __init__(self, total: int, done: int = 0, *, unit: str = "run", quiet: bool = False) -> None:
        self.n, self._total, self._unit, self._failed, self._tenth = done, total, unit, 0, -1
        self._bar = tqdm(total=total, initial=done, unit=unit, dynamic_ncols=True, leave=not quiet, disable=None)
        self._lines = self._bar.disable and not quiet
        self._show()

    def step(self, *, failed: bool = False) -> None:
        """Count one more finished item."""
        self._failed += failed
        if failed:
            self._bar.set_postfix_str(f"{self._failed} failed", refresh=False)
        self.reach(self.n + 1)

    def reach(self, n: int) -> None:
        """Set the number of finished items to `n`."""
        self._bar.update(n - self.n)
        self.n = n
        self._show()

    def _show(self) -> None:
        tenth = 10 * self.n // max(self._total, 1)
        if self._lines and tenth != self._tenth:
            self._tenth = tenth
            failed = f", {self._failed} failed" if self._failed else ""
            print(f"{self.n} of {self._total} {self._unit}s{failed}", file=sys.stderr, flush=True)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
