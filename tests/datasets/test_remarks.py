"""Check the remarks on public files: what seems to be a total, a day, a mark or a person's number, and nothing else."""

import pytest

from dpviz.datasets.readers import read_table
from dpviz.datasets.remarks import remarks, rows_per_person


def table(text):
    return read_table(text.encode(), "mine.csv", private=False, words=True)


def columns(**values):
    lines = zip(*values.values(), strict=True)
    return table("\n".join([",".join(values), *(",".join(map(str, line)) for line in lines)]))


AGE = [20, 30, 41, 40, 35, 28]
DAYS = [20230131, 20230201, 20230202, 20231203, 20230203, 20230204]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"age": [*AGE, 194]}, "The last row is the sum of all others in 'age': remove that line."),
        (
            {"city": [*"abcdef", "all"], "age": [*AGE, 194], "pay": [1.5] * 6 + [9.0]},
            "The last row is the sum of all others in 'age' and 'pay': remove that line.",
        ),
        ({"when": DAYS}, "Column 'when' seems to hold days as 20230131: as numbers"),
        ({"age": [*AGE, 999, 999]}, "Column 'age' has no number above 41 except 999: if that stands for a missing"),
        ({"age": [*AGE, -9, -9]}, "Column 'age' has no number below 0 except -9: if that stands for a missing cell"),
        (
            {"zip": [1010, 1020, 8010, 5020, 6020, 9020], "age": AGE},
            "Column 'zip' seems to hold postal codes: codes that are close as numbers need not be near each other",
        ),
        (
            {"marital": [1, 2, 3, 4, 4, 1], "age": AGE},
            "Column 'marital' seems to hold numbers that stand for words: 1 and 3 are then no farther",
        ),
        (
            {"pid": [1, 1, 2, 2, 2, 3], "age": AGE},
            "Column 'pid' has the same number in up to 3 rows: if it stands for a person, declare 3 rows of one person",
        ),
    ],
)
def test_what_seems_to_be_no_amount_is_named_in_one_sentence(values, words):
    (said,) = remarks(columns(**values))
    assert said.startswith(words) and said.endswith(".")


@pytest.mark.parametrize(
    "values",
    [
        {"age": AGE},
        {"age": [*AGE, 193]},  # not the sum
        {"flag": [0, 0, 0, 0, 0, 1, 1]},  # a sum of a single number is no total
        {"n": [20230131, 20231301, 20230202, 20231203, 20230203, 20230204]},  # there is no month 13
        {"n": [2023013, 2023020, 2023021, 2023030, 2023031, 2023040]},
        {"age": [*AGE, 999]},  # a single one may be an amount
        {"score": [980, 990, 950, 970, 960, 999, 999]},  # near the others
        {"drift": [-3, 2, 5, 7, 8, -9, -9]},
        {"pid": [1, 2, 3, 4, 5, 6], "age": AGE},
        {"id": [7, 7, 7, 7, 7, 7], "age": AGE},  # one number for all is no person's
        {"age": [20, 20, 30, 30, 41, 41]},  # its name says no number of a person
    ],
)
def test_ordinary_numbers_have_no_remark(values):
    assert remarks(columns(**values)) == []


def test_the_most_rows_of_one_person_are_counted():
    assert rows_per_person(columns(pid=[5, 5, 9, 9, 9, 1, 2, 3], age=range(8))) == ("pid", 3)
    assert rows_per_person(columns(age=AGE)) is None
