"""Check a released coreset on Explore: it yields centers for any k at no further cost."""

import pytest

from tests.pages.pictures import pictures
from tests.pages.visitor import visit, wait_for_run


@pytest.mark.slow
def test_the_page_answers_for_any_k_spends_nothing_and_keeps_the_answer_in_its_address():
    app = wait_for_run(visit("explore", "v=1&d=town&a=stemmer-kaplan&k=5&e=1&s=0&any=1&anyk=9"))

    def words():
        return next(block.proto.body for block in app.get("html") if "weighted points" in block.proto.body)

    before = words()
    assert "17 releases" in before and "9 centers of" in " ".join(pictures(app))
    slider = next(slider for slider in app.slider if slider.label == "Number of centers, from the released points")
    slider.set_value(7).run()
    app.segmented_control(key="explore_coreset_cost_k-means").set_value("k-median").run()
    assert not app.exception and words() == before.replace("k-means", "k-median")
    assert "7 centers of" in " ".join(pictures(app))
    assert app.session_state["kept"][1].endswith("&any=1&anyk=7&cost=k-median")
