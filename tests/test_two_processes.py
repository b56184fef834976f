"""Check two processes that share a state folder behind nginx: visitors keep their process, and sweeps outlive it."""

import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from contextlib import ExitStack, contextmanager

import pytest

from lab.benchmarks.load import goes_on, sweeping
from lab.benchmarks.visitor import Visitor
from pages._ui.explore.tradeoff.archive import Archive
from tests.serving import ROOT, awaited, free_port, healthy, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed (apt install nginx)"),
]


@contextmanager
def behind_nginx(folder, ports):
    """Yield the port of an nginx proxy, configured by deploy/nginx.conf, in front of these two ports."""
    front, text = free_port(), (ROOT / "deploy" / "nginx.conf").read_text()
    for old, new in zip((8501, 8502, 8500), (*ports, front), strict=True):
        assert f"127.0.0.1:{old}" in text
        text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
    (folder / "nginx.conf").write_text(text)
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    proxy = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        assert healthy(f"http://127.0.0.1:{front}", proxy)
        yield front
    finally:
        proxy.terminate()
        proxy.wait(60)


def sockets(process):
    """Return how many sockets a process has open."""
    folder = f"/proc/{process.pid}/fd"
    return sum(os.readlink(f"{folder}/{name}").startswith("socket:") for name in os.listdir(folder))


async def stays(front, cookie, one, other):
    """Open six visits with the same cookie; return how many more sockets each process has, and the errors."""
    before, visitors = [sockets(one), sockets(other)], [Visitor(front, "limits", cookie=cookie) for _ in range(6)]
    for visitor in visitors:
        await visitor.__aenter__()
        await visitor.ask()
    after = [sockets(one), sockets(other)]
    for visitor in visitors:
        await visitor.__aexit__(None, None, None)
    return [now - then for now, then in zip(after, before, strict=True)], [v.faults for v in visitors]


async def survives(front, first, folder):
    """Start a sweep on the first process, kill it, and open the sweep's link again with the same cookie."""

    def rows():
        return [row["key"] for row in Archive(folder).get(identity)[2]]

    begun = await sweeping(front, cookie="dpviz=a")
    (identity,) = [path.stem for path in folder.glob("*.toml")]
    await until(lambda: len(rows()) > 2, begun.ask)  # a visitor keeps looking at the page
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = set(rows())
    async with Visitor(front, "tradeoff", query=f"v=1&sweep={identity}", cookie="dpviz=a") as again:
        went_on = await goes_on(again)
        await until(lambda: len(rows()) > len(before), again.ask)
        await again.press("Cancel")
        await until(lambda: Archive(folder).get(identity)[3], again.ask)
        after, how = rows(), Archive(folder).get(identity)[3]
    return went_on, before <= set(after), len(after) == len(set(after)), how, again.faults


async def until(holds, act):
    """Repeat an action until a condition holds."""
    end = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < end, "the condition was not met in time"
        await act()


def test_a_visitor_stays_with_one_process_and_a_sweep_outlives_it(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with ExitStack() as stack:
        servers = [stack.enter_context(running(DPVIZ_HOME=str(home), DPVIZ_WORKERS="0")) for _ in range(2)]
        ports = [int(re.search(r"\d+$", url).group()) for url, _ in servers]
        front = stack.enter_context(behind_nginx(tmp_path, ports))
        first, second = (process for _, process in servers)
        # A first visit gets a cookie.
        with urllib.request.urlopen(f"http://127.0.0.1:{front}/_stcore/health") as answer:
            assert re.search("dpviz=[ab];", " ".join(answer.headers.get_all("Set-Cookie")))
        with urllib.request.urlopen(f"http://127.0.0.1:{front}/data") as answer:  # the server has no visitor yet
            assert re.search(r"dpviz-key=[\w-]{43};", " ".join(answer.headers.get_all("Set-Cookie")))
        for cookie, one, other in (("dpviz=a", first, second), ("dpviz=b", second, first)):
            gained, faults = awaited(stays(front, cookie, one, other))
            assert gained[0] >= 5 and gained[1] <= 0 and not any(faults)  # an earlier socket may have closed meanwhile
        assert awaited(survives(front, first, home / "sweeps")) == (True, True, True, "cancelled", [])
        assert second.poll() is None
