"""Check who owns a connection, judged by headers, addresses and settings, and the cookie that holds the key."""

import re

import pytest
import websockets
from starlette.datastructures import Headers
from starlette.requests import Request
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_websocket import gather_user_info

from pages._ui.server import owner as owners
from pages._ui.server.owner import Owned, Owner, bind_visits, check_settings, owner_of, take
from tests.serving import awaited, running

HOME = {"host": "localhost:8501", "origin": "http://localhost:8501"}
KEY, OTHER = "k" * 43, "o" * 43


@pytest.fixture(autouse=True)
def an_operator_who_set_nothing(monkeypatch):
    monkeypatch.delenv("DPVIZ_OWNER", raising=False)
    monkeypatch.delenv("DPVIZ_OWNER_HEADER", raising=False)


def asks(headers=(), *, client="127.0.0.1", scheme="ws", type="websocket", **more):
    """Return the ASGI scope of a connection."""
    pairs = list({**HOME, **more}.items()) + list(headers)
    encoded = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in pairs]
    return {"type": type, "scheme": scheme, "method": "GET", "client": (client, 5000), "headers": encoded}


@pytest.mark.parametrize("host", ["localhost:8501", "127.0.0.1", "[::1]:80", "127.9.9.9:1"])
def test_this_machine_is_told_by_its_own_addresses(host):
    for client in ("127.0.0.1", "::1"):
        assert owner_of(asks(client=client, host=host, origin=f"http://{host}")) == Owner("local")
        assert owner_of(asks(client=client, host=host, origin=f"http://{host}")).name == "local"


FORWARDED = (
    "X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded-User X-Forwarded Forwarded Forwarded-For X-Real-IP "
    "Via X-Client-IP True-Client-IP CF-Connecting-IP X-Cluster-Client-IP"
).lower()


@pytest.mark.parametrize("name", FORWARDED.split())
def test_a_proxy_on_this_machine_is_told_by_any_word_of_its(name):
    assert owner_of(asks([(name, "")])).kind == "key"


@pytest.mark.parametrize(
    "facts",
    [
        {"client": "192.168.0.7"},
        {"client": ""},
        {"host": "dpviz.example.org"},  # as forwarded by a proxy that adds no headers
        {"host": "localhost.example.org"},
        {"host": "[broken"},
        {"host": ""},
        {"origin": "https://dpviz.example.org"},
        {"origin": "null"},
        {"origin": "http://[broken"},
    ],
    ids=str,
)
def test_whoever_may_come_from_elsewhere_is_not_this_machine_s_user(facts):
    assert owner_of(asks(**facts)).kind == "key"


def test_nobody_is_it_without_an_address_or_with_two_hosts():
    assert owner_of({**asks(), "client": None}).kind == "key"
    assert owner_of(asks([("host", "localhost")])).kind == "key"


def test_the_operator_decides_first(monkeypatch):
    monkeypatch.setenv("DPVIZ_OWNER", "local")
    assert owner_of(asks(client="192.168.0.7", host="dpviz.example.org")) == Owner("local")
    monkeypatch.setenv("DPVIZ_OWNER", "visitor")
    assert owner_of(asks()).kind == "key"
    monkeypatch.delenv("DPVIZ_OWNER")
    monkeypatch.setenv("DPVIZ_OWNER_HEADER", "X-Dpviz-Login")
    assert owner_of(asks(x_dpviz_login="ann")) == Owner("login", "ann")
    assert owner_of(asks(x_dpviz_login="ann")).name == "login:ann"
    for several in ([], [("x-dpviz-login", " ")], [("x-dpviz-login", "ann"), ("x-dpviz-login", "bob")]):
        assert owner_of(asks(several)).kind == "key", "a name that is missing or not one is nobody's"


