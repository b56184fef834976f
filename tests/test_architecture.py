"""Check the source for the bans that keep an algorithm from seeing a row; each ban is shown to catch a violation."""

import ast
import re
from pathlib import Path

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.rules import broken_rules
from tests.rooms import PLACES, against, arrows, by_string, circle, imported, parsed, sources

ROOT = Path(__file__).parent.parent
ROOMS = [  # rooms import only those above them; the trace comes after the privacy core, whose records it holds
    "dpviz.version",
    "dpviz.notebook",
    "dpviz.validate",
    "dpviz.escape",
    "dpviz.numbers",
    "dpviz.params",
    "dpviz.frozen",
    "dpviz.frames",
    "dpviz.geometry",
    "dpviz.domain",
    "dpviz.datasets",
    "dpviz.privacy.accounting",
    "dpviz.privacy.guarantee",
    "dpviz.privacy.delta",
    "dpviz.privacy.budget",
    "dpviz.privacy.exact",
    "dpviz.privacy.from_opendp",
    "dpviz.privacy.noise",
    "dpviz.privacy.local",
    "dpviz.privacy.choice",
    "dpviz.privacy.costs",
    "dpviz.privacy.plan",
    "dpviz.privacy.ledger",
    "dpviz.privacy.block",
    "dpviz.privacy.queries",
    "dpviz.privacy.answers",
    "dpviz.privacy.rows",
    "dpviz.privacy.chunked",
    "dpviz.privacy.race",
    "dpviz.privacy.curator",
    "dpviz.privacy.secret",
    "dpviz.privacy.accounts",
    "dpviz.trace",
    "dpviz.metrics",
    "dpviz.postprocessing",
    "dpviz.algorithms",
    "dpviz.estimator",
    "dpviz.federated",
    "dpviz.audits",
    "dpviz.testing",
    "dpviz.figures",
    "dpviz.takeaway",
    "dpviz.runs",
    "dpviz.sweeps",
    "dpviz.atlas",
    "dpviz.planning",
    "dpviz.papers",
    "dpviz.lessons",
    "dpviz.cli",
    "dpviz.__main__",
    "pages._ui.frame",  # three rooms that all pages share, then a folder for each word of the bar
    "pages._ui.server",
    "pages._ui.frame.address",
    "pages._ui.work",
    "pages._ui.explore.form",
    "pages._ui.explore.player",
    "pages._ui.explore.distance",
    "pages._ui.explore.federated",
    "pages._ui.explore.attacker",
    "pages._ui.explore.compare",
    "pages._ui.explore.tradeoff",
    "pages._ui.explore.workspace",
    "pages._ui.explore.ledger",
    "pages._ui.explore",
    "pages._ui.start",
    "pages._ui.data.plan",
    "pages._ui.data",
    "pages._ui.data.account",
    "pages._ui.learn.limits",
    "pages._ui.learn.papers",
    "pages._ui.learn",
    "pages._ui.teach.notes",
    "pages._ui.teach.classroom",
    "pages._ui.teach.present",
    "pages",
    "app",
    "lab",  # nothing imports it
]
NO_ALGORITHM = ("base", "kmeans", "outside", "programs", "rules")  # modules that do not use a curator
HOUSE = {f"dpviz.algorithms.{name}" for name in NO_ALGORITHM}
DOORS = {"dpviz", "dpviz.privacy", "pages._ui"}  # They hold only docstrings, a version and lookups.
ABOVE = {("dpviz.cli.main", "dpviz.cli.*")}  # The commands are imported by a string on request.
NAMED_BY_OTHERS = {"dpviz.sweeps.child", "dpviz.algorithms.programs"}  # they import what a pool or --outside names
SOURCES = sources(ROOT)


def room(module):
    found = [name for name in ROOMS if module == name or module.startswith(name + ".")]
    longest = max(found, key=len, default="pages")
    if longest == "pages" and module.startswith("pages._ui."):
        return None  # the parts of pages have rooms of their own
    return ROOMS.index(longest) if found else None


