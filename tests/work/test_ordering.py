"""The order of work by what checkers say, beside a random share, while people work."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from django.db.models import Value
from django.db.models.functions import Concat, StrIndex, Substr
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.models import Assignment, Evidence, Item, Job, SettingsChange, Suggestion
from annotation.projects import item_making
from annotation.work import assigning, diversity, ordering
from tests.factories import make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db


def study(n: int = 12, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n, claims=n)
    ann = make_user()
    project = make_project(dataset, annotators=[ann], overlap=1, seed=5, **fields)
    return project, Annotator(ann, project)


def order(project, name: str, run=None, percent: int = 0) -> list[str]:
    job = ordering.start(project, project.created_by, name, run, percent)
    lifecycle.run_here(job)
    project.refresh_from_db()
    return keys(project)


def keys(project) -> list[str]:
    return list(project.items.order_by("position").values_list("key", flat=True))


def number(key: str) -> int:
    return int(key.split("/e")[1])


def uncertain_run(project):
    run = make_suggestions(project)
    for item in project.items.all():
        Suggestion.objects.filter(run=run, unit=item.anchor).update(probability=0.5 + number(item.key) / 1000)
    return run


def test_the_least_certain_come_first_and_people_get_them_next():
    project, ann = study()
    run = uncertain_run(project)
    held = ann.next()["payload"]["assignment"]
    found = order(project, "uncertain", run)
    assert list(map(number, found)) == list(range(12))
    assert ann.next()["payload"]["assignment"] == held
    ann.submit(ann.next()["payload"])
    first = next(key for key in found if Assignment.objects.get(uuid=held).item.key != key)
    assert Assignment.objects.get(uuid=ann.next()["payload"]["assignment"]).item.key == first
    rows = Assignment.objects.values_list("position", "item__position")
    assert all(own == of_item for own, of_item in rows)
    assert SettingsChange.objects.get().changes == {"order of work": [None, "Where a checker is least certain first"]}


def test_a_random_share_stays_at_random_places_and_can_be_drawn_again():
    project, _ = study(80)
    run = uncertain_run(project)
    found = order(project, "uncertain", run, 40)
    share = {key for key in found if ordering.is_in_random_share(project, key, 40)}
    assert 20 < len(share) < 45
    ranked = [key for key in found if key not in share]
    assert ranked == sorted(ranked, key=number)
    among = [place for place, key in enumerate(found) if key in share]
    assert min(among) < 15 and max(among) > 60
    by_draw = sorted(share, key=lambda key: item_making.seeded(5, "order", key) % item_making.BAND)
    assert [key for key in found if key in share] == by_draw


def test_items_on_which_checkers_differ_come_first():
    project, _ = study()
    with pytest.raises(ordering.OrderingError, match="two checkers"):
        ordering.start(project, project.created_by, "divided")
    labels = {"relevance": "relevant", "stance": "supports"}
    make_suggestions(project, checker="one", labels=labels)
    other = make_suggestions(project, checker="other", labels=labels)
    differing = [item for item in project.items.all() if number(item.key) in (3, 7)]
    for item in differing:
        Suggestion.objects.filter(run=other, unit=item.anchor, dimension="stance").update(label="refutes")
    assert set(map(number, order(project, "divided")[:2])) == {3, 7}


class Topics:
    """In place of the model: texts of one topic have nearly the same vector."""

    def __init__(self):
        self.texts = []

    def keep_in(self, folder):
        pass

    def add(self, texts):
        self.texts += texts

    def vectors(self):
        numbers = [int(text.rsplit(" ", 1)[1].rstrip(".")) for text in self.texts]
        topics = np.eye(5, dtype=np.float32)[[min(one // 8, 4) for one in numbers]]
        noise = np.random.default_rng(3).normal(scale=0.01, size=topics.shape).astype(np.float32)
        near = topics + noise
        return near / np.linalg.norm(near, axis=1, keepdims=True)


def test_different_texts_come_first_and_the_share_and_the_rest_at_random(monkeypatch):
    project, _ = study(80)
    Evidence.objects.all().update(text=Concat(Value("Text "), Substr("key", StrIndex("key", Value("/e")) + 2)))
    monkeypatch.setattr(diversity.registry, "load_retriever", lambda slug: SimpleNamespace(stages=[Topics()]))
    monkeypatch.setattr(diversity, "MOST", 10)
    drawn = keys(project)
    found = order(project, "diverse")
    # Four topics have 8 of 80 texts each: drawn at random, all five are among the first five one time in 250.
    assert {min(number(key) // 8, 4) for key in found[:5]} == set(range(5))
    assert found[0] == drawn[0] and found[10:] == [key for key in drawn if key not in found[:10]]
    assert order(project, "diverse") == found
    mixed = order(project, "diverse", percent=40)
    share = {key for key in mixed if ordering.is_in_random_share(project, key, 40)}
    assert [key for key in mixed if key in share] == [key for key in drawn if key in share]


def test_greedy_centres_are_within_twice_the_best_distance():
    vectors = np.random.default_rng(1).normal(size=(14, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    for k in (2, 3, 4):
        best = min(distance[list(centres)].min(axis=0).max() for centres in combinations(range(14), k))
        assert distance[diversity.farthest_first(vectors, k)].min(axis=0).max() <= 2 * best  # Gonzalez (1985)
    assert diversity.farthest_first(np.repeat(vectors[:2], 3, axis=0), 6) == [0, 3]


def test_switching_back_and_again_keeps_priorities_and_one_place_for_each():
    project, _ = study(40)
    run = uncertain_run(project)
    before = keys(project)
    last = project.items.order_by("-position")[:2]
    assigning.set_priority(project, last, 10)
    for _ in range(2):
        found = order(project, "uncertain", run)
        assert set(found[:2]) == set(before[-2:]) and len(set(found)) == 40
        assert project.items.values("position").distinct().count() == 40
    assert order(project, "random")[2:] == before[:-2]
    assert list(map(number, order(project, "file")[2:])) == sorted(map(number, before[:-2]))


def test_the_page_of_items_orders_them_and_says_what_is_missing():
    project, _ = study(4)
    client = client_of(project.created_by)
    address, items = reverse("project_items_order", args=[project.slug]), reverse("project_items", args=[project.slug])
    assert "Change the order of work" in client.get(items).content.decode()
    assert client.post(address, {"order": "alphabet"}).status_code == 400
    page = client.post(address, {"order": "uncertain"}, follow=True).content.decode()
    assert "Choose the run of a checker" in page
    run = uncertain_run(project)
    sent = {"order": "uncertain", "run": run.uuid, "random_percent": 0}
    job = Job.objects.get(kind="ordering") if client.post(address, sent).status_code == 302 else None
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.result == {"items": 4} and list(map(number, keys(project))) == [0, 1, 2, 3]
    assert Item.objects.filter(state="active").count() == 4
