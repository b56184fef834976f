"""Check what a deployment needs: locked packages and complete configurations (`test_idle.py` has its server)."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import nbformat
import pytest
from packaging.requirements import Requirement

from dpviz.version import __version__
from tests.serving import ROOT


def test_the_recorder_notes_an_outside_address(tmp_path):
    asked = tmp_path / "asked"
    script = "import socket\ntry: socket.getaddrinfo('host.invalid', 80)\nexcept OSError: pass\n"
    script += "s = socket.socket(type=socket.SOCK_DGRAM)\ntry: s.connect(('192.0.2.1', 1))\nexcept OSError: pass\n"
    script += "socket.getaddrinfo('localhost', 80)"
    environment = {"DPVIZ_TEST_SOCKETS": str(asked), "PYTHONPATH": str(ROOT / "tests" / "recorder")}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert asked.read_text() == "socket.getaddrinfo host.invalid\nsocket.connect 192.0.2.1\n"


def test_the_start_command_listens_on_this_machine_alone():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["address"] == "localhost"


def test_the_recipes_take_no_visitor_for_the_machine_s_user_and_no_name_from_outside():
    caddy, nginx, compose, words = (
        (ROOT / "deploy" / name).read_text() for name in ("Caddyfile", "nginx.conf", "compose.yaml", "README.md")
    )
    assert re.search(r"^ +DPVIZ_OWNER: visitor\b", compose, re.MULTILINE)
    assert re.search(r"^export .*DPVIZ_OWNER=visitor$", words, re.MULTILINE)
    assert re.search(r"^\s+header_up -X-Dpviz-Login$", caddy, re.MULTILINE)
    assert re.search(r'^ +proxy_set_header X-Dpviz-Login "";', nginx, re.MULTILINE)
    assert re.search(r"^ +proxy_set_header X-Forwarded-For \$remote_addr;", nginx, re.MULTILINE)
    assert "DPVIZ_OWNER_HEADER=X-Dpviz-Login" in words


def test_nginx_is_as_strict_as_the_caddyfile():
    caddy, nginx = ((ROOT / "deploy" / name).read_text() for name in ("Caddyfile", "nginx.conf"))
    wanted = dict(re.findall(r'^\t\t([A-Z][A-Za-z-]+) "?([^"\n]+)"?$', caddy, re.MULTILINE))
    policy = wanted["Content-Security-Policy"]
    wanted["Content-Security-Policy"] = re.sub(r"\{\$DPVIZ_FRAME_ANCESTORS:(.*)\}", r"\1", policy)
    server = nginx[nginx.index("    server {") :]
    found = dict(re.findall(r'^ +add_header ([A-Z][A-Za-z-]+) "?([^"\n]+?)"? always;$', server, re.MULTILINE))
    assert len(wanted) == 5 and found.pop("Set-Cookie").endswith("; Path=/; HttpOnly; SameSite=Lax$secure")
    assert found == wanted
    assert not re.search(r"location [^}]*add_header", server)  # add_header in a location would drop all others
    assert "/_stcore/metrics { return 404; }" in nginx and re.search(r"respond @metrics 404", caddy)
    assert re.search(r"client_max_body_size 300m;", nginx) and "max_size 300MB" in caddy
    assert re.search(r"limit_conn files \d;", server) and re.search(r"limit_conn address \d{3,};", server)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed (apt install nginx)")
def test_nginx_reads_its_file(tmp_path):
    command = ["nginx", "-t", "-p", tmp_path, "-c", ROOT / "deploy" / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LOCKS = {
    "requirements-dev.lock": ["requirements-dev.txt", "requirements.txt"],
    "deploy/requirements.lock": ["requirements.txt", "deploy/postgresql.txt"],
}


def locked(name):
    """Return the packages of a lock file with their versions; each must have a hash."""
    found = {}
    for entry in re.split(r"\n(?=[a-z0-9])", (ROOT / name).read_text().strip()):
        assert "--hash=sha256:" in entry, entry.partition("\n")[0]
        package, version = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", entry).groups()
        found.setdefault(package.lower(), set()).add(version)
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_every_requirement(lock):
    packages = locked(lock)
    for file in LOCKS[lock]:
        for line in (ROOT / file).read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                wanted = Requirement(line)
                versions = packages.get(wanted.name.lower().replace("_", "-"), set())
                assert any(wanted.specifier.contains(v) for v in versions), f"{line}: run deploy/lock ({versions})"


def test_the_image_runs_what_was_tested():
    image, tests = locked("deploy/requirements.lock"), locked("requirements-dev.lock")
    assert {name: versions for name, versions in image.items() if tests.get(name) != versions} == {}
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text()
    assert "--require-hashes" in dockerfile and "USER dpviz" in dockerfile and "HEALTHCHECK" in dockerfile
    copied = re.findall(r"^COPY (?!--from)(\S+) ", dockerfile, re.MULTILINE)
    assert copied and all((ROOT / path).exists() for path in copied)


def test_ci_installs_from_the_lock():
    assert "--require-hashes -r requirements-dev.lock" in (ROOT / ".ci" / "run").read_text()


def test_the_notebook_s_cells_run_and_it_names_this_version():
    book = nbformat.read(ROOT / "deploy" / "dpviz.ipynb", as_version=4)
    nbformat.validate(book)
    first, *others = ("".join(cell.source) for cell in book.cells if cell.cell_type == "code")
    assert f'WHEEL = "dpviz-{__version__}-py3-none-any.whl"' in first
    names = {}
    for cell in others:
        *lines, last = cell.split("\n")
        exec("\n".join(lines), names)
        shown = eval(last, names)
    assert "srcdoc" in shown.data and names["run"].cluster_centers.shape == (5, 2)


def test_demonstrations_elsewhere_start_as_such():
    space = (ROOT / "deploy" / "spaces" / "Dockerfile").read_text()
    front = (ROOT / "deploy" / "spaces" / "README.md").read_text().split("---")[1]
    (port,) = re.findall(r"^EXPOSE (\d+)$", space, re.MULTILINE)
    assert f"app_port: {port}" in front and f"--server.port={port}" in space and "DPVIZ_DEMO=1" in space
    assert re.search(r"^DPVIZ_DEMO=1 .*streamlit run app.py", (ROOT / ".binder" / "start").read_text(), re.MULTILINE)
    assert os.access(ROOT / ".binder" / "start", os.X_OK)
