"""Is a page fit to be seen: axe-core, sideways scrolling, and a picture for who asks (SCREENSHOTS=folder)."""

import os
from pathlib import Path

from axe_playwright_python.base import AXE_SCRIPT

from tests.web.pages import eventually

# What axe-core calls serious or critical, each with the first elements that it is about. Nothing else is passed on.
GRAVE = """async () => {
  const { violations } = await axe.run({ resultTypes: ["violations"] });
  const places = (nodes) => nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(", ");
  return violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, help, nodes }) => `${id}: ${help}: ${places(nodes)}`);
}"""
PHONE = {"width": 360, "height": 740}


def picture(page, name: str, *, full_page: bool = False) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}.png", full_page=full_page)


def grave_problems(page) -> list[str]:
    page.wait_for_load_state()  # all of the page is there, and its styles
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(GRAVE)


def resize(page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)
    eventually(page, lambda: page.evaluate("window.innerWidth"), size["width"])


def scrolls_sideways(page) -> bool:
    page.wait_for_load_state()
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def faults(page, name: str) -> list[str]:
    """What is grave, and what scrolls sideways, on a page that is open in the dark on a wide screen, and then in the
    light on a phone: two looks show every colour and every width."""
    wide = page.viewport_size
    found = _faults(page, f"{name}-dark")
    page.emulate_media(color_scheme="light")
    resize(page, PHONE)
    found += _faults(page, f"{name}-phone")
    page.emulate_media(color_scheme="dark")
    resize(page, wide)
    return found


def _faults(page, name: str) -> list[str]:
    picture(page, name, full_page=True)
    return [f"{name}: {one}" for one in grave_problems(page) + ["scrolls sideways"] * scrolls_sideways(page)]
