"""Check the sentence on an untouched k: computed for public files, and never from the rows of a private one."""

import re

import numpy as np
import pytest

from dpviz.runs.single import reference
from pages._ui.explore import default_k
from tests.pages.visitor import finish, own_file, press, read


def six():
    """Return a file with six groups."""
    rng = np.random.default_rng(3)
    X = rng.normal(rng.uniform(10, 90, (6, 2)).repeat(50, axis=0), 2).clip(0, 100).round(2)
    return ("a,b\n" + "\n".join(f"{a},{b}" for a, b in X)).encode()


def watched(answer, **more):
    return own_file(six(), answer, n_public=300, **more).switch_page("pages/explore.py").run()


@pytest.mark.slow
def test_a_public_file_says_that_three_is_a_default_and_what_six_would_gain():
    app = watched("Yes, it is public")
    app.selectbox(key="explore_algorithm").set_value("nsm").run()
    finish(app)
    (said,) = re.findall(r"k = 3 is a default: KMeans' loss falls another ([\d.]+)% at k = 6\.", read(app))
    data = next(iter(app.session_state["own"].values()))
    three, six_ = (reference(data, k, 0).loss for k in (3, 6))
    assert float(said) == pytest.approx(100 * (1 - six_ / three), rel=0.05)
    app.button(key="explore_default_k").click().run()
    assert app.session_state["explore_any_k"] is True and "coreset_k" in str([one.key for one in app.slider])


@pytest.mark.slow
def test_a_private_file_says_what_its_release_shows_and_computes_nothing_from_rows(monkeypatch):
    monkeypatch.setattr(default_k, "_loss", lambda *_: pytest.fail("computed from private rows"))
    app = watched("No, it is private")
    press(app, "Run")
    finish(press(app, "Run and spend"))
    assert "KMeans' loss falls" not in read(app) and "on these points, noise included" in read(app)


@pytest.mark.slow
def test_a_declared_k_says_nothing():
    app = finish(watched("Yes, it is public", n_clusters=4))
    assert "is a default" not in read(app)