MAKERS = {"draw", "locked", "transport"}  # functions whose first argument is a widget's key
CONTROLS = {
    "Control": 1,
    "Columns": 1,
    "DataControl": 1,
    "SweepData": 1,
    "RunsControl": 1,
    "of": 3,
}  # constructor -> place of its key
STATE = {"pages._ui.frame.session", "pages._ui.frame.inside.patches"}  # modules that read Streamlit's state
STATE_METHODS = {"get", "pop", "setdefault", "update"}


def written(node):
    if isinstance(node, ast.IfExp):
        return written(node.body) or written(node.orelse)
    if isinstance(node, ast.BinOp):
        return written(node.left) or written(node.right)
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""
    )


def pattern(node):
    """Return the text of a literal key, with {} for each part that is computed, or None for a name."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return pattern(node.func.value)
    if isinstance(node, ast.Attribute) and node.attr == "format":
        return pattern(node.value)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def given_keys(node):
    """Yield the expressions that a call uses as keys of widgets, and the parts of those that join or choose."""
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and node.func.attr == "format"):
        return
    place = CONTROLS.get(maker := ast.unparse(node.func).split(".")[-1], 0 if maker in MAKERS else None)
    given = [pair.value for pair in node.keywords if pair.arg == "key"]
    given += node.args[place : place + 1] if place is not None else []
    while given:
        yield (one := given.pop())
        if isinstance(one, ast.IfExp):
            given += [one.body, one.orelse]
        elif isinstance(one, ast.BinOp):
            given += [one.left, one.right]


def keys_of(modules):
    """Return the places where each key of a widget is declared, as pattern -> modules.

    A key is declared where it is written: in the call that makes the widget, or under a name of its module.
    """
    pages = {module: parsed(source) for module, source in modules.items() if module.startswith("pages.")}
    used = {module: [one for node in nodes for one in given_keys(node)] for module, nodes in pages.items()}
    called = {
        ast.unparse(one.func if isinstance(one, ast.Call) else one).split(".")[-1]
        for ones in used.values()
        for one in ones
        if isinstance(one, ast.Name | ast.Attribute | ast.Call)
    }
    found = {}
    for module, nodes in pages.items():
        places = {id(one): one for one in used[module]}
        for node in nodes:
            names = [ast.unparse(name) for name in node.targets] if isinstance(node, ast.Assign) else []
            if any(name.isupper() and name in called for name in names):
                places[id(node.value)] = node.value
        for one in places.values():
            if text := pattern(one):
                found.setdefault(text, []).append(module)
    return found


def written_twice(modules):
    """Return the keys that are declared more than once, or written out again where they are used."""
    found = keys_of(modules)
    fixed = {key: 0 for key in found if "_" in key and "{}" not in key}
    for module, source in modules.items():
        if module.startswith("pages."):
            for node in parsed(source):
                if isinstance(node, ast.Constant) and node.value in fixed:
                    fixed[node.value] += 1
    return {key for key, homes in found.items() if len(homes) > 1} | {key for key, times in fixed.items() if times > 1}


def loose(nodes):
    """Yield names that a page writes into Streamlit's state or reads from it, and that are not widget keys."""
    state = re.compile(r"(.*\.)?session_state|state").fullmatch
    for node in nodes:
        if isinstance(node, ast.Attribute) and state(ast.unparse(node.value)) and node.attr not in STATE_METHODS:
            yield node.attr
        if isinstance(node, ast.Subscript) and state(ast.unparse(node.value)) and written(node.slice):
            yield ast.unparse(node.slice)
        if (
            isinstance(node, ast.Compare)
            and written(node.left)
            and any(state(ast.unparse(c)) for c in node.comparators)
        ):
            yield ast.unparse(node.left)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and state(ast.unparse(node.func.value)):
            yield from (ast.unparse(name) for name in node.args[:1] if written(name))
            yield from (pair.arg for pair in node.keywords if pair.arg is not None)


