"""The controls of every page, declared once: their words in an address, their keys, what they may hold."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.datasets import SAMPLES, Blobs
from dpviz.datasets.painted import check as check_painting
from dpviz.federated import CLIENTS, DRAWN_BY, SPREADS
from dpviz.papers import registry
from dpviz.papers.writeup import OURS
from dpviz.params import ParamSpec
from dpviz.planning.facts import MOST_CLUSTERS, MOST_PEOPLE
from dpviz.postprocessing.coresets import COSTS
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import REFERENCE
from pages._ui import catalog, distance, exact, federated, keys
from pages._ui.attacker import setup
from pages._ui.budget import GIVEN_AS
from pages._ui.compare.sides import RunsControl
from pages._ui.data import gallery
from pages._ui.data.address import FILE, MISSING, DataControl, SweepData, any_data, file_word, public_data
from pages._ui.explore import who
from pages._ui.explore.picker import first, offered
from pages._ui.forms import STOPS, fields_of, label_of, may_be_noiseless
from pages._ui.papers import WORDS
from pages._ui.plan import form as facts
from pages._ui.present.deck import MOST_SLIDES
from pages._ui.results import Result
from pages._ui.scene import Control, Scene, number
from pages._ui.sweep import form, tables, vary, view
from pages._ui.sweep.looks import looks

_SHORT = {"n_clusters": "k", "epsilon": "e", "delta": "delta", "rho_distance": "rho"}
OWN_FILE = "Your file"  # the way of the Data page that is in no address


def _choice(default: Any, choices: Sequence[Any]) -> ParamSpec:
    return ParamSpec(default, choices=tuple(choices), kind="choice")


def _switch(default: bool) -> ParamSpec:
    return ParamSpec(default, kind="bool")


def _epsilon(key: str, default: float) -> Control:
    return Control("e", key, label_of("epsilon"), _choice(default, STOPS), always=True)


def _layers(key: str) -> Control:
    return Control("layers", key, "Show people and KMeans", _switch(True))


def _seed(key: str) -> Control:
    return Control("s", key, "Seed", number(0, 0), always=True)


def home(known: Mapping[str, Any]) -> Sequence[Control]:
    """Home has one control."""
    return [_epsilon(keys.HOME_EPSILON, 1.0)]


def explore(known: Mapping[str, Any]) -> Sequence[Control]:
    """Data first, then the algorithm; the other controls follow from them, and the defaults from the preset."""
    found: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True)
    ]
    if "d" not in known:
        return found
    method = first(own=known["d"].startswith(FILE))
    found.append(Control("a", keys.EXPLORE_ALGORITHM, "Algorithm", _choice(method, offered(False)), always=True))
    if "a" not in known:
        return found
    cls, name = ALGORITHMS[known["a"]], found[0].to_widget(known["d"])
    if cls.PRESETS:
        choices = (None, *cls.PRESETS)
        found.append(Control("preset", keys.PRESET(cls.slug), "Preset", _choice(None, choices)))
        if "preset" not in known:
            return found
    data = catalog.sample(SAMPLES[0] if name == MISSING else name)
    fields = fields_of(cls, name, {"n_clusters": data.n_clusters}, known.get("preset"))
    for param, spec in params.specs(cls).items():
        default, key = fields[param]
        found.append(
            Control(
                _SHORT.get(param, f"p.{param}"),
                key,
                label_of(param),
                dataclasses.replace(spec, default=default),
                always=param in ("n_clusters", "epsilon"),
                typed=spec.optional and spec.kind in ("int", "float"),
            )
        )
    found += [Control("in", keys.BUDGET_IN, "Budget given as", _choice("epsilon", tuple(GIVEN_AS)))]
    found += [_seed(keys.EXPLORE_SEED), _layers(keys.EXPLORE_HIDDEN)]
    if may_be_noiseless(cls):
        found.append(Control("exact", keys.EXPLORE_EXACT, "No noise", _switch(False)))
    found.append(Control("clouds", keys.EXPLORE_AGAIN_HOW, "Reruns", _choice("all", ("all", "one"))))
    found.append(Control("again", keys.EXPLORE_AGAIN, "20 reruns", _switch(False)))
    found.append(Control("alex", keys.EXPLORE_ALEX, "Alex", ParamSpec(""), accepts=who.accepts))
    found.append(Control("any", keys.ANY_K("explore"), "Any k afterwards", _switch(False)))
    if known.get("any"):  # of a run whose points are released
        own = COSTS[known.get("p.objective") == "medians"]
        own_k = number(int(known.get("k") or data.n_clusters), 1, 256)
        found.append(Control("anyk", keys.CORESET_K("explore"), "Centers, from the released points", own_k))
        found.append(Control("cost", keys.CORESET_COST("explore", own), "Cost", _choice(own, COSTS)))
    if len(data.columns) > 2:
        columns = ParamSpec(None, choices=tuple(range(len(data.columns))), kind="choice")
        found.append(
            Control("axes", seen_from(data.dataset_id, cls.slug), "Seen from two columns", columns, many=True, most=2)
        )
    return found


_LOOKS = ("in", "layers", "clouds", "again", "alex", "axes")  # how a run is looked at, and what is asked of it


def ledger(known: Mapping[str, Any]) -> Sequence[Control]:
    """Ledger: the run whose releases it lists, in Explore's words; how its picture is looked at does not matter."""
    return [control for control in explore(known) if control.word not in _LOOKS]


