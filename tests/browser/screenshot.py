"""Take pictures of pages in both modes and two sizes: `python -m tests.browser.screenshot FOLDER`."""

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS, serve

PAGES = ("", "explore", "learn")
READY = "() => [...document.querySelectorAll('.dpviz-stage')].some(root => root.panel?.stage?.drawn >= 0)"


def shoot(browser, url: str, target: Path, *, width: int, height: int, mode: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=mode, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_function(READY)
    page.wait_for_timeout(1500)
    page.screenshot(path=target)
    context.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with serve() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for page in PAGES:
            for width, height in ((1280, 800), (390, 844)):
                for mode in ("light", "dark"):
                    name = f"{page or 'home'}_{width}_{mode}.png"
                    shoot(browser, f"{url}/{page}", folder / name, width=width, height=height, mode=mode)
        browser.close()
