"""Collect the figures of a page, from the stage and from Plotly."""

import json


def pictures(app):
    """Return the JSON of every figure of a page: those on the stage, then those of Plotly."""
    components = [one.proto for one in app.get("bidi_component")]
    panels = [json.loads(proto.json)["figure"] for proto in components if proto.component_name == "dpviz_panel"]
    return panels + [chart.proto.spec for chart in app.get("plotly_chart")]
