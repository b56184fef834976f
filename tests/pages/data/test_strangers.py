"""Check owners on the pages: a stranger's copy of a file, a key saved as a file, and the limit on files per visit."""

import logging

import pytest

from dpviz.privacy.accounts import Accounts
from pages._ui.data import new_files
from pages._ui.data.state import Pending
from pages._ui.server.owner import Owner
from tests.pages.visitor import new_app, press

KEY, OTHER = "k" * 43, "o" * 43


@pytest.fixture
def visit(monkeypatch):
    """Return a function that opens the Data page for a given owner."""
    monkeypatch.delenv("DPVIZ_OWNER")

    def start(who):
        app = new_app()
        app.session_state["account_owner"], app.session_state["data_way"] = who, "Your file"
        return app.switch_page("pages/data.py").run()

    return start


def answer(app, content, label):
    app.file_uploader[0].upload("f.csv", content).run()
    return press(app, label)


def words(app):
    """Return all texts that a page shows to a visitor."""
    kinds = ("markdown", "caption", "error", "info", "success", "warning", "header")
    return [element.value for kind in kinds for element in getattr(app, kind)]


CONTENT = b"a,b\n1,2\n3,4\n5,6\n"
PUBLIC, PRIVATE = "Yes, it is public", "No, it is private"


@pytest.mark.slow
def test_a_stranger_s_copy_of_a_private_file_meets_the_words_of_a_new_file(visit):
    """A stranger may declare a copy of the file public or private; the owner sees the file's account at once."""
    owners_own = visit(Owner("key", KEY))
    assert not answer(owners_own, CONTENT, PRIVATE).error
    for said, key in ((PUBLIC, OTHER), (PRIVATE, "p" * 43)):
        copy, new = (
            answer(visit(Owner("key", key)), content, said) for content in (CONTENT, CONTENT.replace(b"6", b"7"))
        )
        assert not copy.error and words(copy) == words(new)
    again = visit(Owner("key", KEY))
    again.file_uploader[0].upload("f.csv", CONTENT).run()
    assert any("You already declared this file private" in info.value for info in again.info)
    assert [button.disabled for button in again.button if button.label in (PUBLIC, PRIVATE)] == [True, False]


def test_the_command_line_and_the_pages_of_this_machine_find_the_same_account(visit, tmp_path):
    answer(visit(Owner("local")), CONTENT, PRIVATE)
    file, accounts = tmp_path / "f.csv", Accounts.open()
    file.write_bytes(CONTENT)
    assert accounts.of(accounts.key_of(file)).private
    answer(visit(Owner("login", "ann")), CONTENT, PUBLIC)
    assert accounts.of(accounts.key(CONTENT, "login:ann")).private is False


def test_a_key_is_downloaded_and_brought_to_another_visit(visit):
    first, second = visit(Owner("key", KEY)), visit(Owner("key", OTHER))
    assert "Download your key" in [button.proto.label for button in first.get("download_button")]
    field = next(field for field in second.file_uploader if field.label == "Add a key file")
    field.upload("dpviz-key.txt", first.session_state["account_owner"].key_file.encode()).run()
    assert second.session_state["account_owner"] == Owner("key", KEY) and not second.exception
    assert any("./_dpviz/key/" in block.proto.body for block in second.get("html"))
    field = next(field for field in second.file_uploader if field.label == "Add a key file")
    field.upload("dpviz-key.txt", b"dpviz key: no").run()
    assert any("not a dpviz key file" in error.value for error in second.error)
    assert second.session_state["account_owner"] == Owner("key", KEY)
    local = visit(Owner("local"))
    assert len(local.file_uploader) == 1 and not local.get("download_button")


def test_a_visit_without_a_connection_is_nobody_known(visit):
    some = [answer(visit(None), CONTENT, PRIVATE).session_state["account_owner"] for _ in range(2)]
    assert [who.kind for who in some] == ["key", "key"] and some[0] != some[1]


def test_new_files_are_limited_in_a_visit_and_counted_in_the_log_without_their_names(visit, monkeypatch, caplog):
    caplog.set_level(logging.INFO, new_files.__name__)
    clock = [1000.0]
    monkeypatch.setattr(new_files.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(new_files, "_all", new_files.deque())
    monkeypatch.setattr(new_files, "A_MINUTE", 2)
    monkeypatch.setattr(new_files, "A_VISIT", 4)
    monkeypatch.setattr(new_files, "_LOUD", 2)
    app = visit(Owner("key", KEY))
    refused = []
    for i in range(new_files.A_VISIT + 2):
        clock[0] += 61 if i == new_files.A_MINUTE + 1 else 61 * (i > new_files.A_MINUTE)
        app.session_state["pending"] = Pending("secret-name.csv", b"broken %d" % i)
        press(app.run(), PUBLIC)
        refused.append(any("new files a minute" in e.value or "This visit has used" in e.value for e in app.error))
        press(app, "Neither: forget the file") if "pending" in app.session_state else None
    assert [i for i, is_refused in enumerate(refused) if is_refused] == [new_files.A_MINUTE, new_files.A_VISIT + 1]
    lines = [record.getMessage() for record in caplog.records if record.name == new_files.__name__]
    assert lines[0] == "A new file: 1 in this visit, 1 in all visits within a minute."
    assert not any("secret" in line or "broken" in line for line in lines)
    assert sum(record.levelno == logging.WARNING for record in caplog.records) >= 2
