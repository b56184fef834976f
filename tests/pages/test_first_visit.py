"""Check what new visitors once misread: badges of other promises, sweeps without exactly k, and the list of methods."""

import io
import re

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.privacy.guarantee import Notion
from pages._ui.explore.form.picker import FILMS, GROUPS, PROMISES, named, offered
from pages._ui.explore.tradeoff.form import sweep_of
from pages._ui.explore.workspace.tradeoff import tradeoff
from pages._ui.frame.address.scene import read


def strip_of(slug, reach):
    import streamlit as st

    from dpviz.algorithms import ALGORITHMS
    from pages._ui.frame import shell

    st.session_state.page = "explore"
    shell.strip("Town", slug, ALGORITHMS[slug](n_clusters=5).guarantee(2, 5000), reach=reach)


@pytest.mark.parametrize(
    ("slug", "reach", "words"),
    [
        ("dist-dp", "240 m", ["WEAKER: hides moves of up to 240 m", "ε(240 m)", "one row moved by at most 240 m"]),
        ("stemmer-kaplan-local", "", ["LOCAL: trusts nobody"]),
        ("stemmer-kaplan-shuffle", "", ["SHUFFLED: trusts the mixer"]),
        ("kmeans", "", ["NO PRIVACY"]),
        ("nsm", "", []),
    ],
)
def test_another_promise_has_a_badge_of_its_own(slug, reach, words):
    app = AppTest.from_function(strip_of, args=(slug, reach)).run()
    body = next(block.proto.body for block in app.get("html") if "dp-strip" in block.proto.body)
    body = re.sub(r"<style>.*?</style>|<abbr[^>]*>|</?b>|</abbr>", "", body, flags=re.DOTALL)
    assert not app.exception and all(word in body for word in words), body
    assert ("dp-badge other" in body) == bool(words)


@pytest.mark.parametrize(("free", "values"), [("", (("exactly_k", True),)), ("&own=1", ())])
def test_a_sweep_asks_for_exactly_k_unless_told_otherwise(free, values):
    scene, sentence = read("tradeoff", f"v=1&d=town&a=dpm&e=1{free}", tradeoff)
    assert not sentence and [one.values for one in sweep_of(scene.values).variants] == [values]


def test_the_picker_goes_by_what_a_method_does_and_marks_one_as_recommended():
    folders = [folder for group in GROUPS.values() for folder in group]
    first, *order = [ALGORITHMS[slug].__module__.split(".")[2] for slug in offered(False)]
    assert first == "nsm" and order == sorted(order, key=folders.index) and {first, *order} == set(folders)
    assert len(folders) == len(set(folders)) and sorted(offered(False)) == sorted(ALGORITHMS)
    assert offered(False)[0] == offered(True)[0] == RECOMMENDED
    assert "kmeans" not in offered(True)
    names = {slug: named(slug) for slug in ALGORITHMS}
    assert [slug for slug, name in names.items() if name.endswith("· recommended")] == [RECOMMENDED]
    for slug, name in names.items():
        notion = ALGORITHMS[slug].notion
        assert name.startswith(ALGORITHMS[slug].name if notion is Notion.CENTRAL else f"{PROMISES[notion][0]} · ")


def test_every_method_has_a_film_in_the_list_of_the_size_that_the_page_expects():
    assert set(FILMS) == set(ALGORITHMS)
    for address, content in FILMS.values():
        assert address.startswith("dpviz/films/") and Image.open(io.BytesIO(content)).size == (14 * 176, 132)


def listed(private):
    import streamlit as st

    from pages._ui.explore.form import picker
    from pages._ui.frame.catalog import sample

    with st.sidebar:
        picker._films.__wrapped__(sample("town"), picker.offered(private), "explore_algorithm")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", set(ALGORITHMS)),
        ("votes", {"pe-means", "hdpe-means", "aug-pe"}),
        ("votes projection", {"hdpe-means"}),
        ("SHUFFLE", {"stemmer-kaplan-shuffle"}),
        ("weaker rho", {"dist-dp", "dist-dp-region-means", "dist-dp-random-points"}),
        ("<b>&", set()),
    ],
)
def test_the_list_finds_methods_by_name_idea_or_promise_and_one_is_chosen(typed, found):
    app = AppTest.from_function(listed, args=(False,)).run()
    app.text_input[0].set_value(typed).run()
    assert {button.key.removeprefix("explore_algorithm_choose_") for button in app.button} == found
    assert not app.exception and bool(found) != ("No method has" in " ".join(caption.value for caption in app.caption))
    if found:
        chosen = sorted(found)[0]
        app.button(f"explore_algorithm_choose_{chosen}").click().run()
        assert app.session_state["explore_algorithm_next"] == chosen
