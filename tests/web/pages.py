"""The labelling page as a person meets it: what is on the screen, keys, the mouse.

What a key does to the item on the screen is done when `press` returns. What comes later has to be waited for: the next
item, what the mouse selected, all that the server is told and says.
"""

import time
from collections.abc import Callable

from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotation.models import Assignment, Judgement, Revision
from tests.conftest import PATIENCE_MS

# The ends of a range of UTF-16 units of a text, on the screen.
PLACE = """([field, start, end]) => {
  const walker = document.createTreeWalker(document.querySelector(`[data-field="${field}"]`), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let seen = 0, isOpen = false;
  while (walker.nextNode()) {
    const { length } = walker.currentNode;
    if (!isOpen && start < seen + length) { range.setStart(walker.currentNode, start - seen); isOpen = true; }
    if (end <= seen + length) { range.setEnd(walker.currentNode, end - seen); break; }
    seen += length;
  }
  const boxes = [...range.getClientRects()], first = boxes[0], last = boxes.at(-1);
  return [first.left, first.top + first.height / 2, last.right, last.top + last.height / 2];
}"""

# What a tab has been told that another one answered. Only a person takes long enough for the news to be there first.
HEARD = """
window.heard = [];
addEventListener("storage", ({ newValue: entry }) => {
  if (entry?.includes("assignment")) window.heard.push(JSON.parse(entry).assignment);
});
"""

# main.js waits four seconds for the suggestion that follows an answer; a busy machine may need longer to send it.
PATIENT = """{
  const soon = window.setTimeout;
  window.setTimeout = (work, delay, ...more) => soon(work, delay === 4000 ? 600000 : delay, ...more);
}"""

AN_HOUR_AHEAD = "{ const now = Date.now; Date.now = () => now() + 3600000; }"


def slow_down(page: Page) -> None:
    """From now on each request takes a second and a half."""
    network = {"offline": False, "latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", network)


def has_heard(page: Page, assignment: str) -> None:
    """Wait for that news; the page's context has HEARD as a script."""
    eventually(page, lambda: page.evaluate("(one) => window.heard.includes(one)", assignment), True)


def sign_in(context: BrowserContext, user, address: str) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": address}])


def eventually(page: Page, read: Callable[[], object], wanted: object) -> None:
    """Wait until `read` gives what is wanted: something that `expect` has no words for, or what the database holds."""
    end = time.monotonic() + PATIENCE_MS / 1000
    while (found := read()) != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)  # routes and events of the page go on meanwhile
    assert found == wanted


class LabellingPage:
    def __init__(self, page: Page, project):
        self.page, self.project = page, project
        page.add_init_script(PATIENT)

    def open(self, *, acknowledges: bool = True):
        """Go there, and acknowledge the guidelines where the page asks for it first."""
        self.page.goto(f"/projects/{self.project.slug}/work/")
        there = "performance.getEntriesByName('assay:shown').length || document.querySelector('.empty')"
        self._until(f"{there} || document.querySelector('#stage:not([hidden]) [data-guidelines]')")
        if acknowledges and self.notice.count():
            with self.page.expect_response("**/guidelines/acknowledge"):  # or a reload would ask again
                self.acknowledge()
            self._until(there)
        return self

    @property
    def notice(self) -> Locator:
        """The guidelines in place of an item, which wait to be acknowledged."""
        return self.page.locator("#stage [data-guidelines]")

    def acknowledge(self) -> None:
        self.notice.get_by_role("button", name="I have read").click()

    @property
    def assignment(self) -> str:
        """The one whose item is on the screen."""
        return self.page.locator("#stage [data-item]").get_attribute("data-item")

    @property
    def held(self) -> Assignment:
        return Assignment.objects.get(uuid=self.assignment)

    @property
    def status(self) -> str:
        return self.page.locator("[data-status]").inner_text()

    def text(self, field: str) -> str:
        return self.page.locator(f'[data-field="{field}"]').evaluate("element => element.textContent")

    def press(self, *keys: str):
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def answer(self, *keys: str) -> str:
        """Press the keys and Enter, and wait for what comes next. Returns the assignment that was answered."""
        before = self.assignment
        self.press(*keys, "Enter")
        self.gone(before)
        expect(self.page.locator("#stage .loading")).to_have_count(0)
        return before

    def skip(self) -> str:
        """Skip the item without a reason, and wait for what comes next. Returns the assignment that was skipped."""
        before = self.assignment
        self.press("s")
        self.page.locator("[data-skip-confirm]").click()
        self.gone(before)
        expect(self.page.locator("#stage .loading")).to_have_count(0)
        return before

    def gone(self, assignment: str) -> None:
        expect(self.page.locator(f'#stage [data-item="{assignment}"]')).to_have_count(0)

    def at(self, assignment: str) -> None:
        expect(self.page.locator(f'#stage [data-item="{assignment}"]')).to_have_count(1)

    def is_saved(self) -> None:
        expect(self.page.locator("[data-save-state=saved]")).to_be_visible()

    def has_ahead(self) -> None:
        """The next item is in the browser: each item but the first was fetched ahead."""
        self._until(
            "performance.getEntriesByName('assay:ahead').length >= performance.getEntriesByName('assay:shown').length"
        )

    def _until(self, condition: str) -> None:
        """Playwright's own waiting evaluates strings in the page, which the policy forbids."""
        end = time.monotonic() + PATIENCE_MS / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"waited in vain for {condition}"
            self.page.wait_for_timeout(20)

    def drag(
        self, field: str, start: int, end: int, *, shift: bool = False, release: tuple[int, int] | None = None
    ) -> None:
        """Select from one UTF-16 offset to another with the mouse; `release` is where the drag ends instead."""
        self.page.locator(f'[data-field="{field}"]').scroll_into_view_if_needed()
        left, top, right, bottom = self.page.evaluate(PLACE, [field, start, end])
        if shift:
            self.page.keyboard.down("Shift")
        self.page.mouse.move(left + 0.5, top)
        self.page.mouse.down()
        self.page.mouse.move((left + right) / 2, bottom)
        self.page.mouse.move(*(release or (right - 0.5, bottom)))
        self.page.mouse.up()
        if shift:
            self.page.keyboard.up("Shift")

    def chips(self) -> list[str]:
        return self.page.locator("[data-chips] .quote").all_text_contents()

    def chosen(self) -> list[str]:
        return self.page.eval_on_selector_all("#stage input:checked", "inputs => inputs.map(input => input.value)")


def stored(assignment: str, user) -> dict[str, str]:
    """The labels of the person's latest revision, by dimension."""
    rows = Judgement.objects.filter(revision__in=revisions(assignment, user).filter(is_latest=True))
    return dict(rows.values_list("dimension", "label"))


def revisions(assignment: str, user):
    item = Assignment.objects.get(uuid=assignment).item_id
    return Revision.objects.filter(annotation__item=item, annotation__rater__user=user).order_by("number")


def spans(assignment: str, user) -> list[tuple[int, int, str]]:
    rows = revisions(assignment, user).filter(is_latest=True, judgements__spans__isnull=False)
    return sorted(rows.values_list("judgements__spans__start", "judgements__spans__end", "judgements__spans__quote"))
