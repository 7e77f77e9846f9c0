"""Outputs side by side: each person sees them in an order of their own, and chooses by key, by touch or not at all."""

import uuid

import pytest
from playwright.sync_api import expect

from annotation.access import assignment_for
from annotation.formats.records import SHOWN_ORDER, ComparisonRecord, QuestionRecord
from annotation.models import Judgement, Membership, Span
from annotation.work import assigning
from annotation.work.annotating import submit
from tests.factories import join, make_dataset, make_project, make_user
from tests.kinds import bring_in
from tests.web.looks import grave_problems, picture, resize, scrolls_sideways
from tests.web.pages import eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
KIND = "preference/-/1"
TEXTS = {"a": "Short and plain.", "b": "Longer, with a reason.", "c": "A third way."}
SECRET = "secret-model"
PHONE = {"width": 360, "height": 740}


def make(*people, n: int = 8, outputs: int = 2, kind: str = KIND, **fields):
    dataset = make_dataset()
    texts = {f"output_{place}": text for place, text in list(TEXTS.items())[:outputs]}
    rows = [QuestionRecord("q", "What is the best way?")]
    rows += [
        ComparisonRecord(f"{SECRET}/{number}", "q", **texts, system_a=SECRET, system_b=f"{SECRET}-2")
        for number in range(n)
    ]
    bring_in(dataset, rows)
    return make_project(dataset, kind, overlap=len(people), annotators=list(people), order="file", **fields)


def shown(page) -> list[str]:
    """The outputs as they stand on the page, by their letters. After an answer the next item may have to be fetched."""
    expect(page.page.locator(".outputs .text")).not_to_have_count(0)
    texts = page.page.locator(".outputs .text").all_inner_texts()
    letters = {text: place for place, text in TEXTS.items()}
    return [letters[text] for text in texts]


def answers(user) -> list[tuple[str, list[str]]]:
    rows = Judgement.objects.filter(revision__annotation__rater__user=user, dimension="preference").order_by("pk")
    return [(row.label, row.revision.metadata[SHOWN_ORDER]) for row in rows.select_related("revision")]


def test_a_key_chooses_the_output_at_its_place_and_the_order_is_stored(label, ann):
    page = label(make(ann, outputs=3), ann)
    seen = []
    for number in range(8):
        order = shown(page)
        seen.append((order[number % 3], [f"output_{place}" for place in order]))
        expect(page.page.locator(".outputs h2")).to_have_text(["Output 1", "Output 2", "Output 3"])
        expect(page.page.locator(".choice-title")).to_have_text(["Output 1", "Output 2", "Output 3", "Tie", "All bad"])
        assert SECRET not in page.page.content()
        page.press(str(number % 3 + 1), "Enter")
        eventually(page.page, lambda n=number: len(answers(ann)), number + 1)
    assert answers(ann) == seen
    assert len({tuple(order) for _, order in seen}) > 2


def test_people_see_the_outputs_in_different_orders_and_each_always_in_the_same(label, ann):
    bob = make_user()
    project = make(ann, bob, n=12)
    orders = {ann: {}, bob: {}}
    for person, seen in orders.items():
        page = label(project, person)
        for number in range(12):
            for _ in range(2):  # which may be another item, if the reload came before the word that this one is shown
                order = shown(page)
                assert seen.setdefault(page.held.item_id, order) == order
                page.page.reload()
            shown(page)
            page.press("e", "Enter")
            eventually(page.page, lambda p=person, n=number: len(answers(p)), number + 1)
    assert len(orders[ann]) == len(orders[bob]) == 12
    assert orders[ann] != orders[bob]
    assert [label for label, _ in answers(bob)] == ["tie"] * 12


def test_words_are_marked_in_any_output_and_stay_with_the_text_that_they_are_in(label, ann):
    page = label(make(ann), ann)
    second = shown(page)[1]
    page.press("1", "h", "Tab", "Shift+ArrowRight", "Enter", "Escape", "Enter")
    eventually(page.page, lambda: Span.objects.count(), 1)
    span = Span.objects.get()
    assert span.field == f"output_{second}"
    assert TEXTS[span.field[-1]][span.start : span.end] == span.quote


