"""Check Share: the link that the dialog makes, and the effect of such a link on its page."""

import dataclasses
import html
import re

import pytest

from dpviz.datasets import load_sample
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import embed
from pages._ui.frame.address import scene
from tests.pages.visitor import visit
from tests.tiers import tiers

NO_BAR = ".st-key-tabs,[data-testid=stPageLink]"
TASK = ' Find  the <smallest> "ε" & stop '


def shown(app):
    return "\n".join(box.body for box in app.get("html"))


def dialog(app, **chosen):
    """Open the Share dialog with the given choices."""
    for name, value in chosen.items():
        app.session_state[f"share_{name}"] = value
    app.button(key="share").click().run()


def link(app):
    """Return the link shown in the dialog, read from the iframe code."""
    source = re.search(r'src="([^"]*)"', app.code[0].value)[1]
    return html.unescape(source).removesuffix("&embed=true")


def test_the_dialog_writes_what_was_chosen_into_the_link(open_link):
    app = open_link("explore", "v=1&d=town&a=pe-means&k=5&e=1")
    app.button(key="share").click().run()
    assert link(app).startswith("/explore?v=1&d=town&a=pe-means&k=5&e=1&s=0")
    dialog(app, start="from the first step, playing", hide=["verdict", "panels"], lock="epsilon", task=TASK)
    assert not app.exception and "QR code of the link" in shown(app)
    found, sentence = scene.read("explore", link(app).partition("?")[2], explore)
    assert sentence == "" and (found.play, found.step) == (True, None)
    assert (found.hide, found.lock, found.task) == (("verdict", "panels"), "epsilon", " ".join(TASK.split()))

    dialog(app, hide=["form"], lock="all")  # a hidden form has nothing to lock
    assert app.selectbox(key="share_lock").disabled and "lock" not in link(app)


@pytest.mark.parametrize(
    "page",
    tiers(
        ["home", "distance", "federated", "learn", "compare", "attacker", "plan", "tradeoff", "limits"],
        ("home", "compare", "plan"),
    ),
)
def test_every_page_with_a_scene_shares_it(open_link, page):
    app = open_link(page, "v=1")
    dialog(app)
    assert not app.exception and "QR code of the link" in shown(app)
    assert "QR code of the link" in shown(app.run())  # the page is drawn again, for example because a run has ended
    app.switch_page(f"pages/{'notes' if page == 'limits' else 'limits'}.py").run()
    assert "QR code of the link" not in shown(app)


@pytest.mark.slow
def test_a_prepared_link_hides_locks_and_says_so(open_link):
    query = "v=1&d=town&a=nsm&e=1&hide=kmeans,verdict,panels,navigation&lock=epsilon&task=%3Cb%3EFind%3C/b%3E"
    app = open_link("explore", query)
    assert not app.exception and "A prepared scene.</b> &lt;b&gt;Find" in shown(app)
    app.session_state["form_more"] = True
    app.run()
    mine = {control.key for control in scene.controls({"d": "town", "a": "nsm"}, explore)}
    fields = {box.key: box.disabled for box in (*app.number_input, *app.selectbox) if box.key in mine}
    assert {key for key, disabled in fields.items() if not disabled} == {"param_nsm_epsilon"} and len(fields) > 5
    assert 'class="dp-verdict"' not in shown(app) and "NOT PRIVATE" not in shown(app)
    assert NO_BAR in shown(app) and "explore_hidden" not in {box.key for box in app.toggle}

    app.number_input(key="param_nsm_epsilon").set_value(2.0).run()
    app.button(key="ribbon_all").click().run()
    assert not any(box.disabled for box in app.number_input) and app.toggle(key="explore_hidden").value
    assert 'class="dp-verdict"' in shown(app) and NO_BAR not in shown(app)
    assert app.number_input(key="param_nsm_epsilon").value == 2.0

    app.button(key="ribbon_reset").click().run()
    assert app.number_input(key="param_nsm_epsilon").value == 1.0 and 'class="dp-verdict"' not in shown(app)
    assert app.number_input(key="explore_seed").disabled


