"""Check DP-DBSCAN on Explore and Compare: regions have their own words, and no loss is shown."""

from tests.pages.visitor import visit, wait_for_run, words


def test_regions_are_told_in_their_own_words():
    app = wait_for_run(visit("explore", "v=1&d=moons&a=dp-dbscan&e=1&s=0"))
    assert not app.exception and "dp-dbscan" in app.session_state["shown"]
    shown, folds = words(app), [box.label for box in app.expander]
    assert "2 regions" in shown and "adjusted Rand index" in shown and "× KMeans" not in shown
    assert "Middles of the regions in numbers" in folds
    assert "From the released counts of cells, at no cost." in shown, "what sets regions apart"
    assert "Cluster 2: " in shown and "Cluster 3: " not in shown
    assert "explore_explain_ask" not in [button.key for button in app.button]
