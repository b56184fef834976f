"""Check that an outside algorithm that reads rows past the curator is refused, at loading or at the curator's door."""

import pytest

from dpviz.algorithms import add_files
from dpviz.algorithms.rules import broken_rules
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Secure
from dpviz.privacy.plan import Plan
from dpviz.privacy.rows import Rows
from dpviz.testing import check_algorithm

ASKS = 'noisy = curator.release("update", NearestSums(centers, domain.radius))'
CLASS = "@dataclasses.dataclass(frozen=True, kw_only=True)\nclass MyOwn"
PEEK = """
SEEN = []


class Peek(NearestSums):
    def statistic(self, block):
        SEEN[:] = [block.x]
        return super().statistic(block)


"""
BEFORE_A_RELEASE = "            noisy = curator.release"


def put(line):
    """Return an edit that puts a line before the release of every round."""
    return (BEFORE_A_RELEASE, f"            {line}\n{BEFORE_A_RELEASE}")


# Refused at loading: name -> (what the refusal says, edits of the template)
RULES = {
    "a tested query with a smaller sensitivity": (
        "defines a query",
        (CLASS, "class Tight(NearestSums):\n    whole = ()\n\n\n" + CLASS),
    ),
    "a query that keeps rows": ("defines a query", (CLASS, PEEK + CLASS)),
    "a class without a base": (
        "defines a query",
        (CLASS, "class Duck:\n    def statistic(self, block):\n        return block.x\n\n\n" + CLASS),
    ),
    "a class whose method is a lambda": (
        "defines a query",
        (CLASS, "class Duck:\n    utility = lambda self, block: block.x\n\n\n" + CLASS),
    ),
    "another name for a base": (
        "defines a query",
        (
            CLASS,
            "Base = NearestSums\n\n\nclass Peek(Base):\n    def assign(self, block):\n        return 0\n\n\n" + CLASS,
        ),
    ),
    "an attribute getter": ("uses attrgetter", put('x = operator.attrgetter("plan")(curator)')),
    "an attribute getter by another name": (
        "uses attrgetter",
        ("import numpy as np\n", "from operator import attrgetter as at\n\nimport numpy as np\n"),
    ),
    "a method caller": ("uses methodcaller", put('x = operator.methodcaller("release")(curator)')),
    "getattr of another module": ("uses getattr", put('x = np.core.getattr(curator, "plan")')),
    "getattr by another name": (
        "uses builtins",
        ("import numpy as np\n", "import builtins as b\n\nimport numpy as np\n"),
    ),
    "a name in a string": ("names '_session._blocks' in a string", put('x = get(curator, "_session._blocks")')),
    "a format": ("in a string", put('x = "{0._session._blocks[0].x}".format(curator)')),
    "a class pattern": (
        "matches a class pattern",
        put("match curator:\n                case Curator(_session=x):\n                    pass"),
    ),
    "a class pattern with places": (
        "matches a class pattern",
        put("match curator:\n                case Anything(x):\n                    pass"),
    ),
    "a function that calls the curator self": (
        "touches _session",
        (CLASS, "def peek(self):\n    return self._session\n\n\n" + CLASS),
    ),
    "a method that lists what self holds": (
        "touches __dict__",
        (CLASS, "def peek(self):\n    return list(self.__dict__.values())\n\n\n" + CLASS),
    ),
    "a frame": ("uses f_back", put("x = frame.f_back")),
    "frames by an error": ("uses sys", ("import numpy as np\n", "import sys\n\nimport numpy as np\n")),
    "a generator's frame": ("uses gi_frame", put("x = inner.gi_frame")),
    "a pickle": ("uses pickle", ("import numpy as np\n", "import pickle\n\nimport numpy as np\n")),
    "a tested class that is changed": ("sets statistic of another", put("NearestSums.statistic = print")),
    "a curator's method that is changed": ("sets release of another", put("curator.release = print")),
    "an array that is opened": ("uses setflags", put("centers.setflags(write=True)")),
    "the seed, which tells DEMO from PRIVATE": ("uses bit_generator", put("x = rng.bit_generator")),
}


@pytest.mark.parametrize("name", RULES)
def test_a_cheat_is_refused_at_loading(name, mine, registry):
    words, (before, after) = RULES[name]
    source = mine.read_text()
    assert source.count(before) == 1
    mine.write_text(source.replace(before, after))
    known = dict(registry)
    with pytest.raises(ValueError, match=rf"my_own\.py is refused: .*{words}.*An algorithm may ask only the curator"):
        add_files([mine])
    assert registry == known