@pytest.mark.parametrize(
    ("page", "lock", "free"),
    [
        ("plan", "epsilon", "plan_epsilon"),
        ("attacker", "epsilon", "param_pe-means_epsilon"),
        ("compare", "all", ""),
        ("limits", "all", ""),
    ],
)
def test_a_lock_holds_on_every_page(open_link, page, lock, free):
    app = open_link(page, f"v=1&lock={lock}&hide=navigation")
    assert not app.exception and NO_BAR in shown(app)
    boxes = (*app.number_input, *app.selectbox, *app.text_input, *app.multiselect, *app.get("button_group"))
    boxes = [box for box in boxes if not (box.key or "").startswith("share")]
    assert {box.key for box in boxes if not box.proto.disabled} == {free} - {""} and boxes


def own(page, **more):
    """Open a page in a session whose data set is the visitor's own file."""
    data = dataclasses.replace(load_sample("iris"), dataset_id="abc", title="mine.csv", **more)
    return visit(page, own={"abc": data}, explore_data="abc")


@pytest.mark.parametrize("page", ["compare", "attacker"])
def test_a_private_run_is_not_shared_and_the_reason_is_said(page):
    app = own(page, private=True)
    app.button(key="share").click().run()
    assert not app.exception and not app.code
    assert any("not the data: anyone who opened it" in box.value for box in app.markdown)
    assert app.session_state["kept"] == (page, "")


@pytest.mark.slow
def test_tradeoff_says_after_a_reload_that_a_file_is_missing(open_link):
    (page, query) = own("tradeoff").session_state["kept"]
    assert page == "tradeoff" and "d=file:" in query
    app = open_link("tradeoff", query)  # a new session, as after a reload
    assert not app.exception and any("This link needs the file with the columns" in info.value for info in app.info)
    assert app.multiselect(key="sweep_data").value == ["town"] and app.session_state["kept"] == (page, query)
    assert own("tradeoff", private=True).session_state["kept"] == (page, "")


def test_another_page_is_not_prepared(open_link):
    app = open_link("home", "v=1&screen=2&hide=form,navigation&lock=all")
    assert NO_BAR in shown(app)
    app.switch_page("pages/limits.py").run()
    assert not app.exception and NO_BAR not in shown(app)


def test_the_code_of_a_frame_carries_its_title_and_colors_as_text():
    code = embed.code("https://a.b/explore?v=1&task=%22", 'a "town"', "dark_theme")
    assert 'title="a &quot;town&quot;"' in code and code.count('"') == 8
    assert "v=1&amp;task=%22&amp;embed=true&amp;embed_options=dark_theme" in code


@pytest.mark.parametrize(("query", "alone"), [("embed", 1), ("v=1&embed=true", 1), ("v=1&task=embed", 0), ("", 0)])
def test_a_frame_is_known_by_its_address(open_link, monkeypatch, query, alone):
    monkeypatch.setattr("pages._ui.frame.address.links.asked_for", lambda: query)
    app = open_link("explore", "v=1&d=town&a=nsm&e=1")
    assert not app.exception
    shared = "share" in {box.key for box in app.button}
    assert ("position:static; order:99" in shown(app), shared) == (bool(alone), not alone)
    assert ("How this picture can fool you" in shown(app)) == (not alone)


def test_a_scene_goes_into_the_deck_as_its_link_says_it(open_link):
    app = open_link("explore", "v=1&d=iris&a=dpm&e=2")
    dialog(app, lock="epsilon", task="Look")
    app.button(key="share_deck").click().run()
    slide = app.session_state["deck"].slides[-1]
    assert not app.exception and slide.title == "Look" and slide.scene.startswith("explore?v=1&d=iris&a=dpm&k=3&e=2")
    assert slide.scene.endswith("lock=epsilon&task=Look")