def compare(known: Mapping[str, Any]) -> Sequence[Control]:
    """Compare: the data decide what the runs' parameters start from."""
    found: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("by", keys.COMPARE_BY, "Match by", _choice("step", ("step", "spent"))),
        _layers(keys.COMPARE_HIDDEN),
        Control("whole", keys.COMPARE_WHOLE, "Other lines", _switch(False)),
    ]
    if "d" in known:
        word = known["d"]
        found.append(
            RunsControl(
                "run",
                keys.COMPARE_RUNS,
                "Runs",
                ParamSpec(()),
                many=True,
                always=True,
                data_word=word,
                vocabulary=explore,
            )
        )
    return found


def attacker(known: Mapping[str, Any]) -> Sequence[Control]:
    """Attacker: the data decide where a pin and a distance may lie."""
    found: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("a", keys.ATTACKER_ALGORITHM, "Algorithm", _choice(RECOMMENDED, offered(False)), always=True),
        _epsilon(keys.ATTACKER_EPSILON, 1.0),
        Control("who", keys.ATTACKER_WHO, "Alex is", _choice("typical", tuple(setup.WHO)), always=True),
        Control("ask", keys.ATTACKER_ASK, "Ask", _choice("in", tuple(setup.ASK))),
    ]
    if "d" not in known:
        return found
    kept = found[0].to_widget(known["d"])
    name = SAMPLES[0] if kept == MISSING else kept
    data = catalog.sample(name)
    if stops := setup.stops_of(name):
        found += [
            Control("rho", keys.ATTACKER_RHO(name), label_of("rho_distance"), _choice(stops[14], stops)),
            Control("far", keys.ATTACKER_FAR(name), "How far away", _choice(stops[14], stops)),
        ]
    axes = data.view if len(data.columns) > 1 else (0,)
    for word, key, column in zip(("x", "y"), setup.pin_keys(name), axes, strict=False):
        low, high = float(data.domain.low[column]), float(data.domain.high[column])
        found.append(Control(word, key, data.columns[column], number(setup.corner(low, high), low, high)))
    return found


def seen_from(dataset_id: str, slug: str) -> str:
    """Return the key of the columns that are drawn."""
    return keys.SEEN(dataset_id, slug)


def rho(known: Mapping[str, Any]) -> Sequence[Control]:
    """Distance: its data decide what rho and k may be."""
    data_control = DataControl("d", keys.RHO_DATA, "Data", ParamSpec("city"), accepts=_flat, always=True)
    found: list[Control] = [
        data_control,
        Control("a", keys.RHO_METHOD, "Method", _choice(distance.FAMILY[0], distance.FAMILY), always=True),
        _epsilon(keys.RHO_EPSILON, 1.0),
        _layers(keys.RHO_HIDDEN),
        Control("seen", keys.RHO_SEEN, "I understand", _switch(False)),
    ]
    if "d" in known:
        name = data_control.to_widget(known["d"])
        name = SAMPLES[0] if name == MISSING else name
        data = catalog.sample(name)
        most, stops = min(40, data.n_public), distance.stops(data)
        found += [
            Control("k", keys.RHO_K(name), label_of("n_clusters"), number(data.n_clusters, 1, most), always=True),
            Control("rho", keys.RHO(name), label_of("rho_distance"), _choice(distance.first(data), stops), always=True),
        ]
    return found


def explored(result: Result) -> Scene:
    """Return the scene in which Explore asks for a run on public data, or on a public file of this session."""
    name, trace = result.data.dataset_id.removeprefix("sample:"), result.trace
    word = file_word(result.data.columns) if name in catalog.own() else name
    values = {_SHORT.get(param, f"p.{param}"): value for param, value in trace.parameters.items()}
    values["exact"] = trace.noiseless
    return Scene("explore", {"d": word, "a": trace.algorithm, **values, "s": trace.seed or 0})


def _flat(text: str) -> str:
    name = any_data(text)
    if not name.startswith(FILE) and not distance.fits(name):
        raise ValueError("rho is not one distance there")
    return name


