"""Check exports: they are self-contained and true, with bit-equal centers in DEMO and nothing hidden in PRIVATE."""

import ast
import base64
import dataclasses
import functools
import hashlib
import html
import json
import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import nbclient
import nbformat
import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.explain_clusters import ExplainClusters
from dpviz.cli import main
from dpviz.datasets import SAMPLES, load, loading
from dpviz.domain import Domain
from dpviz.postprocessing.cards import cards
from dpviz.postprocessing.released import centers_text
from dpviz.takeaway import KINDS, export, facts, label_json, page
from dpviz.takeaway.foreign import algorithm_of, read
from dpviz.takeaway.label import headline, label, names_of
from dpviz.takeaway.published import SCHEMAS, schema
from dpviz.takeaway.replay import replay
from dpviz.trace import Trace
from tests.tiers import tiers
from tests.traces import trace as run_of

ROOT = Path(__file__).parent.parent
HOSTILE = ['</script><img src=x onerror="alert(1)">', "=1+2 $\\alpha$ \u202eevil"]
SLOW = {"stemmer-kaplan-swap", "balcan"}
EVERY = tiers(ALGORITHMS, ALGORITHMS.keys() - SLOW)


def python(path):
    """Run a script as a user of the package would."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment)


def demo(slug="glloyd", **values):
    return run_of(slug, "tiny", n_clusters=2, **values)


@pytest.fixture(scope="module")
def secret():
    X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    domain = Domain.box(-1, 1, 2, n_public=500, columns=HOSTILE, units=["<b>km", "&"])
    return ALGORITHMS["glloyd"](n_clusters=2).run(X, domain=domain, noise="secure", dataset_id="a-token")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("slug", EVERY)
def test_every_run_can_be_taken_away(slug, kind):
    text = export(demo(slug), kind)
    assert len(text.encode()) < {"page": 300_000, "replay": 6_000_000}.get(kind, 100_000)
    if kind in ("label", "page", "replay"):
        assert not re.search(r"""(src|href)=["'](?!data:|#)|@import|url\(""", text)  # nothing from outside
        assert text.startswith("<!doctype html>")
    if kind == "notebook":
        cells = json.loads(text)["cells"]
        assert len({cell["id"] for cell in cells}) == len(cells)
        for cell in cells:
            if cell["cell_type"] == "code":
                ast.parse(cell["source"])
    if kind == "script":
        ast.parse(text)


