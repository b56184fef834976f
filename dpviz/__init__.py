"""dpviz: see what privacy costs in clustering. A pure package; the dashboard in app.py and pages/ calls it."""

from typing import Any

from dpviz.version import __version__

__all__ = ["NoiseWarning", "PrivacyLeakWarning", "PrivateKMeans", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the estimator when it is asked for: `import dpviz` alone loads nothing heavy."""
    if name in {"NoiseWarning", "PrivacyLeakWarning", "PrivateKMeans"}:
        from dpviz import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'dpviz' has no attribute {name!r}")
