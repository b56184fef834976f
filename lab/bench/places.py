"""Write the benchmark's table: the area of every method, and the places of some beside the best other method."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.papers.bench import placed
from dpviz.runs.averages import standard_error

__all__ = ["markdown"]


def markdown(areas: pd.DataFrame, methods: list[str]) -> list[str]:
    """Return the lines of a Markdown table: the area of every method, and the places of some methods.

    A cell is the geometric mean over draws ± its standard error between draws; the lowest area is bold. The last lines
    are geometric means over families, for each box.
    """
    places = {one: placed(areas, one).set_index(["family", "box"]) for one in methods}
    head = ["family", "box", "draws", *areas.columns, *(f"{one} / best other (95%)" for one in methods)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    logs = np.log(areas)
    for (family, box), group in logs.groupby(level=["family", "box"], sort=False):
        means = group.mean(skipna=False)
        cells = [_cell(mean, standard_error(group[one]), mean == means.min()) for one, mean in means.items()]
        lines.append(f"| {family} | {box} | {len(group)} | {' | '.join(cells)} | ")
        lines[-1] += " | ".join(_place(places[one].loc[(family, box)]) for one in methods) + " |"
    for box, group in logs.groupby(level="box", sort=False):
        means = np.exp(group.groupby(level="family").mean().mean(skipna=False))
        cells = ["failed" if np.isnan(one) else f"{one:.3f}" for one in means]
        lines.append(f"| geometric mean | {box} | | {' | '.join(cells)} |" + " |" * len(methods))
    return lines


def _cell(mean: float, error: float, lowest: bool) -> str:
    if np.isnan(mean):
        return "failed"
    area = float(np.exp(mean))
    text = f"{area:.3f}" + (f" ± {area * error:.2g}" if np.isfinite(error) else "")
    return f"**{text}**" if lowest else text


def _place(line: pd.Series) -> str:
    if "ratio" not in line or np.isnan(line["ratio"]):
        return "failed" if np.isnan(line["area"]) else "no other"
    interval = f" [{line['low']:.3f}, {line['high']:.3f}]" if np.isfinite(line["low"]) else ""
    return f"{line['ratio']:.3f}{interval} {line['other']}"
