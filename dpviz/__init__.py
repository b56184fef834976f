"""dpviz shows what privacy costs in clustering. This package does not depend on the dashboard (app.py and pages/)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz import notebook
from dpviz.version import __version__

if TYPE_CHECKING:
    from dpviz.trace import Trace

__all__ = ["NoiseWarning", "PrivacyLeakWarning", "PrivateKMeans", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the estimator on first use, so that `import dpviz` alone loads nothing heavy."""
    if name in {"NoiseWarning", "PrivacyLeakWarning", "PrivateKMeans"}:
        from dpviz import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'dpviz' has no attribute {name!r}")


def _label(trace: Trace) -> str:
    from dpviz.takeaway.label import inline

    return inline(trace)


def _player(trace: Trace) -> str:
    from dpviz.takeaway.replay import replay

    return replay(trace)


notebook.views = notebook.Views(_label, _player)  # set here, because notebook.py may not import dpviz.takeaway
