"""Limits: the scope of a promise, what it does not cover, and how to check dpviz itself."""

import streamlit as st

from dpviz.lessons import limits_in_words
from pages._ui.explore.federated import reconstruction
from pages._ui.frame import catalog, markup, shell
from pages._ui.frame.address import links
from pages._ui.learn.limits.controls import limits

links.enter(__file__, limits, has=("navigation",))
shell.strip(catalog.sample(links.now("limits", limits).values["d"]).title, private=False)
links.notice("limits", limits)
links.keep("limits", limits)
shell.title()
st.html(
    markup.lede(
        "A privacy promise is exact about a few things and silent on everything else. This page "
        "lists what no promise covers, so that you need not find out later."
    )
)
columns = st.columns(2, gap="large")
for index, (name, words) in enumerate(limits_in_words().items()):
    with columns[index * 2 // len(limits_in_words())]:
        st.header(name)
        st.markdown(words)
reconstruction.lesson()
