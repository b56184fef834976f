"""Check that the screen uses the words of the field: no names from the code, and Greek letters, not their names."""

import ast
import dataclasses
import html
import re
import tomllib
from pathlib import Path

import pytest
from streamlit.proto.NumberInput_pb2 import NumberInput

from dpviz import figures
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import pane
from dpviz.params import specs
from dpviz.postprocessing.release_names import KINDS, release_name
from dpviz.sweeps.measures import METRICS
from dpviz.takeaway import export
from pages._ui.explore.player.player import briefly
from pages._ui.frame import markup
from pages._ui.frame.places import PAGES
from pages._ui.frame.words import on_screen
from tests.pages.sentences import code_names, words
from tests.pages.visitor import open_page

ROOT = Path(figures.__file__).parents[2]
STORY = ROOT / "dpviz" / "lessons" / "story.toml"  # the text of Start, which a component draws
OTHERS = re.compile(r"\b(users?|individuals?|data points?|records? of|[Tt]old with|participants?|herself|himself)\b")
LENGTH = re.compile(r"\b(within|width|by) (about )?\d[\d.,e-]*(?![\d.,e-]| (km|m|rho)\b)")
NOTHING = re.compile(r"\b0 (rows? |centers? )?(are )?brought back|\b0 of \d+ .*; they are")
FIELD = re.compile(r"\b[Gg]uess(es|ed)?\b|(?<!even )\b[Oo]dds\b|\b[Ww]hoever\b|\blikewise\b")
BRITISH = re.compile(r"\b([Cc]ancelled|[Cc]entres?|[Cc]olours?|[Nn]eighbour\w*|[Gg]rey|[Bb]ehaviour|[Nn]ormalis\w+)\b")
ANOTHER = re.compile(r"another user of this machine|this machine's user|user@host")  # these are users of a computer


def other_people(texts):
    return [(name[0], text) for text in texts if (name := OTHERS.search(ANOTHER.sub("", text)))]


def test_a_word_of_the_code_or_another_word_for_a_person_would_be_seen():
    assert code_names(["Centers of n_clusters"]) and code_names(["epsilon 1"]) and not code_names(["ε 1, k-means"])
    assert other_people(["10 users"]) and other_people(["each user's row"]) and not other_people(["used, User guide"])


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_called_as_its_link_and_shows_no_name_of_the_code(app, page):
    open_page(app, f"pages/{page}.py")
    story = texts(tomllib.loads(STORY.read_text(encoding="utf-8"))) if page == "home" else []
    found = words(app) + [text for text in story if " " in text]  # single words are keys
    assert not app.exception and len(found) > 3
    assert code_names(found) == [] and other_people(found) == []
    if page not in ("home", "explore"):  # Start shows its story's titles; Watch hides its heading
        assert app.title[0].value == PAGES[page].title
    cut = [box.label for box in app.number_input if box.proto.data_type == NumberInput.INT]
    assert cut == [], "these fields turn 2.5 into 2 without a word: make them with pages._ui.explore.form.numbers"


@pytest.mark.parametrize("slug", ["dpm", "dist-dp", "stemmer-kaplan-local", "stemmer-kaplan-swap"])
def test_no_form_and_no_step_shows_a_name_of_the_code(app, slug):
    open_page(app, "pages/explore.py")
    app.session_state["explore_algorithm"] = slug
    app.run()
    assert not app.exception and code_names(words(app)) == []


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_no_step_and_no_advice_shows_a_name_of_the_code_or_another_word_for_a_person(slug):
    data = load_sample("tiny")
    algorithm = ALGORITHMS[slug](n_clusters=2)
    trace = algorithm.run(data.X, domain=dataclasses.replace(data.domain, units=("km", "km")), seed=0)
    how = pane(trace)
    steps = [shot.sentence for shot in how.shots(trace)]
    lines = [*steps, how.warning(trace), *trace.warnings, *algorithm.advice(2, data.n_public)]
    assert code_names(map(on_screen, lines)) == []
    about = [algorithm.tagline, algorithm.trust, *(spec.help for spec in specs(ALGORITHMS[slug]).values())]
    reasons = [entry.reason for entry in trace.ledger]
    assert other_people([*lines, *about, *reasons, *(line.text for line in ALGORITHMS[slug].CODE)]) == []
    assert [line for line in steps if LENGTH.search(line)] == []
    assert [line for line in steps if NOTHING.search(line)] == []  # steps in which nothing happens are left out
    assert [name for name in map(release_name, trace.ledger) if re.search("[._]", name)] == []
    assert {name.partition(".")[0] for name in trace.plan.costs} <= set(KINDS)


def test_no_axis_and_no_metric_is_in_hidden_units():
    drawn = "".join(path.read_text() for path in (Path(figures.__file__).parent).rglob("*.py"))
    titles = " ".join(metric.title for metric in METRICS.values())
    assert not re.search(r"z²|\bz per row|\(z\)", drawn + titles), "write × KMeans, or half-widths of the bounds"


