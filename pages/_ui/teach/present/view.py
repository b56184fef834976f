"""Draw the page around a show: the deck, one slide's form, the deck's file, and the progress of the pictures."""

from __future__ import annotations

import dataclasses
from functools import partial
from urllib.parse import parse_qs

import streamlit as st

from dpviz.escape import plain
from dpviz.takeaway.deck import deck as as_page
from pages._ui.explore.form.numbers import whole_number
from pages._ui.frame import markup
from pages._ui.frame.address import links
from pages._ui.frame.address.deck import (
    DEFAULT,
    MOST,
    MOST_BYTES,
    MOST_SECONDS,
    MOST_SLIDES,
    SHOWS,
    WORDS,
    Deck,
    Slide,
    from_json,
    split,
    to_json,
)
from pages._ui.frame.address.own_deck import keep, own_deck
from pages._ui.frame.address.state import address_state
from pages._ui.frame.demo import demo
from pages._ui.frame.places import PAGES
from pages._ui.teach.present.controls import COLORS, SLIDE
from pages._ui.teach.present.scenes import MOST_VARIED, Staged, called, staged
from pages._ui.teach.present.show import memory, show, shown
from pages._ui.teach.present.state import present_state
from pages._ui.work.batch import Gathered, follow, gather
from pages._ui.work.state import work_state

__all__ = ["deck_file", "projector", "recall", "slide_form", "slide_list"]

_SLIDE_SCENE = "slide_scene_{}".format

MOST_TYPED = 4  # number of values of ε that a slide keeps besides the last one typed
_SHOWN = {"picture": "The picture", "label": "The privacy label", "page": "The page in short", **WORDS}


def _put(deck: Deck, index: int, slide: Slide) -> None:
    slides = list(deck.slides)
    slides[index] = slide
    address_state.deck = dataclasses.replace(deck, slides=tuple(slides))


def deck_file() -> None:
    """Offer to save the deck as a file, to open one, or to return to the default deck."""
    deck = own_deck()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Save the deck", lambda: to_json(deck), "deck.dpviz.json", "application/json", key="deck_save",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
        if not demo():
            _open_button()
        if deck != DEFAULT and st.button("The default deck", key="deck_default"):
            keep(DEFAULT)
            st.rerun()
    st.caption(
        "A deck lasts as long as this tab of the browser: save it to keep it. It holds addresses and words, no rows."
    )


def _open_button() -> None:
    with st.popover("Open a deck", icon=":material/folder_open:"):
        file = st.file_uploader(
            "Choose a deck saved on this page", "json", key=f"deck_file_{present_state.deck_files}",
            max_upload_size=1, help="A deck file holds addresses of scenes, titles and notes, but no data.",
        )  # fmt: skip
        if file is not None:
            _open(file.getvalue() if file.size <= MOST_BYTES else b" " * (MOST_BYTES + 1))


def _open(text: bytes) -> None:
    try:
        deck = from_json(text)
    except ValueError as problem:
        st.error(plain(str(problem)))
        return
    present_state.deck_files += 1  # Creates an empty field for the next file.
    present_state.present_next = 1  # The list is already drawn; the next script run selects this slide.
    keep(deck)
    st.rerun()


def recall() -> None:
    """Keep a deck of one's own in the browser's tab, and bring it back after a reload."""
    deck = own_deck()
    kept = memory("" if deck == DEFAULT else to_json(deck))
    if kept and deck == DEFAULT:
        _open(kept.encode())


def projector() -> None:
    """Make the pictures of the deck, and offer the show once every slide has one."""
    deck = own_deck()
    ready: dict[int, Staged] = {}
    for index, slide in enumerate(deck.slides):
        try:
            varied = sum(bool(one.others) for one in ready.values())
            typed = present_state.present_typed.get(slide.scene, ())
            ready[index] = staged(slide, varied=varied < MOST_VARIED, typed=typed)
        except ValueError as problem:
            st.error(f"Slide {index + 1}, {plain(slide.title)}: {plain(str(problem))}")
            continue
        if ready[index].sentence:
            st.info(f"Slide {index + 1}, {plain(slide.title)}: {plain(ready[index].sentence)}")
    if not ready:
        return
    follow(partial(_gather, ready), partial(_offer, deck, ready), 0.5)


def _gather(ready: dict[int, Staged]) -> Gathered:
    every = [one.piece for one in ready.values()] + [other for one in ready.values() for other in one.others.values()]
    pieces = {piece.name: piece for piece in every}  # the pictures of all slides come before the other runs
    return gather("present", "Deck", list(pieces.values()), public=True)


