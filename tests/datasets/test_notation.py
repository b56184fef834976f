"""Check the notation that people use to type names, bounds and rules."""

import pytest

from dpviz.datasets.notation import quote_name, read_bounds, read_names, read_numbers, read_rules
from dpviz.datasets.readers import Recoding


def test_names_bounds_and_rules_are_read_as_they_are_typed():
    assert read_names('a,"b, kg",Q9..Q11,x01..x03') == ["a", "b, kg", "Q9", "Q10", "Q11", "x01", "x02", "x03"]
    assert [read_names(quote_name(name)) for name in ("b, kg", 'a "b"', "c")] == [["b, kg"], ['a "b"'], ["c"]]
    bounds = read_bounds(['Age=18..95,"b, kg=-2.5..-.5"', "e=-2e1..1e3,Q1..Q2=likert5,lat=latitude"])
    assert bounds["Age"] == (18, 95, "") and bounds["b, kg"] == (-2.5, -0.5, "") and bounds["e"] == (-20, 1000, "")
    assert bounds["Q1"] == bounds["Q2"] == (1, 5, "points") and bounds["lat"] == (-90, 90, "degrees")
    assert read_numbers("-12, 9") == [-12, 9]
    rules = read_rules(['Q1..Q2,x=ordinal:never,"often, yes"', "born=days-dmy:1950-01-01..2000-12-31"])
    assert [rule.column for rule in rules] == ["Q1", "Q2", "x", "born"]
    assert rules[0].categories == ("never", "often, yes") and rules[3].order == "dmy"
    assert all(Recoding.of(rule.column, rule.text) == rule for rule in rules)


@pytest.mark.parametrize("text", ["Age", "Age=18", "Age=a..b", "=1..2", "Age=1..2,Age=3..4", "Q5..Q2=1..2", "x=old"])
def test_bounds_that_cannot_be_read_are_one_sentence(text):
    with pytest.raises(ValueError, match=r"^[^\n]*\.$"):
        read_bounds([text])
