"""Start the dashboard: serve it when imported, and draw a visitor's page when run as a script."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

FREEZE = 60  # seconds between full garbage collections


def prepare() -> None:
    """Import the modules that every page needs and freeze them, so that garbage collection after a rerun skips them."""
    from pages._ui.work.workers import workers

    workers().warm()
    from dpviz.datasets.readers import apart
    from pages._ui.frame.demo import demo

    if not demo():
        apart.warm()
    import plotly.graph_objects  # noqa: F401
    import sklearn.cluster  # noqa: F401

    import dpviz.figures  # noqa: F401
    import pages._ui.explore.below
    import pages._ui.explore.clients
    import pages._ui.explore.distance.view
    import pages._ui.explore.drag
    import pages._ui.explore.notices
    import pages._ui.frame.bar
    import pages._ui.start.story
    import pages._ui.teach.present.view  # noqa: F401
    from pages._ui.data.upload import keep_uploads_in_memory
    from pages._ui.frame.inside import sending
    from pages._ui.frame.inside.patches import (
        draw_in_our_colors,
        draw_on_return,
        refuse_messages,
        show_as_kept,
        start_at_once,
        stay_offline,
    )
    from pages._ui.server.incoming import check_values
    from pages._ui.server.mishap import stay_silent
    from pages._ui.server.owner import bind_visits

    bind_visits()
    check_values()
    stay_silent()
    stay_offline()
    start_at_once()
    draw_in_our_colors()
    draw_on_return()
    refuse_messages()
    show_as_kept()
    sending.colors_as_kept()
    sending.as_json()
    keep_uploads_in_memory(2 * st.get_option("server.maxUploadSize") * 1_000_000)
    draw_ahead()
    gc.collect()
    gc.freeze()


def draw_ahead() -> None:
    """Read and draw what all visitors see at first, so that the first visitor waits no longer than the others."""
    from dpviz.atlas.cells import STORY
    from dpviz.datasets import SAMPLES
    from pages._ui.explore.tradeoff import form, view
    from pages._ui.explore.workspace.tradeoff import tradeoff
    from pages._ui.frame.address.scene import read
    from pages._ui.frame.catalog import public
    from pages._ui.work import runs

    titles = {name: public(name).title for name in SAMPLES}
    runs.demo(STORY[0], 1.0)
    opening = read("tradeoff", "", tradeoff)[0].values
    view.ahead(form.sweep_of(opening, "sample:{}".format), titles[opening["d"][0]])


def end() -> None:
    """Stop all computations, so that nothing outlives the server."""
    from dpviz.datasets.readers import apart
    from pages._ui.work.memory import remove_all
    from pages._ui.work.runs import jobs
    from pages._ui.work.workers import workers

    jobs().stop()
    apart.stop()
    workers().stop()
    remove_all()


@asynccontextmanager
async def ready(_: object) -> AsyncIterator[None]:
    """Prepare the server before it answers requests, freeze the caches from then on, and stop all work when it ends."""
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
    """Freeze the caches at regular intervals, after collecting the objects of visitors who have left."""
    while True:
        await asyncio.sleep(FREEZE)
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def visit() -> None:
    """Show the requested page."""
    from pages._ui.data.kept import reopen
    from pages._ui.frame.bar import bar
    from pages._ui.frame.places import HOME, ICON, PAGES, VIEWS
    from pages._ui.frame.session import session

    session.via_app = True
    if not session.pages:  # st.Page reads from the disk, so it is called only once
        session.pages = [
            st.Page(f"pages/{name}.py", title=entry.title, default=name == HOME) for name, entry in PAGES.items()
        ]
    page = st.navigation(session.pages, position="hidden")
    st.set_page_config(page_title=f"{page.title} - dpviz", page_icon=ICON, layout="wide")
    if session.wanted == f"pages/{page.url_path or HOME}.py":
        session.wanted = ""
    elif session.wanted in {f"pages/{name}.py" for name in PAGES}:
        st.switch_page(session.wanted)
    bar(page.url_path or HOME)
    if page.url_path in (*VIEWS, "plan"):
        reopen()
    page.run()


if __name__ == "__main__":
    visit()
else:
    from pages._ui.server import settings

    settings.check_streamlit()

    from starlette.middleware import Middleware

    from pages._ui.explore.form.picker import FILMS
    from pages._ui.explore.player import stage
    from pages._ui.frame.address.scene import LOST
    from pages._ui.frame.demo import demo
    from pages._ui.frame.inside import client, sending
    from pages._ui.frame.places import PAGES
    from pages._ui.server import mishap
    from pages._ui.server.gate import Gate
    from pages._ui.server.http import Compressed, Forwarded, announcing, offering
    from pages._ui.server.owner import Owned, check_settings, keeping
    from pages._ui.server.uploads import Uploads
    from pages._ui.work.turns import check_settings as check_proxies

    settings.check(check_settings, check_proxies, demo)
    sending.together()  # before Streamlit makes its runtime
    app = st.App(
        __file__,
        lifespan=ready,
        on_script_error=mishap.show,
        middleware=[
            *(Middleware(Gate), Middleware(Compressed), Middleware(Owned), Middleware(Uploads)),
            Middleware(Forwarded, pages=PAGES, query=f"{LOST}=1"),
        ],
        routes=[
            *announcing([client.COMPONENTS], ["/", *(f"/{page}" for page in PAGES)], [stage.NAME]),
            offering(stage.NAME, stage.SCRIPT),
            *(offering(name, content, "image/webp") for name, content in FILMS.values()),
            keeping(),
        ],
    )
