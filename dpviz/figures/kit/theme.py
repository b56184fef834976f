"""Define every color, font size and base layout. Filled means released, hollow means hidden; colors only repeat this.

No other Python module defines a color, except for the white background of reports. Streamlit uses the same colors;
`.streamlit/config.toml` adds those of the sidebar.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import plotly.graph_objects as go

from dpviz.figures.kit.film import Film

__all__ = [
    "DARK",
    "LIGHT",
    "SLOTS",
    "SPARE",
    "STYLES",
    "Style",
    "Theme",
    "base",
    "halo",
    "series_tokens",
    "tag",
    "theme",
    "untitled",
]


@dataclasses.dataclass(frozen=True)
class Theme:
    """Colors of the light or the dark theme, by purpose."""

    bg: str
    panel: str
    ink: str
    muted: str
    line: str
    grid: str
    released: str
    released_soft: str
    hidden: str
    hidden_tag: str
    person: str

    def tokens(self) -> dict[str, str]:
        """Return a dict from name to color."""
        return dataclasses.asdict(self)


LIGHT = Theme(
    bg="#FBFBF9", panel="#FFFFFF", ink="#1D2126", muted="#59616B", line="#D5D6CF", grid="#ECECE6",
    released="#1B5FA8", released_soft="#A9C5E4", hidden="#A8480A", hidden_tag="#FFF4EC", person="#8B939C",
)  # fmt: skip
DARK = Theme(
    bg="#14171A", panel="#1A1E22", ink="#E9EAE6", muted="#A6AEB7", line="#3A424A", grid="#262C32",
    released="#7DB7F2", released_soft="#34597E", hidden="#F2A36B", hidden_tag="#2B2119", person="#78828C",
)  # fmt: skip
SLOTS = Theme(*(f"#0101{i:02X}" for i in range(len(dataclasses.fields(Theme)))))  # placeholders: see `slots.js`


@dataclasses.dataclass(frozen=True)
class Style:
    """An algorithm's style in comparisons: a color for each theme, a marker and a dash pattern."""

    light: str
    dark: str
    marker: str
    dash: str

    def color(self, colors: Theme) -> str:
        """Return the color in a theme, or its placeholder if the theme is `SLOTS`."""
        if colors == SLOTS:
            return f"#0102{_pairs().index((self.light, self.dark)):02X}"
        return self.dark if colors == DARK else self.light


_BLUE, _MUTED = (LIGHT.released, DARK.released), (LIGHT.muted, DARK.muted)
_PLUM, _OCHRE, _TEAL = ("#4A1D3A", "#9060B4"), ("#B98A2E", "#F3E24A"), ("#0A97A6", "#8CF7DA")
STYLES = {  # together in one place, because they must differ from each other; any other algorithm gets a spare style
    "pe-means": Style(*_BLUE, "circle", "solid"),
    "nsm": Style(*_PLUM, "hexagon", "10px,3px"),
    "fastlloyd": Style(*_OCHRE, "square", "5px,4px"),
    "dpm": Style(*_TEAL, "triangle-up", "2px,3px"),
    "kmeans": Style(LIGHT.hidden, DARK.hidden, "diamond-open", "dot"),
}
SPARE = (  # marker and dash pattern distinguish curves of similar colors
    Style("#6B6B00", "#C9C96A", "diamond", "solid"),
    Style("#8A3B6B", "#E58AC0", "cross", "6px,3px"),
    Style("#3D7A3D", "#7BC47B", "x", "3px,3px"),
    Style("#6A5ACD", "#B0A6F5", "star", "9px,3px,3px,3px"),
    Style(*_MUTED, "pentagon", "solid"),
    Style(*_BLUE, "triangle-down", "6px,3px"),
    Style(*_TEAL, "square-x", "9px,3px,3px,3px"),
    Style(*_OCHRE, "star-triangle-up", "solid"),
    Style(*_PLUM, "bowtie", "3px,3px"),
)

