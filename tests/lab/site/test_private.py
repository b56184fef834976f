"""Check private runs in a tab: what is read when, what leaves the worker, and how this browser's count adds up."""

import copy
import json
import math

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.postprocessing.coresets import numbers_of_centers
from dpviz.privacy.accounts import Account, Claim
from dpviz.privacy.guarantee import Neighboring
from dpviz.runs.single import Replay
from dpviz.takeaway.label import facts
from dpviz.trace import Trace
from lab.site.in_tab import OWN, again, checked, drawn, exported, merged, opened, priced, private, run
from lab.site.in_tab.count import COUNTED, claims_of, known
from tests.tiers import tiers

ROWS = 1_973  # differs from the declared number
COLUMNS = [
    {"name": "age", "low": "0", "high": "100", "unit": "years"},
    {"name": "income", "low": "0", "high": "8000", "unit": ""},
]


def line(i):
    return f"{30.123456 + 30 * (i % 2) + i % 7},{2000.654321 + 2000 * (i % 2) + i % 11},Anna-Lena{i}"


def table(n=ROWS, first="age,income,name", instead=()):
    lines = [first, *map(line, range(n))]
    for place, text in instead:
        lines[place] = text
    return ("\n".join(lines) + "\n").encode()


def reading(content):
    """Return a function that reads the content, and the list of the places that it read."""
    places = []

    def read(start, end):
        places.append((start, end))
        return content[start:end]

    return read, places


def told(content, name="people.csv", **more):
    about = {"name": name, "size": len(content), "numbers": "", "private": True, "names": True, **more}
    return json.loads(opened(json.dumps(about), reading(content)[0]))


def form(
    method="nsm", columns=COLUMNS, n_public="2,000", rows_per_person="1", claims=(), shares="", near="8", **values
):  # fmt: skip
    return json.dumps(
        {
            "method": method, "values": {"n_clusters": "2", "epsilon": "1", **values}, "columns": columns,
            "n_public": n_public, "rows_per_person": rows_per_person, "claims": list(claims),
            "shares": shares, "near": near,
        }
    )  # fmt: skip


def price(content, asked):
    return json.loads(priced(asked, reading(content)[0]))


def draw(claim):
    return json.loads(drawn(json.dumps({"claim": claim["id"]}), lambda made, planned: None))


def released(content, asked=None):
    told(content)
    return draw(price(content, asked or form())["claim"])


def test_before_its_bounds_are_declared_only_the_names_of_a_private_file_matter():
    content, other = table(), table(5, instead=[(2, "word;\x00,,,"), (3, "")])
    found = told(content)
    assert found == told(other) and found["rows"] is None
    assert [one["name"] for one in found["columns"]] == ["age", "income", "name"]
    assert all(one["low"] == one["high"] == "" for one in found["columns"])
    assert "0 to 120" in found["columns"][0]["why"] and not found["columns"][2]["use"]
    assert json.loads(checked(form())) == {}
    for asked in (form(n_public=""), form(columns=[]), form(rows_per_person="0"), form(n_clusters="0")):
        read, places = reading(content)
        assert "refused" in json.loads(checked(asked)) and "refused" in json.loads(priced(asked, read))
        assert places == []  # the form is refused before the rows are read


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        (table(), {"names": False}, "people.csv: a private file needs a first line with the names of its columns"),
        (table(first="1,2,3"), {}, "people.csv: column 1 has a value instead of a name"),
        (table(), {"name": "people.parquet"}, "people.parquet: a private file must be text here"),
        (b"x" * 200_000, {}, "people.csv: the first line is longer than"),
        (b"", {}, "people.csv: the file is empty"),
        (b"", {"size": 5 * 10**8}, "people.csv: the file is larger than"),
    ],
)
def test_what_cannot_be_private_here_gets_one_sentence(content, more, words):
    found = told(content, **more)
    assert found["refused"].startswith(words) and "command line" not in found["refused"]
    assert json.loads(checked(form()))["refused"] == "Open a private file first."


