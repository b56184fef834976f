"""Declaring what is public about a file: columns, bounds, size, unit of privacy, clipping; in DEMO with its effect."""

from __future__ import annotations

import dataclasses
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.datasets import clipping, dictionary, from_table, identifiers
from dpviz.datasets.readers import Recoding
from dpviz.escape import plain
from dpviz.figures.kit.view import thin
from dpviz.figures.scenes.people import bounds_panel
from pages._ui.data import gallery, reading
from pages._ui.form.forms import in_labels
from pages._ui.form.numbers import field
from pages._ui.frame import catalog, keys, markup, messages, shell
from pages._ui.work.state import work_state

if TYPE_CHECKING:
    from pages._ui.data.state import Upload

COUNTED = 200_000  # rows of a larger file that the DEMO effect is counted on
_PLACE = ("sheet", "header_row")  # what it must share with the way in which the file was read
# what a dictionary may say after the file was read
_WRITTEN = ("separator", "decimal", "decimal_of", "thousands", "missing_marks")
_CELLS = ("unit", "low", "high", "fill", "description")
_CONFIG = {
    "name": st.column_config.TextColumn("column", disabled=True),
    "unit": st.column_config.TextColumn("unit", max_chars=20),
    "low": st.column_config.NumberColumn("low", help="Smaller values count as this one. Public."),
    "high": st.column_config.NumberColumn("high", help="Larger values count as this one. Public."),
    "fill": st.column_config.NumberColumn(
        "if missing", help="Stands in for a missing cell. Empty: the row is left out."
    ),
    "description": st.column_config.TextColumn("meaning", max_chars=120),
}


def editor(upload: Upload) -> None:
    """Show the form for one file, and make it the chosen data set when everything is declared."""
    table = upload.table
    for note in table.notes:
        st.caption(plain(note))
    if upload.private:
        st.caption(
            f"Numbers like {upload.form.example}: do yours look like this? A cell of another form counts as missing, "
            "and nothing says so. No cell was looked at to find out which columns hold numbers: choose those that do."
        )
    reading.doubt(upload)
    _refused(upload)
    reading.differently(upload)
    if not upload.private:
        with st.expander("First rows (NOT PRIVATE)"):
            st.dataframe({name: table.values(name)[:5] for name in table.usable[:20]}, hide_index=True)
    left, right = st.columns([7, 5], gap="medium")
    with left:
        names = _columns(upload)
        columns = _bounds(upload, names)
        people = _people(upload)
        people |= _known_groups(upload, names)
    problem, facts = _missing(columns), None
    try:
        facts = None if problem else dictionary.complete({**upload.draft, **people, "columns": columns}, "Declaration")
        if facts is not None and facts["n_public"] is None:
            problem = "Declaration: the number of rows must be given; a round number will do."
    except ValueError as error:
        problem = in_labels(str(error).removeprefix("Domain: "), ("n_public", "rows_per_person"))
    with right:
        if problem or facts is None:
            st.info(plain(problem), icon=":material/edit:")
        else:
            _consequences(upload, facts)
        used = upload.dataset_id in catalog.own() and catalog.sample(upload.dataset_id).facts == facts
        label = "In use" if used else "Use this data set"
        if st.button(label, width="stretch", disabled=bool(problem) or used) and facts:
            _use(upload, facts)
            st.rerun()
        if not used and st.button("Explore it", type="primary", width="stretch", disabled=bool(problem)) and facts:
            _use(upload, facts)
            st.switch_page("pages/explore.py")
        if used:
            st.page_link("pages/explore.py", label="Explore it", icon=":material/play_circle:")
    if upload.dataset_id in catalog.own():
        gallery.facts(catalog.sample(upload.dataset_id))


def _refused(upload: Upload) -> None:
    refused = [column for column in upload.table.columns if column.values is None]
    if refused:
        with st.expander(f"Columns that cannot be used: {len(refused)}"):
            for column in refused:
                st.markdown(f"**{plain(column.name)}** {plain(column.reason)}")


def _columns(upload: Upload) -> list[str]:
    usable = list(upload.table.usable)
    numbers = [name for name in usable if identifiers.singles_out(upload.table, name, private=upload.private)]
    likely = [name for name in usable if name not in numbers] or usable
    start = [c["name"] for c in upload.draft.get("columns", []) if c["name"] in usable] or likely[:12]
    chosen = st.multiselect(
        "Columns to cluster on", usable, start, key=keys.COLUMNS(upload.key), persist_state="session",
        help="Distances are taken over these. Leave out columns that say nothing about similarity, such as record "
        "numbers.",
    )  # fmt: skip
    if left := [name for name in numbers if name not in chosen]:
        st.caption(f"Left out, because each row seems to have a number of its own there: {plain(', '.join(left))}.")
    return chosen


