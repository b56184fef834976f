"""The key to a visitor's accounts as a file: downloaded here, and added here in another browser."""

from __future__ import annotations

import streamlit as st

from dpviz.escape import plain
from pages._ui import keys, markup, messages
from pages._ui.owner import Owner, keep_in_browser, owner, take
from pages._ui.session import session

__all__ = ["download", "offer"]


def offer() -> None:
    """Say who owns the accounts of private files in this visit, and let a visitor with a key keep or bring it."""
    who = owner()
    if session.key_address:  # the browser comes for a key that was brought in the last run
        st.html(markup.fetched(session.key_address))
    if who.kind != "key":
        name = "this machine's user" if who.kind == "local" else f"you as {plain(who.value)}"
        st.caption(f"What a private file has spent is kept for {name}.")
        return
    with st.expander("Your key: what your private files have spent is kept under it"):
        st.markdown(
            "This browser holds a random key in a cookie. The same file with the same key finds the same account, in "
            "any visit. **A lost key is a new account**: then nobody adds up what was claimed before. Download it, and "
            "add it before your file in another browser. Whoever has it owns your accounts."
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            download(who)
            brought = st.file_uploader("Add a key file", "txt", key=keys.KEY_FILE(session.file_turn))
        st.caption(f"Your owner's name, which is no secret, for the operator of this server: {who.name}")
        if brought is not None:
            session.file_turn += 1
            try:
                session.key_address = keep_in_browser(who, take(brought.getvalue()))
                messages.say("done", "Your key is in use, in this visit and in this browser from now on.")
            except ValueError as problem:
                messages.say("problem", str(problem))
            st.rerun()


def download(who: Owner) -> None:
    """Offer the key of an owner who has one."""
    if who.kind == "key":
        st.download_button(
            "Download your key", who.key_file, "dpviz-key.txt", "text/plain",
            icon=":material/key:", on_click="ignore", help="It is a secret: whoever has it owns your accounts.",
        )  # fmt: skip
