"""A further judgement is asked for where answers differ: once, within limits, by another person."""

import threading

import pytest
from django.db import connections
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.jobs import lifecycle
from annotation.models import Annotation, Assignment, Disagreement, Item, Job, SettingsChange
from annotation.projects import managing
from annotation.work import further
from annotation.work.queries import work
from tests.factories import MORE_SETTINGS, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator, answers_to
from tests.world import client_of


def places():
    return Assignment.objects.filter(reason=Assignment.Reason.FURTHER)


def study(n: int = 1, people: int = 4, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n)
    users = [make_user() for _ in range(people)]
    fields = {"overlap": 2, "further": "tied", "order": "file"} | fields
    project = make_project(dataset, annotators=users, **fields)
    return project, [Annotator(user, project) for user in users]


def answer(person, choice: int, stance: int | None = None) -> dict:
    """The person's next item, with the labels at these places."""
    payload = person.next()["payload"]
    judgements = answers_to(payload, choice)
    if stance is not None:
        labels = next(one["labels"] for one in payload["dimensions"] if one["slug"] == "stance")
        judgements[-1]["label"] = labels[stance]["value"]
    response = person.submit(payload, judgements)
    assert response.status_code == 200, response.content
    return payload


@pytest.mark.django_db
def test_a_third_person_is_asked_where_two_differ_and_nobody_where_they_agree():
    project, (ann, bob, cleo, dan) = study(2)
    answer(ann, 0), answer(bob, 0)
    assert not places().exists()
    answer(ann, 0)
    assert not places().exists()
    answer(bob, 1)
    [place] = places()
    assert (place.state, place.returned, place.position) == ("open", False, place.item.position)
    assert ann.next()["state"] == bob.next()["state"] == "empty"
    assert work.progress(project, ann_rater(project, ann))["mine_total_open"] == 0
    answer(cleo, 0)
    assert dan.next()["state"] == "empty" and places().count() == 1
    assert Annotation.objects.filter(item=place.item).values("rater").distinct().count() == 3


def ann_rater(project, person):
    return project.raters.get(user=person.user)


@pytest.mark.django_db
@pytest.mark.parametrize(("policy", "n"), [("off", 0), ("tied", 0), ("differ", 1)])
def test_a_majority_is_enough_unless_any_difference_counts(policy, n):
    _, people = study(overlap=3, further=policy, further_most=4)
    for person, choice in zip(people, (0, 0, 1), strict=False):
        answer(person, choice)
    assert places().count() == n


@pytest.mark.django_db
def test_judgements_are_asked_for_up_to_the_most_of_an_item():
    """Three people, three stances: a fourth is asked, and with that the most is reached."""
    project, people = study(people=6, further_most=4)
    for person, stance in zip(people, (0, 1, 2, 3), strict=False):
        answer(person, 0, stance)
    assert places().count() == 2
    assert Assignment.objects.filter(state="done").count() == 4
    assert people[4].next()["state"] == "empty"


@pytest.mark.django_db
def test_only_the_questions_that_are_named_count():
    project, (ann, bob, *_) = study(2, further_questions="relevance")
    answer(ann, 0, 0), answer(bob, 0, 1)
    assert Disagreement.objects.filter(dimension="stance").exists() and not places().exists()
    answer(ann, 0), answer(bob, 1)
    assert places().count() == 1


@pytest.mark.django_db
def test_the_budget_of_the_project_is_kept_and_a_skip_takes_none_of_it():
    _, (ann, bob, cleo, dan) = study(3, further_budget=1)
    for _ in range(3):
        answer(ann, 0), answer(bob, 1)
    assert places().count() == 1
    cleo.skip(cleo.next()["payload"])
    assert sorted(places().values_list("state", flat=True)) == ["open", "skipped"]
    answer(dan, 0)
    assert sorted(places().values_list("state", flat=True)) == ["done", "skipped"]
    source = DatabaseSource(Annotation.objects.get(assignment__reason="further").item.project)
    assert source.has_further() and len(source.further()) == 1


@pytest.mark.django_db
def test_a_changed_answer_that_differs_now_asks_for_another():
    project, (ann, bob, cleo, dan) = study()
    answer(ann, 0)
    payload = answer(bob, 0)
    assert not places().exists()
    assert bob.submit(payload, answers_to(payload, 1)).status_code == 200
    assert places().count() == 1
    bob.submit(payload, answers_to(payload, 1))
    assert places().count() == 1


