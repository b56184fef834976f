"""Check that the installed Streamlit has the parts of its page, the scripts and the addresses that `inside` names."""

import re
from functools import cache
from pathlib import Path

import streamlit as st

from pages._ui.frame.inside import client

HERE = Path(client.__file__).parent
TEXT = "".join(path.read_text() for path in sorted(HERE.iterdir()) if path.suffix in (".css", ".js", ".py"))
PARTS = sorted(set(re.findall(r"data-testid=(\w+)|\.(st[A-Z]\w+)", TEXT)))


@cache
def served():
    """Return all scripts of Streamlit's client as one text."""
    return "".join(path.read_text(errors="ignore") for path in (client.STATIC / "static" / "js").glob("*.js"))


def test_the_client_draws_every_part_that_a_rule_or_a_script_names():
    parts = {first or second for first, second in PARTS}
    assert len(parts) > 20 and parts - set(re.findall(r"\bst[A-Z]\w*", served())) == set()


def test_the_scripts_that_pages_need_are_there():
    assert client.plotly().startswith("PlotlyChart.") and "purge" in served()
    paths = client.scripts(client.COMPONENTS)
    assert len(paths) > 1 and all((client.STATIC / path).is_file() for path in paths)
    assert re.search(r'<script type="module"[^>]* src="[^"]*static/js/', (client.STATIC / "index.html").read_text())
    for own in ("popstate", "pushState", "data-stale", "data-tag"):
        assert own in served(), own


def test_the_addresses_are_streamlits(monkeypatch):
    server = Path(st.__file__).parent / "web" / "server"
    routes = "".join(path.read_text() for path in server.rglob("*.py"))
    assert '"_stcore"' in routes
    for name in ("upload_file", "metrics"):
        assert client.address(name) == f"/_stcore/{name}" and f"/{name}" in routes
    monkeypatch.setattr(st, "get_option", lambda name: "/lab/")
    assert client.address("metrics") == "/lab/_stcore/metrics"


def test_a_failed_page_hides_all_but_what_it_keeps():
    style = client.alone("mine", "bar", "tabs")
    assert style.startswith("[data-testid=stMain]:has(.st-key-mine) :is(") and style.endswith("{display:none}")
    for kept in (":not(:has(.st-key-mine))", ":not(.st-key-mine *)", ":not(.st-key-bar)", ":not(.st-key-tabs)"):
        assert kept in style
