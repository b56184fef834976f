"""Check the page that runs methods in a tab: what it names, what it may do, and that no other page changes for it."""

import base64
import functools
import hashlib
import json
import re

import pytest

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import SAMPLES
from lab import site
from lab.site import build, live, tradeoff, watch
from lab.site.distribution import distribution
from lab.site.in_tab import CURVES, OWN
from tests.lab.site.links import broken
from tests.lab.site.test_distribution import small


def made(out, pyodide=None):
    build(out, pyodide=pyodide)
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Return the files of a few pages without and with a made-up distribution, and the folder of the latter."""
    base = tmp_path_factory.mktemp("site")
    core = small(base / "pyodide")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "86400")
        patch.setattr(watch, "ALGORITHMS", {"kmeans": ALGORITHMS["kmeans"]})
        kept = tuple(one for one in site._SECTIONS if one[0] in ("Watch", "Glossary", "Limits", "Run it yourself"))
        patch.setattr(site, "_SECTIONS", kept)
        patch.setattr(live, "distribution", functools.partial(distribution, core=core))
        return made(base / "without"), made(base / "with", base / "pyodide"), base / "with"


def record(files):
    return json.loads(re.search(rb'id="live">(.*?)</script>', files[live.HOME], re.DOTALL)[1])


@pytest.mark.slow
def test_without_the_option_no_page_knows_of_it_and_with_it_only_watch_changes(both):
    without, more, out = both
    new = {name for name in more if name not in without}
    assert new == {live.HOME, "offline.js", *(f"python/{name}" for name in record(more)["files"])}
    changed = {name for name in without if without[name] != more[name]}
    assert changed == {"watch/index.html", "watch/kmeans.html", "dpviz-site.txt"}
    assert b'href="run.html">run it here</a>' in more["watch/index.html"]
    assert b'href="run.html?data=file:">on your own file</a>' in more["watch/index.html"]
    assert b'href="run.html?other=dpm">two methods side by side</a>' in more["watch/index.html"]
    assert b'href="run.html?method=kmeans"' in more["watch/kmeans.html"]
    assert broken(out) == []


@pytest.mark.slow
def test_the_page_names_the_hash_and_the_size_of_every_file(both):
    _, files, _ = both
    loaded = record(files)["files"]
    assert {"pyodide.mjs", "plotly.zip", "narwhals.zip", "dpviz.zip", "pandas-1.whl"} < set(loaded)
    for name, (integrity, size) in loaded.items():
        content = files[f"python/{name}"]
        assert integrity == f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
        assert size == len(content)
    total = sum(size for _, size in loaded.values())
    assert f"Load Python here ({total / 1e6:.0f} MB, about 20 s)".encode() in files[live.HOME]


def test_the_service_worker_has_the_hash_of_the_page_and_hears_and_sends_nothing_else(both):
    files = both[1]
    text = files["offline.js"].decode()
    pages, named = map(json.loads, re.match(r"const PAGES = (.*?), FILES = (.*?);\n", text).groups())
    digest = base64.b64encode(hashlib.sha256(files[live.HOME]).digest()).decode()
    assert pages == {live.HOME: f"sha256-{digest}"} and set(named) == {
        f"python/{name}" for name in record(files)["files"]
    }
    assert re.findall(r"addEventListener\(\"(\w+)\"", text) == ["install", "activate", "fetch"]
    assert re.findall(r"fetch\(([^;]*?)[,)]", text.partition("\n")[2]) == ["address", "event.request"]
    script = files[live.HOME].decode()
    assert "connect-src 'none'; worker-src blob:" in script and "controller" not in script


def test_only_this_page_may_start_a_worker_and_fetch_and_only_from_its_own_host(both):
    without, files, _ = both
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', files[live.HOME].decode())[1]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert (
        parts["default-src"] == "'none'" and parts["connect-src"] == "'self'" and parts["worker-src"] == "'self' blob:"
    )
    assert re.fullmatch(r"'sha256-\S+' blob: 'wasm-unsafe-eval'", parts["script-src"])
    for name, content in files.items():
        if name.endswith(".html") and name != live.HOME:
            assert b"connect-src" not in content and b"wasm-unsafe-eval" not in content, name


def test_the_form_has_every_method_with_its_declared_parameters_and_every_sample(both):
    about = record(both[1])
    assert list(about["methods"]) == list(ALGORITHMS) and list(about["data"]) == [
        *SAMPLES,
        "blobs:",
        "painted:",
        "file:",
    ]
    for slug, cls in ALGORITHMS.items():
        assert [one["name"] for one in about["methods"][slug]["fields"]] == list(params.specs(cls))
    shown = {one["name"]: one for one in about["methods"]["pe-means"]["fields"]}
    assert shown["epsilon"]["label"] == "Privacy budget ε" and shown["epsilon"]["start"] == "1"
    assert shown["delta"]["start"] == "" and shown["delta"]["optional"]
    assert [one["label"] for one in about["blobs"] if one["name"] in ("n_clusters", "seed")] == [
        "Groups", "Seed of the groups",
    ]  # fmt: skip
    assert about["data"]["town"] == {"title": "Town, 5,000 made-up people", "k": 5}


def test_a_trade_off_leads_to_the_curves_on_an_own_file_where_they_can_be_drawn(both):
    files = both[1]
    words = tradeoff._elsewhere("tradeoff/town.html", live.HOME)
    assert 'href="../watch/run.html?data=file:#trade-off"' in words
    page = files[live.HOME].decode()
    assert 'id="trade-off"' in page and OWN == "file:" and OWN in record(files)["data"]
    assert re.findall(r'type="checkbox" value="([\w-]+)"', page) == list(CURVES)
    assert "run it yourself" in tradeoff._elsewhere("tradeoff/town.html", "")


@pytest.mark.parametrize("options", [["--live"], ["--pyodide", "."]])
def test_the_two_options_go_together(tmp_path, capsys, options):
    assert main(["site", str(tmp_path / "out"), *options]) == 2
    said = capsys.readouterr().err
    assert "--live and --pyodide FOLDER go together" in said and said.count("\n") == 1


def test_a_folder_without_a_distribution_is_refused_before_anything_is_written(tmp_path, capsys):
    assert main(["site", str(tmp_path / "out"), "--live", "--pyodide", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "lacks pyodide-lock.json" in said and said.count("\n") == 1 and not (tmp_path / "out").exists()
