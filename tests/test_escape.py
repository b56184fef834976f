"""Check the escaping of foreign text: hostile names on pages, in figures and files, and on the terminal."""

import csv
import io
import json
import re

import numpy as np
import pytest

from dpviz import escape
from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.domain import Domain
from dpviz.postprocessing.cards import centers_csv
from dpviz.postprocessing.released import coreset_table, csv_text
from dpviz.takeaway.page import view_of
from tests.rooms import parsed
from tests.test_architecture import SOURCES, unescaped

HOSTILE = (
    "![p](http://evil.example/p.png)", "[c](javascript:alert(1))", "www.evil.example", "a@evil.example", "$x^2$",
    ":material/home:", ":red[b]", "<a href='http://evil.example'>a</a>", "&copy;", "# h", "- l", "1. l", "> q", "---",
    "a\n\n# h", "`c`", "~~s~~", "=1+1", "+1", "-1+1", "@SUM(1)", " =1+1", "\uff1d1+1", "\tx", "\x1b[2J", "\x9b2J",
    "\u202ea", "a\rb", "\x07",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_acts_in_any_medium(name):
    shown = escape.plain(name)
    bare = re.sub(r"\\[\\`*_\[\]<~$&|!#+\-=>.)]", "x", shown)  # replace each escaped character with a letter
    assert not re.search(r"[`*_\[\]<~$&|!]|://|:material|:red|@\w|(?i:www\.)|^[#+=>-]|^\d+[.)](\s|$)|[\x00-\x1f]", bare)
    assert escape.plain(shown) == shown
    assert shown.replace("\\", "").replace("\u2060", "") == escape.line(" ".join(name.split()))
    assert "<" not in escape.figure(name) and escape.line(name).isprintable()
    assert not re.match(r"\s*[=+\-@\uff1d\t\r]", escape.cell(name))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", escape.terminal(name))


@pytest.mark.parametrize("name", ["weight", "1.2 m", "BMI (kg per m2)", "Größe", "a-b", "12:30 ", "x, y; z"])
def test_an_everyday_name_stays_as_it_is(name):
    assert escape.plain(name).replace("\u2060", "") == name.strip()
    assert escape.figure(name) == escape.line(name) == escape.cell(name) == escape.terminal(name) == name


@pytest.fixture(scope="module")
def traces():
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    pairs = [HOSTILE[i : i + 2] for i in range(0, len(HOSTILE) - 1, 2)] + [HOSTILE[-2:]]
    domains = [Domain.box(-1, 1, 2, n_public=500, columns=pair, units=pair[::-1]) for pair in pairs]
    return [ALGORITHMS["nsm"](n_clusters=2).run(X, domain=domain, noise="secure") for domain in domains]


def test_no_cell_of_a_csv_file_is_a_formula(traces):
    for trace in traces:
        names = trace.domain.columns, trace.domain.units
        for text in (centers_csv(trace, *names), csv_text(trace, coreset_table(trace, *names))):
            cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
            bad = [cell for cell in cells if re.match(r"\s*[=+\-@\uff1d]", cell) and not re.match(r"-[\d.]", cell)]
            assert text.startswith("# released values only") and not bad


def test_no_figure_has_a_tag_of_a_name(traces):
    for trace in traces:
        assert not any("<a" in title or "\x1b" in title for title in view_of(trace).axis_titles())


def test_nothing_that_is_printed_steers_the_terminal(traces, tmp_path, capsys):
    path = tmp_path / "run.json"
    for trace in traces:
        path.write_text(trace.to_json())
        for command in (["explain", str(path)], ["export", str(path), "--as", "label"], ["export", str(path)]):
            try:
                main(command)
            except SystemExit as stopped:
                assert stopped.code == 2
            captured = capsys.readouterr()
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", captured.out + captured.err)
    record = json.loads(traces[0].to_json()) | {"algorithm": "\x1b]0;mine\x07"}
    path.write_text(json.dumps(record))
    assert main(["explain", str(path)]) == 2 and "\x1b" not in capsys.readouterr().err


PAGES = {module: source for module, source in SOURCES.items() if module == "app" or module.startswith("pages")}


def test_no_page_writes_a_foreign_text_as_markdown():
    found = {module: bad for module, source in PAGES.items() if (bad := list(unescaped(module, parsed(source))))}
    assert found == {} and len(PAGES) > 100


@pytest.mark.parametrize(
    "line",
    [
        "st.error(str(problem))",
        'st.info(f"It needs {data.columns}.")',
        'st.caption("; ".join(c.unit for c in found))',
        "st.radio('Which', names, format_func=lambda i: data.columns[i])",
        "st.number_input(data.columns[0])",
        "left.header(result.label)",
        "st.button('Go', help=upload.description)",
    ],
)
def test_a_planted_foreign_text_is_found(line):
    assert list(unescaped("pages.new", parsed(line)))
    assert not list(unescaped("pages.new", parsed(f"plain({line.partition('(')[2]}")))
