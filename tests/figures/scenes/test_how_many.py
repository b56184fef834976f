"""Check the pictures of what rows say about k: every value at its k, tagged, with the visitor's own k larger."""

from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes.how_many import agreement_panel, loss_panel


def test_every_value_stands_at_its_k_and_the_own_k_is_larger():
    values = [1.0, 0.4, 0.25]
    for panel in (loss_panel(LIGHT, values, 2), agreement_panel(LIGHT, values, 0.9, 2)):
        (curve,) = panel.figure.data
        assert list(curve.x) == [1, 2, 3] and list(curve.y) == values and list(curve.marker.size) == [8, 13, 8]
        assert any("NOT PRIVATE" in note.text for note in panel.figure.layout.annotations)
    assert loss_panel(LIGHT, values, 2).alt == "The loss falls to 25% at k = 3."
    assert agreement_panel(LIGHT, values, 0.9, 2).alt == "Agreement of halves: 0.4, 0.25 for k = 2 to 3."
    (line,) = agreement_panel(LIGHT, values, 0.9, 2).figure.layout.shapes
    assert line.y0 == line.y1 == 0.9
