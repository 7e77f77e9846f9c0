"""The pages of checker runs, through the front door."""

import os
import subprocess
import sys

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.runs.queries.suggestions import summary
from annotation.models import CheckerRun, Job, Project, Score
from tests import factories
from tests.suggesting.workers import ROOT

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def annotator():
    return factories.make_user("annotator")


@pytest.fixture
def project(annotator):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 30)
    return factories.make_project(dataset, annotators=[annotator])


@pytest.fixture
def researcher(client, project):
    client.force_login(project.created_by)
    return project.created_by


def finished_run(project, checker="fake", **parameters) -> CheckerRun:
    run = suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    return run


def test_a_run_is_started_from_the_form_that_the_registry_describes(client, project, researcher):
    address = reverse("project_runs", args=[project.slug])
    page = client.get(address).content.decode()
    assert 'name="lexical-support_threshold"' in page and 'name="embedding-device"' in page
    posted = {"checker": "fake", "fake-seed": "5", "fake-delay_ms": "0", "fake-failure_share": "0.25"}
    posted |= {"fake-permanent_failure_share": "0", "fake-label": ""}
    response = client.post(address, posted)
    run = CheckerRun.objects.get()
    assert response.url == reverse("run_detail", args=[run.uuid])
    assert run.parameters["seed"] == 5 and run.parameters["failure_share"] == 0.25
    assert "waiting for a worker" in client.get(response.url).content.decode()

    again = client.post(address, posted).content.decode()
    assert "The same run already exists" in again and reverse("run_detail", args=[run.uuid]) in again
    refused = client.post(address, posted | {"fake-again": "on"}).content.decode()
    assert "The same run already exists" in refused and "It is queued." in refused
    assert CheckerRun.objects.count() == 1
    Job.objects.update(state=Job.State.DONE)  # what is queued is not queued again, what is done is done anew
    assert client.post(address, posted | {"fake-again": "on"}).status_code == 302
    assert CheckerRun.objects.count() == 2


def test_a_parameter_out_of_range_is_told_at_its_field(client, project, researcher):
    posted = {"checker": "lexical", "lexical-relevance_threshold": "7", "lexical-support_threshold": "0.5"}
    page = client.post(reverse("project_runs", args=[project.slug]), posted | {"lexical-softness": "x"})
    assert "less than or equal to 1" in page.content.decode() and "Enter a number" in page.content.decode()
    assert not CheckerRun.objects.exists()


def test_the_page_says_how_to_install_what_a_checker_needs(client, project, researcher, monkeypatch):
    monkeypatch.setattr(
        suggesting.registry, "missing_packages", lambda slug: ("torch==1",) if slug == "embedding" else ()
    )
    address = reverse("project_runs", args=[project.slug])
    page = client.get(address).content.decode()
    assert "pip install" not in page and "Ask your administrator" in page and "listed above" in page
    client.force_login(factories.make_user("admin", is_superuser=True))
    assert client.get(address).content.decode().count("pip install torch==1") == 1


def test_a_runs_page_shows_numbers_failures_texts_and_provenance(client, project, researcher):
    run = finished_run(project, failure_share=0.2)
    failed = run.failures.count()
    assert failed > 0
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "fake-transient" in page and f"Try {failed} failed unit" in page
    assert f"{30 - failed} answered" in page
    assert "the harbour of town" in page and "<mark>" in page
    assert "Examples of failures" in page and "this input was chosen to fail" in page
    # The prompt as sent and the raw answer, and what all of it cost.
    assert "claim: Claim 0: the harbour of town 0 froze over." in page and "Raw answer" in page
    assert "relevance: " in page and "Tokens sent" in page and "Seconds of computing" in page
    assert str(run.uuid) in page and "failure_share 0.2" in page
    assert " style=" not in page


