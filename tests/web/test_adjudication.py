"""Two annotators disagree, and an adjudicator works through the queue by keyboard."""

import uuid

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from annotation.access import assignment_for
from annotation.decisions import adjudicating
from annotation.models import Decision, Membership, Shown
from annotation.work import assigning
from annotation.work.annotating import submit
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.journeys.browser import highlight
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways
from tests.web.pages import AN_HOUR_AHEAD, eventually, sign_in, slow_down

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COLOUR = "(one, name) => getComputedStyle(one)[name]"
TEXT = "The harbour of the old town stayed open all winter, the report says."


@pytest.fixture
def world(ann):
    ben, judge = make_user("ben"), make_user("judge")
    dataset = make_dataset()
    make_claim_evidence(dataset, 3, texts=[TEXT] * 3)
    project = make_project(dataset, overlap=2, order="file", annotators=[ann, ben])
    join(project, judge, Membership.Role.ADJUDICATOR)
    for person, stance, start, end in ((ann, "supports", 4, 11), (ben, "refutes", 8, 24)):
        while assignment := assigning.take(project, person):
            answer(project, person, assignment, stance, start, end)
    return project, judge


def answer(project, person, assignment, stance, start, end) -> None:
    key = assignment.item.key
    span = {"field": "evidence", "start": start, "end": end, "quote": TEXT[start:end]}
    said = [
        {"unit": key, "dimension": "relevance", "label": "relevant"},
        {"unit": key, "dimension": "stance", "label": stance, "spans": [span]},
    ]
    body = {"client_id": str(uuid.uuid4()), "judgements": said, "comment": f"says {person.username}"}
    submit(assignment_for(person, assignment.uuid), person, body)


def in_force(dimension="stance"):
    return list(Decision.objects.in_force().filter(dimension=dimension).order_by("pk").values_list("label", flat=True))


def open_desk(open_context, world, **options):
    project, judge = world
    page = open_context(judge, **options).new_page()
    page.goto(f"/projects/{project.slug}/")
    page.get_by_role("link", name="Adjudicate").click()
    page.locator("[data-item]").wait_for()
    return page


def test_an_adjudicator_works_through_the_queue_by_keyboard(open_context, world):
    page = open_desk(open_context, world)
    first = page.locator("[data-item]").get_attribute("data-item")
    expect(page.locator("input:checked")).to_have_count(0)
    expect(page.locator("[data-waiting]")).to_have_text("3")
    expect(page.locator("ul.said li").first).to_contain_text("Annotator A: ")
    for comment in ("says ann@", "says ben@"):
        expect(page.locator("[data-said-all]")).to_contain_text(comment)
    # Both highlights and where they overlap look different, and letters by colour and by pattern.
    looks = page.locator("mark.said").evaluate_all("marks => marks.map((mark) => mark.style.background)")
    assert len(set(looks)) == 3 and all(looks)
    border = "entries => entries.map((one) => getComputedStyle(one)).map((one) => [one.%s])"
    for way in ("borderInlineStartStyle", "borderInlineStartColor"):
        a, b = page.locator("ul.said").first.locator("li").evaluate_all(border % way)
        assert a != b
    page.keyboard.press("Enter")
    expect(page.locator("[data-status]")).to_contain_text("Choose")
    page.keyboard.press("Shift+A")
    label = page.locator("ul.said li", has_text="Annotator A").last.inner_text()
    # The decision's own highlights: that of A goes, and another one comes.
    page.locator("[data-chips] li .remove").click()
    expect(page.locator("[data-chips] li")).to_have_count(0)
    highlight(page, 2)
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    expect(page.locator("[data-waiting]")).to_have_text("2")
    taken = Decision.objects.in_force().get(dimension="stance")
    assert taken.label in label.lower() and taken.for_guidelines and len(taken.spans) == 1
    assert taken.spans[0]["quote"] == "harbour of" == TEXT[taken.spans[0]["start"] : taken.spans[0]["end"]]
    # Back to the item before by undo, and another decision by digits.
    page.keyboard.press("z")
    expect(page.locator(f'[data-item="{first}"]')).to_be_visible()
    assert in_force() == []
    page.keyboard.press("1")
    page.keyboard.press("6")
    page.keyboard.press("r")
    page.locator("[data-reason]:focus").select_option("slip")
    page.keyboard.press("Tab")
    page.keyboard.type("Ben misread")
    page.keyboard.press("Control+Enter")
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    expect(page.locator("[data-save-state=saved]")).to_be_visible()
    assert set(Decision.objects.in_force().values_list("reason", "note")) == {("slip", "Ben misread")}
    for key in ("x", "2", "Enter"):  # the second item is dropped, and it is thought better of
        page.keyboard.press(key)
    expect(page.locator("[data-waiting]")).to_have_text("1")
    assert list(Decision.objects.in_force().filter(outcome="dropped").values_list("label", flat=True)) == ["", ""]
    page.keyboard.press("z")
    expect(page.locator("[data-waiting]")).to_have_text("2")
    for _ in range(2):
        before = page.locator("[data-item]").get_attribute("data-item")
        for key in ("v", "1", "Enter"):
            page.keyboard.press(key)
        expect(page.locator("ul.said").first).to_contain_text("ben")
        page.keyboard.press("Shift+B")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-item="{before}"]')).to_have_count(0)
    expect(page.get_by_role("heading", name="Nothing is waiting for a decision")).to_be_visible()
    assert len(in_force()) == 3
    assert {row.seen["names"] for row in Decision.objects.in_force().order_by("pk")[2:]} == {True}


