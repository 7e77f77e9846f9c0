"""What was answered is never lost: reloads, a server that is away, two tabs, a session that ended."""

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Annotation, Assignment, GuidelineAcknowledgement, Revision
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import (
    AN_HOUR_AHEAD,
    HEARD,
    LabellingPage,
    eventually,
    has_heard,
    sign_in,
    slow_down,
    spans,
    stored,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
API = "**/api/**"
NEXT, SUBMIT = "**/work/next?*", "**/submit"


def state(page: LabellingPage, name: str):
    expect(page.page.locator(f"[data-save-state={name}]")).to_be_visible()


def test_a_draft_survives_a_reload(label, project, ann):
    page = label(project, ann)
    first = page.assignment
    page.press("1", "5", "h", "Enter", "Escape", "c")
    page.page.keyboard.type("not sure")
    page.open()
    assert page.assignment == first
    assert page.chosen() == ["relevant", "insufficient-supports"] and page.chips() == ["Report"]
    assert page.page.locator("[data-comment]").input_value() == "not sure"
    page.answer()
    page.is_saved()
    assert spans(first, ann) == [(0, 6, "Report")]
    assert page.page.evaluate("Object.keys(localStorage).filter(key => key.includes(':draft:'))") == []


@pytest.mark.parametrize("failure", ["no answer", "503"])
def test_answers_wait_while_the_server_is_away_and_are_sent_once(label, project, ann, failure):
    page = label(project, ann)
    page.has_ahead()
    page.page.context.route(
        API, lambda route: route.abort() if failure == "no answer" else route.fulfill(status=503, body="away")
    )
    first = page.answer("2")
    state(page, "waiting")
    expect(page.page.locator("[data-save-text]")).to_have_text("1 waiting to be sent")
    second = page.assignment
    page.press("2", "Enter")
    page.gone(second)
    expect(page.page.locator("#stage")).to_contain_text("No next item yet")
    expect(page.page.locator("[data-save-text]")).to_have_text("2 waiting to be sent")
    assert not Revision.objects.exists()

    page.page.reload()
    expect(page.page.locator("[data-save-text]")).to_have_text("2 waiting to be sent")
    page.page.context.unroute(API)
    page.open()
    page.is_saved()
    assert {stored(one, ann)["relevance"] for one in (first, second)} == {"not_relevant"}
    assert Revision.objects.count() == 2
    assert page.assignment not in (first, second)


def test_an_answer_whose_reply_got_lost_is_stored_once(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    lost = []

    def lose(route):
        lost.append(route.fetch().status)  # it arrives, its answer does not
        route.abort()

    page.page.context.route("**/submit", lose)
    first = page.answer("2")
    state(page, "waiting")
    page.page.context.unroute("**/submit")
    page.is_saved()
    assert lost and set(lost) == {200}
    assert stored(first, ann) == {"relevance": "not_relevant"}
    assert Revision.objects.count() == 1


def test_two_tabs_show_different_items_and_send_each_answer_once(open_context, project, ann):
    context = open_context(ann)
    sent = []
    context.on(
        "request", lambda request: request.url.endswith("/submit") and sent.append(request.post_data_json["client_id"])
    )
    context.add_init_script(HEARD)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    right.open()
    left.has_ahead()
    right.has_ahead()
    answered = []
    for _ in range(3):
        for tab, other in ((left, right), (right, left)):
            tab.page.bring_to_front()
            answered.append(tab.answer("2"))
            tab.is_saved()
            has_heard(other.page, answered[-1])
            other.gone(answered[-1])  # if that tab had it too
    assert len(set(answered)) == len(answered) == 6
    assert Annotation.objects.count() == Revision.objects.count() == len(answered)
    assert len(sent) == len(set(sent)) == len(answered)


def test_an_item_on_its_way_to_one_tab_is_not_shown_there_once_another_tab_answered_it(open_context, project, ann):
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    with left.page.expect_response(NEXT) as offered:
        left.open()
    shown, offer = left.assignment, offered.value.json()
    second = offer["payload"]["assignment"]
    held = []
    right.page.route(NEXT, lambda route: route.continue_() if held else held.append(route))
    right.open()
    assert right.assignment == shown != second
    left.answer("2")
    right.gone(shown)
    assert left.assignment == second
    left.answer("2")
    left.is_saved()
    eventually(right.page, lambda: len(held), 1)
    held[0].fulfill(json=offer)
    expect(right.page.locator("#stage [data-item]")).to_have_count(1)
    assert right.assignment not in (shown, second)
    assert list(Revision.objects.values_list("number", flat=True)) == [1, 1]


def test_what_waits_in_one_tab_is_neither_overwritten_nor_sent_twice_by_another(open_context, project, ann):
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    left.has_ahead()
    context.route("**/submit", lambda route: route.abort())
    first = left.answer("2")
    state(left, "waiting")
    right.open()
    second = right.assignment
    assert second != first
    right.answer("1", "6")
    state(right, "waiting")
    context.unroute("**/submit")
    left.is_saved()
    right.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}
    assert stored(second, ann) == {"relevance": "relevant", "stance": "supports"}
    assert Revision.objects.count() == 2


def test_an_answer_given_while_signed_out_waits_for_the_next_sign_in(label, project, ann, live_server):
    page = label(project, ann)
    page.has_ahead()
    Session.objects.all().delete()
    first = page.answer("2")
    state(page, "blocked")
    expect(page.page.locator("[data-notices]")).to_contain_text("You are signed out. One answer is not sent yet.")
    assert not Revision.objects.exists()
    sign_in(page.page.context, ann, live_server.url)
    page.page.get_by_role("button", name="Try again").click()
    page.is_saved()
    expect(page.page.locator("[data-notices]")).not_to_contain_text("signed out")
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_what_somebody_said_is_never_stored_as_somebody_elses_who_signed_in_beside(label, project, ann, live_server):
    bob = make_user("bob")
    join(project, bob)
    page = label(project, ann, acknowledges=False)
    page.page.context.route(API, lambda route: route.abort())
    page.acknowledge()
    expect(page.page.locator("#stage [data-item]")).to_be_visible()
    first = page.assignment
    page.press("2", "Enter")
    page.gone(first)
    sign_in(page.page.context, bob, live_server.url)
    page.page.context.unroute(API)
    state(page, "blocked")
    expect(page.page.locator("[data-notices]")).to_contain_text(f"{bob} is signed in with this browser now, not you.")
    expect(page.page.locator("[data-notices]")).to_contain_text("sign out there and sign in as yourself")
    expect(page.page.locator("[data-notices]")).not_to_contain_text("You are signed out")
    assert not Revision.objects.exists() and not GuidelineAcknowledgement.objects.exists()
    sign_in(page.page.context, ann, live_server.url)
    page.page.get_by_role("button", name="Try again").click()
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}
    assert GuidelineAcknowledgement.objects.get().rater.user == ann


