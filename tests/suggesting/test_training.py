"""Training a checker on a project's own labels: which labels count, the job, the pages, running what was trained."""

import uuid
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.sources import links
from annotation.access import assignment_for
from annotation.decisions import adjudicating
from annotation.decisions.moments import Moment
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.training import trained_models, training
from annotation.machines.training.queries import models as queries
from annotation.machines.training.queries.labels import GROUPS, training_labels
from annotation.machines.training.training import TrainingError, TrainingRequest
from annotation.models import (
    Assignment,
    CheckerRun,
    Chunk,
    Decision,
    Job,
    Membership,
    Project,
    RuleRun,
    Score,
    Suggestion,
    TrainedModel,
    Unit,
)
from annotation.work import annotating, assigning
from models_runtime.training import cross_encoder
from tests import factories
from tests.models_runtime.tiny import voting_bert
from tests.models_runtime.tiny_causal import voting_llama
from tests.world import client_of

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = TrainingRequest(classifier="logistic", representation="lexical", skip_rare=True)
TEXTS = {
    "supports": "Claim {n}: the harbour of town {n} froze over, all agree.",
    "refutes": "Claim {n}: the harbour of town {n} never froze over, not once.",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    return tmp_path / "trained"


def make_project(claims=16, **fields) -> Project:
    """Two evidences for each claim, one that repeats it and one that denies it."""
    dataset = factories.make_dataset()
    texts = [TEXTS["supports" if n < claims else "refutes"].format(n=n % claims) for n in range(2 * claims)]
    factories.make_claim_evidence(dataset, 2 * claims, claims=claims, texts=texts)
    return factories.make_project(dataset, overlap=1, **fields)


def decide(project, units=None) -> None:
    units = units if units is not None else Unit.objects.filter(dataset=project.dataset, kind="evidence")
    for unit in units:
        stance = "refutes" if "never" in unit.evidence.text else "supports"
        for dimension, label in (("relevance", "relevant"), ("stance", stance)):
            Decision.objects.create(
                project=project, unit=unit, dimension=dimension, label=label, method=Decision.Method.IMPORTED
            )


def trained_on(project, request=QUICK) -> TrainedModel:
    model = training.start_training(project, project.created_by, request, wake_workers=False)
    job = lifecycle.run_here(model.job)
    assert job.state == Job.State.DONE, job.message
    model.refresh_from_db()
    return model


# ---- from labels to a run ----


def test_what_was_trained_judges_the_project_out_of_fold():
    project = make_project()
    units = list(Unit.objects.filter(dataset=project.dataset, kind="evidence").order_by("pk"))
    decide(project, units[:28])
    model = trained_on(project)
    assert model.dimensions == ["stance"] and model.counts["skipped"] == ["relevance"]  # nothing is irrelevant here
    figures = model.figures["stance"]["evaluation"]
    assert figures["scores"]["accuracy"] > 0.9 > figures["baseline"]["accuracy"]
    assert (model.counts["units"], model.figures["stance"]["n"]) == (28, 28)

    run = suggesting.start_run(project, project.created_by, "trained", {"model": model.file_hash}, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    run.refresh_from_db()
    assert run.provenance["revision"] == f"sha256:{model.file_hash}"
    said = dict(Suggestion.objects.filter(run=run, dimension="stance").values_list("unit_id", "label"))
    assert set(said) == {unit.pk for unit in units}
    right = [said[unit.pk] == ("refutes" if "never" in unit.evidence.text else "supports") for unit in units]
    assert sum(right) >= 30
    met = dict(Score.objects.filter(run=run, name="out_of_fold").values_list("unit_id", "value"))
    assert [met[unit.pk] for unit in units] == [1.0] * 28 + [0.0] * 4


def test_more_labels_give_another_revision_and_the_same_labels_the_same():
    project = make_project()
    units = list(Unit.objects.filter(dataset=project.dataset, kind="evidence").order_by("pk"))
    decide(project, units[:28])
    first, again = trained_on(project), trained_on(project)
    assert first.file_hash == again.file_hash and first.data_hash == again.data_hash
    decide(project, units[28:])
    more = trained_on(project)
    assert more.file_hash != first.file_hash and more.data_hash != first.data_hash


def test_labels_given_after_the_start_do_not_count():
    project = make_project()
    units = list(Unit.objects.filter(dataset=project.dataset, kind="evidence").order_by("pk"))
    decide(project, units[:28])
    model = training.start_training(project, project.created_by, QUICK, wake_workers=False)
    decide(project, units[28:])
    lifecycle.run_here(model.job)
    model.refresh_from_db()
    assert model.figures["stance"]["n"] == 28


def test_a_trained_checker_belongs_to_its_project():
    project, other = make_project(), make_project()
    decide(project)
    model = trained_on(project)
    with pytest.raises(suggesting.RunError, match="train one first"):
        suggesting.start_run(other, other.created_by, "trained", {"model": model.file_hash})
    for name in ("", "0" * 64, "../" + model.file_hash):
        with pytest.raises(suggesting.RunError, match="No checker trained on this project has the id"):
            suggesting.start_run(project, project.created_by, "trained", {"model": name})
    assert not CheckerRun.objects.exists()


def test_a_file_that_was_changed_fails_the_run(folder):
    project = make_project()
    decide(project)
    model = trained_on(project)
    path = folder / model.file_hash / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    run = suggesting.start_run(project, project.created_by, "trained", {"model": model.file_hash}, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "was changed after training" in job.message
    assert not Suggestion.objects.filter(run=run).exists()


# ---- too little ----


def test_too_little_is_refused_with_what_is_missing():
    project = make_project(4)
    with pytest.raises(TrainingError, match="Stance: There must be two labels to tell apart; there is no label at all"):
        training.start_training(project, project.created_by, TrainingRequest())
    decide(project)
    with pytest.raises(TrainingError, match="“refutes” was given 4 times; at least 10 are needed"):
        training.start_training(project, project.created_by, TrainingRequest())
    with pytest.raises(TrainingError, match="no checker answers"):
        training.start_training(
            factories.make_project(factories.make_dataset(), "nli/atomic-claim/1", with_items=False),
            project.created_by,
            TrainingRequest(),
        )
    assert not TrainedModel.objects.exists() and not Job.objects.filter(kind=Job.Kind.TRAINING).exists()


# ---- the job ----


def test_a_killed_worker_leaves_nothing_and_the_next_one_finishes(folder):
    project = make_project()
    decide(project)
    model = training.start_training(project, project.created_by, QUICK, wake_workers=False)
    dead = lifecycle.claim_chunk(model.job_id)
    Chunk.objects.filter(pk=dead.chunk.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    other = lifecycle.claim_chunk(model.job_id)
    with pytest.raises(lifecycle.LeaseLost):  # the one thought dead comes back: it keeps nothing
        training.HANDLER.run_chunk(dead.chunk, dead)
    model.refresh_from_db()
    assert model.file_hash == "" and model.figures == {}
    training.HANDLER.run_chunk(other.chunk, other)
    assert lifecycle.run_here(model.job).state == Job.State.DONE
    model.refresh_from_db()
    assert [path.name for path in folder.iterdir()] == [model.file_hash]


def test_cancelling_in_the_middle_keeps_nothing(folder, monkeypatch):
    project = make_project()
    decide(project)
    model = training.start_training(project, project.created_by, QUICK, wake_workers=False)
    seen = []

    def progress(lease, done, total, message="", **options):
        seen.append(message)
        if message.startswith("Training"):
            raise lifecycle.JobCancelled

    with monkeypatch.context() as patch:
        patch.setattr(lifecycle.Lease, "progress", progress)
        assert lifecycle.run_here(model.job).state == Job.State.CANCELLED
    model.refresh_from_db()
    assert seen[0] == "Reading the texts" and model.file_hash == "" and not folder.exists()
    lifecycle.resume(model.job)
    assert lifecycle.run_here(model.job).state == Job.State.DONE


# ---- which labels count ----


def answer(project, person, stance, *, shown=None) -> None:
    """One item answered; `shown` is the run whose suggestions were on the page."""
    assignment = assignment_for(person, assigning.take(project, person).uuid)
    if shown is not None:
        exposure = [{"run": str(shown.uuid), "suggestions": 1}]
        Assignment.objects.filter(pk=assignment.pk).update(suggestions_shown_at=timezone.now(), exposure=exposure)
        assignment = assignment_for(person, assignment.uuid)
    unit = assignment.item.item_units.get().unit.key
    said = [("relevance", "relevant"), ("stance", stance)]
    judgements = [{"unit": unit, "dimension": d, "label": label, "spans": []} for d, label in said]
    annotating.submit(assignment, person, {"client_id": str(uuid.uuid4()), "judgements": judgements})


def test_labels_touched_by_a_trained_checker_train_none_unless_asked_for():
    person = factories.make_user()
    project = make_project(4, annotators=[person], prefill="shown")
    other, trained = (factories.make_suggestions(project, checker=name) for name in ("fake", "trained"))
    answer(project, person, "supports")
    answer(project, person, "supports", shown=other)
    answer(project, person, "refutes", shown=trained)
    moment = Moment.now(project)
    found = training_labels(project, "majority", moment)
    assert sorted(one["stance"] for one in found.labels.values()) == ["supports", "supports"] and found.touched == 1
    everything = training_labels(project, "majority", moment, include_touched=True)
    assert len(everything.labels) == 3 and everything.touched == 1


def test_ties_and_what_is_not_asked_have_no_label():
    people = [factories.make_user(), factories.make_user()]
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    project = factories.make_project(dataset, overlap=2, annotators=people)
    answer(project, people[0], "supports")
    answer(project, people[1], "refutes")
    found = training_labels(project, "decisions-or-majority", Moment.now(project))
    assert list(found.labels.values()) == [{"relevance": "relevant"}] and found.ties == 1
    unit = Unit.objects.get(kind="evidence")
    Decision.objects.create(
        project=project, unit=unit, dimension="relevance", label="not_relevant", method=Decision.Method.ADJUDICATED
    )
    found = training_labels(project, "decisions-or-majority", Moment.now(project))
    assert list(found.labels.values()) == [{"relevance": "not_relevant"}]  # stance is not asked then
    assert training_labels(project, "majority", Moment.now(project)).labels[unit.pk] == {"relevance": "relevant"}


def test_a_set_of_decisions_is_learnt_from_by_its_name_and_a_dropped_unit_not_at_all():
    project = make_project()
    units = list(Unit.objects.filter(dataset=project.dataset, kind="evidence").order_by("pk"))
    decide(project)
    run = RuleRun.objects.create(project=project, name="few", version=1, kind="majority", created_at=timezone.now())
    of_rule = {"project": project, "dimension": "relevance", "method": "rule", "rule": "few", "rule_run": run}
    for number, unit in enumerate(units):
        if number:
            Decision.objects.create(unit=unit, label="not_relevant", **of_rule)
        else:
            Decision.objects.create(unit=unit, outcome="dropped", **of_rule)
    said = training_labels(project, "rule:few", Moment.now(project)).labels
    assert set(said) == {unit.pk for unit in units[1:]}
    assert {label["relevance"] for label in said.values()} == {"not_relevant"}
    Decision.objects.filter(unit=units[1], dimension="relevance", method="imported").update(label="", outcome="dropped")
    assert "relevance" not in training_labels(project, "decisions", Moment.now(project)).labels.get(units[1].pk, {})
    client = client_of(project.created_by)
    page = client.get(reverse("project_training", args=[project.slug])).content.decode()
    assert '<option value="rule:few">Decisions of the rule few</option>' in page
    with pytest.raises(TrainingError, match="no decisions that are called rule:absent"):
        training.start_training(project, project.created_by, TrainingRequest(source="rule:absent"))


def test_groups_are_the_clusters_of_the_figures():
    for kind, origin in links.ORIGINS.items():
        assert tuple(path.removeprefix("unit__") for path in origin.cluster) == GROUPS[kind]


# ---- pages ----


def test_from_the_page_to_a_run():
    project = make_project(10)
    researcher = project.created_by
    client = client_of(researcher)
    address = reverse("project_training", args=[project.slug])
    assert address in client.get(reverse("project_runs", args=[project.slug])).content.decode()
    page = client.get(address).content.decode()
    assert "No checker has been trained here yet" in page
    posted = {
        "source": "decisions",
        "representation": "lexical",
        "classifier": "logistic",
        "minimum": "10",
        "skip_rare": "on",
    }
    page = client.post(address, posted).content.decode()
    assert "There must be two labels to tell apart; there is no label at all" in page
    decide(project)
    response = client.post(address, posted)
    model = TrainedModel.objects.get()
    assert response.url == reverse("training_detail", args=[model.uuid])
    assert "waiting for a worker" in client.get(response.url).content.decode()
    assert client.get(reverse("job_detail", args=[model.job.uuid])).url == response.url
    lifecycle.run_here(model.job)
    page = client.get(response.url).content.decode()
    model.refresh_from_db()
    for text in (
        "Per fold",
        "learning curve",
        "<polyline",
        "most frequent label",
        model.file_hash,
        "20 labelled units",
    ):
        assert text in page, text
    started = client.post(reverse("training_run", args=[model.uuid]))
    run = CheckerRun.objects.get()
    assert started.url == reverse("run_detail", args=[run.uuid]) and run.parameters["model"] == model.file_hash
    lifecycle.run_here(run.job)
    assert "Trained on this project" in client.get(started.url).content.decode()
    assert reverse("run_detail", args=[run.uuid]) in client.get(response.url).content.decode()
    assert client.post(reverse("training_run", args=[model.uuid])).url == started.url  # the same run is reused
    assert client.post(address, posted | {"minimum": "3"}).status_code == 200  # below the least
    assert TrainedModel.objects.count() == 1


@pytest.mark.slow
def test_a_transformer_is_fine_tuned_by_command_and_judges_the_project(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cross_encoder, "LEARNING_RATE", 3e-2)
    votes = {"agree": "entailment", "once": "contradiction"}
    base = str(voting_bert(tmp_path / "base", ["claim"], {}, second_votes=votes))
    project = make_project()
    decide(project)
    command = ("train_checker", project.slug, "--representation", "cross-encoder", "--source", "decisions")
    for more, message in (
        (("--encoder", "pythia"), "pythia. is neither the absolute path of a folder nor a hub name"),
        (("--source", "rule:x"), "no decisions that are called rule:x"),
        (("--run",), "--run waits for the training"),
        (("--encoder", base), "Relevance: There must be two labels"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command(*command, *more)
    assert not TrainedModel.objects.exists()
    call_command(*command, "--encoder", base, "--skip-rare", "--here", "--run")
    told = capsys.readouterr().out
    model, run = TrainedModel.objects.get(), CheckerRun.objects.get()
    assert model.job.queue == run.job.queue == "gpu"
    scores = model.figures["stance"]["evaluation"]["scores"]
    assert scores["accuracy"] == 1.0
    assert "stance: accuracy 1.000, macro-F1 1.000 out of fold; most frequent label 0." in told and "32 inputs" in told
    labels = dict(Suggestion.objects.filter(run=run, dimension="stance").values_list("unit__evidence__text", "label"))
    assert {label for text, label in labels.items() if "never" in text} == {"refutes"} and len(labels) == 32
    page = client_of(project.created_by).get(reverse("training_detail", args=[model.uuid])).content.decode()
    assert "Fine-tuned transformer" in page and f"Both texts, read by {base}" in page
    lists = client_of(project.created_by).get(reverse("project_training", args=[project.slug])).content.decode()
    assert f"cross-encoder, {base}</a>" in lists


def test_who_still_labels_here_sees_no_figures():
    project = make_project(10)
    decide(project)
    model = trained_on(project)
    factories.join(project, project.created_by, Membership.Role.ANNOTATOR)
    client = client_of(project.created_by)
    page = client.get(reverse("training_detail", args=[model.uuid])).content.decode()
    assert "You still have items to label" in page and "Per fold" not in page
    page = client.get(reverse("project_training", args=[project.slug])).content.decode()
    assert "are hidden until you finish them" in page and "Labels to learn from" not in page
    posted = {"source": "majority", "representation": "lexical", "classifier": "logistic", "minimum": "10"}
    page = client.post(reverse("project_training", args=[project.slug]), posted).content.decode()
    assert "There are too few labels to learn from yet" in page and "no label at all" not in page


def test_a_task_without_checkers_has_nothing_to_train():
    project = factories.make_project(factories.make_dataset(), "nli/atomic-claim/1", with_items=False)
    page = client_of(project.created_by).get(reverse("project_training", args=[project.slug])).content.decode()
    assert "Nothing to train here" in page and '<form method="post" class="card' not in page


def test_the_list_asks_the_same_number_of_queries_however_many_there_are(django_assert_max_num_queries):
    project = make_project(10)
    decide(project)
    for _ in range(3):
        training.start_training(project, project.created_by, QUICK, wake_workers=False)
    client = client_of(project.created_by)
    client.get(reverse("project_training", args=[project.slug]))
    with django_assert_max_num_queries(20):
        client.get(reverse("project_training", args=[project.slug]))


def test_the_kind_of_trained_checkers_is_that_of_the_registry():
    from models_runtime import get_info

    assert get_info("trained").kind == trained_models.KIND


# ---- hidden states ----


def test_hidden_states_of_a_language_model_are_learnt_from_and_run(tmp_path):
    """The model's state says whether the text has the word: no measure of shared words could."""
    model = str(voting_llama(tmp_path / "model", {"froze": "True", "never": "False"}))
    project = make_project()
    decide(project)
    client = client_of(project.created_by)
    address = reverse("project_training", args=[project.slug])
    posted = {
        "source": "decisions",
        "representation": "hidden-states",
        "hidden_model": model,
        "layers": "-1",
        "pooling": "last",
        "classifier": "logistic",
        "minimum": "10",
        "skip_rare": "on",
    }
    for wrong, message in (
        ({"hidden_model": "pythia"}, "neither the absolute path of a folder nor a hub name"),
        ({"layers": "first"}, "neither “all” nor numbers"),
    ):
        assert message in client.post(address, posted | wrong).content.decode()
    assert not TrainedModel.objects.exists()
    response = client.post(address, posted)
    trained = TrainedModel.objects.get()
    assert trained.job.queue == "gpu"
    job = lifecycle.run_here(trained.job)
    assert job.state == Job.State.DONE, job.message
    trained.refresh_from_db()
    assert trained.figures["stance"]["evaluation"]["scores"]["accuracy"] == 1.0
    assert trained.provenance["encoder_revision"].startswith("sha256:") and trained.provenance["layers"] == "1"
    page = client.get(response.url).content.decode()
    assert "Hidden states of a language model" in page and "1 (the last token)" in page
    client.post(reverse("training_run", args=[trained.uuid]))
    run = CheckerRun.objects.get()
    assert run.job.queue == "gpu" and lifecycle.run_here(run.job).state == Job.State.DONE
    assert Suggestion.objects.filter(run=run, dimension="stance").count() == 32


def test_without_its_language_model_a_training_fails_with_what_to_type(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    project = make_project()
    decide(project)
    page = client_of(project.created_by).get(reverse("project_training", args=[project.slug])).content.decode()
    assert "is not on this machine yet; download it with: hf download EleutherAI/pythia-410m" in page
    request = TrainingRequest(
        classifier="logistic", representation="hidden-states", skip_rare=True, hidden_model="EleutherAI/pythia-410m"
    )
    model = training.start_training(project, project.created_by, request, wake_workers=False)
    job = lifecycle.run_here(model.job)
    assert job.state == Job.State.FAILED and "hf download EleutherAI/pythia-410m" in job.message


def test_labels_are_counted_as_they_are_now():
    project = make_project(4)
    decide(project)

    def stance() -> dict[str, int]:
        return dict(queries.label_counts(project.type, queries.count_labels([project])[project.pk])[-1].rows)

    assert stance()["Supports"] == 4
    unit = Unit.objects.filter(evidence__text__contains="never").first()
    adjudicating.decide(project, project.created_by, unit, "stance", "supports")
    assert stance()["Supports"] == 5
