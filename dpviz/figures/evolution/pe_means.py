"""Draw PE-means and related algorithms: trial points, votes, survivors, centers, and bars for the largest votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, segments, tint
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing, people_drawn, plane, reference
from dpviz.figures.kit.shots import Shot, split_title
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import Panel, View, add_frames, moved, thin, xy
from dpviz.figures.kit.votes import KEEP, MAX_TRIALS, TRIAL, VOTE, drawn, votes_panel, voting
from dpviz.numbers import counted, number
from dpviz.trace import Step, Trace

__all__ = ["LEGEND", "PANE", "add_layers", "events", "film", "layers", "lineage_table", "shots", "votes_of", "warning"]

LEGEND = (
    ("dot", "trial point"),
    ("disc", "survivor (area: votes)"),
    ("center", "released center"),
    ("path", "its path"),
    ("diamond", "KMeans"),
    ("ring", "person"),
)
# maximum number of trial points in all frames together; with more, a run of many rounds would exceed 2 MB
MAX_DRAWN = 45_000
# maximum number of votes in all events together that are drawn as sparks
MAX_SPARKS = 8_000
MAX_RAYS = 60  # maximum number of survivors from which a line leads to their center
TRIALS, VOTES, SURVIVORS, CENTER = "trial point", "noisy votes", "survivor", "released center"  # names of layers
FALL = 110  # pixels by which a trial point that is dropped falls
TRIAL_SIZE = 4.0  # size in pixels of a trial point's mark


def shots(trace: Trace) -> list[Shot]:
    """Return three pictures per round: trial points; noisy votes; survivors and centers."""
    return voting(trace, _words)


def _words(step: Step, phase: int) -> tuple[str, str]:
    released, (head, tail) = step.released, split_title(step)
    if phase == TRIAL:
        size, variations = len(released["population"]), released["variations"]
        if (released["group"] >= 0).any():
            return head, f"{size:,} trial points: the last centers and {variations:,} variations of each"
        return head, f"{size:,} public trial points; no row has been read yet"
    if phase == VOTE:
        noise = f"noise of standard deviation {number(released['noise_sd'], 2)} on every count"
        return head, f"each row votes for its nearest trial point; {noise}"
    if "signal_to_noise" in released and released["round"] < released["rounds"]:
        ratio, variations = released["signal_to_noise"], released["variations"]
        verdict = "stay" if ratio >= 1 else "are halved"
        tail += f"; signal-to-noise ratio {number(ratio, 2)}: the {variations:,} variations per center {verdict}"
    return head, tail


def warning(trace: Trace) -> str:
    """Return a sentence if even all votes of a cluster would not stand out from the noise, else ""."""
    released, n, k = trace.steps[0].released, trace.domain.n_public, len(trace.cluster_centers)
    if n is None or "noise_sd" not in released:
        return ""
    trials, sd = len(released["noisy_votes"]), released["noise_sd"]
    loudest = sd * math.sqrt(2 * math.log(max(trials, 2)))  # approximate expected maximum of this many Gaussian draws
    if n / k >= loudest:
        return ""
    return (
        f"{k} centers for {n:,} rows get about {number(n / k, 2)} votes each, but noise alone reaches "
        f"{number(loudest, 2)} among {trials:,} trial points (±{number(sd, 2)} on every count). "
        "Try fewer centers or a larger epsilon."
    )


def lineage_table(step: Step, key: str) -> pd.DataFrame:
    """Return the parent of each center: columns center, parent (a center of the previous step; -1 if none), share.

    Each survivor belongs to its nearest center. A center's parent is the previous center from which the largest share
    of its survivors' noisy votes descends; `share` is that share. Only released values are used; `key` is the name
    under which the centers are released.
    """
    released = step.released
    points, votes, group = (released[name][released["kept"]] for name in ("population", "noisy_votes", "group"))
    centers = released[key]
    k = len(centers)
    parents, shares = np.full(k, -1), np.zeros(k)
    if len(points) and (group >= 0).any():
        nearest = ((points[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
        weight = np.zeros((k, group.max() + 1))
        np.add.at(weight, (nearest[group >= 0], group[group >= 0]), votes[group >= 0])
        descended = weight.sum(axis=1) > 0
        parents[descended] = weight[descended].argmax(axis=1)
        shares[descended] = weight[descended].max(axis=1) / weight[descended].sum(axis=1)
    return pd.DataFrame({"center": range(k), "parent": parents, "share": shares})


def _origins(step: Step, now: np.ndarray, before: np.ndarray, key: str) -> np.ndarray:
    """Return the drawn position of each center's parent; NaN for a center without a parent."""
    if "population" not in step.released:
        return before if now.shape == before.shape else np.full_like(now, np.nan)
    return _at(before, lineage_table(step, key).parent.to_numpy())