class Elements(HTMLParser):
    """List every element of a page with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.seen = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][1] == "html"])
def test_what_is_taken_away_asks_nobody_and_runs_only_its_own_scripts(secret, kind):
    text = export(secret, kind)
    [policy] = [about["content"] for tag, about in Elements(text).seen if tag == "meta" and "http-equiv" in about]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.DOTALL)
    run = [one for about, one in scripts if "json" not in about]
    hashed = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in run]
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    assert rules["script-src"] == (" ".join(f"'sha256-{one}'" for one in hashed) or "'none'")
    assert len(run) == (kind == "replay") and text.index("Content-Security-Policy") < text.index("<style")


def test_centers_that_are_pictures_are_pictures_on_the_page():
    data = load("digits")
    trace = ALGORITHMS["glloyd"](n_clusters=4).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    text = page(trace, data)
    assert text.count("<figure>") == 4 == text.count('class="ours"') and "KMeans" not in text
    assert "<figure>" not in page(trace) and len(text) < 300_000


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_stay_text_and_nothing_private_leaves(secret, kind):
    text = export(secret, kind)
    if KINDS[kind][1] == "html":
        seen = Elements(text).seen
        assert not {tag for tag, _ in seen} & {"img", "iframe", "link", "object", "embed"}
        assert not [name for _, attributes in seen for name in attributes if name.startswith("on")]
        assert sum(tag == "script" for tag, _ in seen) == (2 if kind == "replay" else 0)
    else:
        assert "AGAIN" in text and "secure" in text
    assert "seed=" not in text and "a-token" not in text


@pytest.mark.slow
def test_a_script_gives_the_same_centers_bit_for_bit_and_notices_different_ones(tmp_path):
    trace = demo("nsm", epsilon=2.0)
    path = tmp_path / "run.py"
    path.write_text(export(trace, "script"))
    assert python(path).returncode == 0
    path.write_text(export(trace, "script").replace("epsilon=2.0", "epsilon=2.5"))
    with pytest.raises(AssertionError):
        runpy.run_path(str(path), run_name="__main__")


def test_the_script_of_a_run_without_noise_gives_its_centers():
    data, names = load("tiny"), {}
    algorithm = ALGORITHMS["glloyd"](n_clusters=2)
    trace = algorithm.run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id, noise="none")
    exec(compile(export(trace, "script"), "script", "exec"), names)
    assert np.array_equal(names["trace"].cluster_centers, trace.cluster_centers)


def code_of(text, kind):
    if kind == "script":
        return text
    return "\n".join(cell["source"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")


@pytest.mark.parametrize("kind", ["script", "notebook"])
@pytest.mark.parametrize("slug", EVERY)
def test_the_code_of_every_run_gives_its_centers_bit_for_bit(slug, kind, capsys):
    trace, names = demo(slug), {}
    exec(compile(code_of(export(trace, kind), kind), kind, "exec"), names)
    assert np.array_equal(names["trace"].cluster_centers, trace.cluster_centers)
    assert names["trace"].to_json() == trace.to_json()


@pytest.mark.parametrize("slug", EVERY)
def test_what_is_shown_of_every_run_is_what_it_released(slug):
    trace = demo(slug)
    paper, some = export(trace, "page"), cards(trace, *names_of(trace))
    shown = [re.findall('class="value">([^<]*)<', card) for card in re.findall("<article>(.*?)</article>", paper)]
    assert shown == [[fact.text for fact in card.facts] for card in some]
    assert all(html.escape(text) in paper for card in some for text in (card.words, card.size_text()))
    text = export(trace, "label")
    assert all(html.escape(line) in text for line in facts(trace).values())
    run = json.loads(re.search(r'<script[^>]*id="?run"?[^>]*>(.*?)</script>', export(trace, "replay"), re.DOTALL)[1])
    assert len(run["sentences"]) == len(run["lines"]) >= len(trace.steps) - 1


@pytest.mark.slow
def test_a_notebook_runs_in_a_kernel(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    trace = demo("nsm")
    book = nbformat.reads(export(trace, "notebook"), as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=240, startup_timeout=240, kernel_name="python3").execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("iframe" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.parametrize("slug", EVERY)
def test_every_trace_and_label_keeps_the_published_schema(slug):
    trace = demo(slug)
    check = {name: jsonschema.Draft202012Validator(json.loads(schema(name))) for name in SCHEMAS}
    for hidden in (False, True):
        check["trace"].validate(json.loads(trace.to_json(include_hidden=hidden)))
    check["label"].validate(json.loads(label_json(trace)))


def test_the_schemas_are_schemas_and_notice_a_change(secret, capsys):
    for name in SCHEMAS:
        assert main(["schema", name]) == 0
        jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))
    validator = jsonschema.Draft202012Validator(json.loads(schema("trace")))
    record = json.loads(secret.to_json())
    validator.validate(record)
    for change in ({"schema": 2}, {"seed": "none"}, {"more": 1}, {"claimed": {}}):
        assert not validator.is_valid(record | change)
    with pytest.raises(ValueError, match="name must be one of"):
        schema("rows")


def changed(trace, **what):
    """Return a trace's JSON, its entries changed by functions of their old values; "a__b" means entry b within a."""
    record = json.loads(trace.to_json())
    for place, change in what.items():
        *path, last = place.split("__")
        inner = functools.reduce(lambda found, key: found[int(key) if key.isdigit() else key], path, record)
        inner[last] = change(inner.get(last))
    return json.dumps(record)


def noise_of(**what):
    """Return a function that changes entries of the noise that the last of a trace's steps states for its centers."""

    def change(steps):
        noise = steps[-1]["released"]["items"]["center_sd"]
        noise.update({name: how(noise[name]) for name, how in what.items()})
        return steps

    return change


