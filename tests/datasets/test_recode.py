"""Check that text and dates become numbers by declared rules only, never by the file's content."""

import datetime
import json
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpviz.datasets import dictionary, load_csv
from dpviz.datasets.notation import read_rules
from dpviz.datasets.readers import Recoding, TableError, read_table

PEOPLE = {
    "age": [31, 44, 52, 29],
    "sex": ["f", "m", None, "x"],
    "grade": ["low", "high", "middle", "low"],
    "born": ["1990-01-02", "1970-01-01", "2001-02-29", None],
}
RULES = (
    *read_rules(["sex=one-hot:f,m"]),
    *read_rules(["grade=ordinal:low,middle,high"]),
    *read_rules(["born=days:1960-01-01..2010-12-31"]),
)
WANTED = {
    "sex: f": [1, 0, np.nan, np.nan],
    "sex: m": [0, 1, np.nan, np.nan],
    "grade": [0, 2, 1, 0],
    "born": [7306, 0, np.nan, np.nan],
}


def _write(kind: str, folder: Path) -> Path:
    frame, path = pd.DataFrame(PEOPLE), folder / f"people.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, index=False)
    elif kind == "feather":
        frame.to_feather(path)
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        book = openpyxl.Workbook()
        rows = [list(PEOPLE), *zip(*PEOPLE.values(), strict=True)]
        for row in rows:
            book.active.append([datetime.date(1970, 1, 1) if cell == "1970-01-01" else cell for cell in row])
        book.save(path)
    return path


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "jsonl", "xlsx"])
def test_every_format_gives_the_same_numbers(kind: str, private: bool, tmp_path: Path) -> None:
    content = _write(kind, tmp_path).read_bytes()
    table = read_table(content, f"people.{kind}", header=True, private=private, recode=RULES)
    for name, values in WANTED.items():
        np.testing.assert_array_equal(table.values(name), values)
    assert ("sex" in {column.name for column in table.columns}) is not private  # only a public table keeps text columns


@pytest.mark.parametrize("other", ["abc", "1.5", "yes", "2020-01-01", ""])
def test_one_cell_never_changes_how_another_is_read(other: str) -> None:
    rules = (Recoding("code", "one-hot", ("1", "yes", "2020-01-01")),)
    ours = "code,v\n1,2\n1.0,2\nyes,2\n2020-01-01,2\n"
    alone = read_table(ours.encode(), "a", header=True, private=True, recode=rules)
    beside = read_table(f"{ours}{other},2\n".encode(), "a", header=True, private=True, recode=rules)
    for name in alone.usable:
        np.testing.assert_array_equal(alone.values(name), beside.values(name)[:4])


@pytest.mark.parametrize("other", ["Müller", "caf\xe9"])
def test_one_row_never_changes_how_the_words_of_another_are_read(other: str) -> None:
    rules = (Recoding("sex", "one-hot", ("männlich", "weiblich")),)
    ours = "sex,v\n" + "männlich,1\nweiblich,2\n" * 5
    alone = read_table(ours.encode(), "a", header=True, private=True, recode=rules)
    beside = read_table(ours.encode() + f"{other},3\n".encode("cp1252"), "a", header=True, private=True, recode=rules)
    for name in alone.usable:
        np.testing.assert_array_equal(alone.values(name), beside.values(name)[:10])
    assert alone.values("sex: männlich").sum() == 5 and alone.notes == beside.notes
    old = read_table(ours.encode("cp1252"), "a", header=True, private=True, recode=rules)
    np.testing.assert_array_equal(old.values("sex: männlich"), alone.values("sex: männlich"))


@pytest.mark.parametrize(
    ("text", "order", "day"),
    [("31.12.1970", "dmy", 364), ("12/31/1970", "mdy", 364), ("1970/12/31", "ymd", 364), ("31.04.1970", "dmy", np.nan),
     ("31.12.70", "dmy", np.nan), ("1970-12-31T10:00", "ymd", 364), ("Smith", "ymd", np.nan)],
)  # fmt: skip
def test_dates_are_read_in_the_declared_order(text: str, order: str, day: float) -> None:
    rule = Recoding("d", "days", (), "1900-01-01", "2020-01-01", order)
    table = read_table(f"d,x\n{text},1\n".encode(), "a", header=True, private=True, recode=(rule,))
    np.testing.assert_array_equal(table.values("d"), [day])


@pytest.mark.parametrize(
    "text",
    ["sex", "sex=one-hot:f", "sex=one-hot:f,f", "sex=rank:a,b", "born=days:1990..2000",
     "born=days:2000-01-01..1990-01-01", "born=days-ydm:1990-01-01..2000-01-01"],
)  # fmt: skip
def test_a_wrong_rule_is_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(Recoding of column|--recode) .*\.$"):
        read_rules([text])


def test_a_dictionary_declares_rules_and_is_written_back(tmp_path: Path) -> None:
    path = _write("csv", tmp_path)
    facts = {
        "columns": [{"name": "sex", "fill": 0}, {"name": "age", "low": 0, "high": 120}],
        "recode": [{"column": "sex", "code": "one-hot", "categories": ["f", "m"]}],
        "n_public": 4,
    }
    path.with_suffix(".json").write_text(json.dumps(facts))
    data = load_csv(path, private=True, header=True)
    assert data.columns == ("sex: f", "sex: m", "age")
    np.testing.assert_array_equal(data.X, [[1, 0, 31], [0, 1, 44], [0, 0, 52], [0, 0, 29]])
    assert dictionary.parse(dictionary.dump(data.facts)) == data.facts


def test_bounds_are_asked_for_columns_without_a_rule_only(tmp_path: Path) -> None:
    data = load_csv(_write("csv", tmp_path), low=0, high=120, n_public=4, private=True, header=True, recode=RULES)
    assert data.columns == ("age", *WANTED)
    assert data.domain.high.tolist() == [120, 1, 1, 2, 14974]
    chosen = load_csv(_write("csv", tmp_path), low=0, high=120, columns=["sex", "age"], recode=RULES[:1])
    assert chosen.columns == ("sex: f", "sex: m", "age")


def test_a_rule_for_no_column_is_refused() -> None:
    with pytest.raises(TableError, match="there is no column 'sex' to recode"):
        read_table(b"a,b\n1,2\n", "t", recode=RULES[:1])
