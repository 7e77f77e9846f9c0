"""A day's work of two annotators, an adjudicator and two researchers, by keyboard alone: nothing that one of them did
is lost or goes elsewhere, and what changed after a decision is said wherever the decision is."""

import csv
import io
from types import SimpleNamespace

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Decision, Item, Judgement, Membership, Project
from tests import factories
from tests.projects.test_labelled_spans import ENTITIES
from tests.web.long_answers import make_answers
from tests.web.pages import LabellingPage, revisions, spans, stored

from .browser import are_computed, highlight
from .kinds import work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASSAGES = ("Salt keeps the harbour open.", "Ferries break the ice.")
MARK = ("h", "ArrowRight", "Enter", "Escape")  # the second word

# Type of task -> the keys of one item, where each highlight follows the label that it is the reason for; the label and
# the highlighted words of each unit in the order of the page.
KINDS = {
    "triplets/-/1": (
        ["1", *MARK, "2", "3", "h", "Tab", "Enter", "Escape"],
        [("entailment", ["keeps"]), ("neutral", []), ("contradiction", ["Ferries"])],
    ),
    "aspect-coverage/-/1": (
        ["y", *MARK, "n", "y", "h", "End", "Enter", "Escape"],
        [("covered", ["lowers"]), ("not_covered", []), ("covered", ["is"])],
    ),
    "sufficient-context/-/1": (["1", "h", "Tab", "Enter", "Escape"], [("sufficient", ["Ferries"])]),
    ENTITIES["name"]: (["1", "h", "ArrowRight", "ArrowRight", "1", "Escape"], [("yes", ["Ada"])]),
}


@pytest.fixture
def team(settings, tmp_path):
    """A project whose items Ann and Ben both label, and its people."""
    settings.MEDIA_ROOT = tmp_path
    ann, ben, judge, rosa = (factories.make_user(name) for name in ("ann", "ben", "judge", "rosa"))
    dataset = factories.make_dataset(factories.make_user("owner", is_staff=True))
    factories.make_claim_evidence(dataset, 3, texts=["The harbour stayed open."] * 3)
    project = factories.make_project(dataset, order="file", annotators=[ann, ben], researchers=[rosa], slug="ports")
    factories.join(project, judge, Membership.Role.ADJUDICATOR)
    factories.make_suggestions(project, labels={"relevance": "relevant", "stance": "supports"})
    return SimpleNamespace(ann=ann, ben=ben, judge=judge, owner=dataset.owner, rosa=rosa, project=project)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def use(control: Locator, *keys: str) -> None:
    control.focus()
    press(control.page, *(keys or ("Enter",)))


def write(control: Locator, words: str) -> None:
    use(control, "Control+a")
    control.page.keyboard.type(words)


def test_a_days_work(open_context, team):
    ann = LabellingPage(open_context(team.ann).new_page(), team.project).open()
    first, skipped, third = label_and_skip(ann)
    assert spans(first, team.ann) == [(4, 11, "harbour")]
    ben = LabellingPage(open_context(team.ben).new_page(), team.project).open()
    for stance in ("6", "1", "6"):  # what Ann skipped comes first; about her first item Ben differs
        ben.answer("1", stance)
    ben.is_saved()
    take_the_skip_back(ann, team, skipped)
    for identifier in KINDS:
        label_kind(ann.page, team.ann, identifier)
    decide_over_a_reload(open_context(team.judge).new_page(), team.project, first)
    settle_a_conflict(open_context, team)
    revise(ann, team, [skipped, third, first])
    the_change_is_said(open_context, team)


def label_and_skip(ann: LabellingPage) -> tuple[str, str, str]:
    first = ann.answer("1", "6", *MARK)
    skipped = ann.assignment
    ann.press("s", "2", "Enter")
    ann.gone(skipped)
    third = ann.answer("1", "6")
    ann.is_saved()
    expect(ann.page.locator(".empty")).to_be_visible()
    return first, skipped, third


def take_the_skip_back(ann: LabellingPage, team: SimpleNamespace, skipped: str) -> None:
    """Both are done, and the item that Ann skipped lacks an answer that nobody else could give."""
    item = Item.objects.get(assignments__uuid=skipped)
    assert item.state == Item.State.STUCK
    ann.page.goto(f"/projects/{team.project.slug}/my-work/")
    use(ann.page.get_by_role("button", name="Take back"))
    ann.at(skipped)
    ann.answer("1", "6")
    ann.is_saved()
    assert Item.objects.get(pk=item.pk).state == Item.State.ACTIVE
    assert stored(skipped, team.ann) == {"relevance": "relevant", "stance": "supports"}


