"""The registry: slug -> class, written by hand, in teaching order."""

from dpviz.algorithms.aug_pe import AugPE
from dpviz.algorithms.balcan import Balcan
from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.continual import Continual
from dpviz.algorithms.dist_dp import DistDP
from dpviz.algorithms.dist_dp_random_points import DistDPRandomPoints
from dpviz.algorithms.dist_dp_region_means import DistDPRegionMeans
from dpviz.algorithms.dp_dbscan import DPDBSCAN
from dpviz.algorithms.dp_em import DPEM
from dpviz.algorithms.dp_lloyd import DPLloyd
from dpviz.algorithms.dpm import DPM
from dpviz.algorithms.em_mc import EMMC
from dpviz.algorithms.eugkm import EUGkM
from dpviz.algorithms.fastlloyd import FastLloyd
from dpviz.algorithms.glloyd import GLloyd
from dpviz.algorithms.hdpe_means import HDPEMeans
from dpviz.algorithms.kmeans import KMeans
from dpviz.algorithms.lsh_splits import LSHSplits
from dpviz.algorithms.nsm import NSM
from dpviz.algorithms.pe_means import PEMeans
from dpviz.algorithms.privtree import PrivTree
from dpviz.algorithms.stemmer_kaplan import StemmerKaplan
from dpviz.algorithms.stemmer_kaplan_local import StemmerKaplanLocal
from dpviz.algorithms.stemmer_kaplan_shuffle import StemmerKaplanShuffle
from dpviz.algorithms.stemmer_kaplan_swap import StemmerKaplanSwap
from dpviz.algorithms.sulloyd import SuLloyd

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
        EUGkM,
        DPEM,
        Continual,
        DPM,
        PrivTree,
        DPDBSCAN,
        EMMC,
        LSHSplits,
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
RECOMMENDED = "nsm"  # what the app offers first: lowest loss over most budgets of all of them

__all__ = ["ALGORITHMS", "RECOMMENDED", "Algorithm"]
