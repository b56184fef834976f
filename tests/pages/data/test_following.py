"""Check that a new private file is declared as the open one, and that both accounts are added up before a run."""

import re

import pytest

from dpviz.privacy.accounts import Accounts, Both
from pages._ui.frame.words import on_screen
from tests.pages.visitor import content, declare, drop, facts, new_app, press, private_file, read, spend, visit

BUTTON = "Take over the declaration"


def errors(app):
    return [box.value for box in app.error]


def following(app, name, bytes_):
    """Drop a new file on the account's page and take over the declaration."""
    app.switch_page("pages/account.py").run()
    next(f for f in app.file_uploader if f.label == "The new file").upload(name, bytes_).run()
    return press(app, BUTTON)


@pytest.mark.slow
def test_a_new_file_is_declared_as_the_open_one_and_both_are_added_up_before_anything_is_spent():
    app = new_app().run()
    private_file(app, content())
    spend(app)
    before = app.session_state["own"][app.session_state["explore_data"]]
    following(app, "june.csv", content(1))
    assert not app.exception and errors(app) == []
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.title == "june" and data.domain.key == before.domain.key and data.facts == before.facts
    keys = [app.session_state["fingerprints"][one.dataset_id] for one in (before, data)]
    store = Accounts.open()
    both = Both(("mine.csv", "june.csv"), *map(store.of, keys))
    assert [len(account.claims) for account in (both.before, both.after)] == [1, 0] and both.after.private
    shown = " ".join(read(app).split())
    for line in both.lines:  # as `accounts next` prints them
        assert " ".join(on_screen(line).split()) in shown
    alone, repeated = re.findall(r"together, for a person in both files, [^.]* in each: ε = ([\d.]+), δ = ", shown)
    assert float(alone) == 1 < float(repeated) < 2
    app.switch_page("pages/bounds.py").run()
    assert not app.exception and [b.label for b in app.button if b.label == "Rehearse it" and not b.disabled]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bytes_", "words"),
    [
        (content(), "mine.csv and june.csv hold the same bytes, so they have one account already."),
        (content(1).replace(b"a,b", b"a,pay"), "june.csv lacks the column 'b' that its data dictionary declares"),
    ],
)
def test_what_cannot_be_taken_over_is_one_sentence_and_leaves_the_open_file(bytes_, words):
    app = new_app().run()
    private_file(app, content())
    before = app.session_state["explore_data"]
    following(app, "june.csv", bytes_)
    assert not app.exception and any(words in one for one in errors(app))
    assert app.session_state["explore_data"] == before and len(app.session_state["uploads"]) == 1


@pytest.mark.slow
def test_a_file_that_was_declared_public_is_refused_as_on_the_command_line():
    app = new_app().run()
    drop(app.switch_page("pages/data.py").run(), "june.csv", content(1), "Yes, it is public")
    declare(app, facts("a", "b", n_public=300))
    app.switch_page("pages/data.py").run()
    press(app, "Remove it")
    private_file(app, content())
    following(app, "june.csv", content(1))
    assert any("june.csv was declared public, so no account adds up what it spends." in one for one in errors(app))


@pytest.mark.slow
def test_a_private_form_declares_lines_below_the_names_and_marks_that_are_words():
    content = b"region,a,b\n,cm,kg\n" + b"".join(b"NA,%d,%d\nEU,%d,5\n" % (i, i, i) for i in range(1, 40))
    app = press(drop(visit("data"), "mine.csv", content, None), "No, it is private")
    app.number_input(key="pending_below").set_value(1).run()
    app.multiselect(key="pending_words").set_value(["NA"]).run()
    press(app, "Yes, names")
    assert not app.exception and errors(app) == []
    (upload,) = app.session_state["uploads"].values()
    assert upload.table.n_rows == 78 and upload.draft["form"] == {
        "decimal": ".", "header": True, "lines_below": 1, "no_missing_marks": ["NA"], "thousands": ",",
    }  # fmt: skip
    declared = facts("a", "b", n_public=80) | {
        "recode": [{"column": "region", "code": "one-hot", "categories": ["NA", "EU"]}],
        "form": upload.draft["form"],
    }
    declare(app, declared)
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert data.columns == ("a", "b", "region: NA", "region: EU") and data.X[:, 2].sum() == 39


def test_a_public_table_of_words_opens_at_its_bounds_with_a_column_for_each_word():
    rows = "".join(f"{color},{size}\n" for color in ("red", "green", "blue") for size in "SML") * 2
    app = new_app().run()
    drop(app.switch_page("pages/data.py").run(), "words.csv", f"color,size\n{rows}".encode(), "Yes, it is public")
    app.switch_page("pages/bounds.py").run()
    assert not app.exception and errors(app) == []
    press(app, "Explore it")
    data = app.session_state["own"][app.session_state["explore_data"]]
    assert set(data.columns) == {"color: red", "color: green", "color: blue", "size: S", "size: M", "size: L"}


def test_the_upload_takes_every_ending_and_the_reader_speaks():
    app = visit("data")
    app.segmented_control(key="data_way").set_value("Your file").run()
    assert list(app.file_uploader[0].proto.type) == []
    drop(app, "x.sas7bdat", b"\0" * 12 + b"\xc2\xea\x81\x60" + b"\xb3" * 60, "Yes, it is public")
    assert any("the content is a SAS table" in one for one in errors(app)), errors(app)
