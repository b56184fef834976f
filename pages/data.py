"""Data: pick a sample, make blobs, or bring a file and declare what is public about it."""

import streamlit as st

from pages._ui import data_gallery, data_upload, runs, shell

shell.enter("pages/data.py")
WAYS = {"Samples": data_gallery.samples, "Make blobs": data_gallery.blobs, "Your file": data_upload.files}

chosen, upload = runs.chosen(), data_upload.shown()
if st.session_state.get("data_way") == "Your file" and upload is not None:
    shell.strip(upload.table.name, private=upload.private)
else:
    shell.strip(chosen.title, private=chosen.private)
st.title("Data")
st.html(
    '<p class="dp-lede">Every method needs public facts before it looks at a row: bounds, a size, and what one person '
    "is. Samples bring theirs. For a file of yours you declare them, and no row is read to find them.</p>"
)
way = st.segmented_control(
    "Where the data come from", WAYS, default="Samples", required=True, key="data_way", persist_state="session",
    label_visibility="collapsed",
)  # fmt: skip
WAYS[way]()
