"""A real Chromium for the journeys, or a skip that says that there is none."""

import os
import shutil

import pytest

from . import browser


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium is installed")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=[*browser.FLAGS, *root])
        yield running
        running.close()
