"""dpviz: the dashboard's entry. Page config, warm-up, navigation; nothing else."""

import gc

import streamlit as st

st.set_page_config(page_title="dpviz", page_icon=".streamlit/icon.svg", layout="wide")

from pages._ui.shell import PAGES  # noqa: E402


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Import what every page needs and freeze it: the collection after each rerun then has nothing to walk."""
    import plotly.graph_objects  # noqa: F401
    import sklearn.cluster  # noqa: F401

    import dpviz.figures  # noqa: F401
    from pages._ui.data.upload import keep_uploads_in_memory

    keep_uploads_in_memory(2 * st.get_option("server.maxUploadSize") * 1_000_000)
    gc.collect()
    gc.freeze()


warm_up()
st.session_state.via_app = True
page = st.navigation(
    [st.Page(path, title=title, default=title == "Home") for path, title in PAGES.items()], position="top"
)
wanted = st.session_state.pop("wanted", None)
if wanted in PAGES and wanted != "pages/home.py":
    st.switch_page(wanted)
page.run()
