"""What is counted of a project and its people, against libraries, and against what really happened."""

import csv
import random
import uuid
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pandas as pd
import pytest
from django.utils import timezone
from sklearn.metrics import accuracy_score

from analysis.progress import counting, pay, people
from analysis.progress.counting import PersonFigures
from analysis.reports.people.prefill_trial import compute as prefill_trial
from analysis.sources.database import DatabaseSource
from annotation.models import (
    Assignment,
    ConsentForm,
    Decision,
    KeyResult,
    Membership,
    Project,
    Rater,
    Revision,
    Suggestion,
)
from annotation.participation import consent
from annotation.projects.raters import rater_of
from annotation.work import assigning
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.world import client_of, label_one
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

YES, NO = "relevant", "not_relevant"
SUGGESTED = (("fake", YES), ("lexical", NO))


def figures_of(project: Project) -> dict[str, PersonFigures]:
    """By name."""
    values = counting.count_people([project])[project.pk]
    names = dict(project.raters.filter(user__isnull=False).values_list("user_id", "name"))
    return {names[int(who)]: PersonFigures(*of_person) for who, of_person in values["people"].items()}


@pytest.fixture
def said(monkeypatch):
    """Three people on 30 items of two ranges, with their labels and times as a table."""
    monkeypatch.setattr(counting, "ITEMS_AT_ONCE", 13)
    project, draw, rows = project_of(30, overlap=3), random.Random(5), []
    raters = [make_rater(project, name) for name in ("Ann", "Ben", "Cleo")]
    for place, item in enumerate(items_of(project)):
        for rater in raters[: 3 if place % 3 else 2]:
            label, ms = draw.choice((YES, YES, NO)), draw.randrange(1000, 90_000)
            revision = say(item, rater, label, client_id=uuid.uuid4(), active_ms=ms, comment="?" * (place == 4))
            rows.append((place, rater.name, label, ms, revision.annotation_id))
        Decision.objects.create(
            project=project, unit=item.anchor, dimension="relevance", label=YES, method=Decision.Method.ADJUDICATED
        )
    for place, right in ((0, 1), (1, 0)):
        revision = Revision.objects.filter(annotation__rater=raters[0]).order_by("pk")[place]
        item = revision.annotation.item
        KeyResult.objects.create(revision=revision, item=item, rater=raters[0], purpose="check", right=right, asked=1)
    return project, pd.DataFrame(rows, columns=["item", "who", "label", "ms", "annotation"])


