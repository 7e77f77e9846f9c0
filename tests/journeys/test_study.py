"""A study from the panel's link to the release: people of different skill consent, learn, qualify and work in arms of
a trial, an adjudicator decides where they differ, and the release holds what happened."""

import csv
import json
import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace

import pandas
import pytest
from django.core.management import call_command
from django.db.models import F
from playwright.sync_api import Page, expect

from analysis.reports.metrics import get_report
from annotation.formats.content.assay import instant_text
from annotation.models import Assignment, Decision, Item, KeyResult, Membership, Participation, Revision, Suggestion
from annotation.participation import consent, joining, links, questionnaires
from annotation.participation.panels import PanelIds
from annotation.projects import label_sets
from annotation.work import assigning
from annotation.work.learning import keys
from tests import factories
from tests.participation.test_questionnaires import ABOUT
from tests.web.pages import LabellingPage, eventually
from tests.work.browser import Annotator, answers_to
from tests.work.test_arms import drawn_again

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LABELS = ("relevant", "not_relevant")
N_ITEMS, SEED, SHOWN, AFTER = 60, 7, 40, 20
PURPOSES = {"training": 1, "qualification": 2, "check": 4}
ENDINGS = {"complete": "C0DE1", "failed": "C0DE4"}
MADE_UP_PANEL = "5f00aa"  # in the id of every participant
AHEAD = 7  # items that may be ready, each held for ten minutes of an hour and more
PAY = {"pay_per": "item", "pay_rate": Decimal("0.15"), "pay_currency": "GBP"}
COMMENT, FLAG = WORDS = ("Which of the two harbours?", "The text is cut")
REPLIES = ("The one in the claim.", "It was so in print.")

# Whether the browser could show the item without a connection.
KEEPS = """async (assignment) => {
  const [name] = await caches.keys(), kept = name ? await (await caches.open(name)).keys() : [];
  const registration = await navigator.serviceWorker.getRegistration();
  return Boolean(registration?.active) && kept.some((one) => one.url.endsWith(assignment));
}"""


@pytest.fixture
def study(settings, tmp_path):
    """Half of all items are relevant, and half of the suggestions on either say so."""
    settings.MEDIA_ROOT = tmp_path
    lead, judge = factories.make_user("lead", is_staff=True), factories.make_user("judge")
    dataset = factories.make_dataset(lead)
    factories.make_claim_evidence(dataset, N_ITEMS + sum(PURPOSES.values()), claims=N_ITEMS + sum(PURPOSES.values()))
    rules = {"prefill": "drawn", "prefill_shown_percent": SHOWN, "prefill_after_percent": AFTER}
    rules |= {"further": "differ", "further_most": 3, "check_every": 5, "pass_percent": 100, "qualification_tries": 1}
    rules |= {"items_ahead": AHEAD} | PAY
    project = factories.make_project(
        dataset, "claim-evidence/three-way/1", researchers=[lead], overlap=2, order="file", seed=SEED, **rules
    )
    factories.join(project, judge, Membership.Role.ADJUDICATOR)
    factories.make_suggestions(project)
    truths = {}
    for number, item in enumerate(Item.objects.order_by("position")):
        truths[item.key] = number % 2
        wrong = number // 2 % 2
        of_item = Suggestion.objects.filter(unit=item.anchor)
        of_item.filter(dimension="relevance").update(label=LABELS[(number + wrong) % 2])
        of_item.filter(dimension="stance").update(label="supports")
    set_apart(project, lead, truths)
    consent.publish(project, lead, "# Harbours\n\nWe store what you answer.", consent.KEEP)
    about = label_sets.save_label_set(lead, ABOUT)
    questionnaires.publish(project, lead, "screening", about.identifier, {"language": ["other"]})
    of_panel = {"panel": "prolific", "endings": ENDINGS, "most_items": 6}
    link = links.make_link(project, lead, title="Harbours", places=20, **of_panel)
    crowd = links.make_link(project, lead, title="Harbours, the crowd", places=20, most_items=16)
    project.refresh_from_db()
    return SimpleNamespace(project=project, lead=lead, judge=judge, truths=truths, link=link, crowd=crowd)


def set_apart(project, lead, truths) -> None:
    items = iter(Item.objects.order_by("position"))
    for purpose, n in PURPOSES.items():
        for item in [next(items) for _ in range(n)]:
            right = [{"unit": item.key, "dimension": "relevance", "label": LABELS[truths[item.key]]}]
            keys.set_apart(project, item, lead, purpose, right, reason="The report is about the *harbour*.")


