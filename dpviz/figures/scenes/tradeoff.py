"""Draw a sweep from the tables of `sweeps.summary`. All figures show metrics of raw rows, so they are NOT PRIVATE."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.kit.theme import SPARE, STYLES, Style, Theme, base, tag
from dpviz.numbers import fraction, number

__all__ = ["area_bars", "axis_title", "curves", "dots", "free_line", "glyph", "heat", "promise", "short", "styles"]

_AXIS_TITLES = {
    "epsilon": "ε, smaller is more private",
    "delta": "δ",
    "rho_distance": "rho (distance), larger protects more",
    "n_clusters": "centers k",
    "n_rows": "people in the data",
}
_WORDS = {
    "central DP": "one row added or removed",
    "shuffle DP": "reports mixed, so that nobody knows who sent which",
    "local DP": "each row randomized before it is collected",
    "none": "no promise: no noise",
    "rho-distance DP": "one row moved by at most rho: a weaker promise",
}
_FALLBACK = (
    *SPARE,
    *(  # the spare markers twice more, with other colors and dash patterns
        dataclasses.replace(SPARE[(i + 4 * turn) % 9], marker=SPARE[i].marker, dash=SPARE[(i + 2 * turn) % 9].dash)
        for turn in (1, 2)
        for i in range(9)
    ),
)
_LETTERS = {  # the markers as characters, which precede the names at the ends of curves
    "circle": "●", "hexagon": "⬢", "square": "■", "triangle-up": "▲", "diamond": "◆", "cross": "✚", "x": "✖",
    "star": "★", "pentagon": "⬟", "triangle-down": "▼", "square-x": "☒", "star-triangle-up": "✦", "bowtie": "⧓",
}  # fmt: skip
_CAMERA = 32  # width in pixels of the save button, which is always visible on touch screens
FEW = 5  # number of runs per point below which an interval for the mean is meaningless and only single runs are drawn
_GLYPHS = {
    "circle": '<circle cx="8" cy="8" r="5.5"/>',
    "hexagon": '<path d="M8 2 L13.2 5 V11 L8 14 L2.8 11 V5 Z"/>',
    "square": '<rect x="3" y="3" width="10" height="10"/>',
    "triangle-up": '<path d="M8 2 L14 13 H2 Z"/>',
    "triangle-down": '<path d="M8 14 L14 3 H2 Z"/>',
    "diamond": '<path d="M8 1.5 L14.5 8 L8 14.5 L1.5 8 Z"/>',
    "cross": '<path d="M6 2 H10 V6 H14 V10 H10 V14 H6 V10 H2 V6 H6 Z"/>',
    "x": '<path d="M4.5 2 L8 5.5 L11.5 2 L14 4.5 L10.5 8 L14 11.5 L11.5 14 L8 10.5 L4.5 14 L2 11.5 L5.5 8 L2 4.5 Z"/>',
    "star": '<path d="M8 1 L9.8 6.2 H15 L10.8 9.4 L12.4 14.6 L8 11.4 L3.6 14.6 L5.2 9.4 L1 6.2 H6.2 Z"/>',
    "pentagon": '<path d="M8 2 L14 6.4 L11.7 13.5 H4.3 L2 6.4 Z"/>',
    "square-x": '<path d="M3 3 H13 V13 H3 Z M4.5 4.5 L11.5 11.5 M11.5 4.5 L4.5 11.5" stroke-width="1.5"/>',
    "star-triangle-up": '<path d="M8 1.5 Q9 9 14.5 13 Q8 10.5 1.5 13 Q7 9 8 1.5 Z"/>',
    "bowtie": '<path d="M2 3 L14 13 V3 L2 13 Z"/>',
}


def styles(series: pd.DataFrame) -> dict[str, Style]:
    """Return a dict from series to style: an algorithm's first series gets its style; all others get spare styles.

    Parameters
    ----------
    series : DataFrame with columns series, algorithm
    """
    free, chosen = list(_FALLBACK), {}
    taken: set[str] = set()
    for row in series.drop_duplicates("series").itertuples():
        own = STYLES.get(row.algorithm)
        if own is not None and row.algorithm not in taken:
            chosen[row.series] = own
            taken.add(row.algorithm)
        else:
            chosen[row.series] = free[0]
            free = [*free[1:], free[0]]
    return chosen


def glyph(style: Style, colors: Theme) -> str:
    """Return a 16 x 16 SVG of the symbol of a curve."""
    color = style.color(colors)
    shape = _GLYPHS[style.marker]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16" '
        f'fill="{color}" stroke="{color}">{shape}</svg>'
    )


def axis_title(axis: str) -> str:
    """Return the title of an axis; an axis for an algorithm's parameter is titled with the parameter's name."""
    return _AXIS_TITLES.get(axis, axis.replace("_", " "))


def promise(notion: str) -> str:
    """Return a notion as text, with the change that it hides."""
    return f"{notion}: {_WORDS[notion]}" if notion in _WORDS else notion


def curves(
    points: pd.DataFrame,
    runs: pd.DataFrame,
    colors: Theme,
    look: dict[str, Style],
    *,
    axis: str,
    metric: str,
    title: str,
    log: bool = True,
    single: bool = True,
    labels: bool = True,
    height: int = 470,
    against: str = "KMeans",
    times: bool = False,
    span: Sequence[float] | None = None,
) -> go.Figure:
    """Draw curves of one data set and one promise along an axis: single runs, means with intervals, and the reference.

    Parameters
    ----------
    points, runs : `points` and `runs` of a `Summary`, for one data set and one notion
    look : series -> Style
    metric : the metric's title
    against : the reference: KMeans or KMedians
    labels : whether to name curves to the right of the axis; without these names the page must show a key
    times : whether to draw multiples of the reference's value, if this is known everywhere
    span : range that the y axis covers at least, in the layout's units, so that the axis does not change as results
        arrive

    Raises
    ------
    ValueError
        If curves of different promises or of different data sets would share the axis.
    """
    if points.notion.nunique() > 1 or points.data.nunique() > 1:
        raise ValueError("figures: curves of different promises or data sets must not share an axis.")
    figure = base(colors, title, height=height, margin_left=62)
    tag(figure, colors, left=_CAMERA)
    stops = sorted(points[axis].dropna().unique())
    spaced = all(isinstance(stop, int | float | np.number) and stop > 0 for stop in stops)
    if not spaced:  # texts, and numbers without a position on a log axis, are evenly spaced
        place_of = {stop: 10 ** (0.3 * i) for i, stop in enumerate(stops)}
        points, runs = (table.assign(**{axis: table[axis].map(place_of).astype(float)}) for table in (points, runs))
    unit = ""
    if times and bool((points.reference > 0).all()) and bool((runs.reference > 0).all()):
        unit, metric = " ×", f"{metric.partition(' (')[0]}, times {against}'"
        scaled = {name: points[name] / points.reference for name in ("mean", "low", "high", "reference")}
        points, runs = points.assign(**scaled), runs.assign(value=runs.value / runs.reference)
    names = list(dict.fromkeys(points.series))
    gaps = np.diff(np.log10(sorted(points[axis].dropna().unique())))
    step = min(0.03, 0.5 * float(gaps.min()) / max(len(names) - 1, 1)) if len(gaps) else 0.03
    positive = bool((points["mean"] > 0).all() and (runs.value > 0).all())
    log = log and positive
    ends: list[tuple[str, float, str]] = []
    for place, name in enumerate(names):
        line, style = points[points.series == name].sort_values(axis), look[name]
        # curves are shifted sideways, so that their intervals do not overlap
        shift = 10 ** (step * (place - (len(names) - 1) / 2))
        if single:
            _single_runs(figure, runs[runs.series == name], name, style, colors, axis, shift)
        _curve(figure, line, name, style, colors, axis, shift, log=log, spaced=spaced, unit=unit)
        color = style.color(colors)
        end = f'<span style="color:{color}">{_LETTERS[style.marker]}</span> {name}'
        ends.append((end, line["mean"].iloc[-1], color))
    reference = points.dropna(subset="reference").drop_duplicates(axis).sort_values(axis)
    if len(reference):
        _level(figure, reference[axis].tolist(), reference.reference.tolist(), against, colors, len(names))
        ends.append((f"◇ {against}", reference.reference.iloc[-1], colors.hidden))
    ticks = sorted(points[axis].unique())
    figure.update_xaxes(
        type="log", title_text=axis_title(axis), tickvals=ticks, showgrid=False,
        ticktext=[short(axis, stop) if apart else "" for stop, apart in zip(stops, _labeled(ticks), strict=True)],
    )  # fmt: skip
    figure.update_yaxes(title_text=metric + (" (log scale)" if log else ""), type="log" if log else "linear")
    low, high = _range(points, runs if single else runs.head(0), log)
    if span is not None:
        low, high = min(low, span[0]), max(high, span[1])
    figure.update_yaxes(range=[low, high])
    top = 10**high if log else high
    _leave(figure, points, top, colors, look, axis, unit)
    if single:
        _beyond(figure, runs, top, colors, look, axis)
    if log:
        ticks = _log_ticks(low, high)
        figure.update_yaxes(tickvals=ticks, ticktext=[number(tick) for tick in ticks])
    if labels:
        _end_labels(figure, ends, colors, lambda value: ((math.log10(value) if log else value) - low) / (high - low))
    return figure


def free_line(figure: go.Figure, ends: tuple[float, float], height: float, colors: Theme) -> None:
    """Add to `curves` over ε, in multiples of the reference, a line at the height up to which a loss counts as free.

    `ends` holds the smallest and the largest ε.
    """
    figure.add_scatter(
        x=list(ends), y=[height, height], mode="lines+text", name="free", text=["free: below this line", ""],
        textposition="top right", textfont={"size": 13, "color": colors.ink}, hoverinfo="skip",
        line={"color": colors.ink, "width": 1.4, "dash": "dash"},
    )  # fmt: skip


def _single_runs(
    figure: go.Figure, runs: pd.DataFrame, name: str, style: Style, colors: Theme, axis: str, shift: float
) -> None:
    """Draw the single runs of a curve in a pale color, slightly spread around their position on the axis."""
    figure.add_scatter(
        x=runs[axis] * shift * 10 ** (0.006 * _jitter(runs.seed)), y=runs.value, mode="markers",
        name=f"{name}: single runs", hoverinfo="skip",
        marker={"symbol": style.marker, "size": 5, "color": style.color(colors), "opacity": 0.33},
    )  # fmt: skip


def _curve(
    figure: go.Figure, line: pd.DataFrame, name: str, style: Style, colors: Theme, axis: str, shift: float,
    *, log: bool, spaced: bool, unit: str,
) -> None:  # fmt: skip
    """Draw the means of one series with their intervals."""
    color = style.color(colors)
    line = line.assign(**{end: line[end].where(line.runs >= FEW, line["mean"]) for end in ("low", "high")})
    low = np.maximum(line.low, 1e-3 * line["mean"]) if log else line.low  # zero has no position on a log axis
    figure.add_scatter(
        x=line[axis] * shift, y=line["mean"], mode="lines+markers", name=name,
        line={"color": color, "width": 2, "dash": style.dash},
        marker={"symbol": style.marker, "size": 10, "color": color, "line": {"color": colors.panel, "width": 1}},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1.6, "width": 0, "color": color,
            "array": (line.high - line["mean"]).fillna(0), "arrayminus": (line["mean"] - low).fillna(0),
        },
        customdata=np.stack([line[axis], line.low, line.high, line.runs, line.k_found], axis=1),
        hovertemplate=name + ("<br>at %{customdata[0]:,.3~r}" if spaced else "") + ": %{y:,.3~r}" + unit
        + "<br>95% interval of the mean %{customdata[1]:,.3~r} to %{customdata[2]:,.3~r}"
        "<br>%{customdata[3]} runs, %{customdata[4]:.0f} centers<extra></extra>",
    )  # fmt: skip


def _level(figure: go.Figure, x: list[float], y: list[float], against: str, colors: Theme, n_curves: int) -> None:
    """Draw the reference as a line that extends a little beyond the curves at both ends."""
    spread = 10 ** (0.02 * (n_curves + 1))
    figure.add_scatter(
        x=[x[0] / spread, *x, x[-1] * spread], y=[y[0], *y, y[-1]], mode="lines", name=f"{against} (not private)",
        line={"color": colors.hidden, "dash": "dot", "width": 2},
        hovertemplate=f"{against}, not private: %{{y:,.3~r}}<extra></extra>",
    )  # fmt: skip


def _range(points: pd.DataFrame, runs: pd.DataFrame, log: bool) -> tuple[float, float]:
    """Return the y range (log10 on a log axis) that shows the reference, and the means and intervals of most curves.

    If a point has too few runs for an interval, the range covers its single runs as well. If a few curves would leave
    less than half of the height to the others, they may be cut off at the top: at most a third of the curves (or one of
    two), each at fewer than half of its points.
    """
    sure = points.runs >= FEW
    table = points.assign(low=points.low.where(sure, points["mean"]), high=points.high.where(sure, points["mean"]))
    if log:
        table = table.assign(**{name: np.log10(table[name]) for name in ("mean", "low", "high", "reference")})
    floor = float(table[["mean", "low", "reference"]].min().min())
    curves = table.groupby("series", sort=False)
    tops = curves[["mean", "high"]].max().max(axis=1)
    if len(runs) and not sure.all():
        values = runs.set_index("series").value
        values = np.log10(values) if log else values
        tops = np.fmax(tops, values.groupby(level=0).max().reindex(tops.index))
        floor = min(floor, float(values.min()))
    tops = tops.sort_values(ascending=False)
    low = floor if log else min(floor, 0.0)
    high = max(tops.iloc[0], table.reference.max()) if table.reference.notna().any() else tops.iloc[0]
    for leaving in range(1, max(1, len(tops) // 3) + 1 if len(tops) > 1 else 1):
        others = np.fmax(tops.iloc[leaving], table.reference.max())
        outside = curves["mean"].apply(lambda some, top=others: (some > top).mean()).loc[tops.index[:leaving]]
        if others - low < 0.5 * (tops.iloc[0] - low) and (outside < 0.5).all() and others > low:
            high = others
            break
    pad = 0.05 * (high - low) or 0.1 * (abs(high) or 1)
    return (low - pad if log or low < 0 else 0.0), float(high) + pad


def _leave(
    figure: go.Figure, points: pd.DataFrame, top: float, colors: Theme, look: dict[str, Style], axis: str, unit: str
) -> None:
    """Mark every mean above the picture with an arrow and its value; marks of one position are stacked."""
    beyond = points[points["mean"] > top].sort_values([axis, "mean"], ascending=[True, False])
    for place, one in enumerate(beyond.itertuples()):
        color = look[one.series].color(colors)
        figure.add_annotation(
            x=math.log10(getattr(one, axis)), y=1, yref="paper", yanchor="top", xanchor="left", showarrow=False,
            text=f"↑ {_LETTERS[look[one.series].marker]} {number(one.mean, 2)}{unit}", yshift=-16 * place,
            font={"size": 12, "color": color}, bgcolor=colors.panel,
        )  # fmt: skip


def _beyond(
    figure: go.Figure, runs: pd.DataFrame, top: float, colors: Theme, look: dict[str, Style], axis: str
) -> None:
    """Draw single runs that lie above the picture at its upper edge."""
    for name, some in runs[runs.value > top].groupby("series", sort=False):
        figure.add_scatter(
            x=some[axis] * 10 ** (0.006 * _jitter(some.seed)), y=[top] * len(some), mode="markers", cliponaxis=False,
            name=f"{name}: single runs above the picture", hoverinfo="skip",
            marker={"symbol": "line-ns-open", "size": 7, "color": look[str(name)].color(colors), "opacity": 0.6},
        )  # fmt: skip


def _labeled(ticks: Sequence[float]) -> list[bool]:
    """Return for each tick of a log axis whether there is room for its label on a phone; powers of two come first."""
    span = math.log10(ticks[-1] / ticks[0]) if ticks else 0.0
    labeled: list[float] = []
    for tick in sorted(ticks, key=lambda tick: not math.log2(tick).is_integer()):
        if all(abs(math.log10(tick / other)) >= 0.08 * span for other in labeled):
            labeled.append(tick)
    return [tick in labeled for tick in ticks]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers between 10^low and 10^high, denser if the range is short."""
    digits = (1, 1.5, 2, 3, 5, 7) if high - low < 1.2 else (1, 2, 5) if high - low < 3 else (1,)
    whole = [digit * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for digit in digits]
    ticks = [tick for tick in whole if low <= math.log10(tick) <= high]
    if len(ticks) >= 2:
        return ticks
    step = 10.0 ** math.floor(math.log10((10**high - 10**low) / 2))
    return [round(i * step, 12) for i in range(math.ceil(10**low / step), math.floor(10**high / step) + 1)]


