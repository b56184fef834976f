"""Check cells as people write them: money, percentages, declared marks of missing cells, and years as column names."""

import numpy as np
import pandas as pd
import pytest

from dpviz.datasets.readers import Form, TableError, read_table
from tests.broken_files import workbook

NAN = np.nan
GERMAN = 'a;b\n"12.203,34\xa0€";28,8 %\nk. A.;3,5%\n-1,50€;-999\n'.encode()


def values(table, name):
    return np.round(table.values(name), 6).tolist()


def test_money_percent_and_declared_marks_are_read_cell_by_cell():
    marks = ("k. A.", "-999")
    for private in (False, True):
        decimal = "," if private else None
        table = read_table(GERMAN, "x.csv", header=True, private=private, decimal=decimal, missing_marks=marks)
        np.testing.assert_array_equal(values(table, "a"), [12203.34, NAN, -1.5])
        np.testing.assert_array_equal(values(table, "b"), [28.8, 3.5, NAN])
    english = read_table(b'a\n"$1,234.50"\n-$5\n$-7\n', "x.csv", header=True)
    assert values(english, "a") == [1234.5, -5, -7]


def test_different_signs_in_one_public_column_are_not_mixed():
    for cells in ("5 €\n3 $", "5 %\n3", "5 %\n3 €"):
        with pytest.raises(TableError, match="different symbols"):
            read_table(f"a\n{cells}\n".encode(), "x.csv", header=True)


@pytest.mark.parametrize("private", [False, True])
def test_a_declared_mark_is_missing_in_every_format(private, tmp_path, files_are_read_here):
    frame = pd.DataFrame({"a": [1.0, -999, 3], "b": [5, 6, 7]})
    for ending in ("parquet", "feather", "dta"):
        path = tmp_path / f"x.{ending}"
        {"parquet": frame.to_parquet, "feather": frame.to_feather, "dta": frame.to_stata}[ending](path)
        table = read_table(path.read_bytes(), path.name, header=True, private=private, missing_marks=("-999",))
        np.testing.assert_array_equal(table.values("a"), [1, NAN, 3])
    book = workbook(["a", "b"], [1, 5], [-999, 6], ["k. A.", 7])
    table = read_table(book, "x.xlsx", header=True, private=private, missing_marks=("-999", "k. A."))
    np.testing.assert_array_equal(table.values("a"), [1, NAN, NAN])


def test_a_mark_that_is_a_category_is_refused():
    from dpviz.datasets.readers import Recoding

    with pytest.raises(ValueError, match="missing_marks must be"):
        Form(recode=(Recoding("a", "ordinal", ("low", "high")),), missing_marks=("low",))


def test_years_and_marks_are_names_if_the_owner_says_so():
    content = b"Na,1940\n1,2\n3,4\n"
    with pytest.raises(TableError, match="--header if these are names"):
        read_table(content, "x.csv")
    for private in (False, True):
        assert read_table(content, "x.csv", header=True, private=private).usable == ("Na", "1940")
        with pytest.raises(TableError, match="--no-header"):
            read_table(b"Na,31.5\n1,2\n", "x.csv", header=True, private=private)