def test_scores_are_drawn_as_histograms_with_their_numbers(client, project, researcher):
    run = finished_run(project)
    histogram = run.job.result["scores"]["draw"]["histogram"]
    assert (histogram["low"], histogram["high"], sum(histogram["counts"])) == (0.0, 1.0, 30)
    values = list(run.scores.values_list("value", flat=True))
    assert histogram["counts"] == [sum(int(value * 20) == bar for value in values) for bar in range(20)]
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    picture = page[page.index('<svg class="histogram"') :].partition("</svg>")[0]
    assert picture.count("<rect ") == 20 and "As numbers" in page


def test_scores_without_a_range_and_all_the_same_are_drawn_too(client, project, researcher):
    run = finished_run(project)
    values = dict(zip(run.scores.values_list("pk", flat=True), [-3.0, 7.0, 2.0] * 10, strict=True))
    for pk, value in values.items():
        Score.objects.filter(pk=pk).update(value=value)
    histogram = summary(run)["scores"]["draw"]["histogram"]
    assert (histogram["low"], histogram["high"]) == (-3.0, 7.0)
    assert [histogram["counts"][bar] for bar in (0, 10, 19)] == [10, 10, 10]
    run.scores.update(value=0.1 + 0.2 + 5)
    assert summary(run)["scores"]["draw"]["histogram"]["counts"] == [30]
    run.scores.update(value=None)
    assert summary(run)["scores"]["draw"]["histogram"] is None


def test_prompts_and_raw_answers_are_shown_as_they_are(client, project, researcher):
    run = finished_run(project)
    prompt = [{"role": "system", "content": "<script>alert(1)</script>"}, {"role": "user", "content": " a\n\tb "}]
    run.samples.update(prompt=prompt, output='{"label": "<b>"}', is_cut=True)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "<script>alert" not in page
    assert "Sent (system)" in page and ' dir="auto"> a\n\tb </p>' in page
    assert "{&quot;label&quot;: &quot;&lt;b&gt;&quot;}" in page and "Truncated." in page


def test_the_sample_has_pages(client, project, researcher):
    run = finished_run(project)
    address = reverse("run_detail", args=[run.uuid])
    first, last = (client.get(address, {"page": number}).content.decode() for number in (1, 3))
    keys = list(run.samples.order_by("pk").values_list("unit__key", flat=True))
    assert len(keys) == 30 and keys[0] in first and keys[0] not in last and keys[29] in last


def test_what_was_taken_over_and_what_waits_is_told(client, project, researcher, monkeypatch, settings):
    finished_run(project)
    factories.make_claim_evidence(project.dataset, 3, prefix="new-")
    factories.make_items(project)
    run = suggesting.start_run(project, researcher, "fake", {}, wake_workers=False)
    settings.CHUNK_RETRY_SECONDS = 600
    with monkeypatch.context() as patch:
        patch.setattr(suggesting.HANDLER, "run_chunk", lambda chunk, lease: [][0])
        lifecycle.work_on(run.job_id)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "After an error, part 1 is tried again at" in page and "IndexError" in page
    run.job.chunks.update(not_before=None)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "30 of them reused from an earlier run" in page and "reused from" in page
    other = CheckerRun.objects.exclude(pk=run.pk).get()
    assert reverse("project_difference", args=[project.slug]) in page and f'value="{other.uuid}"' in page


def test_permanent_failures_are_tried_again_on_request(client, project, researcher):
    run = finished_run(project, permanent_failure_share=0.3)
    address = reverse("run_detail", args=[run.uuid])
    assert f"Try all {run.failures.count()}" in client.get(address).content.decode()
    client.post(reverse("run_retry", args=[run.uuid]))
    run.job.refresh_from_db()
    assert run.job.state == Job.State.DONE
    client.post(reverse("run_retry", args=[run.uuid]), {"permanent": "1"})
    run.job.refresh_from_db()
    assert run.job.state == Job.State.QUEUED


