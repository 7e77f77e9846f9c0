"""The NLI checker from the project's page through the job engine, with a model on disk whose answers are known."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.models import CheckerRun, Job, Score, Suggestion
from annotation.task_types import every_task_type
from annotation.work.queries import pages
from models_runtime import registry
from tests import factories
from tests.kinds import make_kind_project
from tests.models_runtime.tiny import voting_bert

pytestmark = pytest.mark.django_db(transaction=True)

JUDGED = tuple(one.identifier for one in every_task_type() if "nli" in one.checkers and not why_not(one))
# What stands in the gold evidence, the answer and the document decides; the others say nothing.
VOTES = {"1963": "entailment", "ferry": "contradiction"}
# By task type: a unit's key and what the model must say of it.
KNOWN = {
    "claim-evidence/six-way/1": ("c0/e1", "stance", "supports"),
    "claim-evidence/three-way/1": ("c0/e0", "stance", "refutes"),
    "triplets/-/1": ("q0/r0/t0", "entailment", "entailment"),
    "triplets/sub-sentences/1": ("q0/r0/s1", "entailment", "entailment"),
    "aspect-coverage/-/1": None,
    "sufficient-context/-/1": ("q0", "sufficiency", "sufficient"),
    "answer-grade/-/1": ("q0/r1", "grade", "missing"),
    "nli/three-way/1": ("c0/pair-1", "entailment", "contradiction"),
    "nli/two-way/1": ("c0/pair-1", "entailment", "non-entailment"),
    "nli/aspect-relevance/1": ("q0/a0", "relevance", "not_relevant"),
    "evidence-inclusion/-/1": ("c0/d0", "inclusion", "included"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(voting_bert(tmp_path_factory.mktemp("nli"), [], VOTES, ("contradiction", "entailment", "neutral")))


@pytest.fixture(autouse=True)
def no_hub(tmp_path, monkeypatch):
    """An empty cache of the hub, and no hub."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture
def project(client):
    dataset = factories.make_dataset()
    texts = ["It froze in 1963.", "The ferry sails.", "Nothing of the kind. " * 60 + "It froze in 1963.", "Sunny days."]
    factories.make_claim_evidence(dataset, 4, texts=texts)
    project = factories.make_project(dataset)
    client.force_login(project.created_by)
    return project


def posted(**given):
    info = registry.get_info("nli")
    values = {f"nli-{parameter.name}": parameter.default for parameter in info.parameters}
    return {"checker": "nli"} | values | {f"nli-{name}": value for name, value in given.items()}


def test_a_run_from_the_page_stores_labels_scores_spans_and_provenance(client, project, model):
    address = reverse("project_runs", args=[project.slug])
    response = client.post(address, posted(model=model, max_segment_tokens=100))
    run = CheckerRun.objects.get()
    assert response.url == reverse("run_detail", args=[run.uuid]) and run.job.queue == "cpu"
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    answers = {
        (one.unit.evidence.text[:12], one.dimension): one
        for one in Suggestion.objects.filter(run=run).select_related("unit__evidence")
    }
    assert {key: one.label for key, one in answers.items()} == {
        ("It froze in ", "relevance"): "relevant",
        ("It froze in ", "stance"): "supports",
        ("The ferry sa", "relevance"): "relevant",
        ("The ferry sa", "stance"): "refutes",
        ("Nothing of t", "relevance"): "relevant",
        ("Nothing of t", "stance"): "supports",
        ("Sunny days.", "relevance"): "not_relevant",
    }
    long = answers["Nothing of t", "stance"]
    (span,) = long.spans
    assert span["quote"].endswith("It froze in 1963.") and len(span["quote"]) < len(long.unit.evidence.text) / 2
    assert long.unit.evidence.text[span["start"] : span["end"]] == span["quote"]
    scores = dict(Score.objects.filter(run=run, unit=long.unit).values_list("name", "value"))
    assert scores["n_segments"] > 1 and scores["max_entailment"] > 0.9 > 0.1 > scores["p_neutral"]
    run.refresh_from_db()
    assert run.provenance["model"] == model and run.provenance["revision"].startswith("sha256:")
    assert run.provenance["labels"] == {"0": "contradiction", "1": "entailment", "2": "neutral"}
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "Greatest entailment of all segments" in page and "It froze in 1963." in page