TEN = lambda value: 10 * value  # noqa: E731
FORGED = {
    "a smaller promise": ({"claimed__epsilon": lambda _: 0.001}, "promise does not follow from the plan"),
    "a smaller delta": ({"claimed__delta": lambda d: d / 10}, "promise does not follow from the plan"),
    "no delta": ({"claimed__delta": lambda _: 0.0}, "promise does not follow from the plan"),
    "a better curve": ({"claimed__mu": lambda mu: mu / 2}, "promise does not follow from the plan"),
    "a bet of its own": ({"claimed__pure_epsilon": lambda _: 0.01}, "promise does not follow from the plan"),
    "less spent": ({"spent__epsilon": lambda _: 0.001}, "does not follow from the ledger"),
    "more noise in the ledger": ({"ledger__0__scale": TEN}, "does not follow from the ledger"),
    "a text for a number": ({"ledger__0__scale": lambda _: "1"}, "has the wrong type"),
    "another kind": ({"claimed__notion": lambda _: "local DP"}, "differs in kind"),
    "trusts nobody": ({"claimed__trust": lambda _: "nobody"}, "differs in kind"),
    "a person of one row": ({"claimed__rows_per_person": lambda _: 3}, "rows per person"),
    "a demo called a release": ({"seed": lambda _: None}, "notice does not match"),
    "a word for a seed": ({"seed": lambda _: "0"}, "has the wrong type"),
    "an unknown algorithm": ({"algorithm": lambda _: "mine"}, "knows no algorithm 'mine'"),
    "another name": ({"name": lambda _: "GLloyd\nimport os"}, "is called"),
    "another number of centers": ({"parameters__n_clusters": lambda _: 0}, "n_clusters must be >= 1; got 0"),
    "a parameter of another type": ({"parameters__n_clusters": lambda _: "2"}, "n_clusters must be a whole number"),
    "code for a parameter": ({"parameters__epsilon=print('RUN'), n_clusters": lambda _: 1}, "has the parameter"),
    "no noise in the ledger": ({"ledger__0__scale": lambda _: 0.0}, "out of range"),
    "centers of another shape": (
        {"cluster_centers__shape": lambda s: [1, 2], "cluster_centers__values": lambda v: v[:2]},
        "last step",
    ),
    "centers far away": ({"cluster_centers__values": lambda v: [1e308, *v[1:]]}, "last step"),
    "centers elsewhere": ({"cluster_centers__values": lambda v: [-x for x in v]}, "last step"),
    "another budget": ({"parameters__epsilon": TEN}, "plan is not that of"),
    "no steps": ({"steps": lambda _: []}, "holds no step of the run"),
    "an enormous noise": ({"steps": noise_of(values=lambda v: [1e308, *v[1:]])}, "are not those of a run of GLloyd"),
    "the noise of other centers": (
        {"steps": noise_of(shape=lambda _: [3, 2], values=lambda v: v + v[:2])},
        "are not those of a run of GLloyd",
    ),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_trace_that_disagrees_with_itself_or_its_algorithm_is_one_sentence(forged, tmp_path, capsys):
    change, words = FORGED[forged]
    path = tmp_path / "run.json"
    path.write_text(changed(demo(), **change))
    for command in (["export", str(path), "--as", "label"], ["explain", str(path)]):
        assert main(command) == 2
        captured = capsys.readouterr()
        assert words in captured.err and captured.err.count("\n") == 1 and not captured.out
    path.write_text(demo().to_json())
    assert main(["export", str(path), "--as", "label"]) == 0


def test_the_script_of_a_foreign_trace_runs_nothing_that_is_written_in_it(capsys):
    code = '"; print("RUN") #'
    trace = Trace.from_json(changed(demo(), version=lambda _: code, dataset_id=lambda _: f"sample:tiny'{code}\n{code}"))
    for kind in ("script", "notebook"):
        with pytest.raises((AssertionError, ValueError)):
            exec(compile(code_of(export(trace, kind), kind), kind, "exec"), {})
        assert "RUN" not in capsys.readouterr().out
    for name in ("n_clusters=print('RUN') or 1, epsilon", "n_clusters\nprint('RUN')"):
        with pytest.raises(ValueError, match="has the parameter"):
            export(Trace.from_json(changed(demo(), **{f"parameters__{name}": lambda _: 1})), "script")


def test_a_label_of_a_file_says_that_nobody_here_saw_the_run(secret):
    seen, read = (json.loads(label_json(trace)) for trace in (secret, Trace.from_json(secret.to_json())))
    assert seen["badge"] == "PRIVATE RELEASE" and read["badge"] == "PRIVATE RELEASE: NOT VERIFIED"
    assert "not verified" in read["numbers_from"] and "not verified" not in seen["numbers_from"]
    assert {**seen, "badge": "", "numbers_from": ""} == {**read, "badge": "", "numbers_from": ""}
    jsonschema.validate(read, json.loads(schema("label")))


@pytest.mark.parametrize("slug", [*EVERY, "explain"])
def test_every_trace_of_our_own_is_read(slug):
    data = load("tiny")
    asked = ExplainClusters.after(demo(), 0.5) if slug == "explain" else None
    trace = demo(slug) if asked is None else asked.run(data.X, domain=data.domain, seed=0)
    assert read(trace.to_json(include_hidden=True)).to_json(include_hidden=True) == trace.to_json(include_hidden=True)


@pytest.mark.parametrize("slug", ["pe-means", "dpm", "fastlloyd", "nsm", "dist-dp", "sulloyd"])
def test_a_trace_of_another_version_keeps_the_delta_it_was_run_with(slug):
    """Up to 0.3 an empty delta meant n^-1.1, only FastLloyd had a rule to choose, and NSM always took candidates."""
    data, old = load("tiny"), {} if slug == "sulloyd" else {"delta": 40**-1.1}
    old |= {"summary": "candidates"} if slug == "nsm" else {}
    made = ALGORITHMS[slug](n_clusters=2, epsilon=2.0, **old).run(data.X, domain=data.domain, seed=0)
    record = json.loads(made.to_json()) | {"version": "0.2.0"}
    if old:
        record["parameters"] |= {"delta": None}
        for name in ("delta_rule", "summary"):
            record["parameters"].pop(name, None)
    if slug == "fastlloyd":
        record["parameters"]["delta_rule"] = "n^-1.1"
    trace = read(json.dumps(record))
    assert trace.claimed == made.claimed and trace.claimed.delta == old.get("delta", 0.0)
    again = algorithm_of(trace)
    assert again.guarantee(2, 40).delta == made.claimed.delta and again.plan(2, 40).to_dict() == made.plan.to_dict()
    if old:
        assert "δ 1 in 57" in facts(trace)["Promise"] and f"delta={40**-1.1!r}" in export(trace, "script")


def test_a_private_script_reads_the_file_it_is_given(secret, tmp_path, monkeypatch):
    first = export(secret, "script").splitlines()[0]
    assert first.startswith("# Running this spends the budget AGAIN")
    path = tmp_path / "run.py"
    path.write_text(export(secret, "script"))
    monkeypatch.setattr(sys, "argv", [str(path)])
    with pytest.raises(SystemExit, match="say which file"):
        runpy.run_path(str(path), run_name="__main__")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["--public", "--private"])
