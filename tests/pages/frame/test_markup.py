"""Check small pieces of HTML: text is always escaped, and markup is kept."""

import pytest

from pages._ui.frame import markup

BAD = '<img src=x onerror="alert(1)"> & more'
GOOD = "&lt;img src=x onerror="


@pytest.mark.parametrize(
    "piece",
    [
        markup.small(BAD),
        markup.small(markup.bold(BAD)),
        markup.fooled(BAD, what="game"),
        markup.lede(BAD),
        markup.odds(BAD),
        markup.told(BAD),
        markup.unseen(BAD),
        markup.facts([(BAD, "value")]),
        markup.facts([("name", BAD)]),
        markup.definitions([(BAD, BAD)]),
        markup.table("A table", [BAD], [markup.row([BAD])], mark=BAD),
        markup.table("A table", ["name"], [markup.row([], head=BAD)]),
    ],
)
def test_text_is_escaped_in_every_piece(piece):
    assert "<img" not in piece and GOOD in piece


def test_a_label_cannot_leave_its_attribute():
    assert '"A &quot;table&quot;"' in markup.table('A "table"', [], [])
    assert markup.escape('" onload="x') == "&quot; onload=&quot;x"


def test_markup_stays_and_an_f_string_of_it_does_not(our_own_markup_is_never_escaped):
    assert markup.small("At most ", markup.bold("5"), ".") == '<p class="dp-small">At most <b>5</b>.</p>'
    assert markup.small(f"{markup.bold('5')}") == '<p class="dp-small">&lt;b&gt;5&lt;/b&gt;</p>'
    assert our_own_markup_is_never_escaped == ["<b>5</b>"]
    our_own_markup_is_never_escaped.clear()


def test_a_table_names_its_rows_and_columns():
    line = markup.row(["1", "2"], head="k", lit=True)
    assert line == "<tr data-lit><th scope=row>k</th><td>1</td><td>2</td></tr>"
    table = markup.table("All", ["", "ε 1"], [line], look="dp-free")
    assert '<div class="dp-table dp-free"' in table and "<thead><tr><td></td><th scope=col>ε 1</th></tr>" in table
