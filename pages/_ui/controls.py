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
from dpviz.params import ParamSpec
from dpviz.planning.facts import MOST_CLUSTERS, MOST_PEOPLE
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.sweep import REFERENCE
from pages._ui import catalog, distance, exact, federated
from pages._ui.attacker import setup
from pages._ui.budget import GIVEN_AS
from pages._ui.compare.sides import RunsControl
from pages._ui.data import gallery, paint
from pages._ui.data.address import FILE, MISSING, DataControl, SweepData, any_data, file_word, public_data
from pages._ui.explore import who
from pages._ui.explore.picker import offered
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
    return [_epsilon("home_epsilon", 1.0)]


def explore(known: Mapping[str, Any]) -> Sequence[Control]:
    """Data and algorithm first; the other controls follow from them, and the defaults from the preset."""
    found: list[Control] = [
        DataControl("d", "explore_data", "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("a", "explore_algorithm", "Algorithm", _choice(RECOMMENDED, offered(False)), always=True),
    ]
    if "d" not in known:
        return found
    cls, name = ALGORITHMS[known["a"]], found[0].to_widget(known["d"])
    if cls.PRESETS:
        choices = (None, *cls.PRESETS)
        found.append(Control("preset", f"preset_{cls.slug}", "Preset", _choice(None, choices)))
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
    found += [Control("in", "budget_in", "Budget given as", _choice("epsilon", tuple(GIVEN_AS)))]
    found += [_seed("explore_seed"), _layers("explore_hidden")]
    if may_be_noiseless(cls):
        found.append(Control("exact", "explore_exact", "No noise", _switch(False)))
    found.append(Control("clouds", "explore_again_how", "Reruns", _choice("all", ("all", "one"))))
    found.append(Control("again", "explore_again", "20 reruns", _switch(False)))
    found.append(Control("alex", "explore_alex", "Alex", ParamSpec(""), accepts=who.accepts))
    if len(data.columns) > 2:
        columns = ParamSpec(None, choices=tuple(range(len(data.columns))), kind="choice")
        found.append(
            Control("axes", seen_from(data.dataset_id, cls.slug), "Seen from two columns", columns, many=True, most=2)
        )
    return found


def compare(known: Mapping[str, Any]) -> Sequence[Control]:
    """Compare: the data decide what the runs' parameters start from."""
    found: list[Control] = [
        DataControl("d", "explore_data", "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("by", "compare_by", "Match by", _choice("step", ("step", "spent"))),
        _layers("compare_hidden"),
        Control("whole", "compare_whole", "Rows that are the same too", _switch(False)),
    ]
    if "d" in known:
        word = known["d"]
        found.append(
            RunsControl(
                "run", "compare_runs", "Runs", ParamSpec(()), many=True, always=True, data_word=word, vocabulary=explore
            )
        )
    return found


def attacker(known: Mapping[str, Any]) -> Sequence[Control]:
    """Attacker: the data decide where a pin and a distance may lie."""
    found: list[Control] = [
        DataControl("d", "explore_data", "Data", ParamSpec(SAMPLES[0]), accepts=any_data, always=True),
        Control("a", "attacker_algorithm", "Algorithm", _choice(RECOMMENDED, offered(False)), always=True),
        _epsilon("attacker_epsilon", 1.0),
        Control("who", "attacker_who", "Alex is", _choice("typical", tuple(setup.WHO)), always=True),
        Control("ask", "attacker_ask", "Ask", _choice("in", tuple(setup.ASK))),
    ]
    if "d" not in known:
        return found
    kept = found[0].to_widget(known["d"])
    name = SAMPLES[0] if kept == MISSING else kept
    data = catalog.sample(name)
    if stops := setup.stops_of(name):
        found += [
            Control("rho", f"attacker_rho_{name}", label_of("rho_distance"), _choice(stops[14], stops)),
            Control("far", f"attacker_far_{name}", "How far away", _choice(stops[14], stops)),
        ]
    axes = data.view if len(data.columns) > 1 else (0,)
    for word, key, column in zip(("x", "y"), setup.keys(name), axes, strict=False):
        low, high = float(data.domain.low[column]), float(data.domain.high[column])
        found.append(Control(word, key, data.columns[column], number(setup.corner(low, high), low, high)))
    return found


def seen_from(dataset_id: str, slug: str) -> str:
    """Return the key of the columns that are drawn."""
    return f"seen_{dataset_id}_{slug}"


def rho(known: Mapping[str, Any]) -> Sequence[Control]:
    """Distance: its data decide what rho and k may be."""
    data_control = DataControl("d", "rho_data", "Data", ParamSpec("city"), accepts=_flat, always=True)
    found: list[Control] = [
        data_control,
        Control("a", "rho_method", "Method", _choice(distance.FAMILY[0], distance.FAMILY), always=True),
        _epsilon("rho_epsilon", 1.0),
        _layers("rho_hidden"),
        Control("seen", "rho_seen", "I have seen it", _switch(False)),
    ]
    if "d" in known:
        name = data_control.to_widget(known["d"])
        name = SAMPLES[0] if name == MISSING else name
        data = catalog.sample(name)
        most, stops = min(40, data.n_public), distance.stops(data)
        found += [
            Control("k", f"rho_k_{name}", label_of("n_clusters"), number(data.n_clusters, 1, most), always=True),
            Control("rho", f"rho_{name}", label_of("rho_distance"), _choice(distance.first(data), stops), always=True),
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
        DataControl("d", "fed_data", "Data", ParamSpec(SAMPLES[0]), accepts=_small, always=True),
        Control("a", "fed_slug", "Algorithm", _choice("fastlloyd", slugs), always=True),
        _epsilon("fed_epsilon", 1.0),
        Control("clients", "fed_clients", "Clients", number(4, 2, 32), always=True),
        Control("spread", "fed_spread", "Rows are spread", _choice("even", SPREADS)),
        Control("noise", "fed_noise", "The noise is drawn by", _choice(CLIENTS, DRAWN_BY)),
        Control("exact", "fed_exact", "What if nobody drew noise?", _switch(False)),
        Control("ring", "fed_ring", "Ring", _choice("64", ("64", "32"))),
        Control("delay", "fed_delay", "Network delay", number(0.25, 0, 10_000)),
        _seed("fed_seed"),
    ]
    if "clients" in known:
        who = range(known["clients"])
        found += [
            Control("silent", "fed_silent", "A client falls silent", _choice(None, (None, *who))),
            Control("from", "fed_client", "Seen from", _choice(0, who)),
            Control("round", "fed_round", "Round", number(1, 1, 10_000)),
        ]
    return found


def tradeoff(known: Mapping[str, Any]) -> Sequence[Control]:
    """The form of a sweep: its algorithms decide what can vary; and how the shown sweep is looked at."""
    slugs = [slug for slug in ALGORITHMS if slug != REFERENCE]
    found = [
        Control("sweep", "sweep", "sweep", ParamSpec(""), accepts=_token),
        SweepData("d", "sweep_data", "Data", ParamSpec(("town",)), many=True, accepts=public_data, always=True, most=4),
        Control("a", "sweep_algorithms", "Algorithms", _choice(form.FIRST, slugs), many=True, always=True),
        Control("e", "sweep_epsilon", "Privacy budgets ε", _choice(form.EPSILONS[1:6], form.EPSILONS), many=True),
        Control("runs", "sweep_repeats", "Runs per point", number(10, 2, 50)),
        Control("rho", "sweep_rho", label_of("rho_distance"), _choice((0.05,), form.RHOS), many=True),
        Control("n", "sweep_rows", "People in the data", _choice((None,), form.ROWS), many=True),
        Control("k", "sweep_k", label_of("n_clusters"), ParamSpec(""), accepts=partial(_list, _whole)),
        Control("delta", "sweep_delta", label_of("delta"), ParamSpec(""), accepts=partial(_list, vary.deltas)),
        Control("own", "sweep_free", "Let methods choose their own number of centers", _switch(False)),
        Control("m", "sweep_metrics", "Metrics", _choice(("loss",), tuple(METRICS)), many=True),
        _seed("sweep_seed"),
        Control("scale", "sweep_scale", "Scale", _choice("log", view.SCALES)),
        Control("single", "sweep_single", "Single runs", _switch(True)),
        Control("within", "sweep_within", "Within % of KMeans", _choice(10, tables.WITHIN)),
        Control("camera", "sweep_picture", "Camera", _choice(tables.PICTURES[0], tables.PICTURES)),
    ]
    if "a" in known:
        chosen = list(known["a"])
        names, curves = vary.names_of(chosen), vary.curves_of(chosen)
        varied = Control("vary", "sweep_vary", "Vary parameters", _choice((), names), many=True, most=vary.MOST)
        found += [varied, Control("curves", "sweep_presets", "Presets", _choice((), curves), many=True)]
        for name in known.get("vary", ()):
            check = partial(_list, partial(vary.values_of, chosen, name))
            found.append(Control(f"p.{name}", f"sweep_vary_{name}", label_of(name), ParamSpec(""), accepts=check))
    return [*found, *looks(known)]


def limits(known: Mapping[str, Any]) -> Sequence[Control]:
    """Limits has one picture: whose rows are read off exact centers."""
    return [
        Control("d", "exact_data", "Sample", _choice(exact.samples()[0], exact.samples())),
        Control("noise", "exact_noise", "Published", _choice("none", tuple(exact.NOISE))),
    ]


def plan(known: Mapping[str, Any]) -> Sequence[Control]:
    """What is declared for a plan, and what is asked; the defaults are the town's declaration."""
    typed = (("columns", "Columns"), ("units", "Units"), ("low", "Lowest values"), ("high", "Largest values"))
    start = facts.START
    number_or_none = ParamSpec(None, low=0, optional=True, kind="float")
    return [
        Control("n", "plan_n", "People", number(start["plan_n"], 2, MOST_PEOPLE), always=True),
        *(
            Control(word, f"plan_{word}", title, ParamSpec(start[f"plan_{word}"]), accepts=_line)
            for word, title in typed
        ),
        Control("scale", "plan_scale", "Scale of the columns", _choice(start["plan_scale"], tuple(facts.SCALES))),
        Control("k", "plan_k", label_of("n_clusters"), number(start["plan_k"], 1, MOST_CLUSTERS), always=True),
        Control("like", "plan_like", "Shape of the data", _choice("", facts.LIKE)),
        Control("a", "plan_algorithms", "Algorithms", _choice(facts.FIRST, facts.offered()), many=True, most=6),
        Control("within", "plan_within", "Noise per center at most", number_or_none, typed=True),
        Control("e", "plan_epsilon", label_of("epsilon"), number_or_none, typed=True),
    ]


def _line(text: str) -> str:
    if len(text) > 2_000 or not text.isprintable():
        raise ValueError("not a line of text")
    return text


def papers(known: Mapping[str, Any]) -> Sequence[Control]:
    """Papers: which one, and the verdict that its items have."""
    return [
        Control("paper", "papers_paper", "Paper", _choice("pe-means", tuple(registry.papers())), always=True),
        Control("verdict", "papers_verdict", "Verdict", _choice("all", WORDS)),
    ]


def data(known: Mapping[str, Any]) -> Sequence[Control]:
    """Data: what is in use, the public ways to it, and the generator's form."""
    found: list[Control] = [
        DataControl("d", "explore_data", "Data in use", ParamSpec(SAMPLES[0]), accepts=any_data),
        Control("way", "data_way", "Where the data come from", _choice("Samples", ("Samples", "Make blobs", "Paint"))),
    ]
    if known.get("way") == "Paint":
        found.append(Control("paint", paint.KEY, "Painting", ParamSpec(""), accepts=_painting))
    if known.get("way") == "Make blobs":
        found += [
            Control(f"p.{name}", f"blobs_{name}", gallery.label(name), spec, typed=spec.optional)
            for name, spec in params.specs(Blobs).items()
        ]
    return found


def _painting(text: str) -> str:
    check_painting(text)
    return text


def classroom(known: Mapping[str, Any]) -> Sequence[Control]:
    """Class: its code, and the key that the QR code adds. They are secrets of the class and no widgets' values."""
    return [
        Control("code", "class_code", "Code", ParamSpec(""), accepts=partial(_letters, 8)),
        Control("key", "class_key", "Key", ParamSpec(""), accepts=partial(_letters, 40)),
    ]


def _letters(most: int, text: str) -> str:
    if len(text) > most or not re.fullmatch(r"[\w-]*", text, re.ASCII):
        raise ValueError("no code")
    return text


def present(known: Mapping[str, Any]) -> Sequence[Control]:
    """Present: the slide at which a show begins, and its colors. The deck itself is a file."""
    return [
        Control("slide", "present_slide", "Slide", number(1, 1, MOST_SLIDES)),
        Control("look", "present_look", "Colors", _choice("light", ("light", "dark"))),
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
