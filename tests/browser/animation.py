"""Write README's animation of a film and a drag of ε in the running app: `python -m tests.browser.animation`."""

import io

from PIL import Image, ImageColor
from playwright.sync_api import expect, sync_playwright

from dpviz.figures.kit.theme import LIGHT
from tests.browser.conftest import CHROMIUM, FLAGS, ROOT, serve
from tests.browser.films import ADDRESS, SEEK

TARGET = ROOT / ".github" / "player.gif"
SIZE = {"width": 1280, "height": 780}
WIDTH = 900  # Width of the picture, in pixels.
FILM = 46  # Pictures of the film: its first round by two thirds of them, the others by the rest.
MILLISECONDS, STOP, LAST = 130, 350, 2_600  # How long a picture of the film, one of the drag and the last are shown.
HEAD, ROOM, COLORS = 110, 60, 80
MOST = 1_000_000  # Maximum size of the file, in bytes.
STOPS = (3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 7, 6, 5, 4)  # Stops of ε during the drag, which ends where it began.


def pictures():
    """Yield pictures of Watch, and how long each is shown: moments of the film, then every stop of a drag of ε."""
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.add_init_script("localStorage.setItem('dpviz-premiere', 'seen')")

        def seen():
            page.wait_for_timeout(300)  # milliseconds that drawing a moment may take
            return Image.open(io.BytesIO(page.screenshot())).convert("RGB")

        page.goto(ADDRESS.format(url, "pe-means"))
        slider, epsilon = (page.get_by_role("slider", name=name) for name in ("Step", "Privacy budget ε"))
        slider.wait_for(timeout=60_000)
        epsilon.wait_for(timeout=60_000)
        page.wait_for_timeout(4_000)
        for i in range(FILM):
            page.evaluate(SEEK, (i / (FILM - 1)) ** 2)
            yield seen(), MILLISECONDS
        places = [text.bounding_box() for text in epsilon.locator(".stops > *").all()]
        height = epsilon.bounding_box()["y"] + epsilon.bounding_box()["height"] / 2
        for begun, stop in enumerate((4, *STOPS)):
            page.mouse.move(places[stop]["x"] + places[stop]["width"] / 2, height)
            if begun == 0:
                page.mouse.down()
                continue
            expect(epsilon).to_have_attribute("aria-valuenow", str(stop))
            yield seen(), STOP
        browser.close()


if __name__ == "__main__":
    found = [
        (image.resize((WIDTH, WIDTH * image.height // image.width), Image.Resampling.LANCZOS), ms)
        for image, ms in pictures()
    ]
    some = [
        image.crop((0, HEAD, WIDTH, image.height)) for image, _ in found[::6]
    ]  # below the bar, which has few colors
    inks = [ImageColor.getrgb(ink) for ink in (LIGHT.hidden, LIGHT.released)]
    tints = [tuple(255 - (255 - part) * share // 4 for part in ink) for ink in inks for share in (1, 2, 3, 4)]
    strip = Image.new("RGB", (WIDTH, sum(image.height for image in some) + ROOM * len(tints)))
    for i, image in enumerate(some):
        strip.paste(image, (0, i * image.height))
    for i, tint in enumerate(tints):  # small marks have few pixels, but their colors have a meaning
        strip.paste(tint, (0, strip.height - ROOM * (i + 1), WIDTH, strip.height - ROOM * i))
    palette = strip.quantize(COLORS)  # one palette for all, so that unchanged pixels stay the same bit for bit
    frames = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image, _ in found]
    times = [*(ms for _, ms in found[:-1]), LAST]
    frames[0].save(TARGET, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)
    size = TARGET.stat().st_size
    print(f"{TARGET.relative_to(ROOT)}: {len(frames)} pictures, {size / 1e6:.2f} MB")
    if size > MOST:
        raise SystemExit("README's picture is too large: use fewer colors or a smaller width.")