def test_an_answer_that_changed_after_the_decision_is_shown_with_what_it_was(open_context, world):
    project, judge = world
    item = project.items.order_by("position").first()
    adjudicating.decide(project, judge, item.anchor, "stance", "supports")
    ben = next(
        one.rater.user for one in item.assignments.select_related("rater__user") if "ben" in one.rater.user.email
    )
    answer(project, ben, item.assignments.get(rater__user=ben), "supports", 4, 11)
    page = open_context(judge).new_page()
    page.goto(f"/projects/{project.slug}/adjudication/?item={item.uuid}")
    changed = page.locator("ul.said li", has_text="at the decision: Refutes")
    expect(changed).to_have_count(1)
    expect(changed).to_contain_text("Supports")
    expect(page.locator("[data-said-all]")).to_contain_text("1 answer changed after the decision.")


def test_what_came_meanwhile_is_said_and_the_choice_is_kept(open_context, world):
    """Ben answers again while the item is open, and another adjudicator opens the same item."""
    project, judge = world
    page = open_desk(open_context, world)
    item = project.items.get(uuid=page.locator("[data-item]").get_attribute("data-item"))
    bens = item.assignments.get(rater__user__username__startswith="ben")
    page.keyboard.press("1")
    page.keyboard.press("6")
    page.keyboard.press("u")
    answer(project, bens.rater.user, bens, "insufficient-neutral", 0, 3)
    page.keyboard.press("Enter")
    expect(page.locator("[data-notices]")).to_contain_text("Another person answered or decided this item while")
    expect(page.locator("ul.said").last).to_contain_text("Neutral")  # as it is now
    assert not Decision.objects.exists()
    for label in ("Supports", "Add to guideline examples"):
        expect(page.get_by_label(label).first).to_be_checked()
    second = join(project, make_user("second"), Membership.Role.ADJUDICATOR)
    other = open_context(second).new_page()
    other.goto(f"/projects/{project.slug}/adjudication/?item={item.uuid}")
    expect(other.locator("[data-notices]")).to_contain_text("Another adjudicator has this item now")
    other.keyboard.press("Shift+A")
    other.keyboard.press("Enter")
    expect(other.locator("[data-notices]")).to_contain_text("Your decision was not stored")
    page.keyboard.press("Enter")
    expect(page.locator("[data-waiting]")).to_have_text("2")
    expect(page.locator("[data-notices]")).not_to_contain_text("Somebody answered")
    assert in_force() == ["supports"] and Decision.objects.filter(decided_by__user=judge).count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_fit_to_be_seen(open_context, world, scheme):
    start = TEXT.index("all winter")
    quoted = {"field": "evidence", "start": start, "end": start + 10, "quote": "all winter"}
    make_suggestions(world[0]).suggestions.filter(dimension="stance").update(spans=[quoted], explanation="It says so.")
    page = open_desk(open_context, world, color_scheme=scheme)
    # What checkers quote is marked in the text, under a letter of the checker's own.
    assert page.locator("mark[data-badge*='a']").count() == 0
    for key in ("v", "2", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.locator("[data-checkers] p").first).to_contain_text("a fake 1")
    assert page.locator("mark[data-badge='a']").all_inner_texts() == ["all winter"]
    page.get_by_role("button", name="Show checkers' labels").click()
    expect(page.locator("mark[data-badge='a']")).to_have_count(1)
    uncut = "node => { const had = node.offsetWidth; node.style.width = 'max-content'; return node.offsetWidth <= had }"
    for width in (390, 1280, 1366):
        resize(page, {"width": width, "height": 800})
        for part in ("#which", "#order"):
            assert page.locator(part).evaluate(uncut), f"{part} is cut at {width} px"
    picture(page, f"adjudication-{scheme}")
    assert grave_problems(page) == []
    middle = "node => { const box = node.getBoundingClientRect(); return box.top + box.height / 2 }"
    rows = [page.locator(part).evaluate(middle) for part in (".brand", "#which", "#beyond", "[data-waiting]")]
    assert max(rows) - min(rows) < 8  # one row, on a common laptop
    resize(page, {"width": 390, "height": 800})
    picture(page, f"adjudication-phone-{scheme}")
    assert not scrolls_sideways(page)