SMALL = 150  # figures up to this height, in pixels, have a smaller title
LINE = 14  # height in pixels of the tag's line below a title


@cache
def _pairs() -> tuple[tuple[str, str], ...]:
    """Return all colors of styles, light and dark."""
    return tuple(dict.fromkeys((one.light, one.dark) for one in (*STYLES.values(), *SPARE)))


def series_tokens(mode: str) -> dict[str, str]:
    """Return a dict from name to color: the colors of styles in the theme "light" or "dark", for `slots.js`."""
    return {f"series-{i}": dark if mode == "dark" else light for i, (light, dark) in enumerate(_pairs())}


def theme(mode: str) -> Theme:
    """Return the colors of the theme "light" or "dark"."""
    return DARK if mode == "dark" else LIGHT


def base(colors: Theme, title: str, *, height: int, margin_left: int = 52) -> go.Figure:
    """Return an empty figure in dpviz's style; the title says what the figure shows."""
    axis = {
        "gridcolor": colors.grid,
        "linecolor": colors.line,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 12, "color": colors.muted},
        "title": {"font": {"size": 12.5, "color": colors.muted}, "standoff": 4},
        "showline": True,
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": colors.line,
    }
    return Film(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": margin_left, "t": 34, "b": 38, "r": 8},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": colors.panel,
            "font": {"family": "Source Sans, sans-serif", "color": colors.ink, "size": 12.5},
            "title": {
                "text": title, "x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container",
                "yanchor": "top", "pad": {"t": 8},
                "font": {"size": 14.5 if height > SMALL else 13, "color": colors.ink},
            },
            "showlegend": False,
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": colors.muted, "activecolor": colors.ink},
            "hovermode": "closest",
            "xaxis": axis,
            "yaxis": {**axis, "nticks": 5 if height < 250 else 9},
        }
    )  # fmt: skip


def halo(colors: Theme) -> str:
    """Return a CSS text shadow in the color of the background, which keeps words legible on top of marks."""
    return ", ".join(f"{x}px {y}px 2px {colors.panel}" for x, y in ((1, 1), (-1, 1), (1, -1), (-1, -1)))


def untitled(figure: go.Figure) -> None:
    """Remove a figure's title or captions and the space for them, but keep the space for a tag."""
    if "film" in (figure.layout.meta or {}):
        figure.update_layout(meta={**figure.layout.meta, "quiet": True})
    shift = next((note.yshift for note in figure.layout.annotations if _above(note)), None)
    figure.update_layout(title_text="", margin_t=8 if shift is None else 25 + shift)


def _above(note: go.layout.Annotation) -> bool:
    """Return whether a note is a tag that stands above the picture."""
    return "NOT PRIVATE" in (note.text or "") and note.y == 1


def tag(figure: go.Figure, colors: Theme, text: str = "NOT PRIVATE", *, below: bool = False, left: int = 0) -> None:
    """Tag a figure that shows hidden values; the tag is part of the picture, so that it survives a screenshot.

    The tag never covers data: it stands at the right end of the title's line or, if `below`, on a line of its own.
    `left` moves the tag that many pixels to the left, to make room for a button in the corner.
    """
    if below:
        figure.update_layout(margin={"t": figure.layout.margin["t"] + LINE})
    edge = figure.layout.margin["l"]
    place = (
        {"x": 0, "xanchor": "left", "xshift": -edge} if below else {"x": 1, "xanchor": "right", "xshift": -left or None}
    )
    figure.add_annotation(
        text=f"<b>{text}</b>", xref="paper", yref="paper", y=1, yanchor="bottom", yshift=3 if below else 7, **place,
        showarrow=False, font={"size": 11, "color": colors.hidden}, bgcolor=colors.hidden_tag,
        bordercolor=colors.hidden, borderwidth=1, borderpad=3,
    )  # fmt: skip
