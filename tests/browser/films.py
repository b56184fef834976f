"""Write the small films of the method list, from the running app: `python -m tests.browser.films [SLUG ...]`.

A file holds the pictures of one film side by side; the page shows one after the other within two seconds.
"""

import base64
import io
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

from dpviz.algorithms import ALGORITHMS
from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, serve

TARGET = ROOT / "pages" / "_ui" / "explore" / "form" / "films"
PICTURES, SIZE = 14, (176, 132)  # pictures in a film, and the size of each in pixels
ADDRESS = "{}/explore?v=1&d=town&a={}&k=5&e=1&s=0"
SEEK = """share => {
    const inside = (node) => {
        for (const one of node.querySelectorAll("*")) {
            if (one.matches(".dpviz-transport input[type=range]")) return one;
            const found = one.shadowRoot && inside(one.shadowRoot);
            if (found) return found;
        }
    };
    const slider = inside(document), [low, high] = [Number(slider.min), Number(slider.max)];
    slider.value = low + share * (high - low);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""
SEEN = """() => {
    const panels = [...document.querySelectorAll(".dpviz-stage")].map((one) => one.panel);
    const stage = panels.find((panel) => panel?.data.name === "plane")?.stage;
    if (!stage?.axes) return null; // the panel is being drawn again
    const { x, y, width, height } = stage.axes.area, dots = stage.canvas.width / stage.width;
    const canvas = Object.assign(document.createElement("canvas"), { width: width * dots, height: height * dots });
    canvas.getContext("2d").drawImage(
        stage.canvas, ...[x, y, width, height].map((one) => one * dots), 0, 0, canvas.width, canvas.height,
    );
    return canvas.toDataURL();
}"""


def moments(page, shares):
    """Yield the plane of the page's film, without its axes, at shares of its length from 0 to 1."""
    for share in shares:
        page.evaluate(SEEK, share)
        page.wait_for_timeout(200)  # milliseconds that drawing may take
        seen = page.wait_for_function(SEEN, polling=200).json_value()
        yield Image.open(io.BytesIO(base64.b64decode(seen.partition(",")[2]))).convert("RGB")


def film(browser, url, slug):
    """Return a film's pictures side by side: most show the beginning, where a method does what it alone does."""
    page = browser.new_page(viewport={"width": 340, "height": 844}, color_scheme="light", device_scale_factor=2)
    page.add_init_script("localStorage.setItem('dpviz-premiere', 'seen')")
    page.goto(ADDRESS.format(url, slug) + "&open=1" * ALGORITHMS[slug].takes_public_rows)
    page.wait_for_function(SEEN, polling=200, timeout=120_000)
    page.wait_for_timeout(3_000)
    sheet = Image.new("RGB", (PICTURES * SIZE[0], SIZE[1]), "white")
    for i, seen in enumerate(moments(page, [(i / (PICTURES - 1)) ** 1.7 for i in range(PICTURES)])):
        seen.thumbnail(SIZE, Image.Resampling.LANCZOS)
        sheet.paste(seen, (i * SIZE[0] + (SIZE[0] - seen.width) // 2, (SIZE[1] - seen.height) // 2))
    page.close()
    return sheet


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for slug in sys.argv[1:] or ALGORITHMS:
            file = TARGET / f"{slug}.webp"
            film(browser, url, slug).save(file, quality=50, method=6)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e3:.0f} kB", flush=True)
        browser.close()
