"""Declare the public facts about a file in the table of its columns; DEMO shows what these facts do to the rows."""

from __future__ import annotations

import dataclasses
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.datasets import clipping, dictionary, from_table, identifiers
from dpviz.datasets.earth import as_map, degrees_of
from dpviz.datasets.meanings import Meaning, meaning_of
from dpviz.datasets.readers import Column, Recoding
from dpviz.escape import plain
from dpviz.figures.kit.view import thin
from dpviz.figures.scenes.people import bounds_panel
from dpviz.params import in_labels
from pages._ui.data import kept, reading
from pages._ui.data.reading import KINDS, LOGARITHM, NUMBER
from pages._ui.explore.form.forms import hand_on
from pages._ui.explore.form.numbers import field
from pages._ui.frame import catalog, markup, messages, shell
from pages._ui.work.state import work_state

if TYPE_CHECKING:
    from pages._ui.data.state import Upload

_BOUNDS = "{}_bounds".format

COUNTED = 200_000  # Maximum number of rows on which DEMO counts the effect of a declaration.
_MISSING = (
    "If missing: with an empty field, a row with an empty cell in that column is left out (a method that hides a "
    "changed or moved row puts the row in the middle of all bounds instead); 40 writes 40 into the cell."
)
_REGION = 1_000  # Kilometers from the middle; wider bounds hardly describe a region.
MOST = 12  # Maximum number of columns of a public file that are ticked at first.
_NAMED = 8  # Maximum number of column names listed for one reason.
_PLACE = ("sheet", "header_row", "lines_below")  # Entries that must agree with the form in which the file was read.
# Entries that a dictionary may change after the file has been read.
_WRITTEN = ("separator", "decimal", "decimal_of", "thousands", "missing_marks", "no_missing_marks")
_CELLS: dict[str, Any] = {
    "use": False, "low": None, "high": None, "unit": "", "why": "", "kind": NUMBER, "words": "", "fill": None,
    "weight": 1.0, "description": "",
}  # fmt: skip
_CONFIG = {
    "use": st.column_config.CheckboxColumn("use", help="Distances use these columns.", width="small"),
    "name": st.column_config.TextColumn("column", disabled=True),
    "kind": st.column_config.SelectboxColumn(
        "holds",
        options=list(KINDS),
        required=True,
        help="Amounts that span several sizes, such as money, cluster better in logarithms: the results are typical "
        "values in the column's unit. Their bounds are 0 or more.",
    ),
    "low": st.column_config.NumberColumn("low", help="Smaller values are raised to this bound. Public.", width="small"),
    "high": st.column_config.NumberColumn(
        "high", help="Larger values are lowered to this bound. Public.", width="small"
    ),
    "unit": st.column_config.TextColumn("unit", max_chars=20, width="small"),
    "words": st.column_config.TextColumn(
        "words or dates",
        help="List all words (low, middle, high), or give the first and last date (1950-01-01..2020-12-31). Public.",
    ),
    "fill": st.column_config.NumberColumn(
        "if missing",
        help="Stands in for a missing cell. If this field is empty, rows with a missing cell are left out.",
        width="small",
    ),
    "weight": st.column_config.NumberColumn(
        "weight",
        min_value=0.001,
        max_value=1000.0,
        required=True,
        width="small",
        help="How much a column counts in distances: at 2, a difference counts twice as much. Public.",
    ),
    "description": st.column_config.TextColumn("meaning", max_chars=120),
}


def editor(upload: Upload) -> dict[str, Any] | None:
    """Show the table of a file's columns and the unit of privacy; return the declared facts, or None if any is missing.

    Nothing here depends on the rows of a private file: suggestions come from the names of its columns.
    """
    if upload.private:
        st.caption(
            f"Do your numbers look like {upload.form.example}? Cells in another format count as missing, without a "
            f"message. No cell was read: suggestions come from the column names, and you decide."
        )
    reading.doubt(upload)
    columns: list[dict[str, Any]] = []
    rules: tuple[Recoding, ...] = ()
    try:
        columns, rules = _table(upload)
        problem = "" if columns else "Tick the columns to use for clustering, and give each a low and a high bound."
    except ValueError as error:
        problem = str(error)
    reading.differently(upload)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        people = _people(upload) | _known_groups(upload, [column["name"] for column in columns])
    facts = None
    ruled = {rule.column for rule in rules}
    problem = problem or _missing([column for column in columns if column["name"] not in ruled])
    try:
        if not problem:
            named = {column["name"] for column in columns}
            shape = {} if named >= {*(upload.draft.get("view") or ())} else {"view": None, "picture": None}
            known = {**upload.draft, "recode": [rule.facts for rule in rules], **shape}
            facts = dictionary.complete(as_map({**known, **people, "columns": columns}), "Declaration")
            if facts["n_public"] is None:
                problem = "Declaration: the number of rows must be given; a round number will do."
    except ValueError as error:
        problem = in_labels(str(error).removeprefix("Domain: "), ("n_public", "rows_per_person"))
    with right:
        if problem or facts is None:
            st.info(plain(problem), icon=":material/edit:")
            return None
        kept.keep(upload)
        _consequences(upload, facts)
        st.download_button(
            "Data dictionary", dictionary.dump(facts), "data-dictionary.json", "application/json",
            icon=":material/download:", on_click="ignore", type="tertiary",
        )  # fmt: skip
    return facts