def test_a_shared_login_is_nobody_s_name(monkeypatch):
    shared = asks([("authorization", "Basic bGFiOmxhYg=="), ("x-forwarded-for", "10.0.0.1")])
    assert owner_of(shared).name != owner_of(shared).name
    for name in ("Authorization", "cookie", "x-dpviz-owner", "X Login"):
        monkeypatch.setenv("DPVIZ_OWNER_HEADER", name)
        with pytest.raises(ValueError, match="DPVIZ_OWNER_HEADER"):
            check_settings()
    monkeypatch.setenv("DPVIZ_OWNER_HEADER", "X-Dpviz-Login")
    check_settings()
    for who in ("local", "ann"):
        monkeypatch.setenv("DPVIZ_OWNER", who)
        with pytest.raises(ValueError, match="DPVIZ_OWNER"):
            check_settings()


def test_a_key_in_a_cookie_is_the_same_owner_every_time_and_a_bad_one_is_none():
    kept = [owner_of(asks(client="10.0.0.9", cookie=f"a=b; dpviz-key={KEY}")) for _ in range(2)]
    assert kept[0] == kept[1] == Owner("key", KEY)
    assert re.fullmatch("key:[0-9a-f]{32}", kept[0].name) and KEY not in repr(kept[0]) + kept[0].name
    odd = f'theme={{"dark": [1, "a,b"]}}; =; x; dpviz-key={KEY}; y="'
    assert owner_of(asks(client="10.0.0.9", cookie=odd)).value == KEY, "another program's cookie must not lose the key"
    for bad in ("short", KEY + "x", "'; DROP", KEY[:-1] + "é"):
        fresh = [owner_of(asks(client="10.0.0.9", cookie=f"dpviz-key={bad}")) for _ in range(2)]
        assert fresh[0] != fresh[1] and len(fresh[0].value) == 43


@pytest.mark.parametrize("key", [KEY + "x", KEY[:-1], ""])
def test_a_key_file_with_another_length_is_none(key):
    with pytest.raises(ValueError, match="not a dpviz key file"):
        take(f"dpviz key: {key}\n".encode())


def test_over_tls_only_the_cookie_counts_that_no_other_site_of_the_domain_can_set():
    both = f"dpviz-key={OTHER}; __Host-dpviz-key={KEY}"
    assert owner_of(asks([("x-forwarded-proto", "https")], cookie=both)).value == KEY
    assert owner_of(asks(client="10.0.0.9", scheme="wss", cookie=both)).value == KEY
    assert owner_of(asks([("x-forwarded-proto", "https")], cookie=f"dpviz-key={OTHER}")).value != OTHER
    assert owner_of(asks([("x-forwarded-proto", "http")], cookie=both)).value == OTHER


# The middleware


def through(scope, content_type=b"text/html; charset=utf-8"):
    """Pass a request through the middleware; return the headers that the app received, and those of its answer."""
    got, sent = [], []

    async def app(scope, receive, send):
        got.extend(scope["headers"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})

    async def send(message):
        sent.append(message)

    awaited(Owned(app)(scope, None, send))
    return got, dict(sent[0]["headers"]) if sent else {}


def page(**more):
    return asks(type="http", scheme="http", client="10.0.0.9", **more)


def test_a_page_sets_the_cookie_for_its_own_server_and_no_script():
    _, answer = through(page())
    words = answer[b"set-cookie"].decode()
    assert re.match(r"dpviz-key=[A-Za-z0-9_-]{43}; ", words)
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} < set(words.split("; ")) and "Secure" not in words
    assert answer[b"cache-control"] == b"private, no-cache"
    _, answer = through(page(cookie=f"dpviz-key={KEY}", sec_fetch_dest="document"))
    assert answer[b"set-cookie"].startswith(f"dpviz-key={KEY}; ".encode()), "a key that is there is kept"
    _, answer = through(page(x_forwarded_proto="https"))
    assert answer[b"set-cookie"].startswith(b"__Host-dpviz-key=") and answer[b"set-cookie"].endswith(b"; Secure")


def test_no_other_answer_sets_it(monkeypatch):
    for scope, kind in (
        (page(), b"text/javascript"),
        (page(sec_fetch_dest="iframe"), b"text/html"),  # framed by another site, so the browser may withhold a cookie
        ({**page(), "method": "POST"}, b"text/html"),
        (asks(type="http", scheme="http"), b"text/html"),  # this machine's user needs no key
    ):
        assert b"set-cookie" not in through(scope, kind)[1]


