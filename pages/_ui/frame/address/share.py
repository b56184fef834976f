"""Show the Share dialog: the link to a picture, its QR code, the parts that it hides and locks, and the iframe code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import segno
import streamlit as st

from dpviz.escape import plain
from pages._ui.frame import embed
from pages._ui.frame.address.control import Vocabulary
from pages._ui.frame.address.data import FILE, columns_of
from pages._ui.frame.address.deck import MOST_SLIDES, PAGES, Slide
from pages._ui.frame.address.near import elsewhere
from pages._ui.frame.address.own_deck import add, own_deck
from pages._ui.frame.address.scene import HIDEABLE, LOCK, MOST_TASK, Scene, controls, write

__all__ = ["button"]

_SHARE_LINK = "share_link"
_SHARE_OPEN = "share_open"

_HERE = Path(__file__).parent
_PARTS = {
    "form": "form",
    "kmeans": "people and KMeans",
    "verdict": "verdict",
    "panels": "side panels",
    "navigation": "navigation",
}
_FREE = {
    "": "everything",
    "epsilon": "only ε",
    "k": "only the number of centers",
    "seed": "only the seed",
    "all": "nothing",
}
_STARTS = ("as it stands now", "from the first step, playing")

_field = st.components.v2.component(
    "dpviz_share",
    html='<div class="field"><input readonly aria-label="Link"><button>Copy</button></div><output></output>',
    css=(_HERE / "share.css").read_text(),
    js=(_HERE / "share.js").read_text(),
)


def button(scene: Callable[[], Scene], vocabulary: Vocabulary, has: Collection[str], *, refused: bool) -> None:
    """Show the button that opens the dialog, which stays open when the page is redrawn, for example after a run.

    `has` lists the parts of the page that a link may hide, and "player"; if empty, nothing can be hidden or locked.
    `refused` says that the picture gets no link, because an address cannot name its data.
    """
    opened = st.button("Share", icon=":material/share:", type="tertiary", key="share")
    if refused:
        _close()
        if opened:
            _refuse()
    elif opened or _SHARE_OPEN in st.session_state:
        link = scene()
        if opened:
            st.session_state[_SHARE_OPEN] = link.page
        if st.session_state[_SHARE_OPEN] == link.page:
            _dialog(link, vocabulary, has)
        else:
            _close()


def _close() -> None:
    st.session_state.pop(_SHARE_OPEN, None)


@st.dialog("This picture cannot be shared as a link")
def _refuse() -> None:
    st.markdown(
        "A link would carry your choices but not the data: anyone who opened it would have no file to run on, and "
        "your choices would remain in logs and browser histories. A run's releases can be saved below its "
        "picture or on the Account page."
    )


@st.dialog("Share this picture", width="medium", on_dismiss=_close)
def _dialog(scene: Scene, vocabulary: Vocabulary, has: Collection[str]) -> None:
    top = st.container()
    plays = False
    if "player" in has:
        plays = st.radio("It opens", _STARTS, key="share_start", horizontal=True) == _STARTS[1]
    hide, lock = _prepare(scene, vocabulary, has) if has else (scene.hide, scene.lock)
    task = st.text_input(
        "Task", scene.task, MOST_TASK, key="share_task", placeholder="Find the smallest ε with five groups."
    )
    step = getattr(st.session_state.get(_SHARE_LINK), "step", None)
    prepared = dataclasses.replace(
        scene,
        step=None if plays else step,
        play=plays,
        hide=hide,
        lock=lock,
        task=" ".join(task.split()),
    )
    base = st.context.url or f"/{scene.page}"
    link, here_only = elsewhere(f"{base}?{write(prepared, vocabulary)}")
    with top:
        _link(link, here_only, follows_step="player" in has)
        if str(data := scene.values.get("d", "")).startswith(FILE):
            st.caption(
                f"The link names your file's columns ({plain(', '.join(columns_of(data)))}), but contains none of its "
                f"rows. To see the picture, the recipient needs the file."
            )
    if scene.page in PAGES and not str(scene.values.get("d", "")).startswith(FILE):
        _to_deck(prepared, vocabulary)
    if "player" in has:
        _frame(link, scene.page)


def _prepare(scene: Scene, vocabulary: Vocabulary, has: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Ask what the link hides and what it leaves unlocked; return both."""
    parts = [part for part in HIDEABLE if part in has]
    hide = st.pills(
        "Hide", parts, selection_mode="multi", default=[part for part in scene.hide if part in parts],
        format_func=_PARTS.__getitem__, key="share_hide",
        help="Anyone who opens the link can show hidden parts again. If people and KMeans are hidden, the verdict does "
        "not say which groups were found.",
    )  # fmt: skip
    words = {control.word for control in controls(scene.values, vocabulary)}
    free: list[str] = ["", *(name for name, word in LOCK.items() if not word or word in words)]
    lock = st.selectbox(
        "What others can change", free, free.index(scene.lock) if scene.lock in free else 0,
        format_func=_FREE.__getitem__, key="share_lock", disabled="form" in hide,
    )  # fmt: skip
    return tuple(hide), "" if "form" in hide else lock


def _to_deck(scene: Scene, vocabulary: Vocabulary) -> None:
    """Offer to append the link's scene to the deck."""
    slide = Slide(scene.task or scene.page.capitalize(), f"{scene.page}?{write(scene, vocabulary)}")
    full = len(own_deck().slides) >= MOST_SLIDES
    st.button(
        "Add to the deck", icon=":material/slideshow:", key="share_deck", on_click=add, args=(slide,), disabled=full,
        help="Adds the picture as a slide to the deck on the Present page.",
    )  # fmt: skip
    if own_deck().slides[-1] == slide:
        st.caption(f"The picture is slide {len(own_deck().slides)} of the deck on the Present page.")


def _link(link: str, here_only: str, *, follows_step: bool) -> None:
    """Show the link and its QR code. Only the browser's address holds the step, so the field reads it there."""
    data: dict[str, Any] = {"link": link, "follows": follows_step}
    left, right = st.columns([3, 1], vertical_alignment="top")
    with left:
        _field(key=_SHARE_LINK, data=data, on_step_change=lambda: None, height="content")
        if here_only:
            st.caption(here_only)
    try:
        code = segno.make(link, error="l", micro=False)
    except segno.DataOverflowError:
        right.caption("This link is too long for a QR code.")
        return
    source = code.svg_data_uri(scale=4, border=4, dark="#000", light="#fff")  # readable by cameras
    right.html(f'<img class="dp-qr" src="{source}" alt="QR code of the link">')


def _frame(link: str, page: str) -> None:
    with st.expander("Embed in your own page"):
        colors = st.segmented_control(
            "Colors", embed.COLORS, default="", required=True,
            format_func=embed.COLORS.__getitem__, key="share_colors",
        )  # fmt: skip
        st.code(embed.code(link, f"dpviz: {page}", colors), language="html", wrap_lines=True)
        st.caption("Shows only the picture and its player, with the mode and the promise below.")
