"""Start a real server that the tests of this folder share."""

from types import SimpleNamespace

import pytest

from tests.serving import running


@pytest.fixture(scope="session")
def alive(tmp_path_factory):
    """Return a server's address, its process and its log."""
    path = tmp_path_factory.mktemp("server") / "log"
    with path.open("w") as log, running(log=log, DPVIZ_WORKERS="0") as (url, process):
        yield SimpleNamespace(url=url, process=process, log=path)
