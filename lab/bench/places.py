"""Turn the benchmark's rows into areas under curves, and place methods beside the best other method."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.metrics import loss_auc
from dpviz.runs.averages import margin_of_error, standard_error

__all__ = ["areas", "markdown", "placed"]


def areas(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each method's area on each draw: a line per (family, box, draw), a column per method.

    An area is that under the curve of the loss against epsilon, divided by KMeans' area; for one epsilon it is the
    loss divided by KMeans' loss. It is the mean over seeds, NaN if a run failed.
    """
    points = ["family", "box", "draw", "method"]
    ratio = rows.assign(ratio=rows.loss.astype(float) / rows.reference.astype(float))
    curves = ratio.pivot_table(
        index=points, columns="epsilon", values="ratio", aggfunc=lambda one: one.mean(skipna=False), sort=False,
        dropna=False, observed=True,
    ).dropna(how="all")  # fmt: skip
    epsilons = list(curves.columns)
    if len(epsilons) > 1:
        width = max(epsilons) - min(epsilons)
        area = curves.apply(lambda line: loss_auc(epsilons, line.to_numpy()) / width, axis=1)
    else:
        area = curves.iloc[:, 0]
    return area.unstack("method")


def placed(areas: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return a method's place in every family and box: a line each.

    The best other method has the lowest geometric mean over the draws. `ratio` is the geometric mean of the method's
    area divided by that method's area on the same draw; `low` and `high` are its 95% t-interval over draws, NaN for
    one draw. Draws on which the method or the other one failed are left out.
    """
    lines = []
    for (family, box), group in areas.groupby(level=["family", "box"], sort=False):
        logs = np.log(group.drop(columns=method).dropna(axis=1, how="any"))
        line = {"family": family, "box": box, "method": method, "area": np.exp(np.log(group[method]).mean())}
        if logs.shape[1] and group[method].notna().any():
            best = logs.mean().idxmin()
            paired = (np.log(group[method]) - logs[best]).dropna()
            half = margin_of_error(paired)
            line |= {"other": best, "other area": np.exp(logs[best].mean()), "draws": len(paired)}
            line |= dict(zip(("ratio", "low", "high"), np.exp(paired.mean() + np.array([0, -half, half])), strict=True))
        lines.append(line)
    return pd.DataFrame(lines)


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
