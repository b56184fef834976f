"""Base class of all algorithms: a frozen dataclass of public parameters whose `steps` method reads like the paper."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from dpviz import params, validate
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.geometry import alone
from dpviz.postprocessing.center_sd import blurred, lone
from dpviz.privacy import accounting, ledger
from dpviz.privacy.costs import COSTS, Report, Shuffled
from dpviz.privacy.curator import Curator, Hidden
from dpviz.privacy.delta import allowed, meaning
from dpviz.privacy.guarantee import BY_AUTHORS, TRUST, Guarantee, Neighboring, Notion
from dpviz.privacy.noise import Noise, Secure, Seeded, caution
from dpviz.privacy.plan import Plan
from dpviz.privacy.rows import Rows, marked
from dpviz.trace import Coreset, Step, Trace

__all__ = ["Algorithm", "ApproximateDP", "StepFailed", "delta", "delta_rule", "misnamed"]

_MOST_KEPT = 20_000_000  # maximum declared n under a relation that keeps n, because missing rows are added in memory


class StepFailed(Exception):
    """A step of an outside algorithm failed; `guarded` says so without the error's message, which may tell of rows."""

    def __init__(self, words: str, guarded: str) -> None:
        super().__init__(words)
        self.guarded = guarded


@dataclasses.dataclass(frozen=True, kw_only=True)
class Algorithm:
    """Base class of all algorithms. A subclass's fields are PUBLIC: they appear in forms, links, sweeps and cache keys.

    A subclass defines `name`, `slug`, `tagline`, `CODE`, its parameters, `plan` and `steps`. The "centers" released by
    the last step are the result; "coreset_points", "coreset_weights" and "coreset_sd" become the coreset. `run`
    projects the centers and the coreset onto the declared box and ball, which contain every row, so no center moves
    away from any row. Steps keep the unprojected values, except for the centers of the last step.
    """

    name: ClassVar[str]
    slug: ClassVar[str]
    tagline: ClassVar[str] = ""
    neighboring: ClassVar[Neighboring] = Neighboring.ADD_REMOVE
    notion: ClassVar[Notion] = Notion.CENTRAL
    trust: ClassVar[str] = TRUST[Notion.CENTRAL]
    fixed_ledger: ClassVar[bool] = True  # False if the number of releases depends on released values.
    regions: ClassVar[bool] = False  # True if clusters are regions, so distances to centers do not describe them.
    learns_sensitivity: ClassVar[bool] = False  # True if a clipping radius depends on released values.
    # True if a run reuses the seed of an earlier run and therefore needs noise of its own.
    follows_a_run: ClassVar[bool] = False
    marks_outside: ClassVar[bool] = False  # True if it asks only which rows lie outside the bounds, before clipping.
    takes_public_rows: ClassVar[bool] = False  # True if it can start from rows that are declared public.
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {}
    CODE: ClassVar[tuple[Line, ...]] = ()  # pseudo-code, six to ten lines
    AUDIT: ClassVar[dict[str, Any]] = {}  # parameter values for a second audit, which change the releases

    n_clusters: int = params.param(8, low=1, high=256, help="Number of centers to release; a public number.")

    def __post_init__(self) -> None:
        params.check(self.name, self)

    @classmethod
    def preset(cls, preset: str, **values: Any) -> Self:
        """Return an instance with the values of a named preset; `values` override them."""
        validate.one_of(cls.name, cls.PRESETS, preset=preset)
        return cls(**{**cls.PRESETS[preset], **values})

    @classmethod
    def called(cls, values: Mapping[str, Any], k: int | str) -> str:
        """Return the name beside methods with exactly k centers, given the run's parameters.

        A method that finds its own number of centers has the parameter `exactly_k`; set, k-means merges the centers.
        """
        return f"{cls.name}, then {k} centers" if values.get("exactly_k") else cls.name

    @classmethod
    def finds_k(cls) -> bool:
        """Return whether the method finds the number of clusters itself, unless its parameter `exactly_k` is set."""
        return cls.regions or "exactly_k" in params.specs(cls)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return the releases that a run may make and their costs; use public values only."""
        raise NotImplementedError

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Yield the steps in order; everything that depends on rows comes from the curator."""
        raise NotImplementedError

    def resolved_delta(self, n_public: int) -> float:
        """Return delta, or if it is None the value of `delta_rule`, which algorithms with a paper's rule have.

        Raises
        ------
        ValueError
            If a paper's rule gives 1 because n_public is 1.
        """
        given = getattr(self, "delta", None)
        if given is not None:
            return given
        rule = getattr(self, "delta_rule", accounting.DEFAULT_DELTA)
        delta = accounting.DELTAS[rule](n_public)
        if delta >= 1:
            raise ValueError(f"{self.name}: n must be at least 2 if delta is left empty ({rule}); give a delta.")
        return delta

    def guarantee(self, n_features: int, n_public: int, *, rows_per_person: int = 1) -> Guarantee:
        """Return the guarantee: the plan's total, computed from parameters and public facts alone."""
        total = self.plan(n_features, n_public).total(self.resolved_delta(n_public))
        return self._promise(total, (f"n = {n_public} declared",), rows_per_person)

    def scaled(self, times: float) -> Self | None:
        """Return the algorithm with `times` its epsilon, or None if it has no epsilon or allows no such value."""
        spec = params.specs(type(self)).get("epsilon")
        if spec is None:
            return None
        epsilon = times * getattr(self, "epsilon")  # noqa: B009, as only some algorithms have one
        allowed = (spec.low is None or epsilon >= spec.low) and (spec.high is None or epsilon <= spec.high)
        return dataclasses.replace(self, epsilon=epsilon) if allowed else None  # type: ignore[call-arg]

    def releases(self, n_features: int, n_public: int) -> int:
        """Return the largest number of releases that the plan allows."""
        return self.plan(n_features, n_public).most_releases

    def runs(self, n_features: int, n_public: int) -> Algorithm:
        """Return the algorithm to run: this one, or one with ordinary DP if that has a lower expected loss.

        The substitute hides any change of one row, at the same epsilon and delta.
        """
        return self

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values; pages estimate the running time by it."""
        return 1e5 + max(self.releases(n_features, n_public), 1) * (1.5e4 + n_public * (n_features + 2.0))

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return warnings that follow from public values."""
        delta = self.resolved_delta(n_public)
        return (f"{self.name}: {allowed(delta, n_public)}",) if self.notion.private and delta * n_public >= 1 else ()

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return warnings that follow from `released`, the values of the last step of each kind."""
        return ()

    def blurred(self, end: Mapping[str, Any], counts: np.ndarray, domain: Domain) -> tuple[str, ...]:
        """Return a warning if nearly all rows are nearest to one center, or if noise dominates the averages."""
        if lone(counts):
            return (
                f"{self.name}: by the noisy counts, nearly all rows are nearest to one center, so a single center may "
                "do as well. Declare narrower bounds if you know them, or use more rows.",
            )
        if not blurred(counts, end["center_sd"], domain.radius):
            return ()
        return (
            f"{self.name}: the noise in the averages is about as large as the domain, so a single center may do as "
            "well. Use more rows, fewer columns or centers, or narrower bounds if you know them.",
        )

    def with_public_rows(self, X: Any, domain: Domain) -> Self:
        """Return this algorithm with public facts computed from rows (m, d) that are declared public.

        Raises
        ------
        ValueError
            If it uses no such rows.
        """
        raise ValueError(f"{self.name}: this method uses no public rows; leave them out or choose Public start.")

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Raise a ValueError if `run` refuses this domain and number of rows, so that nothing is booked for it."""
        if self.n_clusters > n_public:
            raise ValueError(f"{self.name}: n_clusters must be <= n = {n_public}; got {self.n_clusters}.")

    def run(
        self,
        X: np.ndarray | Rows,
        *,
        domain: Domain | None = None,
        seed: int | None = None,
        noise: str = "seeded",
        on_step: Callable[[Step], None] | None = None,
        dataset_id: str = "unnamed",
    ) -> Trace:
        """Run on rows and return the frozen trace.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) in original units, or Rows (which several runs can share)
        domain : Domain; required with an array
        seed : int; required with noise="seeded", forbidden with noise="secure"
        noise : "seeded" (DEMO: reproducible, keeps hidden truth), "secure" (no seed, no hidden truth) or "none" (DEMO:
            every release is the true answer, epsilon = infinity; parameters derived from epsilon use the given epsilon)
        on_step : called with every finished Step; it may raise `dpviz.trace.Cancelled`
        """
        rows = self._rows(X, domain, dataset_id)
        init_rng, source = self._randomness(seed, noise)
        if noise == "none" and rows.noise is not None:
            raise ValueError(f"{self.name}: noise must not be 'none' if several parties draw it together.")
        source = rows.noise or source
        if source.reproducible and rows.size_nonprivate() == 0:
            raise ValueError(f"{self.name}: the data must have at least one row of finite numbers; got none.")
        n_public, public = self._size(rows, source)
        self.check_domain(rows.domain, n_public)
        plan = self.plan(rows.n_features, n_public)
        if why := misnamed(self, plan):
            raise ValueError(f"{self.name}: {why}. Nothing was read.")
        delta = self.resolved_delta(n_public)
        hidden: list[Hidden] | None = [] if source.reproducible else None
        curator = Curator(
            rows,
            plan,
            source,
            neighboring=self.neighboring,
            n_public=n_public,
            hidden=hidden,
            rho_distance=getattr(self, "rho_distance", math.inf),
            exact=noise == "none",
        )
        steps: list[Step] = []
        try:
            with alone():  # the same seed gives the same trace with any number of threads
                for draft in self.steps(curator, rows.domain, init_rng):
                    step = dataclasses.replace(
                        draft,
                        released=freeze(draft.released),
                        index=len(steps),
                        hidden=tuple(hidden or ()),
                        n_releases=len(curator.ledger),
                    )
                    steps.append(step)
                    if hidden:
                        hidden.clear()
                    if on_step is not None:
                        on_step(step)
        except StepFailed as failure:
            raise ValueError(failure.guarded if hidden is None else str(failure)) from None

        result = freeze(rows.domain.inside(steps[-1].released["centers"]))
        steps[-1] = _projected(steps[-1], rows.domain)

        def promise(total: accounting.Total) -> Guarantee:
            if noise == "none":
                return Guarantee.none()
            return self._promise(total, public, rows.domain.rows_per_person, rows.trust)

        return Trace(
            algorithm=self.slug,
            name=self.name,
            parameters=freeze({field.name: getattr(self, field.name) for field in dataclasses.fields(self)}),
            dataset_id=rows.dataset_id,
            domain=rows.domain,
            seed=seed if source.reproducible else None,
            steps=tuple(steps),
            plan=plan,
            ledger=curator.ledger,
            claimed=promise(plan.total(delta)),
            spent=promise(ledger.spent(curator.ledger, delta)),
            cluster_centers=result,
            coreset=_coreset(steps, rows.domain),
            sampler="" if noise == "none" else _sampler(source, curator.ledger, shared=rows.noise is not None),
            warnings=(
                *filter(None, ["" if source.reproducible else caution()]),
                *_doubts(self.name, curator),
                *self.doubts({step.kind: step.released for step in steps}, rows.domain),
            ),
        )

    def _promise(
        self, total: accounting.Total, public: tuple[str, ...], rows_per_person: int, trust: str = ""
    ) -> Guarantee:
        return Guarantee(
            notion=self.notion,
            neighboring=self.neighboring,
            epsilon=total.epsilon,
            delta=total.delta,
            mu=total.mu,
            pure_epsilon=total.pure_epsilon,
            zcdp=total.zcdp,
            rho_distance=getattr(self, "rho_distance", None),
            trust=f"{BY_AUTHORS * self.trust.startswith(BY_AUTHORS)}{trust}" if trust else self.trust,
            public=("all parameters", "the domain", *public),
            rows_per_person=rows_per_person,
        )

    def _rows(self, X: np.ndarray | Rows, domain: Domain | None, dataset_id: str) -> Rows:
        if isinstance(X, Rows):
            if self.marks_outside:
                raise ValueError(f"{self.name}: the rows must be given as they were read, because Rows are clipped.")
            return X
        if domain is None:
            raise ValueError(f"{self.name}: a domain must be given: the public bounds of the data.")
        if self.marks_outside:
            return marked(X, domain, dataset_id)
        return Rows(X, domain, dataset_id)

    def _randomness(self, seed: int | None, noise: str) -> tuple[np.random.Generator, Noise]:
        """Return separate generators for choices and noise, so that the initial centers do not depend on epsilon."""
        validate.one_of(self.name, ("seeded", "secure", "none"), noise=noise)
        if noise == "none" and self.notion in (Notion.LOCAL, Notion.SHUFFLE):
            raise ValueError(f"{self.name}: noise must not be 'none'; an unrandomized report is the row itself.")
        if noise == "secure":
            if seed is not None:
                raise ValueError(
                    f"{self.name}: seed must not be given with noise='secure'; a known seed undoes the noise."
                )
            return np.random.default_rng(), Secure()
        validate.integer(self.name, 0, None, seed=seed)
        sequence = np.random.SeedSequence(seed, spawn_key=(2,) if self.follows_a_run else ())
        init, draws = (np.random.default_rng(child) for child in sequence.spawn(2))
        return init, Seeded(draws)

    def _size(self, rows: Rows, source: Noise) -> tuple[int, tuple[str, ...]]:
        """Return the public n and a description of its source; only a seeded simulation may count the rows."""
        declared = rows.domain.n_public
        if declared is not None and self.neighboring is Neighboring.ADD_REMOVE:
            return declared, (f"n = {declared} declared",)
        if declared is not None:
            validate.integer(self.name, None, _MOST_KEPT, n_public=declared)
            return declared, (
                f"n = {declared} declared: extra rows are cut off, and missing ones are added at the domain's middle",
            )
        if not source.reproducible:
            raise ValueError(f"{self.name}: n_public must be declared in the domain for a private release.")
        n_is_fixed = self.neighboring is not Neighboring.ADD_REMOVE
        return rows.size_nonprivate(every=True) if n_is_fixed else rows.size_nonprivate(), ("n taken from the data",)


