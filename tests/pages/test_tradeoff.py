"""Check the Trade-off page: stored runs, sweeps, links, own files and made-up people."""

import dataclasses
import json
import threading
import time
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import cells, files
from dpviz.atlas.cells import Chapter
from dpviz.datasets import load_sample
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.scenes import tradeoff
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.spec import sweep_of
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import Sweep, Variant, execute
from pages._ui.explore.tradeoff import form, sweeps, take, vary, view
from pages._ui.explore.tradeoff.sweeps import Progress, shelf
from pages._ui.explore.workspace.tradeoff import tradeoff as tradeoff_controls
from pages._ui.frame.address import scene
from pages._ui.work import atlas
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.recent import Recent
from pages._ui.work.results import Result
from pages._ui.work.workers import SWEEPERS
from tests.algorithms.test_knobs import KNOBS
from tests.pages.pictures import panels
from tests.pages.visitor import new_app, read, visit, wait
from tests.sweeps.handmade import rows, runs


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Let the page find no stored runs."""
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    sweeps.stored.cache_clear()
    return tmp_path


@pytest.fixture
def app(bare):
    return new_app().run().switch_page("pages/tradeoff.py").run()


STORED = (Chapter("tiny", "kmeans"), Chapter("tiny", "dp-lloyd"))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    place = tmp_path_factory.mktemp("atlas")
    for chapter in STORED:
        first = cells.row(chapter.cells()[0])
        again = [first | {"epsilon": cell.epsilon, "seed": cell.seed} for cell in chapter.cells()]
        files.write(chapter, again, place)
    return place


@pytest.fixture
def stored(monkeypatch, shipped):
    """Let the page find stored runs of DP-Lloyd on the sample "tiny"."""
    monkeypatch.setattr(atlas, "FOLDER", shipped)
    files.read.cache_clear()
    sweeps.stored.cache_clear()


def opened(query):
    return visit("tradeoff", query)


def starts(app):
    return [button.label for button in app.button if button.label.startswith("Start")]


def test_the_page_opens_finished_where_all_runs_are_stored(stored, monkeypatch):
    monkeypatch.setattr(sweeps, "start", lambda *asked: pytest.fail("nothing is missing"))
    app = opened("v=1&d=tiny&a=dp-lloyd")
    assert not app.exception and starts(app) == [] and not app.session_state["sweep"]
    (figure,) = [json.loads(panel["figure"]) for panel in panels(app) if "curves" in panel["key"]]
    assert len(figure["layout"]["xaxis"]["ticktext"]) == len(form.STOPS)
    assert "of KMeans." in read(app) or "times KMeans" in read(app)  # its conclusion
    assert "How much ε do I need?" in [head.value for head in app.header]
    app.button_group(key="sweep_epsilon").set_value([0.5, 2.0]).run()  # the control filters the stored runs
    (figure,) = [json.loads(panel["figure"]) for panel in panels(app) if "curves" in panel["key"]]
    assert not app.exception and starts(app) == []
    assert len(figure["layout"]["xaxis"]["ticktext"]) == 2


@pytest.mark.slow
def test_the_picture_it_opens_with_is_made_before_anybody_comes(monkeypatch):
    sweeps.everybodys.cache_clear()
    import_module("app").draw_ahead()
    assert not opened("").exception
    found = sweeps.everybodys.cache_info()
    assert (found.misses, found.currsize) == (1, 1) and found.hits


def test_a_server_starts_without_stored_runs(stored, bare):
    sweeps.everybodys.cache_clear()
    import_module("app").draw_ahead()


@pytest.mark.slow
def test_the_sweep_follows_the_current_run_and_gives_it_back(app):
    app.session_state["explore_algorithm"], app.session_state["param_nsm_n_clusters_tiny"] = (
        "nsm",
        3.0,
    )  # a float, as its field stores it
    app.session_state["explore_data"] = "tiny"
    app.run()
    assert not app.exception and app.multiselect(key="sweep_data").value == ["tiny"]
    first, *others = app.multiselect(key="sweep_algorithms").value
    assert first == "nsm" and set(others) == set(form.FIRST) - {"nsm"}
    assert app.text_input(key="sweep_k").value == "3"
    app.text_input(key="sweep_k").set_value("4").run()
    assert app.session_state["param_nsm_n_clusters_tiny"] == 4 and app.text_input(key="sweep_k").value == "4"
    app.multiselect(key="sweep_algorithms").set_value(["dpm", "pe-means"]).run()
    assert app.session_state["explore_algorithm"] == "dpm" and app.session_state["param_dpm_n_clusters_tiny"] == 4
    assert app.multiselect(key="sweep_algorithms").value == ["dpm", "pe-means"]


def test_only_missing_runs_are_made(stored, monkeypatch):
    asked = []
    monkeypatch.setattr(sweeps, "perform", lambda sweep, done, engine: asked.append((sweep, done)) or (x for x in ()))
    app = opened("v=1&d=tiny&a=dp-lloyd&a=glloyd")
    assert not app.exception and starts(app) == [f"Start {9 * 20} missing runs"]
    assert any("curves" in panel["key"] for panel in panels(app))  # the page shows the stored runs
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    assert not app.exception and shelf().get(app.session_state["sweep"]).job.wait(60)
    ((sweep, done),) = asked
    assert {run.algorithm for run in sweep.runs() if run.key not in done} == {"glloyd"}
    assert len(done) == 1 + 9 * 20


def test_an_address_of_a_sweep_that_is_gone_says_so_until_the_form_changes(stored):
    app = opened("v=1&d=tiny&a=dp-lloyd&sweep=no-such-sweep")
    assert not app.exception and any("no longer has the sweep" in info.value for info in app.info)
    assert panels(app)
    app.button_group(key="sweep_epsilon").set_value([0.5, 2.0]).run()
    assert not app.exception and not any("no longer has" in info.value for info in app.info)


def test_the_forecast_counts_what_is_missing_alone(stored):
    one = sweep_of({"data": "sample:tiny", "algorithms": ["dp-lloyd", "glloyd"], "epsilon": [0.5, 1], "repeats": 3})
    app = opened("v=1&d=tiny&a=dp-lloyd&a=glloyd&e=0.5&e=1&runs=3")
    assert "6 runs, " in read(app) and "6 already exist." in read(app)
    assert len(list(one.runs())) == 13


def test_the_number_of_runs_is_that_behind_the_table_without_the_reference(bare):
    app = opened("v=1&d=tiny&a=dp-lloyd&a=glloyd&e=0.5&e=1&runs=3")
    assert starts(app) == ["Start this sweep"] and "12 runs, " in read(app) and "13 runs" not in read(app)


def test_a_sweep_of_which_the_reference_alone_is_stored_has_no_run_yet(stored):
    app = opened("v=1&d=tiny&a=glloyd&e=0.5&e=1&runs=3")
    assert starts(app) == ["Start this sweep"] and "6 runs, " in read(app) and "exist" not in read(app)


def test_distances_are_offered_in_the_unit_of_the_data_and_the_address_keeps_half_widths(bare):
    app = opened("v=1&d=town&a=dist-dp&e=1&runs=2&rho=0.05")
    field = app.button_group(key="sweep_rho")
    assert not app.exception and field.value == [0.05] and "600 m" in field.options
    app = opened("v=1&d=town&d=iris&a=dist-dp&e=1&runs=2&rho=0.05")  # two units
    assert "0.05" in app.button_group(key="sweep_rho").options


@pytest.mark.slow
def test_a_missing_atlas_is_said_once_and_the_page_works(bare):
    app, said = new_app().run(), []
    for page in ("home", "tradeoff", "limits", "tradeoff"):
        app.switch_page(f"pages/{page}.py").run()
        said.append(read(app).count("computed on request"))
    assert not app.exception and said == [1, 0, 0, 0]
    assert starts(app) == ["Start this sweep"]


def test_damaged_stored_runs_are_said_and_the_page_works_without_them(stored, shipped, tmp_path, monkeypatch):
    for path in shipped.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    app = opened("v=1&d=tiny&a=dp-lloyd")
    assert not app.exception and read(app).count("computed on request") == 1
    assert starts(app) == ["Start this sweep"] and not panels(app)


def own(title, token, *, private):
    return dataclasses.replace(load_sample("tiny"), dataset_id=token, title=title, private=private)


def opened_with(data, **more):
    """Open the page in a session whose data set is a file of the visitor's own."""
    return visit("tradeoff", own={data.dataset_id: data}, explore_data=data.dataset_id, **more)


