"""Check Query types: no brute-force pair exceeds a sensitivity, results on halves add up, and fields hold only data."""

import dataclasses
import functools
import importlib
import math
import pkgutil
import re

import numpy as np
import pytest

from dpviz.domain import Domain
from dpviz.frozen import ReadOnly
from dpviz.geometry import GRID, Population, snap
from dpviz.privacy import queries
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries import (
    CellOf,
    CellSums,
    ClippedCost,
    ClusterMoves,
    CompanionSums,
    Count,
    HalfIntervalCounts,
    InBalls,
    ListedCells,
    MixtureMoments,
    NearestDistances,
    NearestOf,
    NearestScatter,
    NearestSums,
    NearestVotes,
    NearRegionSums,
    OccupiedCells,
    Projection,
    Query,
    RegionSum,
    SecondMoment,
    SetCosts,
    ShapedSums,
    SplitScore,
    SwapCosts,
)
from dpviz.privacy.queries.base import OnGrid, projected
from dpviz.privacy.queries.bins import ClusterBins
from dpviz.privacy.rows import Rows
from tests.query_cases import CASES
from tests.query_cases.base import AR, MOVE, REPLACE

NORMS = (1, 2, math.inf)
TRIALS = 300


def all_subclasses(cls):
    return {sub for direct in cls.__subclasses__() for sub in {direct, *all_subclasses(direct)}}


QUERIES = sorted(
    (
        cls
        for cls in all_subclasses(Query)
        if cls.__module__.startswith(queries.__name__) and not cls.__name__.startswith("_")
    ),
    key=lambda cls: cls.__name__,
)


@functools.cache
def box(d, radius):
    return Domain.box(-1, 1, d, radius=radius)


def block(x, radius=None, companion=None):
    """Clip and snap raw rows as `Rows` does; an empty array is an empty block.

    With a companion, the left half of the columns holds the rows, and the right half holds their released companion.
    """
    x = np.asarray(x, dtype=float)
    if companion is not None:
        rows, beside = np.split(x, 2, axis=1)
        made = block(rows, radius)
        made.accompany(companion, snap(beside))
        return made
    if len(x) == 0:
        return Block(x)
    return Block(Rows(x, box(x.shape[1], radius))._x)


def companion_of(query):
    return getattr(query, "companion", None)


def changes(query, a, b, norms=NORMS, radius=None):
    """Return the change between two data sets by norm and part; the statistics are computed once for all norms."""
    one, two = (query.statistic(block(x, radius, companion_of(query))) for x in (a, b))
    apart = {part: (one[part] - two[part]).ravel() for part in one}
    return {norm: {part: float(np.linalg.norm(by, norm)) for part, by in apart.items()} for norm in norms}


def change(query, a, b, norm, radius=None):
    """Return the change between two data sets by part, in one norm."""
    return changes(query, a, b, [norm], radius)[norm]


def random_rows(rng, n, d):
    rows = rng.uniform(-1.3, 1.3, (n, d))
    corners = rng.choice([-1.0, 0.0, 1.0], (n, d))
    return np.where(rng.random((n, 1)) < 0.4, corners, rows)


def neighbor(rng, x, relation, rho, d):
    """Return x with one row changed; its released companion, in columns d and up, stays unless the row is removed."""
    i = rng.integers(len(x))
    if relation is AR:
        return np.delete(x, i, axis=0)
    other = x.copy()
    if relation is REPLACE:
        other[i, :d] = random_rows(rng, 1, d)[0]
    else:
        step = rng.normal(size=d)
        other[i, :d] += rho * rng.random() ** 0.1 * step / np.linalg.norm(step)
    return other


def violations(build, relation, *, radius=None, rho=0.25, dims=(1, 2, 3, 6), trials=TRIALS):
    """Return (part, norm, change, declared) for every pair of neighbors whose change exceeds the declared one."""
    rng = np.random.default_rng(7)
    found = []
    for trial in range(trials):
        d = dims[trial % len(dims)]
        query = build(rng, d)
        x = random_rows(rng, int(rng.integers(1, 9)), d if companion_of(query) is None else 2 * d)
        y = neighbor(rng, x, relation, rho, d)
        for norm, parts in changes(query, x, y, radius=radius).items():
            declared = query.sensitivity(norm, relation)
            found += [
                (part, norm, value, declared[part])
                for part, value in parts.items()
                if value > declared[part] * (1 + 1e-12)
            ]
    return found


def test_every_query_type_has_a_case():
    assert set(CASES) == set(QUERIES)


