"""Check how many processes, and how much memory, a server needs that nobody has visited yet."""

import sys
import time

import pytest

from lab.benchmarks.load import Server
from tests.serving import running


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_an_idle_server_has_at_most_five_processes_and_800_mb():
    with running() as (url, _):
        server, before = Server(int(url.rpartition(":")[2])), -1.0
        while abs((now := server.memory()[1]) - before) > 1:  # workers still import their modules
            before = now
            time.sleep(4)
        assert len(server.family()) <= 5 and now < 800