def _small(text: str) -> str:
    name = any_data(text)
    if not name.startswith(FILE) and not federated.fits(name):
        raise ValueError("too large for this page")
    return name


def clients(known: Mapping[str, Any]) -> Sequence[Control]:
    """Federated: the number of clients decides who may fall silent."""
    slugs = federated.offered()[0]
    found = [
        DataControl("d", keys.FED_DATA, "Data", ParamSpec(SAMPLES[0]), accepts=_small, always=True),
        Control("a", keys.FED_SLUG, "Algorithm", _choice("fastlloyd", slugs), always=True),
        _epsilon(keys.FED_EPSILON, 1.0),
        Control("clients", keys.FED_CLIENTS, "Clients", number(4, 2, 32), always=True),
        Control("spread", keys.FED_SPREAD, "Rows are spread", _choice("even", SPREADS)),
        Control("noise", keys.FED_NOISE, "The noise is drawn by", _choice(CLIENTS, DRAWN_BY)),
        Control("exact", keys.FED_EXACT, "What if nobody drew noise?", _switch(False)),
        Control("ring", keys.FED_RING, "Ring", _choice("64", ("64", "32"))),
        Control("delay", keys.FED_DELAY, "Network delay", number(0.25, 0, 10_000)),
        _seed(keys.FED_SEED),
    ]
    if "clients" in known:
        who = range(known["clients"])
        found += [
            Control("silent", keys.FED_SILENT, "A client falls silent", _choice(None, (None, *who))),
            Control("from", keys.FED_CLIENT, "Seen from", _choice(0, who)),
            Control("round", keys.FED_ROUND, "Round", number(1, 1, 10_000)),
        ]
    return found


def tradeoff(known: Mapping[str, Any]) -> Sequence[Control]:
    """The form of a sweep: its algorithms decide what can vary; and how the shown sweep is looked at."""
    slugs = [slug for slug in ALGORITHMS if slug != REFERENCE]
    found = [
        Control("sweep", keys.SWEEP, "sweep", ParamSpec(""), accepts=_token),
        SweepData(
            "d", keys.SWEEP_DATA, "Data", ParamSpec(("town",)), many=True, accepts=public_data, always=True, most=4
        ),
        Control("a", keys.SWEEP_ALGORITHMS, "Algorithms", _choice(form.FIRST, slugs), many=True, always=True),
        Control("e", keys.SWEEP_EPSILON, "Privacy budgets ε", _choice(form.EPSILONS[1:6], form.EPSILONS), many=True),
        Control("runs", keys.SWEEP_REPEATS, "Runs per point", number(10, 2, 50)),
        Control("rho", keys.SWEEP_RHO, label_of("rho_distance"), _choice((0.05,), form.RHOS), many=True),
        Control("n", keys.SWEEP_ROWS, "People in the data", _choice((None,), form.ROWS), many=True),
        Control("k", keys.SWEEP_K, label_of("n_clusters"), ParamSpec(""), accepts=partial(_list, _whole)),
        Control("delta", keys.SWEEP_DELTA, label_of("delta"), ParamSpec(""), accepts=partial(_list, vary.deltas)),
        Control("own", keys.SWEEP_FREE, "Let methods choose their own number of centers", _switch(False)),
        Control("m", keys.SWEEP_METRICS, "Metrics", _choice(("loss",), tuple(METRICS)), many=True),
        _seed(keys.SWEEP_SEED),
        Control("scale", keys.SWEEP_SCALE, "Scale", _choice("log", view.SCALES)),
        Control("single", keys.SWEEP_SINGLE, "Single runs", _switch(True)),
        Control("within", keys.SWEEP_WITHIN, "Within % of KMeans", _choice(10, tables.WITHIN)),
        Control("camera", keys.SWEEP_PICTURE, "Camera", _choice(tables.PICTURES[0], tables.PICTURES)),
    ]
    if "a" in known:
        chosen = list(known["a"])
        names, curves = vary.names_of(chosen), vary.curves_of(chosen)
        varied = Control("vary", keys.SWEEP_VARY, "Vary parameters", _choice((), names), many=True, most=vary.MOST)
        found += [varied, Control("curves", keys.SWEEP_PRESETS, "Presets", _choice((), curves), many=True)]
        for name in known.get("vary", ()):
            check = partial(_list, partial(vary.values_of, chosen, name))
            found.append(Control(f"p.{name}", keys.SWEEP_VARIED(name), label_of(name), ParamSpec(""), accepts=check))
    return [*found, *looks(known)]


