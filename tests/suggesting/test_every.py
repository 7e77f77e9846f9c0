"""One click, or one command, runs a checker of every kind that the machine can serve, and says what the others need."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.jobs.queues import PATIENCE, queue_states
from annotation.machines.runs import running_every, suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.machines.runs.queries.checkers import GROUPS
from annotation.models import CheckerRun, Job, TrainedModel
from annotation.task_types import task_type
from assay.serving import WORKERS
from config.celery import app
from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE
from tests import factories
from tests.kinds import IDENTIFIERS, make_kind_project
from tests.suggesting.workers import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

JUDGED = tuple(identifier for identifier in IDENTIFIERS if not why_not(task_type(identifier)))
# What needs neither a model that is fetched nor a server nor labels.
ALWAYS = {"lexical", "embedding", "characteristics", "text-baselines"}
FETCHED = {"nli", "answer-probabilities", "perplexity", "icat"}


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch, tmp_path):
    """No model was fetched to it, and no server is known."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv(VARIABLE, raising=False)


def by_slug(outcomes) -> dict:
    return {outcome.info.slug: outcome for outcome in outcomes}


# For people alone, preferences among them; and by what a retrieval found, which has to be chosen.
NOT_EVERY = {"nli/atomic-claim/1", "claim-verdict/three-way/1", "claim-verdict/four-way/1"}
NOT_EVERY |= {"preference/-/1", "preference/strength/1"}
NOT_EVERY |= {"ranking/-/1", "ranking/ties/1", "ranking/best-worst/1"}


def test_every_kind_of_project_but_those_for_people_and_retrievals_is_tried():
    assert set(IDENTIFIERS) - set(JUDGED) == NOT_EVERY


@pytest.mark.parametrize("identifier", JUDGED)
def test_in_every_kind_of_project_what_can_run_is_started_and_finishes_and_the_rest_is_explained(identifier):
    project = make_kind_project(identifier)
    found = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    assert set(found) == set(project.type.checkers)
    started = {slug for slug, outcome in found.items() if outcome.is_new}
    assert started == ALWAYS & set(project.type.checkers)
    for slug, outcome in found.items():
        if slug not in started:
            assert outcome.run is None and outcome.needs
            continue
        assert outcome.run.job.queue == "cpu"
        assert lifecycle.run_here(outcome.run.job).state == Job.State.DONE, outcome.run.job.message
        assert outcome.run.job.progress_done == outcome.run.job.progress_total > 0
    for slug in FETCHED & set(found):
        assert [need.command for need in found[slug].needs] == [registry.fetch_command(slug)]
    assert found["trained"].needs[-1].is_training and VARIABLE in found["llm"].needs[0].words
    assert "at random" in found["fake"].needs[0].words


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 4)
    return factories.make_project(dataset)


def test_a_second_click_uses_the_same_runs_again(project):
    first = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    second = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    assert CheckerRun.objects.count() == len(ALWAYS & set(project.type.checkers)) == 3
    for slug in ALWAYS & set(project.type.checkers):
        assert second[slug].run == first[slug].run and not second[slug].is_new


