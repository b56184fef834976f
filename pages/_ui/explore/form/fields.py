"""Declare controls that several pages about runs share: the seed, and a run without noise."""

from __future__ import annotations

from pages._ui.frame.address.control import Control, number, switch

__all__ = ["EXACT", "SEED"]

SEED = Control(
    "s", "explore_seed", "Seed", number(0, 0), always=True,
    help="DEMO only. A published seed lets anyone subtract the noise.",
)  # fmt: skip
EXACT = Control(
    "exact", "explore_exact", "No noise", switch(False),
    help="DEMO only. The same run as if ε were infinite: the remaining loss is the algorithm's own, from its start and "
    "its search. Nothing is protected.",
)  # fmt: skip