def _end_labels(
    figure: go.Figure, ends: Sequence[tuple[str, float, str]], colors: Theme, place: Callable[[float], float]
) -> None:
    """Name each curve at its right end, and move names apart; `place` maps a value to an axis from 0 to 1."""
    gap = 0.058 * 470 / figure.layout.height
    wanted = sorted((place(value), name, color) for name, value, color in ends)
    for y, (_, name, color) in zip(_apart([want for want, *_ in wanted], gap), wanted, strict=True):
        bold = name.startswith("◇")
        figure.add_annotation(
            x=1, xref="paper", xanchor="left", xshift=6, y=y, yref="paper", yanchor="middle", showarrow=False,
            text=f"<b>{name}</b>" if bold else name,
            font={"size": 12, "color": color if bold else colors.ink}, align="left",
        )  # fmt: skip
    longest = max(len(name.partition("</span>")[2] or name) for name, *_ in ends)
    figure.update_layout(margin_r=24 + round(6.6 * longest))


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """Return positions at least `gap` apart, moved as little as possible; colliding positions move as a group."""
    pools: list[list[float]] = []  # [sum of the wanted positions, number of positions] of each group
    for place in places:
        pools.append([place, 1])
        while len(pools) > 1:
            (a, m), (b, n) = pools[-2], pools[-1]
            if b / n - a / m >= gap * (m + n) / 2:
                break
            pools[-2:] = [[a + b, m + n]]
    return [total / n + gap * (i - (n - 1) / 2) for total, n in pools for i in range(int(n))]


