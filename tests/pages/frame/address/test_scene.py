"""Check that addresses are written and read correctly for every control of every page, and malicious ones refused."""

from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES, Blobs
from pages._ui.data.controls import data
from pages._ui.data.plan.controls import plan
from pages._ui.explore.tradeoff import vary
from pages._ui.explore.workspace.compare import compare
from pages._ui.explore.workspace.explore import explore
from pages._ui.explore.workspace.own import own
from pages._ui.explore.workspace.tradeoff import tradeoff
from pages._ui.frame import catalog
from pages._ui.frame.address import scene
from pages._ui.frame.address.data import MISSING, columns_of, file_word
from pages._ui.learn.controls import vocabulary
from pages._ui.learn.limits.controls import limits
from pages._ui.learn.papers.controls import papers
from pages._ui.start.controls import home
from pages._ui.teach.classroom.controls import classroom
from pages._ui.teach.notes.controls import notes
from pages._ui.teach.present.controls import present
from tests.tiers import tiers

WORKSPACE = ("explore", "again", "attacker", "ledger")
PAGES = {
    "home": home,
    "explore": explore,
    "again": explore,
    "compare": compare,
    "attacker": explore,
    "learn": vocabulary,
    "tradeoff": tradeoff,
    "plan": plan,
    "papers": papers,
    "data": data,
    "bounds": own,
    "spend": own,
    "account": own,
    "ledger": explore,
    "limits": limits,
    "present": present,
    "notes": notes,
    "class": classroom,
}
PAINTING = st.text("AZaz09-_", min_size=3, max_size=3).map(lambda one: ".".join([one * 20] * 4) + f"~{one * 220}")
PUBLIC = (
    st.sampled_from(SAMPLES)
    | st.builds(lambda n, k: Blobs(n_rows=n, n_clusters=k).key, st.just(60), st.just(3))
    | PAINTING.map("painted:{}".format)
)
COLUMNS = st.lists(st.text("aü ,&=%+<x", min_size=1, max_size=9), min_size=1, max_size=4)
ODD = {  # controls whose values are neither choices nor numbers
    ("explore", "d"): PUBLIC | COLUMNS.map(file_word),
    ("again", "d"): PUBLIC,
    ("ledger", "d"): PUBLIC,
    ("compare", "d"): PUBLIC,
    ("attacker", "d"): PUBLIC,
    ("compare", "run"): st.lists(
        st.builds("a={}&k=3{}&s={}".format, st.sampled_from(["nsm", "dpm"]), st.just("&e=0.5"), st.integers(0, 99)),
        min_size=2,
        max_size=4,
    ).map(tuple),
    **{(page, "who"): st.sampled_from(["typical", "small", "row:12", "at:-1.5,2e-05"]) for page in WORKSPACE},
    ("tradeoff", "d"): st.lists(PUBLIC, max_size=4, unique=True).map(tuple),
    ("tradeoff", "k"): st.sampled_from(["", "3", "3, 5"]),
    ("tradeoff", "delta"): st.sampled_from(["", "1e-6", "1e-6,.001", "1/(n ln n), n^-1.1"]),
    ("data", "paint"): st.just("") | PAINTING,
    ("data", "d"): PUBLIC | COLUMNS.map(file_word),
    **{
        ("plan", word): st.text("aü ,&=%+<-1.", max_size=20)
        for word in ("columns", "units", "low", "high", "weights", "shares")
    },
    ("learn", "answer"): st.sampled_from([(), ("1",), ("3", "1")]),
    ("tradeoff", "sweep"): st.sampled_from(["", "a_B-9"]),
    ("class", "code"): st.sampled_from(["", "ABCD"]),
    ("class", "key"): st.sampled_from(["", "a_B-9"]),
}


def values_of(page, control, known):
    """Return a strategy for the values that a control may hold."""
    if (page, control.word) in ODD:
        return ODD[page, control.word]
    if page == "tradeoff" and control.word.startswith("p."):
        name = control.word[2:]
        slug = next(slug for slug in known["a"] if name in params.specs(ALGORITHMS[slug]))
        choices = params.specs(ALGORITHMS[slug])[name].choices
        return st.sampled_from(["", ", ".join(map(str, choices)) if choices else vary.example(slug, name)])
    spec = control.spec
    if spec.kind == "choice" and not spec.choices:
        return st.just(spec.default)
    if spec.kind == "choice":
        one = st.sampled_from(spec.choices)
    elif spec.kind == "bool":
        one = st.booleans()
    elif spec.kind == "int":
        one = st.integers(*(None if edge is None else int(edge) for edge in (spec.low, spec.high or 2**53 - 1)))
    else:
        one = st.floats(spec.low, spec.high or 1e15, allow_nan=False, allow_infinity=False)
    if control.many:
        return st.lists(one, max_size=min(control.most, 3), unique=True).map(tuple)
    return (one | st.none()) if spec.optional else one