def test_a_decided_label_can_be_read_where_its_question_waits_for_another(open_context, world):
    """By the API a stance can be decided without the relevance that it depends on."""
    project, judge = world
    item = project.items.first()
    adjudicating.decide(project, judge, item.anchor, "stance", "supports")
    page = open_context(judge).new_page()
    page.goto(f"/projects/{project.slug}/adjudication/?item={item.uuid}")
    chosen = page.locator("fieldset:disabled .choice:has(:checked)")
    expect(chosen).to_contain_text("Supports")
    other = page.locator("fieldset:disabled .choice:not(:has(:checked))").first
    for name in ("color", "backgroundColor"):
        assert chosen.evaluate(COLOUR, name) != other.evaluate(COLOUR, name)


def press(page, *keys) -> None:
    for key in keys:
        page.keyboard.press(key)


def item_of(page) -> str:
    return page.locator("[data-item]").get_attribute("data-item")


def at(page, item: str) -> None:
    expect(page.locator(f'[data-item="{item}"]')).to_be_visible()


def test_what_is_not_decided_yet_outlives_a_reload_the_next_item_and_later(open_context, world):
    page = open_desk(open_context, world)
    page.add_init_script(AN_HOUR_AHEAD)
    page.reload()
    page.locator("[data-item]").wait_for()
    first = item_of(page)
    press(page, "1", "6", "u", "r")
    page.locator("[data-reason]").select_option("slip")
    page.locator("[data-comment]").fill("Ben misread")
    press(page, "Escape")
    highlight(page, 2)

    def is_kept() -> None:
        at(page, first)
        for label in ("Relevant", "Supports", "Add to guideline examples"):
            expect(page.get_by_label(label).first).to_be_checked()
        expect(page.locator("[data-reason]")).to_have_value("slip")
        expect(page.locator("[data-comment]")).to_have_value("Ben misread")
        expect(page.locator("[data-chips] li")).to_have_count(1)

    page.reload()
    is_kept()
    press(page, "ArrowRight")
    expect(page.locator("[data-status]")).to_have_text("Press Enter to decide this item, or s to leave it for later")
    is_kept()
    press(page, "s")
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    expect(page.locator("input:checked")).to_have_count(0)
    second = item_of(page)
    page.reload()  # what was left for later comes again
    is_kept()
    with page.expect_response(lambda response: "/decide/" in response.url):
        press(page, "Enter")
    at(page, second)
    row = Decision.objects.in_force().get(dimension="stance")
    assert (row.label, row.reason, row.note, len(row.spans)) == ("supports", "slip", "Ben misread", 1)
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes(':draft:'))") == []


