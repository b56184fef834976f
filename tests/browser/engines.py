"""Drive Firefox and WebKit (Safari's engine) as Debian ships them: open addresses and evaluate JavaScript in them."""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from contextlib import contextmanager

from websockets.sync.client import connect

from tests.serving import free_port

PROGRAMS = {"firefox": ("firefox-esr",), "webkit": ("WebKitWebDriver", "Xvfb")}  # the programs that each engine needs
DISPLAY = ":97"
START = 60  # seconds in which a browser must answer for the first time


def missing(engine):
    """Return the programs that an engine needs and this machine lacks."""
    return [program for program in PROGRAMS[engine] if shutil.which(program) is None]


@contextmanager
def program(*command, **environment):
    """Run a program in the background, and end it when the block ends."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, **environment}, **quiet)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def patiently(act):
    """Repeat an action until the program that it calls is listening; return its result."""
    end = time.monotonic() + START
    while True:
        try:
            return act()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextmanager
def firefox(folder):
    """Start Firefox with an empty profile; yield functions that open an address and evaluate JavaScript (BiDi)."""
    port, count = free_port(), 0

    def ask(method, **parameters):
        nonlocal count
        count += 1
        socket.send(json.dumps({"id": count, "method": method, "params": parameters}))
        while (answer := json.loads(socket.recv(START))).get("id") != count:
            pass  # an event
        assert answer["type"] == "success", answer
        return answer["result"]

    def go(url):
        ask("browsingContext.navigate", context=tab, url=url, wait="complete")

    def evaluate(expression):
        text = f"JSON.stringify({expression})"
        found = ask("script.evaluate", expression=text, target={"context": tab}, awaitPromise=False)
        assert found["type"] == "success", found
        return json.loads(found["result"].get("value", "null"))

    options = ("--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", str(port))
    with program("firefox-esr", *options, "--width=1280", "--height=800"):
        with patiently(lambda: connect(f"ws://127.0.0.1:{port}/session", max_size=None)) as socket:
            ask("session.new", capabilities={})
            tab = ask("browsingContext.getTree")["contexts"][0]["context"]
            yield go, evaluate


@contextmanager
def webkit(folder):
    """Start WebKit's small browser on its own screen; yield the same two functions as `firefox` (WebDriver)."""
    port = free_port()

    def post(path, **body):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/session{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=START) as answer:
            return json.load(answer)["value"]

    def go(url):
        post(f"/{session}/url", url=url)

    def evaluate(expression):
        return json.loads(
            post(f"/{session}/execute/sync", script=f"return JSON.stringify({expression})", args=[]) or "null"
        )

    screen = program("Xvfb", DISPLAY, "-screen", "0", "1400x1000x24")
    home = {"HOME": str(folder), "DISPLAY": DISPLAY}
    with screen, program("WebKitWebDriver", f"--port={port}", **home):
        session = patiently(lambda: post("", capabilities={}))["sessionId"]
        post(f"/{session}/window/rect", width=1280, height=800)
        yield go, evaluate
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/session/{session}", method="DELETE"))