def test_a_second_device_says_that_it_changes_an_earlier_answer(open_context, project, ann):
    one, other = (LabellingPage(open_context(ann).new_page(), project).open() for _ in range(2))
    first = one.assignment
    assert other.assignment == first
    one.answer("2")
    one.is_saved()
    other.answer("1", "6")
    other.is_saved()
    notices = other.page.locator("[data-notices]")
    expect(notices).to_contain_text("You had answered this item before, on another device")
    assert one.page.locator("[data-notices] .message").count() == 0
    notices.get_by_role("button", name="Open the item").click()
    other.at(first)
    assert other.chosen() == ["relevant", "supports"]


def test_an_answer_that_the_server_refuses_is_kept_and_can_be_opened_again(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    refusal = {"status": 409, "json": {"status": "conflict", "message": "The texts of this item have changed."}}
    page.page.context.route("**/submit", lambda route: route.fulfill(**refusal))
    first = page.answer("2")
    state(page, "blocked")
    expect(page.page.locator("[data-notices]")).to_contain_text("not accepted: The texts of this item have changed.")
    page.page.context.unroute("**/submit")
    page.page.get_by_role("button", name="Open the item").click()
    page.at(first)
    assert page.chosen() == ["not_relevant"]
    page.press("Enter")
    page.gone(first)
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_a_refused_answer_that_was_discarded_leaves_its_item_open_also_after_a_reload(label, ann):
    dataset = make_dataset()
    make_claim_evidence(dataset, 1)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    refusal = {"status": 409, "json": {"status": "conflict", "message": "The texts of this item have changed."}}
    page.page.context.route(SUBMIT, lambda route: route.fulfill(**refusal))
    first = page.assignment
    page.press("2", "Enter")
    state(page, "blocked")
    page.page.context.unroute(SUBMIT)
    page.page.get_by_role("button", name="Discard it").click()
    page.is_saved()
    page.open()
    page.at(first)
    assert page.chosen() == []
    assert not Revision.objects.exists()


def test_people_who_share_a_browser_do_not_share_drafts(open_context, project, ann):
    bob = make_user("bob")
    join(project, bob)
    context = open_context(ann)
    page = LabellingPage(context.new_page(), project).open()
    page.press("1")
    kept = page.page.evaluate("Object.keys(localStorage).filter(key => key.includes(':draft:'))")
    assert len(kept) == 1 and f":{ann.pk}:" in kept[0]


def test_an_item_that_was_offered_while_its_answer_was_on_the_way_does_not_come_back(open_context, project, ann):
    """Somebody is faster than the fetching ahead: the server still holds for them what they have just answered."""
    held = {}

    def hold(route):
        name = "submit" if route.request.method == "POST" else "next"
        if name in held:
            return route.continue_()
        held[name] = route, route.fetch() if name == "next" else None

    context = open_context(ann)
    context.route(NEXT, lambda route: route.abort())
    page = LabellingPage(context.new_page(), project)
    with page.page.expect_event("requestfailed", lambda request: "work/next" in request.url):
        page.open()
    first = page.assignment
    context.unroute(NEXT)
    context.route(NEXT, hold)
    context.route(SUBMIT, hold)
    page.press("2", "Enter")
    eventually(page.page, lambda: sorted(held), ["next", "submit"])
    offered, reply = held["next"]
    assert reply.json()["payload"]["assignment"] == first
    held["submit"][0].continue_()
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    second = page.assignment
    with page.page.expect_event("requestfinished", lambda request: "work/next" in request.url):
        offered.fulfill(response=reply)
    page.answer("2")
    assert page.assignment not in (first, second)
    page.is_saved()
    assert list(Revision.objects.values_list("number", flat=True)) == [1, 1]


def test_what_waited_since_before_a_reload_is_not_offered_again_by_a_reply_that_it_overtook(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    context, held = page.page.context, []
    context.route(API, lambda route: route.abort())
    first = page.answer("2")
    state(page, "waiting")
    context.unroute(API)
    context.route(SUBMIT, lambda route: route.continue_() if held else route.abort())
    context.route(NEXT, lambda route: route.continue_() if held else held.append((route, route.fetch())))
    page.page.reload()
    eventually(page.page, lambda: len(held), 1)
    [(offered, reply)] = held
    assert reply.json()["payload"]["assignment"] == first
    page.is_saved()
    with page.page.expect_event("requestfinished", lambda request: "work/next" in request.url):
        offered.fulfill(response=reply)
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    second = page.answer("2")
    page.is_saved()
    assert len({first, second, page.assignment}) == 3
    assert list(Revision.objects.values_list("number", flat=True)) == [1, 1]


@pytest.mark.parametrize("is_skip", [False, True], ids=["answer", "skip"])
def test_what_is_stored_while_the_page_is_loaded_anew_does_not_come_back(label, project, ann, is_skip):
    page = label(project, ann)
    page.has_ahead()
    context = page.page.context
    context.route(API, lambda route: route.abort())
    first = page.skip() if is_skip else page.answer("2")
    state(page, "waiting")
    made_before = context.request.get(page.page.url)
    assert f'data-item="{first}"' in made_before.text()
    context.unroute(API)
    page.is_saved()
    context.route("**/work/", lambda route: route.fulfill(response=made_before))
    page.open()
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    assert page.assignment != first
    page.answer("2")
    page.is_saved()
    assert Assignment.objects.get(uuid=first).state == ("skipped" if is_skip else "done")
    assert list(Revision.objects.values_list("number", flat=True)) == [1] * (1 if is_skip else 2)


def test_what_one_tab_settled_is_known_after_another_tab_settled_something_else(open_context, project, ann):
    context = open_context(ann)
    left, right = (LabellingPage(context.new_page(), project) for _ in range(2))
    left.open()
    made_before = context.request.get(left.page.url)
    left.has_ahead()
    right.open()
    right.has_ahead()
    assert f'data-item="{left.assignment}"' in made_before.text()
    first = left.answer("2")
    left.is_saved()
    right.gone(first)
    second = right.answer("2")
    right.is_saved()
    third = right.skip()
    right.is_saved()
    context.route("**/work/", lambda route: route.fulfill(response=made_before))
    left.open()
    expect(left.page.locator("#stage [data-item]")).to_have_count(1)
    assert left.assignment not in (first, second, third)


def test_a_skip_whose_reply_got_lost_is_stored_once_and_its_item_does_not_come_back_after_a_reload(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    lost = []

    def lose(route):
        lost.append(route.fetch().status)  # it arrives, its answer does not
        route.abort()

    page.page.context.route("**/skip", lose)
    first = page.skip()
    state(page, "waiting")
    page.page.context.unroute("**/skip")
    page.open()
    expect(page.page.locator("#stage [data-item]")).to_have_count(1)
    assert page.assignment != first
    page.is_saved()
    assert lost and set(lost) == {200}
    item = Assignment.objects.get(uuid=first).item_id
    assert sorted(Assignment.objects.filter(item=item).values_list("state", flat=True)) == ["open", "skipped"]


def test_fast_keys_on_a_slow_network_answer_each_item_once(label, project, ann):
    page = label(project, ann)
    page.has_ahead()
    slow_down(page.page)
    first = page.assignment
    page.press("1", "6", "Enter", "Enter")  # pressed twice, it answers nothing unseen
    page.gone(first)
    second = page.assignment
    page.press("2", "ArrowLeft")  # back to the first, and forth again
    page.at(first)
    page.press("ArrowDown", "1", "Enter")
    page.at(second)
    page.press("Enter", "Enter")
    page.gone(second)
    page.is_saved()
    assert stored(first, ann) == {"relevance": "relevant", "stance": "refutes"}
    assert stored(second, ann) == {"relevance": "not_relevant"}
    assert Revision.objects.filter(is_latest=True).count() == 2


def test_answers_of_a_clock_that_is_ahead_have_the_servers_time(label, project, ann):
    page = label(project, ann)
    page.page.add_init_script(AN_HOUR_AHEAD)
    page.open()
    before = timezone.now()
    for _ in range(3):
        page.answer("2")
    page.is_saved()
    times = list(Revision.objects.order_by("pk").values_list("received_at", "active_ms"))
    assert len(times) == 3 and all(before <= received <= timezone.now() for received, _ in times)
    assert all(0 <= active < 60_000 for _, active in times)


def test_a_clock_that_is_set_back_meanwhile_keeps_nobody_waiting(label, project, ann):
    project.minimum_seconds = 1
    project.save()
    page = label(project, ann)
    page.page.wait_for_timeout(1000)
    page.page.evaluate("() => { const now = Date.now; Date.now = () => now() - 3600000; }")
    first = page.answer("2")
    page.is_saved()
    assert stored(first, ann) == {"relevance": "not_relevant"}


def test_a_persons_own_keys_act_and_are_printed(label, project, ann):
    ann.own_keys = {"skip": "k", "flag": "s", "highlight": "y"}
    ann.save()
    page = label(project, ann)
    assert page.page.locator('[data-do="skip"] kbd').inner_text() == "k"
    assert page.page.locator('[data-do="flag"]').get_attribute("aria-keyshortcuts") == "s"
    page.press("1", "y")
    assert "arrows move" in page.status
    page.press("y", "h")
    assert "arrows move" not in page.status
    page.press("s")
    expect(page.page.get_by_role("heading", name="Flag this item for the researcher")).to_be_visible()
    page.press("Escape", "?")
    help = page.page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(help.locator("dt", has_text="k").filter(has_text="k").first).to_be_visible()