@st.composite
def scenes(draw, page):
    vocabulary, values = PAGES[page], {}
    while fresh := [control for control in vocabulary(values) if control.word not in values]:
        values |= {control.word: draw(values_of(page, control, values)) for control in fresh}
    return scene.Scene(
        page,
        values,
        step=draw(st.none() | st.integers(0, 100_000)),
        play=draw(st.booleans()),
        hide=tuple(draw(st.lists(st.sampled_from(scene.HIDEABLE), unique=True))),
        lock=draw(st.sampled_from(["", *scene.LOCK])),
        task=" ".join(draw(st.text("aü ,&=%+<>#", max_size=60)).split()),
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_scene_comes_back_from_its_address(page):
    @settings(max_examples=25, deadline=None)
    @given(scenes(page))
    def comes_back(scene_):
        address = scene.write(scene_, PAGES[page])
        assert scene.read(page, address, PAGES[page]) == (scene_, "")
        assert len(address) < scene.MOST
        words = {control.word for control in scene.controls(scene_.values, PAGES[page]) if control.many}
        assert not [word for word, text in parse_qsl(address, keep_blank_values=True) if word in words and not text]

    comes_back()


def test_an_empty_choice_is_written_as_a_word_and_read_as_earlier_versions_wrote_it():
    nothing = scene.Scene("tradeoff", {"e": (), "n": (), "d": ("town",), "a": ("dpm",)})
    address = scene.write(nothing, tradeoff)
    assert "e=none" in address and "n=none" in address
    for query in (address, address.replace("=none", "=")):
        values = scene.read("tradeoff", query, tradeoff)[0].values
        assert values["e"] == () and values["n"] == () and values["a"] == ("dpm",)
    assert "run=" not in scene.write(scene.Scene("compare"), compare)


def test_every_parameter_of_every_algorithm_has_a_word():
    for slug, cls in ALGORITHMS.items():
        found = scene.controls({"d": "town", "a": slug}, explore)
        keys = {control.key.removeprefix(f"param_{slug}_").removesuffix("_town") for control in found}
        assert keys >= set(params.specs(cls))
        assert len({control.word for control in found}) == len(found) == len({control.key for control in found})


MARKUP = "%3Cscript%3Ealert(1)%3C/script%3E"
HOSTILE = [
    *(f"v=1&k={k}" for k in ("0", "-1", "257", "9" * 4000, "9" * 5000, "1e3", "5.5", "0x5", "five", "NaN", "", "auto")),
    *(f"v=1&e={e}" for e in ("0", "-1", "1e309", "inf", "nan", "1e-300", "101", "1,2", MARKUP, "ε", "%00", "%ff%fe")),
    *(f"v=1&s={s}" for s in ("-1", str(2**53), str(2**64), "1.5", "0;drop table", "../../etc/passwd", "none")),
    *(f"v=1&d={d}" for d in ("nowhere", MARKUP, "", "blobs:", "blobs:n_rows=1e9", "blobs:n_rows=999999999", "file:")),
    *(f"v=1&d={d}" for d in ("blobs:__class__=1", "file:" + ",".join("a" * 65), "/etc/passwd", "town%00", "TOWN")),
    *(
        f"v=1&d=painted:{code}"
        for code in ("", "AAA", "AAA" * 301, "AA" * 20, "%00" * 30, ".".join(["AAA"] * 13), MARKUP)
    ),
    *(f"v=1&a={a}" for a in ("nobody", MARKUP, "__init__", "")),
    *(f"v=1&{question}" for question in ("who=me", "who=row:x", "ask=why", "far=-1")),
    *("k=5&k=6", "d=town&d=city", "a=nsm&a=nsm", "v=1&v=1", "hide=form&hide=all", "axes=0&axes=0"),
    *("v=x", "v=-1", "v=10001", "t=-1", "t=1e9", "hide=everything", "play=maybe", "layers=7"),
    *("lock=me", "lock=all&lock=k", "lock=epsilon,k", "hide=form,form", "hide=" + MARKUP, "task=" + "%0a" * 5 + "%07"),
    *(f"task={'a' * 301}", "task=%1b%5b31m", "constructor=1", "__proto__=1", "p.__class__=1", "p.refine=1"),
    *("a" * 100_000, "task=" + "a" * 100_000, "&".join(f"k{i}=1" for i in range(999)), "&".join(["k=5"] * 300)),
    *("%" * 50, "=" * 50 + "x", "v=1&" + MARKUP + "=1", "\x00=1"),
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_address_gives_the_default_and_one_sentence(query):
    found, sentence = scene.read("explore", query, explore)
    default, nothing = scene.read("explore", "", explore)
    assert nothing == "" and default.values == found.values
    assert (found.hide, found.lock, found.task, found.step, found.play) == ((), "", "", None, False)
    assert sentence.endswith(".") and sentence.count(".") == 1 and len(sentence) < 300
    assert not set(sentence) & set("<>&%\x00")  # the sentence repeats no markup of the address


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=1&a=pe-means&rho=0.01", "1 unknown parameter"),
        ("v=1&a=pe-means&trust=curator&round=3&ring=32", "2 unknown parameters"),
        ("lost=1&v=1&x=1", "the page, which does not exist, 1 unknown parameter"),
    ],
)
def test_what_no_control_here_reads_is_counted_in_one_sentence(query, words):
    found, sentence = scene.read("explore", query, explore)
    assert sentence == f"This link opens, but defaults replace the parts that do not fit: {words}."
    assert found.values["a"] == scene.read("explore", "", explore)[0].values["a"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("v=1&a=pe-means&rho=0.01", "1 unknown parameter"),
        *((f"v=1&a=pe-means&k={k}", "Centers k") for k in ("0", "3,0", "99999", "two", "2.5")),
    ],
)
def test_a_sweep_no_chosen_method_can_run_is_told_and_not_kept(query, words):
    found, sentence = scene.read("tradeoff", query, tradeoff)
    assert sentence == f"This link opens, but defaults replace the parts that do not fit: {words}."
    assert scene.write(found, tradeoff) == "v=1&d=town&a=pe-means&s=0"
    fits = "v=1&a=dist-dp&a=pe-means&rho=0.01&k=3,5"
    assert scene.read("tradeoff", fits, tradeoff)[1] == ""


