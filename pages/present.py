"""Present: a deck of scenes with notes; every slide's picture is made before the first one is shown."""

import streamlit as st

from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.teach.present import view
from pages._ui.teach.present.controls import COLORS, present

links.enter(__file__, present)
shell.strip(data="samples and made-up people")
links.notice("present", present)
shell.title()
st.html(
    markup.lede(
        "Your scenes in order, full screen. Everything is computed before the first scene appears: nothing makes you "
        "wait, no number changes between rehearsal and talk, and no network is needed."
    )
)
view.recall()
with st.container(key="present_stage"):
    view.projector()
left, right = st.columns([2, 3], gap="large")
with left:
    index = view.slide_list()
    COLORS.draw()
    view.deck_file()
with right:
    view.slide_form(index)
st.html(
    markup.small(
        markup.bold("Keys."),
        " Right, Space, Page Down or a click: next step, then next slide. Left or Page Up: back. Down, Up: next or "
        "previous slide. 1 to 5: the same run at ε ¼, ½, 1, 2, 4. 0: the run at an ε that you type, computed on the "
        "spot. R: the run with another seed. B: black screen. N: notes in a second window. F: full screen. Esc: "
        "leave full screen, then open the scene.",
    )
)
links.keep("present", present)
