"""Check the labels of groups without a center: no two overlap, and all stay inside the picture."""

import numpy as np
import pytest

from dpviz.figures.kit.rings import LETTER, LINE, SIDES, WIDE, places

LOW, HIGH = np.array([-10.0, -10.0]), np.array([10.0, 10.0])


def boxes(middle, width, text, sides):
    """Yield the box (low corner, high corner) of each label, in pixels on a phone."""
    scale = WIDE / 20
    for place, radius, words, side in zip(middle, width, text, sides, strict=True):
        half = np.array([LETTER * len(words), LINE]) / 2
        at = scale * place + scale * radius * np.array(SIDES[side]) + half * np.sign(SIDES[side])
        yield at - half, at + half


def overlap(one, other):
    return bool((np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]) > 0.01).all())


@pytest.mark.parametrize(
    "middle",
    [
        [[0, 0], [1.5, 0], [3, 0.5]],  # labels above these three groups would run together into one line
        [[0, 0], [0, 1.2], [0, -1.2]],
        [[8, 8.6], [-8.5, 8.4]],  # groups at the upper edge
    ],
)
def test_labels_lie_on_nothing(middle):
    middle = np.array(middle, dtype=float)
    width, text = np.full_like(middle, 0.6), ["746 rows", "1,020 rows", "12 rows"][: len(middle)]
    found = list(boxes(middle, width, text, places(middle, width, text, np.empty((0, 2)), LOW, HIGH)))
    top = HIGH * WIDE / 20
    for i, one in enumerate(found):
        assert (one[1] <= top + 0.01).all()
        assert not any(overlap(one, other) for other in found[:i])


def test_a_label_keeps_off_centers_and_stands_above_where_there_is_room():
    alone, width = np.zeros((1, 2)), np.ones((1, 2))
    assert places(alone, width, ["60 rows"], np.empty((0, 2)), LOW, HIGH) == ["top center"]
    assert places(alone, width, ["60 rows"], np.array([[0.0, 1.5]]), LOW, HIGH) == ["bottom center"]
