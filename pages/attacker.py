"""Attacker: guess from what is released whether somebody is in the data, against a bound that holds for everybody."""

import streamlit as st

from pages._ui.address import links
from pages._ui.attacker import view
from pages._ui.attacker.setup import setup
from pages._ui.form.forms import pick_data
from pages._ui.frame import shell
from pages._ui.workspace.attacker import attacker

links.enter(__file__, attacker, has=("form", "navigation"))

with st.sidebar:
    name, data = pick_data()
    game = None if data.private else setup(name, data)
promise = game.algorithm.guarantee(data.domain.n_features, data.n_public) if game else None
reach = data.domain.length(promise.rho_distance) if promise and promise.rho_distance is not None else ""
shell.strip(data.title, game.algorithm.name if game else "", promise, private=data.private, reach=reach)
links.notice("attacker", attacker)
shell.title(game.words if game else "")
links.keep("attacker", attacker, private=data.private)
if data.private:
    st.info(
        "These data are private. The game runs an algorithm hundreds of times with and without a person, and shows "
        "which it was: on private rows that would tell who is in the file. Play on a sample or on a public file."
    )
if game is None:
    st.stop()
view.board(game)