def test_a_study_from_the_panel_to_the_release(open_context, study, tmp_path):
    kim = arrive(open_context().new_page(), study, "kim")
    learn(kim, study, is_right=True)
    ravi = arrive(open_context().new_page(), study, "ravi")
    learn(ravi, study, is_right=False)
    expect(ravi.page.locator("#stage")).to_contain_text("Finish the study")
    ends(ravi, ENDINGS["failed"])
    lead = open_context(study.lead).new_page()
    work_in_chromium(kim, study)
    reply(lead, study)
    reads_the_replies(kim, study)
    ends(kim, ENDINGS["complete"])
    work_of_the_crowd(study)
    third_judgements_were_asked_where_two_differ(study)
    decide(open_context(study.judge).new_page(), study)
    pay(lead, study)
    lines = released(study, tmp_path)
    the_release_says_what_happened(study, lines)
    the_trial_finds_what_was_planted(study)


def arrive(page: Page, study, name: str) -> LabellingPage:
    page.goto(f"/join/{study.link.token}/?PROLIFIC_PID={MADE_UP_PANEL}-{name}&STUDY_ID=s1&SESSION_ID=v-{name}")
    page.get_by_role("button", name="Join the study").click()
    page.get_by_role("link", name="Read and decide").first.click()
    page.get_by_role("button", name="I consent", exact=True).click()
    page.get_by_label("English").check()
    page.get_by_label("Age", exact=True).fill("41")
    page.get_by_label("News").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="About you")).to_have_count(0)
    name_rater(study, f"{MADE_UP_PANEL}-{name}", f"r-{name}")
    return LabellingPage(page, study.project).open()


def name_rater(study, participant: str, pseudonym: str) -> None:
    """Arms and checks are drawn by it, and are to be the same each time."""
    user = Participation.objects.get(panel_participant=participant).user
    study.project.raters.filter(user=user).update(pseudonym=pseudonym)


def learn(who: LabellingPage, study, *, is_right: bool) -> None:
    """Training is read and right or wrong; one wrong answer is enough to fail."""
    feedback = who.page.locator("[data-feedback]")
    for _ in range(PURPOSES["training"] + PURPOSES["qualification"]):
        answer_in_chromium(who, study, is_right=is_right, waits=True)
        expect(feedback).to_be_visible()
        who.press("Enter")
        expect(feedback).to_have_count(0)


def answer_in_chromium(who: LabellingPage, study, *, is_right: bool = True, waits: bool = False) -> str:
    truth = study.truths[who.held.item.key]
    chosen = ("1", "3") if truth == (0 if is_right else 1) else ("2",)
    if waits:
        who.press(*chosen, "Enter")
        return who.assignment
    return who.answer(*chosen)


def work_in_chromium(kim: LabellingPage, study) -> None:
    """Six items: one with a comment, three in an hour without a connection, and one that is flagged besides."""
    kim.press("c")
    kim.page.keyboard.type(COMMENT)
    kim.press("Escape")
    answer_in_chromium(kim, study)
    flagged = kim.assignment
    kim.press("f")
    kim.page.locator("#skip-reason").fill(FLAG)
    kim.page.locator("[data-skip-confirm]").click()
    kim.gone(flagged)
    expect(kim.page.locator("[data-ready]")).not_to_have_text("0 ready")
    kim.is_saved()
    an_hour_without_a_connection(kim, study)
    for _ in range(2):
        answer_in_chromium(kim, study)
    kim.is_saved()


def an_hour_without_a_connection(kim: LabellingPage, study) -> None:
    """What is held stays so, a reload shows the page, and answers are sent once and in order."""
    context = kim.page.context
    eventually(kim.page, lambda: kim.page.evaluate(KEEPS, kim.assignment), True)
    context.set_offline(True)
    without = [answer_in_chromium(kim, study)]
    here = kim.assignment
    kim.page.reload()
    kim.at(here)
    without += [answer_in_chromium(kim, study) for _ in range(2)]
    held = Assignment.objects.filter(project=study.project, state="leased")
    n_held, hour = held.count(), timedelta(hours=1)
    held.update(leased_at=F("leased_at") - hour, lease_expires_at=F("lease_expires_at") - hour)
    assert not Revision.objects.filter(annotation__assignment__uuid__in=without).exists()
    assert not assigning.return_expired_leases(study.project) and held.count() == n_held
    context.set_offline(False)
    kim.is_saved()
    stored = Revision.objects.filter(annotation__assignment__uuid__in=without).order_by("pk")
    assert [str(one) for one in stored.values_list("annotation__assignment__uuid", flat=True)] == without


def reply(lead: Page, study) -> None:
    """To the flag, whose words are the newest, and to the comment."""
    for n, (words, answer) in enumerate(zip(reversed(WORDS), reversed(REPLIES), strict=True)):
        lead.goto(f"/projects/{study.project.slug}/comments/?filter=unanswered")
        row = lead.get_by_role("row").filter(has_text=words)
        expect(lead.get_by_role("row")).to_have_count(3 - n)
        row.get_by_role("link").first.click()
        lead.get_by_label("Reply").fill(answer)
        lead.get_by_role("button", name="Send").click()
        expect(lead.get_by_text("Your reply was stored")).to_be_visible()