@pytest.mark.slow
def test_nothing_of_a_file_is_looked_up_in_the_atlas_or_stored_there(stored, shipped, monkeypatch):
    asked, before = [], sorted((path.name, path.read_bytes()) for path in shipped.iterdir())
    read = files.read
    monkeypatch.setattr(
        files, "read", lambda sample, *more, **named: asked.append(sample) or read(sample, *more, **named)
    )
    monkeypatch.setattr(sweeps, "start", lambda *asked: None)
    for private in (True, False):
        for title in ("tiny", "sample:tiny", "Mine"):  # a file may have any name
            app = opened_with(own(title, "f00d", private=private))
            assert not app.exception
            if not private:
                assert app.multiselect(key="sweep_data").value == ["f00d"]
                assert not panels(app)  # The sample with the same title has no picture.
    assert set(asked) <= {"town"}  # The page shows a sample instead of a private file.
    assert sorted((path.name, path.read_bytes()) for path in shipped.iterdir()) == before


def test_an_own_public_file_starts_by_itself_once_and_a_private_one_never(bare, monkeypatch):
    begun, it = [], sweeps.Shelf()
    it.archive = None
    monkeypatch.setattr(sweeps, "shelf", lambda: it)
    monkeypatch.setattr(sweeps, "start", lambda sweep, title: begun.append(sweep))
    monkeypatch.setattr(sweeps, "expected", lambda runs: None)

    assert not opened_with(own("Mine", "f00d", private=True)).exception and not begun
    app = opened_with(own("Mine", "f00d", private=False))
    assert not app.exception and len(begun) == 1 and begun[0].epsilon == form.STOPS
    app.number_input(key="sweep_repeats").set_value(5).run()
    assert len(begun) == 1  # further sweeps start only on request
    monkeypatch.setattr(sweeps, "CHEAP", 0.0)
    app = opened_with(own("Mine", "f00d", private=False))
    assert len(begun) == 1 and starts(app) == ["Start this sweep"]


