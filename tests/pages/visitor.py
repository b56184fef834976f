"""Do what visitors do on a page, through Streamlit's test driver."""

import html
import json
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
KINDS = ("header", "markdown", "caption", "info", "error", "warning", "success")


def new_app():
    """Return the app of a new visitor who has not yet opened a page."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=240)


def visit(page, query=None, **values):
    """Open a page as a new visitor, by a link if a query is given, with the given values in the session."""
    app = new_app()
    values |= {"wanted": f"pages/{page}.py"} | ({} if query is None else {"address": (page, query)})
    for name, value in values.items():
        app.session_state[name] = value
    return app.run()


def open_page(app, page):
    return app.switch_page(page).run()


def wait(app, ready, seconds=240):
    """Draw the page again until `ready(app)` is true, or until the time is over."""
    until = time.monotonic() + seconds
    while not ready(app) and time.monotonic() < until:
        time.sleep(0.1)
        app.run()
    return app


def wait_for_run(app, seconds=240):
    wait(app, lambda app: "job" not in app.session_state, seconds)
    assert "job" not in app.session_state
    return app


def words(app):
    """Return the text of a page that is drawn as HTML, with its tags but without its styles."""
    return re.sub(r"<style>.*?</style>", "", " ".join(block.proto.body for block in app.get("html")), flags=re.DOTALL)


def read(app):
    """Return everything that a page says, without tags: its headings, markdown, captions, boxes and HTML."""
    texts = [element.value for kind in KINDS for element in app.get(kind)]
    apart = re.sub(r"</t[dh]>", " ", " ".join([*texts, words(app)]))  # cells stand apart on the screen
    return html.unescape(re.sub(r"<[^>]+>", "", apart)).replace("\\", "")


def told(app):
    return [box.value for box in app.info if "link" in box.value]


def press(app, label):
    """Press a button; if it leads to another page, continue there."""
    next(button for button in app.button if button.label == label).click().run()
    return app.switch_page(f"pages/{app.session_state['page']}.py")


def drop(app, name, content, answer, header="Yes, names"):
    app.segmented_control(key="data_way").set_value("Your file").run()
    app.file_uploader[0].upload(name, content).run()
    return app if answer is None else press(press(app, answer), header) if "private" in answer else press(app, answer)


def declare(app, facts):
    app.switch_page("pages/bounds.py").run()
    next(f for f in app.file_uploader if "dictionary" in f.key).upload("facts.json", json.dumps(facts).encode()).run()
    return onward(app)


def own_file(content, answer, name="mine.csv", **declared):
    """Return the page of a new visitor who has dropped a file of two columns, a and b, and declared it."""
    return declare(drop(visit("data"), name, content, answer), facts("a", "b", **declared))


def onward(app):
    """Leave Bounds: a private file continues to Rehearse, a public one to Explore."""
    return press(app, next(b.label for b in app.button if b.label in ("Rehearse it", "Explore it")))


def finish(app, seconds=240):
    assert not wait_for_run(app, seconds).exception
    return app


def facts(*names, low=0, high=100, **others):
    return {"columns": [{"name": name, "low": low, "high": high} for name in names], "n_public": 100, **others}


def csv(n=300, seed=0):
    table = pd.DataFrame(np.random.default_rng(seed).normal(50, 10, (n, 2)).round(2), columns=["a", "b"])
    return table.to_csv(index=False).encode()


def private_file(app, content):
    drop(app.switch_page("pages/data.py").run(), "mine.csv", content, "No, it is private")
    return declare(app, facts("a", "b", n_public=300))


def content(seed=0, n=300):
    rows = np.random.default_rng(seed).uniform(10, 90, (n, 2)).round(3)
    return ("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows)).encode()


def spend(app):
    app.switch_page("pages/explore.py").run()
    press(app, "Run")
    return wait_for_run(press(app, "Run and spend"))


def ran(app):
    """Wait for a run on public data; a quick run starts by itself, and any other is started by its button."""
    if any(button.label == "Run" for button in app.button):
        press(app, "Run")
    return finish(app)
