"""Draw the definition of privacy: one release with and without Alex, and what epsilon and delta mean on its densities.

This module makes everything that the browser shows while epsilon, delta and the prior are dragged, including the texts.
The release is a number with Gaussian noise, in units of the noise's standard deviation: Alex moves it by mu.
"""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import norm

from dpviz.figures.kit.theme import Theme, base, halo
from dpviz.figures.kit.view import Panel, add_frames, xy
from dpviz.numbers import chance, fraction, number
from dpviz.postprocessing.bet import belief, odds_of_any
from dpviz.postprocessing.bound import Bound
from dpviz.privacy.accounting import default_delta, excess_of_mu, mu_of_epsilon
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion

__all__ = [
    "DELTAS",
    "EPSILONS",
    "LEGEND",
    "PRIORS",
    "SLIDERS",
    "cell_table",
    "density_table",
    "error_table",
    "panels",
    "record",
]

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
DELTAS = (default_delta(5_000), 1e-3, 1e-2, 1e-1)  # the default in the town of the lessons, and three that are seen
PRIORS = (1 / 1000, 1 / 100, 1 / 10, 1 / 2)
SLIDERS = ("Privacy budget ε", "δ", "Belief beforehand")
START = (EPSILONS.index(1.0), 2, 1)  # places of the three sliders at first
LEGEND = (
    ("path", "with Alex"),
    ("shade", "overlap of the two curves"),
    ("hidden_shade", "δ: more than e^ε times the curve without Alex"),
)
_ENDS, _TOP = (-3.5, 7.0), 0.5  # ends of the release's axis; upper end of the axis of densities
_ALARMS = np.concatenate([np.geomspace(1e-4, 0.05, 24), np.linspace(0.06, 1, 95)])


def promise(epsilon: float, delta: float) -> Guarantee:
    """Return the promise of Gaussian noise that just keeps epsilon and delta about one row added or removed."""
    mu = mu_of_epsilon(epsilon, delta)
    return Guarantee(Notion.CENTRAL, Neighboring.ADD_REMOVE, epsilon, delta, mu=mu)


def cell_table() -> pd.DataFrame:
    """Return what the picture shows at each epsilon and delta, one row per pair, delta running faster.

    Columns: epsilon, delta, mu; ratio, e^epsilon; line, the release at which the two densities have that ratio; beyond,
    the probability of a release right of the line with Alex in the data; overlap, the area that both densities share;
    wins and odds, the chance of winning a bet from even odds, and out of 100, rounded up; any, these odds against any
    method with the pair.
    """
    rows = []
    for epsilon in EPSILONS:
        for delta in DELTAS:
            one = promise(epsilon, delta)
            mu = float(one.mu or 0.0)
            beyond, wins = excess_of_mu(mu, epsilon), Bound(mu).best_bet
            line, overlap = mu - float(ndtri(beyond)), 2 * (1 - wins)
            rows.append(
                (epsilon, delta, mu, math.exp(epsilon), line, beyond, overlap, wins, one.odds, odds_of_any(one))
            )
    names = ["epsilon", "delta", "mu", "ratio", "line", "beyond", "overlap", "wins", "odds", "any"]
    return pd.DataFrame(rows, columns=names)


def density_table(mu: float, ratio: float) -> pd.DataFrame:
    """Return the densities of the release, one row per place.

    Columns: release; present and absent, the densities with and without Alex; times, the absent density times the
    ratio; both, the smaller of the two densities.
    """
    x = np.linspace(*_ENDS, 141)
    present, absent = norm.pdf(x - mu), norm.pdf(x)
    return pd.DataFrame(
        {
            "release": x,
            "present": present,
            "absent": absent,
            "times": ratio * absent,
            "both": np.minimum(present, absent),
        }
    )


def error_table(mu: float, epsilon: float, delta: float) -> pd.DataFrame:
    """Return the least misses of an attacker for rates of false alarms: against this method, and against any method.

    Columns: alarm, method, any.
    """
    every = Bound(None, ((epsilon, delta),))
    return pd.DataFrame({"alarm": _ALARMS, "method": Bound(mu).miss(_ALARMS), "any": every.miss(_ALARMS)})


def panels(colors: Theme) -> list[Panel]:
    """Return the two densities and the trade-off of errors, with one frame per row of `cell_table`."""
    table = cell_table()
    return [_densities(table, colors), _errors(table, colors)]


def _densities(table: pd.DataFrame, colors: Theme) -> Panel:
    figure = base(colors, "One release, with and without Alex", height=300)
    figure.update_xaxes(title_text="the released number, in standard deviations of its noise", range=list(_ENDS))
    figure.update_yaxes(title_text="density", range=[0, _TOP], showticklabels=False)
    lines: dict[str, dict[str, Any]] = {
        "both": {"fill": "toself", "fillcolor": colors.released_soft, "opacity": 0.5, "line": {"width": 0}},
        "excess": {"fill": "toself", "fillcolor": colors.hidden, "line": {"width": 0}},
        "times": {"line": {"color": colors.muted, "width": 1.8, "dash": "dot"}},
        "absent": {"line": {"color": colors.ink, "width": 2, "dash": "dash"}},
        "present": {"line": {"color": colors.released, "width": 2.4}},
        "line": {"line": {"color": colors.hidden, "width": 1.8}},
    }
    for name, look in lines.items():
        figure.add_scatter(mode="lines", name=name, hoverinfo="skip", **look)
    moving = [i for i, name in enumerate(lines) if name != "absent"]
    figure.data[list(lines).index("absent")].update(xy(density_table(0.0, 1.0)[["release", "absent"]].to_numpy()))
    font = {"size": 14, "shadow": halo(colors), "color": colors.ink}
    figure.add_scatter(mode="text", name="words", hoverinfo="skip", textfont=font, cliponaxis=False)
    frames = []
    for row in table.itertuples():
        one = density_table(row.mu, row.ratio)
        x, over = one.release.to_numpy(), (one.present > one.times).to_numpy()
        one["times"] = one.times.where(one.times < _TOP)  # what is higher leaves the picture
        frames.append(
            [
                xy(_closed(x, one.both.to_numpy(), np.zeros(len(x)))),
                xy(_closed(x[over], one.present[over].to_numpy(), one.times[over].to_numpy())),
                xy(one[["release", "times"]].to_numpy()),
                xy(one[["release", "present"]].to_numpy()),
                xy(np.array([[row.line, 0.0], [row.line, 0.33]])),
                {
                    "x": [0.0, row.mu, row.line],
                    "y": [0.405, 0.405, 0.335],
                    "text": ["without Alex", "with Alex", f"ratio e^ε: {number(row.ratio, 2)}"],
                    "textposition": ["top left", "top right", "top right" if row.line < 4 else "top left"],
                },
            ]
        )
    add_frames(figure, [*moving, len(lines)], frames)
    return Panel("plane", figure, "Two bell curves: the density of one released number with and without Alex.")