def test_a_price_depends_on_no_row():
    pair = [table(), table(ROWS - 1), table(instead=[(7, ",,"), (9, "words,1e400,x")])]
    prices = []
    for content in pair:
        told(content)
        found = price(content, form())
        assert found["claim"].pop("id")
        prices.append(found)
    assert prices[0] == prices[1] == prices[2]
    assert prices[0]["price"][0] == "NSM (ours) claims ε = 1, δ = 1 in 200,000 for one row added or removed."
    assert prices[0]["after"].startswith("Runs in this browser on this file: 1, together ε = 1, δ = 1 in 200,000")


@pytest.mark.parametrize(
    "method", tiers([slug for slug, cls in ALGORITHMS.items() if cls.notion.private], ("pe-means", "nsm", "dp-dbscan"))
)
def test_a_draw_hands_out_released_values_alone_and_has_no_seed(method, monkeypatch):
    asked = json.loads(form(method))
    known_ = ALGORITHMS[method].__dataclass_fields__
    asked["values"] = {name: text for name, text in asked["values"].items() if name in known_}
    told(table())
    if (refused := price(table(), json.dumps(asked)).get("refused")) is not None:  # before it has a price
        assert "must have one scale" in refused
        asked["columns"] = [{**one, "high": "8000"} for one in COLUMNS]
    found = released(table(), json.dumps(asked))
    trace = Trace.from_json(found["trace"])
    assert set(found) - ({"most", "own", "free"} if len(numbers_of_centers(trace)) > 1 else set()) == {
        "title", "film", "verdict", "cards", "noise", "doubts", "trace", "label", "csv", "page", "rehearsed",
    }  # fmt: skip
    assert trace.seed is None and trace.sampler and trace.claimed.private
    assert not any(step.hidden for step in trace.steps)
    everything = json.dumps(found, ensure_ascii=False)
    for secret in ("Anna-Lena", "30.123456", "2000.654321", "people.csv"):
        assert secret not in everything, secret
    again_ = []
    for content in (table(), table(ROWS - 40, instead=[(3, "99,7999,Anna-Lena"), (5, ",,")])):
        with monkeypatch.context() as patch:  # the same releases from other rows: nothing else may differ
            patch.setattr(private, "replay", lambda *given: Replay(trace))
            again_.append(released(content, json.dumps(asked)))
    assert again_[0] == again_[1]


def test_a_run_is_drawn_once_and_only_the_one_that_was_priced_last():
    content = table()
    told(content)
    old, new = (price(content, form())["claim"] for _ in range(2))
    assert draw(old)["refused"].endswith("Nothing was drawn.")
    first = draw(new)
    assert "trace" in first and draw(new)["refused"].endswith("Nothing was drawn.")
    again_ = price(content, form(claims=[new]))
    second = draw(again_["claim"])
    names = [json.loads(one["trace"])["dataset_id"] for one in (first, second)]
    assert names[0] != names[1]  # no file tells that the same bytes were read
    assert Trace.from_json(first["trace"]).ledger != Trace.from_json(second["trace"]).ledger


def test_files_do_not_say_how_often_the_same_file_was_used():
    """Two neighbors differ in whether the bytes were used before, so no exported file may tell it."""
    content = table()
    told(content)
    claims = [price(content, form())["claim"] for _ in range(3)]
    found = draw(price(content, form(claims=claims))["claim"])
    label = json.loads(found["label"])
    assert label["counted"] == COUNTED and "nobody else counts" in found["film"]
    assert facts(Trace.from_json(found["trace"]), COUNTED)["Counted"] == COUNTED
    assert not any("Runs in this browser" in text for text in map(str, found.values()))


