"""Check the command that reproduces papers: runs that resume where they stopped, and numbers from rows."""

import dataclasses

import pytest

from dpviz.cli import main
from dpviz.papers import registry
from dpviz.papers.registry import Check, Paper, papers
from dpviz.papers.results import load_numbers
from dpviz.papers.verdicts import judge
from dpviz.sweeps.engines import perform
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.spec import sweep_of
from lab.cli import reproduce as command
from lab.cli.reproduce import lines
from lab.papers.reproduce import numbers_of, reproduce, save_numbers
from tests.papers.test_papers import item

TINY = {"data": "sample:tiny", "algorithms": ["fastlloyd", "sulloyd"], "epsilon": [0.5, 2.0], "repeats": 3}


def in_process(cells, run, give_up):
    yield from (run(cell) for cell in cells)


@pytest.fixture
def tiny(monkeypatch):
    one = item(checks=(Check("below", metric="auc", better="fastlloyd", worse=("sulloyd",)),), sweeps=(TINY,))
    other = dataclasses.replace(one, id="y", sweeps=(), uses=("x",))
    monkeypatch.setattr(registry, "papers", lambda: {"p": Paper("p", "P", "A paper", "p", (one, other))})
    return one


@pytest.mark.slow
def test_an_interrupted_item_goes_on_and_items_share_runs(tiny, tmp_path):

    def stop_after_five(cells, run, give_up):
        for place, cell in enumerate(cells):
            if place == 5:
                raise KeyboardInterrupt
            yield run(cell)

    with pytest.raises(KeyboardInterrupt):
        reproduce("p", "x", tmp_path, stop_after_five, quick=False)
    seen = []
    numbers = reproduce("p", "x", tmp_path, in_process, quick=False, on_row=seen.append)
    assert len(seen) == 13 - 5
    again = []
    shared = reproduce("p", "y", tmp_path, in_process, quick=False, on_row=again.append)
    assert again == [] and len(shared) == len(numbers)
    areas = numbers[numbers.metric == "auc"].set_index("label")
    assert set(areas.index) == {"KMeans", "fastlloyd", "sulloyd"} and areas.runs["fastlloyd"] == 3
    save_numbers(tmp_path / "n.csv", numbers)
    back = load_numbers(tmp_path / "n.csv")
    assert judge(tiny, back) == judge(tiny, numbers)
    assert any(tiny.claim in line for line in lines(tiny, numbers))


def test_numbers_name_the_place_by_what_varies():
    sweep = sweep_of({**TINY, "alpha": [0.4, 0.8], "repeats": 2, "algorithms": ["fastlloyd"]})
    rows = [row for row in perform(sweep, (), in_process)]
    numbers = numbers_of(table(rows))
    places = set(numbers[(numbers.label == "fastlloyd") & (numbers.metric == "loss")].point)
    assert places == {f"alpha {a}, epsilon {e}" for a in ("0.4", "0.8") for e in ("0.5", "2")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "there is no paper 'nobody'; the papers are pe-means, fastlloyd, dist-dp, stemmer-kaplan, dpm"),
        (["nobody", "fig1"], "there is no paper 'nobody'"),
        (["dpm", "fig9"], "dpm has no item 'fig9'; its items are table2, table3, fig1, fig4, fig5, fig6"),
        (["fastlloyd", "fig2"], "needs the environment variable DPVIZ_DATASETS"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("DPVIZ_DATASETS", raising=False)
    assert main(["reproduce", *arguments, "-o", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert words in said and "Traceback" not in said


def test_the_list_names_every_item(capsys):
    assert main(["reproduce"]) == 0
    said = capsys.readouterr().out
    assert all(one.name in said for paper in papers().values() for one in paper.items)


@pytest.mark.slow
def test_all_items_end_with_the_overview(tiny, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "papers", lambda: registry.papers())
    monkeypatch.setattr(command, "on_this_machine", lambda cells, run, give_up, **_: in_process(cells, run, give_up))
    assert main(["reproduce", "--all", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    written = (tmp_path / "overview.md").read_text()
    assert "Of 2 figures and tables" in said and "Of 2 figures and tables" in written and "| P | Figure x |" in written


@pytest.mark.slow
def test_a_command_stopped_by_hand_does_only_the_rest_when_it_is_given_again(tiny, monkeypatch, capsys, tmp_path):
    begun = []

    def stop_after(n):
        def run_some(cells, run, give_up, **_):
            for cell in cells:
                if len(begun) == n:
                    raise KeyboardInterrupt  # Ctrl-C
                begun.append(cell.key)
                yield run(cell)

        return run_some

    monkeypatch.setattr(command, "papers", lambda: registry.papers())
    for n, code in ((4, 130), (9, 130), (99, 0)):
        monkeypatch.setattr(command, "on_this_machine", stop_after(n))
        assert main(["reproduce", "--all", "--workers", "1", "-o", str(tmp_path)]) == code
        written = capsys.readouterr()
        assert ("run the same command again to resume" in written.err) == (code == 130)
    assert len(begun) == len(set(begun)) == 13  # every run of both items was made exactly once
    assert "Of 2 figures and tables" in written.out
