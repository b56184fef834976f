"""Check that the loss of few rows is computed by one thread, and that this changes no digit of it."""

import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits

from dpviz.geometry import kernels


def test_few_rows_have_their_loss_computed_by_one_thread(monkeypatch):
    """With few rows, threads mostly wait for each other: the same sum took eight times the processor's time."""
    limits, values, real = [], [], kernels.pairwise_distances_argmin_min

    def counted(*given, **more):
        libraries = ThreadpoolController().select(user_api="openmp").lib_controllers
        limits.append({library.num_threads for library in libraries})
        values.append(float(real(*given, **more)[1].sum()))
        with threadpool_limits(2, "openmp"):
            values.append(float(real(*given, **more)[1].sum()))
        return real(*given, **more)

    monkeypatch.setattr(kernels, "pairwise_distances_argmin_min", counted)
    rows = np.random.default_rng(0).normal(size=(kernels._PARALLEL_ROWS, 2))
    with threadpool_limits(2, "openmp"):
        kernels.inertia(rows, rows[:3])
        kernels.inertia(rows[:-1], rows[:3])
    assert limits == [{2}, {1}] and values[0] == values[1] and values[2] == values[3]
