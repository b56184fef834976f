"""File: pick a sample, make blobs, paint people, or upload a file and describe it, one question per screen."""

from pathlib import Path

import streamlit as st

from pages._ui.data import files, gallery, paint
from pages._ui.data import upload as data_upload
from pages._ui.data.controls import OWN_FILE, WAY, data
from pages._ui.data.state import data_state
from pages._ui.frame import catalog, markup, shell
from pages._ui.frame.address import links
from pages._ui.frame.demo import demo

links.enter(__file__, data, has=("navigation",))
# the place is called "Your data"; an address names another way
st.session_state.setdefault(WAY.key, "Samples" if demo() else OWN_FILE)
WAYS = {
    **({} if demo() else {OWN_FILE: data_upload.files}),
    "Samples": gallery.samples,
    "Make blobs": gallery.blobs,
    "Paint": paint.paint,
}

chosen, upload, pending = catalog.chosen(), files.shown(), data_state.pending
own = WAY.held == OWN_FILE
if own and pending is not None:
    shell.strip(Path(pending.name).stem, private=None if pending.question == "public" else True)
elif own and upload is not None:
    shell.strip(Path(upload.table.name).stem, private=upload.private)
else:
    shell.strip(chosen.title, private=chosen.private)
links.notice("data", data)
shell.title()
st.html(
    markup.lede(
        "Every method needs public facts before it reads a row: bounds, a size, and what counts as one person. "
        "Samples come with theirs. For your own file you declare them; no row of a private file is read to find them."
    )
)
way = WAY.draw(options=WAYS, label_visibility="collapsed")
links.keep("data", data, private=way == OWN_FILE or chosen.private)  # an address never contains anything from a file
WAYS[way]()
