"""Check runs side by side: one clock for steps or spent ε, planes with equal ranges, and numbers of the last step."""

import dataclasses
import json
import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import columns, pane
from dpviz.figures.compare import curve_table, curves_panel, planes, timeline
from dpviz.figures.kit.panels import spend_table
from dpviz.figures.kit.theme import DARK, LIGHT
from dpviz.figures.kit.view import View
from dpviz.postprocessing.beside import partners
from dpviz.postprocessing.bound import Bound
from tests.traces import trace as run_of

TOWN = load_sample("town")


@pytest.fixture(scope="module")
def traces():
    return {
        slug: ALGORITHMS[slug](n_clusters=5).run(TOWN.X, domain=TOWN.domain, seed=0)
        for slug in ("pe-means", "nsm", "dpm", "kmeans", "dist-dp-random-points", "hdpe-means")
    }


def clock_of(runs, by):
    views = [View(run, LIGHT, (0, 1), TOWN.columns, TOWN.units) for run in runs]
    films = [panel.figure.meta["film"] for panel in planes(views, partners(runs), height=400)]
    return timeline(runs, by, films), films


@pytest.mark.slow
def test_by_step_a_shorter_run_stays_at_its_end(traces):
    clock, films = clock_of([traces["nsm"], traces["kmeans"]], "step")
    n, m = (len(pane(traces[slug]).shots(traces[slug])) for slug in ("nsm", "kmeans"))
    assert clock.ticks == max(n, m)
    assert clock.frames == tuple(tuple(min(t, k - 1) for t in range(clock.ticks)) for k in (n, m))
    assert clock.titles[0].startswith("A: ")
    for own, frames, film in zip(clock.ends, clock.frames, films, strict=True):
        assert list(own) == [sum(map(len, film[: frame + 1])) for frame in frames]


@pytest.mark.slow
def test_by_event_every_tick_ends_the_next_event_of_each_film_that_goes_on(traces):
    runs = [traces["pe-means"], traces["dpm"], traces["kmeans"]]
    clock, films = clock_of(runs, "event")
    json.dumps(dataclasses.astuple(clock))  # plain numbers, which a page can send
    told = [[event for events in film for event in events] for film in films]
    assert clock.ticks == max(map(len, told))
    assert clock.ends == tuple(tuple(min(t + 1, len(own)) for t in range(clock.ticks)) for own in told)
    for tick, (ms, title) in enumerate(zip(clock.ms, clock.titles, strict=True)):
        assert ms == max(own[tick]["ms"] for own in told if tick < len(own))
        for letter, own in zip("ABC", told, strict=True):
            assert f"{letter}: {own[min(tick, len(own) - 1)]['says'].split(' · ')[0]}" in title
    for run, frames, film, spent in zip(runs, clock.frames, films, clock.spent, strict=True):
        assert (frames[-1], list(frames)) == (len(film) - 1, sorted(frames))
        assert math.isnan(spent[-1]) or spent[-1] == pytest.approx(run.spent.epsilon)


@pytest.mark.slow
def test_by_what_is_spent_nobody_shows_more_than_the_tick_allows(traces):
    runs = [traces["pe-means"], traces["nsm"], traces["dpm"]]
    clock, _ = clock_of(runs, "spent")
    spent = np.array(clock.spent)
    levels = [float(title.split("ε ")[1].split(" ")[0]) for title in clock.titles]
    assert (np.diff(spent, axis=1) >= 0).all()
    assert np.allclose(levels, spent.max(axis=0), rtol=5e-3)
    for run, own, frames in zip(runs, spent, clock.frames, strict=True):
        table, counts = spend_table(run).epsilon.to_numpy(), [shot.releases for shot in pane(run).shots(run)]
        assert [0.0 if f < 0 else table[counts[f]] for f in frames] == own.tolist()
        for tick, frame in enumerate(frames[:-1]):  # the run's next picture would exceed the ε spent at this tick
            later = counts[frame + 1] if frame + 1 < len(counts) else None
            assert later is None or table[later] > spent[:, tick].max() * (1 + 1e-12)
        assert frames[-1] == len(counts) - 1
        assert own[-1] == pytest.approx(run.spent.epsilon)


