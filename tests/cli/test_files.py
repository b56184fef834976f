"""Check the seams between a file, its dictionary and the results of runs on the command line."""

import json

import pytest

from dpviz.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(path, head="a,b", rows=300, cells=("{}", "{}")):
    lines = (",".join(cell.format(i % (7 + j)) for j, cell in enumerate(cells)) for i in range(rows))
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


@pytest.mark.parametrize("beside", ["may.dictionary.json", "may.json", "may.csv.json"])
@pytest.mark.parametrize("mode", ["--public", "--private"])
def test_a_dictionary_of_each_name_beside_its_file_is_read_and_never_overwritten(folder, beside, mode, capsys):
    table(folder / "may.csv")
    bounds = ["--header", "--bounds", "a=0..9,b=0..9", "--n-public", "300", "--rows-per-person", "1"]
    assert main(["describe", "may.csv", mode, *bounds, "-o", beside]) == 0
    before = (folder / beside).read_bytes()
    assert main(["describe", "may.csv", mode, *bounds, "-o", beside]) == 2
    run = ["run", "nsm", "--data", "may.csv", mode, "--n-clusters", "2"]
    assert main([*run, "--json", beside]) == 2
    assert "is a data dictionary and is never overwritten" in capsys.readouterr().err
    assert main([*run, "--json", "out.json"]) == 0 and (folder / beside).read_bytes() == before
    trace = json.loads((folder / "out.json").read_text())
    assert trace["domain"]["columns"] == ["a", "b"] and trace["domain"]["n_public"] == 300


@pytest.mark.parametrize("numbers", ["{} cm", "1,2{},345", "{}-1{}", "abc {}", "€{}"])
def test_words_are_never_clustered_alone_while_numbers_cannot_be_read(folder, numbers, capsys):
    cell = '"' + numbers.replace("{}", "{0}") + '"'
    path = table(folder / "may.csv", "size,group", cells=(cell, "g{}"))
    text = path.read_text().splitlines()
    text[1:3] = ["12,x", "13,y"]  # numbers, so the column mixes both
    path.write_text("\n".join(text) + "\n")
    code = main(["describe", "may.csv", "--public"])
    out, err = capsys.readouterr()
    if numbers == "€{}":  # numbers after all
        assert code == 0 and [one["name"] for one in json.loads(out)["columns"]] == ["size"]
        return
    assert code == 2 and out == "" and "clustering its words alone would mean little" in err
    assert "Column 1, 'size'" in err
