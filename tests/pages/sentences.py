"""Collect the sentences of a page, and find names from the code in them."""

import html
import re

CODE = re.compile(r"\b([a-z]+_[a-z_]+|epsilon|delta|nan|None)\b(?!/)")


PAPERS = re.compile(r"\b(make_blobs|sklearn_\w+)\b")  # names from the code that the papers print


KINDS = ("caption", "markdown", "warning", "info", "error", "success", "title", "header", "html")


WIDGETS = ("selectbox", "number_input", "slider", "toggle", "text_input", "multiselect", "radio", "button")


def words(app):
    """Return all sentences, labels and help texts of a page."""
    found = []
    for kind in KINDS:
        for block in app.get(kind):
            text = block.proto.body if kind == "html" else block.value
            text = re.sub(r"<style>.*?</style>|:material/\w+:", "", text, flags=re.DOTALL)
            found.append(html.unescape(re.sub(r"<[^>]*>", " ", text)))
    for kind in WIDGETS:
        found += [text for widget in app.get(kind) for text in (widget.label, getattr(widget, "help", "") or "")]
    return found


def code_names(texts):
    return [(name[0], text) for text in texts if (name := CODE.search(PAPERS.sub("", text)))]