@pytest.mark.parametrize("page", tiers(sorted(PAGES.keys() - {"explore"}), ["attacker", "data", "ledger", "tradeoff"]))
def test_no_hostile_address_is_followed_on_another_page(page):
    vocabulary = PAGES[page]
    default = scene.read(page, "", vocabulary)[0]
    for query in HOSTILE:  # some of these addresses are valid on this page
        found, sentence = scene.read(page, query, vocabulary)
        assert found.values != default.values or sentence.count(".") == 1
        assert scene.read(page, scene.write(found, vocabulary), vocabulary) == (found, "")
    for word in (control.word for control in scene.controls({}, vocabulary)):
        for text in ("%00", "9" * 5000, f"x&{word}=x"):
            found, sentence = scene.read(page, f"v=1&{word}={text}", vocabulary)
            assert found == default and sentence.count(".") == 1


def test_versions_open_with_one_line():
    assert scene.read("home", "v=0&screen=2", home)[1].startswith("This link was made with an older version")
    assert scene.read("home", "v=2&screen=2", home)[1].startswith("This link was made with a newer version")
    assert scene.read("home", "v=2&screen=2", home)[0].values == {"screen": 2}


def test_words_of_the_browser_are_not_ours():
    assert scene.read("home", "embed=true&embed_options=show_toolbar", home)[1] == ""


def test_a_file_of_ones_own_travels_by_its_columns(monkeypatch):
    mine = {"x7f": SimpleNamespace(columns=("lon", "a,b"), private=False)}
    monkeypatch.setattr(catalog, "own", lambda: mine)
    control = explore({})[0]
    assert control.from_widget("x7f") == "file:lon,a%2Cb" and columns_of("file:lon,a%2Cb") == ["lon", "a,b"]
    assert control.to_widget("file:lon,a%2Cb") == "x7f"
    assert control.to_widget("file:lon") == MISSING
    mine["x7f"].private = True
    assert control.to_widget("file:lon,a%2Cb") == MISSING  # no link opens a private file
