"""Show public data: the gallery of samples, blobs on demand, and the data dictionary of the chosen data set."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dpviz import params
from dpviz.datasets import SAMPLES, Blobs, Dataset, dictionary
from dpviz.escape import plain
from dpviz.figures.scenes.people import thumbnail
from dpviz.numbers import number
from dpviz.params import ParamSpec, label_of
from pages._ui.explore.form.forms import Parameter
from pages._ui.frame import catalog, markup, shell
from pages._ui.frame.inside.patches import stop

_BLOBS = "blobs_{}".format

_ROW = 6


@st.cache_resource(max_entries=64, show_spinner=False)
def _picture(name: str, mode: str, width: int, height: int, most: int) -> str:
    """Return a picture of public data as an address for an <img>."""
    svg = thumbnail(catalog.sample(name), shell.colors(), width=width, height=height, most=most)
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def picture(name: str, alt: str, *, width: int = 220, height: int = 132, most: int = 260) -> str:
    """Return the <img> that shows a public data set."""
    source = _picture(name, st.context.theme.type or "light", width, height, most)
    return f'<img class="dp-thumb" src="{source}" alt="{markup.escape(alt)}">'


def samples() -> None:
    """Show the gallery; its buttons choose a sample for every page."""
    with st.container(key="gallery"):
        for start in range(0, len(SAMPLES), _ROW):
            for name, place in zip(SAMPLES[start : start + _ROW], st.columns(_ROW, gap="small"), strict=False):
                with place.container(border=True, height="stretch", vertical_alignment="distribute"):
                    _card(name)
    facts(catalog.sample(st.session_state[catalog.CHOSEN]))


def _card(name: str) -> None:
    data, chosen = catalog.sample(name), st.session_state[catalog.CHOSEN] == name
    n, d = data.X.shape
    st.html(
        f"{picture(name, f'{data.title}: made-up or public rows')}"
        f"<p class=dp-card>{markup.bold(data.title)}<br>{markup.text(data.description)}"
        f"<br><span>{n:,} rows, {d} columns</span></p>"
    )
    named = data.title.partition(",")[0]
    st.button(
        "In use" if chosen else f"Use {named[:1].lower()}{named[1:]}",
        key=f"use_{name}",
        width="stretch",
        type="primary" if chosen else "secondary",
        on_click=catalog.choose,
        args=(name,),
    )


def label(name: str) -> str:
    """Return the on-screen name of a generator's parameter."""
    return "Groups" if name == "n_clusters" else label_of(name)


def recipe_of(name: str, spec: ParamSpec) -> Parameter:
    """Return the control of a generator's parameter."""
    return Parameter.of(Blobs.name, name, spec, _BLOBS(name), title=label(name))


def blobs() -> None:
    """Show the generator's form, with a picture that follows the fields."""
    form, view = st.columns([5, 6], gap="medium")
    specs = params.specs(Blobs)
    with form:
        sides = st.columns(2, gap="small")
        values = {}
        for place, (name, spec) in enumerate(specs.items()):
            with sides[place % 2]:
                values[name] = recipe_of(name, spec).ask()
        try:
            recipe = Blobs(**values)
        except (ValueError, TypeError) as problem:
            st.error(plain(str(problem)))
            stop()
        chosen = st.session_state[catalog.CHOSEN] == recipe.key
        st.button(
            "In use" if chosen else "Use these blobs",
            type="primary",
            width="stretch",
            disabled=chosen,
            on_click=catalog.choose,
            args=(recipe.key,),
        )
    with view:
        st.html(picture(recipe.key, "The blobs with these parameters", width=600, height=400, most=1500))
    facts(catalog.sample(recipe.key))


def facts(data: Dataset) -> None:
    """Show the data dictionary of a data set, what one person can change, and the next steps."""
    st.header(f"What is public about: {plain(data.title)}")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        columns = data.facts["columns"]
        named: dict[str, Callable[[Mapping[str, Any]], str]] = {
            "column": lambda c: c["name"],
            "unit": lambda c: c["unit"],
            "low": lambda c: number(c["low"], 6),
            "high": lambda c: number(c["high"], 6),
        }
        if any(c.get("log") for c in columns):
            named["in"] = lambda c: "logarithms" if c.get("log") else ""
        if any(c.get("weight", 1.0) != 1.0 for c in columns):
            named["weight"] = lambda c: number(c.get("weight", 1.0))
        named["meaning"] = lambda c: c["description"]
        rows = (markup.row([cell(c) for cell in named.values()], lit=True) for c in columns)
        st.html(markup.table("Data dictionary", tuple(named), rows))
    with right:
        f, size = data.facts, "not declared" if data.domain.n_public is None else f"{data.domain.n_public:,}"
        lines = {
            "Rows": f"{'about ' if f['n_is'] == 'approximate' else ''}{size}",
            "Unit of privacy": f["unit_of_privacy"],
            "Scale": "one for all columns: keeps distances" if f["scale"] == "common" else "each column its own",
            "Origin": f["origin"] or "your file",
            "License": f["licence"] or "not stated",
        }
        st.html(markup.facts(lines.items()))
    st.html(markup.small(markup.bold("What one person can change:"), " ", " ".join(dictionary.promises(data.facts))))
    with st.container(horizontal=True, vertical_alignment="center"):
        name = data.dataset_id.removeprefix("sample:")
        if st.button("Explore it", icon=":material/play_circle:"):
            catalog.choose(name)  # the data set shown, even if another one is in use
            st.switch_page("pages/explore.py")
        st.download_button(
            "Data dictionary",
            dictionary.dump(data.facts),
            "data-dictionary.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
        )