def _bounds(upload: Upload, names: list[str]) -> list[dict[str, Any]]:
    """Show the table of bounds; return one entry a column."""
    _shortcuts(upload, names)
    key = keys.BOUNDS(upload.key, "|".join(names))
    if upload.editing != key or key not in st.session_state or upload.base is None:
        cells = [{"name": name, **dict.fromkeys(_CELLS), **upload.cells.get(name, {})} for name in names]
        types = {column: float if column in ("low", "high", "fill") else str for column in _CELLS}
        frame = pd.DataFrame(cells, columns=["name", *_CELLS])
        upload.base = frame.fillna({"unit": "", "description": ""}).astype(types)
        upload.editing = key
    edited = st.data_editor(
        upload.base, column_config=_CONFIG, hide_index=True, key=key, placeholder="", alt="Bounds of every column"
    )
    columns = []
    for row in edited.to_dict("records"):
        entry = {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in row.items()}
        entry |= {name: entry[name] or "" for name in ("unit", "description")}
        upload.cells[entry["name"]] = {name: entry[name] for name in _CELLS}
        columns.append(entry)
    return columns


def _shortcuts(upload: Upload, names: list[str]) -> None:
    """Offer presets, a data dictionary, and in DEMO the data themselves to fill the table."""
    with st.container(horizontal=True):
        with st.popover("Bounds by meaning", icon=":material/straighten:"):
            meaning = st.selectbox("What it measures", dictionary.PRESETS, key=keys.FILL(upload.key))
            which = st.multiselect("Columns", names, key=keys.FILL_COLUMNS(upload.key))
            if st.button("Fill in", disabled=not which):
                low, high, unit = dictionary.PRESETS[meaning]
                _fill(upload, {name: {"low": float(low), "high": float(high), "unit": unit} for name in which})
        with st.popover("Data dictionary", icon=":material/upload_file:"):
            file = st.file_uploader("A dictionary that was saved here before", "json", key=keys.DICTIONARY(upload.key))
            if file is not None:
                _load(upload, file.name, file.getvalue())
        if not upload.private and st.button("Fill from the data", icon=":material/no_encryption:", disabled=not names):
            upload.filled = True
            _fill(upload, {name: _range(upload.table.values(name)) for name in names})
    if upload.filled:
        st.caption("Bounds were filled from the data. That is NOT PRIVATE, and every result says so.")


