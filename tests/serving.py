"""Start a real server for tests, record its calls to other machines, and run coroutines in a thread of their own."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def awaited(coroutine):
    """Run a coroutine in another thread and return its result, because a browser's event loop may occupy this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@contextmanager
def serve(root=ROOT, log=subprocess.DEVNULL):
    """Start a checkout's app on a free port and yield its address; fail if it called an outside address.

    The server's output goes to the file `log`.
    """
    with running(root, log) as (url, _):
        yield url


@contextmanager
def running(root=ROOT, log=subprocess.DEVNULL, **more):
    """Start the app with more environment variables, such as DPVIZ_HOME; yield its address and its process."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as notes:
        asked = Path(notes) / "asked"
        recorder = os.pathsep.join([str(ROOT / "tests" / "recorder"), os.environ.get("PYTHONPATH", "")])
        settings = {"DPVIZ_HOME": home, "DPVIZ_TEST_SOCKETS": str(asked), "PYTHONPATH": recorder}
        environment = {**os.environ, **settings}
        environment.pop("DPVIZ_OWNER", None)
        environment.pop("DPVIZ_WORKERS", None)  # as in the README, except that tests keep one thread per process
        environment.update(more)
        url, process = _started(root, environment, log)
        if process.poll() is not None:  # another program has taken the port
            url, process = _started(root, environment, log)
        if process.poll() is not None:
            pytest.fail("the server did not start")
        try:
            yield url, process
        finally:
            process.terminate()
            process.wait(200)
        assert not asked.exists(), f"the server asked outside: {asked.read_text()}"


def _started(root, environment, log):
    """Start a server; return its address and its process once it answers or has ended."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += [f"--server.port={port}", "--server.address=127.0.0.1"]
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    if not healthy(url, process):
        process.kill()
        process.wait()
    return url, process


def free_port():
    """Return a free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def healthy(url, process):
    """Wait until the process, or the server behind it, answers at this address; return whether it does."""
    until = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError):
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=60).close()
            return True
        time.sleep(0.25)
    return False