@pytest.mark.parametrize("relation", list(Neighboring))
@pytest.mark.parametrize("cls", QUERIES, ids=lambda cls: cls.__name__)
def test_no_neighbor_pair_exceeds_the_declared_sensitivity(cls, relation):
    case = CASES[cls]
    assert violations(case.build, relation, radius=case.radius, rho=case.rho, dims=case.dims) == []


@pytest.mark.parametrize("cls", QUERIES, ids=lambda cls: cls.__name__)
def test_a_hand_written_pair_comes_within_five_percent(cls):
    case = CASES[cls]
    assert AR in case.worst
    for relation, pairs in case.worst.items():
        shares = []
        for query, x, y in pairs:
            declared, reached = query.sensitivity(2, relation), change(query, x, y, 2, case.radius)
            shares.append({part: reached[part] / declared[part] for part in declared})
        for part in shares[0]:
            assert 0.95 <= max(share[part] for share in shares) <= 1 + 1e-12, (relation, part, shares)


@pytest.mark.parametrize("cls", QUERIES, ids=lambda cls: cls.__name__)
def test_halves_add_up_to_the_whole_exactly(cls):
    case, rng = CASES[cls], np.random.default_rng(3)
    for trial in range(30):
        d = case.dims[trial % len(case.dims)]
        query = case.build(rng, d)
        companion = companion_of(query)
        x = random_rows(rng, 12, d if companion is None else 2 * d)
        cut = int(rng.integers(0, 13))
        whole, left, right = (query.statistic(block(part, case.radius, companion)) for part in (x, x[:cut], x[cut:]))
        for part in whole:
            np.testing.assert_array_equal(whole[part], left[part] + right[part])


@pytest.mark.parametrize("cls", QUERIES, ids=lambda cls: cls.__name__)
def test_a_tally_adds_up_to_the_number_of_rows(cls):
    case, rng = CASES[cls], np.random.default_rng(5)
    if cls.tally is not None:
        for d in case.dims:
            query = case.build(rng, d)
            counted = query.statistic(block(random_rows(rng, 11, d), case.radius))[cls.tally].sum()
            assert counted == 11 * query.times


DATA_TYPES = {"int", "float", "str", "bool", "tuple", "ndarray", "Population", "Projection", "np.ndarray"}


def open_doors(cls):
    """Return the field types of a query that are not plain data."""
    names = [
        str(f.type).replace("|", " ").replace("[", " ").replace("]", " ").replace(",", " ")
        for f in dataclasses.fields(cls)
    ]
    words = {word for name in names for word in name.split()} - {"None", "...", "Query", "Score"}
    return {
        word for word in words if word not in DATA_TYPES and word not in {sub.__name__ for sub in all_subclasses(Query)}
    }


@pytest.mark.parametrize("cls", QUERIES, ids=lambda cls: cls.__name__)
def test_queries_hold_data_only(cls):
    assert open_doors(cls) == set()
    assert cls.reason
    assert all(isinstance(f.type, str) for f in dataclasses.fields(cls)) or not dataclasses.fields(cls)


# Wrong twins: each test above must catch the mistake for which it was written.


class HalfVotes(NearestVotes):
    def sensitivity(self, norm, neighboring):
        return {"": 0.5}


class ReplaceAsOne(NearestVotes):
    def sensitivity(self, norm, neighboring):
        return {"": 1.0}


class MeanInsteadOfSum(Count):
    def statistic(self, block):
        return {"": np.array(1.0)}


def votes_twin(cls):
    return lambda rng, d: cls(Population(snap(np.sort(rng.uniform(-1, 1, (5, d)), axis=0))))


def test_a_halved_sensitivity_is_caught():
    assert violations(votes_twin(HalfVotes), AR, trials=20)


def test_a_replaced_row_counted_once_is_caught():
    assert violations(votes_twin(ReplaceAsOne), REPLACE, trials=100)
    assert not violations(votes_twin(ReplaceAsOne), AR, trials=100)
    assert violations(votes_twin(ReplaceAsOne), MOVE, trials=TRIALS)


def test_a_mean_passes_for_a_sum_only_until_it_is_added():
    query = MeanInsteadOfSum()
    left, right, whole = (query.statistic(block(np.zeros((n, 1))))[""] for n in (2, 3, 5))
    assert left + right != whole


def test_a_callable_field_is_an_open_door():
    @dataclasses.dataclass(frozen=True)
    class Thief(Query):
        kernel: "Callable"  # noqa: F821

    assert open_doors(Thief) == {"Callable"}


