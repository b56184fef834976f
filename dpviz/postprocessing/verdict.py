"""Judge a run in one sentence with a fixed form, and suggest what could help.

The sentence in DEMO uses the raw rows and is NOT PRIVATE; the one in PRIVATE uses released values alone.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances_argmin

from dpviz.domain import Domain
from dpviz.geometry import bincount
from dpviz.metrics import reference_name
from dpviz.numbers import chance, length, listed, number, percent, ratio_words, spread_text
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.regions import agreement, has_regions, labels_of
from dpviz.postprocessing.released import CenterNoise, center_noise
from dpviz.privacy.guarantee import Guarantee
from dpviz.trace import Trace

__all__ = [
    "Groups",
    "Verdict",
    "demo_verdict",
    "groups_of",
    "largest_gap",
    "private_verdict",
    "reach",
    "regions_verdict",
    "spread_words",
]

FAR = 1.1  # a loss above this multiple of KMeans' loss is called high
_AGAIN = "Another start of KMeans has about the same loss but divides these rows differently."
_CALMER = (
    "A larger data set: the noise stays the same while the groups grow.",
    "Tighter public bounds: the noise shrinks with them.",
)
LOUD = 0.5  # noise above this share of the smallest group's size is called about as large as the group


@dataclasses.dataclass(frozen=True, eq=False)
class Groups:
    """The true groups, given by declared labels or, without labels, by KMeans; NOT PRIVATE.

    Attributes
    ----------
    means : ndarray of shape (g, d), z units
    radii : ndarray of shape (g,), root mean square distance of a group's rows to its mean, z units
    sizes : ndarray of shape (g,), numbers of rows
    known : whether the groups are declared by labels; False if they are KMeans' clusters
    merged : pairs (a, b) of clusters that share a single center, nearer to b, in another start of KMeans that is about
        as good
    """

    means: np.ndarray
    radii: np.ndarray
    sizes: np.ndarray
    known: bool = True
    merged: frozenset[tuple[int, int]] = frozenset()

    @property
    def word(self) -> str:
        """Return the noun for one of the groups."""
        return "group" if self.known else "cluster"

    @property
    def words(self) -> str:
        """Return the noun for all of the groups, which says whether they are KMeans'."""
        return "groups" if self.known else "KMeans' clusters"

    def doubted(self, rivals: Iterable[np.ndarray]) -> Groups:
        """Return the groups with a record of which of them other starts of KMeans merge.

        `rivals` holds the centers of these starts, (k, d) each, z units.
        """
        merged = set()
        for centers in rivals:
            distances = cdist(self.means, centers)
            own = distances.argmin(axis=0)
            merged |= {(int(a), int(own[distances[a].argmin()])) for a in np.flatnonzero(~self.found_by(centers))}
        return dataclasses.replace(self, merged=frozenset(merged))

    def missed_by(self, centers: np.ndarray) -> np.ndarray:
        """Return the mask (g,) of groups that centers (k, d; z units) do not find although every start of KMeans does.

        Of two groups that are merged, the first never counts as missed, and the second counts as missed only if neither
        is found.
        """
        found = self.found_by(centers)
        missed = ~found
        for first, second in self.merged:
            missed[first] = False
            missed[second] &= not found[first]
        return missed

    def found_by(self, centers: np.ndarray) -> np.ndarray:
        """Return the mask (g,) of groups that have a center (k, d; z units) of their own within their radius.

        A center belongs only to the group with the nearest mean, so that no center serves two groups.
        """
        if not len(centers):
            return np.zeros(len(self.means), dtype=bool)
        distances = cdist(self.means, centers)
        own = distances.argmin(axis=0)
        near = np.where(own[None, :] == np.arange(len(self.means))[:, None], distances, np.inf).min(axis=1)
        return near <= self.radii


