"""Show the section of Watch about moves: the bet on a move, the noise behind it, losses compared with full DP."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.dist_dp.family import Moves
from dpviz.figures.dist_dp.dist_dp import losses_panel
from dpviz.numbers import chance, number
from pages._ui.explore.distance import methods
from pages._ui.explore.player.panel import draw
from pages._ui.frame import markup, shell
from pages._ui.frame.address.control import Control, switch
from pages._ui.work import results
from pages._ui.work.results import Result

__all__ = ["SEEN", "section"]

_RHO_LOSSES = "rho_losses"

SEEN = Control("seen", "rho_seen", "I understand", switch(False), look=True, widget="checkbox")


def section(result: Result) -> None:
    """Show what a method about moves protects, if its data are public and rho is the same distance in all columns."""
    data, trace = result.data, result.trace
    mine = ALGORITHMS[trace.algorithm](**trace.parameters)
    if not isinstance(mine, Moves) or data.private or not methods.one_distance(data):
        return
    promise, rho, epsilon = results.drawn(result).claimed, float(mine.rho_distance), float(trace.parameters["epsilon"])
    far, ten = (data.domain.length(times * rho) for times in (1, 10))
    values = {"n_clusters": mine.n_clusters, "epsilon": epsilon, "rho_distance": rho}
    family = [methods.algorithm(slug, **values) for slug in methods.FAMILY]
    if promise.rho_distance is None:
        st.html(
            markup.odds(
                "Was this row Alex, right here, or somebody else, anywhere at all? A bet is right at most ",
                markup.bold(f"{promise.odds} times in 100"),
                ".",
            )
            + markup.small(
                markup.bold(f"At {far}, hiding the whole person is cheaper."),
                f" Noise that hides moves of up to {far} would blur the result more than full differential privacy "
                f"does, so "
                f"{results.drawn(result).name} runs instead of {trace.name} and hides any change of one row.",
            )
        )
    else:
        farther = markup.text(f"Or {ten} away? At most ", markup.bold(f"{methods.odds(promise, 10)} times"), ". ")
        st.html(
            markup.odds(
                f"Was Alex here, or {far} away? A bet is right at most ",
                markup.bold(f"{methods.odds(promise, 1)} times in 100"),
                ". ",
                farther if 10 * rho <= data.domain.diameter else "",
                "Is Alex in the data at all? ",
                markup.bold("No promise."),
            )
            + markup.small(
                "Who is in the data, and roughly where, is ",
                markup.bold("not protected"),
                ": this is a weaker promise than differential privacy, for data in which only the exact location is "
                "secret.",
            )
        )
    paper = ALGORITHMS["dist-dp"].preset("paper", **values)
    thirds = 1 / paper.plan(*methods.size(data)).costs["points"][0].gdp
    st.html(
        markup.small(
            markup.bold("The noise of a point, per coordinate:"),
            f" {'; '.join(methods.noise(data, one, rho) for one in family)}; dist-DP with the paper's split of the "
            f"budget into thirds: {thirds:.1f} rho. Each value is one standard deviation.",
        )
    )
    _losses(result, family, epsilon, far, promise.delta)


def _losses(result: Result, family: list[Moves], epsilon: float, far: str, delta: float) -> None:
    st.header("What do you gain from the weaker promise?")
    if not SEEN.draw(
        label="I understand that these methods hide only moves of up to rho, while the other methods hide a whole "
        "person. Show the losses."
    ):
        return
    table = methods.losses(result.data, family, result, epsilon, far)
    draw(_RHO_LOSSES, [losses_panel(shell.colors(), table)])
    st.html(
        markup.fooled(
            f"Equal ε = {number(epsilon)} and δ = {chance(delta)} do not mean equal privacy: hiding moves of "
            f"up to {far} protects less than hiding everything about a row. Each method ran {len(methods.SEEDS)} "
            "times. If the loss of full DP is no higher, use full DP."
        )
    )
