"""What the server answers before any script has run."""

import asyncio

import pytest
from starlette.requests import Request

from pages._ui.front import moved
from pages._ui.shell import MOVED, PAGES


@pytest.mark.parametrize("old", MOVED)
@pytest.mark.parametrize("query", ["", "?v=1&d=town&e=0.5"])
def test_an_old_address_leads_to_the_page_as_it_is_called_today(old, query):
    route = next(route for route in moved(MOVED) if route.path == f"/{old}")
    scope = {"type": "http", "path": route.path, "query_string": query.removeprefix("?").encode(), "headers": []}
    answer = asyncio.run(route.endpoint(Request(scope | {"server": ("localhost", 80), "scheme": "http"})))
    assert (answer.status_code, answer.headers["location"]) == (308, f"./{MOVED[old]}{query}")
    assert f"pages/{MOVED[old]}.py" in PAGES
