"""Check the server's answers before any script has run: mistaken addresses, preloaded scripts, compressed files."""

import gzip
import hashlib
import re

import pytest
from starlette.requests import Request

from pages._ui.explore.player import stage
from pages._ui.frame.places import PAGES
from pages._ui.server.http import Compressed, Forwarded, announcing, offering
from tests.serving import awaited

SHELL = b"not compressed"


async def plain(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": SHELL})


def get(app, path, **headers):
    sent = []

    async def ask():
        async def receive():
            return {"type": "http.request"}

        async def send(message):
            sent.append(message)

        names = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"e=4", "headers": names}
        await app(scope, receive, send)

    awaited(ask())
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.parametrize(
    ("path", "there"), [("/", None), ("/explore", None), ("/static/x.js", None), ("/rho", "./?lost=1")]
)
def test_the_address_of_no_page_leads_to_start(path, there):
    status, headers, _ = get(Forwarded(plain, PAGES, "lost=1"), path)
    assert (status, headers.get(b"location")) == ((200, None) if there is None else (307, there.encode()))


def test_scripts_go_out_compressed_to_those_who_can_read_it_and_nothing_else_is_touched():
    app = Compressed(plain)
    path, file = next((path, file) for path, file in app._files.items() if "/js/BidiComponent." in path)
    _, headers, body = get(app, path, accept_encoding="br, gzip")
    assert gzip.decompress(body) == file.read_bytes() and len(body) < file.stat().st_size / 2
    assert headers[b"content-encoding"] == b"gzip" and headers[b"content-type"].startswith(b"text/javascript")
    assert b"immutable" in headers[b"cache-control"] and headers[b"vary"] == b"accept-encoding"
    for untouched in (
        get(app, path),
        get(app, path, accept_encoding="gzip", range="bytes=0-9"),
        get(app, "/static/js/../../../config.toml", accept_encoding="gzip"),
        get(app, "/_stcore/health", accept_encoding="gzip"),
    ):
        assert untouched == (200, {}, SHELL)


def test_the_shell_announces_a_part_with_everything_it_imports():
    (route,) = announcing(["BidiComponent"], ["/explore"])
    *_, body = get(route.app, "/explore")
    links = re.findall(r'rel="modulepreload" crossorigin href="\./static/js/([^"]+)"', body.decode())
    known = {path.rsplit("/", 1)[-1] for path in Compressed(plain)._files}
    assert any(name.startswith("BidiComponent.") for name in links) and set(links) <= known
    assert len(links) == len(set(links)) and b"</head>" in body


def test_the_stage_is_announced_with_the_shell_and_kept_for_a_year_under_the_hash_of_its_text():
    [route] = announcing([], ["/explore"], [stage.NAME])
    link = f'<link rel="modulepreload" crossorigin href="./{stage.NAME}">'
    assert link in awaited(route.endpoint(None)).body.decode()
    offered = offering(stage.NAME, stage.SCRIPT)
    assert offered.path == f"/{stage.NAME}"
    for accepted, read in ((b"gzip, br", gzip.decompress), (b"identity", bytes)):
        scope = {"type": "http", "method": "GET", "headers": [(b"accept-encoding", accepted)]}
        answer = awaited(offered.endpoint(Request(scope)))
        assert read(answer.body) == stage.SCRIPT and "immutable" in answer.headers["cache-control"]
    assert hashlib.sha256(stage.SCRIPT).hexdigest().startswith(stage.NAME.split(".")[1])
