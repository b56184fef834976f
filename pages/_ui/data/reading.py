"""Reading a file, and reading it differently: another sheet, another first line, words and dates as numbers."""

from __future__ import annotations

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import streamlit as st

from dpviz.datasets.readers import Form, Recoding, Stopped, Table, read_table
from dpviz.datasets.readers.form import NUMBERS, SEPARATORS
from dpviz.escape import plain
from pages._ui.data.state import Upload
from pages._ui.form.numbers import whole_number
from pages._ui.frame import catalog, keys, messages
from pages._ui.work import results

__all__ = ["again", "differently", "doubt", "numbers", "read", "separator", "where"]

_CODES = {  # words on screen -> code and order of a date
    "one column for each category": ("one-hot", "ymd"),
    "one column, categories in order": ("ordinal", "ymd"),
    "days, dates year-month-day": ("days", "ymd"),
    "days, dates day-month-year": ("days", "dmy"),
    "days, dates month-day-year": ("days", "mdy"),
}
_CONFIG = {
    "column": st.column_config.TextColumn("column", disabled=True),
    "as": st.column_config.SelectboxColumn("becomes", options=list(_CODES)),
    "declared": st.column_config.TextColumn(
        "categories, or first..last date", help="low, middle, high, or 1950-01-01..2020-12-31. Public."
    ),
}
_SHEETS = b"PK"  # how a workbook begins
_LAST = 50  # where a table may begin at the latest: lines that are not there would tell how many there are


def read(name: str, content: bytes, form: Form) -> Table:
    """Read in a thread; every turn of the loop is a chance for the visitor to stop. PRIVATE shows no pace."""
    stop, done = threading.Event(), [0.0]

    def advance(fraction: float) -> None:
        done[0] = fraction
        if stop.is_set():
            raise Stopped

    slot = st.empty()
    st.button("Stop")  # any click reruns the page, which ends the loop below
    with ThreadPoolExecutor(1, thread_name_prefix="dpviz-read") as pool:
        future = pool.submit(
            read_table, content, name, on_progress=advance,
            **{entry.name: getattr(form, entry.name) for entry in dataclasses.fields(form)},
        )  # fmt: skip
        try:
            while not future.done():
                if form.private:
                    slot.markdown("Reading…")
                else:
                    slot.progress(done[0], "Reading…")
                time.sleep(0.1)
        finally:
            stop.set()
    return future.result()


def again(upload: Upload, form: Form) -> None:
    """Read a file in another form; what was declared for columns that are still there stays.

    Raises
    ------
    TableError
        If it cannot be read so; the table stays as it was.
    """
    upload.table, upload.form = read(upload.table.name, upload.content, form), form
    catalog.own().pop(upload.dataset_id, None)
    results.drop(upload.dataset_id)
    upload.dataset_id = ""
    if not upload.private:
        upload.draft["n_public"] = upload.table.n_rows
    upload.draft["recode"] = [rule.facts for rule in form.recode]
    upload.draft["form"] = form.facts
    upload.draft.pop("columns", None)
    for rule in form.recode:
        for column in rule.columns:
            known = {"low": float(column["low"]), "high": float(column["high"]), "unit": column.get("unit", "")}
            upload.cells[column["name"]] = known | {"description": column.get("description", "")}
    upload.editing = ""
    upload.version += 1


def differently(upload: Upload) -> None:
    """Offer numbers for words and dates, and for a public file another sheet or first line.

    Which line holds the names of a private file was confirmed for one place; another line may hold a person.
    """
    form = upload.form
    place = "" if upload.private else "another sheet or first line, "
    with st.expander(f"Read it differently: {place}the decimal sign, words and dates as numbers"):
        at = (form.sheet, form.header_row) if upload.private else where(keys.PLACE(upload.key), upload.content, form)
        decimal, thousands = numbers(upload.key, form)
        rows = _candidates(upload)
        edited = rows
        if len(rows):
            st.caption(
                "Categories and dates are declared, never read off a private file. Any other cell counts as missing."
            )
            edited = st.data_editor(
                rows,
                column_config=_CONFIG,
                hide_index=True,
                key=keys.RECODE(upload.key),
                placeholder="",
                alt="Words and dates as numbers",
            )
        if st.button("Read it so"):
            try:
                again(
                    upload,
                    dataclasses.replace(
                        form, sheet=at[0], header_row=at[1], recode=_rules(edited), decimal=decimal, thousands=thousands
                    ),
                )
            except ValueError as problem:
                messages.say("problem", str(problem))
            st.rerun()


