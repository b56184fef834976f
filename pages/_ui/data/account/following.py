"""Declare a new private file, such as next month's, as the open one, and show what both accounts promise together."""

from __future__ import annotations

import secrets

import streamlit as st

from dpviz.datasets import Dataset, from_table
from dpviz.escape import plain
from dpviz.privacy.accounts import Both, Refused
from pages._ui.data import editor, reading
from pages._ui.data.account.state import account_state
from pages._ui.data.state import Pending, Upload, data_state
from pages._ui.data.upload import MOST_FILES, UPLOAD_SHOWN, answer
from pages._ui.explore.form.numbers import field
from pages._ui.frame import markup, messages
from pages._ui.frame.inside.patches import forget
from pages._ui.frame.words import on_screen
from pages._ui.server.owner import owner
from pages._ui.work.private import accounts

__all__ = ["both", "section"]


def both(data: Dataset) -> None:
    """Show the account of the file that was declared as an earlier one, beside that one's."""
    upload = _upload(data)
    if upload is None or upload.fingerprint not in account_state.earlier_files:
        return
    try:
        lines = _both(account_state.earlier_files[upload.fingerprint], upload, data).lines
    except Refused as problem:
        st.error(plain(str(problem)))
        return
    with st.container(border=True, key="account_both"):
        st.html("".join(markup.small(on_screen(line)) for line in lines))


def section(data: Dataset) -> None:
    """Take a new file of the same kind, and declare it as this one with one click; nothing is spent."""
    upload = _upload(data)
    if upload is None:
        return
    st.header("A new file of the same kind")
    st.html(
        markup.small(
            f"Next month's file has an account of its own. It takes over what you declared for {upload.table.name}: "
            "names, kinds, bounds, logarithms, weights, steps and rows per person. Then you see what the runs on both "
            "promise a person who is in both, before anything is spent."
        )
    )
    if len(data_state.uploads) >= MOST_FILES:
        st.info(f"A visit holds at most {MOST_FILES} files; remove one first.")
        return
    turn = account_state.next_files
    file = st.file_uploader("The new file", key=f"account_new_{turn}")
    n = field(
        "Its rows", 1, value=data.n_public, key=f"account_new_rows_{turn}", width=200,
        help="Declared, not counted; about as many as in the first file will do.",
    )  # fmt: skip
    if st.button("Take over the declaration", disabled=file is None or not isinstance(n, int)) and file is not None:
        content, name = file.getvalue(), file.name.replace("\\", "/").split("/")[-1][-60:]
        forget(file)
        account_state.next_files = turn + 1
        try:
            _declare(upload, data, Pending(name, content), int(n or data.n_public))
        except (ValueError, Refused) as problem:
            messages.say("problem", str(problem).removeprefix("accounts: "))
        st.rerun()


def _declare(old: Upload, data: Dataset, new: Pending, n_public: int) -> None:
    """Read a new file as the old one was read, and choose it with the old one's declaration.

    Raises
    ------
    ValueError
        If it is the same file, or of another kind.
    Refused
        If it is public, or the server's limits are reached.
    """
    with accounts() as store:
        key = store.key(new.content, owner().name)
        Both((old.table.name, new.name), store.of(old.fingerprint), store.of(key))
    table = reading.read(new.name, new.content, old.form)
    facts = {**data.facts, "n_public": n_public}
    from_table(table, facts, private=True)  # refuses a file of another kind
    if not answer(new, private=True):
        return
    cells = {name: dict(cell) for name, cell in old.cells.items()}
    draft = {**facts, "projection": None}
    upload = Upload(secrets.token_hex(8), table, True, key, draft, new.content, old.form, cells)
    data_state.uploads[upload.token] = upload
    st.session_state[UPLOAD_SHOWN] = upload.token
    editor.use(upload, facts)
    account_state.earlier_files[key] = (old.table.name, old.fingerprint)
    messages.say("done", f"{new.name} is declared as {old.table.name}, with n = {n_public:,}.")


def _both(before: tuple[str, str], upload: Upload, data: Dataset) -> Both:
    name, key = before
    with accounts() as store:
        old, new = store.of(key), store.of(upload.fingerprint)
    return Both((name, upload.table.name), old, new, data.domain.rows_per_person)


def _upload(data: Dataset) -> Upload | None:
    """Return this visit's file behind a data set, or None if it was removed."""
    return next((one for one in data_state.uploads.values() if one.dataset_id == data.dataset_id), None)
