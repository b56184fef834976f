"""Compute on the grid: nearest points, packings, projections, quadtrees."""

from dpviz.geometry.kernels import (
    GRID,
    Population,
    bincount,
    clip_ball,
    cluster_sums,
    fold,
    in_cache,
    inertia,
    levy_steps,
    nearest,
    product,
    random_projection,
    snap,
    snap_toward_zero,
    together,
)
from dpviz.geometry.packing import (
    pack_cube,
    sphere_pack,
    uniform_ball,
)
from dpviz.geometry.threads import alone

__all__ = [
    "GRID",
    "Population",
    "alone",
    "bincount",
    "clip_ball",
    "cluster_sums",
    "fold",
    "in_cache",
    "inertia",
    "levy_steps",
    "nearest",
    "pack_cube",
    "product",
    "random_projection",
    "snap",
    "snap_toward_zero",
    "sphere_pack",
    "together",
    "uniform_ball",
]
