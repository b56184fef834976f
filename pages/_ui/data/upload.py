"""Receive a visitor's file in memory, ask one question per screen, and read the file."""

from __future__ import annotations

import dataclasses
import secrets

import streamlit as st
from starlette.formparsers import MultiPartParser

from dpviz.datasets.readers import Form, Limits, TableError, has_types
from dpviz.datasets.remarks import remarks
from dpviz.escape import plain
from dpviz.privacy.accounts import Refused
from pages._ui.data import kept, key_file, reading
from pages._ui.data.new_files import count_new_file
from pages._ui.data.state import Pending, Upload, data_state
from pages._ui.explore.form.numbers import field
from pages._ui.frame import messages
from pages._ui.frame.inside.patches import forget
from pages._ui.server.owner import owner
from pages._ui.work import results
from pages._ui.work.private import accounts

UPLOAD_SHOWN = "upload_shown"
_SAY_PRIVATE = "say_private"
_SAY_PUBLIC = "say_public"
_SAY_HEADER = "say_header_{}".format

_FORMS = (
    "A table: CSV or other text, Excel, Parquet, Feather, JSON records, Stata, or one of these compressed with gzip"
)
MOST_FILES = 3
_PUBLIC = (
    "The rows are made up, published, or yours to show. You will see rows, the effect of noise, and plain KMeans next "
    "to every private result. Runs have a seed and can be repeated."
)
_PRIVATE = (
    "Nothing about the file's rows is ever shown: no preview, no smallest value, no count. Runs draw their noise from "
    "the operating system and cost privacy, and their costs add up. Only released values leave the server."
)


def keep_uploads_in_memory(most: int) -> None:
    """Raise the size above which the server's form parser would write an upload to a temporary file."""
    MultiPartParser.spool_max_size = most


def files() -> None:
    """Show the next question about an uploaded file, or the files that were read."""
    uploads = data_state.uploads
    if (pending := data_state.pending) is not None:
        {"public": _ask, "header": _ask_header, "width": _ask_width}[pending.question](pending)
        return
    if not uploads or data_state.another:
        _receive()
    kept.remembered(opens=False)
    if not uploads:
        key_file.offer()
    else:
        _list(uploads)


def _receive() -> None:
    turn = data_state.file_turn
    file = st.file_uploader(_FORMS, key=f"file_{turn}")
    st.caption(
        "The file stays in this server's memory, for this visit only; it never reaches a log, and a private file "
        "never reaches the disk. Names and types of columns are public."
    )
    if file is not None:
        data_state.pending = Pending(file.name.replace("\\", "/").split("/")[-1][-60:], file.getvalue())
        forget(file)
        data_state.file_turn, data_state.another = turn + 1, False
        st.rerun()


def _ask(pending: Pending) -> None:
    st.header(f"Is {plain(pending.name)} public?")
    before = _recognize(pending)
    answers = []
    for place, label, words, private in zip(
        st.columns(2, gap="medium"), ("Yes, it is public", "No, it is private"), (_PUBLIC, _PRIVATE), (False, True),
        strict=True,
    ):  # fmt: skip
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{'PRIVATE' if private else 'DEMO'}**  \n{words}")
            key = _SAY_PRIVATE if private else _SAY_PUBLIC
            if st.button(label, key=key, width="stretch", disabled=before is not None and before is not private):
                answers.append(private)
    with st.expander("Location of the table in the file"):
        sheet, row = reading.where("pending", pending.content, pending.form)
    st.caption("Your answer is final for this file.")
    _forget_button("Neither: forget the file")
    for private in answers:
        form = Form(None, private, sheet, row)
        if not answer(pending, private):
            del data_state.pending
        elif private:
            data_state.pending = dataclasses.replace(pending, question="header", form=form)
        else:
            _read(pending, form)
        st.rerun()


def _recognize(pending: Pending) -> bool | None:
    """Show and return the owner's earlier answer for this file, if any. A changed file has a new account."""
    try:
        with accounts() as known:
            before = known.of(known.key(pending.content, owner().name)).private
    except Refused:
        return None  # the visitor is told why after answering
    if before is not None:
        st.info(
            f"You already declared this file {'private' if before else 'public'}, and this server has its account. "
            f"Continue with this answer, or forget the file."
        )
    elif kept.known(pending.name):
        st.info(
            "A file with this name was declared in this browser before. This server does not know the dropped file: it "
            "is another file or has changed, so it gets its own account."
        )
    return before


