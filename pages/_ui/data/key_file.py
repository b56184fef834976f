"""Offer the key to a visitor's accounts as a file, which can be added in another browser."""

from __future__ import annotations

import streamlit as st

from dpviz.escape import plain
from pages._ui.data.state import data_state
from pages._ui.frame import markup, messages
from pages._ui.server.owner import Owner, keep_in_browser, owner, take

__all__ = ["download", "offer"]


def offer() -> None:
    """Say who owns the accounts of private files in this visit, and let a visitor with a key download or add it."""
    who = owner()
    if data_state.key_address:  # the browser now fetches the key that the last script run added
        st.html(markup.fetched(data_state.key_address))
    if who.kind != "key":
        name = "this machine's user" if who.kind == "local" else f"you as {plain(who.value)}"
        st.caption(f"Spending on private files is recorded for {name}.")
        return
    with st.expander("Your key: spending on your private files is recorded under it"):
        st.markdown(
            "This browser keeps a random key in a cookie. The same file with the same key leads to the same account "
            "in any visit. **A lost key means a new account**, which does not include earlier claims. Download the "
            "key, and in another browser add it before your file. Anyone who has the key owns your accounts."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            download(who)
            brought = st.file_uploader("Add a key file", "txt", key=f"key_file_{data_state.file_turn}")
        st.caption(f"The operator of this server knows the owner of your accounts as {who.name}, which is not secret.")
        if brought is not None:
            data_state.file_turn += 1
            try:
                data_state.key_address = keep_in_browser(who, take(brought.getvalue()))
                messages.say("done", "Your key is now in use in this visit and this browser.")
            except ValueError as problem:
                messages.say("problem", str(problem))
            st.rerun()


def download(who: Owner) -> None:
    """Offer an owner's key for download, if the owner has one."""
    if who.kind == "key":
        st.download_button(
            "Download your key", who.key_file, "dpviz-key.txt", "text/plain",
            icon=":material/key:", on_click="ignore", help="The key is a secret: anyone who has it owns your accounts.",
        )  # fmt: skip