def where(key: str, content: bytes, form: Form) -> tuple[str | None, int | None]:
    """Ask for the sheet of a workbook and the line where the table begins; None where nothing is said."""
    a, b = st.columns(2, gap="small")
    sheet = a.text_input(
        "Sheet, by name or number", form.sheet or "", 60, key=keys.SHEET(key), placeholder="the first with a table",
        disabled=not content.startswith(_SHEETS), help="For workbooks only.",
    )  # fmt: skip
    row = whole_number(
        "The table begins in line", 1, _LAST, form.header_row or 1, on=b, key=keys.FIRST_LINE(key),
        help="Lines above it, such as a title, are skipped.",
    )  # fmt: skip
    return sheet.strip() or None, row if row > 1 else None


def numbers(key: str, form: Form) -> tuple[str | None, str | None]:
    """Ask how numbers are written, by a made-up cell; return the decimal and the thousands sign.

    Those of a public file are found in it, as long as nobody says them: then both are None.
    """
    written = {"as in the file": (None, None), **NUMBERS} if not form.private else dict(NUMBERS)
    start = form.example if form.private or form.decimal is not None else "as in the file"
    shown = st.selectbox(
        "Numbers like these: do yours look so?", written, list(written).index(start), key=keys.NUMBERS(key), width=300,
        help="A made-up cell. Spaces and apostrophes group thousands too. In a private file a cell that is written in "
        "another way counts as missing, by itself.",
    )  # fmt: skip
    return written[shown]


def separator(key: str) -> str | None:
    """Ask what stands between the cells of a text; None: what the line of names says, else a comma."""
    words = {"as in the line of names, else a comma": None, **{word: sign for sign, word in SEPARATORS.items()}}
    shown = st.selectbox("Between cells", words, key=keys.SEPARATOR(key), width=300, help="For files of text only.")
    return words[shown]


def doubt(upload: Upload) -> None:
    """Ask what a cell of a public column means whose one sign groups thousands or begins decimals."""
    if not upload.table.doubtful:
        return
    column, cell = upload.table.doubtful[0].name, upload.table.doubtful[0].doubt
    sign = "," if "," in cell else "."
    small, large = plain(cell.replace(",", ".")), plain(f"{int(cell.replace(',', '').replace('.', '')):,}")
    with st.container(border=True):
        st.markdown(
            f"**{plain(cell)}: is it {large}?** Column {plain(column)} does not tell whether its sign groups thousands."
        )
        with st.container(horizontal=True):
            for words, decimal in (
                (f"Yes, {large}", ".,"[sign == "."]),
                (f"No, a bit more than {small.split('.')[0]}", sign),
            ):
                if st.button(words, key=keys.DECIMAL(upload.key, decimal)):
                    try:
                        apart = dict(upload.form.decimal_of) | {column: decimal}
                        again(upload, dataclasses.replace(upload.form, decimal_of=tuple(apart.items())))
                    except ValueError as problem:
                        messages.say("problem", str(problem))
                    st.rerun()


def _candidates(upload: Upload) -> pd.DataFrame:
    """Return a line for each column of words or dates, with the rule it has."""
    rules = {rule.column: rule for rule in upload.form.recode}
    kept = [name for name in rules if name not in {column.name for column in upload.table.columns}]
    lines: list[dict[str, Any]] = []
    made = {column["name"] for rule in rules.values() for column in rule.columns}
    likely = [c.name for c in upload.table.columns if _words(c.kind) or (upload.private and c.name not in made)]
    for name in dict.fromkeys([*likely, *kept, *rules]):
        rule = rules.get(name)
        words = next((column.words for column in upload.table.columns if column.name == name), ())
        lines.append({"column": name, "as": _shown(rule), "declared": _declared(rule) if rule else ", ".join(words)})
    return pd.DataFrame(lines, columns=["column", "as", "declared"])


def _words(kind: str) -> bool:
    return kind in {"text", "mixed", "date", "recoded", "unknown"}


def _shown(rule: Recoding | None) -> str | None:
    return None if rule is None else next(words for words, code in _CODES.items() if code == (rule.code, rule.order))


def _declared(rule: Recoding) -> str:
    return f"{rule.first}..{rule.last}" if rule.code == "days" else ", ".join(rule.categories)


def _rules(rows: pd.DataFrame) -> tuple[Recoding, ...]:
    """Return the rules of the lines that have one."""
    rules = []
    for line in rows.to_dict("records"):
        if line["as"] not in _CODES:
            continue
        code, order = _CODES[line["as"]]
        text = line["declared"] or ""
        if code == "days":
            first, _, last = text.partition("..")
            rules.append(Recoding(line["column"], code, (), first.strip(), last.strip(), order))
        else:
            rules.append(Recoding(line["column"], code, tuple(word.strip() for word in text.split(","))))
    return tuple(rules)
