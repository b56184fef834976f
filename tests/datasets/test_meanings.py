"""Check what column names alone suggest, without the cells, and that latitude and longitude form one map."""

import numpy as np
import pytest

from dpviz.datasets.earth import EARTH_RADIUS, as_map, degrees_of
from dpviz.datasets.meanings import meaning_of


@pytest.mark.parametrize(
    ("name", "low", "high", "unit"),
    [
        ("age", 0, 120, "years"), ("Alter (Jahre)", 0, 120, "years"), ("Customer Age", 0, 120, "years"),
        ("income_eur", 0, 200_000, "EUR"),
        ("annualIncome", 0, 200_000, ""), ("Q7", 1, 5, "points"), ("satisfaction", 1, 5, "points"),
        ("share_pct", 0, 100, "%"), ("lat", -90, 90, "degrees"), ("trips_per_day", 0, 100, ""),
        ("Longitude", -180, 180, "degrees"), ("q3_price", 1, 5, "points"), ("Q4: speed?", 1, 5, "points"),
        ("days_since_order", 0, 3650, "days"), ("idle_days", 0, 3650, "days"), ("years since joining", 0, 120, "years"),
        ("q12_nps", 0, 10, "points"), ("item_7_age", 1, 5, "points"), ("Q1 sales", 0, 10_000, ""),
    ],
)  # fmt: skip
def test_a_name_suggests_bounds_and_a_unit(name, low, high, unit):
    found = meaning_of(name)
    assert (found.low, found.high, found.unit, found.reason) == (low, high, unit, "")


@pytest.mark.parametrize("name", ["customer_id", "e-mail", "newsletter", "isActive", "country", "comment", "note"])
def test_a_name_suggests_to_leave_a_column_out(name):
    assert meaning_of(name).reason.endswith(".") and meaning_of(name).low is None


def test_a_date_has_a_rule_and_another_name_suggests_nothing():
    assert meaning_of("signup_date").rule == "days:2000-01-01..2030-12-31"
    assert meaning_of("customer_since").rule == meaning_of("since").rule == "days:2000-01-01..2030-12-31"
    assert meaning_of("x1") is None and meaning_of("a") is None and meaning_of("") is None


def column(name, low, high, **others):
    return {"name": name, "low": low, "high": high, **others}


def test_a_map_of_two_columns_has_one_scale_and_its_bounds_lead_back_to_the_degrees():
    facts = as_map({"columns": [column("lat", 49, 51), column("lon", 10, 14)]})
    east, north = facts["columns"]
    assert facts["scale"] == "common" and facts["view"] == ["east", "north"]
    assert north["high"] == -north["low"] == pytest.approx(EARTH_RADIUS * np.pi / 180)
    assert east["high"] == pytest.approx(2 * EARTH_RADIUS * np.pi / 180 * np.cos(np.radians(50)))
    assert degrees_of(facts)["lat"] == pytest.approx((49, 51)) and degrees_of(facts)["lon"] == pytest.approx((10, 14))


def test_beside_other_columns_a_kilometer_east_weighs_as_one_north():
    facts = as_map({"columns": [column("age", 0, 100), column("latitude", 49, 51), column("longitude", 10, 14)]})
    east, north, age = facts["columns"]
    assert (east["low"], east["high"]) == (north["low"], north["high"]) and age["name"] == "age"
    assert facts["scale"] == "column"


@pytest.mark.parametrize("bounds", [(None, 51), (51, 49), (85, 90), (-91, 0)])
def test_facts_without_a_map_stay_unchanged(bounds):
    facts = {"columns": [column("lat", *bounds), column("lon", 10, 14)]}
    assert as_map(facts) == facts
