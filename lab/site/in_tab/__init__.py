"""Answer the page "Run it here" inside a browser tab: JSON in, JSON out.

The site's worker imports this package under the name `in_tab`, so it imports nothing from the package around it.
"""

from __future__ import annotations

from .clusters import read_again
from .compare import compared, releases
from .count import exported, merged
from .forms import GROUPS
from .own import NAME as OWN
from .own import opened
from .private import checked, drawn, priced
from .public import AGAIN, again, run
from .rehearsal import rehearsed
from .tradeoff import CURVES, plotted

__all__ = [
    "AGAIN",
    "CURVES",
    "GROUPS",
    "OWN",
    "again",
    "checked",
    "compared",
    "drawn",
    "exported",
    "merged",
    "opened",
    "plotted",
    "priced",
    "read_again",
    "rehearsed",
    "releases",
    "run",
]
