"""Collect the figures of a page, both those on the stage and Plotly charts."""

import json


def panels(app):
    """Return the data of every panel of a page: figure (JSON), key, alternative text and options."""
    components = [one.proto for one in app.get("bidi_component")]
    return [json.loads(proto.json) for proto in components if proto.component_name == "dpviz_panel"]


def pictures(app):
    """Return the JSON of every figure of a page: those on the stage, and then Plotly charts."""
    return [panel["figure"] for panel in panels(app)] + [chart.proto.spec for chart in app.get("plotly_chart")]