def test_the_script_of_a_file_reads_it_through_its_dictionary_and_books_what_it_spends(mode, tmp_path, capsys):
    rows = "".join(f"{j % 40 + 20},5;{'fm'[j % 2]};{'?' if j % 9 == 0 else j % 7}\n" for j in range(300))
    data, facts_file, run, code = (tmp_path / name for name in ("own.csv", "facts.json", "run.json", "again.py"))
    data.write_text("age;sex;visits\n" + rows)
    facts_file.write_text(json.dumps({
        "columns": [
            {"name": "age", "low": 18, "high": 95}, {"name": "sex", "recode": "one-hot:f,m"},
            {"name": "visits", "low": 0, "high": 50, "fill": 25},
        ],
        "form": {"header": True, "separator": ";", "decimal": ",", "missing_marks": ["?"]},
        "n_public": 300, "rows_per_person": 1,
    }))  # fmt: skip
    given = ["--dictionary", str(facts_file), "--n-clusters", "2", "--json", str(run)]
    assert main(["run", "glloyd", "--data", str(data), mode, *given]) == 0, capsys.readouterr().err
    assert main(["export", str(run), "--as", "script", "-o", str(code)]) == 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, code, data, facts_file]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    capsys.readouterr()
    assert main(["accounts", "list"]) == 0
    told = capsys.readouterr().out
    assert ("2 runs" in told) == (mode == "--private"), told
    other = json.loads(facts_file.read_text())
    other["columns"].reverse()
    facts_file.write_text(json.dumps(other))
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 1 and "in another order; nothing was run" in ended.stderr
    assert main(["accounts", "list"]) == 0 and capsys.readouterr().out == told, "nothing more is booked"