# Queries refuse what they cannot price

AT, KEYS = np.array([[0.5, 0.25]]), np.zeros((1, 2), dtype=np.int64)
GRIDDED = {
    CellOf: lambda at: CellOf(0.5, at[0], np.zeros(2, dtype=np.int64), (2, 2)),
    ClusterBins: lambda at: ClusterBins(at, np.zeros((2, 3))),
    CellSums: lambda at: CellSums(KEYS, 0.5, at[0], 1.0),
    ClusterMoves: lambda at: ClusterMoves(at, 1.0),
    CompanionSums: lambda at: CompanionSums("noisy", at, 0.5),
    HalfIntervalCounts: lambda at: HalfIntervalCounts(at[0], AT[0], 4),
    InBalls: lambda at: InBalls(at, np.ones(1)),
    ListedCells: lambda at: ListedCells(KEYS, 0.5, at[0]),
    NearRegionSums: lambda at: NearRegionSums("noisy", at, 1.0, 1.0, 0.5),
    NearestOf: lambda at: NearestOf(at),
    ClippedCost: lambda at: ClippedCost(at, 1.0),
    NearestScatter: lambda at: NearestScatter(at, 1.0),
    NearestSums: lambda at: NearestSums(at, 1.0),
    NearestVotes: lambda at: NearestVotes(Population(at)),
    NearestDistances: lambda at: NearestDistances(at, 1.0, 4),
    ShapedSums: lambda at: ShapedSums(AT, at, 1.0, np.eye(2)),
    OccupiedCells: lambda at: OccupiedCells(0.5, at[0]),
    MixtureMoments: lambda at: MixtureMoments(at, np.tile(np.eye(2), (len(at), 1, 1)), np.zeros(len(at)), 1.0),
    Projection: lambda at: Projection(np.eye(2), at[0]),
    RegionSum: lambda at: RegionSum(at[0], AT[0], 1.0),
}


def test_every_type_that_says_so_checks_that_its_numbers_lie_on_the_grid():
    every = {cls for cls in all_subclasses(OnGrid) if cls.__module__.startswith(queries.__name__)}
    said = {cls for cls in every if re.search(r"on the (2\^-24 )?grid", (cls.__doc__ or "").partition("Parameters")[2])}
    assert said | {CellOf, CellSums, ListedCells} == set(GRIDDED) == {cls for cls in every if cls.on_grid}


@pytest.mark.parametrize("cls", GRIDDED, ids=lambda cls: cls.__name__)
def test_numbers_off_the_grid_are_refused(cls):
    GRIDDED[cls](AT)
    for off in (GRID / 3, np.nan):
        with pytest.raises(ValueError, match=f"{cls.__name__}: .* must lie on the 2.-24 grid"):
            GRIDDED[cls](AT + [0, off])


@pytest.mark.parametrize("cls", GRIDDED, ids=lambda cls: cls.__name__)
def test_points_that_change_after_the_check_change_no_query(cls):
    given = AT.copy()
    query = GRIDDED[cls](given)
    given += GRID / 3
    dataclasses.replace(query)  # checks again
    named = [getattr(query, name) for name in query.on_grid]
    for array in (getattr(value, "points", value) for value in named):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1 / 3


def test_every_query_keeps_its_arrays():
    names = [f"{queries.__name__}.{found.name}" for found in pkgutil.iter_modules(queries.__path__)]
    modules = [importlib.import_module(name) for name in names]
    classes = {member for module in modules for member in vars(module).values() if dataclasses.is_dataclass(member)}
    holding = {cls for cls in classes if any("ndarray" in str(field.type) for field in dataclasses.fields(cls))}
    assert len(holding) > 25 and {cls for cls in holding if not issubclass(cls, ReadOnly)} == set()


@pytest.mark.parametrize("wrong", [
    {"whiten": np.full((2, 2, 2), np.nan)}, {"whiten": np.full((2, 2, 2), 1e300)},
    {"whiten": np.full((2, 2, 2), np.inf)},
    {"scores": np.full(2, -np.inf)}, {"scores": np.array([0.0, np.nan])}, {"scores": np.array([1e308, -1e308])},
])  # fmt: skip
def test_soft_groups_whose_shares_overflow_are_refused_whether_there_are_rows_or_not(wrong):
    right = {"means": np.zeros((2, 2)), "whiten": np.tile(np.eye(2), (2, 1, 1)), "scores": np.zeros(2), "radius": 1.0}
    with pytest.raises(ValueError, match="MixtureMoments: means, whiten and scores must keep the shares"):
        MixtureMoments(**{**right, **wrong})
    largest = MixtureMoments(
        **{**right, "whiten": np.tile(1e100 * np.eye(2), (2, 1, 1)), "scores": np.array([1e200, 0])}
    )
    with np.errstate(all="raise"):
        assert largest.shares(np.array([[1.0, -1.0]])).ravel().tolist() == [255 / 256, 0.0]


