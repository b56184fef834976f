"""Check the pseudo-code: every frame of every algorithm highlights a line, and coins light up when the ledger grows."""

import pytest

from dpviz.algorithms import ALGORITHMS, lines_of
from dpviz.algorithms.pseudocode import Line
from dpviz.figures import pane
from dpviz.figures.code import listing, lit, price
from dpviz.takeaway.page import view_of
from tests.traces import OPTIONS, on_two_groups


def film(trace):
    """Return the events of a run of which nothing is hidden from the reader, by frame."""
    view = view_of(trace)
    return pane(trace).events(view, pane(trace).shots(trace))


def lit_of(trace, lines):
    return lit(trace, lines, [[event.kind for event in told] for told in film(trace)])


ELSEWHERE = {  # lines that these runs never reach, because they need few rows or other parameters
    "how far out do rows lie? A noisy histogram",
    "with few rows: how far do most of them reach?",
    "if k is given: k-means on the averages",
    "do a few cells hold nearly all rows? Then boxes",
}


def runs(slug):
    options = [on_two_groups(slug, 2, **OPTIONS[slug])] if slug in OPTIONS else []
    return [on_two_groups(slug, 2), *options, on_two_groups(slug, 6)]


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_every_frame_lights_lines_and_every_line_is_lit_somewhere(slug):
    lines, seen = ALGORITHMS[slug].CODE, set()
    for trace in runs(slug):
        frames = lit_of(trace, lines)
        titles = [shot.sentence for shot in pane(trace).shots(trace)]
        assert len(frames) == len(titles)
        for frame, title in zip(frames, titles, strict=True):
            assert frame and all(1 <= len(now) <= 5 for now in frame), title
        seen |= {number for frame in frames for now in frame for number in now}
    heads = {number for number, line in enumerate(lines) if line.text.endswith(":")}
    assert not heads & seen
    unlit = {lines[number].text.strip() for number in set(range(len(lines))) - heads - seen}
    assert unlit <= ELSEWHERE


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_a_coin_is_lit_wherever_something_is_released(slug):
    lines = ALGORITHMS[slug].CODE
    for trace in runs(slug):
        releases = [shot.releases for shot in pane(trace).shots(trace)]
        for i, (frame, told) in enumerate(zip(lit_of(trace, lines), film(trace), strict=True)):
            new = {entry.label for entry in trace.ledger[releases[i - 1] if i else 0 : releases[i]]}
            assert new - {"scatter"} <= {lines[number].label for now in frame for number in now}, (i, new)
            for now, event in zip(frame, told, strict=True):
                paid = event.pays > 0 and new - {"scatter"}
                assert not paid or any(lines[number].label for number in now), (i, event.kind)


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_lines_name_events_of_their_own_films(slug):
    lines = ALGORITHMS[slug].CODE
    told = {event.kind for trace in runs(slug) for events in film(trace) for event in events}
    assert {kind for line in lines for kind in line.events} <= told


def test_lines_follow_moments_and_released_values():
    trace = runs("pe-means")[0]
    lines = (
        Line("start", ("generation",), at=("first",)),
        Line("loop:", ("generation",)),
        Line("read", ("generation",), "votes"),
        Line("never", ("generation",), given="centreless"),
        Line("always", ("generation",), given="not centreless", at=("before",)),
        Line("again", ("generation",), at=("later",)),
        Line("end", ("generation",), at=("end",)),
    )
    frames = lit_of(trace, lines)
    assert frames[:6] == [[[0, 4]], [[2], [2]], [[], []], [[4, 5]], [[2], [2]], [[], []]]
    assert frames[-1] == [[6], [6]]


def test_lines_follow_the_events_of_a_film():
    trace = runs("pe-means")[0]
    frames = lit_of(trace, ALGORITHMS["pe-means"].CODE)
    assert frames[:3] == [[[0]], [[2], [2]], [[3], [4]]]
    trace = runs("dpm")[0]
    whole, score, pick, count = lit_of(trace, ALGORITHMS["dpm"].CODE)[0]
    assert (whole, score, pick, count[0]) == ([0, 4], [2], [3], 4)


def test_a_coin_tells_its_price_and_free_lines_have_none():
    trace = runs("pe-means")[0]
    page = listing(trace, ALGORITHMS["pe-means"].CODE)
    assert page.count("<li") == len(ALGORITHMS["pe-means"].CODE) and page.count('class="coin"') == 2
    assert price(trace, "votes").endswith("alone, this would cost ε 4 of 4")
    assert 'aria-label="Reads rows, at most 23 times' in page
    assert "coin" not in listing(runs("kmeans")[0], ALGORITHMS["kmeans"].CODE)


def test_a_run_that_another_algorithm_took_over_shows_that_ones_lines():
    trace = on_two_groups("dist-dp-region-means", 2, rho_distance=0.8, epsilon=0.5)
    lines = lines_of(trace.algorithm, {step.kind for step in trace.steps})
    assert lines == ALGORITHMS["nsm"].CODE
    assert all(all(frame) for frame in lit_of(trace, lines))