@pytest.mark.slow
def test_the_page_says_what_to_do_what_it_costs_and_refuses_bad_input(app):
    assert not app.exception and "A sweep runs every chosen algorithm" in read(app)
    assert "would together spend" in read(app)
    for key, text, said in [
        ("sweep_k", "two", "Centers k must be numbers, separated by commas"),
        ("sweep_k", "0", "Centers k must be at least 1; got 0. No sweep was started."),
        ("sweep_delta", "2", "Delta δ must be at most 0.5"),
    ]:
        app.text_input(key=key).set_value(text).run()
        assert not app.exception and any(said in error.value for error in app.error), said
        assert not any(b.label.startswith("Start") for b in app.button)
        app.text_input(key=key).set_value("").run()
    app.multiselect(key="sweep_algorithms").set_value([]).run()
    assert any("Algorithms must have at least one value" in error.value for error in app.error)


@pytest.mark.slow
def test_any_parameter_and_any_preset_can_be_chosen_and_bad_values_are_one_sentence(app):
    app.multiselect(key="sweep_algorithms").set_value(["fastlloyd", "sulloyd"]).run()
    app.multiselect(key="sweep_vary").set_value(["alpha", "boundary"]).run()
    app.text_input(key="sweep_vary_alpha").set_value("0.4, 0.8, 1.6").run()
    app.text_input(key="sweep_vary_boundary").set_value("fold, clip").run()
    app.multiselect(key="sweep_presets").set_value(["FastLloyd: paper"]).run()
    app.text_input(key="sweep_delta").set_value("1/(n ln n), 1e-6").run()
    assert not app.exception and not app.error
    assert "3 algorithms" in read(app) and "2 δ × 3 alpha × 2 boundary" in read(app)
    for key, text, said in [
        ("sweep_vary_alpha", "many", "Alpha must be numbers, separated by commas; got 'many'"),
        ("sweep_vary_alpha", "9", "alpha must be at most 3"),
        ("sweep_vary_boundary", "wall", "Boundary must be one or more of fold, clip, none"),
        ("sweep_delta", "1/n", "Delta δ must be numbers or rules (1/(100 n), n^-1.1, 1/(n ln n), 1/(n sqrt n))"),
    ]:
        kept = app.text_input(key=key).value
        app.text_input(key=key).set_value(text).run()
        assert not app.exception and any(said in error.value for error in app.error), said
        app.text_input(key=key).set_value(kept).run()
        assert not app.error


