"""Start a PostgreSQL server for the tests, on a socket in a temporary folder.

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
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def server(*options):
    """Start a server and yield its URL. If PostgreSQL is missing, skip the test; in CI, fail it."""
    binaries = programs()
    if binaries is None:
        reason = "PostgreSQL is not installed (apt install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="dpviz-pg-"))
    if user:
        shutil.chown(folder, user)

    def call(name, *arguments):
        command = [binaries / name, "-D", folder / "data", *arguments]
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=240)

    try:
        call("initdb", "-U", "postgres", "--auth=trust", "--no-sync")
        settings = f"-c listen_addresses= -c unix_socket_directories={folder} {' '.join(options)}"
        call("pg_ctl", "start", "-w", "-o", settings, "-l", folder / "log")
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        if (folder / "data" / "postmaster.pid").exists():
            call("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(folder)
