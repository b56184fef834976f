"""Check where each part of an address of version 0.1 or 0.2 leads if its view is on another page today."""

import pytest

from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address.deck import split
from pages._ui.frame.address.old import today
from pages._ui.frame.address.scene import MOST, read
from pages._ui.frame.places import MOVED, PAGES
from tests.browser.test_walk_links import LINKS
from tests.pages.frame.address.test_scene import PAGES as VOCABULARIES

ALEX = "v=1&d=iris&a=nsm&k=4&e=2&s=7&t=1&hide=verdict&lock=epsilon&task=Look&embed=true"


@pytest.mark.parametrize(
    ("page", "query", "there", "values"),
    [
        ("explore", f"{ALEX}&alex=far", "attacker", {"who": "far", "d": "iris", "k": 4, "e": 2.0, "s": 7}),
        ("explore", f"{ALEX}&alex=typical", "attacker", {"who": "near"}),
        ("explore", "v=1&alex=row:12", "attacker", {"who": "row:12"}),
        ("explore", "v=1&alex=at:-1.5,2e-05", "attacker", {"who": "at:-1.5,2e-05"}),
        ("explore", "v=1&alex=&k=3", "explore", {"k": 3}),
        ("attacker", "v=1&d=town&who=pin&x=1.5&y=-2&ask=moved", "attacker", {"who": "at:1.5,-2", "ask": "moved"}),
        ("attacker", "v=1&who=pin", "attacker", {"who": "at:,"}),
        ("attacker", "v=1&who=small&x=1", "attacker", {"who": "small"}),
        (
            "distance",
            "v=1&d=town&a=dist-dp&e=2&layers=0&k=3&rho=0.0032&seen=1",
            "explore",
            {"a": "dist-dp", "e": 2.0, "k": 3, "rho": 0.0032, "seen": True, "layers": False},
        ),
        ("distance", "", "explore", {"d": "city", "a": "dist-dp-region-means", "rho": 0.0089}),
        ("federated", "v=1&hide=verdict&lock=epsilon&task=Look&t=1&embed=true", "explore", {"trust": "clients"}),
        (
            "federated",
            "v=1&d=town&a=pe-means&e=2&clients=6&spread=skewed&noise=server&ring=32&s=3&silent=5&from=2"
            "&round=2&delay=2.5&exact=1",
            "explore",
            {"trust": "clients", "clients": 6, "noise": "server", "silent": 5, "round": 2, "bare": True, "s": 3},
        ),
        ("federated", "", "explore", {"a": "fastlloyd", "trust": "clients", "clients": 4}),
    ],  # fmt: skip
)
def test_an_old_address_opens_what_it_showed(page, query, there, values):
    now, words = today(page, query)
    scene, sentence = read(now, words, explore)
    assert now == there and sentence == "" and values.items() <= scene.values.items()
    assert today(now, words) == (now, words)  # no address is redirected twice
    if "task" in query:
        assert (scene.step, scene.hide, scene.lock, scene.task) == (1, ("verdict",), "epsilon", "Look")
        assert "embed=true" in words


@pytest.mark.parametrize("rho", ["abc", "0", "nan", "-1", "inf", "1&rho=2"])
def test_an_old_address_of_moves_with_a_wrong_distance_opens_its_usual_distance_and_says_so(rho):
    scene, sentence = read(*today("distance", f"rho={rho}"), explore)
    assert (scene.values["d"], scene.values["rho"]) == ("city", 0.0089)
    assert sentence == "This link opens, but defaults replace the parts that do not fit: rho (distance)."


@pytest.mark.parametrize("slug", ["nsm", "pe-means", "stemmer-kaplan-local"])
def test_an_old_address_of_moves_says_that_a_method_promises_none(slug):
    scene, sentence = read(*today("distance", f"a={slug}&d=iris"), explore)
    assert (scene.values["a"], scene.values["d"]) == (slug, "iris") and "rho, which belongs to promises" in sentence
    assert read(*today("distance", "a=dist-dp&d=town"), explore)[1] == ""


WHOLE = "&hide=form&hide=kmeans&lock=epsilon&task=Look+closely&embed=true"
OF_01 = {"rho": LINKS["distance"], "lessons": LINKS["learn"]}


@pytest.mark.parametrize("more", ["", WHOLE])
@pytest.mark.parametrize("path", [*LINKS, *OF_01])
def test_every_kind_of_address_is_read_whole(path, more):
    page, words = today(MOVED.get(path, path), (LINKS | OF_01)[path] + more)
    scene, sentence = read(page, words, VOCABULARIES[page or "home"])
    assert sentence == "" and (page or "home") in PAGES
    if more:
        assert (scene.hide, scene.lock, scene.task) == (("form", "kmeans"), "epsilon", "Look closely")


def test_what_is_no_old_address_stays_as_it_was_written():
    for page, query in (("explore", "v=1&d=blobs:n_rows=60,n_clusters=3&task=a%20b"), ("plan", "alex=far"), ("", "x")):
        assert today(page, query) == (page, query)
    for query in ("alex=far&" + "a" * MOST, "&".join(["alex=far"] * 300)):
        assert today("explore", query) == ("explore", query)


def test_a_slide_of_explore_stays_the_run_that_it_was():
    page, query = split("https://there/explore?v=1&d=iris&a=nsm&alex=far#x")
    assert page == "explore" and read(page, query, explore)[1] == ""
    assert split("attacker?v=1&who=pin&x=1&y=2") == ("attacker", "v=1&who=at:1,2")