# Yield the arguments that Streamlit reads as Markdown: the first one, help, and options of some widgets.
TEXTS = {
    "badge", "button", "caption", "checkbox", "dialog", "download_button", "error", "expander", "header", "info",
    "markdown", "metric", "multiselect", "number_input", "page_link", "pills", "popover", "progress", "radio",
    "segmented_control", "select_slider", "selectbox", "slider", "spinner", "subheader", "success", "text_area",
    "text_input", "title", "toast", "toggle", "warning", "write",
}  # fmt: skip
OPTIONS = {"pills", "radio", "segmented_control", "select_slider"}
FOREIGN = {
    "column", "columns", "description", "error", "label", "problem", "reason", "refused", "sentence", "title", "unit",
    "units",
}  # fmt: skip
OURS = {"lesson.title", "LESSONS[follower].title", "paper.title", "entry.title", "promise.unit", "relation.unit"}
OURS |= {
    "total_for.unit",
    "r.unit",
    "pages.federated refused",
    "pages._ui.explore.form.forms label",
    "pages._ui.explore.form.numbers label",
}
OURS |= {"LESSONS[one].title", "LESSONS[name].title", "pages._ui.explore.form.picker label"}
OURS |= {"pages._ui.data.editor label", "pages._ui.data.upload label", "pages._ui.learn.papers.writeup title"}


def unescaped(module, nodes):
    """Yield possibly foreign text that a page writes as Markdown without `escape.plain`."""

    def names(node):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("plain", "len", "st.columns"):
            return
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            word = ast.unparse(node)
            if word.split(".")[-1] in FOREIGN and not {word, f"{module} {word}"} & OURS:
                yield word
        for inner in ast.iter_child_nodes(node):
            yield from names(inner)

    for node in nodes:
        kind = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
        if kind not in {*TEXTS, *CONTROLS, "draw"} or not (kind in CONTROLS or isinstance(node.func, ast.Attribute)):
            continue
        place = CONTROLS.get(kind, -1) + 1 if kind != "draw" else len(node.args)
        shown = node.args if kind in ("progress", "metric") else node.args[place : place + 1]
        shown = [*shown, *(pair.value for pair in node.keywords if pair.arg in ("help", "captions", "label", "text"))]
        widget = [pair.value.value for pair in node.keywords if pair.arg == "widget"]
        if {kind, *widget} & {*OPTIONS, "draw"}:
            shown += [pair.value for pair in node.keywords if pair.arg in ("format_func", "named")]
        for part in shown:
            yield from (f"{kind} {word}" for word in names(part))


INSIDE = "pages._ui.frame.inside"  # the one folder that relies on Streamlit's insides
OPEN = ("streamlit.delta_generator", "streamlit.typing", "streamlit.testing")  # submodules that Streamlit documents
INNER = re.compile(  # words of Streamlit's insides: test-ids and classes, chunks, addresses, private names, the history
    r"""data-(?:testid|baseweb|stale|tag)|\bst(?:App|Main|Header|Toolbar|Sidebar|Column|ElementContainer|LayoutWrapper"""
    r"""|VerticalBlock|HorizontalBlock|PageLink|BaseButton|Popover)\w*|\.st-emotion|PlotlyChart|BidiComponent|static/js/"""
    r"""|_stcore|\bhistory\.(?:push|replace)State|pushState|window\.Plotly|popstate"""
    r"""|\.(?:is_history_navigation|uploaded_file_mgr|file_storage|is_active_session|is_manually_set|_session_mgr"""
    r"""|_new_widget_state|_old_state|_yield_callback)\b|Uncaught app execution"""
)


def inner(module, source, names=()):
    """Return the ways in which a module, a script or a style sheet of the pages relies on Streamlit's insides."""
    if module == INSIDE or module.startswith(f"{INSIDE}."):
        return []
    words = {word for word in INNER.findall(source)}
    words |= {name for name in names if name.startswith("streamlit.") and not name.startswith(OPEN)}
    return [f"{word} of Streamlit's inside is outside {INSIDE}" for word in sorted(words)]