def test_no_single_key_reveals_records_or_drops(open_context, world):
    """`n` and `o` are a label and a view on the labelling page; `x` and `v` ask."""
    page = open_desk(open_context, world)
    asked = []
    page.on("request", lambda request: "/next/" in request.url or asked.append(request.url))
    press(page, "n", "o", "x", "Escape", "v", "Escape", "x", "v", "Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    press(page, "?")
    listed = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(listed).to_contain_text("asks whether no label is right or the item is dropped")
    assert asked == [] and not Decision.objects.exists()
    assert not Shown.objects.filter(what=Shown.LABELS, item=None).exists()


def test_keys_typed_before_the_reply_are_for_the_next_item(open_context, world):
    page = open_desk(open_context, world)
    first, held = item_of(page), []
    page.route("**/decide/**", lambda route: held.append(route))
    press(page, "Shift+A", "Enter", "Enter", "1", "6", "Enter", "Enter")
    eventually(page, lambda: len(held), 1)
    held.pop().continue_()
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    eventually(page, lambda: len(held), 1)  # the second decision, from what was typed
    held.pop().continue_()
    eventually(page, lambda: len(in_force()), 2)
    expect(page.locator("[data-waiting]")).to_have_text("1")
    page.wait_for_timeout(100)
    assert held == []  # an Enter pressed twice decides nothing unseen
    assert in_force()[1] == "supports"


def test_fast_keys_on_a_slow_network_decide_each_item_once(open_context, world):
    page = open_desk(open_context, world)
    slow_down(page)
    press(page, "1", "6", "Enter", "Enter", "1", "1", "Enter", "Enter")
    eventually(page, in_force, ["supports", "refutes"])
    expect(page.locator("[data-waiting]")).to_have_text("1")
    expect(page.locator("[data-save-state=saved]")).to_be_visible()
    press(page, "ArrowLeft")
    expect(page.get_by_label("Refutes").first).to_be_checked()
    press(page, "ArrowDown", "6", "Enter", "Enter")
    eventually(page, in_force, ["supports", "supports"])
    expect(page.locator("[data-save-state=saved]")).to_be_visible()
    assert Decision.objects.filter(dimension="stance").count() == 3


def signed_out(page, project, judge, address):
    Session.objects.all().delete()
    return "You are signed out.", lambda: sign_in(page.context, judge, address)


def somebody_else(page, project, judge, address):
    second = join(project, make_user("second"), Membership.Role.ADJUDICATOR)
    sign_in(page.context, second, address)
    return f"{second} is signed in with this browser now, not you.", lambda: sign_in(page.context, judge, address)


def offline(page, project, judge, address):
    page.context.route("**/decide/**", lambda route: route.abort())
    return "The server cannot be reached.", lambda: page.context.unroute("**/decide/**")


@pytest.mark.parametrize("trouble", [signed_out, somebody_else, offline])
def test_in_trouble_nothing_is_stored_and_what_was_chosen_is_decided_afterwards(
    open_context, world, live_server, trouble
):
    project, judge = world
    page = open_desk(open_context, world)
    first = item_of(page)
    words, end = trouble(page, project, judge, live_server.url)
    press(page, "1", "6", "Enter")
    notices = page.locator("[data-notices]")
    expect(notices).to_contain_text(words)
    expect(notices).to_contain_text("Nothing is lost")
    expect(page.locator("[data-save-text]")).to_have_text("Not saved")
    at(page, first)
    expect(page.get_by_label("Supports").first).to_be_checked()
    assert not Decision.objects.exists()
    end()
    if trouble is offline:
        page.reload()
        expect(page.get_by_label("Supports").first).to_be_checked()
        press(page, "Enter")
    else:
        notices.get_by_role("button", name="Try again").click()
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    expect(notices.locator(".message")).to_have_count(0)
    eventually(page, in_force, ["supports"])  # the next case is there before
    assert Decision.objects.filter(decided_by__user=judge).count() == 2


def test_new_questions_and_another_tab_leave_the_choice_to_the_person(open_context, world):
    project, _ = world
    page = open_desk(open_context, world)
    first = item_of(page)
    project.options_version += 1
    project.save()
    press(page, "1", "6", "Enter")
    expect(page.locator("[data-notices]")).to_contain_text("The questions of this project changed while you had this")
    expect(page.get_by_label("Supports").first).to_be_checked()
    other = page.context.new_page()
    other.goto(page.url)
    at(other, first)
    expect(other.get_by_label("Supports").first).to_be_checked()  # one draft for both
    press(page, "Enter")
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    eventually(page, in_force, ["supports"])
    expect(page.locator("[data-save-state=saved]")).to_be_visible()
    press(other, "ArrowUp", "1", "1", "Enter")
    expect(other.locator("[data-notices]")).to_contain_text("Another person answered or decided this item")
    assert in_force() == ["supports"]
    press(other, "Enter")
    expect(other.locator(f'[data-item="{first}"]')).to_have_count(0)
    eventually(other, in_force, ["refutes"])


def test_the_next_case_is_there_before_the_decision_is_stored_and_back_again_where_it_fails(open_context, world):
    page = open_context(world[1]).new_page()
    with page.expect_response(lambda response: "/next/" in response.url and "keep" in response.request.post_data):
        page.goto(f"/projects/{world[0].slug}/adjudication/")
    first, held = item_of(page), []
    page.wait_for_timeout(100)  # the reply is read
    page.route("**/decide/**", lambda route: held.append(route))
    press(page, "1", "6", "Enter")
    expect(page.locator(f'[data-item="{first}"]')).to_have_count(0)
    second = item_of(page)
    eventually(page, lambda: len(held), 1)
    assert not Decision.objects.exists() and page.locator("[data-save-text]").inner_text() == "Saving"
    press(page, "1")  # waits for the reply
    expect(page.locator("input:checked")).to_have_count(0)
    held.pop().abort()
    at(page, first)
    expect(page.get_by_label("Supports").first).to_be_checked()
    page.unroute("**/decide/**")
    page.locator("[data-notices]").get_by_role("button", name="Try again").click()
    at(page, second)
    eventually(page, in_force, ["supports"])
    expect(page.locator("[data-waiting]")).to_have_text("2")


def test_everything_of_a_case_is_in_sight_at_1280_by_800(open_context, world):
    page = open_desk(open_context, world)
    for part in ("ul.said", ".submit", "[data-said-all]", '[data-field="claim"]', '[data-field="evidence"]'):
        box = page.locator(part).first.bounding_box()
        assert box["y"] >= 0 and box["y"] + min(box["height"], 60) <= 800, part
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