def test_figures_of_people_are_those_of_pandas_and_sklearn(said):
    project, table = said
    found = figures_of(project)
    assert set(found) == {"Ann", "Ben", "Cleo"}
    for who, own in table.groupby("who"):
        assert found[who].items == len(own) and found[who].comments == (own["item"] == 4).sum()
        assert found[who].checks == ((1, 2) if who == "Ann" else (0, 0))
        assert found[who].median == pytest.approx(own["ms"].median() / 1000)
        total, n = found[who].decided
        assert total / n == pytest.approx(accuracy_score([YES] * len(own), own["label"])) and n == len(own)
        pairs = own.merge(table[table["who"] != who], on="item")
        by_item = (pairs["label_x"] == pairs["label_y"]).groupby(pairs["item"]).mean()
        total, n = found[who].others
        assert (total, n) == (pytest.approx(by_item.sum(), abs=1e-5), len(by_item))
        order = own.sort_values("annotation")["item"].map(by_item)
        assert found[who].first == (pytest.approx(order[: n // 2].sum(), abs=1e-5), n // 2)
        assert found[who].second == (pytest.approx(order[n // 2 :].sum(), abs=1e-5), n - n // 2)


def test_answers_that_agreement_leaves_out_are_left_out(said):
    project, _ = said
    before = figures_of(project)["Ann"].others
    item = items_of(project)[0]
    Revision.objects.filter(annotation__item=item, annotation__rater__name="Ann").update(labels_seen=True)
    assert figures_of(project)["Ann"].others[1] == before[1] - 1
    Rater.objects.filter(project=project, name="Cleo").update(is_excluded=True)
    assert figures_of(project)["Cleo"].others == (0, 0)


def test_who_follows_suggestions_is_counted_as_in_the_report_on_the_trial(monkeypatch):
    monkeypatch.setattr(counting, "ITEMS_AT_ONCE", 13)
    project, draw = project_of(30, overlap=2), random.Random(7)
    run, other = (make_suggestions(project, checker=name, labels={"relevance": label}) for name, label in SUGGESTED)
    raters = [make_rater(project, name) for name in ("Ann", "Ben", "Cleo")]
    for place, item in enumerate(items_of(project)):
        for rater in raters[:2]:
            shown = draw.random() < 0.7
            first = say(item, rater, draw.choice((YES, YES, NO)), "supports" if place % 2 else None, shown=shown)
            place_of = {"project": project, "item": item, "position": item.position, "rater": rater, "state": "done"}
            exposure = [{"run": str(one.uuid), "suggestions": 1} for one in ((other, run) if place % 5 else (run,))]
            own = Assignment.objects.create(**place_of, exposure=exposure, suggestions_shown_at=timezone.now())
            type(first.annotation).objects.filter(pk=first.annotation_id).update(assignment=own)
            if place % 3 == 0:
                say(item, rater, NO, shown=True)  # a later answer is no first one
    Suggestion.objects.filter(run=run, dimension="stance").delete()
    found = figures_of(project)
    trial, _ = prefill_trial.compute(DatabaseSource(project), run=str(run.uuid))
    reported = {one.name: one for one in trial.dimensions[0].people}
    for who in ("Ann", "Ben"):
        total, n = found[who].followed
        assert n == reported[who].n_seen > 15
        assert total / n == pytest.approx(reported[who].seen.estimate) and 0.4 < total / n < 0.9
    assert "Cleo" not in found


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def project(lead):
    dataset = make_dataset()
    make_claim_evidence(dataset, 8)
    made = make_project(dataset, overlap=1, annotators=[make_user("ann"), make_user("bob")])
    return join(made, lead, Membership.Role.RESEARCHER) and made


def at(minutes: float, rows, **fields) -> None:
    """Set the server's moments of rows."""
    moment = timezone.now().replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=1)
    rows.update(**dict.fromkeys(fields, moment + timedelta(minutes=minutes)))


def test_items_hours_and_states_follow_from_what_the_server_saw(project):
    ann = Membership.objects.get(project=project, user__name="ann").user
    rater = rater_of(project, ann)
    done = [label_one(project, ann) for _ in range(3)]
    assigning.skip(Assignment.objects.get(rater=rater, state="leased"), ann, "unclear", flag=True)
    own = Assignment.objects.filter(rater=rater)
    at(0, own, leased_at=0)
    for minutes, one in zip((2, 11, 31), done, strict=True):  # the third follows a pause of 20 minutes
        at(minutes, Revision.objects.filter(annotation__assignment=one), received_at=0)
    at(36, own.filter(state="skipped"), done_at=0)
    values = counting.count_people([project])[project.pk]
    [figures] = [PersonFigures(*one) for one in values["people"].values()]
    assert (figures.items, figures.skips, figures.flags) == (3, 1, 1)
    assert figures.seconds == (2 + 9 + 5) * 60
    assert values["items"] == {"done": 3, "untouched": 5}
    assert values["places"] == {"done": 3, "skipped": 1, "open": 5}
    assert values["queues"] == {"skips": 1, "flags": 1, "comments": 0}
    assert sum(values["days"].values()) == 3
    project.pay_pause_minutes = 30
    assert figures_of(project)[rater.name].seconds == 36 * 60


def csv_of(client, place: str) -> list[dict]:
    reply = client.get(place)
    assert reply.status_code == 200
    return list(csv.DictReader(StringIO(reply.content.decode())))


def test_pay_is_decimal_and_outlives_a_withdrawal(project, lead):
    ann = Membership.objects.get(project=project, user__name="ann").user
    rater = rater_of(project, ann)
    for _ in range(3):
        label_one(project, ann)
    Rater.objects.filter(pk=rater.pk).update(group="=SUM(A1)")
    settings = {"pay_currency": "eur", "pay_rate": "0.15", "pay_bonus": "1.005", "pay_bonus_items": 3}
    client, place = client_of(lead), f"/projects/{project.slug}/"
    form = client.get(f"{place}settings/").context["form"]
    stored = {name: value for name in form.fields if not isinstance(value := form[name].value(), bool | None)}
    refused = client.post(f"{place}settings/", stored | settings)
    assert "no more than 2 decimal places" in refused.content.decode()
    refused = client.post(f"{place}settings/", stored | {"pay_rate": "1"})
    assert "A rate or a bonus needs a currency" in refused.content.decode()
    saved = client.post(f"{place}settings/", stored | settings | {"pay_bonus": "1.10"})
    assert saved.status_code == 302, saved.context["form"].errors
    consent.publish(project, lead, "Please consent.", ConsentForm.OnWithdrawal.REMOVE)
    consent.give(project, ann, 1)
    at(0, Assignment.objects.filter(rater=rater, state="done"), leased_at=0)
    at(7, Revision.objects.filter(annotation__rater=rater), received_at=0)
    hours = figures_of(project)[rater.name].seconds
    consent.withdraw(project, ann, ann)
    assert figures_of(project)[rater.name].seconds == hours == 7 * 60
    assert Rater.objects.get(pk=rater.pk).is_excluded
    row = next(one for one in csv_of(client, f"{place}pay/people.csv") if one["person"] == rater.pseudonym)
    assert (row["items"], row["amount"], row["bonus"], row["total"]) == ("3", "0.45", "1.10", "1.55")
    assert row["group"] == "'=SUM(A1)" and row["currency"] == "EUR"
    assert "ann" not in row.values() and csv_of(client, f"{place}pay/panel.csv") == []
    page = client.get(f"{place}pay/").content.decode()
    assert "0.15 EUR per item that was answered" in page and "1.55" in page
    project.refresh_from_db()
    project.pay_per, project.pay_rate = Project.PayPer.HOUR, Decimal("12.35")
    shown = people.PersonRow(ann.pk, "Ann", "r-1", "", PersonFigures(items=2, seconds=1000))
    assert pay.pay_of(project, shown).total == Decimal("3.43")  # 3.4305..., and too few items for the bonus
    project.pay_currency, shown.figures.seconds = "JPY", 3600
    assert str(pay.pay_of(project, shown).amount) == "12"