def _offer(deck: Deck, ready: dict[int, Staged], now: Gathered) -> None:
    tasks = {index: one for index, one in ready.items() if one.piece.name in now.ready}
    if now.active:
        share = now.job.done / now.job.total if now.job and now.job.total else 0.0
        if len(tasks) < len(ready):
            st.progress(max(min(share, 1.0), len(tasks) / len(ready)), f"{len(tasks)} of {len(ready)} scenes ready")
            return
    if now.problem or now.stopped:
        st.error(plain(f"{now.problem or 'The scenes were not completed.'} Change the slide, or try again."))
        if st.button("Try again", key="present_again"):
            work_state.asked_pieces.pop("present", None)
            st.rerun()
        return
    opened = links.opened("present")
    order, wanted = list(tasks), SLIDE.held - 1
    start = order.index(wanted) if wanted in order else 0
    results = {one.piece.name: now.ready[one.piece.name] for one in tasks.values()} if now.active else now.ready
    more = (
        "Other values of ε and other seeds are still being computed."
        if now.active
        else "From now on the show needs no network."
    )
    slides = [(deck.slides[index], one, results) for index, one in tasks.items()]
    look = COLORS.held if COLORS.held in ("light", "dark") else ""
    did = show(
        slides, start=start, mode=look or st.context.theme.type or "light",
        ready=f"{len(tasks)} of {len(deck.slides)} scenes ready. {more}",
        opened=opened.number if opened is not None and opened.scene.play else 0,
    )  # fmt: skip
    st.download_button(
        "Save as a page", lambda: as_page(deck.title, [shown(*one) for one in slides], look), "deck.html", "text/html",
        key="deck_page", icon=":material/slideshow:", on_click="ignore",
        help="One HTML file, with your notes, that shows without a network and prints one slide a page, also as PDF.",
    )  # fmt: skip
    if did.into:
        page, query = split(did.into)
        st.switch_page(f"pages/{page}.py", query_params=parse_qs(query))
    if did.typed is not None:
        scene, epsilon = did.typed
        before = present_state.present_typed
        if epsilon not in before.get(scene, ()):
            present_state.present_typed = {**before, scene: (*before.get(scene, ())[-MOST_TYPED:], epsilon)}
            st.rerun()
    if did.ended is not None and present_state.present_ended != did.ended:
        present_state.present_ended = did.ended
        present_state.present_next = order[did.ended - 1] + 1
        st.rerun()


def slide_list() -> int:
    """Show the deck; return the index of the selected slide."""
    deck, state = own_deck(), st.session_state
    title = st.text_input("Deck", deck.title, MOST["title"], key=f"deck_title_{address_state.deck_edit}")
    if title != deck.title:
        address_state.deck = deck = dataclasses.replace(deck, title=title)
    numbers = range(1, len(deck.slides) + 1)
    if (number := present_state.present_next) is not None:
        state[SLIDE.key] = number
    state[SLIDE.key] = min(max(int(SLIDE.held or 1), 1), len(numbers))
    chosen = int(
        SLIDE.draw(
            options=numbers, format_func=lambda n: plain(deck.slides[n - 1].title or "Without a title"),
        )
    )  # fmt: skip
    total = deck.seconds
    if total:
        st.caption(f"Planned: {total // 60} min {total % 60} s." if total >= 120 else f"Planned: {total} seconds.")
    return chosen - 1


def slide_form(index: int) -> None:
    """Show one slide's fields and actions."""
    deck = own_deck()
    slide, form = deck.slides[index], f"{address_state.deck_edit}_{index}"
    now = Slide(
        st.text_input("Title", slide.title, MOST["title"], key=f"slide_title_{form}"),
        _scene(slide, _SLIDE_SCENE(form)),
        st.text_area("Notes", slide.notes, max_chars=MOST["notes"], key=f"slide_notes_{form}", height=150),
        whole_number(
            "Seconds", 0, MOST_SECONDS, slide.seconds, key=f"slide_seconds_{form}",
            help="Planned time of the slide; 0 for none.",
        ),
        st.radio(
            "Shows", SHOWS, SHOWS.index(slide.show), key=f"slide_show_{form}", format_func=_SHOWN.get, horizontal=True
        ),
    )  # fmt: skip
    if now != slide:
        _put(deck, index, now)
        address_state.deck_edit += now.scene != slide.scene  # empties the field for another scene
        st.rerun()
    with st.container(horizontal=True):
        for word, icon, move in (("Earlier", ":material/arrow_upward:", -1), ("Later", ":material/arrow_downward:", 1)):
            there = index + move
            if st.button(word, icon=icon, key=f"slide_{word}", disabled=not 0 <= there < len(deck.slides)):
                slides = list(deck.slides)
                slides[index], slides[there] = slides[there], slides[index]
                keep(dataclasses.replace(deck, slides=tuple(slides)))
                present_state.present_next = there + 1
                st.rerun()
        if st.button("Remove", icon=":material/delete:", key="slide_remove", disabled=len(deck.slides) == 1):
            keep(dataclasses.replace(deck, slides=(*deck.slides[:index], *deck.slides[index + 1 :])))
            st.rerun()
        if st.button("Add a slide", icon=":material/add:", key="slide_add", disabled=len(deck.slides) >= MOST_SLIDES):
            fresh = Slide("A new slide", "explore?v=1&d=town&a=nsm&k=5&e=1&s=0")
            keep(dataclasses.replace(deck, slides=(*deck.slides[: index + 1], fresh, *deck.slides[index + 1 :])))
            present_state.present_next = index + 2
            st.rerun()


def _scene(slide: Slide, key: str) -> str:
    """Name a slide's scene with a link to it, and ask for another one; return the scene as a deck stores it."""
    scene, name = slide.scene, called(slide)
    page, query = split(scene)
    address = f"{page}?{query}" if page != "home" else f"./?{query}"
    st.html(markup.small("Scene: ", markup.link(address, name, fresh=True) if page in PAGES else name))
    other = st.text_input(
        "Another scene", "", MOST["scene"], key=key, placeholder="a link",
        help="The link that Share gives on Watch, Alex, Trade-off or Limits. If the link names a step, the slide "
            "starts there; if the link is set to play, the slide plays too.",
    )  # fmt: skip
    if not other.strip():
        return scene
    page, query = split(other)
    return f"{page}?{query}" if query else page
