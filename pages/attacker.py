"""Alex: the current run with and without one person, and a game in which the visitor tells the two worlds apart."""

import dataclasses

import streamlit as st

from pages._ui.explore import drag
from pages._ui.explore.attacker import view, worlds
from pages._ui.explore.attacker.setup import asked, method_of, setup
from pages._ui.explore.attacker.worlds import ALEX_FIGURES
from pages._ui.explore.look import opened
from pages._ui.explore.notices import first_run, heading, notices
from pages._ui.explore.player.player import view_of
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop

links.enter(__file__, explore, has=("form", "kmeans", "navigation", "player"))

head, choice, result, how = opened(switch=True)

with head:
    heading(choice, result)
    shell.title("" if result is None else asked(result.data, method_of(result)))
if choice.data.private:
    st.info(
        "These data are private: runs with and without a person would reveal who is in the file. Play on a sample or "
        "on a public file."
    )
    stop()
notices(choice, result)
if result is None:
    first_run(choice)
    stop()
drag.section(ALEX_FIGURES, choice, result, how)
game = setup(result)
if game is not None:
    worlds.section(result, game, how)
    view.board(game, view_of(result, dataclasses.replace(how, hidden=False)))