@pytest.mark.parametrize("state", [Job.State.CANCELLED, Job.State.FAILED])
def test_a_stopped_run_goes_on_from_its_page(client, project, researcher, state):
    run = suggesting.start_run(project, researcher, "fake", wake_workers=False)
    if state == Job.State.CANCELLED:
        client.post(reverse("job_cancel", args=[run.job.uuid]))
    else:
        Job.objects.filter(pk=run.job_id).update(state=state, message="It broke")
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    address = reverse("job_resume", args=[run.job.uuid])
    assert address in page
    response = client.post(address, follow=True)
    assert response.redirect_chain[-1][0] == reverse("run_detail", args=[run.uuid])
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_the_moving_part_reloads_the_page_when_the_run_ends(client, project, researcher):
    run = suggesting.start_run(project, researcher, "fake", wake_workers=False)
    address = reverse("run_progress", args=[run.uuid])
    moving = client.get(address)
    assert f'hx-get="{address}"' in moving.content.decode() and "HX-Refresh" not in moving
    lifecycle.run_here(run.job)
    assert client.get(address)["HX-Refresh"] == "true"


def test_only_a_finished_run_becomes_what_annotators_see(client, project, researcher):
    run = suggesting.start_run(project, researcher, "fake", wake_workers=False)
    client.post(reverse("run_show", args=[run.uuid]))
    assert Project.objects.get(pk=project.pk).prefill_run is None
    lifecycle.run_here(run.job)
    client.post(reverse("run_show", args=[run.uuid]))
    assert Project.objects.get(pk=project.pk).prefill_run == run
    assert "shown to annotators" in client.get(reverse("project_runs", args=[project.slug])).content.decode()


def test_failed_inputs_are_tried_again_from_the_page(client, project, researcher):
    run = finished_run(project, failure_share=0.3)
    client.post(reverse("run_retry", args=[run.uuid]))
    run.job.refresh_from_db()
    assert run.job.state == Job.State.QUEUED


def addresses(project, run):
    yield "get", reverse("project_runs", args=[project.slug])
    yield "post", reverse("project_runs", args=[project.slug])
    yield "get", reverse("run_detail", args=[run.uuid])
    yield "get", reverse("run_progress", args=[run.uuid])
    yield "post", reverse("run_retry", args=[run.uuid])
    yield "post", reverse("run_show", args=[run.uuid])
    yield "post", reverse("run_limits", args=[run.uuid])


def test_annotators_get_403_and_outsiders_404(client, project, annotator):
    run = finished_run(project)
    for user, status in [(annotator, 403), (factories.make_user("outsider"), 404)]:
        client.force_login(user)
        for method, address in addresses(project, run):
            assert getattr(client, method)(address).status_code == status, address
    assert Project.objects.get(pk=project.pk).prefill_run is None


def test_a_researcher_with_open_work_of_their_own_does_not_see_what_the_checker_says(client, project, researcher):
    run = finished_run(project, failure_share=0.2)
    factories.join(project, researcher, "annotator")
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "are hidden until you finish them" in page
    assert "<mark>" not in page and "the harbour of town" not in page and "answered" not in page


def test_the_number_of_queries_does_not_grow_with_inputs_and_runs(client, project, researcher, monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 4)
    run = finished_run(project)
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 120)
    large = factories.make_project(dataset)
    factories.join(large, researcher, "researcher")
    others = [finished_run(large, seed=seed) for seed in range(6)]

    def queries(address):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    small = queries(reverse("run_detail", args=[run.uuid]))
    assert queries(reverse("run_detail", args=[others[0].uuid])) == small <= 25
    small_list = queries(reverse("project_runs", args=[project.slug]))
    assert queries(reverse("project_runs", args=[large.slug])) == small_list <= 15


HEAVY = "torch transformers sentence_transformers spacy sklearn pandas scipy statsmodels matplotlib pyarrow"


def test_the_web_process_loads_no_heavy_library():
    """Also none that is only asked whether it is installed."""
    program = f"""
import sys, django
django.setup()
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from django.test import Client
import config.urls, config.wsgi
Client().get("/accounts/login/")
from annotation.machines.runs.forms import RunForm
from models_runtime import registry
for info in registry.list_infos():
    RunForm(info).as_p(), registry.missing_packages(info.slug)
print([name for name in "{HEAVY} numpy".split() if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
        timeout=60,
    )
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stdout + done.stderr[-2000:]
