"""Collect what a page sends to its components, and its figures, both those on the stage and Plotly charts."""

import json


def sent(app, name):
    """Return the data that a page sends to each of its components of one name."""
    components = [one.proto for one in app.get("bidi_component")]
    return [json.loads(proto.json) for proto in components if proto.component_name == name]


def panels(app):
    """Return the data of every panel of a page: figure (JSON), key, alternative text and options."""
    return sent(app, "dpviz_panel")


def pictures(app):
    """Return the JSON of every figure of a page: those on the stage, and then Plotly charts."""
    return [panel["figure"] for panel in panels(app)] + [chart.proto.spec for chart in app.get("plotly_chart")]
