"""Run a small proxy that sets the headers of deploy/Caddyfile, like the one in front of a deployed server."""

import asyncio
import re
import threading
from contextlib import contextmanager

from tests.serving import ROOT

CADDYFILE = ROOT / "deploy" / "Caddyfile"


def headers(ancestors):
    """Return the Caddyfile's headers as bytes; `ancestors` is the value of DPVIZ_FRAME_ANCESTORS, or None."""
    text = CADDYFILE.read_text()
    policy = re.search(r'Content-Security-Policy "(.*)"', text).group(1)
    policy = re.sub(r"\{\$DPVIZ_FRAME_ANCESTORS:(.*)\}", lambda found: ancestors or found.group(1), policy)
    simple = re.findall(
        r"^\t\t(X-Content-Type-Options|Referrer-Policy|Permissions-Policy) (\"[^\"]*\"|\S+)$", text, re.M
    )
    assert len(simple) == 3 and "$" not in policy
    lines = [f"{name}: {value.strip(chr(34))}" for name, value in simple] + [f"Content-Security-Policy: {policy}"]
    return "".join(f"{line}\r\n" for line in lines).encode()


async def _pump(reader, writer):
    try:
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def _answer(reader, writer, port, extra):
    """Forward one request: a websocket stays open, and every other connection is closed after its answer."""
    ends = [writer]
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        upgraded = b"upgrade: websocket" in head.lower()
        if not upgraded:
            head = re.sub(rb"(?im)^connection:.*\r\n", b"", head).replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        from_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        ends.append(to_server)
        to_server.write(head)
        sending = asyncio.ensure_future(_pump(reader, to_server))
        answer = await from_server.readuntil(b"\r\n\r\n")
        writer.write(answer if upgraded else answer.replace(b"\r\n", b"\r\n" + extra, 1))
        await _pump(from_server, writer)
        sending.cancel()
    except (asyncio.IncompleteReadError, OSError, asyncio.CancelledError):
        pass  # the browser or the server has left, or the proxy ends
    finally:
        for end in ends:
            end.close()


async def _end():
    """End all open connections and wait for them, because a loop that stops before its tasks warns about each task."""
    lines = asyncio.all_tasks() - {asyncio.current_task()}
    for line in lines:
        line.cancel()
    await asyncio.gather(*lines, return_exceptions=True)
    for _ in range(3):  # the loop needs a few iterations to close sockets
        await asyncio.sleep(0)


@contextmanager
def proxied(url, ancestors=None):
    """Yield the address of a proxy in front of the server at `url`."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    port, extra, ports = int(url.rsplit(":", 1)[1]), headers(ancestors), []

    async def start():
        server = await asyncio.start_server(lambda r, w: _answer(r, w, port, extra), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run():
        asyncio.set_event_loop(loop)
        loop.create_task(start())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        asyncio.run_coroutine_threadsafe(_end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