def test_the_label_says_what_is_promised_in_a_fixed_order(secret):
    lines = facts(secret)
    assert list(lines)[:4] == ["Protects", "Promise", "In a bet", "Spent by this run"]
    assert f"{secret.claimed.odds} times in 100" in lines["In a bet"]
    record = json.loads(label_json(secret))
    assert record["schema"] == 1 and record["badge"] == "PRIVATE RELEASE"
    assert "DEMO" in json.loads(label_json(demo()))["badge"]
    assert json.loads(label_json(demo("kmeans")))["badge"] == "NOT PRIVATE"


def test_the_command_line_exports_a_run(tmp_path, capsys):
    run, out = tmp_path / "run.json", tmp_path / "out.html"
    assert main(["run", "glloyd", "--data", "sample:tiny", "--n-clusters", "2", "--json", str(run)]) == 0
    assert Trace.from_json(run.read_text()).algorithm == "glloyd"
    assert main(["export", str(run), "--as", "label", "-o", str(out)]) == 0 and "PRIVACY LABEL" in out.read_text()
    capsys.readouterr()
    assert main(["export", str(run), "--as", "label-json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1
    assert main(["export", str(tmp_path / "none.json"), "--as", "page"]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_where_a_run_cannot_be_kept_nothing_is_spent(tmp_path, capsys):
    out = tmp_path / "no" / "such" / "folder.json"
    assert main(["run", "glloyd", "--data", "sample:tiny", "--json", str(out)]) == 2
    captured = capsys.readouterr()
    assert "nothing was spent" in captured.err and not captured.out


def test_a_trace_is_short_in_a_console_and_a_label_in_a_notebook():
    trace = demo()
    assert len(repr(trace)) < 200 and "Protects" in trace._repr_html_()
    assert trace.show()._repr_html_().startswith("<iframe srcdoc=")


def test_a_headline_names_a_sample_without_its_rows(monkeypatch):
    titles = {name: load(name).title for name in SAMPLES}
    trace = demo()
    monkeypatch.setattr(loading, "from_table", lambda *args, **more: pytest.fail("a title needs no rows"))
    for name, title in titles.items():
        assert headline(dataclasses.replace(trace, dataset_id=f"sample:{name}")).startswith(f"{title}: ")


def test_a_file_names_its_data_its_centers_and_its_epsilon_and_a_replay_has_its_key():
    town = load("town")

    def ran(dataset_id):
        method = ALGORITHMS["dpm"](n_clusters=3, epsilon=0.25)
        return method.run(town.X, domain=town.domain, seed=0, dataset_id=dataset_id)

    trace = ran(town.dataset_id)
    words = f"{town.title}: {len(trace.cluster_centers)} centers at ε ¼, DPM"
    assert headline(trace).replace("0.25", "¼") == words
    assert town.title not in headline(ran("own")) and "Sample" not in headline(ran("sample:no such"))
    played, paper = replay(trace), page(trace)
    assert f"<h1>{headline(trace)}</h1>" in played and f"<h1>{headline(trace)}</h1>" in paper
    for mode in ("light", "dark"):
        key = re.search(f'<ul class="key {mode}">(.*?)</ul>', played)[1]
        assert "center" in key and "KMeans" not in key  # without a view, only released layers are shown
    assert paper.count("<article>") == len(trace.cluster_centers) and '<table class="numbers">' not in paper


def test_more_centers_than_cards_fit_on_a_sheet_are_a_table():
    trace = run_of("glloyd", "tiny", n_clusters=10)
    paper, table = page(trace), centers_text(trace, *names_of(trace))
    shown = [re.findall("<td>([^<]*)</td>", line) for line in re.findall("<tr>(.*?)</tr>", paper)]
    assert "<article>" not in paper and all(row in shown for row in table.iloc[:24, :7].to_numpy().tolist())


def test_every_title_names_the_data_k_and_epsilon():
    data = load("town")
    run = ALGORITHMS["pe-means"](n_clusters=5, epsilon=2.0)
    trace = run.run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    for document in (label(trace), replay(trace), page(trace, data)):
        title = re.search("<title>(.*?)</title>", document)[1]
        assert all(part in title for part in ("Town", "5 centers", "ε 2", "PE-means"))
