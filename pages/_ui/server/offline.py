"""The server calls no other machine. Streamlit looks up its own address outside when a page of another origin calls."""

from streamlit import net_util


def stay_offline() -> None:
    """Let foreign origins be refused without a look-up; `browser.serverAddress` names the server behind a proxy."""
    net_util.get_internal_ip = net_util.get_external_ip = lambda: None