def _table(upload: Upload) -> tuple[list[dict[str, Any]], tuple[Recoding, ...]]:
    """Show the file's columns; return an entry for each ticked column, and the rules for text and dates.

    Raises
    ------
    ValueError
        If a rule is not valid, or if suggested bounds have not been confirmed.
    """
    names = _sources(upload)
    for name in names:
        upload.cells.setdefault(name, _suggested(upload, name, ticked=len(upload.cells) < MOST))
    if kept.offer(upload, names):
        _again(upload)
    _shortcuts(upload, [name for name in names if upload.cells[name]["use"]])
    key = _BOUNDS(upload.key)
    if upload.base is None or key not in st.session_state:
        order = [name for name in upload.cells if name in names]
        frame = pd.DataFrame([{"name": name, **_CELLS, **upload.cells[name]} for name in order])
        frame = frame[["use", "name", *(cell for cell in _CELLS if cell != "use")]]
        upload.base = frame.astype({"use": bool, **dict.fromkeys(("low", "high", "fill"), float)})
    edited = st.data_editor(
        upload.base, column_config=_CONFIG, column_order=[name for name in upload.base if name != "why"],
        hide_index=True, key=key, placeholder="", alt="Columns and their bounds",
    )  # fmt: skip
    st.caption(_MISSING)
    columns: list[dict[str, Any]] = []
    rules: list[Recoding] = []
    for row in edited.to_dict("records"):
        entry = {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in row.items()}
        entry |= {name: entry[name] or "" for name in ("unit", "description", "words")}
        entry["weight"] = entry["weight"] or 1.0
        name = str(entry.pop("name"))
        upload.cells[name] = entry
        if not entry["use"]:
            continue
        distances = {"weight": entry["weight"], "log": entry["kind"] == LOGARITHM}
        if entry["kind"] in (NUMBER, LOGARITHM):
            given = {key: entry[key] for key in ("unit", "low", "high", "fill", "description")}
            columns.append({"name": name, **given, **distances})
        else:
            rules.append(_rule(name, entry))
            columns.append({"name": name, "fill": entry["fill"], "low": None, "high": None, **distances})
    _reasons({name: upload.cells[name] for name in names})
    used = (name for name in names if upload.cells[name]["use"])
    if waiting := [name for name in used if str(upload.cells[name]["why"]).startswith("suggested")]:
        words = f"Confirm the suggested bounds of {len(waiting)} column{'s' * (len(waiting) > 1)}"
        if st.button(words, icon=":material/check:", key=f"{upload.key}_confirm"):
            for name in waiting:
                upload.cells[name]["why"] = upload.cells[name]["why"].replace("suggested", "confirmed")
            _again(upload)
        raise ValueError("Some column names suggest bounds: check them, change any wrong ones, and confirm the rest.")
    return columns, tuple(rules)


def _reasons(cells: dict[str, dict[str, Any]]) -> None:
    """Say below the table why columns are left out or what their names suggest, because cells would cut the text."""
    named: dict[str, list[str]] = {}
    for name, cell in cells.items():
        why = str(cell["why"])
        if why.startswith("left out" if not cell["use"] else "suggested"):
            named.setdefault(why, []).append(name)
    lines = []
    for why, names in named.items():
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        lines.append(markup.small(markup.bold(", ".join(names[:_NAMED])), f"{more}: {why}"))
    if lines:
        st.html("".join(lines))


def _sources(upload: Upload) -> list[str]:
    """Return the names of the file's usable columns; columns that a rule has made count under the original name."""
    sources = {column["name"]: rule.column for rule in upload.form.recode for column in rule.columns}
    can = [c for c in upload.table.columns if c.values is not None or c.kind in ("text", "mixed", "date", "unknown")]
    return list(dict.fromkeys(sources.get(column.name, column.name) for column in can))


