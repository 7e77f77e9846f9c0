"""Take screenshots of the main pages of a running demo, in light, in dark and on a phone, and print their heights.

    python scripts/screenshots.py http://127.0.0.1:8000 FOLDER

Needs the packages of requirements-dev.txt and Chromium. Fails where a page is higher than 2,000 px on a laptop, wider
than the screen, or reports an error in the browser's console.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

MAX_HEIGHT = 2_000  # of a page on a laptop, in CSS pixels
LAPTOP, PHONE = {"width": 1366, "height": 768}, {"width": 390, "height": 844}
LOOKS = {"light": ("light", LAPTOP), "dark": ("dark", LAPTOP), "phone": ("light", PHONE)}
JUDGED, OPEN = "/projects/demo-stance/", "/projects/demo-open/"
# The button of the demo's sign-in -> name of the picture and path.
PAGES = {
    "researcher": {
        "projects": "/",
        "data-sets": "/datasets/",
        "new-study": "/studies/new/",
        "new-project": "/projects/new/",
        "overview": JUDGED,
        "items": f"{JUDGED}items/",
        "members": f"{JUDGED}members/",
        "guidelines": f"{JUDGED}guidelines/",
        "checker-runs": f"{JUDGED}runs/",
        "reports": f"{JUDGED}reports/",
        "agreement": f"{JUDGED}agreement/",
        "comparison": f"{JUDGED}comparison/",
        "exports": f"{JUDGED}exports/",
        "settings": f"{JUDGED}settings/",
    },
    "annotator": {"labelling": f"{OPEN}work/"},
    "adjudicator": {"adjudication": f"{JUDGED}adjudication/"},
}
WAIT_MS = 120_000  # for a report that a worker computes
DRAWN_MS = 500  # for what scripts draw; the labelling page fetches its next items all the time


def take(page: Page, url: str, folder: Path, name: str) -> list[str]:
    """The pictures of one page, and what is wrong with it."""
    faults, errors = [], []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(url)
    page.locator('#state[hx-trigger="every 1500ms"]').wait_for(state="detached", timeout=WAIT_MS)
    for look, (scheme, size) in LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        page.wait_for_timeout(DRAWN_MS)
        page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
        width, height = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        print(f"{name:14} {look:6} {height:6,} px", flush=True)
        if size is LAPTOP and height > MAX_HEIGHT:
            faults.append(f"{name} is {height:,} px high in {look}; {MAX_HEIGHT:,} is the most")
        if width > size["width"]:
            faults.append(f"{name} is {width:,} px wide on a screen of {size['width']:,} ({look})")
    return faults + [f"{name}: {error}" for error in errors]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url", help="of the demo, such as http://127.0.0.1:8000")
    parser.add_argument("folder", type=Path, help="for the pictures; it is created")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    url, faults = arguments.url.rstrip("/"), []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=["--headless=new", *as_root])
        for account, pages in PAGES.items():
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{url}/accounts/login/")
            page.get_by_role("button", name=account).first.click()
            page.wait_for_load_state()
            for name, path in pages.items():
                faults += take(context.new_page(), f"{url}{path}", arguments.folder, name)
        browser.close()
    if faults:
        print("\n".join(faults), file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
