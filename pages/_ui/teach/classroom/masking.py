"""Show masks that cancel: every phone's masked number, and their sum."""

from __future__ import annotations

import streamlit as st

from pages._ui.frame import markup, messages
from pages._ui.teach.classroom.joining import LIVE, many
from pages._ui.teach.classroom.masks import RING, Round
from pages._ui.teach.classroom.room import Classroom

__all__ = ["masks"]


def masks(room: Classroom, base: str) -> None:
    """Show a round of masks, and let the lecturer deal masks or begin another round."""
    words, numbers = st.columns([2, 3], gap="large")
    with words:
        st.header("Can a sum hide its parts?")
        st.html(
            '<p class="dp-said">Each phone chooses a whole number, gets a mask and shows the sum of the two, of '
            "which only the last four digits count. Each masked number alone could be any of "
            f"{RING:,}, whatever was chosen. All masks add up to 0, so the masked numbers add up to the true "
            "sum.</p>"
        )
        if room.masks is None:
            st.button("Deal the masks", key="class_deal", type="primary", on_click=_deal, args=(room,))
        else:
            st.button("Begin another round", key="class_undeal", on_click=room.drop_masks)
        st.html(
            markup.small(
                markup.bold("To be honest,"),
                " this one server deals the masks and keeps the numbers, so it sees everything. In FastLloyd the "
                "clients make the masks from secrets that the server never gets, and noise is added before the "
                "sum is read. The sum here is exact: those who know all other numbers learn yours from it.",
            )
        )
    with numbers:
        st.fragment(_numbers, run_every=LIVE)(room)


def _deal(room: Classroom) -> None:
    try:
        room.deal_masks()
    except ValueError as problem:
        messages.say("problem", str(problem))


def _numbers(room: Classroom) -> None:
    round_ = room.masks
    if round_ is None:
        st.html(markup.odds(markup.bold(f"{len(room.ready)} of {many(room.seats, 'phone')}"), " chose a number."))
        return
    tiles = "".join(
        f"<li><span>phone {seat}</span><b>{'' if masked is None else f'{masked:04d}'}</b></li>"
        for seat, masked in round_.shown.items()
    )
    st.html(f'<ul class="dp-masked" tabindex="0" aria-label="Masked numbers">{tiles}</ul>{_sum(round_)}')


def _sum(round_: Round) -> str:
    if round_.missing:
        return (
            markup.odds(
                f"The last four digits of the sum so far, with {many(round_.missing, 'masked number')} missing:"
            )
            + f'<p class="dp-letters">{round_.sum:04d}</p>'
            + markup.small(
                "It says nothing yet: as long as one mask is missing, each of these sums is equally likely. If a phone "
                "has gone, begin another round; its mask cannot be done without."
            )
        )
    phones = len(round_.shares)
    return (
        markup.odds("All masks have canceled. The sum of the numbers is")
        + f'<p class="dp-letters">{round_.sum}</p>'
        + markup.odds(markup.bold(f"Mean {round_.sum / phones:.1f}"), f" of {phones} phones.")
    )