def _suggested(upload: Upload, name: str, *, ticked: bool) -> dict[str, Any]:
    """Return the table's initial values for a column; for a private file, they follow from the column's name alone."""
    meaning = meaning_of(name)
    cell = dict(_CELLS)
    if meaning is not None and not meaning.reason:
        cell |= {"low": meaning.low, "high": meaning.high, "unit": meaning.unit, "why": f"suggested: {meaning.words}"}
    column = next((column for column in upload.table.columns if column.name == name), None)
    reason = _reason(upload, column, meaning)
    rule = ""
    if upload.private:
        rule = meaning.rule if meaning is not None else ""
    elif column is not None and column.values is None:
        rule, cell = column.suggestion, dict(_CELLS)  # the bounds that a name suggests are not those of words
    cell |= _written(Recoding.of(name, rule)) if rule else {}
    return cell | ({"why": f"left out: {reason}"} if reason else {"use": ticked})


def _reason(upload: Upload, column: Column | None, meaning: Meaning | None) -> str:
    """Return the reason why a column is initially left out, "" if it is not left out."""
    if column is not None and identifiers.singles_out(upload.table, column.name, private=True):
        return "Its name suggests row numbers, which say nothing about how similar rows are."
    if meaning is not None and meaning.rule.startswith("days"):
        return "Its name suggests a date: tick the column if people close in time are alike."
    if upload.private:
        return "Its name suggests no bounds." if meaning is None else meaning.reason
    if column is None:
        return ""
    if column.values is None:
        table = upload.table
        words_alone = column.suggestion and not table.usable and not table.lost  # as `describe` drafts them
        return "" if words_alone else column.reason
    if identifiers.singles_out(upload.table, column.name, private=False):
        return "It looks like a row number."
    values = np.unique(column.values[np.isfinite(column.values)])
    if len(values) < 2:
        return "It has the same value in every row."
    return "It has two values: this column alone would split the people into two groups." if len(values) == 2 else ""


def _written(rule: Recoding) -> dict[str, Any]:
    """Return a rule as cells of the table."""
    kind = next(words for words, code in KINDS.items() if code == (rule.code, rule.order))
    return {"kind": kind, "words": f"{rule.first}..{rule.last}" if rule.code == "days" else ", ".join(rule.categories)}


def _rule(name: str, entry: dict[str, Any]) -> Recoding:
    """Return the rule that a row of the table declares."""
    code, order = KINDS[entry["kind"]]
    if code == "days":
        first, _, last = entry["words"].partition("..")
        return Recoding(name, code, (), first.strip(), last.strip(), order)
    return Recoding(name, code, tuple(word.strip() for word in entry["words"].split(",")))


def _shortcuts(upload: Upload, names: list[str]) -> None:
    """Offer to fill the table from a data dictionary or, in DEMO, from the data themselves."""
    with st.container(horizontal=True):
        with st.popover("Data dictionary", icon=":material/upload_file:"):
            file = st.file_uploader("A dictionary that you saved here", "json", key=f"{upload.key}_dictionary")
            if file is not None:
                _load(upload, file.name, file.getvalue())
        numbers = [name for name in names if upload.cells[name]["kind"] in (NUMBER, LOGARITHM)]
        public = not upload.private
        if public and st.button("Fill from the data", icon=":material/no_encryption:", disabled=not numbers):
            upload.filled = True
            for name in numbers:
                upload.cells[name] |= {"why": "", **_range(upload.table.values(name))}
            _again(upload)
        if public:
            with st.popover("First rows (NOT PRIVATE)"):
                usable = upload.table.usable[:20]
                st.dataframe({name: upload.table.values(name)[:5] for name in usable}, hide_index=True)
        refused = [c for c in upload.table.columns if c.values is None and c.name not in _sources(upload)]
        if refused:
            with st.popover(f"Columns that cannot be used: {len(refused)}"):
                for column in refused:
                    st.markdown(f"**{plain(column.name)}** {plain(column.reason)}")
    if upload.filled:
        st.caption("Bounds were filled from the data. Bounds from data are NOT PRIVATE, and every result says so.")


def _again(upload: Upload) -> None:
    """Redraw the table, filled from the declaration."""
    upload.base = None
    upload.version += 1
    st.rerun()