def reads_the_replies(kim: LabellingPage, study) -> None:
    for n, answer in enumerate(reversed(REPLIES)):
        kim.page.goto(f"/projects/{study.project.slug}/my-work/?filter=replied")
        new = kim.page.get_by_role("link", name="new reply")
        expect(new).to_have_count(2 - n)
        kim.page.get_by_role("row").filter(has_text=WORDS[1 - n]).get_by_role("link", name="new reply").click()
        expect(kim.page.get_by_text(answer)).to_be_visible()
    kim.open()


def ends(who: LabellingPage, code: str) -> None:
    who.page.get_by_role("link", name="Finish the study").click()
    if who.page.get_by_role("button", name="Finish the study").count():
        who.page.get_by_role("button", name="Finish the study").click()
    expect(who.page.locator("#code")).to_have_text(code)


def work_of_the_crowd(study) -> None:
    """Eleven who know three answers in four, and take four in five suggestions that they see as they are; one answers
    at random."""
    chance = random.Random(11)
    for number in range(12):
        ids = PanelIds(f"{MADE_UP_PANEL}-{number}", "s1", f"v-{number}")
        joined, _ = joining.join_as_new(study.crowd, ids)
        consent.give(study.project, joined.user, 1)
        asked = questionnaires.newest(study.project, "screening")
        questionnaires.store(asked, joined.user, {"language": "en", "age": "30", "reads": "news"})
        name_rater(study, ids.participant, f"r-{number}")
        who = Annotator(joined.user, study.project)
        who.acknowledge()
        knows = 0.5 if number == 11 else 0.75
        while (given := who.next())["state"] == "item":
            answer_one(who, given["payload"], study, knows, chance)
        who.client.post(f"/projects/{study.project.slug}/taking-part/finish/")


def answer_one(who: Annotator, payload: dict, study, knows: float, chance: random.Random) -> None:
    row = Assignment.objects.select_related("item").get(uuid=payload["assignment"])
    truth = study.truths[row.item.key]
    choice = truth if row.reason in Assignment.LEARNING or chance.random() < knows else 1 - truth
    seen = [LABELS.index(one["label"]) for one in payload["suggestions"] if one["dimension"] == "relevance"]
    more = {}
    if seen:
        who.post(payload["assignment"], "shown", {"suggestions": True})
        row.refresh_from_db()
        more["suggestions_shown_at"] = row.suggestions_shown_at.isoformat()
        choice = seen[0] if chance.random() < 0.8 else choice
    reply = who.submit(payload, answers_to(payload, choice), **more)
    assert reply.status_code == 200, reply.content


def third_judgements_were_asked_where_two_differ(study) -> None:
    done = Assignment.objects.filter(project=study.project, state="done")
    planned, further = ({}, {})
    for row in done.exclude(reason__in=Assignment.NO_WORK).select_related("item"):
        (further if row.reason == "further" else planned).setdefault(row.item.key, []).append(row)
    two = {key: rows for key, rows in planned.items() if len(rows) == 2}
    assert len(two) == N_ITEMS
    for key, rows in two.items():
        first, second = (labels_of(row) for row in rows)
        asked = Assignment.objects.filter(item__key=key, item__project=study.project, reason="further").count()
        assert asked == (1 if first != second else 0), key


def labels_of(row: Assignment) -> dict[str, str]:
    latest = row.annotation.revisions.get(is_latest=True)
    return dict(latest.judgements.values_list("dimension", "label"))


def decide(page: Page, study) -> None:
    """The first three that differ, by their truth."""
    page.goto(f"/projects/{study.project.slug}/adjudication/")
    for n in range(1, 4):
        place = page.locator("[data-item]").first
        item = Item.objects.get(uuid=place.get_attribute("data-item"))
        for key in ("1", "3") if study.truths[item.key] == 0 else ("2",):
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-item="{item.uuid}"]')).to_have_count(0)
        decided = Decision.objects.in_force().filter(project=study.project, dimension="relevance")
        eventually(page, decided.count, n)


def pay(lead: Page, study) -> None:
    """By the panel's ids: each answer to work and checks has its price."""
    lead.goto(f"/projects/{study.project.slug}/pay/")
    with lead.expect_download() as started:
        lead.get_by_role("link", name="Download with panel ids").click()
    with open(started.value.path()) as file:
        paid = {row["panel_participant"]: row for row in csv.DictReader(file)}
    answers = Revision.objects.filter(number=1).exclude(annotation__assignment__reason__in=Assignment.LEARNING)
    for one in study.project.participations.all():
        row, n = paid.pop(one.panel_participant), answers.filter(annotation__rater__user=one.user).count()
        assert (row["items"], row["outcome"]) == (str(n), one.state)
        assert Decimal(row["total"]) == n * PAY["pay_rate"] and row["currency"] == "GBP"
        assert n == {"kim": 6, "ravi": 0}.get(one.panel_participant.rpartition("-")[2], n)
    assert not paid