def area_bars(
    areas: pd.DataFrame, colors: Theme, look: dict[str, Style], *, relative: bool, title: str, against: str = "KMeans"
) -> go.Figure:
    """Draw a bar with an interval over reruns for each curve; `relative` bars start at the reference."""
    ordered = areas.sort_values("area", ascending=False)
    value, low, high = (100 * (ordered[c] - 1) if relative else ordered[c] for c in ("area", "low", "high"))
    figure = base(colors, title, height=96 + 34 * len(ordered), margin_left=16)
    tag(figure, colors, left=_CAMERA)
    figure.add_bar(
        orientation="h", y=ordered.series, x=value, width=0.55,
        marker={"color": [look[name].color(colors) for name in ordered.series]},
        error_x={
            "type": "data", "symmetric": False, "array": (high - value).fillna(0),
            "arrayminus": (value - low).fillna(0), "color": colors.ink, "thickness": 1.6, "width": 0,
        },
        customdata=np.stack([low, high, ordered.runs], axis=1),
        hovertemplate="%{y}: %{x:,.3~r}<br>95% interval of the mean %{customdata[0]:,.3~r} to %{customdata[1]:,.3~r}"
        "<br>%{customdata[2]} reruns<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text=f"% above {against}, mean over the range of ε" if relative else "mean over ε")
    figure.update_yaxes(automargin=True, showgrid=False, ticks="", showline=False)
    figure.add_vline(x=0, line={"color": colors.hidden if relative else colors.line, "dash": "dot", "width": 2})
    return figure


def dots(table: pd.DataFrame, colors: Theme, look: dict[str, Style], *, metric: str, title: str) -> go.Figure:
    """Draw a quantile dot plot at one value of the axis: equally likely dots per curve, stacked where they overlap.

    Parameters
    ----------
    table : a table of `Summary.quantile_dots`, for one data set, promise and value of the axis
    """
    names = list(dict.fromkeys(table.series))
    figure = base(colors, title, height=72 + 96 * len(names), margin_left=16)
    tag(figure, colors, left=_CAMERA)
    log = bool((table.value > 0).all())
    scale = np.log10 if log else np.asarray
    values = scale(np.concatenate([table.value, table.reference.dropna()]).astype(float))
    low, span = float(values.min()), float(np.ptp(values)) or 1.0
    width = span / 34  # width of a dot, about 1/34 of the panel's width
    for place, name in enumerate(reversed(names)):
        one = table[table.series == name]
        bins = np.rint((scale(one.value.to_numpy(dtype=float)) - low) / width)
        height = np.array([int((bins[:i] == b).sum()) for i, b in enumerate(bins)])
        step = min(0.11, 0.8 / max(height.max() + 1, 1))
        centers = low + bins * width
        figure.add_scatter(
            x=10**centers if log else centers, y=place + 0.06 + step * (height + 0.5), mode="markers", name=name,
            marker={"symbol": look[name].marker, "size": 8.5, "color": look[name].color(colors)},
            customdata=one.value, hovertemplate=f"{name}: about %{{customdata:,.3~r}}<extra></extra>",
        )  # fmt: skip
    reference = table.reference.dropna()
    if len(reference):
        figure.add_vline(x=float(reference.iloc[0]), line={"color": colors.hidden, "dash": "dot", "width": 2})
    figure.update_yaxes(
        tickvals=[i + 0.4 for i in range(len(names))], ticktext=list(reversed(names)), automargin=True, ticks="",
        showgrid=False, range=[0, len(names)], showline=False,
    )  # fmt: skip
    figure.update_xaxes(type="log" if log else "linear", title_text=metric + (" (log scale)" if log else ""))
    if log:
        ticks = _log_ticks(low - width, low + span + width)
        figure.update_xaxes(tickvals=ticks, ticktext=[number(tick) for tick in ticks])
    return figure


def heat(points: pd.DataFrame, colors: Theme, *, x: str, y: str, relative: bool, title: str) -> go.Figure:
    """Draw a series over two axes as a heat map; each cell shows its value, so that color is not needed to read it."""
    value = points.assign(shown=points.ratio if relative else points["mean"])
    grid = value.pivot_table(index=y, columns=x, values="shown", aggfunc="first").sort_index()
    figure = base(colors, title, height=110 + 44 * len(grid), margin_left=62)
    tag(figure, colors, left=_CAMERA)
    heights = np.log2(np.maximum(grid.to_numpy(dtype=float), 1e-12)) if relative else grid.to_numpy(dtype=float)
    end = "×" if relative else ""
    figure.add_heatmap(
        z=heights, x=[short(x, v) for v in grid.columns], y=[short(y, v) for v in grid.index], xgap=2, ygap=2,
        colorscale=[[0, colors.panel], [1, colors.released_soft]], showscale=False,
        text=[[("" if math.isnan(v) else f"{number(v)}{end}") for v in row] for row in grid.to_numpy(dtype=float)],
        texttemplate="%{text}", textfont={"color": colors.ink, "size": 12.5}, hoverinfo="skip",
    )  # fmt: skip
    figure.update_xaxes(type="category", title_text=axis_title(x), showgrid=False)
    figure.update_yaxes(type="category", title_text=axis_title(y), showgrid=False)
    return figure


def _jitter(seed: pd.Series) -> np.ndarray:
    """Return a shift between -1/2 and 1/2 for each run, which depends only on the run's seed."""
    return np.modf(seed.to_numpy(dtype=float) * 0.618)[0] - 0.5


def short(axis: str, value: float) -> str:
    """Return the tick label of a value on an axis."""
    if axis == "epsilon":
        return fraction(value)
    return f"{value:,.0f}" if axis == "n_rows" else number(value) if isinstance(value, float | int) else str(value)