def test_an_axis_of_words_has_one_tick_a_word_and_two_parameters_make_a_table_of_colors():
    sweep = sweep_of({"data": "sample:tiny", "algorithms": ["fastlloyd"], "epsilon": 1, "repeats": 2,
                      "alpha": [0.4, 0.8], "boundary": ["fold", "clip", "none"]})  # fmt: skip
    rows = table([execute(run) for run in sweep.runs()])
    found = Summary(rows, "loss", "boundary")
    points, runs = found.points, found.runs
    figure = tradeoff.curves(points, runs, LIGHT, tradeoff.styles(points), axis="boundary", metric="loss", title="x")
    assert list(figure.layout.xaxis.ticktext) == ["clip", "fold", "none"]
    assert figure.layout.xaxis.title.text == "boundary"
    grid = tradeoff.heat(points, LIGHT, x="boundary", y="alpha", relative=True, title="x")
    assert np.shape(grid.data[0].z) == (2, 3) and list(grid.data[0].y) == ["0.4", "0.8"]


@pytest.mark.slow
def test_a_sweep_runs_in_the_background_survives_pages_and_is_found_again(app):
    app.multiselect(key="sweep_data").set_value(["tiny", "iris"]).run()
    app.multiselect(key="sweep_algorithms").set_value(["pe-means"]).run()
    app.number_input(key="sweep_repeats").set_value(2).run()
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    assert not app.exception
    identity = app.session_state["sweep"]
    app.switch_page("pages/home.py").run()
    app.switch_page("pages/tradeoff.py").run()
    wait(app, lambda app: not any(b.label == "Cancel" for b in app.button))
    assert not app.exception and app.session_state["sweep"] == identity
    specs = [panel["figure"] for panel in panels(app)]
    assert sum("KMeans (not private)" in spec for spec in specs) == 2 and all("NOT PRIVATE" in spec for spec in specs)
    names = [tab.label for tab in app.tabs]
    assert "Who wins where" in names and "Two axes" in names  # The two axes are ε and the data sets.
    assert not app.get("download_button")  # Only the open tab is computed and sent.
    app.session_state["sweep_tab"] = "Take it with you"
    app.run()
    assert app.get("download_button")
    for chosen, format_ in ((None, "svg"), ("PNG", "png")):
        if chosen:
            app.segmented_control(key="sweep_picture").set_value(chosen).run()
        saved = [panel["saved"] for panel in panels(app)]
        assert saved and all(options["format"] == format_ for options in saved)
    assert "camera=PNG" in app.session_state["kept"][1]
    looks_travel(app, identity)

    app.number_input(key="sweep_repeats").set_value(3).run()
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    later = app.session_state["sweep"]
    shelf().get(later).job.cancel()
    assert later != identity and shelf().get(later).job.wait(200)
    app.run()  # the list names the number of runs, which no longer grows
    next(box for box in app.selectbox if box.label == "Earlier sweeps").set_value(identity).run()
    assert not app.exception and app.session_state["sweep"] == identity
    assert app.number_input(key="sweep_repeats").value == 2

    for query in (f"sweep={identity}", f"v=0&sweep={identity}"):  # a link of version 0.1 holds nothing else
        old = visit("tradeoff", query)
        assert not old.exception and old.multiselect(key="sweep_data").value == ["tiny", "iris"]
        assert old.multiselect(key="sweep_algorithms").value == ["pe-means"]
        assert old.number_input(key="sweep_repeats").value == 2


def looks_travel(app, identity):
    """Check that an address holds a finished sweep's controls, and that a sentence reports an impossible value."""
    app.session_state["sweep_tab"] = "Runs at one ε"
    app.run()
    app.select_slider(key=f"dots_at_{identity}_epsilon").set_value(0).run()
    app.segmented_control(key=f"of_{identity}").set_value("sample:iris").run()
    app.number_input(key="wanted_2").set_value(1).run()
    app.selectbox(key="sweep_within").set_value(50).run()
    query = app.session_state["kept"][1]
    assert not app.exception and {"at=0", "of=sample:iris", "good=1", "within=50"} <= set(query.split("&"))
    found, sentence = scene.read("tradeoff", query, tradeoff_controls)
    assert sentence == "" and scene.write(found, tradeoff_controls) == query
    for wrong in ("at=9", "of=sample:town", "good=3", "within=3", "against=data"):
        found, sentence = scene.read("tradeoff", f"v=1&sweep={identity}&{wrong}", tradeoff_controls)
        assert sentence.startswith("This link opens, but") and f"&{wrong}" not in scene.write(found, tradeoff_controls)


