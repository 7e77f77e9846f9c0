"""Is a page fit to be seen: axe-core, sideways scrolling, and a picture for who asks (SCREENSHOTS=folder)."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

from tests.web.pages import eventually

GRAVE = ("serious", "critical")


def picture(page, name: str, *, full_page: bool = False) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}.png", full_page=full_page)


def grave_problems(page) -> list[str]:
    """What axe-core calls serious or critical, each with the first elements that it is about."""
    page.wait_for_load_state()  # all of the page is there, and its styles
    return [
        f"{found['id']}: {found['help']}: {[node['html'][:160] for node in found['nodes'][:3]]}"
        for found in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        if found["impact"] in GRAVE
    ]


def resize(page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)
    eventually(page, lambda: page.evaluate("window.innerWidth"), size["width"])


def scrolls_sideways(page) -> bool:
    page.wait_for_load_state()
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