def sentences(source):
    """Return all strings of three words or more in a module, except docstrings."""
    tree = ast.parse(source)
    with_docstring = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, with_docstring)
                  and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [node.value for node in texts if id(node) not in docstrings and node.value.count(" ") >= 2]


def odd(texts):
    """Return what no sentence may contain: words that CONTRIBUTING bans, British spellings, and advice to spend."""
    plain = [ANOTHER.sub("", text) for text in texts]
    return other_people(plain) + [
        text for text in plain if BRITISH.search(text) or FIELD.search(text) or "pend more" in text
    ]


def test_no_sentence_of_the_source_has_an_odd_word():
    planted = '"""All users."""\nA, B, C = "It was cancelled now.", "Ask more users again.", "Too noisy. Spend more."'
    assert len(odd(sentences(planted))) == 3
    assert len(odd(["A guess wins.", "The odds rise.", "Whoever knows it."])) == 3 and not odd(["bets from even odds"])
    files = [path for room in ("dpviz", "pages") for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 300
    assert {path: found for path in files if (found := odd(sentences(path.read_text(encoding="utf-8"))))} == {}


def texts(entry):
    """Return all strings of a TOML file, with their gaps such as `{found}` removed."""
    if isinstance(entry, str):
        return [re.sub(r"\{\w+\}", "", entry)]
    every = [*entry, *entry.values()] if isinstance(entry, dict) else entry if isinstance(entry, list) else []
    return [text for one in every for text in texts(one)]


@pytest.mark.parametrize("room", ["lessons", "papers"])
def test_no_lesson_and_no_paper_has_an_odd_word(room):
    assert texts({"a": ["b {odds}"]}) == ["a", "b "]
    for path in (ROOT / "dpviz" / room).glob("*.toml"):
        assert odd(texts(tomllib.loads(path.read_text(encoding="utf-8")))) == [], path.name


@pytest.mark.parametrize("slug", ["pe-means", "dist-dp", "stemmer-kaplan-local"])
def test_no_export_has_an_odd_word(slug):
    data = load_sample("tiny")
    trace = ALGORITHMS[slug](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    for kind in ("label", "page"):
        body = re.sub(r"<(style|script).*?</\1>", "", export(trace, kind), flags=re.DOTALL)
        words = html.unescape(re.sub(r"<[^>]*>", " ", body))
        assert len(words.split()) > 60 and odd([words]) == []


def test_greek_letters_are_letters_and_other_words_stay():
    assert on_screen("epsilon = 1, delta = 1e-5, mu = .3: deltas stay") == "ε = 1, δ = 1e-5, μ = .3: deltas stay"
    claimed = ALGORITHMS["pe-means"](n_clusters=5).guarantee(2, 5000)
    assert on_screen("then fill it (--missing middle) or leave it out.") == "then fill it or leave it out."
    assert "2e-06 (1 in 500,000)" in str(claimed) and "δ = 1 in 500,000, μ" in on_screen(str(claimed))
    assert on_screen(", ".join(claimed.public)).endswith("n = 5,000 declared")


def test_a_symbol_and_its_number_stay_on_one_line():
    assert "μ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.31" in markup.facts([("Claimed", "ε = 1, μ = 0.31")])


def test_a_compact_player_says_what_is_done_without_its_numbers():
    data = load_sample("tiny")
    trace = ALGORITHMS["pe-means"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    shots = pane(trace).shots(trace)
    full, brief = [shot.sentence for shot in shots], [briefly(shot) for shot in shots]
    assert any("signal-to-noise" in line for line in full) and not any("signal-to-noise" in line for line in brief)
    assert len(brief) == len(full) and all(line and full[i].startswith(line) for i, line in enumerate(brief))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("explore", "a=pe-means&k=3"),
        ("explore", "a=hdpe-means&k=3"),
        ("again", "a=nsm&k=3"),
        ("attacker", "a=nsm&k=3&who=row:3"),
        ("compare", "run=a=nsm%26k=3&run=a=kmeans%26k=3"),
        ("ledger", "a=nsm&k=3"),
    ],
)
def test_no_view_calls_a_flower_a_person(open_link, page, query):
    app = open_link(page, f"v=1&d=iris&s=0&{query}")
    assert not app.exception
    shown = [*words(app), *(option for one in app.selectbox for option in one.options)]
    shown = [text for text in shown if text not in ("Forty people", "a person")]  # another sample and a promise
    assert [text for text in shown if re.search(r"\b([Pp]ersons?|[Pp]eople|[Ss]omebody|[Ee]verybody)\b", text)] == []
    assert page == "ledger" or any("flower" in text for text in shown)
