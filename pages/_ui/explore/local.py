"""Show below a local run how many people it needs: a prediction for every n, and a trial for one n."""

from __future__ import annotations

import dataclasses
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.stemmer_kaplan.local import StemmerKaplanLocal
from dpviz.datasets import Dataset
from dpviz.figures.stemmer_kaplan import local as figures
from dpviz.metrics import run_loss
from dpviz.numbers import number
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.player.how import How
from pages._ui.explore.player.panel import draw
from pages._ui.explore.player.player import view_of
from pages._ui.frame import markup
from pages._ui.work.results import Result

_USERS_FIGURE = "{}_users_{}".format
_USERS_TRIED = "{}_tried".format

USERS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
CELLS = 20_000_000  # maximum number of cells in a made-up population


def section(key: str, result: Result, how: How) -> None:
    """Ask how many people a local run would need; only public data, because more people are drawn from them."""
    if result.trace.claimed.notion is Notion.LOCAL and how.hidden and not result.data.private:
        st.header("How many people would it take?")
        st.fragment(_body)(key, result, how)


@st.cache_data(max_entries=64, show_spinner="Every person reports")
def _loss(dataset_id: str, users: int, seed: int, _algorithm: Algorithm, _data: Dataset, parameters: str) -> float:
    """Return the loss with this many people, each drawn from the data set."""
    X = _data.X[np.random.default_rng(seed).integers(len(_data.X), size=users)]
    domain = dataclasses.replace(_data.domain, n_public=users)
    return run_loss(_algorithm.run(X, domain=domain, seed=seed), _data.X)


def _body(key: str, result: Result, how: How) -> None:
    trace, data = result.trace, result.data
    algorithm = cast(StemmerKaplanLocal, ALGORITHMS[trace.algorithm](**trace.parameters))  # the only local method
    d = data.domain.n_features
    choices = [n for n in USERS if n * d <= CELLS]
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    n = left.select_slider("People", choices, min(200_000, choices[-1]), format_func="{:,}".format, key=f"{key}_users")
    parameters = str(sorted(trace.parameters.items()))
    tried = st.session_state.setdefault(_USERS_TRIED(key), {}).setdefault((data.dataset_id, parameters), {})
    if right.button("Ask them", key=f"{key}_ask", width="stretch"):
        tried[n] = _loss(data.dataset_id, n, trace.seed or 0, algorithm, data, parameters)
    error = algorithm.predicted(d, n)
    st.html(
        markup.small(
            f"Prediction: with {n:,} people, a cell stands out once it holds ",
            markup.bold(f"{error['heavy'] / n:.1%}"),
            f" of them, a weight is off by ±{error['weight'] / n:.1%} of all people, and the average "
            "of one cluster's widest cell by about ",
            markup.bold(number(error["center"], 2)),
            " times the domain's half-width (before averages shrink toward the middle).",
        )
    )
    table = pd.DataFrame([{"users": m, **algorithm.predicted(d, m)} for m in choices])
    view = view_of(result, how)
    panels = figures.users_panels(view, table, n, tried)
    for column, panel in zip(st.columns(2, gap="medium"), panels, strict=True):
        with column:
            draw(_USERS_FIGURE(key, panel.name), [panel])
