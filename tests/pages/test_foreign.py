"""Check every page with a file whose names are malicious: no name acts as Markdown, HTML or an address."""

import json
import re

import pytest

from tests.pages.visitor import drop, facts, finish, onward, ran

NAME = "![p](http://evil.example/p.png) <em>x</em> [c](x:y)"
OTHER = ":material/home: www.evil.example $x^2$"
ACTS = re.compile(r"(?<!\\)\[[pc]\\?\]|http://evil|www\.evil|:material/home|(?<!\\)\$x|(?<!\\)<em>x|<em>x</em>")
TAGS = re.compile(r"<em>x|(src|href)=.?[^ >]*evil")


def acting(app):
    """Return the pieces of a page's Markdown and HTML in which a name acts as markup."""
    return [(kind, text) for kind, text in texts(app) if (TAGS if kind.startswith("html") else ACTS).search(text)]


def texts(app):
    """Yield (kind, text) of all Markdown and HTML that a page sends."""
    for place in (app.main, app.sidebar):
        for node in place:
            proto = node.proto
            if proto is None:
                continue
            for field in ("body", "label", "help", "text"):
                if isinstance(value := getattr(proto, field, None), str):
                    yield f"{node.type} {field}", value
            if node.type in ("radio", "button_group", "select_slider"):
                yield from ((node.type, str(option)) for option in proto.options)


@pytest.mark.slow
def test_names_of_a_public_file_act_on_no_page(start):
    rows = "\n".join(f"{i % 50},{(7 * i) % 50}" for i in range(300))
    header = ",".join('"' + name.replace('"', '""') + '"' for name in (NAME, OTHER))
    declared = facts(NAME, OTHER, scale="common", title=NAME, description=OTHER, unit_of_privacy=NAME)
    for column in declared["columns"]:
        column |= {"unit": OTHER[:40], "description": NAME}
    app = drop(start(), f"{NAME}.csv".replace("/", "_"), f"{header}\n{rows}\n".encode(), "Yes, it is public")
    assert acting(app) == []
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("f.json", json.dumps(declared).encode()).run()
    assert not app.exception
    onward(app)
    assert acting(app) == []
    ran(app.switch_page("pages/explore.py").run())
    for page in ("explore", "attacker", "compare", "ledger", "plan", "tradeoff", "data"):
        app.session_state["explore_take"] = True
        finish(app.switch_page(f"pages/{page}.py").run())
        assert (page, acting(app)) == (page, [])
    for page in ("explore", "compare", "attacker"):
        app.session_state["address"] = (page, "v=1&d=file:%21%5Bp%5D%28http%3A%2F%2Fevil.example%2Fp.png%29,b")
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception and any("This link needs the file" in info.value for info in app.info)
        assert acting(app) == []