def test_the_page_says_how_to_get_the_default_model_and_a_run_without_it_fails_with_the_same(client, project):
    address = reverse("project_runs", args=[project.slug])
    assert "hf download" not in client.get(address).content.decode()
    administrator = Client()
    administrator.force_login(factories.make_user("admin", is_superuser=True))
    page = administrator.get(address).content.decode()
    command = "hf download MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli --include"
    assert "model not here" in page and page.count(command) == 1
    client.post(address, posted())
    run = CheckerRun.objects.get()
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and command in job.message
    assert command in client.get(reverse("run_detail", args=[run.uuid])).content.decode()


def test_a_model_that_is_here_needs_no_fetching(client, project, tmp_path):
    name = registry.get_info("nli").model
    kept = tmp_path / "hub" / ("models--" + name.replace("/", "--"))
    voting_bert(kept / "snapshots" / "abc", [], VOTES)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc")
    assert f"hf download {name} " not in client.get(reverse("project_runs", args=[project.slug])).content.decode()
    run = suggesting.start_run(project, project.created_by, "nli", wake_workers=False)
    assert lifecycle.run_here(run.job).state == Job.State.DONE


def test_a_model_of_another_kind_fails_the_run_with_the_reason(client, project, tmp_path):
    folder = voting_bert(tmp_path / "moods", [], {"good": "joy"}, ("joy", "sadness", "anger"), default="anger")
    client.post(reverse("project_runs", args=[project.slug]), posted(model=str(folder)))
    run = CheckerRun.objects.get()
    assert lifecycle.run_here(run.job).state == Job.State.FAILED
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "&#x27;joy&#x27;, &#x27;sadness&#x27;, &#x27;anger&#x27;" in page and "id2label" in page


def test_a_template_without_a_place_for_the_claim_is_told_at_its_field(client, project, model):
    address = reverse("project_runs", args=[project.slug])
    page = client.post(address, posted(model=model, about_template="This text is good.")).content.decode()
    assert "it must hold {claim}" in page and not CheckerRun.objects.exists()


def test_whose_workers_compute_it_can_be_chosen_where_there_is_a_choice(client, project, model):
    address = reverse("project_runs", args=[project.slug])
    page = client.get(address).content.decode()
    assert 'name="nli-queue"' in page and 'name="embedding-queue"' in page and 'name="lexical-queue"' not in page
    client.post(address, posted(model=model, queue="gpu"))
    assert CheckerRun.objects.get().job.queue == "gpu"
    assert "Select a valid choice" in client.post(address, posted(model=model, queue="llm")).content.decode()
    with pytest.raises(suggesting.RunError, match="not on the queue 'gpu'"):
        suggesting.start_run(project, project.created_by, "lexical", queue="gpu")
    call_command("run_checker", project.slug, "embedding", "--queue", "gpu", verbosity=0)
    assert CheckerRun.objects.get(checker="embedding").job.queue == "gpu"


def test_what_is_known_covers_every_kind_of_task():
    assert set(KNOWN) == set(JUDGED) and len(JUDGED) == 11


@pytest.mark.parametrize("identifier", JUDGED)
def test_units_of_every_kind_get_the_answer_that_the_model_has(identifier, model):
    project = make_kind_project(identifier)
    run = suggesting.start_run(project, project.created_by, "nli", {"model": model}, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    # An answer that is empty has nothing to look in; its label comes from the rule, where the task has one.
    assert set(run.failures.values_list("reason", flat=True)) <= {"empty-evidence"}
    stored = Suggestion.objects.filter(run=run).select_related("unit")
    assert stored
    rules = {dimension.slug: dimension.spans for dimension in project.type.dimensions}
    texts = {
        unit: page.contents.texts
        for item in project.items.all()
        for page in [pages.load_page(item.pk, project.type)]
        for unit in item.item_units.values_list("unit_id", flat=True)
    }
    for one in stored:
        for span in one.spans:
            assert rules[one.dimension].takes(span["field"]) and rules[one.dimension].may_carry(one.label)
            assert texts[one.unit_id][span["field"]][span["start"] : span["end"]] == span["quote"] != ""
    if known := KNOWN[identifier]:
        key, dimension, label = known
        assert stored.get(unit__key=key, dimension=dimension).label == label
    else:
        # One answer has the word; those that decline cover nothing.
        covered = stored.filter(label="covered").values_list("unit__response__key", flat=True)
        assert set(covered) == {"q0/r0", "q1/r0"}