def test_a_private_file_is_never_run_in_public_and_kmeans_never_on_it():
    content = table()
    told(content)
    public = json.dumps({"data": OWN, "method": "kmeans", "seed": "0", "values": {}, "columns": COLUMNS})
    for ask in (run, again):
        found = json.loads(ask(public, lambda made, planned: None))
        assert found == {"refused": "This file is private: its rows are shown nowhere. Nothing was read."}
    assert json.loads(checked(form("kmeans", epsilon="1")))["refused"].endswith("nothing was read.")
    assert "1 in 10" in json.loads(checked(form(delta="0.1")))["refused"]
    about = {"name": "a.csv", "size": len(content), "numbers": "", "private": False}
    json.loads(opened(json.dumps(about), reading(content)[0]))
    assert json.loads(checked(form()))["refused"] == "Open a private file first."


def claims(n=3):
    content = table()
    told(content)
    return [price(content, form(epsilon=str(epsilon)))["claim"] for epsilon in range(1, n + 1)]


def test_the_count_adds_up_as_the_package_does():
    some = claims()
    account = Account("", tuple(map(Claim.from_dict, some)))
    total = account.total(Neighboring.ADD_REMOVE)
    assert 3 < total.epsilon < 6  # Gaussian noise adds up by its squares
    assert known(account, Neighboring.ADD_REMOVE).startswith(
        f"Runs in this browser on this file: 3, together ε = {total.epsilon:.3g}, δ = "
    )


def test_a_kept_count_names_no_byte_and_adding_it_adds_claims_alone():
    some = claims()
    kept = json.loads(exported(json.dumps({"claims": some})))["kept"]
    assert "people" not in kept and "Anna-Lena" not in kept and set(json.loads(kept)) == {
        "format", "version", "about", "claims",
    }  # fmt: skip
    both = json.loads(merged(json.dumps({"claims": some[:1], "text": kept})))
    assert both["claims"] == json.loads(json.dumps(some)) and both["added"] == 2
    lower = json.loads(kept)
    lower["claims"] = lower["claims"][:1]
    lower["claims"][0]["plan"] = claims(1)[0]["plan"]
    same = json.loads(merged(json.dumps({"claims": some, "text": json.dumps(lower)})))
    assert same["claims"] == json.loads(json.dumps(some)) and same["added"] == 0  # a known claim stays as it is


def edited(change):
    record = {"format": "dpviz-browser-count", "version": 1, "claims": copy.deepcopy(claims(1))}
    change(record)
    return json.dumps(record)


def first_cost(record):
    return next(iter(record["claims"][0]["plan"].values()))[0]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, "x" * 5_000_000,
        *(
            lambda record, value=value: first_cost(record).update(mu=value)
            for value in (-1.0, 0.0, math.nan, math.inf, None, "1", 1e308)
        ),
        lambda record: record["claims"][0].update(plan={}),
        lambda record: record["claims"][0].update(delta=1.5),
        lambda record: record["claims"][0].update(delta=-1e-5),
        lambda record: record["claims"][0].update(id="x"),
        lambda record: record["claims"][0].update(rho_distance=1e-9),
        lambda record: record["claims"][0].update(neighboring="nobody"),
        lambda record: record["claims"][0].update(more=1),
        lambda record: record.update(version=2),
        lambda record: record.update(claims=[None]),
        lambda record: record.update(claims=record["claims"] * 1_001),
    ],
)  # fmt: skip
def test_an_edited_count_is_refused_in_one_sentence(text):
    text = text if isinstance(text, str) else edited(text)
    found = json.loads(merged(json.dumps({"claims": [], "text": text})))
    assert found == {"refused": "This is not a count that a browser kept for dpviz. Nothing was added."}


def test_a_damaged_store_refuses_the_run():
    content = table()
    told(content)
    assert price(content, form(claims=[{"id": "x"}]))["refused"].startswith("The count that this browser keeps")
    with pytest.raises(ValueError, match="damaged"):
        claims_of([None])
