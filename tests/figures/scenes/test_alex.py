"""Check the conclusions in the captions of Alex's two worlds against distances computed here."""

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.figures.scenes.alex import lens_of, lens_panel, worlds_panel
from dpviz.runs.alex import Alex, clouds, worlds


@pytest.mark.parametrize("name", ["tiny", "ring", "town"])
@pytest.mark.parametrize("slug", ["sulloyd", "dpm"])
def test_captions_say_what_alex_changes(name, slug):
    data = load(name)
    alex, algorithm = Alex(data.X[3], 3), ALGORITHMS[slug](n_clusters=2)
    found = worlds(data, algorithm, alex, 3)
    trace = algorithm.run(data.X, domain=data.domain, seed=3)
    view = View(trace, LIGHT, (0, 1), data.columns, data.units)
    ones = found.here.one, found.there.one
    many = [some.centers for some in clouds(data, algorithm, alex, range(4, 6))]
    plane = worlds_panel(view, alex.place, found.moved, ones, many, (found.here.kmeans, found.there.kmeans))
    title = plane.figure.layout.title.text
    early = worlds_panel(view, alex.place, found.moved, ones, ((), ()), (found.here.kmeans, found.there.kmeans))
    assert early.figure.layout.title.text == title and len(early.figure.frames) == len(plane.figure.frames) == 5
    if len(ones[0]) != len(ones[1]):
        assert f": {len(ones[0])} center" in title and title.endswith(f"{len(ones[1])} without Alex")
    elif len(ones[0]) == 2:
        ours, theirs = (data.domain.normalize(centers) for centers in ones)
        either = (np.linalg.norm(ours - order, axis=1) for order in (theirs, theirs[::-1]))
        far = min(either, key=sum).max()
        assert title == f"With the same noise, Alex moves centers by up to {data.domain.length(far, 2)}"
    lens = lens_of(view, (found.here.kmeans, found.there.kmeans))
    shift = np.linalg.norm((lens.here - lens.there) / data.domain.half_width)
    panel = lens_panel(view, lens, [(lens.here, [])])
    assert panel.figure.layout.title.text == f"Alex moves a KMeans center by {data.domain.length(shift, 2)}"
    assert f"{lens.times:,} : 1" in panel.figure.layout.xaxis.title.text
