"""Show the benchmark of generated data on the Papers page: families by methods, in boxes of four widths."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.numbers import number
from dpviz.papers import bench
from pages._ui.frame import markup
from pages._ui.frame.address.control import Control, choice

__all__ = ["BENCH", "BOX", "show_bench"]

BENCH = "bench"  # the word in an address
BOX = Control(
    "box", "papers_box", "Bounds", choice("tight", ("ball", "tight", "x2", "corner")), widget="select_slider",
    named={
        "ball": "centered on the rows", "tight": "minimum to maximum", "x2": "twice as wide",
        "corner": "one width, rows in a corner",
    },
    help="Bounds are public facts that an owner declares. Here they are taken from the rows, which is NOT PRIVATE.",
)  # fmt: skip
_WORST = 8.0  # times KMeans' loss at which a cell has its darkest tint


@lru_cache(maxsize=1)
def _table(modified: int) -> bench.Table | None:
    return bench.read()


def show_bench() -> None:
    """Show the committed benchmark."""
    st.header("Benchmark of generated data")
    known = _table(bench.TABLE.stat().st_mtime_ns) if bench.TABLE.is_file() else None
    if known is None:
        st.markdown("Not yet run on this machine; use the command below.")
    else:
        about = known.about
        st.caption(
            "Nobody could tune a method on these rows: their seeds follow from the last commit that had touched a "
            f"method or its privacy, {about['frozen'][:10]}. {about['draws']} data sets of each family, "
            f"{about['seeds']} runs at each ε ({', '.join(map(number, about['epsilons']))}), "
            f"δ = 1/(100 n), dpviz {about['dpviz']}, benchmark {about['bench']}."
        )
        box = BOX.draw()
        means = bench.means(known.areas, box)
        st.html(
            markup.small(
                "Area under the curve of the loss against ε, divided by KMeans' (1: privacy is free), geometric mean "
                "over data sets. The lowest number of a line is bold; a darker cell loses more."
            )
            + _heat(means, known.families)
        )
        st.subheader(f"{ALGORITHMS[RECOMMENDED].name} beside the best other method")
        st.html(_places(known, box))
    st.code("python -m dpviz bench -o TABLE.parquet --boxes ball tight x2 corner", language="bash")


def _heat(means: pd.DataFrame, families: dict[str, str]) -> markup.Html:
    heads = ["Family", *(ALGORITHMS[slug].name for slug in means.columns)]
    rows = []
    for family, line in means.iterrows():
        head = markup.bold("All families") if family == "all" else markup.text(families[str(family)])
        cells = "".join(_cell(value, value == line.min()) for value in line)
        rows.append(markup.Html(f"<tr><th scope=row>{head}</th>{cells}</tr>"))
    return markup.table("Area of every method on every family", heads, rows, look="dp-free dp-heat", mark=markup.tag())


def _cell(value: float, lowest: bool) -> str:
    if math.isnan(value):
        return "<td>failed</td>"
    share = float(np.clip(math.log(max(value, 1.0)) / math.log(_WORST), 0, 1))
    words = f"{value:.2f}" if value < 10 else number(value)
    return f'<td style="--dp-lost:{40 * share:.0f}%">{markup.bold(words) if lowest else markup.text(words)}</td>'


def _places(known: bench.Table, box: str) -> markup.Html:
    places = bench.placed(known.areas.xs(box, level="box", drop_level=False), RECOMMENDED)
    rows = [
        markup.row(
            [
                known.families[one.family], f"{one.area:.2f}", ALGORITHMS[one.other].name, f"{one.other_area:.2f}",
                f"{one.ratio:.2f} ({one.low:.2f} to {one.high:.2f})",
            ]
        )
        for one in places.itertuples(index=False)
    ]  # fmt: skip
    heads = ("Family", "Area", "Best other method", "its area", "ratio (95% over data sets)")
    return markup.table("Places", heads, rows, look="dp-free", mark=markup.tag())