def wrong(module, source):  # noqa: C901 - one condition a ban
    """Return every ban that `source` violates if it is the module `module`."""
    found = []
    nodes = parsed(source)
    names = imported(source)
    tops = {name.split(".")[0] for name in names}
    if "streamlit" in tops and not (module == "app" or module.startswith("pages")):
        found.append("streamlit outside app.py and pages/")
    if "plotly" in tops and not (module.startswith("dpviz.figures") or module == "app"):
        found.append("plotly outside dpviz/figures")
    mine = room(module)
    if mine is not None:
        below = [name for name in names if (theirs := room(name)) is not None and theirs > mine]
        found += [f"imports {name} from a room below" for name in below if (module, name) not in ABOVE]
    if {"lab", "dpviz_lab"} & tops and not module.startswith("lab."):
        found.append("the lab is imported")
    if "" in map(by_string, nodes) and module not in NAMED_BY_OTHERS:
        found.append("imports what nobody can read")
    if module.startswith("dpviz.figures") and any(
        re.match(r"dpviz\.(algorithms|audits|runs|sweeps)", n) for n in names
    ):
        found.append("figures import algorithms, audits, runs or sweeps")
    if module != "dpviz.figures.kit.theme" and re.search(r"#[0-9A-Fa-f]{6}\b", source):
        found.append("a color outside figures/kit/theme.py")
    if re.search(r"np\.random\.(?!default_rng|Generator|SeedSequence)\w+\(", source):
        found.append("global np.random")
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    draws = [f for f in calls if isinstance(f, ast.Attribute) and f.attr in ("laplace", "gumbel", "geometric")]
    if draws and module.startswith("dpviz") and module not in ("dpviz.privacy.noise", "dpviz.privacy.costs"):
        found.append("noise outside privacy/noise.py")
    queries = re.findall(r"class \w+\((?:Query|Score|Predicate|KeyQuery|Question)\)", source)
    if queries and not module.startswith("dpviz.privacy.queries"):
        found.append("query class outside privacy/queries")
    if module.startswith("dpviz.algorithms.") and module not in HOUSE:
        found += broken_rules(source)
    if module == "app" or module.startswith("pages"):
        found += inner(module, source, names)
        if re.search(r"\bst\.stop\b", source) and not module.startswith(INSIDE):
            found.append("st.stop instead of patches.stop")
    if module == "app" or (module.startswith("pages.") and module not in STATE):
        found += [f"{name} is kept beside the session" for name in loose(nodes)]
    if any(isinstance(node, ast.Name) and node.id in ("said", "_said") for node in nodes):
        found.append("a value is called said")
    if "html" in tops and module.startswith("pages.") and module != "pages._ui.frame.markup":
        found.append("html escaped outside pages/_ui/frame/markup.py")
    return found


def test_every_module_has_a_room():
    assert len(SOURCES) > 350
    assert [module for module in SOURCES if module not in DOORS and room(module) is None] == []


def test_no_ban_is_broken():
    assert {module: broken for module, source in SOURCES.items() if (broken := wrong(module, source))} == {}


def ring(modules):
    """Return a cycle of modules that import each other, even inside functions, for typing only, or by a string."""
    names = {}
    for module, source in modules.items():
        direct = {name for name in imported(source) if (module, name) not in ABOVE}
        spread = {one for name in direct if name.endswith("*") for one in modules if one.startswith(name[:-1])}
        names[module] = (direct | spread) - DOORS - {module}
    return circle(names)


def test_no_modules_import_each_other():
    assert ring(SOURCES) == []


def test_no_room_imports_one_above_it():
    tied = {place: arrows(SOURCES, place) for place in PLACES}
    assert {place: (against(rooms), circle(rooms)) for place, rooms in tied.items()} == dict.fromkeys(PLACES, (0, []))
    upward = SOURCES | {"dpviz.trace": f"{SOURCES['dpviz.trace']}\nimport_module(f'dpviz.takeaway.{{name}}')"}
    assert against(arrows(upward, "dpviz")) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("dpviz.geometry.kernels", "def f():\n    from dpviz.geometry import snap"),
        ("dpviz.datasets.dictionary", "from dpviz.datasets import blobs"),
        ("dpviz.trace", "def f():\n    import dpviz.algorithms.base"),
        ("dpviz.domain", "def f():\n    importlib.import_module('dpviz.datasets.blobs')"),
        ("pages._ui.work.jobs", "if TYPE_CHECKING:\n    from pages._ui.work.runs import seconds"),
    ],
)
def test_a_planted_circle_is_caught(module, line):
    assert module in ring(SOURCES | {module: f"{SOURCES[module]}\n{line}\n"})