def delta(neighboring: Neighboring = Neighboring.ADD_REMOVE) -> Any:
    """Return the parameter `delta` of an algorithm that hides a difference between `neighboring` data sets."""
    return params.param(
        None,
        low=1e-12,
        high=0.5,
        log=True,
        kind="float",
        advanced=True,
        help=f"{meaning(neighboring).capitalize()}. Keep δ far below 1/n. Default: {accounting.DEFAULT_DELTA}.",
    )


def delta_rule() -> Any:
    """Return the parameter `delta_rule` of an algorithm whose paper has a rule of its own for the default delta."""
    return params.param(
        accounting.DEFAULT_DELTA,
        choices=tuple(accounting.DELTAS),
        advanced=True,
        help="Rule for the default delta, a function of the number of rows; all but the first are the papers'.",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class ApproximateDP(Algorithm):
    """Base class of algorithms with a budget of epsilon and delta."""

    epsilon: float = params.param(
        1.0,
        low=0.01,
        high=100,
        log=True,
        help="A smaller epsilon gives more noise and more privacy. It is always stated together with delta.",
    )
    delta: float | None = delta()


def misnamed(algorithm: Algorithm, plan: Plan) -> str:
    """Return why an algorithm's notion does not fit the costs in its plan, in words, or ""."""
    notion, neighboring = algorithm.notion, algorithm.neighboring
    costs = {type(cost).__name__ for costs in plan.costs.values() for cost in costs}
    reports = {Notion.LOCAL: {Report.__name__}, Notion.SHUFFLE: {Shuffled.__name__}}
    if notion in reports and (others := costs - reports[notion]):
        return f"it says {notion}, where people send reports, but its plan has {', '.join(sorted(others))}"
    if notion.private and (notion is Notion.RHO) != (neighboring is Neighboring.MOVE_RHO):
        return f"it says {notion}, but its promise is about {neighboring.unit}"
    return ""


def _doubts(name: str, curator: Curator) -> tuple[str, ...]:
    """Return a warning if released counts show that the declared n is far off."""
    noisy, declared = curator.n_noisy, curator.n_public
    if noisy is None:
        return ()
    likely = np.clip(declared, noisy.value - 4 * noisy.sd, noisy.value + 4 * noisy.sd)
    if declared / 2 <= likely <= 2 * declared:
        return ()
    told = f"{name}: the noisy counts suggest about {max(noisy.value, 0):,.0f} rows, but n = {declared:,} is declared. "
    if likely < declared:
        told += (
            "Rows are left out if a line has more cells than there are names, or if a cell is missing or is not a "
            "number: mend the file, fill missing cells (--missing middle) or leave their columns out. Otherwise "
        )
    correct = "correct the declared n before the next run, because noise, delta and the number of steps depend on it."
    return (told + (correct if likely < declared else correct.capitalize()),)


def _sampler(source: Noise, entries: Sequence[ledger.Release], *, shared: bool) -> str:
    """Say what drew the noise of a run, which follows from the mechanisms in its ledger and never from rows."""
    if source.reproducible:
        return source.sampler
    by_coins = [entry.mechanism not in COSTS for entry in entries]
    drew = [source.sampler] * (not all(by_coins)) + ["coins of the operating system"] * any(by_coins)
    return " and ".join(drew) + " at this client; every client draws its own share" * shared


def _projected(step: Step, domain: Domain) -> Step:
    """Return the last step with its centers projected onto the box and ball, so that pictures agree with the result."""
    return dataclasses.replace(
        step, released=freeze({**step.released, "centers": domain.clip(np.asarray(step.released["centers"]))})
    )


def _coreset(steps: list[Step], domain: Domain) -> Coreset | None:
    for step in reversed(steps):
        if "coreset_points" in step.released:
            return Coreset(
                freeze(domain.inside(step.released["coreset_points"])),
                step.released["coreset_weights"],
                step.released["coreset_sd"],
            )
    return None