def _range(values: np.ndarray) -> dict[str, float]:
    """Return the smallest and largest value, rounded outward. NOT PRIVATE."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    step = 10.0 ** np.floor(np.log10(max(high - low, abs(low) * 1e-6, 1e-6)) - 1)
    low, high = float(np.floor(low / step) * step), float(np.ceil(high / step) * step)
    return {"low": round(low, 12), "high": round(high if high > low else low + step, 12)}


def _load(upload: Upload, name: str, content: bytes) -> None:
    """Load a data dictionary, which may declare only columns of the table."""
    try:
        facts = dictionary.parse(content, name)
        rules = tuple(Recoding.parse(entry, name) for entry in facts["recode"])
        form = dataclasses.replace(
            upload.form, recode=rules, **{key: facts["form"][key] for key in _WRITTEN if key in facts["form"]}
        )
        if other := next(
            (key for key in _PLACE if facts["form"].get(key, getattr(form, key)) != getattr(form, key)), ""
        ):
            raise ValueError(
                f"{name}: its {other} differs from the one with which the file was read; drop the file again."
            )
        if form != upload.form:
            reading.again(upload, form)
        flat = facts["projection"] or {}
        read = {*upload.table.usable, flat.get("east"), flat.get("north")}
        lacking = [c["name"] for c in facts["columns"] if c["name"] not in read]
        if lacking:
            raise ValueError(f"{name}: the table has no usable column {lacking[0]!r}.")
        if upload.private and not facts["declared"]:
            raise ValueError(
                f"{name}: its bounds were taken from data; a private file needs bounds declared without looking at "
                f"data."
            )
    except ValueError as problem:
        messages.say("problem", str(problem))
        _again(upload)
    upload.draft = {**facts, "projection": None}
    upload.filled = not facts["declared"]
    rules_by_column = {column["name"]: rule for rule in rules for column in rule.columns}
    declared: dict[str, dict[str, Any]] = {}
    for column in facts["columns"]:
        rule = rules_by_column.get(column["name"])
        known = (
            {"fill": column["fill"], "weight": column.get("weight", 1.0)} | _written(rule)
            if rule
            else {
                **{key: column[key] for key in column if key in _CELLS},
                "kind": LOGARITHM if column.get("log") else NUMBER,
            }
        )
        declared.setdefault(rule.column if rule else column["name"], {**_CELLS, "use": True, **known})
    if flat:
        for name, (low, high) in degrees_of(facts).items():
            declared[name] = {**_CELLS, "use": True, "low": low, "high": high, "unit": "degrees"}
        del declared[flat["east"]], declared[flat["north"]]
    others = {name: {**_suggested(upload, name, ticked=False), "use": False} for name in _sources(upload)}
    upload.cells = {**declared, **{name: cell for name, cell in others.items() if name not in declared}}
    _again(upload)


def _people(upload: Upload) -> dict[str, Any]:
    """Ask for the number of rows, the unit of privacy, the scale and the clipping; return the declared values."""
    draft: dict[str, Any] = {"n_is": "exact", "rows_per_person": 1, "scale": "column", "radius": None, **upload.draft}
    keep: dict[str, Any] = {"persist_state": "session"}
    a, b = st.columns(2, gap="small")
    n = field(
        "Rows", 1, value=draft.get("n_public"), on=a, key=f"{upload.key}_n", placeholder="a round number",
        help="Declared, not counted. Thresholds and δ follow from this number; the true number stays private.", **keep,
    )  # fmt: skip
    n_is = b.segmented_control(
        "Is that number public?", ("exact", "approximate"), default=draft["n_is"], required=True,
        format_func={"exact": "Exactly", "approximate": "Only about"}.__getitem__,
        key=f"{upload.key}_n_is", **keep,
    )  # fmt: skip
    rows = field(
        "Rows of one person, at most", 1, value=draft["rows_per_person"], on=a, key=f"{upload.key}_rows_per_person",
        help="Enter 1 if one row is one person. With m rows, ε for a person is m times as large.", **keep,
    )  # fmt: skip
    unit = b.text_input(
        "What is one row?", draft.get("unit_of_privacy", "one row is one person"), 80, key=f"{upload.key}_unit", **keep
    )
    scale = a.selectbox(
        "Scale", ("column", "common"), ("column", "common").index(draft["scale"]), key=f"{upload.key}_scale",
        format_func={"column": "each column its own", "common": "one for all: keeps distances"}.__getitem__,
        help="Each column its own: all columns weigh the same. One for all: for maps and other columns that "
            "share a unit.", **keep,
    )  # fmt: skip
    radius = b.number_input(
        "Clipping radius", 0.0, value=None if draft["radius"] is None else float(draft["radius"]), step=None,
        format="%g", key=f"{upload.key}_radius", placeholder="none",
        help="Rows farther from the middle are moved in to this distance. The unit is the half-width of the bounds.",
        **keep,
    )  # fmt: skip
    return {
        "n_public": n, "n_is": n_is, "rows_per_person": rows, "unit_of_privacy": unit, "scale": scale,
        "radius": radius, "declared": not upload.filled,
    }  # fmt: skip


def _missing(columns: list[dict[str, Any]]) -> str:
    """Return a sentence that says how many bounds are missing, or "" if at most one is."""
    wanted = sum(column[end] is None for column in columns for end in ("low", "high"))
    return f"{wanted} bounds are missing: each column needs a low and a high bound." if wanted > 1 else ""


def _known_groups(upload: Upload, names: list[str]) -> dict[str, Any]:
    """Ask, in DEMO only, for a column of known groups, which serve for comparison and give the default k."""
    if upload.private:
        return {}
    choices = [name for name in upload.table.groupings if name not in names]
    if not choices:
        return {"label": None}
    known = upload.draft.get("label")
    label = st.selectbox(
        "Known groups", choices, choices.index(known) if known in choices else None, key=f"{upload.key}_label",
        placeholder="none", persist_state="session",
        help="A column that gives the group of each row; results are compared with these groups. NOT PRIVATE.",
    )  # fmt: skip
    if label is None:
        return {"label": None}
    groups = upload.table.groups(label)
    assert groups is not None
    return {"label": label, "n_clusters": upload.draft.get("n_clusters") or len(np.unique(groups[groups >= 0]))}


def _consequences(upload: Upload, facts: dict[str, Any]) -> None:
    """Say how much one person can change; in DEMO, show the effect of the declaration on the rows."""
    if facts["projection"]:
        wide = max(column["high"] for column in facts["columns"][:2])
        tight = (
            " Declare the bounds of your region for both columns: half the width means half the noise."
            if wide > _REGION
            else ""
        )
        st.caption(f"Latitude and longitude become one map, in kilometers around the middle of their bounds.{tight}")
    st.html(markup.small(markup.bold("What one person can change:"), " ", " ".join(dictionary.promises(facts))))
    if upload.private:
        return
    names = [column["name"] for column in facts["columns"]]
    chosen = thin(upload.table.n_rows, COUNTED)
    fill = {column["name"]: column["fill"] for column in facts["columns"] if column["fill"] is not None}
    rules = {rule["column"] for rule in facts["recode"]} - {rule.column for rule in upload.form.recode}
    if rules or not {*names} <= {*upload.table.usable}:  # columns made by a rule or a map have not been read yet
        return
    X = np.column_stack(
        [np.nan_to_num(upload.table.values(name)[chosen], nan=fill.get(name, np.nan)) for name in names]
    )
    domain = dictionary.domain_of(facts)
    X = domain.with_logs(X)
    effect = clipping(X, domain)
    of = f"{effect.n_rows:,} rows" + (" drawn at random" if len(chosen) < upload.table.n_rows else "")
    st.html(
        markup.small(
            markup.bold(f"What your bounds do to {of} (NOT PRIVATE)."),
            f" {effect.outside:,} rows lie outside the bounds and are moved to the edge; {effect.radius:,} are "
            f"moved in to the clipping radius; {effect.dropped:,} lack a number and are left out.",
        )
    )
    panel = bounds_panel(X, domain, names, shell.colors())
    st.plotly_chart(
        panel.figure, theme=None, key=f"{upload.key}_effect", alt=panel.alt,
        config={"displayModeBar": False, "responsive": True, "scrollZoom": False},
    )  # fmt: skip


def use(upload: Upload, facts: dict[str, Any]) -> None:
    """Make the declared table the chosen data set, under a new token if the declaration has changed.

    Raises
    ------
    TableError
        If the file cannot be read with the declared rules.
    """
    before = upload.dataset_id
    rules = tuple(Recoding.parse(entry, "Declaration") for entry in facts["recode"])
    if rules != upload.form.recode:
        reading.again(upload, dataclasses.replace(upload.form, recode=rules))
    if upload.dataset_id in catalog.own() and catalog.sample(upload.dataset_id).facts == facts:
        catalog.choose(upload.dataset_id)
        return
    catalog.own().pop(upload.dataset_id, None)
    upload.dataset_id = secrets.token_hex(8)
    if before:
        hand_on(before, upload.dataset_id)
    catalog.keep(from_table(upload.table, facts, private=upload.private, dataset_id=upload.dataset_id))
    work_state.fingerprints[upload.dataset_id] = upload.fingerprint
