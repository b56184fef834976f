"""Write the verdicts on all items of the papers, from the committed numbers, into dpviz/papers/results/README.md.

python -m lab.benchmarks.verdicts
"""

from __future__ import annotations

import argparse
import textwrap

from dpviz.papers.overview import overview, table
from dpviz.papers.registry import papers
from dpviz.papers.results import RESULTS, load_numbers

README = RESULTS / "README.md"
BEGIN, END = "<!-- verdicts -->", "<!-- end of verdicts -->"


def block() -> str:
    """Return the sentence that sums up all verdicts, and the table of items."""
    found = overview(papers(), {
        (paper.id, item.id): load_numbers(RESULTS / f"{paper.id}-{item.id}.csv")
        for paper in papers().values()
        for item in paper.items
    })  # fmt: skip
    return f"{textwrap.fill(found.sentence, 120)}\n\n{table(found)}"


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    README.write_text(f"{before}{BEGIN}\n\n{block()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