PLANTED = {
    "state.Value of Streamlit's inside": (
        "pages._ui.server.new",
        "from streamlit.runtime.state.session_state import Value",
    ),
    "streamlit.runtime of Streamlit's inside": ("pages._ui.work.new", "from streamlit import runtime"),
    "data-testid of Streamlit's inside": ("pages._ui.data.new", "st.html('<style>[data-testid=stApp]{}</style>')"),
    ".file_storage of Streamlit's inside": ("pages.new", "files = store.file_storage"),
    "st.stop instead of patches.stop": ("pages.new", "import streamlit as st\nst.stop()"),
    "_stcore of Streamlit's inside": ("app", "path = '/_stcore/health'"),
    "streamlit": ("dpviz.metrics", "import streamlit as st"),
    "pages._ui.explore.form.forms from a room below": (
        "pages._ui.frame.shell",
        "if TYPE_CHECKING:\n    from pages._ui.explore.form.forms import STOPS",
    ),
    "pages._ui.explore.look from a room below": (
        "pages._ui.explore.player.player",
        "from pages._ui.explore import look",
    ),
    "dpviz.sweeps.sweep from a room below": ("dpviz.metrics", "importlib.import_module('dpviz.sweeps.sweep')"),
    "dpviz.takeaway.* from a room below": ("dpviz.metrics", "import_module(f'dpviz.takeaway.{name}')"),
    "the lab is imported": ("dpviz.papers.registry", "def f():\n    from lab.papers.reproduce import numbers_of"),
    "lab.* from a room below": ("pages.new", "import_module(f'lab.{name}')"),
    "lab is imported": ("dpviz.cli.main", "import dpviz_lab.site"),
    "what nobody can read": ("dpviz.metrics", "import_module(name)"),
    "plotly": ("dpviz.metrics", "import plotly.graph_objects as go"),
    "room below": ("dpviz.geometry", "from dpviz.algorithms import ALGORITHMS"),
    "figures import": ("dpviz.figures.evolution.pe_means", "from dpviz.sweeps import summary"),
    "a color": ("dpviz.sweeps.report", 'STYLE = "color: #1B5FA8"'),
    "global np.random": ("dpviz.geometry", "x = np.random.normal(0, 1)"),
    "noise outside": ("dpviz.algorithms.new", "y = rng.laplace(0, 1)"),
    "query class": ("dpviz.algorithms.new", "class Mine(Query):\n    pass"),
    "imports rows": ("dpviz.algorithms.new", "from dpviz.privacy.rows import Rows"),
    "imports noise": ("dpviz.algorithms.new", "from dpviz.privacy.noise import Seeded"),
    "touches _session": ("dpviz.algorithms.new", "x = curator._session"),
    "uses getattr": ("dpviz.algorithms.new", "x = getattr(curator, name)"),
    "overrides run": ("dpviz.algorithms.new", "class Mine(Algorithm):\n    def run(self, X):\n        return X"),
    "html escaped": ("pages.new", "import html"),
    "called said": ("dpviz.metrics", "said = 1"),
    "mine is kept": ("pages.new", "st.session_state.mine = 1"),
    "'mine' is kept": ("pages.new", 'if "mine" not in st.session_state:\n    state = 0'),
    "f'mine_{x}' is kept": ("pages.new", 'st.session_state[f"mine_{x}"] = 1'),
    "'other' is kept": ("app", 'st.session_state.setdefault("other", [])'),
    "slow is kept": ("pages.new", "st.session_state.update(slow=1)"),
}


@pytest.mark.parametrize("ban", PLANTED)
def test_a_planted_violation_is_caught(ban):
    assert any(ban in sentence for sentence in wrong(*PLANTED[ban]))


def texts():
    """Return the scripts and style sheets of the pages: dotted name with its ending -> text."""
    files = sorted(path for path in (ROOT / "pages").rglob("*") if path.suffix in (".js", ".css"))
    return {".".join(path.relative_to(ROOT).parts): path.read_text() for path in files}


