"""Class: everyone in the room is one point. The lecturer sees the projector's page; a phone that joins gets a seat."""

from pathlib import Path

import streamlit as st

from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop
from pages._ui.learn import exhibits
from pages._ui.teach.classroom import components, lecturer, phone
from pages._ui.teach.classroom.controls import CLASS_CODE, CLASS_KEY, classroom
from pages._ui.teach.classroom.registry import rooms, spelled
from pages._ui.teach.classroom.room import Classroom
from pages._ui.teach.classroom.state import classroom_state

links.enter(__file__, classroom)
state = st.session_state
room: Classroom | None = classroom_state.class_room
seat = classroom_state.class_seat
ended = room is not None and not room.left
sent_away = room is not None and seat is not None and not ended and not room.knows(seat.token)
if ended:
    rooms().sweep()
if ended or sent_away:
    room = seat = None
    classroom_state.class_room = classroom_state.class_seat = None
    components.forget_class()
shell.strip(f"class {room.code}" if room else "made up by everybody here")
unseen = st.container(key="class_unseen")
unseen.html(f"<style>{(Path(exhibits.__file__).parent / 'learn.css').read_text()}</style>")
links.notice("class", classroom)

token = seat.token if seat else room.lecturer if room else ""
role = "phone" if seat else "lecturer"
with unseen:
    save = {"code": room.code, "token": token, "role": role} if room else {} if ended or sent_away else None
    memo = components.memory(save)
asked_for = spelled(state.get(CLASS_CODE) or "")
if (
    room is None
    and not (ended or sent_away)
    and memo
    and asked_for in ("", memo.get("code"))
    and not classroom_state.class_back
):
    classroom_state.class_back = True  # a phone that left returns to its point; tried only once
    room, seat = phone.back(rooms(), memo)
    if room:
        classroom_state.class_seat, classroom_state.class_room = (
            seat,
            room,
        )  # set both at once, because a session with a room but no seat counts as the projector
        st.rerun()

if room is None or seat is not None:  # the projector gets no address, because its player sets the phones' step
    links.keep("class", classroom)
if ended:
    st.info("This class has ended; everything in it is forgotten.")
if sent_away:
    st.info("Your place in this class was freed: scan the QR code on the screen or type its letters to come back.")
if room is not None and seat is None:
    unseen.html(markup.unseen(f"Class {room.code}"))
    lecturer.projector(room, st.context.url or "/class")
    stop()
if room is not None:
    unseen.html(markup.unseen("Class"))
    assert seat is not None
    phone.phone(room, seat)
    stop()

shell.title()
joins, opens = st.columns(2, gap="large")
with joins:
    st.header("Join by phone")
    code = st.text_input("Five letters", key=CLASS_CODE, max_chars=8, autocomplete="off")
    key = state.get(CLASS_KEY, "")
    asked = st.button("Join", type="primary", key="class_join")
    if (asked or (key and memo is not None and not (ended or sent_away))) and code:
        token = memo["token"] if memo and memo.get("code") == spelled(code) and "token" in memo else ""
        if entry := phone.door(code, key, token):
            classroom_state.class_seat, classroom_state.class_room = entry[1], entry[0]
            state[CLASS_KEY] = ""
            st.rerun()
        state[CLASS_KEY] = ""  # keeps the sentence and the code, which the visitor can correct
with opens:
    st.header("Open a class")
    if fresh := lecturer.opening():
        classroom_state.class_room, classroom_state.class_seat = fresh, None
        st.rerun()