def _range(values: np.ndarray) -> dict[str, float]:
    """Return the smallest and largest value, rounded outward. NOT PRIVATE."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    step = 10.0 ** np.floor(np.log10(max(high - low, abs(low) * 1e-6, 1e-6)) - 1)
    low, high = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
    return {"low": round(low, 12), "high": round(high if high > low else low + step, 12)}


def _fill(upload: Upload, cells: dict[str, dict[str, Any]]) -> None:
    for name, known in cells.items():
        upload.cells[name] = {**upload.cells.get(name, {}), **known}
    upload.editing = ""
    upload.version += 1
    st.rerun()


def _load(upload: Upload, name: str, content: bytes) -> None:
    """Take over a data dictionary; it may declare only columns that the table has."""
    try:
        facts = dictionary.parse(content, name)
        rules = tuple(Recoding.parse(entry, name) for entry in facts["recode"])
        form = dataclasses.replace(
            upload.form, recode=rules, **{key: facts["form"][key] for key in _WRITTEN if key in facts["form"]}
        )
        if other := next(
            (key for key in _PLACE if facts["form"].get(key, getattr(form, key)) != getattr(form, key)), ""
        ):
            raise ValueError(f"{name}: its {other} is another one than the file was read with; drop the file again.")
        if form != upload.form:
            reading.again(upload, form)
        lacking = [c["name"] for c in facts["columns"] if c["name"] not in upload.table.usable]
        if lacking:
            raise ValueError(f"{name}: the table has no usable column {lacking[0]!r}.")
        if upload.private and not facts["declared"]:
            raise ValueError(
                f"{name}: its bounds were taken from data; a private file needs bounds that were declared without "
                "looking at data."
            )
    except ValueError as problem:
        messages.say("problem", str(problem))
        upload.version += 1
        st.rerun()
    upload.draft = facts
    upload.filled = not facts["declared"]
    _fill(upload, {column["name"]: {cell: column[cell] for cell in _CELLS} for column in facts["columns"]})


def _people(upload: Upload) -> dict[str, Any]:
    """Show size, unit of privacy, scale and clipping; return what was declared."""
    draft: dict[str, Any] = {"n_is": "exact", "rows_per_person": 1, "scale": "column", "radius": None, **upload.draft}
    keep: dict[str, Any] = {"persist_state": "session"}
    a, b = st.columns(2, gap="small")
    n = field(
        "Rows", 1, value=draft.get("n_public"), on=a, key=keys.ROWS(upload.key), placeholder="a round number",
        help="Declared, not counted: thresholds and δ follow from this number. The true one stays private.", **keep,
    )  # fmt: skip
    n_is = b.segmented_control(
        "Is that number public?", ("exact", "approximate"), default=draft["n_is"], required=True,
        format_func={"exact": "Exactly", "approximate": "Only about"}.get, key=keys.ROWS_ARE(upload.key), **keep,
    )  # fmt: skip
    rows = field(
        "Rows of one person, at most", 1, value=draft["rows_per_person"], on=a, key=keys.ROWS_PER_PERSON(upload.key),
        help="1 if one row is one person. With m rows, ε for a person is m times as large.", **keep,
    )  # fmt: skip
    unit = b.text_input(
        "What is one row?", draft.get("unit_of_privacy", "one row is one person"), 80, key=keys.UNIT(upload.key), **keep
    )
    scale = a.selectbox(
        "Scale", ("column", "common"), ("column", "common").index(draft["scale"]), key=keys.SCALE(upload.key),
        format_func={"column": "each column its own", "common": "one for all: keeps distances"}.get,
        help="Each column its own: every column weighs the same. One for all: for maps and other equal units.", **keep,
    )  # fmt: skip
    radius = b.number_input(
        "Clipping radius", 0.0, value=None if draft["radius"] is None else float(draft["radius"]), step=None,
        format="%g", key=keys.RADIUS(upload.key), placeholder="none",
        help="Rows farther from the middle are moved in to this distance. In half-widths: 1 reaches a bound.", **keep,
    )  # fmt: skip
    return {
        "n_public": n, "n_is": n_is, "rows_per_person": rows, "unit_of_privacy": unit, "scale": scale,
        "radius": radius, "declared": not upload.filled,
    }  # fmt: skip


def _missing(columns: list[dict[str, Any]]) -> str:
    """Return how many bounds are still to be given, in a sentence; "" if at most one is."""
    wanted = sum(column[end] is None for column in columns for end in ("low", "high"))
    return f"{wanted} bounds are missing: each column needs a low and a high one." if wanted > 1 else ""


def _known_groups(upload: Upload, names: list[str]) -> dict[str, Any]:
    """Ask for the column that names known groups: DEMO only, it is compared with the result and never clustered on."""
    if upload.private:
        return {}
    choices = [name for name in upload.table.groupings if name not in names]
    if not choices:
        return {"label": None}
    known = upload.draft.get("label")
    label = st.selectbox(
        "Known groups", choices, choices.index(known) if known in choices else None, key=keys.LABEL(upload.key),
        placeholder="none", persist_state="session",
        help="A column that says to which group a row belongs. Results are compared with it; NOT PRIVATE.",
    )  # fmt: skip
    if label is None:
        return {"label": None}
    groups = upload.table.groups(label)
    return {"label": label, "n_clusters": upload.draft.get("n_clusters") or len(np.unique(groups[groups >= 0]))}


def _consequences(upload: Upload, facts: dict[str, Any]) -> None:
    """Say what one person can change; in DEMO, show what the declaration does to the rows."""
    st.html(markup.small(markup.bold("What one person can change."), " ", " ".join(dictionary.promises(facts))))
    if upload.private:
        return
    names = [column["name"] for column in facts["columns"]]
    chosen = thin(upload.table.n_rows, COUNTED)
    fill = {column["name"]: column["fill"] for column in facts["columns"] if column["fill"] is not None}
    X = np.column_stack(
        [np.nan_to_num(upload.table.values(name)[chosen], nan=fill.get(name, np.nan)) for name in names]
    )
    effect = clipping(X, dictionary.domain_of(facts))
    of = f"{effect.n_rows:,} rows" + (" drawn at random" if len(chosen) < upload.table.n_rows else "")
    st.html(
        markup.small(
            markup.bold(f"What it does to {of} (NOT PRIVATE)."),
            f" {effect.outside:,} lie outside the bounds and move to the edge; {effect.radius:,} are "
            f"drawn in to the radius; {effect.dropped:,} lack a number and are left out.",
        )
    )
    panel = bounds_panel(X, dictionary.domain_of(facts), names, shell.colors())
    st.plotly_chart(
        panel.figure, theme=None, key=keys.EFFECT(upload.key), alt=panel.alt,
        config={"displayModeBar": False, "responsive": True, "scrollZoom": False},
    )  # fmt: skip


def _use(upload: Upload, facts: dict[str, Any]) -> None:
    """Make the declared table the chosen data set under a new token: another declaration is another data set."""
    catalog.own().pop(upload.dataset_id, None)
    upload.dataset_id = secrets.token_hex(8)
    catalog.keep(from_table(upload.table, facts, private=upload.private, dataset_id=upload.dataset_id))
    work_state.fingerprints[upload.dataset_id] = upload.fingerprint