def test_no_script_or_style_relies_on_streamlits_insides():
    assert len(texts()) > 30
    assert {name: found for name, text in texts().items() if (found := inner(name, text))} == {}


@pytest.mark.parametrize(
    ("name", "line", "word"),
    [
        ("pages._ui.explore.drag", "[data-testid=stApp] .mine { color:red; }", "data-testid"),
        ("pages._ui.explore.drag", ".stMainBlockContainer { color:red; }", "stMainBlockContainer"),
        ("pages._ui.data.paint", 'history.pushState({}, "", "/");', "history.pushState"),
        ("pages._ui.data.paint", 'await import("./PlotlyChart.abc.js");', "PlotlyChart"),
        ("pages._ui.data.paint", "window.Plotly.react(place);", "window.Plotly"),
    ],
)
def test_a_planted_inside_in_a_script_or_a_style_is_caught(name, line, word):
    assert any(sentence.startswith(f"{word} of") for sentence in inner(name, line))
    assert inner(f"{INSIDE}.page", line) == []


def families(base, sources=SOURCES):
    """Return the names of a package's folders that hold a family."""
    shared = {"dpviz.figures.kit", "dpviz.figures.scenes", "dpviz.figures.stage"}
    folders = {module.rpartition(".")[0] for module in sources if module.startswith(f"{base}.")} - {base} - shared
    return {folder.removeprefix(f"{base}.") for folder in folders}


def without_picture(modules):
    """Return the families that only one of `dpviz.figures` and `dpviz.algorithms` has."""
    return families("dpviz.algorithms", modules) ^ families("dpviz.figures", modules)


def test_every_family_has_pictures_and_tests_by_its_name():
    assert without_picture(SOURCES) == set()
    tested = {path.name for path in (ROOT / "tests/algorithms").iterdir() if (path / "__init__.py").exists()}
    assert tested == families("dpviz.algorithms")
    assert {path.name for path in (ROOT / "tests/figures").iterdir() if (path / "__init__.py").exists()} <= tested | {
        "kit",
        "scenes",
    }


def test_a_planted_family_without_a_picture_is_caught():
    assert without_picture(SOURCES | {"dpviz.algorithms.new.first": ""}) == {"new"}
    assert without_picture(SOURCES | {"dpviz.figures.new.first": ""}) == {"new"}


def without_controls(modules):
    """Return the pages with widgets that do not call `links.enter` with controls of their own folder or the workspace.

    Pages that make no widget and use only the frame are left out.
    """
    found = set()
    for module, source in modules.items():
        page = module.removeprefix("pages.")
        if not module.startswith("pages.") or page.partition(".")[0] == "_ui":
            continue
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in parsed(source)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        calls = [node for node in parsed(source) if isinstance(node, ast.Call) and len(node.args) > 1]
        entered = [ast.unparse(node.args[1]) for node in calls if ast.unparse(node.func) == "links.enter"]
        used = [".".join([names.get(name.split(".")[0], ""), *name.split(".")[1:]]) for name in entered]
        folder = {"class": "classroom", "home": "start"}.get(page, page)  # `class` is a keyword; the bar says Start
        home = re.compile(rf"pages\._ui\.((\w+\.)?{folder}\.controls|explore\.workspace)\.")
        parts = [name for name in names.values() if name.startswith("pages._ui.")]
        asks = any(not name.startswith("pages._ui.frame.") for name in parts) or "key=" in source
        if asks and not any(map(home.match, used)):
            found.add(page)
    return found


def test_every_page_has_controls_where_its_name_says():
    assert without_controls(SOURCES) == set()


def test_a_planted_page_without_controls_is_caught():
    entered = "from pages._ui.frame import shell\nshell.enter(__file__)\n"
    assert without_controls(SOURCES | {"pages.about": f"{entered}st.markdown('Words.')"}) == set()
    assert without_controls(SOURCES | {"pages.about": f"{entered}st.button('Go', key='go')"}) == {"about"}
    assert without_controls(SOURCES | {"pages.about": f"{entered}from pages._ui.about import view"}) == {"about"}
    elsewhere = "from pages._ui.start.controls import home\nlinks.enter(__file__, home)"
    assert without_controls(SOURCES | {"pages.about": elsewhere}) == {"about"}


