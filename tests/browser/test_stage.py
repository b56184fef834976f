"""Check the stage without a dashboard: steps, motion, difficult figures, and figures that it leaves to Plotly."""

import json
from importlib.resources import files

import pytest
from playwright.sync_api import expect

from dpviz.figures.kit.layers import tint
from dpviz.figures.kit.theme import DARK, LIGHT, SLOTS
from tests.browser.stage_page import open_stage, show

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

AXIS = {"zeroline": False, "range": [0, 10]}
EDGES = {"l": 40, "r": 10, "t": 30, "b": 30}
LAYOUT = {"showlegend": False, "height": 240, "margin": EDGES, "xaxis": AXIS, "yaxis": AXIS}
PANEL = "document.querySelector('.dpviz-stage').panel"
INK = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
    const {width, height} = canvas, seen = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    const colors = new Set();
    for (let i = 0; i < seen.length; i += 4) if (seen[i + 3]) colors.add(seen.slice(i, i + 3).join());
    return colors.size;
})"""


def dots(x, y, **more):
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": {"color": "#ff0000", "size": 10}, **more}


def figure(data, frames=(), **layout):
    return {"data": data, "layout": {**LAYOUT, **layout}, "frames": list(frames)}


def walk(n):
    """Return a figure with n steps, in which a dot moves from left to right."""
    frames = [{"name": str(i), "group": str(i), "traces": [0], "data": [dots([10 * i / n], [5])]} for i in range(n)]
    return figure([dots([10], [5])], frames)


@pytest.fixture
def page(browser):
    errors = []
    found = open_stage(browser, errors=errors)
    yield found
    found.close()
    assert errors == []


@pytest.mark.parametrize(
    "hard",
    [
        figure([]),
        {"data": [], "layout": {"showlegend": False}, "frames": []},
        figure([dots([], [])]),
        figure([dots([None], [None])]),
        figure([dots([None, 5.0], [5.0, None])], xaxis={"zeroline": False}, yaxis={"zeroline": False}),
        figure([dots([5], [5])], xaxis={"zeroline": False}, yaxis={"zeroline": False}),
        figure([{"type": "heatmap", "z": [[None]], "colorscale": [[0, "#fff"], [1, "#000"]], "showscale": False}]),
        figure([{"type": "bar", "x": [1], "y": [0]}]),
        figure([dots([i % 141 / 14.1 for i in range(20_000)], [i / 2_000 for i in range(20_000)])]),
        walk(600),
    ],
    ids="nothing bare empty none nan one cell flat many long".split(),
)
def test_a_hard_figure_is_no_blank_panel(page, hard):
    show(page, hard)
    assert page.evaluate(INK)[0] > 2  # colors of the background, of axes or words, and of any marks
    if hard["frames"]:
        page.evaluate(f"for (let i = 0; i < 600; i++) {PANEL}.show(i)")
        assert page.evaluate(f"{PANEL}.stage.drawn") == 599


def test_a_mark_over_the_edge_is_drawn_whole_and_one_beyond_it_not_at_all(page):
    show(page, *(figure([dots([5], [y], cliponaxis=False)]) for y in (5, 10, 11)))
    red = """() => [...document.querySelectorAll("canvas")].map((canvas) => {
        const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return seen.filter((_, i) => i % 4 === 0 && seen[i] > 200 && seen[i + 1] < 60).length;
    })"""
    inside, edge, beyond = page.evaluate(red)
    assert edge > 0.8 * inside > 50 and beyond == 0  # a mark cut in half would have fewer pixels


def test_titles_of_a_narrow_picture_are_not_cut(browser):
    page = open_stage(browser)
    page.add_style_tag(content="body > div { width: 300px !important }")
    long = {"text": "direction 1 of all centers (width and others)"}
    above = {"text": "31 noisy points and 4 corrections give 3 centers", "x": 0.02, "xanchor": "left", "pad": {"t": 4}}
    layout = {"title": above, "margin": {**EDGES, "l": 70, "b": 50}}
    show(page, figure([dots([5], [5])], **layout, xaxis={**AXIS, "title": long}, yaxis={**AXIS, "title": long}))
    edges = page.evaluate(
        """() => [...document.querySelectorAll("canvas")].map((canvas) => {
            const {width, height} = canvas, c = canvas.getContext("2d");
            const ink = (...box) => c.getImageData(...box).data.some((value, i) => i % 4 === 3 && value > 0);
            return [ink(0, 0, 1, height), ink(width - 1, 0, 1, height), ink(0, 0, width, 1)];
        })"""
    )
    page.close()
    assert edges and not any(map(any, edges))


def test_marks_move_between_steps_and_jump_where_motion_is_reduced(browser, page):
    show(page, walk(2))
    seen = page.evaluate("""() => drawn(async (stage) => {
        stage.show(0);
        stage.show(1, 200);
        while (stage.tick) await new Promise(requestAnimationFrame);
    })""")
    seen = [round(x) for x in seen]
    assert seen == sorted(seen) and len(set(seen)) > 2 and (seen[0], seen[-1]) == (40, 265)


def test_a_meter_stands_where_what_is_paid_puts_it_and_shows_nothing_before_the_first_payment(page):
    meter = walk(3)
    meter["layout"]["meta"] = {"meter": True}
    show(page, meter)
    events = [[{"ms": 100}], [{"ms": 500, "pays": 0}, {"ms": 100, "pays": 0.1}, {"ms": 300, "pays": 0.3}], [{"ms": 9}]]
    place = """async ([events, at]) => {
        const {stage} = document.querySelector(".dpviz-stage").panel;
        const reel = new S.Reel(events, false, (step, moment) => stage.moment(step, moment));
        return [...new Set(await drawn(() => reel.go(at)))];
    }"""
    x = [page.evaluate(place, [events, at]) for at in (0, 0.3, 5.5 / 9, 7.5 / 9, 1)]
    assert x[0] == x[1]  # nothing is paid while the first event happens
    shares = [(one[0] - x[0][0]) / (x[4][0] - x[0][0]) for one in x[1:]]
    assert shares == pytest.approx([0, 0.125, 0.625, 1], abs=0.01)
    waits = [[{"ms": 100, "pays": 0}, {"ms": 100}], *events[1:]]
    assert page.evaluate(place, [waits, 0]) == x[0]
    assert page.evaluate(place.replace("events, false", "events, true"), [waits, -0.7]) == []


def test_of_several_events_without_acts_one_moves_the_marks(page):
    told = walk(3)
    told["layout"]["meta"] = {"film": [[{"head": "a", "tail": "", "ms": 100, "pays": i} for i in (0, 1, 0)]] * 3}
    show(page, told)
    places = """() => drawn((stage) => {
        for (const event of [0, 1, 2]) for (const share of [0.2, 0.4]) stage.seek(2, event, share);
    })"""
    first, second, third, fourth, fifth, sixth = page.evaluate(places)
    assert first == second < third < fourth < fifth == sixth


def test_a_figure_that_the_canvas_cannot_draw_is_left_to_plotly_and_still_steps(page):
    pie = {"type": "pie", "values": [1, 2], "labels": ["a", "b"]}
    odd = walk(3)
    odd["data"].append(pie)
    new = figure([dots([1], [1], selectedpoints=[0])])  # an attribute that the canvas does not support
    show(page, odd, new, walk(3))
    expect(page.locator(".dpviz-look.only .main-svg").first).to_be_visible()
    assert page.evaluate("[...document.querySelectorAll('.dpviz-stage')].map(r => r.panel.lacking)") == [
        "trace pie", "scatter selectedpoints", ""
    ]  # fmt: skip
    page.evaluate(f"{PANEL}.show(0)")
    page.wait_for_function("() => document.querySelector('.dpviz-look').data[0].x[0] === 0")
    assert page.locator("canvas:visible").count() == 1


def test_who_looks_closely_sees_plotly_at_the_same_step_until_the_next_one(page):
    show(page, walk(5))
    page.evaluate(f"{PANEL}.show(2)")
    assert page.evaluate("typeof Plotly") == "undefined"
    page.mouse.move(200, 120)
    expect(page.locator(".dpviz-look .main-svg").first).to_be_visible()
    assert page.evaluate("document.querySelector('.dpviz-look').data[0].x[0]") == 4
    page.evaluate(f"{PANEL}.show(3, {{playing: true}})")
    expect(page.locator(".dpviz-look")).to_be_hidden()
    page.evaluate(f"{PANEL}.show(3)")
    expect(page.locator(".dpviz-look .main-svg").first).to_be_visible()
    assert page.evaluate("document.querySelector('.dpviz-look').data[0].x[0]") == 6
    page.mouse.move(900, 700)
    expect(page.locator(".dpviz-look")).to_be_hidden()


def test_a_touch_screen_offers_the_camera_at_once(browser):
    page = open_stage(browser, has_touch=True, is_mobile=True)
    show(page, walk(1))
    show(page, walk(1), saved={"format": "png", "filename": "dpviz-tradeoff"})
    expect(page.locator(".dpviz-look").nth(1).locator(".modebar-btn")).to_have_count(1)
    options = page.evaluate("document.querySelectorAll('.dpviz-look')[1]._context.toImageButtonOptions")
    assert (options["format"], options["filename"]) == ("png", "dpviz-tradeoff")
    expect(page.locator(".dpviz-look").first).to_be_hidden()
    page.close()


def test_plotly_that_cannot_be_fetched_leaves_the_canvas(page):
    show(page, walk(5), plotly="http://stage.test/nothing/here")
    with page.expect_console_message(lambda message: message.type == "error"):
        page.mouse.move(200, 120)
    assert page.locator("canvas:visible").count() == 1 and page.evaluate(INK)[0] > 2


def test_forced_colors_are_the_systems(browser):
    page = open_stage(browser, forced_colors="active")
    show(page, figure([dots([5], [5], marker={"color": LIGHT.released, "size": 40})], plot_bgcolor="#FFFFFF"))
    link, ground = page.evaluate("""() => {
        const probe = document.createElement("canvas").getContext("2d");
        return ["LinkText", "Canvas"].map((name) => {
            probe.fillStyle = name;
            probe.fillRect(0, 0, 1, 1);
            return [...probe.getImageData(0, 0, 1, 1).data];
        });
    }""")
    pixel = "([x, y]) => [...document.querySelector('canvas').getContext('2d').getImageData(x, y, 1, 1).data]"
    assert page.evaluate(pixel, [265, 120]) == link and page.evaluate(pixel, [100, 60]) == ground
    page.close()


def test_marks_that_rest_during_an_event_are_drawn_once_and_look_as_if_drawn_each_time(page):
    told = walk(2)
    told["data"].insert(0, dots([2, 4, 6], [2, 2, 2], marker={"color": "#00ff00", "size": 9, "opacity": 0.5}))
    for frame in told["frames"]:
        frame.update(traces=[0, 1], data=[dots([2, 4, 6], [2, 2, 2]), *frame["data"]])
    acts = [{"layer": 0}, {"layer": 1, "at": -1, "opacity": [0.2, 0.9]}]
    event = {"head": "a", "tail": "b", "ms": 100, "acts": acts}
    told["layout"]["meta"] = {"film": [[{"head": "a", "tail": "", "ms": 100}], [event, {**event, "head": "c"}]]}
    show(page, told)
    seen = page.evaluate("""() => {
        const {stage} = document.querySelector(".dpviz-stage").panel, counts = [], looks = [];
        const to = CanvasRenderingContext2D.prototype, arc = to.arc;
        let drawn = 0;
        to.arc = function (...place) { drawn += 1; return arc.call(this, ...place); };
        const look = (event, share) => {
            drawn = 0;
            stage.seek(1, event, share);
            counts.push(drawn);
            return stage.canvas.toDataURL();
        };
        for (const share of [0.2, 0.4, 0.6]) looks.push(look(0, share));
        looks.push(look(1, 0.6));
        stage.resize(true);
        looks.push(look(0, 0.6));
        to.arc = arc;
        return [counts, looks[2] === looks[4], new Set(looks).size];
    }""")
    assert seen == [[4, 1, 1, 4, 4], True, 4]


def test_the_true_number_stands_still_before_noise_rolls_it_to_the_noisy_one(page):
    told = walk(2)
    act = {"look": 0, "to": {"x": [3], "y": [2]}, "count": [[1994], [2021]]}
    event = {"head": "a", "tail": "b", "ms": 100, "acts": [act]}
    told["layout"]["meta"] = {
        "film": [[{"head": "a", "tail": "", "ms": 100}], [event]],
        "looks": [{"mode": "text", "textfont": {"size": 17, "color": "#0000ff"}}],
    }
    show(page, told)
    seen = page.evaluate("""() => {
        const {stage} = document.querySelector(".dpviz-stage").panel, to = CanvasRenderingContext2D.prototype;
        const write = to.fillText, said = [];
        to.fillText = function (text, ...place) { said.push(text); return write.call(this, text, ...place); };
        const at = (share) => {
            said.length = 0;
            stage.seek(1, 0, share);
            return said.map((text) => Number(text.replace(",", ""))).filter((n) => n > 1000);
        };
        const seen = [0, 0.1, 0.29, 0.6, 0.7, 0.999].map(at);
        to.fillText = write;
        return seen.map(([n]) => n);
    }""")
    assert seen[:3] == [1994] * 3 and seen[-1] == 2021 and not {*seen[3:5]} & {1994, 2021}


def test_a_long_caption_stands_in_two_lines_where_one_would_be_too_small_to_read(page):
    told = walk(2)
    tail = "Iteration 1 of 5: it moves the mean of a group of middle size by 2.7 units, and now all may be published"
    events = [{"head": "Noise shakes", "tail": words, "ms": 100} for words in (tail, tail[:40], "x" * 150)]
    told["layout"]["meta"] = {"film": [[events[0]], events]}
    show(page, told)
    seen = page.evaluate("""() => {
        const {stage} = document.querySelector(".dpviz-stage").panel, to = CanvasRenderingContext2D.prototype;
        const write = to.fillText, lines = [];
        to.fillText = function (text, x, y) {
            lines.push([text, Math.round(y), parseFloat(this.font.match(/[\\d.]+px/)[0])]);
            return write.call(this, text, x, y);
        };
        const seen = [0, 1, 2].map((event) => {
            lines.length = 0;
            stage.seek(1, event, 0.5);
            return lines.filter(([text, y]) => y < 44 && text.length > 12);
        });
        to.fillText = write;
        return seen;
    }""")
    long, short, word = seen
    assert " ".join(text for text, _, _ in long) == tail and len(long) == 2 and {size for *_, size in long} == {11}
    assert [text for text, _, _ in short] == [tail[:40]] and short[0][2] == 13.5 and len(word) == 1
    assert 20 < long[0][1] < long[1][1] - 10


def test_placeholders_and_their_tints_become_the_colors_of_the_pages_mode(page):
    drawn = json.dumps(
        [SLOTS.released, tint(SLOTS.released, 0.1), SLOTS.person, tint(SLOTS.bg, 0.5), "rgba(1,2,3,0.4)"]
    )
    look = "".join(f"--{name}:{color};" for name, color in DARK.tokens().items())
    slots = (files("dpviz.figures.kit") / "slots.js").read_text(encoding="utf-8")
    page.add_style_tag(content=f":root{{{look}}}")
    assert json.loads(page.evaluate(f"(text) => {{ {slots} return inColors(text); }}", drawn)) == [
        DARK.released, tint(DARK.released, 0.1), DARK.person, tint(DARK.bg, 0.5), "rgba(1,2,3,0.4)"
    ]  # fmt: skip
