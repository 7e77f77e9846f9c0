"""A long answer in hands that are interrupted: the browser is killed in the middle of it, or it is open in two tabs."""

import contextlib
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect

from tests.conftest import how_to_start_chromium
from tests.web.pages import HEARD, has_heard, sign_in

from . import kinds, papers
from .demo import wait_until
from .plans import Sheet

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIRST, REST = slice(0, 10), slice(10, 20)


@pytest.fixture
def plan():
    """Six answers, one of 8,000 words with 20 aspects, for one person."""
    plan = papers.aspect_coverage(paper=False)
    return replace(plan, people=1, said=plan.said[:1], notes=plan.notes[:1])


@pytest.fixture
def project(plan, tmp_path):
    return kinds.begin(None, plan, tmp_path)


@pytest.fixture
def profile(chromium, live_server, tmp_path):
    """A folder, and what starts Chromium on it as a person's own, signed in."""
    folder, started = tmp_path / "profile", []

    def start(user):
        how = how_to_start_chromium()
        started.append(chromium.browser_type.launch_persistent_context(folder, base_url=live_server.url, **how))
        sign_in(started[-1], user, live_server.url)
        return started[-1].new_page()

    yield folder, start
    for context in started:
        with contextlib.suppress(Error):  # it was killed
            context.close()


def work_up_to_the_long_one(desk: kinds.Desk) -> tuple[Sheet, dict]:
    """Everything before it is answered."""
    while True:
        sheet, shown = desk.look()
        if len(sheet.units) == 20:
            return sheet, shown
        assert desk.answer()


def say(desk: kinds.Desk, sheet: Sheet, shown: dict, part: slice) -> None:
    """What is planned about some of the aspects."""
    some, of_some = replace(sheet, units=sheet.units[part]), shown | {"unit_picks": shown["unit_picks"][part]}
    desk.press(kinds.keys_for(some, desk.plan.said[desk.person], of_some))


def state_of(desk: kinds.Desk) -> tuple[str, list[str]]:
    """How many aspects are labelled, and all highlights."""
    return (
        desk.page.locator("[data-counted]").inner_text(),
        desk.page.locator("[data-chips] .quote").all_text_contents(),
    )


def draft_of(desk: kinds.Desk, shown: dict) -> dict:
    kept = desk.page.evaluate("Object.entries(localStorage).filter(([key]) => key.includes(':draft:'))")
    return next(json.loads(value) for key, value in kept if key.endswith(shown["assignment"]))


def is_on_disk(folder: Path, words: str) -> bool:
    """Whether the profile's local storage has the words: a browser keeps what a page stores in memory for a while."""
    found = [path.read_bytes() for path in folder.glob("**/Local Storage/leveldb/*.log")]
    return any(words.encode(code) in content for content in found for code in ("latin-1", "utf-16-le"))


def kill(folder: Path) -> None:
    """End every process of the browser with that profile, at once and without a word."""
    wanted = f"--user-data-dir={folder}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "cmdline").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="without /proc no browser is found to kill")
def test_a_browser_killed_in_the_middle_of_a_long_answer_comes_back_to_its_draft(profile, plan, project):
    folder, start = profile
    user = kinds.people_of(plan, project)[0]
    desk = kinds.Desk(start(user), plan, project, 0).open()
    sheet, shown = work_up_to_the_long_one(desk)
    say(desk, sheet, shown, FIRST)
    before = state_of(desk)
    assert before[0] == "10 of 20 labelled" and before[1]
    desk.is_saved()
    saved = draft_of(desk, shown)["saved"]
    # Chromium writes five seconds after the first change, and from then on once a minute.
    wait_until(lambda: is_on_disk(folder, str(saved)), 150, "the browser had written its storage to the disk")
    kill(folder)

    again = kinds.Desk(start(user), plan, project, 0, last=desk.last).open()
    sheet, found = again.look()
    assert found["assignment"] == shown["assignment"] and state_of(again) == before
    say(again, sheet, found, REST)
    again.submit(found)
    while again.answer():
        pass
    again.is_saved()
    kinds.check_stored(plan, project)


def test_a_long_answer_begun_in_one_tab_is_finished_in_another_and_both_go_on(open_context, plan, project):
    context = open_context(kinds.people_of(plan, project)[0])
    context.add_init_script(HEARD)
    one = kinds.Desk(context.new_page(), plan, project, 0).open()
    sheet, shown = work_up_to_the_long_one(one)
    say(one, sheet, shown, FIRST)
    before = state_of(one)
    two = kinds.Desk(context.new_page(), plan, project, 0, last=one.last).open()
    sheet, found = two.look()
    assert found["assignment"] == shown["assignment"] and state_of(two) == before
    say(two, sheet, found, REST)
    two.submit(found)
    expect(one.page.get_by_text("has been answered in another tab")).to_be_visible()
    one.last = found["assignment"]
    tabs = [one, two]
    while tabs:
        desk, *others = tabs
        tabs = [*others, desk] if desk.answer() else others
        for other in others:  # that was on its screen, too, or soon would have been
            has_heard(other.page, desk.last)
            expect(other.page.locator(f'#stage [data-item="{desk.last}"]')).to_have_count(0)
    for desk in (one, two):
        desk.is_saved()
    kinds.check_stored(plan, project)