def limits(known: Mapping[str, Any]) -> Sequence[Control]:
    """Limits has one picture: whose rows are read off exact centers."""
    return [
        Control("d", keys.EXACT_DATA, "Sample", _choice(exact.samples()[0], exact.samples())),
        Control("noise", keys.EXACT_NOISE, "Published", _choice("none", tuple(exact.NOISE))),
    ]


def plan(known: Mapping[str, Any]) -> Sequence[Control]:
    """What is declared for a plan, and what is asked; the defaults are the town's declaration."""
    typed = (
        ("columns", keys.PLAN_COLUMNS, "Columns"),
        ("units", keys.PLAN_UNITS, "Units"),
        ("low", keys.PLAN_LOW, "Lowest values"),
        ("high", keys.PLAN_HIGH, "Largest values"),
    )
    start = facts.START
    number_or_none = ParamSpec(None, low=0, optional=True, kind="float")
    return [
        Control("n", keys.PLAN_N, "People", number(start[keys.PLAN_N], 2, MOST_PEOPLE), always=True),
        *(Control(word, key, title, ParamSpec(start[key]), accepts=_line) for word, key, title in typed),
        Control("scale", keys.PLAN_SCALE, "Scale of the columns", _choice(start[keys.PLAN_SCALE], tuple(facts.SCALES))),
        Control("k", keys.PLAN_K, label_of("n_clusters"), number(start[keys.PLAN_K], 1, MOST_CLUSTERS), always=True),
        Control("like", keys.PLAN_LIKE, "Shape of the data", _choice("", facts.LIKE)),
        Control("a", keys.PLAN_ALGORITHMS, "Algorithms", _choice(facts.FIRST, facts.offered()), many=True, most=6),
        Control("within", keys.PLAN_WITHIN, "Noise per center at most", number_or_none, typed=True),
        Control("e", keys.PLAN_EPSILON, label_of("epsilon"), number_or_none, typed=True),
    ]


def _line(text: str) -> str:
    if len(text) > 2_000 or not text.isprintable():
        raise ValueError("not a line of text")
    return text


def papers(known: Mapping[str, Any]) -> Sequence[Control]:
    """Papers: which one, and the verdict that its items have."""
    return [
        Control("paper", keys.PAPERS_PAPER, "Paper", _choice("pe-means", (*registry.papers(), *OURS)), always=True),
        Control("verdict", keys.PAPERS_VERDICT, "Verdict", _choice("all", WORDS)),
    ]


def data(known: Mapping[str, Any]) -> Sequence[Control]:
    """Data: what is in use, the public ways to it, and the generator's form."""
    found: list[Control] = [
        DataControl("d", keys.EXPLORE_DATA, "Data in use", ParamSpec(SAMPLES[0]), accepts=any_data),
        Control(
            "way", keys.DATA_WAY, "Where the data come from", _choice("Samples", ("Samples", "Make blobs", "Paint"))
        ),
    ]
    if known.get("way") == "Paint":
        found.append(Control("paint", keys.PAINTED, "Painting", ParamSpec(""), accepts=_painting))
    if known.get("way") == "Make blobs":
        found += [
            Control(f"p.{name}", keys.BLOBS(name), gallery.label(name), spec, typed=spec.optional)
            for name, spec in params.specs(Blobs).items()
        ]
    return found


def _painting(text: str) -> str:
    check_painting(text)
    return text


def classroom(known: Mapping[str, Any]) -> Sequence[Control]:
    """Class: its code, and the key that the QR code adds. They are secrets of the class and no widgets' values."""
    return [
        Control("code", keys.CLASS_CODE, "Code", ParamSpec(""), accepts=partial(_letters, 8)),
        Control("key", keys.CLASS_KEY, "Key", ParamSpec(""), accepts=partial(_letters, 40)),
    ]


def _letters(most: int, text: str) -> str:
    if len(text) > most or not re.fullmatch(r"[\w-]*", text, re.ASCII):
        raise ValueError("no code")
    return text


def present(known: Mapping[str, Any]) -> Sequence[Control]:
    """Present: the slide at which a show begins, and its colors. The deck itself is a file."""
    return [
        Control("slide", keys.PRESENT_SLIDE, "Slide", number(1, 1, MOST_SLIDES)),
        Control("look", keys.PRESENT_LOOK, "Colors", _choice("light", ("light", "dark"))),
    ]


def _list(check: Callable[[str], Any], text: str) -> str:
    """Return values with commas between them as they were typed, if they are some."""
    if len(text) > 200 or not text.isprintable() or not check(text):
        raise ValueError("no list of values")
    return text


def _whole(text: str) -> tuple[int, ...]:
    return vary.numbers("centers k", text, int)


def _token(text: str) -> str:
    if len(text) > 40 or not all(c.isalnum() or c in "-_" for c in text):
        raise ValueError("no name of a sweep")
    return text