# Not seen in the source, but refused by the curator before it reads a row
DOORS = {
    "a class made by a call": (
        "Peek is not a query",
        (
            ASKS,
            'kind = type("Peek", (NearestSums,), {"keep": False})\n            '
            + ASKS.replace("NearestSums(", "kind("),
        ),
    ),
    "a price of a class of one's own": (
        "cannot be paid with Cheap",
        (CLASS, "class Cheap(Laplace):\n    pass\n\n\n" + CLASS),
        ("(Laplace(self.epsilon", "(Cheap(self.epsilon"),
    ),
    "a plan of a class of one's own": (
        "must be a Plan; got Cheap",
        (CLASS, "class Cheap(Plan):\n    pass\n\n\n" + CLASS),
        ("return Plan(", "return Cheap("),
    ),
    "a label that compares as it likes": (
        "a label that is a str",
        (CLASS, "class Label(str):\n    pass\n\n\n" + CLASS),
        ('release("update"', 'release(Label("update")'),
    ),
    "a number that computes as it likes": (
        "radius holds Number, which is not data",
        (CLASS, "class Number(float):\n    pass\n\n\n" + CLASS),
        ("domain.radius))", "Number(domain.radius)))"),
    ),
    "the curator's copy": (
        "neither pickled nor copied",
        ("import numpy as np\n", "import copy\n\nimport numpy as np\n"),
        put("x = copy.copy(curator)"),
    ),
}


def added(mine, edits):
    """Add an algorithm from a file after replacing pieces of its source, each of which stands there once."""
    source = mine.read_text()
    for before, after in edits:
        assert source.count(before) == 1
        source = source.replace(before, after)
    mine.write_text(source)
    add_files([mine])


@pytest.mark.parametrize("name", DOORS)
def test_a_cheat_is_refused_at_the_door(name, mine, registry):
    words, *edits = DOORS[name]
    added(mine, edits)
    rows = load_sample("tiny")
    with pytest.raises((ValueError, PermissionError), match=words):
        registry["my-own"](n_clusters=2).run(rows.X, domain=rows.domain, seed=0)


# Neither the source nor a query gives them away; `check_algorithm` compares what they say with what they do
CONVICTED = {
    "a smaller promise than the plan": (
        "epsilon of the claim differs from that of the guarantee",
        (
            "    def plan(self",
            "    def guarantee(self, *args, **named):\n        promise = super().guarantee(*args, **named)\n"
            "        tenth = self.epsilon / 10\n"
            "        return dataclasses.replace(promise, epsilon=tenth, pure_epsilon=tenth)\n\n    def plan(self",
        ),
    ),
    "a plan that grows with every second look": (
        "1.0 was asked for, 3.0 claimed",
        (CLASS, "CALLS = []\n\n\n" + CLASS),
        (
            "share = (Laplace(self.epsilon / self.rounds / 2),)",
            "CALLS.append(1)\n        grown = 1 if len(CALLS) % 2 else 3\n"
            "        share = (Laplace(grown * self.epsilon / self.rounds / 2),)",
        ),
    ),
}


@pytest.mark.parametrize("name", CONVICTED)
def test_a_cheat_is_convicted_by_the_checks(name, mine, registry):
    words, *edits = CONVICTED[name]
    added(mine, edits)
    with pytest.raises(AssertionError, match=words):
        check_algorithm(registry["my-own"])


SHUT = {
    "overrides": ["run", "_rows", "_size", "_randomness", "_promise"],
    "draws noise itself with": ["laplace", "gumbel", "geometric"],
    "uses": [
        "__import__", "attrgetter", "builtins", "ctypes", "delattr", "eval", "exec", "format_map", "gc", "getattr",
        "globals", "importlib", "inspect", "locals", "methodcaller", "open", "pickle", "setattr", "sys", "traceback",
        "vars", "ag_frame", "cr_frame", "f_back", "f_globals", "f_locals", "gi_frame", "tb_frame", "bit_generator",
        "setflags",
    ],
}  # fmt: skip
PLANTED = {
    "overrides": "class Mine:\n    def {}(self):\n        return 0",
    "draws noise itself with": "noise = rng.{}(0, 1)",
    "uses": "x = thing.{}",
}


@pytest.mark.parametrize(("words", "name"), [(words, name) for words in SHUT for name in SHUT[words]])
def test_every_word_of_the_rules_is_refused(words, name):
    assert any(f"an algorithm {words} {name}" in found for found in broken_rules(PLANTED[words].format(name)))


@pytest.mark.parametrize("name", ["statistic", "sensitivity", "assign", "answers", "utility"])
def test_a_class_with_a_method_of_a_query_is_one(name):
    assert "defines a query" in broken_rules(f"class Mine:\n    def {name}(self, block):\n        return 0")[0]


def test_nothing_of_a_curators_own_is_read_by_any_name():
    rows = Rows([[0.0]], Domain.box(-1, 1, 1))
    curator = Curator(rows, Plan({}), Secure(), neighboring=Neighboring.ADD_REMOVE, n_public=2, hidden=None)
    inner = {name for name in {*vars(curator), *vars(Curator)} if name.startswith("_") and not name.startswith("__")}
    assert "_session" in inner
    for name in inner - {"_path"}:  # a common name, and a curator's returns scopes, which are public
        assert f"an algorithm touches {name} (line 1)" in broken_rules(f"x = self.{name}")
    assert broken_rules("x = self._own") == [] and broken_rules("x = other._own")


@pytest.mark.parametrize(
    "line",
    ['if __name__ == "__main__":\n    pass', 'x = "noisy_counts"', 'x = f"{a} _b"', 'def f():\n    """Use `_x`."""'],
)
def test_an_honest_line_is_accepted(line):
    assert broken_rules(line) == []
