"""Draw how phones join a class: the code, the people in it, and how many have come."""

from __future__ import annotations

import segno
import streamlit as st

from pages._ui.frame import markup, shell
from pages._ui.frame.address.near import elsewhere
from pages._ui.teach.classroom import maps
from pages._ui.teach.classroom.room import Classroom

__all__ = ["LIVE", "code", "many", "place"]

START = "To let phones in this network join, start the server with --server.address 0.0.0.0."
LIVE = 1.5  # seconds between checks of the phones' input


def code(room: Classroom, base: str) -> None:
    """Show the class's code, and its link as a QR code; `base` is the address of the page, as the lecturer sees it."""
    base, here_only = elsewhere(base)
    link = f"{base}?v=1&code={room.code}&key={room.key}"
    source = segno.make(link, error="l", micro=False).svg_data_uri(scale=6, border=3, dark="#000", light="#fff")
    st.html(
        f'<img class="dp-qr dp-door" data-link="{markup.escape(link)}" src="{source}" alt="QR code of the class">'
        f'<p class="dp-letters">{room.code}</p>'
        + markup.small("Scan, or open ", markup.bold(base.partition("://")[2] or base), " and type the five letters.")
        + (markup.small(markup.bold("No phone can join."), f" {here_only} {START}") if here_only else "")
    )


def place(room: Classroom, base: str) -> None:
    """Show the code beside a live picture of everybody who has joined."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        code(room, base)
    with right:
        st.fragment(_crowd, run_every=LIVE)(room)


def _crowd(room: Classroom) -> None:
    points = room.points()
    if room.keeps_points:
        st.html(markup.odds(markup.bold(many(room.seats, "phone")), ", ", markup.bold(many(len(points), "point"))))
        st.html(maps.people(shell.colors(), points))
        st.html(markup.small(markup.tag(), " Made-up points, before any noise."))
        return
    st.html(markup.odds(markup.bold(many(room.seats, "phone")), ". Every point stays on its phone."))


def many(number: int, what: str) -> str:
    """Return a count with its noun, such as "1 phone" or "2 phones"."""
    return f"{number:,} {what}{'s' * (number != 1)}"