@pytest.mark.slow
def test_a_released_coreset_can_be_swept_and_private_rows_never(bare):
    private = dataclasses.replace(load_sample("iris"), dataset_id="f00d", title="Mine", private=True)
    trace = ALGORITHMS["nsm"](n_clusters=3).run(private.X, domain=private.domain, noise="secure", dataset_id="f00d")
    store = Recent(10)
    store.put("run", Result("run", trace, private))
    app = opened_with(private, store=store, history=["run"])
    assert not app.exception and any("Your private file is not on this page" in info.value for info in app.info)
    assert any("made up from a release on this file" in info.value for info in app.info)
    assert app.session_state["kept"] == ("tradeoff", "")  # no address can name these made-up people
    app.button(key="share").click().run()
    assert any("not the data" in block.value for block in app.markdown) and not app.exception
    box = app.multiselect(key="sweep_data_private")
    assert box.value == ["made up:run"] and "f00d" not in [*box.options, *box.value]
    app.multiselect(key="sweep_algorithms").set_value(["pe-means"]).run()
    app.number_input(key="sweep_repeats").set_value(2).run()
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    kept = shelf().get(app.session_state["sweep"])
    written = pd.read_csv(kept.sweep.data[0])
    cells = {tuple(row) for row in private.X.tolist()}
    assert len(written) == 150 and not cells & {tuple(row) for row in written.to_numpy().tolist()}
    until = time.monotonic() + 240
    while kept.active and time.monotonic() < until:
        time.sleep(0.5)
    assert {row["status"] for row in kept.rows} == {"ok"}
    assert set(kept.table(10**6).data) == {"Made up from NSM (ours) on Mine, k 3, ε 1, released"}


def test_a_sweep_that_ends_while_the_page_is_drawn_gives_the_form_back(app, monkeypatch):
    sweep = Sweep(data=("sample:tiny",), variants=(Variant("PE-means", "pe-means"),), epsilon=(1.0,), repeats=2)
    job = Job("", "it", status="running")
    shelf().put(Progress("ends", "it", sweep, 2, job=job))
    tools = view.tools

    def end(kept):
        job.status = "done"
        return tools(kept)

    monkeypatch.setattr(view, "tools", end)
    app.session_state["sweep"] = "ends"
    app.run()
    assert not app.exception and not next(b for b in app.button if b.label.startswith("Start")).disabled


@pytest.mark.slow
def test_a_cancelled_sweep_ends_with_the_runs_that_had_begun(app):
    app.number_input(key="sweep_repeats").set_value(50).run()
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    kept = shelf().get(app.session_state["sweep"])
    begun = time.monotonic()
    while not kept.rows and time.monotonic() < begun + 200:
        time.sleep(0.1)
    app.run().button(key="sweep_cancel").click().run()
    before = len(kept.rows)
    assert kept.job.wait(200) and kept.job.status == "cancelled"
    assert len(kept.rows) <= before + 4 * SWEEPERS < kept.total
    app.run()
    assert not app.exception and "Canceled after" in read(app)
    assert "Two axes" not in [tab.label for tab in app.tabs]  # this sweep varies a single axis


def test_a_visit_has_one_sweep_under_way_and_leaves_room_for_the_others(monkeypatch):
    it, gate = sweeps.Shelf(), threading.Event()
    it.archive = None
    monkeypatch.setattr(sweeps, "shelf", lambda: it)
    monkeypatch.setattr(sweeps, "_work", lambda kept, job: gate.wait(5))
    monkeypatch.setattr(sweeps, "turns", SimpleNamespace(turn=lambda: sweeps.work_state.owner))
    monkeypatch.setattr(sweeps, "show", lambda identity: None)
    one = sweep_of({"data": "sample:town", "algorithms": ["pe-means"], "epsilon": [1], "repeats": 2})
    for owner in ("ann", "bob"):
        monkeypatch.setattr(sweeps, "work_state", SimpleNamespace(owner=owner))
        monkeypatch.setattr(sweeps, "tradeoff_state", SimpleNamespace(sweeps=[]))
        sweeps.start(one, "the town")
        with pytest.raises(ValueError, match="your sweep on the town is still running"):
            sweeps.start(one, "the town")
    assert it.waiting == 2
    gate.set()
    assert all(kept.job.wait(240) for kept in it._kept.values())
    sweeps.start(one, "the town")