def groups_of(X: np.ndarray, domain: Domain, reference: np.ndarray, labels: np.ndarray | None = None) -> Groups:
    """Return the groups of the rows X (n, d), given by labels (n,) or by the nearest reference center (k, d).

    Rows and centers are in original units; rows with a cell that is not finite, or with the label -1, are left out. A
    label of a single row is not a group, because a private center must not represent one person.
    """
    Z, z = domain.normalize(X), domain.normalize(reference)
    finite = np.isfinite(Z).all(axis=1)
    if labels is not None:
        finite &= np.asarray(labels) != -1
    Z = Z[finite]
    codes = pairwise_distances_argmin(Z, z) if labels is None else np.asarray(labels)[finite]
    _, codes = np.unique(codes, return_inverse=True)
    sizes = bincount(codes)
    means = np.stack([bincount(codes, column) / sizes for column in Z.T], axis=1)
    radii = np.sqrt(bincount(codes, ((Z - means[codes]) ** 2).sum(axis=1)) / sizes)
    groups = sizes > 1
    return Groups(means[groups], radii[groups], sizes[groups], known=labels is not None)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The verdict on a run.

    Attributes
    ----------
    parts : short phrases that together form the sentence, in a fixed order
    good : whether every group was found and the loss is not high (PRIVATE: whether every center exceeds its noise)
    why : what went wrong, and whether a center lies at a declared bound, a sentence each; or ""
    help : suggestions, one sentence each; never "spend more"
    missed : indices of the groups without a center (DEMO), except for groups that KMeans itself may merge
    """

    parts: tuple[str, ...]
    good: bool
    why: str = ""
    help: tuple[str, ...] = ()
    missed: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " · ".join(self.parts)


def largest_gap(
    centers: np.ndarray, reference: np.ndarray, domain: Domain, columns: Sequence[str], units: Sequence[str]
) -> str:
    """Return the largest distance between a center and its reference center, as text in the data's units.

    Centers (k', d) and reference centers (k, d), original units, are matched one to one, with the smallest total
    distance in z units. If all columns share a scale and a unit, this is a distance in space; otherwise it is a
    distance in one named column, the column in which it is the largest share of the bounds.
    """
    here, there = domain.normalize(centers), domain.normalize(reference)
    one, other = linear_sum_assignment(cdist(here, there))
    gaps = np.abs(centers[one] - reference[other])
    if domain.one_scale and len(set(units)) == 1:
        return length(float(np.linalg.norm(gaps, axis=1).max()), units[0], 2)
    row, column = np.unravel_index((gaps / domain.half_width).argmax(), gaps.shape)
    return f"{length(float(gaps[row, column]), units[column] if units else '', 2)} in {columns[column]}"


def demo_verdict(
    trace: Trace,
    groups: Groups,
    reference: np.ndarray,
    losses: tuple[float, float],
    columns: Sequence[str],
    units: Sequence[str],
    twice: Guarantee | None = None,
) -> Verdict:
    """Return the verdict on a DEMO run, compared with KMeans on the raw rows: NOT PRIVATE.

    Parameters
    ----------
    reference : ndarray of shape (k, d), KMeans' centers, original units
    losses : the run's loss and KMeans' loss, in the same unit
    twice : the promise of a run with twice the epsilon, or None if there is none; `help` says what it costs
    """
    centers = trace.domain.normalize(trace.cluster_centers)
    hits = groups.found_by(centers)
    ratio = losses[0] / losses[1] if losses[1] > 0 else math.inf if losses[0] > 0 else 1.0
    comparable, against = len(centers) == len(reference), reference_name(trace)
    parts = [f"{int(hits.sum())} of {len(hits)} {groups.words} found"]
    if comparable:
        parts.append(f"{ratio_words(ratio)} × {against}")
        parts.append(f"off by {largest_gap(trace.cluster_centers, reference, trace.domain, columns, units)} at most")
    else:
        parts.append(
            f"{len(centers)} center{'s' * (len(centers) != 1)} where {against} has {len(reference)}: not comparable"
        )
    missed = tuple(np.flatnonzero(groups.missed_by(centers)).tolist())
    noise = center_noise(trace)
    unsure = _AGAIN if not missed and not hits.all() else ""
    return Verdict(
        parts=(*parts, bet(trace)),
        good=not missed and (ratio <= FAR or not comparable),
        why=_why(groups, missed, ratio if comparable else math.nan, noise, len(centers)) or unsure,
        help=_help(trace, twice) if missed or (comparable and ratio > FAR) else (),
        missed=missed,
    )


def private_verdict(
    trace: Trace, columns: Sequence[str], units: Sequence[str], twice: Guarantee | None = None
) -> Verdict:
    """Return the verdict on a private run from released values: number of centers, noise, bet and declared bounds.

    `twice` is the promise of a run with twice the epsilon, or None if there is none; `help` says what it costs.
    """
    if has_regions(trace):
        return Verdict((*_regions(trace), bet(trace)), good=True)
    noise = center_noise(trace)
    k = len(trace.cluster_centers)
    parts = [f"{k} center{'s' * (k != 1)}"]
    if noise.sd is not None:
        # in each column, the largest noise of all centers
        spread = spread_words(noise.sd.max(axis=0), trace.domain, columns, units)
        parts.append(f"noise of {'each center at most' if spread.startswith('±') else 'some centers'} {spread}")
    drowned = 0
    if noise.sizes is not None and noise.sizes_sd is not None:
        drowned = int((noise.sizes < 2 * noise.sizes_sd).sum())
    why = [f"The noisy size of {drowned} of {k} centers cannot be told from zero."] if drowned else []
    if bounds := bounds_sentence(trace, columns, units):
        why.append(bounds)
    advice = _help(trace, twice) if drowned else ()
    return Verdict((*parts, bet(trace)), good=not drowned, why=" ".join(why), help=advice)


def regions_verdict(trace: Trace, X: np.ndarray, groups: np.ndarray | None, reference: np.ndarray) -> Verdict:
    """Return the verdict on a run whose clusters are regions, from the raw rows: NOT PRIVATE. Such a run has no loss.

    Parameters
    ----------
    X : ndarray of shape (n, d), original units
    groups : ndarray of shape (n,) or None, the known group of each row
    reference : ndarray of shape (k, d), KMeans' centers, original units
    """
    clusters = labels_of(trace, X)
    parts = [*_regions(trace), f"{percent(float((clusters >= 0).mean()))} of the people lie in a region"]
    if groups is None:
        return Verdict((*parts, bet(trace)), good=True)
    domain, finite = trace.domain, np.isfinite(X).all(axis=1)
    nearest = pairwise_distances_argmin(domain.normalize(X[finite]), domain.normalize(reference))
    ours, theirs = agreement(clusters[finite], groups[finite]), agreement(nearest, groups[finite])
    parts.append(f"agreement with the known groups {ours:.2f}, KMeans {theirs:.2f} (adjusted Rand index, 1 is best)")
    good = ours >= theirs
    return Verdict(
        (*parts, bet(trace)),
        good=good,
        why="" if good else "KMeans agrees better with the known groups: they are round, or their regions touch.",
        help=()
        if good
        else (
            "A higher density separates regions that touch; a lower one joins regions that fell apart.",
            "Fewer columns: the grid is then finer in each of them.",
        ),
    )


def _regions(trace: Trace) -> list[str]:
    """Return, as text, the number of released regions and their noisy sizes."""
    sizes = np.asarray(trace.steps[-1].released["noisy_counts"])
    listing = listed([f"{max(size, 0):,.0f}" for size in sizes[:3]])
    more = " in the three largest" if len(sizes) > 3 else ""
    return [f"{len(sizes)} region{'s' * (len(sizes) != 1)}", f"about {listing} people{more}"]


def bet(trace: Trace) -> str:
    """Return the promise as a bet: the question, and the largest number of 100 bets that can be won."""
    promise = trace.claimed
    if not promise.private:
        return "no privacy: an attacker wins 100 of 100 bets on anybody" if promise.exact else str(promise)
    odds = bet_of(promise, far=reach(trace))
    delta = f", δ {chance(promise.delta)}" if promise.delta else ""
    each = " a row" if promise.rows_per_person > 1 else ""
    return (
        f"for ε {number(promise.epsilon)}{delta}{each}: an attacker wins at most {odds.odds} of 100 bets on {odds.on}"
    )


def reach(trace: Trace) -> str:
    """Return the longest move of a row that is hidden under a promise about moves, as text in the data's units."""
    return trace.domain.length(float(trace.claimed.rho_distance or 0))


def spread_words(sd: np.ndarray | float, domain: Domain, columns: Sequence[str], units: Sequence[str]) -> str:
    """Return the largest of the standard deviations `sd`, (d,) or one for all columns, as text in the data's units.

    If columns differ in unit or scale, the column is named.
    """
    sd = np.broadcast_to(sd, domain.n_features)
    if sd.max() >= 1:
        return "as wide as the public bounds"
    widths = sd * domain.half_width
    if domain.one_scale and len(set(units)) <= 1:
        return spread_text(float(widths.max()), units[0] if units else "")
    column = int(sd.argmax())
    return f"{spread_text(float(widths[column]), units[column] if units else '')} in {columns[column]}"


def _why(groups: Groups, missed: tuple[int, ...], ratio: float, noise: CenterNoise, k: int) -> str:
    sentences = []
    if missed:
        sizes = sorted(int(groups.sizes[group]) for group in missed)
        which = f"the {groups.word} of {sizes[0]:,} has" if len(missed) == 1 else f"{_listed(sizes, groups.word)} have"
        sentences.append(f"{which} no center" + (", and the loss hides it" if ratio <= FAR else ""))
        if k < len(groups.sizes):
            sentences.append(f"{k} center{'s' * (k != 1)} cannot serve {len(groups.sizes)} {groups.word}s")
        elif noise.sizes_sd is not None and noise.sizes_sd > LOUD * sizes[0]:
            whole = f"that {groups.word}" if len(missed) == 1 else "the smallest"
            sentences.append(f"the noise (±{number(noise.sizes_sd, 2)} rows) is about as large as {whole}")
    elif ratio > FAR:
        sentences.append(f"every {groups.word} has a center, but far from its middle")
    if not sentences:
        return ""
    text = "; ".join(sentences)
    return f"{text[0].upper()}{text[1:]}."


def _listed(sizes: list[int], word: str) -> str:
    """Describe two or more groups by their sizes, given in ascending order."""
    if len(sizes) > 3:
        return f"{len(sizes)} {word}s ({sizes[0]:,} to {sizes[-1]:,} rows)"
    words = [f"{size:,}" for size in sizes]
    return f"the {word}s of {', '.join(words[:-1])} and {words[-1]}"


def _help(trace: Trace, twice: Guarantee | None) -> tuple[str, ...]:
    """Return suggestions from public values; do not say "spend more", but what a larger budget changes and costs."""
    k = len(trace.cluster_centers)
    fewer = (f"Fewer centers than {k}: each center then serves a larger group.",) if k > 1 else ()
    if not trace.claimed.private:
        return ("Another start (seed): KMeans, too, can end in a poor solution.",)
    if twice is None:
        return (*fewer, *_CALMER)
    promise, noise = trace.claimed, "lowers the noise"
    if twice.mu is not None and promise.mu is not None:
        noise = f"divides the noise by about {twice.mu / promise.mu:.1f}"
    return (
        *fewer,
        *_CALMER,
        f"Twice the ε {noise}, and an attacker wins up to {bet_of(twice).odds} of 100 bets instead of "
        f"{bet_of(promise).odds}.",
    )
