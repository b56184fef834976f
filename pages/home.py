"""Home: alive at once, with a replay, one control and one honest sentence."""

import streamlit as st

from dpviz.numbers import chance, fraction, number
from dpviz.postprocessing.bet import bet_of
from pages._ui.address import links
from pages._ui.address.scene import write
from pages._ui.form.forms import STOPS
from pages._ui.frame import keys, markup, prepared, shell
from pages._ui.frame.catalog import sample
from pages._ui.frame.words import rule_of
from pages._ui.home.controls import home
from pages._ui.player.player import player
from pages._ui.work.runs import demo
from pages._ui.workspace.explore import explore, explored

links.enter(__file__, home, has=("form", "kmeans", "navigation", "player"))
SAMPLE = "town"
result = demo(SAMPLE, st.session_state.get(keys.HOME_EPSILON) or 1.0)
promise = result.trace.claimed
bet = bet_of(promise, who="Alex")
seen = {"explore": write(explored(result), explore)}  # its door leads to the same run
shell.strip(sample(SAMPLE).title, result.trace.name, promise)

links.notice("home", home)
left, right = st.columns(2, gap="medium")
with left:
    st.title("Find the neighborhoods, not the neighbors.")
    st.html(
        markup.lede(
            "Five centers learned from 5,000 people, so that no single one of them matters much. Blue "
            "is what the method publishes. Hollow diamonds are what plain KMeans finds by looking at "
            "everyone."
        )
    )
    st.container(key=keys.FORM).segmented_control(
        "Privacy budget ε",
        STOPS,
        default=1.0,
        required=True,
        format_func=fraction,
        width="stretch",
        **prepared.kept(keys.HOME_EPSILON),
        help="Smaller ε: more noise, more privacy. Larger ε: less noise, sharper centers. "
        "ε is always stated together with δ.",
    )
    dots = "".join(f'<i class="{"coin" if i < 50 else "bound" if i < bet.odds else ""}"></i>' for i in range(100))
    most = markup.bold(f"{bet.odds} times in 100")
    st.html(
        markup.odds(f"Anyone betting on {bet.on} is right at most ", most, ".")
        + f'<div class="dp-dots" role="img" aria-label="{bet.odds} of 100 dots; a coin has 50">{dots}</div>'
        + markup.small(
            f"A coin: 50, the gray ones. No privacy: 100. ε = {number(promise.epsilon)}, δ = {chance(promise.delta)} "
            f"({rule_of(promise)}), μ = {number(promise.mu)}. A bound for every possible attacker, not an estimate."
        )
    )
    shell.doors(keys.DOORS_WIDE, seen)
with right:
    player(
        "home",
        result,
        hidden=prepared.shows("kmeans"),
        axes=(0, 1),
        compact=True,
        autoplay=True,
        opened=links.opened("home"),
    )
links.keep("home", home)
shell.doors(keys.DOORS_NARROW, seen)
