"""What every test starts from."""

import gc
import os
import re
import shutil
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import TransactionTestCase

from tests.own_database import empty_database, empty_tables, empty_template

# Numbers are asserted as a CPU gives them, and by many processes at once. tests/models_runtime/test_gpu.py says how to
# let a GPU be seen.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

CHROMIUM_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# The first is Chromium without windows, which takes half of the processor time.
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE_MS = 30_000  # for one step in a browser, on a machine that has other things to do


# Files that take longest. Begun last, one process would go on with them when the others have nothing left to do.
LONGEST = (
    "test_every_route.py",
    "test_researcher_climate_fever.py",
    "test_workers.py",
    "test_documented_commands.py",
    "test_newcomer.py",
    "test_demo_every.py",
    "test_concurrency.py",
    "test_kinds.py",
    "test_pages.py",
    "test_web_process.py",
    "test_fuzz_every.py",
)

# .ci/run looks for files with these marks instead of collecting all tests.
NAMED_IN_FILE = ("browser", "on_postgresql")
# Marks that runs leave out, and that most files with them have as a whole.
WHOLE_FILES = ("browser", "slow")


def pytest_configure(config):
    """Files go to processes in the order of `pytest_collection_modifyitems`, not those with most tests first."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False
    gc.disable()  # what is collected stays: pytest_collection_finish


def pytest_ignore_collect(collection_path, config):
    """Files whose tests are all left out by their mark are not imported, which takes each process a second."""
    left_out = [mark for mark in WHOLE_FILES if f"not {mark}" in config.option.markexpr]
    if left_out and collection_path.name.startswith("test_"):
        marks = rf"^pytestmark = .*\bmark\.({'|'.join(left_out)})\b"
        return re.search(marks, collection_path.read_text("utf-8"), re.MULTILINE) is not None or None
    return None


def pytest_collection_modifyitems(config, items):
    """Tests that take longest come first where several processes share them, and many small ones fill the gaps."""
    for path, mark in {(item.path, mark) for item in items for mark in NAMED_IN_FILE if item.get_closest_marker(mark)}:
        if f"mark.{mark}" not in path.read_text("utf-8"):
            raise pytest.UsageError(f"Write mark.{mark} in {path}, which .ci/run would not find otherwise")
    if not hasattr(config, "workerinput"):
        return

    def place(item) -> tuple[int, bool]:
        name = item.path.name
        rank = LONGEST.index(name) if name in LONGEST else len(LONGEST)
        return rank, item.get_closest_marker("browser") is None

    items.sort(key=place)


def pytest_collection_finish(session):
    """Modules and tests stay for good: looking through them for garbage again and again takes a fifth of the time, and
    looking for it after every 700 objects another twelfth."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 50, 100)


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb, django_db_modify_db_settings):
    """A process begins with a copy of tables that are migrated once for all runs: it takes some twenty seconds."""
    test = connection.settings_dict["TEST"]
    if connection.vendor == "postgresql":
        test["TEMPLATE"] = empty_template()
        yield django_db_keepdb
        return
    path = Path(test["NAME"])
    shutil.copyfile(empty_database(), path)
    yield True
    path.unlink()


@pytest.fixture(scope="session", autouse=True)
def committed_rows_are_deleted():
    """After a test that commits. One that has something else to undo does it itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty_tables())
        yield


@pytest.fixture(autouse=True)
def empty_cache():
    """Rolled-back tests give the same ids again: what one counted must not reach the next."""
    cache.clear()


@pytest.fixture(autouse=True)
def nothing_depends_on_speed(monkeypatch):
    """However slow this machine is, a stale report is computed anew at once."""
    monkeypatch.setattr("analysis.reports.stored.FREE_SECONDS", 3600.0)


_drawn: dict[str, tuple] = {}


@pytest.fixture(autouse=True)
def the_same_picture_is_drawn_once(request, monkeypatch):
    """Many tests compute the same reports to look at something else; tests/pictures shows that the same picture gives
    the same bytes. What did not load matplotlib so far does not load it for this."""
    themed = sys.modules.get("analysis.figures.pictures.themed")
    if themed and request.path.parent.name != "pictures":
        draw = themed.bare_svg

        def once(picture):
            key = repr(picture)
            if key not in _drawn:
                _drawn[key] = draw(picture)
            return _drawn[key]

        monkeypatch.setattr(themed, "bare_svg", once)


@pytest.fixture
def fixed_draws(monkeypatch):
    """Hypothesis draws constants of whatever modules of Assay are loaded, too: without them, one seed always draws the
    same."""
    from hypothesis.internal.conjecture.providers import HypothesisProvider

    monkeypatch.setattr(HypothesisProvider, "_maybe_draw_constant", lambda *args, **more: None)


@pytest.fixture
def study(db):
    """The project that rules settle, and its units."""
    from tests.rules.test_rules import make_study

    return make_study()


@pytest.fixture
def receiver():
    """A server on loopback that keeps what it is sent; `answer` is what it says."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.got.append((self.path, dict(self.headers), body))
            status, headers, text = server.answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            for part in text:
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(0.05 if len(text) > 1 else 0)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.got, server.answer = [], (200, {}, [b"thanks"])
    server.host = f"127.0.0.1:{server.server_port}"
    server.url = f"http://{server.host}/hook?a=b"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def how_to_start_chromium(names: tuple[str, ...] = CHROMIUMS) -> dict:
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("No Chromium on this machine (apt-get install chromium)")
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return {"executable_path": path, "args": [*CHROMIUM_ARGUMENTS, *root]}


@pytest.fixture(scope="session")
def chromium():
    """One Chromium for all tests of a process, or a skip that says that there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    how = how_to_start_chromium()
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as started:
        # Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
        before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        browser = started.chromium.launch(**how)
        yield browser
        browser.close()
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def open_context(chromium, live_server):
    """Makes browser contexts, signed in as a person or not. Afterwards no page may have had an error of its scripts or
    broken the content security policy."""
    from tests.web.pages import sign_in

    contexts, problems = [], []

    def make(user=None, **options):
        options.setdefault("viewport", {"width": 1280, "height": 800})
        options.setdefault("reduced_motion", "reduce")
        context = chromium.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE_MS)
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
