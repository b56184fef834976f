"""Make a page for testing the stage, with the real script and the real Plotly, but without a server."""

import json
from pathlib import Path

import plotly
import streamlit

from dpviz.figures.stage import script
from pages._ui.explore.player.stage import SCRIPT
from tests.browser.conftest import PATIENCE

ROOT = Path(__file__).parent.parent.parent
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
FONT = next((Path(streamlit.__file__).parent / "static" / "static" / "media").glob("SourceSansVF-Upright*.woff2"))
PAGE = """<!doctype html><meta charset="utf-8"><style>
@font-face { font-family: "Source Sans"; src: url(/font.woff2); font-weight: 200 900 }
body { margin: 0; background: #FBFBF9 } body.dark { background: #14171A }
.row { display: flex; gap: 20px; padding: 10px } .row > div { flex: none; position: relative }
.dpviz-stage { position: relative } .dpviz-canvas { display: block } [hidden] { display: none !important }
</style><body></body>"""
# Do what a page does for every figure: make an element for the component, and start the component.
SHOW = """async ([figures, extra]) => {
    const { start } = await import("/panel.js");
    for (const [i, figure] of figures.entries()) {
        const parentElement = document.createElement("div");
        parentElement.style.width = "500px";
        parentElement.innerHTML = '<div class="dpviz-stage"></div>';
        document.body.append(parentElement);
        const data = {key: `panel${i}`, name: "plane", figure: JSON.stringify(figure), alt: "What is seen.",
            plotly: "/plotly.js", zoomOf: "", ...extra};
        start({data, parentElement});
    }
}"""


def open_stage(browser, *, motion="no-preference", errors=None, **options):
    """Return a page on which `window.S` is the stage's script."""
    page = browser.new_page(viewport={"width": 1240, "height": 900}, reduced_motion=motion, **options)
    page.set_default_timeout(PATIENCE)
    served = {
        "font.woff2": (FONT.read_bytes(), "font/woff2"),
        "plotly.js": (PLOTLY.read_bytes(), "text/javascript"),
        "stage.js": (script().encode(), "text/javascript"),
        "panel.js": (SCRIPT, "text/javascript"),
    }

    def answer(route):
        body, kind = served.get(route.request.url.rsplit("/", 1)[-1], (PAGE.encode(), "text/html"))
        route.fulfill(body=body, content_type=kind)

    page.route("**/*", answer)
    if errors is not None:
        page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("http://stage.test/")
    page.evaluate("""async () => {
        window.S = await import("/stage.js");
        await document.fonts.load('12px "Source Sans"');
        await document.fonts.load('bold 12px "Source Sans"');
        window.drawn = async (act) => {  // where the first figure's stage draws marks during an act
            const to = CanvasRenderingContext2D.prototype, arc = to.arc, seen = [];
            to.arc = function (x, ...more) { if (x > 0) seen.push(x); return arc.call(this, x, ...more); };
            await act(document.querySelector(".dpviz-stage").panel.stage);
            to.arc = arc;
            return seen;
        };
    }""")
    return page


def show(page, *figures, **extra):
    """Put figures (dicts) on the page as the dashboard does."""
    page.evaluate(SHOW, [[json.loads(json.dumps(figure)) for figure in figures], extra])
