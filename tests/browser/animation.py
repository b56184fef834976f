"""Write README's animation of a run and a drag of ε in the running app: `python -m tests.browser.animation`."""

import io

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, serve

TARGET = ROOT / ".github" / "player.gif"
SIZE = {"width": 1280, "height": 780}
WIDTH = 900  # Width of the picture, in pixels.
MILLISECONDS, LAST = 650, 2_600  # How long a step is shown, and the last one.
MOST = 1_000_000  # Maximum size of the file, in bytes.
STOPS = (3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4)  # Stops of ε during the drag, which ends where it began.


def pictures():
    """Yield a picture of Watch at every step of its run, and then at every stop of a drag of ε."""
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")

        def seen():
            page.wait_for_timeout(300)  # milliseconds that drawing a step may take
            return Image.open(io.BytesIO(page.screenshot())).convert("RGB")

        page.goto(f"{url}/explore?v=1&d=town&a=pe-means&k=5&e=1&s=0")
        slider, epsilon = (page.get_by_role("slider", name=name) for name in ("Step", "Privacy budget ε"))
        slider.wait_for(timeout=60_000)
        epsilon.wait_for(timeout=60_000)
        page.get_by_role("button", name="First step").click()
        for step in range(int(slider.get_attribute("max")) + 1):
            if step:
                page.get_by_role("button", name="Step forward").click()
            expect(slider).to_have_value(str(step))
            yield seen()
        places = [text.bounding_box() for text in epsilon.locator(".stops > *").all()]
        height = epsilon.bounding_box()["y"] + epsilon.bounding_box()["height"] / 2
        for begun, stop in enumerate((4, *STOPS)):
            page.mouse.move(places[stop]["x"] + places[stop]["width"] / 2, height)
            if begun == 0:
                page.mouse.down()
                continue
            expect(epsilon).to_have_attribute("aria-valuenow", str(stop))
            yield seen()
        browser.close()


if __name__ == "__main__":
    found = [
        image.resize((WIDTH, WIDTH * image.height // image.width), Image.Resampling.LANCZOS) for image in pictures()
    ]
    palette = found[-1].quantize(96)  # one palette for all, so that unchanged pixels stay the same bit for bit
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in found]
    times = [MILLISECONDS] * (len(frames) - 1) + [LAST]
    frames[0].save(TARGET, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {len(frames)} pictures, {size / 1e6:.2f} MB")
    if size > MOST:
        raise SystemExit("README's picture is too large: use fewer colors or a smaller width.")
