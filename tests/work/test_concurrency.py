"""Sixteen people at once: nobody's label is lost, and each item gets its three judgements by three people.

Runs on whatever DATABASE_URL names: on PostgreSQL in `.ci/run`, on SQLite in `make test-all`.
"""

import contextlib
import io
import random
import threading
import time
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from django.db.models import Count, Q
from django.utils import timezone

from analysis.rules.kinds import RuleError
from analysis.rules.running import run_rule
from annotation.models import Annotation, Assignment, Case, Item, Revision
from annotation.projects.raters import rater_of
from annotation.work import assigning
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator, answers_to

ITEMS = 300 if connection.vendor == "postgresql" else 150  # SQLite has them write one after the other
PEOPLE, OVERLAP = 16, 3
DEADLINE_SECONDS = 300


class Worker(threading.Thread):
    """Takes, answers, skips, dawdles until the lease is gone, and sends things twice, as chance has it."""

    def __init__(self, number, user, project, barrier):
        super().__init__(name=f"annotator-{number}")
        self.random = random.Random(number)
        self.person = Annotator(user, project)
        self.project, self.barrier = project, barrier
        self.late, self.answered, self.acknowledged, self.surplus, self.failures = [], set(), {}, 0, []

    def run(self):
        try:
            self.barrier.wait()
            self.work()
        except Exception as error:
            self.failures.append(repr(error))
        finally:
            connections.close_all()

    def work(self):
        until = time.monotonic() + DEADLINE_SECONDS
        ahead = None
        while time.monotonic() < until:
            given = ahead or self.person.next()
            ahead = None
            if given["state"] == "empty":
                for payload in self.late:
                    self.send(payload)
                self.late = []
                if given["outlook"] == "finished":
                    return
                time.sleep(0.02)
                continue
            payload = given["payload"]
            chance = self.random.random()
            if chance < 0.08:
                status = self.person.skip(payload, "no", flag=chance < 0.03).status_code
                # A late answer to an item that came back to the same person takes it from under them.
                assert status == 200 or (status == 409 and payload["item"] in self.answered)
            elif chance < 0.16:
                self.dawdle(payload)
            else:
                ahead = self.send(payload, want_next=True)["ahead"]
            if self.late and self.random.random() < 0.2:
                self.send(self.late.pop())
        self.failures.append("did not finish in time")

    def dawdle(self, payload):
        Assignment.objects.filter(uuid=payload["assignment"], rater__user=self.person.user, state="leased").update(
            lease_expires_at=timezone.now() - timedelta(seconds=1)
        )
        self.late.append(payload)

    def send(self, payload, **body):
        client_id = str(uuid.uuid4())
        body |= {"comment": "Which port?"} if self.random.random() < 0.05 else {}
        judgements = answers_to(payload, choice=self.random.randrange(2))
        times = 2 if self.random.random() < 0.2 else 1
        for _ in range(times):
            response = self.person.submit(payload, judgements, client_id=client_id, **body)
            assert response.status_code == 200, response.content
            answer = response.json()
            assert self.acknowledged.setdefault(client_id, answer["revision"]) == answer["revision"]
        self.answered.add(payload["item"])
        self.surplus += answer["surplus"] and answer["revision"] == 1
        return answer


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_sixteen_annotators_at_once_give_each_item_its_three_judgements():
    dataset = make_dataset()
    make_claim_evidence(dataset, ITEMS)
    people = [make_user() for _ in range(PEOPLE)]
    project = make_project(dataset, overlap=OVERLAP, annotators=people)
    barrier = threading.Barrier(PEOPLE)
    workers = [Worker(number, user, project, barrier) for number, user in enumerate(people)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        with contextlib.suppress(RuleError):  # nobody has answered yet
            run_rule(project, None, "most", "majority", {"ties": "first"})
        for worker in workers:
            worker.join(timeout=0.3)
    assert [worker.failures for worker in workers if worker.failures] == []

    states = Counter(Assignment.objects.values_list("state", flat=True))
    assert set(states) == {"done", "skipped"} and states["done"] == ITEMS * OVERLAP
    kept = Q(annotations__is_surplus=False)
    judged = Item.objects.annotate(
        rows=Count("annotations", filter=kept), people=Count("annotations__rater", filter=kept, distinct=True)
    )
    assert list(judged.values_list("rows", "people")) == [(OVERLAP, OVERLAP)] * ITEMS
    with_answer = Assignment.objects.filter(state="done", annotation__isnull=False, annotation__is_surplus=False)
    assert with_answer.count() == ITEMS * OVERLAP

    acknowledged = {client: number for worker in workers for client, number in worker.acknowledged.items()}
    stored = {str(client): number for client, number in Revision.objects.values_list("client_id", "number")}
    assert stored == acknowledged
    assert Annotation.objects.filter(is_surplus=True).count() == sum(worker.surplus for worker in workers) > 0

    # What waits for adjudicators was stored with each of these, and with the rule's runs in between.
    call_command("check_cases", project.slug, stdout=(said := io.StringIO()))
    assert said.getvalue().startswith(f"{project.slug}: 0 of ")
    marks = Q(is_flagged=True), Q(is_commented=True), Q(differing__gt=0)
    assert all(Case.objects.filter(one).exists() for one in marks)


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_two_tabs_that_a_person_opens_at_once_hold_one_item():
    dataset = make_dataset()
    make_claim_evidence(dataset, 4)
    person = make_user()
    project = make_project(dataset, overlap=1, annotators=[person])
    rater_of(project, person)  # the one row that both lock
    taken, begun = [], threading.Event()

    def second_tab():
        begun.set()
        try:
            taken.append(assigning.take(project, person))
        finally:
            connections.close_all()

    tab = threading.Thread(target=second_tab)
    with transaction.atomic():
        first = assigning.take(project, person)
        tab.start()
        begun.wait()
        tab.join(timeout=0.5)  # it waits for the first one's transaction, whose row nobody else sees yet
    tab.join()
    assert [assignment.pk for assignment in taken] == [first.pk]
    assert Assignment.objects.filter(state="leased").count() == 1
