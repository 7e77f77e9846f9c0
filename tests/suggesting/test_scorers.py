"""What gives scores only: through the job engine, on the pages, and never before annotators."""

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation.formats.records import (
    AspectRecord,
    AtomicClaimRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
)
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Claim, Evidence, Job, Project, RunFailure, Score, Suggestion
from annotation.projects import managing
from annotation.projects.prefill import scorers
from annotation.task_types import every_task_type
from models_runtime import registry
from tests import factories
from tests.kinds import bring_in
from tests.models_runtime.tiny_causal import voting_llama
from tests.world.labels import items_of, make_rater, say

pytestmark = pytest.mark.django_db

TEXTS = ["The harbour might be confirmed.", "No harbour: refuted.", "   ", "confirmed confirmed"]
VOTES = {"confirmed": "True", "refuted": "False", "murky": "None"}


def project_of(texts=TEXTS, **options) -> Project:
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, len(texts), claims=1, texts=texts)
    Claim.objects.filter(dataset=dataset).update(date="2020-01-01")
    Evidence.objects.filter(dataset=dataset).update(date="2020-02-01", url="https://www.snopes.com/x", is_gold=False)
    Evidence.objects.filter(dataset=dataset, rank=1).update(date=None, url="", is_gold=True)
    return factories.make_project(dataset, order="file", **options)


def run_here(project, checker, /, **parameters):
    run = suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    run.refresh_from_db()
    return run


def values_of(run, name) -> list:
    return list(
        Score.objects.filter(run=run, name=name).order_by("unit__evidence__rank").values_list("value", flat=True)
    )


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_every_scorer_is_offered_where_its_question_has_its_texts_and_nowhere_else():
    computed = {"characteristics", "answer-probabilities", "perplexity", "grounding"}
    served = {"answer-probabilities-server", "perplexity-server", "source-reference", "verdict"}
    fitting = {"claim-evidence": computed | served, "triplets": {"model-knowledge", "grounding"}}
    fitting["triplets"] |= {"masked-reference", "masked-reference-server"}
    fitting["aspect-coverage"] = {"icat", "icat-server", "text-baselines"}
    assert set(scorers()) == set().union(*fitting.values())
    of_triplets = {"masked-reference", "masked-reference-server"}
    for description in every_task_type():
        expected = fitting.get(description.slug, set())
        # A sub-sentence has no subject or object that could be masked.
        expected = expected - of_triplets if description.unit_kind == "sub_sentence" else expected
        assert set(scorers()) & set(description.checkers) == expected


def test_scores_are_stored_with_what_they_rest_on_and_no_suggestion():
    project = project_of()
    run = run_here(project, "characteristics")
    assert not Suggestion.objects.filter(run=run).exists()
    assert RunFailure.objects.get(run=run).reason == "empty-evidence"
    names = {score.name for score in registry.get_info("characteristics").scores}
    assert set(Score.objects.filter(run=run).values_list("name", flat=True)) == names
    assert values_of(run, "published_after_claim") == [1, None, 1]
    assert values_of(run, "fact_check_source") == [1, None, 1]
    assert values_of(run, "gold_source") == [0, 1, 0]
    assert values_of(run, "hedging") == [1, 0, 0]
    assert run.provenance["dimensions"] == [] and run.job.result["labels"] == {}
    html = client_of(project.created_by).get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "Published after the claim" in html and "Use as the suggestions" not in html


def test_other_checkers_are_not_told_where_evidence_comes_from():
    from annotation.machines.runs.checker_inputs import checker_inputs

    project = project_of()
    ids = list(suggesting.run_units(project, project.type).values_list("pk", flat=True))
    plain, full = checker_inputs(project.type, ids), checker_inputs(project.type, ids, with_origin=True)
    assert all(set(found.fields) == {"claim", "evidence"} for found in plain.values())
    assert full[ids[0]].fields["url"] == "https://www.snopes.com/x" and full[ids[1]].fields["is_gold"] == "yes"


def test_a_run_of_scores_is_never_shown_to_annotators():
    project = project_of(prefill="shown")
    run = run_here(project, "characteristics")
    project.refresh_from_db()
    assert project.prefill_run is None
    with pytest.raises(suggesting.RunError, match="gives scores and no labels"):
        suggesting.show_to_annotators(run)
    with pytest.raises(managing.ProjectError, match="gives scores and no labels"):
        managing.update_project(project, prefill_run=run)
    client = client_of(project.created_by)
    html = client.post(reverse("run_show", args=[run.uuid]), follow=True).content.decode()
    assert "characteristics gives scores and no labels" in html
    settings = client.get(reverse("project_settings", args=[project.slug])).content.decode()
    assert f'<option value="{run.pk}"' not in settings
    project.refresh_from_db()
    assert project.prefill_run is None
    suggesting.show_to_annotators(labelled := run_here(project, "fake"))
    project.refresh_from_db()
    assert project.prefill_run == labelled


def test_a_local_language_model_reads_every_pair(tmp_path):
    project = project_of()
    model = str(voting_llama(tmp_path, VOTES))
    run = run_here(project, "answer-probabilities", model=model, device="cpu", shots=0)
    first, second, last = (values_of(run, name) for name in ("p_true_with", "p_false_with", "p_none_with"))
    assert first[0] > 0.5 and second[1] > 0.5 and first[2] > 0.9 and max(last) < 0.1
    assert len(set(values_of(run, "p_true_without"))) == 1  # they share a claim
    assert run.prompt_tokens > 0 and run.provenance["revision"].startswith("sha256:")
    assert not Suggestion.objects.filter(run=run).exists()
    run = run_here(project, "perplexity", model=model, device="cpu", stride=8, window=16)
    assert all(value > 1 for value in values_of(run, "perplexity"))


