"""dpviz: see what privacy costs in clustering. A pure package; the dashboard in app.py and pages/ calls it."""

__version__ = "0.1.0"