def test_the_time_that_is_left_follows_from_the_forecast_and_then_from_the_pace(monkeypatch):
    sweep = Sweep(data=("sample:tiny",), variants=(Variant("g", "glloyd"),), epsilon=(1.0,), repeats=30)
    job = Job("", "t", status="running", seconds=31.0)
    kept = Progress("i", "t", sweep, 31, [], job)
    monkeypatch.setattr(view, "jobs", Jobs)
    assert view.going(kept) == "Starting the worker processes"
    kept.rows, kept.first = [{"algorithm": "kmeans"}], (1, 100.0)
    for done, seconds, told in ((1, 100.0, "30 seconds"), (11, 110.0, "20 seconds"), (11, 200.0, "3 minutes")):
        kept.rows = [{"algorithm": "kmeans"}] + [{"algorithm": "glloyd"}] * (done - 1)
        monkeypatch.setattr(view, "time", SimpleNamespace(monotonic=lambda at=seconds: at))
        assert view.going(kept) == f"{done - 1} of 30 runs, about {told} left. The picture grows as runs finish."
    kept.rows, job.seconds = kept.rows[:3], 0.0  # resumed after a restart, without a forecast
    assert view.going(kept) == "2 of 30 runs. The picture grows as runs finish."


def test_rows_are_listed_in_words_with_the_k_and_delta_that_were_used():
    given = json.dumps({"delta": None, "epsilon": 1.0, "n_clusters": None, "exactly_k": True})
    listed = take.readable(rows(runs("dpm", {1.0: [2.0]}, parameters=given))).iloc[0]
    assert (listed.k, listed["δ"], listed["ε"], listed.other) == (3, 1e-5, 1.0, "exactly k True")
    assert not [name for name in listed.index if "_" in name]


def test_the_best_run_comes_first_among_those_to_take_away():
    def page():
        from dpviz.sweeps.rowfile import table
        from dpviz.sweeps.summary import Summary
        from dpviz.sweeps.sweep import Sweep, Variant, execute
        from pages._ui.explore.tradeoff.sweeps import Progress
        from pages._ui.explore.tradeoff.take import one_run

        sweep = Sweep(data=("sample:tiny",), variants=(Variant("g", "glloyd"),), epsilon=(0.1, 4.0), repeats=1)
        every = Summary(table([execute(cell) for cell in sweep.runs()]), "loss")
        one_run(every, Progress("i", "t", sweep, 2))

    shown = AppTest.from_function(page, default_timeout=240).run()
    assert not shown.exception
    listed = shown.selectbox(key="sweep_take").options
    losses = [float(words.rpartition(" ")[2]) for words in listed]
    assert len(listed) == 2 and losses == sorted(losses)
    assert len(shown.get("download_button")) == 4


# ---- parameters that the papers vary


@pytest.mark.parametrize("slug", KNOBS)
def test_trade_off_offers_every_knob_of_a_paper_and_its_example_values_run(slug):
    offered = vary.names_of([slug])
    for name in KNOBS[slug]:
        spec = params.specs(ALGORITHMS[slug])[name]
        text = ", ".join(map(str, spec.choices)) if spec.choices else vary.example(slug, name)
        values = vary.values_of([slug], name, text)
        assert offered[name] == [slug] and len(values) > 1 and spec.help
        record = {"data": "sample:tiny", "algorithms": [slug], "epsilon": 1.0, "repeats": 1, name: list(values)}
        cells = [cell for cell in sweep_of(record).runs() if cell.algorithm == slug]
        assert len(cells) == len(values)


def test_the_lists_hold_the_papers_budgets_and_distances():
    assert {0.1, 0.25, 0.5, 0.75, 1.0, 2.0, 4.0} <= set(form.EPSILONS)
    assert {0.0001, 0.008, 0.05, 0.08, 1.0} <= set(form.RHOS)
