"""Registry of algorithms by slug: ours in teaching order, then those added from outside."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from dpviz.algorithms import outside
from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.dist_dp.dist_dp import DistDP
from dpviz.algorithms.dist_dp.random_points import DistDPRandomPoints
from dpviz.algorithms.dist_dp.region_means import DistDPRegionMeans
from dpviz.algorithms.dp_em import DPEM
from dpviz.algorithms.evolution.aug_pe import AugPE
from dpviz.algorithms.evolution.hdpe_means import HDPEMeans
from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.grids.continual import Continual
from dpviz.algorithms.grids.dp_dbscan import DPDBSCAN
from dpviz.algorithms.grids.eugkm import EUGkM
from dpviz.algorithms.kmeans import KMeans
from dpviz.algorithms.lloyd.choose_k import ChooseK
from dpviz.algorithms.lloyd.dp_lloyd import DPLloyd
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.algorithms.lloyd.glloyd import GLloyd
from dpviz.algorithms.lloyd.public_start import PublicStart
from dpviz.algorithms.lloyd.sulloyd import SuLloyd
from dpviz.algorithms.mst_kmeans import MSTKMeans
from dpviz.algorithms.nsm.nsm import NSM
from dpviz.algorithms.pseudocode import Line
from dpviz.algorithms.stemmer_kaplan.balcan import Balcan
from dpviz.algorithms.stemmer_kaplan.local import StemmerKaplanLocal
from dpviz.algorithms.stemmer_kaplan.shuffle import StemmerKaplanShuffle
from dpviz.algorithms.stemmer_kaplan.stemmer_kaplan import StemmerKaplan
from dpviz.algorithms.stemmer_kaplan.swap import StemmerKaplanSwap
from dpviz.algorithms.trees.dpm import DPM
from dpviz.algorithms.trees.em_mc import EMMC
from dpviz.algorithms.trees.lsh_splits import LSHSplits
from dpviz.algorithms.trees.privtree import PrivTree

ALGORITHMS: dict[str, type[Algorithm]] = {
    cls.slug: cls
    for cls in (
        KMeans,
        PEMeans,
        HDPEMeans,
        AugPE,
        DPLloyd,
        SuLloyd,
        GLloyd,
        FastLloyd,
        PublicStart,
        ChooseK,
        EUGkM,
        DPEM,
        Continual,
        DPM,
        PrivTree,
        DPDBSCAN,
        EMMC,
        LSHSplits,
        MSTKMeans,
        NSM,
        StemmerKaplan,
        StemmerKaplanSwap,
        StemmerKaplanShuffle,
        StemmerKaplanLocal,
        Balcan,
        DistDP,
        DistDPRegionMeans,
        DistDPRandomPoints,
    )
}
RECOMMENDED = "nsm"  # the app's default algorithm, because it has the lowest loss for most budgets

__all__ = ["ALGORITHMS", "RECOMMENDED", "Algorithm", "add_files", "add_programs", "lines_of"]

outside.everything(ALGORITHMS)


def add_files(paths: Iterable[str | Path]) -> list[str]:
    """Register the algorithms that Python files define, in this process and its children; return their slugs.

    Raises
    ------
    ValueError
        If a file cannot be added; see `dpviz.algorithms.outside.load`.
    """
    slugs = []
    for path in map(Path, paths):
        slugs += outside.load(path.absolute(), ALGORITHMS)
        files = os.environ.get(outside.FILES, "").split(os.pathsep)
        os.environ[outside.FILES] = os.pathsep.join(dict.fromkeys([*filter(None, files), str(path.absolute())]))
    return slugs


def add_programs(places: Iterable[str]) -> list[str]:
    """Register clusterers from other libraries (MODULE:CLASS) in this process and its children; return their slugs.

    Raises
    ------
    ValueError
        If a class cannot be added; see `dpviz.algorithms.outside.hire`.
    """
    slugs = []
    for place in places:
        slugs.append(outside.hire(place, ALGORITHMS))
        known = os.environ.get(outside.PROGRAMS, "").split(",")
        os.environ[outside.PROGRAMS] = ",".join(dict.fromkeys([*filter(None, known), place]))
    return slugs


def lines_of(slug: str, kinds: Collection[str]) -> tuple[Line, ...]:
    """Return the pseudo-code for steps of these kinds: the algorithm's own, or its substitute's."""
    codes = (ALGORITHMS[slug].CODE, *(cls.CODE for cls in ALGORITHMS.values()))
    return next((code for code in codes if set(kinds) <= {kind for line in code for kind in line.kinds}), codes[0])