def test_the_script_learns_the_owner_from_the_middleware_alone():
    got, _ = through(asks([("x-dpviz-owner", "local:")], client="10.0.0.9", cookie=f"dpviz-key={KEY}"))
    assert [value for name, value in got if name == b"x-dpviz-owner"] == [f"key:{KEY}".encode()]
    got, _ = through(page(x_dpviz_owner="local:"))
    assert not [name for name, _ in got if name == b"x-dpviz-owner"]


def test_a_key_that_was_brought_goes_into_the_browser_that_brought_it_and_only_once():
    route, before, after = owners.keeping(), Owner("key", KEY), Owner("key", OTHER)

    def comes(address, cookie):
        """Return the cookie that a browser with the given cookie receives at this address."""
        scope = page(cookie=f"dpviz-key={cookie}") | {"path_params": {"ticket": address.split("/")[-1]}}
        return awaited(route.endpoint(Request(scope))).headers.get("set-cookie", "")

    address = owners.keep_in_browser(before, after)
    assert route.path == "/_dpviz/key/{ticket}" and address.startswith("./_dpviz/key/")
    assert comes(address, "x" * 43) == "" and comes(address, KEY) == "", "it was used up"
    assert comes(owners.keep_in_browser(before, after), KEY).startswith(f"dpviz-key={OTHER};")
    assert comes("none", "") == ""


# A connection that breaks and returns


def resumes_as(*scopes):
    """Return the owner to whom Streamlit binds each visit, and check that no owner's name contains the key."""
    seen = [gather_user_info(Headers(raw=through(scope)[0]))["owner"] for scope in scopes]
    assert not any(KEY in who or OTHER in who for who in seen)
    return seen


@pytest.fixture
def bound(monkeypatch):
    trusted = config.get_option("server.trustedUserHeaders")
    bind_visits()
    yield
    config.set_option("server.trustedUserHeaders", trusted)


def test_a_visit_is_bound_to_the_person_and_to_nothing_that_a_browser_says(bound, monkeypatch):
    away = {"client": "10.0.0.9"}
    mine, again, other, nobody = resumes_as(
        asks(cookie=f"dpviz-key={KEY}", **away),
        asks(cookie=f"dpviz-key={KEY}", x_dpviz_visit="local", **away),
        asks(cookie=f"dpviz-key={OTHER}", **away),
        asks(x_dpviz_visit=Owner("key", KEY).name, **away),
    )
    assert mine == again == Owner("key", KEY).name and len({mine, other, nobody}) == 3
    assert resumes_as(asks()) == ["local"]
    monkeypatch.setenv("DPVIZ_OWNER_HEADER", "X-Dpviz-Login")
    assert resumes_as(asks(x_dpviz_login="ann"), asks(x_dpviz_login="bob")) == ["login:ann", "login:bob"]


async def session_of(url, login, before="none"):
    """Open a page under a login with the id of an earlier visit; return the id of the visit that the server opens."""
    address, words = f"{url.replace('http', 'ws')}/_stcore/stream", ["streamlit", "none", before]
    headers = {"X-Dpviz-Login": login}
    async with websockets.connect(address, subprotocols=words, max_size=None, additional_headers=headers) as line:
        message = BackMsg()
        message.rerun_script.page_name = "limits"
        await line.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await line.recv())
            if answer.WhichOneof("type") == "new_session":
                return answer.new_session.initialize.session_id


@pytest.mark.slow
def test_a_visit_goes_on_for_its_owner_and_begins_anew_for_another_login():
    with running(DPVIZ_WORKERS="0", DPVIZ_OWNER_HEADER="X-Dpviz-Login") as (url, _):
        first = awaited(session_of(url, "ann"))
        assert awaited(session_of(url, "ann", first)) == first
        assert awaited(session_of(url, "bob", first)) != first
        assert awaited(session_of(url, "ann", first)) == first