def label_kind(page: Page, ann, identifier: str) -> None:
    keys, expected = KINDS[identifier]
    if identifier == ENTITIES["name"]:
        project = factories.make_label_set_project(ENTITIES, ["Paris met Ada in Paris."], annotators=[ann], overlap=1)
    else:
        dataset = make_answers(1, passages=PASSAGES, triplets=3)
        project = factories.make_project(dataset, identifier, annotators=[ann], overlap=1)
    work = LabellingPage(page, project).open()
    answered = work.answer(*keys)
    work.is_saved()
    rows = Judgement.objects.filter(revision__in=revisions(answered, ann).filter(is_latest=True)).order_by("unit")
    found = [(row.label, list(row.spans.values_list("quote", flat=True))) for row in rows]
    assert found == expected, identifier


def decide_over_a_reload(page: Page, project: Project, first: str) -> None:
    page.goto(f"/projects/{project.slug}/adjudication/")
    item = str(Item.objects.get(assignments__uuid=first).uuid)
    expect(page.locator(f'[data-item="{item}"]')).to_be_visible()
    press(page, "1", "6", "c")
    page.keyboard.type("Ben misread")
    press(page, "Escape")
    highlight(page, 2)
    page.reload()
    expect(page.locator(f'[data-item="{item}"]')).to_be_visible()
    expect(page.get_by_label("Supports").first).to_be_checked()
    expect(page.locator("[data-chips] li")).to_have_count(1)
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Nothing is waiting for a decision")).to_be_visible()
    decided = Decision.objects.in_force().get(dimension="stance")
    assert (decided.label, decided.note, len(decided.spans)) == ("supports", "Ben misread", 1)


def settle_a_conflict(open_context, team: SimpleNamespace) -> None:
    """The owner and Rosa have opened the settings; both changes are kept, and the owner chooses the title."""
    page, hers = (open_context(person).new_page() for person in (team.owner, team.rosa))
    for one in (page, hers):
        one.goto(f"/projects/{team.project.slug}/settings/")
    write(hers.get_by_label("Title"), "Harbours")
    write(hers.get_by_label("Time to answer, in minutes"), "90")
    press(hers, "Enter")
    expect(hers.locator(".message.success")).to_be_visible()
    write(page.get_by_label("Title"), "Ports")
    press(page, "Enter")
    expect(page.locator("[data-conflict]")).to_contain_text("Changed meanwhile by rosa")
    press(page, "Tab", "ArrowDown", "Enter")
    expect(page.locator(".message.success")).to_be_visible()
    team.project.refresh_from_db()
    assert (team.project.title, team.project.lease_minutes) == ("Ports", 90)


def revise(ann: LabellingPage, team: SimpleNamespace, back: list[str]) -> None:
    """Ann goes back to what she answered first, which has been decided since, and thinks better of it."""
    LabellingPage(ann.page, team.project).open()
    for answered in back:
        ann.press("ArrowLeft")
        ann.at(answered)
    first = back[-1]
    ann.answer("ArrowDown", "1")
    ann.is_saved()
    assert stored(first, team.ann) == {"relevance": "relevant", "stance": "refutes"}


def the_change_is_said(open_context, team: SimpleNamespace) -> None:
    page = open_context(team.owner).new_page()
    project, [item] = f"/projects/{team.project.slug}", Item.objects.filter(anchor__decisions__isnull=False).distinct()
    for report in ("agreement", "comparison"):
        page.goto(f"{project}/{report}/")
        work_off()
        page.reload()
        are_computed(page)
        main = page.get_by_role("main")
        expect(main).to_contain_text("1 answer on 1 unit was changed after the decision")
        expect(main).to_contain_text("Stance Supports, now Refutes, decided Supports (1)")
    expect(main).to_contain_text("against decision, else majority")
    desk = open_context(team.judge).new_page()
    desk.goto(f"{project}/adjudication/?item={item.uuid}")
    page.goto(f"{project}/items/{item.uuid}/")
    for one in (desk, page):
        expect(one.get_by_role("main")).to_contain_text("1 answer changed after the decision")
        expect(one.get_by_role("main")).to_contain_text("at the decision: Supports")
    page.goto(f"{project}/exports/")
    use(page.get_by_text("Other formats and labels"))
    use(page.get_by_label("Tables of labels (CSV)"), "Space")
    use(page.get_by_role("button", name="Export", exact=True))
    expect(page.get_by_role("heading", name="Export of")).to_be_visible()
    with page.expect_navigation():  # the page notices by itself
        work_off()
    with page.expect_download() as started:
        use(page.get_by_role("link", name="ratings.csv"))
    rows = list(csv.DictReader(io.StringIO(started.value.path().read_text())))
    changed = [(row["id"], row["at_decision"], row["stance"]) for row in rows if row["at_decision"]]
    assert changed == [(item.key, "stance: supports", "refutes")]
