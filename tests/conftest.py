"""Give every test its own state folder, so that no test writes to the user's folder, and start no extra processes."""

import asyncio
import gc
import itertools
import os
import sys

# set before NumPy is imported, because threads of two test processes block each other
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from dpviz.algorithms import ALGORITHMS, outside
from dpviz.datasets import readers
from dpviz.datasets.readers import child
from dpviz.privacy import queries

os.environ.setdefault("DPVIZ_WORKERS", "0")  # pages compute in this process; browser tests start real processes

collect_ignore = ["recorder"]  # the folder has a module `sitecustomize`, as Debian's Python has


def pytest_ignore_collect(collection_path, config):
    """Do not import the browser tests if slow tests are deselected, because all browser tests are slow."""
    return True if collection_path.name == "browser" and config.option.markexpr == "not slow" else None


def pytest_collection():
    gc.disable()  # collected tests stay in memory; searching them for garbage took a sixth of the time


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Say why a browser test was repeated, because its own report holds only the last attempt."""
    for report in terminalreporter.stats.get("rerun", ()):
        crash = getattr(report.longrepr, "reprcrash", None)
        words = str(crash.message if crash else report.longrepr)
        terminalreporter.write_line(
            f"RERUN {report.nodeid}: {words if len(words) < 1200 else words[:600] + words[-600:]}"
        )


_numbers = itertools.count()  # pytest itself would scan all folders to number the next one


@pytest.fixture(autouse=True)
def state_folder_of_a_test(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path_factory.getbasetemp() / f"state{next(_numbers)}"))
    monkeypatch.delenv("DPVIZ_ACCOUNTS_URL", raising=False)
    monkeypatch.setenv("DPVIZ_OWNER", "local")  # a script under test has no connection that names an owner


_before = [False]  # whether the previous test used a browser


@pytest.fixture(autouse=True)
def no_loop_of_a_browser(request):
    """Hide Playwright's loop from other tests, because it stays marked as running on this thread between browser tests.

    It also leaves greenlets, one of which breaks Python 3.11 if it is collected during a parse.
    """
    browser, after = request.node.get_closest_marker("browser") is not None, _before[0]
    _before[0] = browser
    loop = None if browser else asyncio._get_running_loop()
    if after and not browser:
        gc.collect()
    if loop is not None:
        asyncio._set_running_loop(None)
    yield
    if loop is not None:
        asyncio._set_running_loop(loop)


@pytest.fixture(autouse=True)
def files_are_read_here(monkeypatch):
    """Read hundreds of small workbooks and Parquet files in this process; `test_apart` starts the real processes."""
    monkeypatch.setattr(readers, "read_apart", child.read)


@pytest.fixture
def registry():
    """Return the registry of algorithms; those that a test adds are removed afterward."""
    # not by `monkeypatch`, which a test may undo; a server that a later test starts would read these variables
    variables = {name: os.environ.pop(name, None) for name in (outside.FILES, outside.PROGRAMS)}
    os.environ.update(dict.fromkeys(variables, ""))
    before, modules = dict(ALGORITHMS), set(sys.modules)
    yield ALGORITHMS
    for name, value in variables.items():
        del os.environ[name]
        os.environ.update({} if value is None else {name: value})
    for known in (ALGORITHMS, outside.ORIGINS):
        for slug in set(known) - set(before):
            del known[slug]
    for name in set(sys.modules) - modules:
        if name.startswith(f"{outside.__name__}."):
            del sys.modules[name]


@pytest.fixture(scope="module")
def admit():
    """Return a function that makes the curator take queries of a test module's own classes, which it refuses."""
    with pytest.MonkeyPatch.context() as patch:
        yield lambda *classes: patch.setattr(queries, "LISTED", (*queries.LISTED, *classes))
