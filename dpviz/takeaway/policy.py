"""Add a policy to an exported document, so that it loads nothing and runs only the scripts that it was made with."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

__all__ = ["sealed"]

_SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
_DATA = re.compile(r"""type=["']?(application/json|text/plain)""")
_WORKER = " blob: 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'"
_FIRST = '<meta charset="utf-8">'  # the policy does not apply to anything before it


def sealed(page: str, more: Iterable[str] = (), *, worker: bool = False) -> str:
    """Return an HTML document with a Content Security Policy that allows its own scripts alone and nothing from
    outside.

    Parameters
    ----------
    page : one of our documents, which declares its encoding first
    more : texts of scripts that its own scripts insert
    worker : whether it may start a worker from its own text, which is under the same policy, runs WebAssembly, and
        fetches files of the page's own host; and a service worker of that host, which keeps them

    Raises
    ------
    ValueError
        If the document does not declare its encoding exactly once.
    """
    if page.count(_FIRST) != 1:
        raise ValueError(f"sealed: a document must contain {_FIRST} once; this one has it {page.count(_FIRST)} times.")
    run = [text for about, text in _SCRIPT.findall(page) if not _DATA.search(about)]
    scripts = " ".join(f"'sha256-{_digest(text)}'" for text in [*run, *more]) or "'none'"
    policy = (
        f"default-src 'none'; script-src {scripts}{_WORKER * worker}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    return page.replace(_FIRST, f'{_FIRST}<meta http-equiv="Content-Security-Policy" content="{policy}">')


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