@pytest.mark.django_db
def test_a_change_of_the_settings_asks_for_items_that_differ_already():
    project, (ann, bob, *_) = study(4, further="off")
    for number in range(3):
        answer(ann, 0), answer(bob, number % 2)
    assert not places().exists()
    answer(ann, 0), answer(bob, 1)
    client = client_of(project.created_by)
    settings = MORE_SETTINGS | {"title": "Ice", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    page = client.post(reverse("project_settings", args=[project.slug]), settings | {"further_questions": "weather"})
    assert "The project asks no question &#x27;weather&#x27;" in page.content.decode()
    with pytest.raises(managing.ProjectError, match="no question 'weather'"):
        managing.update_project(project, further_questions="weather")
    sent = settings | {"further": "tied", "further_most": 3, "further_questions": "", "further_budget": 1}
    assert client.post(reverse("project_settings", args=[project.slug]), sent).status_code == 302
    [job] = Job.objects.filter(kind=Job.Kind.FURTHER)
    lifecycle.run_here(job)
    [place] = places()
    assert place.item == Disagreement.objects.order_by("case__position")[0].case.item
    assert SettingsChange.objects.get().changes["further"] == ["off", "tied"]
    job.refresh_from_db()
    assert job.result == {"asked": 1}


@pytest.mark.django_db
def test_items_not_drawn_get_the_number_of_the_others():
    project, _ = study(40, overlap=3, multiple_share=0.5, other_overlap=2)
    planned = set(Item.objects.values_list("is_multiple", "planned"))
    assert planned == {(True, 3), (False, 2)}


@pytest.mark.django_db
def test_agreement_leaves_out_what_was_asked_for_because_answers_differed():
    project, (ann, bob, cleo, dan) = study(6)
    for number in range(6):
        answer(ann, 0), answer(bob, number % 2)
    for _ in range(3):
        answer(cleo, 0)
    report = get_report("agreement")
    default, with_them = (report.compute(project, quick=True, further=counts) for counts in (False, True))
    assert default["n_further"] == with_them["n_further"] == 3
    shares = {
        name: next(one for one in result["dimensions"] if one["dimension"] == "relevance")["figures"][0]["estimate"]
        for name, result in (("default", default), ("all", with_them))
    }
    assert shares == pytest.approx({"default": 3 / 6, "all": (3 + 3 * 1 / 3) / 6})
    assert "3 answers asked for because the answers of an item differed are left out" in report.methods(default)
    assert "3 answers asked for because the answers of an item differed count" in report.methods(with_them)
    page = client_of(project.created_by).get(reverse("project_agreement", args=[project.slug])).content.decode()
    assert "Judgements asked for where answers differed" in page


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("budget", [0, 5])
def test_two_people_who_submit_the_last_answers_at_once_get_one_third_place(budget):
    n = 12
    project, (ann, bob, *_) = study(n, further_budget=budget)
    barrier, failures = threading.Barrier(2), []

    def work_through(person, choice):
        try:
            for _ in range(n):
                payload = person.next()["payload"]
                barrier.wait()
                response = person.submit(payload, answers_to(payload, choice))
                assert response.status_code == 200, response.content
        except Exception as error:
            failures.append(repr(error))
            barrier.abort()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work_through, args=one) for one in ((ann, 0), (bob, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert places().count() == places().values("item").distinct().count() == (budget or n)


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_people_on_different_items_keep_to_the_budget():
    """Each of eight pairs has an item of its own; the second answers come at once."""
    project, _ = study(8, people=0, further_budget=3)
    items = list(Item.objects.order_by("position"))
    pairs = []
    for item in items:
        first, second = (Annotator(make_user(), project) for _ in range(2))
        for person in (first, second):
            managing.add_member(project, person.user, "annotator")
        Item.objects.exclude(pk=item.pk).update(state="retired")
        Assignment.objects.exclude(item=item).filter(state="open").update(state="cancelled")
        answer(first, 0)
        pairs.append((second, second.next()["payload"]))
        Item.objects.update(state="active")
        Assignment.objects.filter(state="cancelled").update(state="open")
    barrier, failures = threading.Barrier(len(pairs)), []

    def finish(person, payload):
        try:
            barrier.wait()
            assert person.submit(payload, answers_to(payload, 1)).status_code == 200
        except Exception as error:
            failures.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=finish, args=one) for one in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and places().count() == 3 == further.count_asked(project)