def released(study, folder) -> dict:
    call_command("release", study.project.slug, str(folder / "release"))
    files = {path.name: path for path in (folder / "release").rglob("*.jsonl")}
    return {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in files.items()} | {
        "folder": folder / "release",
        "text": [
            "\n".join(path.read_text(errors="replace") for path in (folder / "release").rglob("*") if path.is_file())
        ],
    }


def the_release_says_what_happened(study, lines) -> None:
    [text] = lines["text"]
    for user in [one.user for one in Participation.objects.select_related("user")]:
        assert MADE_UP_PANEL not in text and user.username not in text and user.name not in text
    project, work = study.project, Assignment.objects.filter(project=study.project, state="done")
    rows = work.exclude(reason__in=Assignment.NO_WORK).select_related("item", "rater", "annotation")
    released = {(line["item"], line["annotator"]): line for line in lines["annotations.jsonl"]}
    assert len(released) == rows.count(), "neither training, nor qualification, nor checks"
    arms = {(line["item"], line["rater"]): line for line in lines["answers.jsonl"]}
    for row in rows:
        place = row.item.key, row.rater.pseudonym
        drawn = drawn_again(SEED, row.item.key, row.rater.pseudonym, SHOWN, AFTER)
        assert row.prefill_arm == arms[place]["arm"] == drawn
        latest = row.annotation.revisions.get(is_latest=True)
        assert released[place]["suggestion_shown"] == latest.suggestion_shown
        assert (row.suggestions_shown_at is not None) == bool(latest.suggestion_shown)
        exposures = [(one["run"], one.get("shown_at")) for one in arms[place].get("exposures", [])]
        assert exposures == [(one["run"], instant_text(row.suggestions_shown_at)) for one in row.exposure]
        times = released[place]["submitted_at"], released[place]["active_ms"]
        assert times == (instant_text(latest.received_at), latest.active_ms)
        assert {one["dimension"]: one["label"] for one in released[place]["judgements"]} == labels_of(row)
    assert Counter(row.prefill_arm for row in rows).keys() == {"off", "shown", "after"}
    decided = {line["unit"]: line["label"] for line in lines["decisions.jsonl"] if line["dimension"] == "relevance"}
    assert decided == {key: LABELS[study.truths[key]] for key in decided} and len(decided) == 3
    table = pandas.read_parquet(lines["folder"] / "data" / "judgements").drop_duplicates(["unit", "annotator"])
    by_table = {(row.unit, row.annotator): row.arm for row in table.itertuples()}
    assert by_table == {place: arms[place]["arm"] for place in released}
    comment, flag = ([{"by": "researcher", "text": words}] for words in REPLIES)
    [commented] = [line for line in lines["annotations.jsonl"] if line["comment"]]
    assert commented["comment"] == COMMENT and without_times(commented["replies"]) == comment
    [skip] = lines["skips.jsonl"]
    assert (skip["rater"], skip["reason"], skip["flagged"]) == ("r-kim", FLAG, True)
    assert without_times(skip["replies"]) == flag
    # In the record, and in no figure.
    results = KeyResult.objects.filter(item__project=project)
    columns = ("rater", "item", "purpose", "right", "asked")
    stored = results.values_list("rater__pseudonym", "item__key", *columns[2:])
    assert Counter(stored) == Counter(tuple(map(line.get, columns)) for line in lines["key_results.jsonl"])
    assert results.filter(purpose="qualification").values("rater").distinct().count() == 14
    assert results.filter(purpose="check").count() > 12


def without_times(replies: list[dict]) -> list[dict]:
    return [{name: value for name, value in one.items() if name != "at"} for one in replies]


def the_trial_finds_what_was_planted(study) -> None:
    """Of wrong suggestions people follow four in five and else know better three times in four: .85 against .25."""
    for key, truth in study.truths.items():
        unit = Item.objects.get(project=study.project, key=key).anchor
        values = {"project": study.project, "unit": unit, "dimension": "relevance", "label": LABELS[truth]}
        Decision.objects.create(method="imported", **values)
    report = get_report("prefill-trial").compute(study.project, reference="imported")
    [question] = [one for one in report["dimensions"] if one["dimension"] == "relevance"]
    effect = {row["stratum"]: row["difference"] for row in question["strata"]}
    assert effect["wrong"]["low"] > 0 and effect["wrong"]["low"] < 0.6 < effect["wrong"]["high"]
