"""The session's state shows components' values as they are kept, not through a view that is made at every look.

Streamlit makes that view, a class and an object of it, for every component whenever any field is drawn: it took an
eighth of the processor's time of a page. It only adds triggers, which this dashboard reads where a component is made.
"""

from streamlit.components.v2.bidi_component import main


def show_as_kept() -> None:
    """Let components have no such view."""
    main.make_bidi_component_presenter = lambda *_: None