def test_without_its_model_a_run_fails_with_what_to_type(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    project = project_of()
    administrator = factories.make_user("admin", is_superuser=True)
    html = client_of(administrator).get(reverse("project_runs", args=[project.slug])).content.decode()
    assert "hf download EleutherAI/pythia-410m" in html and "absolute path of a folder" in html
    for checker in ("answer-probabilities", "perplexity"):
        run = suggesting.start_run(project, project.created_by, checker, wake_workers=False)
        job = lifecycle.run_here(run.job)
        assert job.state == Job.State.FAILED and "hf download EleutherAI/pythia-410m" in job.message


def test_scores_are_compared_with_peoples_labels_by_correlation_alone():
    project = project_of(["ice " * number for number in (1, 2, 3, 4, 5, 6)], overlap=1)
    run_here(project, "fake")
    run = run_here(project, "characteristics")
    rater = make_rater(project)
    stances = (
        "refutes",
        "insufficient-refutes",
        "insufficient-neutral",
        "insufficient-neutral",
        "supports",
        "supports",
    )
    for item, stance in zip(items_of(project), stances, strict=True):
        say(item, rater, relevance="relevant", stance=stance)
    report = get_report("comparison").compute(project, run=str(run.uuid), score="evidence_length")
    assert report["gives"] == "scores" and [one["dimension"] for one in report["dimensions"]] == ["stance"]
    figures = {figure["name"]: figure["estimate"] for figure in report["dimensions"][0]["correlations"]}
    assert figures["spearman"] == pytest.approx(0.971008, abs=1e-5)
    client = client_of(project.created_by)
    address = reverse("project_comparison", args=[project.slug])

    def page_of(**query) -> str:
        client.get(address, query)
        for report in StoredReport.objects.select_related("job"):
            lifecycle.run_here(report.job)
        return client.get(address, query).content.decode()

    page = page_of(run=str(run.uuid), score="evidence_length")
    assert "only correlations are reported" in page
    assert "Spearman" in page and "Accuracy" not in page and "Confusion matrix" not in page
    # A run that gives labels is what the page opens with, though the other is newer.
    assert "Accuracy" in page_of()


def test_answers_are_scored_beside_all_their_aspects_and_atomic_claims():
    dataset = factories.make_dataset()
    bring_in(
        dataset,
        [
            QuestionRecord("q", "What does coffee do?"),
            AspectRecord("q/a0", "q", 0, "coffee wakes people"),
            AspectRecord("q/a1", "q", 1, "the price of tea"),
            EvidenceRecord("q/d2", "Tea is another matter.", question="q", rank=2),
            EvidenceRecord("q/d1", "Coffee wakes people up.", question="q", rank=1),
            ResponseRecord("m/q", "Coffee wakes people. Gin helps sleep.", question="q", model="m"),
            AtomicClaimRecord("m/q/c0", "m/q", 0, "Coffee wakes people."),
            AtomicClaimRecord("m/q/c1", "m/q", 1, "Gin helps sleep."),
            ResponseRecord("n/q", "Nothing.", question="q", model="n"),
        ],
    )
    project = factories.make_project(dataset, "aspect-coverage/-/1", order="file")
    run = run_here(project, "icat", checker="lexical", alignment="lexical")
    found = Score.objects.filter(run=run).values_list("unit__key", "name", "value")
    scores = {key: {name: value for of, name, value in found if of == key} for key, _, _ in found}
    assert set(scores) == {"m/q # q/a0", "m/q # q/a1"}
    assert scores["m/q # q/a0"] | {"claims_covering": 1} == scores["m/q # q/a0"]
    assert [scores[f"m/q # q/a{n}"]["covered"] for n in (0, 1)] == [1, 0]
    assert scores["m/q # q/a1"]["factuality"] == 0.5
    failures = RunFailure.objects.filter(run=run)
    assert {failure.reason for failure in failures} == {"no-atomic-claims"} and failures.count() == 2
    bring_in(dataset, [AtomicClaimRecord("n/q/c0", "n/q", 0, "Coffee wakes people up.")])
    assert suggesting.retry_failures(run) == 2
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert not RunFailure.objects.filter(run=run).exists()
    assert Score.objects.get(run=run, unit__key="n/q # q/a0", name="covered").value == 1
    # With evidence of its own the second claim is supported, too.
    bring_in(dataset, [EvidenceRecord("m/q/c1/p", "Gin helps sleep well.", atomic_claim="m/q/c1")])
    again = run_here(project, "icat", checker="lexical", alignment="lexical", top=9)
    assert Score.objects.get(run=again, unit__key="m/q # q/a1", name="factuality").value == 1
    run = run_here(project, "text-baselines", model="")
    rouge = dict(Score.objects.filter(run=run, name="rouge1").values_list("unit__key", "value"))
    assert rouge["m/q # q/a0"] == rouge["m/q # q/a1"] == pytest.approx(2 * 3 / (6 + 7))
    assert rouge["n/q # q/a0"] == 0