def test_a_run_that_begins_dearer_waits_and_one_without_a_promise_shows_its_end(traces):
    clock, _ = clock_of([traces["pe-means"], traces["dist-dp-random-points"], traces["kmeans"]], "spent")
    assert clock.frames[1][0] == -1 and clock.spent[1][0] == 0 and clock.releases[1][0] == 0
    assert "B has not begun: its first picture costs ε 1" in clock.titles[0]
    assert set(clock.frames[2]) == {len(traces["kmeans"].steps) - 1} and all(map(math.isnan, clock.spent[2]))


def test_planes_have_the_same_ranges_and_numbers_in_the_last_frame_only(traces):
    runs = [traces["pe-means"], traces["dpm"], traces["hdpe-means"]]
    views = [View(trace, LIGHT, (0, 1), TOWN.columns, TOWN.units) for trace in runs]
    found = [panel.figure.to_dict() for panel in planes(views, partners(runs), height=400)]
    for axis in ("xaxis", "yaxis"):
        assert len({tuple(figure["layout"][axis]["range"]) for figure in found}) == 1
    for figure, trace, (numbers, words) in zip(found, runs, partners(runs), strict=True):
        frames = figure["frames"]
        assert len(frames) == len(pane(trace).shots(trace))
        at = [trace["name"] for trace in figure["data"]].index("place")
        assert LIGHT.panel in figure["data"][at]["textfont"]["shadow"]  # legible over marks
        texts = [frame["data"][frame["traces"].index(at)].get("text") for frame in frames]
        assert texts[:-1] == [None] * (len(frames) - 1)
        assert texts[-1] == [f"<b>{number}</b>" for number in numbers if number]
        alone = [word for word in words if word]
        assert figure["data"][at + 2]["text"] == (alone if len(alone) <= 4 else [""] * len(alone))
        assert frames[-1]["group"] not in [frame["group"] for frame in frames[:-1]]


def test_runs_on_pictures_stand_as_pictures_with_the_numbers_of_their_partners():
    digits = load_sample("digits")
    runs = [run_of("dpm", "digits"), run_of("fastlloyd", "digits", n_clusters=3)]
    fields = {"columns": digits.columns, "units": digits.units, "picture": digits.picture}
    assert columns(digits, *runs) is None
    views, found = [View(trace=run, colors=LIGHT, axes=None, **fields) for run in runs], partners(runs)
    for panel, (numbers, words) in zip(planes(views, found, height=400), found, strict=True):
        *_, before, last = panel.figure.to_dict()["frames"]
        assert panel.figure.to_dict()["data"][0]["type"] == "heatmap" and before["data"] != last["data"]
        shown = last["data"][-1]["text"]
        assert [text.strip("</b>") for text, number in zip(shown, numbers, strict=True) if number] == [
            *filter(None, numbers)
        ]
        assert any(numbers) and {text for text, word in zip(shown, words, strict=True) if word} <= {
            "only in A",
            "only in B",
        }


def test_the_curves_are_the_bounds():
    bounds = {"A": Bound(mu=1.0), "B": Bound(lines=((1.0, 0.0),))}
    table = curve_table(bounds)
    for run, own in table.groupby("run"):
        assert np.array_equal(own.miss, bounds[run].miss(own.false_alarm.to_numpy()))
    for colors in (LIGHT, DARK):
        panel = curves_panel(colors, bounds)
        assert [trace.name for trace in panel.figure.data if trace.mode == "lines"] == ["coin", "A", "B"]
        assert panel.alt.endswith("A 70 of 100 bets; B 74 of 100 bets.")
