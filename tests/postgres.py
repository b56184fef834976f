"""Start a PostgreSQL server for the tests, and standbys of it, on sockets in temporary folders.

PostgreSQL does not run as root, so the tests may need the user that its package creates.
"""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def programs():
    """Return the folder that contains `initdb`, or None if there is none."""
    found = shutil.which("initdb")
    folders = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """A PostgreSQL server in a folder of its own, which is removed at the end."""

    def __init__(self):
        self.user = "postgres" if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="dpviz-pg-"))
        if self.user:
            shutil.chown(self.folder, self.user)
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"

    def call(self, name, *arguments):
        """Run one of PostgreSQL's programs on this server's data."""
        command = [programs() / name, "-D", self.folder / "data", *arguments]
        subprocess.run(command, user=self.user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=240)

    def start(self, *options):
        """Start the server and wait until it answers."""
        settings = f"-c listen_addresses= -c unix_socket_directories={self.folder} {' '.join(options)}"
        self.call("pg_ctl", "start", "-w", "-o", settings, "-l", self.folder / "log")

    def stop(self):
        """Stop the server at once, as a power cut would."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.call("pg_ctl", "stop", "-m", "immediate")


@contextmanager
def server(*options):
    """Start a server and yield its URL. If PostgreSQL is missing, skip the test; in CI, fail it."""
    if programs() is None:
        reason = "PostgreSQL is not installed (apt install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    made = Server()
    try:
        made.call("initdb", "-U", "postgres", "--auth=trust", "--no-sync")
        made.start(*options)
        yield made.url
    finally:
        made.stop()
        shutil.rmtree(made.folder)


@contextmanager
def standby(url):
    """Start a standby that follows the server of a URL, and yield it; `call("pg_ctl", "promote", "-w")` promotes it."""
    made = Server()
    try:
        host = url.partition("host=")[2]
        made.call("pg_basebackup", "-h", host, "-U", "postgres", "-R", "-c", "fast", "-X", "stream", "--no-sync")
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(made.folder)