def test_every_key_is_declared_once():
    assert len(keys_of(SOURCES)) > 250 and written_twice(SOURCES) == set()


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('st.button("Go", key="strip")', "strip"),
        ('st.button("Go", key="strip" if here else SHARE)', "strip"),
        ('st.button("Go", key=f"slide_title_{word}")', "slide_title_{}"),
        ('GO = "course_{}".format\nst.button("Go", key=GO(1))', "course_{}"),
        ('Control("e", "sweep_epsilon", "ε", spec)', "sweep_epsilon"),
        ('st.session_state.get("share_link")', "share_link"),
        ('locked("explore_seed")', "explore_seed"),
    ],
)
def test_a_planted_second_key_is_caught(line, key):
    assert written_twice(SOURCES | {"pages.new": line}) == {key}


def test_pages_are_thin():
    for path in (ROOT / "pages").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 125, path.name


@pytest.mark.parametrize("slug", [*ALGORITHMS, "no other"])
def test_readme_lists_every_algorithm(slug):
    rows = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    rows, slugs = [*rows, "no other"], [*ALGORITHMS, "no other"]
    place = slugs.index(slug)
    assert rows[place : place + 1] == [slug], (
        f"row {place + 1} of README's table of algorithms must be {slug}: its order is that of ALGORITHMS"
    )


def test_every_walk_in_a_browser_is_slow():
    """Quick tests do not import walks in a browser, so a walk without the mark would never run."""
    walks = {path.name: path.read_text() for path in (ROOT / "tests" / "browser").glob("test_*.py")}
    mark = "\npytestmark = [pytest.mark.browser, pytest.mark.slow"
    assert len(walks) > 20 and [name for name, source in walks.items() if mark not in source] == []


def borrowed(modules):
    """Return the fixtures that a test module imports from another module instead of a conftest file."""
    found = []
    for module, source in modules.items():
        for other, names in re.findall(r"^ *from (tests\.[\w.]*test_\w+) import ([^#\n]+)", source, re.MULTILINE):
            fixtures = re.findall(r"^@pytest\.fixture\b.*\ndef (\w+)", modules[other], re.MULTILINE)
            found += [f"{module} imports {name} of {other}" for name in re.findall(r"\w+", names) if name in fixtures]
    return found


def test_no_fixture_is_imported_from_another_test_module():
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.glob("tests/**/*.py")}
    modules = {name: path.read_text() for name, path in modules.items()}
    assert len(modules) > 200 and borrowed(modules) == []
    planted = {"tests.test_new": "from tests.test_takeaway import page, secret"}
    assert borrowed(modules | planted) == ["tests.test_new imports secret of tests.test_takeaway"]


def test_the_map_names_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = {name.split(".")[1] for name in ROOMS if name.startswith("dpviz.")} - {"version", "__main__"}
    lines = "".join(line for line in text.splitlines() if line.startswith("| `"))
    assert [room for room in sorted(rooms) if not re.search(rf"\b{room}\b", lines)] == []
    assert len(text.splitlines()) <= 165


def long_lines(scripts):
    """Return the places where a line of a script is longer than a line of Python may be."""
    return [
        f"{path}:{number}"
        for path, text in scripts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > 120
    ]


def test_scripts_are_as_narrow_as_python():
    scripts = {
        str(path.relative_to(ROOT)): path.read_text()
        for folder in ("dpviz", "lab", "pages")
        for path in (ROOT / folder).rglob("*.js")
    }
    assert len(scripts) > 15
    assert long_lines(scripts) == []
    assert long_lines({"a.js": f"ok;\n{'x' * 121}"}) == ["a.js:2"]


def test_readme_and_changelog_stay_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 93
    versions = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    for version in versions:
        lines = [line for line in version.splitlines()[1:] if line]
        assert len(version.strip().splitlines()) <= 60, version.partition("\n")[0]
        assert [line for line in lines if not line.startswith(("- ", "### ")) or len(line) > 140] == []
