"""Further judgements where labels are uncertain: who is asked, and what is said of stopping early is true."""

from datetime import timedelta
from math import comb

import numpy as np
import pytest
from django.utils import timezone

from analysis.rules import certainty
from analysis.stats import Labels, dawid_skene
from annotation.jobs import lifecycle
from annotation.models import Assignment, Job, Project
from annotation.work import further
from tests.work.test_further import answer, places, study

RATERS, UNITS, FEW, ALL = 6, 400, 2, 5


def draw(rng, dependence: float) -> tuple[np.ndarray, np.ndarray]:
    """Who labels each unit in which order, and what they answer. With `dependence` some units lead people astray."""
    truth, skill = rng.random(UNITS) < 0.4, rng.uniform(0.65, 0.95, RATERS)
    raters = np.argsort(rng.random((UNITS, RATERS)), axis=1)[:, :ALL]
    is_hard = rng.random(UNITS) < dependence
    right = rng.random((UNITS, ALL)) < np.where(is_hard[:, None], 0.35, skill[raters])
    return raters, np.where(right, truth[:, None], ~truth[:, None]).astype(int)


def fitted(raters: np.ndarray, values: np.ndarray, kept: np.ndarray):
    unit, place = np.nonzero(kept)
    return dawid_skene(Labels(unit, raters[unit, place], values[unit, place], UNITS, ("no", "yes")), 40, 1e-4)


@pytest.mark.parametrize("dependence", [0.0, 0.2])
def test_the_bound_on_labels_that_stopping_changes_is_false_in_one_study_of_twenty(dependence):
    """Drawn units have five labels, the others two; what the others would have got from five is known here."""
    rng, n, false = np.random.default_rng(7), 200, 0
    for _ in range(n):
        raters, values = draw(rng, dependence)
        is_drawn = rng.random(UNITS) < 0.2
        early = np.arange(ALL) < FEW
        first = fitted(raters, values, np.broadcast_to(early, (UNITS, ALL)))
        full = fitted(raters, values, early | is_drawn[:, None])
        every = fitted(raters, values, np.ones((UNITS, ALL), dtype=bool))
        items = np.arange(UNITS)
        n_certain, n_changed = certainty.count_changed([first], [full], items, is_drawn, 0.9)
        others, changed = certainty.count_changed([first], [every], items, ~is_drawn, 0.9)
        assert n_certain > 0
        false += changed / others > certainty.upper_bound(n_changed, n_certain)
    assert false <= 0.05 * n


def test_the_bound_is_that_of_clopper_and_pearson():
    assert certainty.upper_bound(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))  # the rule of three, exactly
    bound = certainty.upper_bound(2, 60)  # with which two or fewer of sixty come in 5 % of samples
    assert sum(comb(60, k) * bound**k * (1 - bound) ** (60 - k) for k in range(3)) == pytest.approx(0.05)


def run_job(project) -> dict:
    job = lifecycle.create_job(Job.Kind.FURTHER, project.created_by, chunks=[({}, 0)], project=project)
    lifecycle.run_here(job)
    job.refresh_from_db()
    return job.result


@pytest.mark.django_db
def test_a_job_asks_where_the_label_is_uncertain_and_agreement_leaves_the_answers_out():
    project, (ann, bob, cleo, dan) = study(8, further="uncertain", further_most=3)
    for choice in (0, 1) * 4:
        answer(ann, choice)
        answer(bob, choice if Assignment.objects.filter(state="done").count() > 1 else 1)
    assert not places().exists()  # the answer itself asks for nothing
    assert run_job(project) == {"asked": 1, "uncertain": 1}
    [place] = places()
    assert (place.state, place.reason, place.position) == ("open", "further", place.item.position)
    assert run_job(project)["asked"] == 0  # it waits already
    answer(cleo, 0)
    assert run_job(project)["asked"] == 0 and dan.next()["state"] == "empty"  # the most of an item


@pytest.mark.django_db
def test_what_is_certain_by_now_is_asked_for_no_longer(monkeypatch):
    project, (ann, bob, cleo, _) = study(3, further="uncertain", further_most=4)
    for _ in range(3):
        answer(ann, 0)
        answer(bob, 1)
    uncertain = list(project.items.order_by("position").values_list("pk", flat=True))
    monkeypatch.setattr(certainty, "uncertain_items", lambda of: (uncertain, {"uncertain": len(uncertain)}))
    assert run_job(project)["asked"] == 3
    held = cleo.next()["payload"]
    uncertain = uncertain[-1:]  # others' answers have made the first two certain, one of which Cleo has begun
    assert run_job(project) == {"asked": 0, "uncertain": 1, "withdrawn": 1}
    assert sorted(places().values_list("state", flat=True)) == ["cancelled", "leased", "open"]
    assert places().get(state="open").item_id == uncertain[0]
    assert cleo.submit(held).json()["surplus"] is False


@pytest.mark.django_db
def test_drawn_items_say_what_stopping_costs():
    project, people = study(12, further="uncertain", overlap=3, other_overlap=2, multiple_share=0.5, seed=3)
    for person in people[:3]:
        while (offered := person.next())["state"] == "item":
            person.submit(offered["payload"])
    drawn = project.items.filter(is_multiple=True).count()
    words = run_job(project)["words"]
    most = np.ceil(1000 * certainty.upper_bound(0, drawn)) / 10
    assert words.startswith(f"Of {drawn} drawn items that were certain at 95 % after 2 answers, 0 got another label")
    assert words.endswith(f"at most {most:g} % of such items do")


@pytest.mark.django_db
def test_jobs_are_started_once_an_hour_while_there_are_new_answers():
    project, (ann, *_) = study(2, further="uncertain")
    jobs = Job.objects.filter(kind=Job.Kind.FURTHER)
    before = timezone.now() - timedelta(hours=3)
    Project.objects.update(created_at=before)
    further.ask_now_and_then()
    assert not jobs.exists()
    answer(ann, 0)
    for _ in range(2):
        further.ask_now_and_then()
    lifecycle.run_here(jobs.get())
    answer(ann, 0)
    further.ask_now_and_then()
    assert jobs.count() == 1
    jobs.update(created_at=before)
    further.ask_now_and_then()
    assert jobs.count() == 2
