"""A real Chromium before the real pages: live server with static files, people signed in, the policy on."""

import os
import shutil

import pytest

from tests.web.pages import LabellingPage, sign_in

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("No Chromium on this machine (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
        before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_context(chromium, live_server):
    """Makes browser contexts, signed in as a person or not. Afterwards no page may have had an error of its scripts or
    broken the content security policy."""
    contexts, problems = [], []

    def make(user=None, **options):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")
        context = chromium.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(8000)
        if user is not None:
            sign_in(context, user, live_server.url)
        context.on("weberror", lambda error: problems.append(str(error.error)))
        context.on(
            "console", lambda said: "Content Security Policy" in said.text and problems.append(f"policy: {said.text}")
        )
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        context.close()
    assert not problems, problems


@pytest.fixture
def label(open_context):
    """Opens a project's labelling page as a person."""

    def open_page(project, user, **options):
        return LabellingPage(open_context(user, **options).new_page(), project).open()

    return open_page