def _closed(x: np.ndarray, top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """Return the outline of the area between two curves over x."""
    return np.concatenate([np.stack([x, top], axis=1), np.stack([x, bottom], axis=1)[::-1]])


def _errors(table: pd.DataFrame, colors: Theme) -> Panel:
    figure = base(colors, "Every attacker's errors: no point below the curves", height=300)
    figure.update_xaxes(title_text="false alarms", range=[-0.02, 1.02], tickformat=".0%", dtick=0.25)
    figure.update_yaxes(title_text="misses", range=[-0.02, 1.02], tickformat=".0%", dtick=0.25)
    figure.update_layout(meta={"ar": 1.0, "h": 300})
    coin = {"color": colors.muted, "width": 1.4, "dash": "dot"}
    figure.add_scatter(x=[0, 1], y=[1, 0], mode="lines", name="coin", hoverinfo="skip", line=coin)
    figure.add_scatter(mode="lines", name="any", line={"color": colors.ink, "width": 1.8, "dash": "dash"})
    figure.add_scatter(mode="lines", name="method", line={"color": colors.released, "width": 2.4})
    font = {"size": 13, "shadow": halo(colors), "color": colors.ink}
    figure.add_scatter(
        mode="markers+text", name="bets", textfont=font, hoverinfo="skip", cliponaxis=False,
        marker={"size": 9, "color": colors.released, "line": {"width": 1.5, "color": colors.ink}},
    )  # fmt: skip
    frames = []
    for row in table.itertuples():
        one = error_table(row.mu, row.epsilon, row.delta)
        worst = 1 - Bound(None, ((row.epsilon, row.delta),)).best_bet
        frames.append(
            [
                xy(one[["alarm", "any"]].to_numpy()),
                xy(one[["alarm", "method"]].to_numpy()),
                {
                    "x": [1 - row.wins, worst],
                    "y": [1 - row.wins, worst],
                    "text": [f"this method: {row.odds} of 100", f"any: {row.any}"],
                    "textposition": ["top right", "bottom left"],
                },
            ]
        )
    add_frames(figure, [1, 2, 3], frames)
    return Panel("side", figure, "Misses against false alarms: the curve of this method, and that of any method.")


def record(colors: Theme) -> dict[str, Any]:
    """Return what a browser needs: the figures as JSON, and the labels and sentences of all places of the sliders."""
    table = cell_table()
    return {
        "figures": [panel.figure.to_json() for panel in panels(colors)],
        "alts": [panel.alt for panel in panels(colors)],
        "sliders": SLIDERS,
        "stops": [[fraction(epsilon) for epsilon in EPSILONS], list(map(chance, DELTAS)), list(map(chance, PRIORS))],
        "start": list(START),
        "cells": [{"words": _words(row), "spoken": _spoken(row)} for row in table.itertuples()],
        "beliefs": [[_believed(epsilon, prior) for prior in PRIORS] for epsilon in EPSILONS],
    }


def _words(row: Any) -> list[list[str]]:
    """Return sentences as lists of parts, of which every second is bold."""
    return [
        ["", "Ratio.", " Left of the line, no release is more than ", f"e^ε = {number(row.ratio)} times", " as likely "
         f"with Alex as without. Right of it, some are: with Alex in the data, {chance(row.beyond)} releases."],
        ["", "Area.", " What the blue curve has above e^ε times the dashed one adds up to ", f"δ = {chance(row.delta)}",
         ", exactly."],
        ["", "Overlap.", f" The curves share {100 * row.overlap:.0f}% of their area, and there a bet is a coin "
         "toss. In all the best bet, from even odds, is right at most ", f"{row.odds} times in 100",
         ". Against any method with this ε and δ: "
         f"{row.any}."],
    ]  # fmt: skip


def _spoken(row: Any) -> str:
    return f"ratio {number(row.ratio)}, a bet at most {row.odds} of 100, any method {row.any}"


def _believed(epsilon: float, prior: float) -> list[str]:
    after = 100 * belief(prior, epsilon)
    step = 10.0 ** (math.floor(math.log10(after)) - 1)
    up = number(math.ceil(after / step - 1e-9) * step, 4)  # two digits, rounded up
    return [
        "", "Belief.", f" Who thinks beforehand that Alex is in the data with a chance of {chance(prior)} thinks so "
        "afterwards with a chance of at most ", f"{up} in 100", ", after any release left of the line.",
    ]  # fmt: skip


def text_of(name: str) -> str:
    """Return the source of "definition.js" or "definition.css", which work on any page."""
    return (files(__package__) / name).read_text(encoding="utf-8")
