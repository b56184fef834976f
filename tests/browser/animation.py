"""Write README's moving picture, step by step from the running app: `python -m tests.browser.animation`."""

import io

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, serve

TARGET = ROOT / ".github" / "player.gif"
SIZE = {"width": 1180, "height": 700}
WIDTH = 900  # of the picture
MILLISECONDS, LAST = 650, 2_600  # that a step and the last one stay
MOST = 2_000_000  # bytes
AT = """step => [...document.querySelectorAll('[role=group] input[type=range]')].every(i => i.value === String(step))
  && [...document.querySelectorAll('.js-plotly-plot')].every(g => g.__dpvizStep === step)"""


def pictures():
    """Yield a picture of Explore at every step of its run."""
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        page.goto(f"{url}/explore?v=1&d=town&a=pe-means&k=5&e=1&s=0")
        slider = page.get_by_role("slider", name="Step")
        slider.wait_for(timeout=60_000)
        last = int(slider.get_attribute("max"))
        page.get_by_role("button", name="First step").click()
        for step in range(last + 1):
            page.wait_for_function(AT, arg=step)
            page.wait_for_timeout(250)  # of drawing, after the step was taken
            yield Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            if step < last:
                page.get_by_role("button", name="Step forward").click()
        browser.close()


if __name__ == "__main__":
    found = [
        image.resize((WIDTH, WIDTH * image.height // image.width), Image.Resampling.LANCZOS) for image in pictures()
    ]
    palette = found[-1].quantize(96)  # one for all: what does not change stays bit for bit the same
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in found]
    times = [MILLISECONDS] * (len(frames) - 1) + [LAST]
    frames[0].save(TARGET, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {len(frames)} steps, {size / 1e6:.2f} MB")
    if size > MOST:
        raise SystemExit("README's picture is too large: fewer colors, or a smaller width.")
