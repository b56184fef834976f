"""Draw the symbols of the key: most released values are filled; hidden values are hollow or dotted."""

from __future__ import annotations

from dpviz.figures.kit.theme import Theme

__all__ = ["HIDDEN", "icon"]

HIDDEN = frozenset(
    {
        "cross",
        "hidden_ring",
        "hidden_shade",
        "dashed_ring",
        "marked_ring",
        "thin_ring",
        "diamond",
        "square",
        "ring",
        "dash",
        "dotted",
    }
)  # symbols that are listed only while hidden layers are shown

_SHAPES = {
    "dot": '<circle cx="8" cy="8" r="2.2" fill="{released_soft}"/>',
    "disc": '<circle cx="8" cy="8" r="5" fill="{released}" fill-opacity=".6"/>',
    "center": '<circle cx="8" cy="8" r="5.5" fill="{released}" stroke="{ink}" stroke-width="2"/>',
    "path": '<path d="M2 12 L7 6 L14 4" fill="none" stroke="{released}" stroke-width="1.8"/>',
    "dashed": '<path d="M2 12 L14 4" fill="none" stroke="{released}" stroke-width="1.6" stroke-dasharray="3 2"/>',
    "circle": '<circle cx="8" cy="8" r="6" fill="none" stroke="{released_soft}" stroke-width="1.6"/>',
    "hoop": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="{ink}" stroke-width="2"/>',
    "haze": '<circle cx="8" cy="8" r="6" fill="none" stroke="{released}" stroke-dasharray="2 2"/>',
    "bar": '<rect x="4" y="2" width="8" height="12" fill="{released}"/>',
    "box": '<rect x="2" y="2" width="12" height="12" fill="{released}" fill-opacity=".2" stroke="{released}"/>',
    "hatch": '<rect x="2" y="2" width="12" height="12" fill="{panel}" stroke="{released}"/>'
    '<path d="M2 9 L9 2 M4 14 L14 4 M9 14 L14 9" stroke="{released}" stroke-width="1.6"/>',
    "cell": '<rect x="4" y="4" width="8" height="8" fill="none" stroke="{ink}" stroke-width="2.6"/>',
    "shade": '<rect x="2" y="2" width="12" height="12" fill="{released}" fill-opacity=".6"/>',
    "hidden_shade": '<rect x="2" y="2" width="12" height="12" fill="{hidden}" fill-opacity=".6"/>',
    "cut": '<path d="M8 2 V14" stroke="{ink}" stroke-width="2.6"/>',
    "cross": '<path d="M4 4 L12 12 M4 12 L12 4" stroke="{hidden}" stroke-width="1.4"/>',
    "diamond": '<path d="M8 1.5 L14.5 8 L8 14.5 L1.5 8 Z" fill="none" stroke="{hidden}" stroke-width="2"/>',
    "square": '<rect x="2.5" y="2.5" width="11" height="11" fill="none" stroke="{hidden}" stroke-width="2"/>',
    "ring": '<circle cx="8" cy="8" r="3" fill="none" stroke="{person}" stroke-width="1.2"/>',
    "hidden_ring": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="{hidden}" stroke-width="2.2"/>',
    "dashed_ring": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="{hidden}" stroke-width="2" '
    'stroke-dasharray="3 2"/>',
    "marked_ring": '<circle cx="8" cy="8" r="6" fill="none" stroke="{hidden}" stroke-width="2"/>'
    '<circle cx="8" cy="8" r="1.6" fill="{hidden}"/>',
    "thin_ring": '<circle cx="8" cy="8" r="6" fill="none" stroke="{hidden}" stroke-width="1"/>',
    "dash": '<path d="M2 8 H14" stroke="{hidden}" stroke-width="2.4"/>',
    "dotted": '<path d="M2 8 H14" stroke="{hidden}" stroke-width="2" stroke-dasharray="2 2"/>',
}


def icon(symbol: str, colors: Theme) -> str:
    """Return a 16 x 16 SVG of a symbol of the key."""
    shape = _SHAPES[symbol].format(**colors.tokens())
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16">{shape}</svg>'