def _forget_button(label: str) -> None:
    if st.button(label, type="tertiary"):
        del data_state.pending
        st.rerun()


def _ask_header(pending: Pending) -> None:
    """Ask what the first line of a private file holds; read nothing in the file before the answer."""
    form = pending.form
    line = f"line {form.header_row or 1}{f' on sheet {plain(form.sheet)}' if form.sheet else ''}"
    st.header(f"Does {line} of your file hold the names of the columns?")
    st.markdown(
        f"Open {plain(pending.name)} and look: this server has not read anything in it yet. Names of columns become "
        "public; the first person's cells must not. Without names the columns are called column 1, column 2, and so on."
    )
    with st.container(horizontal=True):
        yes = st.button("Yes, names", key=_SAY_HEADER(True), width=200)
        no = st.button("No, a person", key=_SAY_HEADER(False), width=200)
    with st.expander(f"Format of the file: numbers like {form.example}"), st.container(horizontal=True):
        decimal, thousands = reading.numbers("pending", form)
        separator = reading.separator("pending")
        below, words = reading.below("pending"), reading.words("pending", form)
    _forget_button("I do not know: forget the file")
    if yes or no:
        form = dataclasses.replace(
            form, header=yes, separator=separator, decimal=decimal, thousands=thousands, no_missing_marks=words,
            lines_below=below if yes else None,
        )  # fmt: skip
        if yes or has_types(pending.name):
            _read(pending, form)
        else:
            data_state.pending = dataclasses.replace(pending, question="width", form=form)
        st.rerun()


def _ask_width(pending: Pending) -> None:
    """Ask for the number of cells per line, so that it does not depend on any row."""
    st.header("How many cells does a line have?")
    n_columns = field(
        "Cells per line", 1, Limits().columns, None, key="pending_n_columns", width=300,
        placeholder="a whole number",
        help="Cells that a line lacks count as missing, and so do all cells of a line that has more.",
    )  # fmt: skip
    if st.button("Read it this way", disabled=not isinstance(n_columns, int)):
        _read(pending, dataclasses.replace(pending.form, n_columns=n_columns))
        st.rerun()
    _forget_button("I do not know: forget the file")


def answer(pending: Pending, private: bool) -> bool:
    """Record the answer to the first question; an earlier answer by the same owner for the same file stands."""
    try:
        count_new_file()
        with accounts() as store:
            store.answer(store.key(pending.content, owner().name), private)
    except Refused as problem:
        messages.say("problem", f"{pending.name}: {problem}")
        return False
    return True


def _read(pending: Pending, form: Form) -> None:
    """Read a file, keep its table, and go on to Bounds; a file that cannot be read is forgotten."""
    del data_state.pending
    try:
        with accounts() as store:
            fingerprint = store.key(pending.content, owner().name)
        table = reading.read(pending.name, pending.content, form)
    except (TableError, Refused) as problem:
        messages.say("problem", str(problem))
        return
    draft = {"form": form.facts} | ({} if form.private else {"n_public": table.n_rows})
    token = secrets.token_hex(8)
    data_state.uploads[token] = Upload(token, table, form.private, fingerprint, draft, pending.content, form)
    st.session_state[UPLOAD_SHOWN] = token
    st.switch_page("pages/bounds.py")


def _list(uploads: dict[str, Upload]) -> None:
    """Show the current file, a button that removes it, and the other files."""
    state = st.session_state
    if state.get(UPLOAD_SHOWN) not in uploads:
        state[UPLOAD_SHOWN] = next(iter(uploads))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "File", uploads, format_func={token: upload.table.name for token, upload in uploads.items()}.__getitem__,
            key=UPLOAD_SHOWN, width=300, persist_state="session",
        )  # fmt: skip
        upload = uploads[state[UPLOAD_SHOWN]]
        if st.button("Remove it", icon=":material/delete:"):
            del uploads[upload.token]
            results.drop(upload.dataset_id)
            st.rerun()
        if len(uploads) < MOST_FILES and st.button("Another file", icon=":material/add:"):
            data_state.another = True
            st.rerun()
    for note in (*upload.table.notes, *([] if upload.private else remarks(upload.table))):
        st.caption(plain(note))
    if st.button("Continue to its bounds", type="primary"):
        st.switch_page("pages/bounds.py")