def _at(points: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return points[index]; NaN for -1 and for an index without a point."""
    return np.vstack([points, np.full((1, 2), np.nan)])[np.where(index < len(points), index, -1)]


def add_layers(figure: go.Figure, colors: Theme) -> list[int]:
    """Add traces for trial points, votes, survivors, paths and centers to a plane; return their numbers."""
    first = len(figure.data)
    soft = {"color": colors.released, "size": TRIAL_SIZE, "opacity": 0.45}
    figure.add_scatter(mode="markers", marker=soft, name="trial point", hoverinfo="skip")
    figure.add_scatter(
        mode="markers", name="noisy votes", hoverinfo="skip", marker={"color": colors.released, "opacity": 0.22}
    )
    figure.add_scatter(name="survivor", hoverinfo="skip", **disc(colors))
    figure.add_scatter(mode="lines", name="path", hoverinfo="skip", line={"color": colors.released, "width": 1.6})
    figure.add_scatter(**center(colors))
    return list(range(first, len(figure.data)))


def _most(trace: Trace) -> int:
    """Return the maximum number of trial points in a picture."""
    return min(MAX_TRIALS, MAX_DRAWN // len(shots(trace)))


def _voted_for(released: Mapping[str, Any], trace: Trace) -> np.ndarray:
    """Return the numbers of the drawn trial points with noisy votes above 0."""
    visible = drawn(released, _most(trace))
    return visible[released["noisy_votes"][visible] > 0]


def layers(
    trace: Trace, shots: Sequence[Shot], flat: Callable[[np.ndarray], np.ndarray], key: str
) -> list[list[dict[str, Any]]]:
    """Return the content of the traces of `add_layers` at every shot; `flat` maps points (m, p) to the plane.

    `key` is the name under which the centers are released.
    """
    most = _most(trace)
    blank = xy(NOWHERE)
    before, updates = NOWHERE, []
    for shot in shots:
        step, phase = trace.steps[shot.step], shot.phase
        released = step.released
        now = flat(released[key])
        trials = votes = survivors = paths = blank
        if "population" in released:
            visible, points, sizes = (
                drawn(released, most),
                flat(released["population"]),
                disc_sizes(released["noisy_votes"]),
            )
            if phase != KEEP:  # only survivors are left then
                trials = xy(points[visible])
            if phase == TRIAL and len(before):  # trial points are variations of the previous centers
                trials = moved(_at(before, released["group"][visible]), points[visible])
            if phase == VOTE:
                some = _voted_for(released, trace)
                votes = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
            elif phase == KEEP:
                some = visible[released["kept"][visible]]
                survivors = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
        centers = xy(before)
        if phase == KEEP:
            origins = _origins(step, now, before, key)
            known = np.isfinite(origins).all(axis=1)
            centers, paths = moved(origins, now), xy(segments(origins[known], now[known]))
        updates.append([trials, votes, survivors, paths, centers])
        if phase == KEEP:
            before = now
    return updates


def votes_of(points: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return for each of the people (n, p) the number of its nearest trial point (m, p). NOT PRIVATE."""
    squares = (points**2).sum(axis=1)
    return np.concatenate(
        [(squares - 2 * part @ points.T).argmin(axis=1) for part in np.array_split(people, max(len(people) // 500, 1))]
    )


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of a run in the columns of the data."""
    shown = view.hidden and view.people is not None
    crowd = people_drawn(view.flat(view.people))[0] if shown and view.people is not None else np.empty(0, dtype=int)
    return film(view, shots, view.plane, "centers", crowd, view.trace.domain.normalize)


def film(
    view: View,
    shots: Sequence[Shot],
    flat: Callable[[np.ndarray], np.ndarray],
    key: str,
    crowd: np.ndarray,
    voting_space: Callable[[np.ndarray], np.ndarray],
    where: str = "",
) -> list[tuple[Event, ...]]:
    """Return the events of every shot: scatter or vary; vote and noise; cut and agree.

    Parameters
    ----------
    flat, key : as in `layers`
    crowd : numbers of the rows that the layer of people shows; none unless hidden layers are on
    voting_space : maps rows (n, d) in original units to the space of the trial points
    where : words about that space, if it is not that of the data
    """
    trace = view.trace
    told: list[tuple[Event, ...]] = []
    rounds = sum("population" in step.released for step in trace.steps)
    voters = thin(len(crowd), max(MAX_SPARKS // max(rounds, 1), 30))
    people = voting_space(view.people[crowd[voters]]) if len(voters) and view.people is not None else None
    before = NOWHERE
    for shot in shots:
        step = trace.steps[shot.step]
        released = step.released
        if "population" not in released:
            told.append((Event("refine", shot.head, shot.tail),))
        elif shot.phase == TRIAL:
            told.append((_scattered(shot, released, flat, before),))
        elif shot.phase == VOTE:
            told.append(_voted(view, shot, step, flat, voters, people, where))
        else:
            told.append(_kept(view, shot, released, flat, key))
            before = flat(released[key])
    return told


def _hurried(released: Mapping[str, Any], seconds: float) -> float:
    """Return the seconds of an event, fewer after the first two rounds."""
    return seconds if released["round"] <= 2 else (0.62 if released["round"] <= 6 else 0.3) * seconds


def _scattered(
    shot: Shot, released: Mapping[str, Any], flat: Callable[[np.ndarray], np.ndarray], before: np.ndarray
) -> Event:
    points, group = released["population"], released["group"]
    centers: Act = {"layer": CENTER}
    if not (group >= 0).any():
        acts = ({"layer": TRIALS, "size": [0, None], "wave": 0.6}, centers)
        words = f"{len(points):,} places, chosen without looking at anybody"
        return Event("scatter", "Scatter trial points", words, _hurried(released, 1.4), acts, pays=0)
    acts = ({"layer": TRIALS, "wave": 0.3, "streak": 0.35}, centers)
    lens = _lens(flat(points), group, before) if len(before) else None
    words = f"{released['variations']:,} new trial points burst out of each center; a few jump far"
    head = f"{shot.head}: vary the winners"
    return Event("vary", head, words, _hurried(released, 2.6), acts, (1, 0.5), pays=0, lens=lens)


def _lens(
    points: np.ndarray, group: np.ndarray, centers: np.ndarray
) -> tuple[float, float, float, tuple[int, int]] | None:
    """Return the surroundings of the center that has the most free room, and the corner of the plane that is free."""
    low, high = centers.min(axis=0), centers.max(axis=0)
    corners = {(i, j): np.array([(low, high)[i][0], (low, high)[j][1]]) for i in (0, 1) for j in (0, 1)}
    far = {corner: np.linalg.norm(centers - at, axis=1) for corner, at in corners.items()}
    corner = max(far, key=lambda one: far[one].min())
    nearest = int(far[corner].argmin())
    if not (group == nearest).any():
        return None
    away = np.abs(points[group == nearest] - centers[nearest]).max(axis=1)
    return (*centers[nearest].tolist(), 1.15 * float(np.quantile(away, 0.9)), corner)


def _voted(
    view: View,
    shot: Shot,
    step: Step,
    flat: Callable[[np.ndarray], np.ndarray],
    voters: np.ndarray,
    people: np.ndarray | None,
    where: str,
) -> tuple[Event, Event]:
    released, colors = step.released, view.colors
    sd = released["noise_sd"]
    still: list[Act] = [{"layer": TRIALS}]
    shake = min(2 + 0.12 * float(sd), 9.0) if sd else 0
    piles: list[Act] = []
    sparks: list[Act] = []
    begin: Any = 0
    sizes: Any = None
    if people is not None and step.hidden:
        true = step.hidden[0].statistic["votes"]
        chosen = np.flatnonzero(true > 0)
        place = np.full(len(true), -1)
        place[chosen] = np.arange(len(chosen))
        votes = place[votes_of(released["population"], people)]
        known = votes >= 0  # a row on the border of two trial points may count for the other one
        sizes = _bytes(disc_sizes(true[chosen]))
        ring = {"color": tint(colors.hidden, 0.16), "line": {"color": colors.hidden, "width": 1}}
        look = {"marker": ring, "name": "true votes"}
        piles = [{"look": look, "to": xy(flat(released["population"][chosen])), "size": [0, sizes], "fill": 2}]
        spark = {"marker": {"size": 3.6, "color": colors.hidden}, "name": "vote"}
        sparks = [
            {
                "look": spark, "from": {"layer": "person", "index": voters[known].astype(np.uint16)},
                "to": {"act": 1, "index": votes[known].astype(np.uint16)}, "wave": 0.55, "streak": 0.22, "gone": True,
            }
        ]  # fmt: skip
        some = _voted_for(released, view.trace)
        begin = _bytes(disc_sizes(true[some]))
    secret = "the true counts stay secret"
    vote = Event(
        "vote", "Everybody votes for the nearest", f"{shot.head}: each {view.noun} gives one vote{where}; {secret}",
        _hurried(released, 2.6 if sparks else 1.2), (*still, *piles, *sparks, {"layer": CENTER, "opacity": [1, 0.5]}),
        (0.5, 0.4), pays=0,
    )  # fmt: skip
    discs: Act = {"layer": VOTES, "size": [begin, None], "shake": shake, "opacity": [1, 1]}
    if sparks:
        discs["color"] = [colors.hidden, colors.released]
        piles = [{**piles[0], "size": [sizes, sizes], "opacity": [1, 0]}]
        del piles[0]["fill"]
    if sd:
        head, tail = (
            "Noise hides every single vote",
            f"each count moves by about ±{number(sd, 2)}; from here on, all may be published",
        )
    else:
        head, tail = "No noise in this run", "the true counts are released as they are, so nothing is promised"
    acts = (*still, *piles, discs, {"layer": CENTER, "opacity": [0.5, 1]})
    noise = Event("noise", head, f"{shot.head}: {tail}", _hurried(released, 1.6), acts, (0.4, 0.5))
    return vote, noise


def _bytes(sizes: np.ndarray) -> np.ndarray:
    return np.rint(sizes).astype(np.uint8)


def _kept(
    view: View, shot: Shot, released: Mapping[str, Any], flat: Callable[[np.ndarray], np.ndarray], key: str
) -> tuple[Event, Event]:
    kept, k = released["kept"], len(released[key])
    top = view.trace.parameters.get("selection") == "top-k"
    falling: list[Act] = []
    for layer, some in ((TRIALS, drawn(released, _most(view.trace))), (VOTES, _voted_for(released, view.trace))):
        lose = np.flatnonzero(~kept[some]).astype(np.uint16)
        act: Act = {
            "layer": layer, "at": -1, "to": {"layer": layer, "at": -1, "index": lose}, "opacity": [1, 0],
            "fall": FALL, "span": [0, 0.9], "wave": 0.3,
        }  # fmt: skip
        if layer == VOTES:  # the layer's own sizes are those of all marks, not of those that fall
            act["size"] = [_bytes(disc_sizes(released["noisy_votes"][some][lose]))] * 2
        falling += [act] * bool(len(lose))
    cut = Event(
        "cut", "The weak drop out",
        f"{shot.head}: {kept.sum():,} of {len(kept):,} trial points keep enough noisy votes",
        _hurried(released, 1.2),
        (*falling, {"layer": SURVIVORS, "opacity": [0.45, 1]}, {"layer": CENTER, "at": -1}),
        (0.5, 0.8), pays=0,
    )  # fmt: skip
    points = flat(released["population"][kept])
    near = ((released["population"][kept][:, None] - released[key][None]) ** 2).sum(axis=2).argmin(axis=1)
    ray = {"line": {"color": view.colors.released, "width": 0.8}, "marker": {"color": view.colors.released}}
    sample = thin(len(points), MAX_RAYS)
    rays: Act = {
        "look": ray, "from": xy(points[sample]), "rays": True, "opacity": [0.7, 0],
        "to": {"layer": CENTER, "index": near[sample].astype(np.uint16)},
    }  # fmt: skip
    last = released["round"] == released["rounds"]
    head = f"The {k} strongest become the centers" if top else f"The survivors agree on {counted(k, 'center')}"
    tail = "k-means on the survivors, weighted by their noisy votes"
    if top:
        tail = "votes of one group split among many close trial points, so a large group may win with several"
    if last:
        tail = f"{'this place is' if k == 1 else f'these {k} places are'} released"
    agree = Event(
        "agree", head, f"{shot.head}: {tail}", _hurried(released, 1.6),
        (
            {"layer": SURVIVORS},
            *([] if top else [rays]),
            {"layer": "path", "opacity": [0, 1]},
            {"layer": CENTER, "size": [0 if released["round"] == 1 else None, None]},
        ),
        (0.8, 1.0),
    )  # fmt: skip
    return cut, agree


def survivors(trace: Trace) -> np.ndarray:
    """Return the mask, shape (m,), of the trial points that survive the last vote."""
    return next(step.released["kept"] for step in reversed(trace.steps) if "kept" in step.released)


def _plane(view: View, shots: Sequence[Shot]) -> Panel:
    trace = view.trace
    mask, k = survivors(trace), len(trace.cluster_centers)
    figure = plane(view, f"In the end {mask.sum():,} of {len(mask):,} trial points give {counted(k, 'center')}")
    traces = add_layers(figure, view.colors)
    reference(view, figure)
    add_frames(figure, traces, layers(trace, shots, view.plane, "centers"))
    return Panel("plane", figure, f"A plane with {k} released centers after {len(trace.steps)} rounds of voting.")


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, votes, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view, shots), votes_panel(view, shots), *closing(view, shots, "round")]


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    legend=LEGEND,
    caution="A single run is one draw of the noise. Run with another seed before you trust a center. "
    f"At most {MAX_TRIALS} trial points are drawn; all of them receive votes.",
    warning=warning,
)