def test_what_the_machine_has_is_started_on_its_queue(project, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": "http://127.0.0.1:9/v1", "model": "m"}}))
    monkeypatch.setattr(registry, "fetch_command", lambda slug: "")
    job = Job.objects.create(kind=Job.Kind.TRAINING, state=Job.State.DONE, created_by=project.created_by)
    for file_hash in ("a" * 64, "b" * 64):
        TrainedModel.objects.create(
            project=project, job=Job.objects.create(kind=job.kind, state=job.state, created_by=job.created_by),
            parameters={}, label_version=1, moment={}, file_hash=file_hash, created_by=project.created_by,
        )  # fmt: skip
    found = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    queues = {slug: outcome.run.job.queue for slug, outcome in found.items() if outcome.is_new}
    cpu = dict.fromkeys(["lexical", "embedding", "trained", "nli", "characteristics", "grounding"], "cpu")
    gpu = dict.fromkeys(["answer-probabilities", "perplexity"], "gpu")
    served = ["llm", "answer-probabilities-server", "perplexity-server", "source-reference", "verdict"]
    assert queues == cpu | gpu | dict.fromkeys(served, "llm")
    assert found["trained"].run.parameters["model"] == "b" * 64  # the newest


def test_one_that_cannot_be_started_keeps_no_other_from_it(project, monkeypatch):
    start = suggesting.start_run

    def refusing(project, user, checker, *arguments, **options):
        if checker == "lexical":
            raise suggesting.RunError("Not today")
        return start(project, user, checker, *arguments, **options)

    monkeypatch.setattr(suggesting, "start_run", refusing)
    found = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    assert found["lexical"].needs[0].words == "Not today" and found["lexical"].run is None
    assert found["embedding"].is_new and found["characteristics"].is_new


def test_missing_packages_are_named_with_the_command(project, monkeypatch):
    monkeypatch.setattr(registry, "missing_packages", lambda slug: ("torch==1",) if slug == "embedding" else ())
    found = by_slug(running_every.start_every(project, project.created_by, wake_workers=False))
    assert [need.command for need in found["embedding"].needs] == ["pip install torch==1"]


def test_the_button_on_the_page_and_what_it_answers(client, project):
    client.force_login(project.created_by)
    address = reverse("project_runs", args=[project.slug])
    page = client.get(address).content.decode()
    n_others = len(set(project.type.checkers) - ALWAYS)
    assert "Run all available checkers" in page and "3, each with its default parameters" in page
    assert "Random draw answers at random: start it by itself below" in page
    assert [page.count(f">{title} <span") for title in GROUPS] == [1, 1, 1]
    assert "hf download" not in page and VARIABLE not in page and page.count("Ask your administrator") > 1
    assert f'href="{reverse("project_training", args=[project.slug])}">Train a checker' in page
    assert "Queue cpu: no job has been started here yet" in page
    page = client.post(address, {"every": "1"}).content.decode()
    assert page.count(">started<") == 3 and page.count(">not started<") == n_others
    for run in CheckerRun.objects.all():
        assert reverse("run_detail", args=[run.uuid]) in page
    page = client.post(address, {"every": "1"}).content.decode()
    assert page.count(">reused<") == 3 and ">started<" not in page and CheckerRun.objects.count() == 3


def test_administrators_read_once_what_is_missing(client, project):
    client.force_login(factories.make_user("admin", is_superuser=True))
    page = client.get(reverse("project_runs", args=[project.slug])).content.decode()
    assert page.count("hf download EleutherAI/pythia-410m") == 1 and VARIABLE in page


@pytest.mark.parametrize("identifier", sorted(NOT_EVERY))
def test_a_project_for_people_alone_offers_no_button_and_starts_nothing(client, identifier):
    project = make_kind_project(identifier)
    client.force_login(project.created_by)
    address = reverse("project_runs", args=[project.slug])
    assert "Run all available checkers" not in client.get(address).content.decode()
    assert client.post(address, {"every": "1"}).status_code == 200 and not CheckerRun.objects.exists()


def test_a_run_that_waits_long_says_for_whose_worker(client, project):
    client.force_login(project.created_by)
    run = suggesting.start_run(project, project.created_by, "lexical", {}, wake_workers=False)
    address = reverse("run_progress", args=[run.uuid])
    assert "in the queue" not in client.get(address).content.decode()
    Job.objects.filter(pk=run.job_id).update(created_at=run.job.created_at - PATIENCE)
    assert "No worker serves the queue cpu" in client.get(address).content.decode()
    other = suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)
    lease = lifecycle.claim_chunk(other.job_id)
    page = client.get(address).content.decode()
    assert "The workers of the queue cpu are busy with 1 other job" in page and "celery -A" not in page
    assert "queue cpu" not in client.get(reverse("run_progress", args=[other.uuid])).content.decode()
    lifecycle.work_on_chunk(other.job, lease)
    state = queue_states(["cpu", "gpu"])
    assert state["cpu"].at_work == 0 and state["cpu"].last_begun is not None and state["gpu"].last_begun is None


def test_the_command_does_the_same(project):
    said = io.StringIO()
    call_command("run_checker", project.slug, "--every", stdout=said)
    lines = said.getvalue().splitlines()
    assert sum(line.startswith("lexical: started") for line in lines) == 1
    assert any(line.startswith("nli: not started") for line in lines)
    assert any("hf download EleutherAI/pythia-410m" in line for line in lines)
    assert CheckerRun.objects.count() == 3
    said = io.StringIO()
    call_command("run_checker", project.slug, "--every", "--here", stdout=said)
    assert said.getvalue().count("reused") == 3 and said.getvalue().count("inputs in") == 3
    assert set(Job.objects.filter(checker_run__isnull=False).values_list("state", flat=True)) == {Job.State.DONE}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [([], "Name a checker"), (["lexical", "--every"], "not both"), (["--every", "--param", "softness=1"], "--param")],
)
def test_a_command_that_names_neither_or_both_is_refused(project, arguments, problem):
    with pytest.raises(CommandError, match=problem):
        call_command("run_checker", project.slug, *arguments)
    assert not CheckerRun.objects.exists()


def test_the_examples_of_the_docs_serve_every_queue_there_is():
    examples = re.findall(r"```Procfile\n(.*?)```", (ROOT / "docs" / "deployment.md").read_text("utf-8"), re.DOTALL)
    served = {
        name for example in examples for names in re.findall(r"-Q ([\w,]+)", example) for name in names.split(",")
    }
    assert served == {queue.name for queue in app.conf.task_queues}
    assert sum(len(re.findall(r" -B | beat\b", example)) for example in examples) == 1  # one clock
    nodes = re.findall(r"-n (\S+)@%h", "".join(examples))
    assert len(nodes) == len(set(nodes)) == sum(example.count("celery") for example in examples)


def test_the_demo_has_a_worker_for_what_people_wait_for():
    workers = [" ".join(command) for command in WORKERS]
    served = [set(re.search(r"-Q ([\w,]+)", line)[1].split(",")) for line in workers]
    assert {"default"} in served and sum("default" in queues for queues in served) == 1
    assert set().union(*served) == {queue.name for queue in app.conf.task_queues}
    assert sum(" -B " in line for line in workers) == 1
    nodes = [re.search(r"-n (\S+)", line)[1] for line in workers]
    assert len(set(nodes)) == len(workers)
