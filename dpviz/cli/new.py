"""Implement the command `new`: write a small working algorithm and its test, as a starting point for your own."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from dpviz.algorithms import ALGORITHMS
from dpviz.testing import template

__all__ = ["add_new"]

_TEST = '''"""{name} keeps its promise: `python -m pytest {test}`."""

from pathlib import Path

from dpviz.algorithms import ALGORITHMS, add_files
from dpviz.testing import parametrize_with_checks

(SLUG,) = add_files([Path(__file__).with_name("{place}")])


@parametrize_with_checks([ALGORITHMS[SLUG]])
def test_contract(algorithm, check):
    check(algorithm)
'''


def add_new(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("name", metavar="NAME", help='lowercase words, as in "my-method": the slug')
    command.set_defaults(do=_new)


def _new(arguments: argparse.Namespace) -> int:
    slug = arguments.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug):
        raise ValueError(f"new: {slug[:40]!r} must be lowercase letters, digits and hyphens, as in my-method.")
    if slug in ALGORITHMS:
        raise ValueError(f"new: {slug!r} is the slug of {ALGORITHMS[slug].name}; choose another.")
    stem, words = slug.replace("-", "_"), slug.split("-")
    name, cls = " ".join(words).capitalize(), "".join(word.capitalize() for word in words)
    place, test = Path(f"{stem}.py"), Path(f"test_{stem}.py")
    for path in (place, test):
        if path.exists():
            raise ValueError(f"new: {path} exists already; nothing was written.")
    source = Path(template.__file__).read_text(encoding="utf-8")
    for old, own in (("MyMethod", cls), ("my-method", slug), ("My method", name), ("my-round", f"{slug}-round")):
        source = source.replace(old, own)
    place.write_text(source, encoding="utf-8")
    test.write_text(_TEST.format(name=name, place=place, test=test), encoding="utf-8")
    print(
        f"{place} and {test} are written. Next:\n"
        f"  dpviz app --with {place}\n"
        f"  dpviz run {slug} --with {place} --data sample:town\n"
        f"  dpviz audit {slug} --with {place}\n"
        f"  python -m pytest {test}   # needs pytest: pip install pytest"
    )
    return 0
