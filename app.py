"""dpviz: the dashboard's entry. As a module it is the server; as a script it is a visitor's page."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

FREEZE = 60  # seconds between two times that everything is collected


def prepare() -> None:
    """Import what every page needs and freeze it: the collection after each rerun then has nothing to walk."""
    from pages._ui.work.workers import workers

    workers().warm("dpviz.runs.single", "dpviz.figures")
    from dpviz.datasets.readers import apart

    apart.warm()
    import plotly.graph_objects  # noqa: F401
    import sklearn.cluster  # noqa: F401

    import dpviz.figures  # noqa: F401
    from pages._ui.data.upload import keep_uploads_in_memory
    from pages._ui.server.incoming import check_values
    from pages._ui.server.mishap import stay_silent
    from pages._ui.server.offline import stay_offline
    from pages._ui.server.owner import check_settings
    from pages._ui.server.presenters import show_as_kept
    from pages._ui.work.turns import check_settings as check_proxies

    check_settings()
    check_proxies()
    check_values()
    stay_silent()
    stay_offline()
    show_as_kept()
    keep_uploads_in_memory(2 * st.get_option("server.maxUploadSize") * 1_000_000)
    gc.collect()
    gc.freeze()


def end() -> None:
    """Stop whatever is computed, so that nothing outlives the server."""
    from dpviz.datasets.readers import apart
    from pages._ui.work.jobs import stop_all
    from pages._ui.work.workers import workers

    stop_all()
    apart.stop()
    workers().stop()


@asynccontextmanager
async def ready(_: object) -> AsyncIterator[None]:
    """Prepare before the port answers; freeze what is kept from then on; stop all work when the server ends."""
    prepare()
    from pages._ui.server.uploads import keep_tidy

    tasks = [asyncio.create_task(work()) for work in (_freeze, keep_tidy)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        end()


async def _freeze() -> None:
    """Freeze the caches too. Thawed first: what a visitor who has left was frozen with goes then, at the latest."""
    while True:
        await asyncio.sleep(FREEZE)
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def visit() -> None:
    """Show the page that was asked for."""
    from pages._ui.frame.session import session
    from pages._ui.frame.shell import PAGES

    session.via_app = True
    if not session.pages:  # to make them anew would ask the disk for each of them in every run
        session.pages = [
            st.Page(path, title=entry.title, default=entry.title == "Home") for path, entry in PAGES.items()
        ]
    page = st.navigation(session.pages, position="top")
    st.set_page_config(page_title=f"{page.title} - dpviz", page_icon=".streamlit/icon.svg", layout="wide")
    wanted = session.wanted
    if wanted in PAGES and wanted != "pages/home.py":
        st.switch_page(wanted)
    page.run()


if __name__ == "__main__":
    visit()
else:
    from starlette.middleware import Middleware

    from pages._ui.frame.shell import MOVED, PAGES
    from pages._ui.home.controls import run_of
    from pages._ui.player import stage
    from pages._ui.server import mishap
    from pages._ui.server.gate import Gate
    from pages._ui.server.http import Compressed, Forwarded, announcing, moved, offering
    from pages._ui.server.owner import Owned, keeping
    from pages._ui.server.uploads import Uploads

    app = st.App(
        __file__,
        lifespan=ready,
        on_script_error=mishap.show,
        middleware=[
            *(Middleware(Gate), Middleware(Compressed), Middleware(Owned), Middleware(Uploads)),
            Middleware(Forwarded, page="explore", there=run_of),
        ],
        routes=[
            *announcing(["BidiComponent"], ["/", *(f"/{Path(path).stem}" for path in PAGES)], [stage.NAME]),
            offering(stage.NAME, stage.SCRIPT),
            keeping(),
            *moved(MOVED),
        ],
    )
