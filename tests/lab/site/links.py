"""Find the files that a page of the site needs, and the targets of its links."""

import posixpath
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ASKS = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """Collect the files that a page needs, the addresses of its links, and its ids."""

    def __init__(self, text):
        super().__init__()
        self.needs, self.links, self.ids = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if ASKS.get(tag) in found:
            self.needs.append(found[ASKS[tag]])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if "id" in found:
            self.ids.add(found["id"])


def pages(out):
    return {path.relative_to(out).as_posix(): Page(path.read_text()) for path in out.rglob("*.html")}


def broken(out):
    """Return the missing files and link targets; an external address counts only if the page needs a file from it."""
    every, found = pages(out), []
    for name, page in every.items():
        for kind, addresses in (("needs", page.needs), ("links to", page.links)):
            for address in addresses:
                parts = urlsplit(address)
                if parts.scheme == "data" or (kind == "links to" and parts.scheme in ("http", "https")):
                    continue
                there = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
                there = there if parts.path else name
                ours = not parts.scheme and not parts.netloc and not parts.path.startswith("/") and there[:2] != ".."
                if not ours or not (out / there).is_file():
                    found.append(f"{name} {kind} {address}")
                elif parts.fragment and there in every and unquote(parts.fragment) not in every[there].ids:
                    found.append(f"{name} {kind} {address}, which has no such place")
    return found
