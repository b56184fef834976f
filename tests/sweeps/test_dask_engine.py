"""Check a real Dask cluster of two worker processes: it gives the same rows, even if a worker is killed on the way."""

import os
import signal
import time
from functools import partial

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets.parts import Part, parts_of
from dpviz.domain import Domain
from dpviz.privacy import chunked
from dpviz.privacy.chunked import ChunkedRows, on_cluster
from dpviz.sweeps.dask_engine import LOCAL, cluster, connect
from dpviz.sweeps.sweep import MEASURED, Sweep, Variant, execute, failed_row

distributed = pytest.importorskip("dask.distributed", reason='needs pip install ".[cluster]"')
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.flaky(reruns=2, only_rerun="Nanny failed to start"),  # Dask gives it 30 s
]

SWEEP = Sweep(data=("sample:tiny",), variants=(Variant("pe-means", "pe-means"),), epsilon=(1.0, 2.0, 4.0), repeats=4)


@pytest.fixture(scope="module")
def client():
    """Return a cluster that gives up a task after two dead workers, not Dask's four, because replacing one is slow."""
    from dask import config

    with config.set({"distributed.scheduler.allowed-failures": 1}), connect(LOCAL, 2) as found:
        yield found


def same(row):
    return {name: value for name, value in row.items() if name not in MEASURED}


def replaced(client, victim):
    """Wait until a worker has died and the nanny has replaced it; there is no time limit besides the suite's."""
    while len(now := client.run(os.getpid, on_error="ignore")) < 2 or victim in now.values():
        time.sleep(0.1)


def slowly(cell):
    time.sleep(0.3)
    return execute(cell)


def test_a_killed_worker_loses_doubles_and_changes_nothing(client):
    expected = {row["key"]: same(row) for row in map(execute, SWEEP.runs())}
    victims = list(client.run(os.getpid).values())
    assert len(victims) == 2
    found = []
    for row in cluster(list(SWEEP.runs()), slowly, failed_row, client=client):
        if not found:
            os.kill(victims[0], signal.SIGKILL)
        found.append(row)
    replaced(client, victims[0])
    assert len(found) == len(expected) and {row["key"]: same(row) for row in found} == expected


def die(cell):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_cell_that_kills_its_workers_becomes_a_failed_row(client):
    (row,) = cluster([next(SWEEP.runs())], die, failed_row, client=client)
    assert row["status"] == "failed" and "KilledWorker" in row["reason"]


def behind_a_gate(cell, folder):
    """Record that a run has begun, wait until the gate opens, and run the cell."""
    (folder / f"begun-{os.getpid()}-{time.monotonic_ns()}").touch()
    while not (folder / "open").exists():
        time.sleep(0.02)
    return execute(cell)


def test_a_stop_cancels_what_has_not_begun(client, tmp_path):
    """Check that two workers with one thread each begin one run each, and that the other ten runs never begin."""

    def stop():
        raise InterruptedError

    client.wait_for_workers(2, timeout=240)
    run = partial(behind_a_gate, folder=tmp_path)
    with pytest.raises(InterruptedError):
        list(cluster(list(SWEEP.runs()), run, failed_row, client=client, on_wait=stop))
    (tmp_path / "open").touch()
    while any(client.processing().values()):  # only the suite's time limit ends this loop early
        time.sleep(0.1)
    assert len(list(tmp_path.glob("begun-*"))) <= 2


def test_a_cluster_without_workers_is_one_sentence_not_a_wait_for_ever(monkeypatch):
    monkeypatch.setattr(chunked, "NOBODY_SECONDS", 0.5)
    with connect(LOCAL, 0) as empty:
        with pytest.raises(ValueError, match="no worker is left"):
            list(on_cluster(empty)(len, [Part("rows.npy", 0, 1)]))
        with pytest.raises(ValueError, match="no worker is left"):
            list(cluster(list(SWEEP.runs()), execute, failed_row, client=empty))


def test_rows_on_a_cluster_are_bit_equal_to_memory(client, tmp_path):
    X = np.random.default_rng(0).normal(0, 0.3, (5000, 4)).clip(-1, 1)
    np.save(tmp_path / "rows.npy", X)
    domain = Domain.box(-1, 1, 4, n_public=5000)
    rows = ChunkedRows(parts_of(tmp_path / "rows.npy", part_rows=900), domain, "unnamed", on_cluster(client))
    for slug in ("pe-means", "nsm"):
        algorithm = ALGORITHMS[slug](n_clusters=3)
        on_disk, memory = algorithm.run(rows, seed=1), algorithm.run(X, domain=domain, seed=1)
        np.testing.assert_array_equal(on_disk.cluster_centers, memory.cluster_centers)
        assert on_disk.ledger == memory.ledger


def test_a_worker_killed_in_mid_run_changes_no_bit(client, tmp_path):
    X = np.random.default_rng(0).normal(0, 0.3, (5000, 4)).clip(-1, 1)
    np.save(tmp_path / "rows.npy", X)
    domain, algorithm = Domain.box(-1, 1, 4, n_public=5000), ALGORITHMS["pe-means"](n_clusters=3)
    client.wait_for_workers(2, timeout=240)
    rows = ChunkedRows(parts_of(tmp_path / "rows.npy", part_rows=900), domain, "unnamed", on_cluster(client))
    victims = []

    def kill_once(step):
        if not victims:
            victims.append(next(iter(client.run(os.getpid).values())))
            os.kill(victims[0], signal.SIGKILL)

    on_disk, memory = algorithm.run(rows, seed=1, on_step=kill_once), algorithm.run(X, domain=domain, seed=1)
    np.testing.assert_array_equal(on_disk.cluster_centers, memory.cluster_centers)
    assert on_disk.ledger == memory.ledger
    replaced(client, victims[0])


class Deadly:
    def __call__(self, part):
        os.kill(os.getpid(), signal.SIGKILL)


def test_parts_that_kill_their_workers_are_one_sentence(client):
    with pytest.raises(ValueError, match="workers keep dying on a part of the file"):
        list(on_cluster(client)(Deadly(), [Part("rows.npy", 0, 1)]))
    client.wait_for_workers(2, timeout=240)


def test_the_command_line_reads_a_file_on_a_cluster(client, tmp_path, capsys):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).uniform(-1, 1, (500, 2)))
    command = ["run", "nsm", "--data", str(tmp_path / "rows.npy"), "--low", "-1", "--high", "1", "--n-public", "500"]
    said = []
    for more in (["--in-parts"], ["--cluster", client.scheduler.address]):
        assert main([*command, "--public", *more]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert main(["run", "nsm", "--data", "sample:tiny", "--cluster", LOCAL]) == 2
    assert "a sample fits in memory" in capsys.readouterr().err
    assert main([*command, "--private", "--cluster", "tcp://10.0.0.7:8786"]) == 2
    assert "must begin with tls://" in capsys.readouterr().err


def test_the_scheduler_listens_on_this_machine_only(client):
    assert client.scheduler.address.startswith("tcp://127.0.0.1:")


@pytest.mark.parametrize("address", ["tcp://10.0.0.7:8786", "head.example.org:8786"])
def test_an_address_elsewhere_needs_tls(address):
    with pytest.raises(ValueError, match="must begin with tls://"), connect(address):
        pass


def test_a_cluster_is_optional(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **more):
        if name.startswith("dask"):
            raise ImportError
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r'pip install "\.\[cluster\]"'), connect(LOCAL):
        pass