@pytest.mark.parametrize("build", [lambda at: SwapCosts(at, np.zeros(1, int), 0.6), lambda at: SetCosts(at, KEYS, 0.6)])
def test_points_outside_the_ball_are_refused(build):
    build(AT)
    for outside in (np.array([[0.6, 0.01]]), np.array([[np.nan, 0.0]])):
        with pytest.raises(ValueError, match="points must lie within the radius 0.6"):
            build(outside)


@pytest.mark.parametrize(
    "wrong", [{"t": 0.05}, {"q": 0.0}, {"q": 0.5, "t": 1.0}, {"alpha": -0.1}, {"noisy_count": np.inf}, {"t": np.nan}]
)
def test_a_split_score_outside_its_proof_is_refused(wrong):
    """If t < 2 q, the slope is steeper than t / q: one row changed a score by 2.28, although 1.20 was declared."""
    histogram = HalfIntervalCounts.over(np.ones(1), 0.5)
    facts = {"noisy_count": 4.0, "t": 0.3, "q": 1 / 12, "alpha": 0.1}
    SplitScore(histogram, low=-np.ones(1), high=np.ones(1), **facts)
    with pytest.raises(ValueError, match="SplitScore: the range holds for"):
        SplitScore(histogram, low=-np.ones(1), high=np.ones(1), **{**facts, **wrong})


def test_a_second_moment_of_fewer_columns_than_rows_have_is_refused():
    with pytest.raises(ValueError, match="n_features must be 2"):
        SecondMoment(1.0, 1).statistic(block(AT))


# The rows that queries see


@pytest.mark.parametrize("d", [1, 2, 3, 17, 200])
@pytest.mark.parametrize("radius", [None, 0.8])
def test_no_row_is_longer_than_the_radius_not_by_one_step_of_the_grid(d, radius):
    """Compare whole numbers, to avoid rounding. Snapping to the nearest grid point would lengthen every second row."""
    domain = Domain.box(-1, 1, d, radius=radius)
    rows = Rows(np.random.default_rng(d).normal(0, 3, (400, d)), domain)._x
    longest = math.floor((domain.radius / GRID) ** 2)
    assert max(sum(int(value) ** 2 for value in row) for row in rows / GRID) <= longest


@pytest.mark.parametrize("d", [3, 7])
def test_a_projected_row_is_added_column_by_column_in_float64(d):
    """A matrix product may add in a different order or in wider registers, depending on the other rows of the block."""
    rng = np.random.default_rng(d)
    x, matrix = snap(rng.uniform(-1, 1, (40, d))), rng.normal(0, 2.0**33, (d, 3))  # large enough to reveal rounding
    expected = np.zeros((40, 3))
    for row, i in np.ndindex(expected.shape):
        for value, weight in zip(x[row].tolist(), matrix[:, i].tolist(), strict=True):
            expected[row, i] += value * weight
    found = projected(Block(x), Projection(matrix))
    np.testing.assert_array_equal(found, snap(expected))
    np.testing.assert_array_equal(np.vstack([projected(Block(row[None]), Projection(matrix)) for row in x]), found)


def test_rows_are_projected_and_added_as_offsets_from_the_projection_s_middle():
    middle, rows = np.array([0.5, -0.25, 0.0]), np.array([[0.75, -0.25, 0.0], [0.5, 0.75, 0.0]])
    about = Projection(np.array([[1.0], [2.0], [0.0]]), middle)
    np.testing.assert_array_equal(projected(Block(rows), about), [[0.25], [2.0]])
    points = np.array([[0.0], [2.0]])
    own = NearestSums(points, 0.5, about).statistic(Block(rows))
    np.testing.assert_allclose(
        own["sums"], [[0.25, 0, 0], [0, 0.5, 0]], atol=1e-6
    )  # the second offset is clipped to .5
    inner = NearestSums(points, 0.5, about, inner=True).statistic(Block(rows))
    np.testing.assert_allclose(inner["sums"], [[0.25], [0.5]], atol=1e-6)
    with pytest.raises(ValueError, match="Projection: middle must lie on the 2\\^-24 grid"):
        Projection(np.eye(3), middle + 2.0**-30)
