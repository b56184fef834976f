"""A file of your own: it is received in memory, one question is asked, and it is read."""

from __future__ import annotations

import secrets

import streamlit as st
from starlette.formparsers import MultiPartParser

from dpviz.datasets.readers import Form, Limits, TableError
from dpviz.escape import plain
from dpviz.privacy.accounts import Refused
from pages._ui.data import editor, key_file, reading
from pages._ui.data.new_files import count_new_file
from pages._ui.data.state import Upload, data_state
from pages._ui.form.numbers import field
from pages._ui.frame import keys, messages
from pages._ui.frame.streamlit_patches import forget
from pages._ui.server.owner import owner
from pages._ui.work import results
from pages._ui.work.private import accounts

TYPES = "csv tsv txt dat parquet xlsx json jsonl ndjson feather arrow dta gz".split()
_FORMS = "A table: CSV or other text, Excel, Parquet, Feather, JSON records, Stata, or one of these packed by gzip"
MOST_FILES = 3
_TYPED = (".parquet", ".feather", ".arrow", ".dta")  # their columns have names and types of their own
_MASK = "   ".join(["•" * 6] * 5)  # one mask for every file: not even the number of its columns is read yet
_PUBLIC = (
    "Made up, published, or yours to show. You will see rows, what noise does to them, and plain KMeans beside every "
    "private result. Runs have a seed and can be repeated."
)
_PRIVATE = (
    "Nothing of its rows is shown, not before and not after: no preview, no smallest value, no count. Runs draw their "
    "noise from the operating system, cost privacy, and add up. Only released values leave."
)


def keep_uploads_in_memory(most: int) -> None:
    """Raise the size above which the server's form parser would write an upload to a temporary file."""
    MultiPartParser.spool_max_size = most


def files() -> None:
    """Show the way from a dropped file to a declared data set."""
    uploads = data_state.uploads
    if data_state.pending is not None:
        (_ask_header if data_state.pending_header else _ask)(*data_state.pending)
        return
    if not uploads or data_state.another:
        _receive()
    if not uploads:
        key_file.offer()
    if uploads:
        _list(uploads)


def _receive() -> None:
    turn = data_state.file_turn
    file = st.file_uploader(
        "A table: CSV or other text, Excel, Parquet, Feather, JSON records, Stata, or one of these packed by gzip",
        TYPES,
        key=keys.FILE(turn),
    )
    st.caption(
        "The file stays in the memory of this server, for this visit only: never in a log, and a private one "
        "never on its disk. "
        "Names and types of columns count as public."
    )
    if file is not None:
        data_state.pending = (file.name.replace("\\", "/").split("/")[-1][-60:], file.getvalue())
        forget(file)
        data_state.file_turn, data_state.another = turn + 1, False
        st.rerun()


def _ask(name: str, content: bytes) -> None:
    st.header(f"Is {plain(name)} public?")
    for place, label, words, private in zip(
        st.columns(2, gap="medium"), ("Yes, it is public", "No, it is private"), (_PUBLIC, _PRIVATE), (False, True),
        strict=True,
    ):  # fmt: skip
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{'PRIVATE' if private else 'DEMO'}**  \n{words}")
            if st.button(label, key=keys.SAY_PRIVATE if private else keys.SAY_PUBLIC, width="stretch"):
                accepted, place_of_table = _answer(name, content, private), data_state.pending_place
                if accepted and private:
                    data_state.pending_header = True
                else:
                    _forget()
                if accepted and not private:
                    _read(name, content, Form(None, False, *place_of_table))
                st.rerun()
    with st.expander("Where in the file the table is"):
        data_state.pending_place = reading.where("pending", content, Form())
    st.caption("Your answer is final for this file.")
    if st.button("Neither: forget the file", type="tertiary"):
        _forget()
        st.rerun()


def _forget() -> None:
    del data_state.pending, data_state.pending_header


def _ask_header(name: str, content: bytes) -> None:
    """Ask what the first line of a private file is; until then nothing of it is read, let alone shown."""
    sheet, row = data_state.pending_place
    line = f"{'The first line' if row is None else f'Line {row}'}{f' on sheet {plain(sheet)}' if sheet else ''}"
    st.header("Are these names of columns, or the first person?")
    st.markdown(f"**PRIVATE** {line} of {plain(name)} is hidden:")
    st.code(_MASK, language=None)
    st.markdown(
        "Look in the file itself. Names of columns become public; the first person's cells must not. A file "
        "without a line of names can be read too; its columns are then called column 1, column 2, and so on."
    )
    with st.container(horizontal=True):
        decimal, thousands = reading.numbers("pending", Form(private=True))
        separator = reading.separator("pending")
    n_columns = field(
        "Without names: how many cells has a line?", 1, Limits().columns, None, key=keys.N_COLUMNS("pending"),
        width=300, placeholder="a whole number",
        help="Declared, so that no row decides it. The cells of a line with another number count as missing.",
    )  # fmt: skip
    with st.container(horizontal=True):
        for label, header in (("Names of columns", True), ("The first person", False)):
            if st.button(label, key=keys.SAY_HEADER(header), width=200):
                sheet, row = data_state.pending_place
                form = Form(
                    header, True, sheet, row, separator=separator, decimal=decimal, thousands=thousands,
                    n_columns=n_columns if isinstance(n_columns, int) else None,
                )  # fmt: skip
                if header or form.n_columns or name.lower().removesuffix(".gz").endswith(_TYPED):
                    _forget()
                    _read(name, content, form)
                else:
                    messages.say("problem", "Say first how many cells a line has: no line of names tells it.")
                st.rerun()
    if st.button("I do not know: forget the file", type="tertiary"):
        _forget()
        st.rerun()


def _answer(name: str, content: bytes, private: bool) -> bool:
    """Put the answer to the first question on record; the one that its owner gave for the same file before stands."""
    try:
        count_new_file()
        with accounts() as kept:
            kept.answer(kept.key(content, owner().name), private)
    except Refused as problem:
        messages.say("problem", f"{name}: {problem}")
        return False
    return True


def _read(name: str, content: bytes, form: Form) -> None:
    """Read a file and keep its table."""
    state = st.session_state
    try:
        with accounts() as kept:
            fingerprint = kept.key(content, owner().name)
        table = reading.read(name, content, form)
    except (TableError, Refused) as problem:
        messages.say("problem", str(problem))
        return
    private = form.private
    draft = {"form": form.facts} | ({} if private else {"n_public": table.n_rows})
    token = secrets.token_hex(8)
    data_state.uploads[token] = Upload(token, table, private, fingerprint, draft, content, form)
    state[keys.UPLOAD_SHOWN] = token


def _list(uploads: dict[str, Upload]) -> None:
    """Show which file is looked at, the others, and how to remove it."""
    state = st.session_state
    if state.get(keys.UPLOAD_SHOWN) not in uploads:
        state[keys.UPLOAD_SHOWN] = next(iter(uploads))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "File", uploads, format_func={token: upload.table.name for token, upload in uploads.items()}.__getitem__,
            key=keys.UPLOAD_SHOWN, width=300, persist_state="session",
        )  # fmt: skip
        upload = uploads[state[keys.UPLOAD_SHOWN]]
        if st.button("Remove it", icon=":material/delete:"):
            del uploads[upload.token]
            results.drop(upload.dataset_id)
            st.rerun()
        if len(uploads) < MOST_FILES and st.button("Another file", icon=":material/add:"):
            data_state.another = True
            st.rerun()
    editor.editor(upload)