def test_strength_is_asked_where_one_is_better(label, ann):
    page = label(make(ann, kind="preference/strength/1"), ann)
    strength = page.page.locator("[data-group][data-dimension=strength] input").first
    page.press("e")
    expect(strength).to_be_disabled()
    page.press("2")
    expect(strength).to_be_enabled()
    page.press("ArrowDown", "3", "Enter")
    eventually(page.page, lambda: Judgement.objects.filter(dimension="strength", label="much").count(), 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_outputs_are_fit_to_be_seen_and_chosen_by_touch_on_a_phone(label, ann, scheme):
    project = make(ann, outputs=3)
    page = label(project, ann, color_scheme=scheme, has_touch=True)
    picture(page.page, f"preference-desk-{scheme}")
    assert grave_problems(page.page) == []
    resize(page.page, PHONE)
    order = shown(page)
    page.page.locator(".choice").nth(1).tap()
    page.page.get_by_role("button", name="Submit").tap()
    picture(page.page, f"preference-phone-{scheme}")
    assert not scrolls_sideways(page.page)
    eventually(page.page, lambda: [one for one, _ in answers(ann)], [order[1]])


def rankings(user) -> list[str]:
    rows = Judgement.objects.filter(revision__annotation__rater__user=user).order_by("pk")
    return list(rows.values_list("label", flat=True))


def places(page) -> list[str]:
    return page.page.locator(".choice [data-place]").all_inner_texts()


def test_outputs_are_ranked_by_key_and_the_last_one_follows(label, ann):
    page = label(make(ann, outputs=3, kind="ranking/-/1"), ann)
    order = shown(page)
    page.press("2", "3")
    assert places(page) == ["3", "1", "2"]
    page.press("z")
    assert places(page) == ["", "1", ""]
    page.press("1", "Enter")
    eventually(page.page, lambda: rankings(ann), [f"{order[1]}-{order[0]}-{order[2]}"])
    page.press("1", "1", "Enter")  # picked and taken back
    expect(page.page.locator("[data-status]")).to_have_text("Choose: Ranking")
    assert len(rankings(ann)) == 1


def test_equal_outputs_share_a_place_where_ties_are_allowed(label, ann):
    page = label(make(ann, outputs=3, kind="ranking/ties/1"), ann)
    order = shown(page)
    page.press("3", "e", "1")
    assert places(page)[:3] == ["1", "", "1"]
    page.press("2", "Enter")
    eventually(page.page, lambda: rankings(ann), [f"{'.'.join(sorted((order[0], order[2])))}-{order[1]}"])


def test_the_best_and_the_worst_are_picked_by_touch_on_a_phone(label, ann):
    page = label(make(ann, outputs=3, kind="ranking/best-worst/1"), ann, has_touch=True)
    resize(page.page, PHONE)
    order = shown(page)
    for place in (2, 0):
        page.page.locator(".choice").nth(place).tap()
    assert places(page) == ["worst", "", "best"]
    assert grave_problems(page.page) == []
    assert not scrolls_sideways(page.page)
    picture(page.page, "best-worst-phone")
    page.page.get_by_role("button", name="Submit").tap()
    eventually(page.page, lambda: rankings(ann), [f"{order[2]}-_-{order[0]}"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_adjudicators_tell_annotators_from_outputs(open_context, ann, scheme):
    """Both have letters."""
    ben, judge = make_user(), make_user()
    project = make(ann, ben, n=1, outputs=3)
    join(project, judge, Membership.Role.ADJUDICATOR)
    for person, label in ((ann, "b"), (ben, "c")):
        assignment = assigning.take(project, person)
        answer = {"unit": assignment.item.key, "dimension": "preference", "label": label}
        body = {"client_id": str(uuid.uuid4()), "judgements": [answer], "comment": f"chose {label}"}
        submit(assignment_for(person, assignment.uuid), person, body)
    page = open_context(judge, color_scheme=scheme).new_page()
    page.goto(f"/projects/{project.slug}/adjudication/")
    expect(page.locator(".outputs h2")).to_have_text(["Output A", "Output B", "Output C"])
    expect(page.locator(".choice-title")).to_have_text(["Output A", "Output B", "Output C", "Tie", "All bad"])
    answers = page.locator("ul.said li").all_inner_texts()
    assert sorted(one.partition(": ")[2] for one in answers) == ["Output B", "Output C"]
    assert [one.partition(": ")[0] for one in answers] == ["Annotator A", "Annotator B"]
    expect(page.locator(".take button")).to_have_text(["Annotator A ⇧A", "Annotator B ⇧B"])
    first = "b" if answers[0].endswith("Output B") else "c"
    expect(page.locator("[data-said-all]")).to_contain_text(f"Annotator A: chose {first}")
    picture(page, f"preference-adjudication-{scheme}")
    assert grave_problems(page) == []
    page.get_by_role("button", name="Use the answer of Annotator A").click()
    expect(page.locator("input:checked")).to_have_value(first)
