"""Read a file, and read it again differently: another sheet, another first line, another decimal sign."""

from __future__ import annotations

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import streamlit as st

from dpviz.datasets.readers import Form, Stopped, Table, read_table
from dpviz.datasets.readers.form import NUMBERS, SEPARATORS
from dpviz.datasets.readers.marks import MISSING
from dpviz.escape import plain
from pages._ui.data.state import Upload
from pages._ui.explore.form.numbers import whole_number
from pages._ui.frame import catalog, messages
from pages._ui.work import results

__all__ = [
    "KINDS", "LOGARITHM", "NUMBER", "again", "below", "differently", "doubt", "numbers", "read", "separator", "where",
    "words",
]  # fmt: skip

_PLACE = "{}_differently_place".format

NUMBER, LOGARITHM = "number", "amount, in logarithms"
KINDS = {  # text on screen -> code of the rule ("" for a number) and order of a date
    NUMBER: ("", "ymd"),
    LOGARITHM: ("", "ymd"),
    "words: one column per word": ("one-hot", "ymd"),
    "words in order": ("ordinal", "ymd"),
    "date year-month-day": ("days", "ymd"),
    "date day-month-year": ("days", "dmy"),
    "date month-day-year": ("days", "mdy"),
}
_SHEETS = b"PK"  # First bytes of a workbook.
_LAST = 50  # Last line at which a table may begin, as an error about a missing line would reveal the number of lines.


def read(name: str, content: bytes, form: Form) -> Table:
    """Read a file in a thread that the visitor can stop; show progress unless the file is private."""
    stop, done = threading.Event(), [0.0]

    def advance(fraction: float) -> None:
        done[0] = fraction
        if stop.is_set():
            raise Stopped

    slot = st.empty()
    st.button("Stop")  # any click reruns the page, which ends the loop below
    with ThreadPoolExecutor(1, thread_name_prefix="dpviz-read") as pool:
        future = pool.submit(
            read_table, content, name, words=True, on_progress=advance,
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
    """Read a file in another format; keep the declarations of columns that still exist.

    Raises
    ------
    TableError
        If the file cannot be read in that format; the table then stays unchanged.
    """
    upload.table, upload.form = read(upload.table.name, upload.content, form), form
    catalog.own().pop(upload.dataset_id, None)
    results.drop(upload.dataset_id)
    upload.dataset_id = ""
    if not upload.private:
        upload.draft["n_public"] = upload.table.n_rows
    upload.draft["form"] = form.facts
    upload.base = None
    upload.version += 1


def differently(upload: Upload) -> None:
    """Offer another decimal sign, and for a public file another sheet or first line.

    The owner of a private file has confirmed only that one line holds names; another line may hold a person.
    """
    form = upload.form
    with st.expander(f"Read it with another {'' if upload.private else 'sheet, first line or '}decimal sign"):
        at = (form.sheet, form.header_row) if upload.private else where(_PLACE(upload.key), upload.content, form)
        decimal, thousands = numbers(upload.key, form)
        present = words(upload.key, form)
        if st.button("Read it this way"):
            try:
                form = dataclasses.replace(form, sheet=at[0], header_row=at[1], no_missing_marks=present)
                again(upload, dataclasses.replace(form, decimal=decimal, thousands=thousands))
            except ValueError as problem:
                messages.say("problem", str(problem))
            st.rerun()


def where(key: str, content: bytes, form: Form) -> tuple[str | None, int | None]:
    """Ask for the sheet of a workbook and the line where the table begins; return None for a field left empty."""
    a, b = st.columns(2, gap="small")
    sheet = a.text_input(
        "Sheet, by name or number", form.sheet or "", 60, key=f"{key}_sheet", placeholder="the first with a table",
        disabled=not content.startswith(_SHEETS), help="Only for workbooks.",
    )  # fmt: skip
    row = whole_number(
        "The table begins on line", 1, _LAST, form.header_row or 1, on=b, key=f"{key}_row",
        help="Lines above the table, such as a title, are skipped.",
    )  # fmt: skip
    return sheet.strip() or None, row if row > 1 else None


def numbers(key: str, form: Form) -> tuple[str | None, str | None]:
    """Ask which made-up cell looks like the file's numbers; return the decimal sign and the thousands sign.

    For a public file both signs are None (detected when the file is read) unless its owner declares them.
    """
    written = {"as in the file": (None, None), **NUMBERS} if not form.private else dict(NUMBERS)
    start = form.example if form.private or form.decimal is not None else "as in the file"
    label = st.selectbox(
        "Do your numbers look like these?", written, list(written).index(start), key=f"{key}_numbers", width=300,
        help="These cells are made up. Spaces and apostrophes may group thousands, too. In a private file any cell in "
            "another format counts as missing.",
    )  # fmt: skip
    return written[label]


def words(key: str, form: Form) -> tuple[str, ...]:
    """Ask which marks of a missing cell are words of this file."""
    return tuple(
        st.multiselect(
            "Marks that are words in this file",
            MISSING,
            form.no_missing_marks,
            key=f"{key}_words",
            width=300,
            placeholder="none",
            help="Cells such as NA, - or ? count as missing, unless you list them here, as for NA as a region.",
        )  # fmt: skip
    )


def below(key: str) -> int | None:
    """Ask how many lines directly below the names are no rows."""
    return (
        whole_number(
            "Lines to skip below the names",
            0,
            _LAST,
            0,
            key=f"{key}_below",
            width=300,
            help="Such as a line of units. Nothing about lines is recognized from what they hold.",
        )  # fmt: skip
        or None
    )


def separator(key: str) -> str | None:
    """Ask what separates cells in a text file (None: as in the line of names or, without that line, a comma)."""
    words = {"as in the line of names, otherwise a comma": None, **{word: sign for sign, word in SEPARATORS.items()}}
    label = st.selectbox("Separator of cells", words, key=f"{key}_separator", width=300, help="Only for text files.")
    return words[label]


def doubt(upload: Upload) -> None:
    """Ask whether the only comma or point in a cell of a public column groups thousands or begins the decimals."""
    if not upload.table.doubtful:
        return
    column, cell = upload.table.doubtful[0].name, upload.table.doubtful[0].doubt
    sign = "," if "," in cell else "."
    small, large = plain(cell.replace(",", ".")), plain(f"{int(cell.replace(',', '').replace('.', '')):,}")
    with st.container(border=True):
        st.markdown(
            f"**{plain(cell)}: is it {large}?** Column {plain(column)} leaves open whether its separator "
            "groups thousands."
        )
        with st.container(horizontal=True):
            for words, decimal in (
                (f"Yes, {large}", ".,"[sign == "."]),
                (f"No, a bit more than {small.split('.')[0]}", sign),
            ):
                if st.button(words, key=f"{upload.key}_decimal_{decimal}"):
                    try:
                        apart = dict(upload.form.decimal_of) | {column: decimal}
                        again(upload, dataclasses.replace(upload.form, decimal_of=tuple(apart.items())))
                    except ValueError as problem:
                        messages.say("problem", str(problem))
                    st.rerun()
