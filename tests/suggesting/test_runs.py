"""Checker runs, worked off in this process: what is stored, what fails alone, what is reused."""

import pytest
from django.core.management import CommandError, call_command

from annotation.jobs import lifecycle
from annotation.machines.runs import predicting, suggesting
from annotation.models import CheckerRun, ContentBatch, Item, Job, Project, RunFailure, Score, Suggestion, Unit
from models_runtime.contracts import ParameterError
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)


def project_of(n=30, **options) -> Project:
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    return factories.make_project(dataset, **options)


def run_here(project, checker="fake", **parameters) -> CheckerRun:
    run = suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)
    lifecycle.run_here(run.job)
    return CheckerRun.objects.select_related("job").get(pk=run.pk)


def test_every_unit_gets_one_answer_with_its_scores_spans_and_provenance(small_chunks):
    project = project_of(25)
    run = run_here(project, label="supports")
    assert run.job.state == Job.State.DONE
    assert run.job.chunks.count() == 3 + 1
    assert Suggestion.objects.filter(run=run, dimension="relevance").values("unit").distinct().count() == 25
    assert Score.objects.filter(run=run, name="draw").count() == 25
    stances = Suggestion.objects.filter(run=run, dimension="stance").select_related("unit__evidence")
    relevant = Suggestion.objects.filter(run=run, dimension="relevance", label="relevant").count()
    # Stance is asked of relevant evidence only.
    assert 0 < len(stances) == relevant < 25
    for stance in stances:
        assert stance.label == "supports" and stance.probability == pytest.approx(0.9)
        (span,) = stance.spans
        assert stance.unit.evidence.text[span["start"] : span["end"]] == span["quote"] != ""
    assert run.provenance["checker"] == "fake" and run.provenance["parameters"]["label"] == "supports"
    assert run.job.result["labels"]["stance"] == {"supports": relevant}
    assert run.job.result["scores"]["draw"]["n"] == 25


def test_triplets_are_judged_against_all_passages_of_their_question():
    dataset = factories.make_dataset()
    factories.make_responses_with_triplets(dataset, 2, triplets=[3, 0], passages=2)
    project = factories.make_project(dataset, "triplets/-/1")
    run = run_here(project, "lexical")
    assert run.job.state == Job.State.DONE, run.job.message
    assert Suggestion.objects.filter(run=run, dimension="entailment").count() == 3
    unit = Unit.objects.filter(kind="triplet").first()
    from annotation.machines.runs.checker_inputs import checker_inputs

    fields = checker_inputs(project.type, [unit.pk])[unit.pk].fields
    assert fields == {"claim": "head 0 is tail 0", "passages": ("Passage 0 of 0.", "Passage 1 of 0.")}


def test_an_input_that_cannot_be_answered_fails_alone_with_its_reason():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3, texts=["The harbour froze over.", "   ", "Nothing of the kind."])
    project = factories.make_project(dataset)
    run = run_here(project, "lexical")
    assert run.job.state == Job.State.DONE
    failure = RunFailure.objects.get(run=run)
    assert (failure.reason, failure.is_permanent, failure.unit.evidence.text) == ("empty-evidence", True, "   ")
    assert Suggestion.objects.filter(run=run, dimension="relevance").count() == 2


class BreakingChecker:
    """Breaks as a whole where a text holds `word`; answers nothing but scores otherwise."""

    def __init__(self, word):
        self.word, self.asked = word, []

    def describe(self):
        return {"checker": "fake", "version": "1"}

    def predict(self, inputs):
        from models_runtime.contracts import Prediction

        self.asked.append(len(inputs))
        if any(self.word in item.fields["evidence"] for item in inputs):
            raise RuntimeError(f"cannot read {self.word}")
        return [Prediction(item.id, scores={"length": 1.0}) for item in inputs]


def test_a_checker_that_breaks_on_one_input_answers_the_others(monkeypatch):
    monkeypatch.setattr(suggesting.registry, "load", lambda *args: BreakingChecker("Report 7 "))
    run = run_here(project_of(20))
    assert run.job.state == Job.State.DONE
    assert run.failures.get().message == "RuntimeError: cannot read Report 7 "
    assert run.scores.count() == 19


def test_a_checker_that_breaks_on_everything_fails_the_job_after_some_attempts_and_resumes(monkeypatch):
    project = project_of(20)
    with monkeypatch.context() as patch:
        patch.setattr(suggesting.registry, "load", lambda *args: BreakingChecker("Report"))
        run = run_here(project)
    assert run.job.state == Job.State.FAILED
    assert run.job.message == "RuntimeError: cannot read Report"
    assert run.job.chunks.get(index=0).attempts == lifecycle.MAX_ATTEMPTS
    assert not run.failures.exists() and not run.suggestions.exists()
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert run.suggestions.filter(dimension="relevance").count() == 20


def test_an_answer_outside_the_label_set_is_a_counted_failure(monkeypatch):
    from models_runtime.contracts import LabelPrediction, Prediction

    class Liar(BreakingChecker):
        def predict(self, inputs):
            wrong = {"stance": LabelPrediction("maybe", 1.0, {"maybe": 1.0})}
            undefined = {"relevance": LabelPrediction("relevant", float("nan"), {})}
            return [Prediction(item.id, wrong if int(item.id) % 2 else undefined) for item in inputs]

    monkeypatch.setattr(suggesting.registry, "load", lambda *args: Liar(""))
    run = run_here(project_of(6))
    assert run.failures.filter(reason="invalid-answer", is_permanent=True).count() == 6
    assert not run.suggestions.exists()


def test_failed_inputs_can_be_tried_again_and_permanent_ones_are_left(small_chunks, monkeypatch):
    project = project_of(60)
    run = run_here(project, failure_share=0.3, permanent_failure_share=0.2)
    transient = run.failures.filter(is_permanent=False).count()
    permanent = run.failures.filter(is_permanent=True).count()
    assert transient > 3 and permanent > 3
    # The trouble is over: what the checker said of the failed inputs before is gone from the draw.
    healed = suggesting.registry.load("fake", suggesting.label_spaces(project.type))
    healed.describe = lambda: run.provenance
    monkeypatch.setattr(suggesting.registry, "load", lambda *args: healed)
    assert suggesting.retry_failures(run) == transient
    assert suggesting.retry_failures(run) == 0  # it is under way already
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert run.failures.count() == permanent
    assert run.suggestions.filter(dimension="relevance").count() == 60 - permanent
    assert run.job.result["failed"] == permanent


def test_units_withdrawn_after_the_start_are_counted_as_failures_and_retired_items_left_out():
    project = project_of(9)
    retired = Item.objects.filter(project=project).first()
    Item.objects.filter(pk=retired.pk).update(state=Item.State.RETIRED)
    run = suggesting.start_run(project, project.created_by, "fake", wake_workers=False)
    assert run.job.progress_total == 8
    ContentBatch.objects.filter(dataset=project.dataset).update(state=ContentBatch.State.DISCARDED)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert run.failures.filter(reason="withdrawn", is_permanent=True).count() == 8
    assert not run.suggestions.exists()


def test_the_same_run_is_offered_instead_of_a_second_one():
    project = project_of(5)
    run = run_here(project, seed=1)
    with pytest.raises(suggesting.SameRun) as same:
        suggesting.start_run(project, project.created_by, "fake", {"seed": 1})
    assert same.value.run == run
    other = suggesting.start_run(project, project.created_by, "fake", {"seed": 2}, wake_workers=False)
    with pytest.raises(suggesting.SameRun):  # unfinished
        suggesting.start_run(project, project.created_by, "fake", {"seed": 2})
    lifecycle.request_cancel(other.job)
    assert suggesting.start_run(project, project.created_by, "fake", {"seed": 2}, wake_workers=False) != other
    assert suggesting.start_run(project, project.created_by, "fake", {"seed": 1}, again=True, wake_workers=False) != run
    factories.make_claim_evidence(project.dataset, 2, prefix="new")
    factories.make_items(project)
    assert suggesting.start_run(project, project.created_by, "fake", {"seed": 1}, wake_workers=False) != run


def test_what_does_not_fit_is_refused_by_name():
    project = project_of(2)
    with pytest.raises(ParameterError, match="softness"):
        suggesting.start_run(project, project.created_by, "lexical", {"softness": 0})
    with pytest.raises(suggesting.RunError, match="no checker 'oracle'"):
        suggesting.start_run(project, project.created_by, "oracle", {})
    empty = factories.make_project(factories.make_dataset())
    with pytest.raises(suggesting.RunError, match="no units"):
        suggesting.start_run(empty, empty.created_by, "fake", {})
    Project.objects.filter(pk=project.pk).update(state=Project.State.PREPARING)
    project.refresh_from_db()
    with pytest.raises(suggesting.RunError, match="still being made"):
        suggesting.start_run(project, project.created_by, "fake", {})


@pytest.mark.parametrize("prefill, chosen", [("off", False), ("shown", True), ("after", True)])
def test_the_first_finished_run_is_shown_where_the_project_shows_suggestions(prefill, chosen):
    project = project_of(3, prefill=prefill)
    version = project.label_version
    first = run_here(project, seed=1)
    second = run_here(project, seed=2)
    project.refresh_from_db()
    assert project.prefill_run == (first if chosen else None)
    assert project.label_version == version + 2
    suggesting.show_to_annotators(second)
    project.refresh_from_db()
    assert project.prefill_run == second


def test_a_run_does_not_go_on_with_another_version_or_model(small_chunks, monkeypatch):
    run = suggesting.start_run(project := project_of(15), project.created_by, "fake", wake_workers=False)
    lifecycle.work_on(run.job_id, turn_seconds=0)
    CheckerRun.objects.filter(pk=run.pk).update(version="0")
    assert lifecycle.run_here(run.job).state == Job.State.FAILED
    assert "began with version 0 of fake" in run.job.message
    run.refresh_from_db()
    CheckerRun.objects.filter(pk=run.pk).update(version="1", provenance=run.provenance | {"revision": "abc"})
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.FAILED
    assert "began with revision 'abc'" in run.job.message
    assert run.suggestions.filter(dimension="relevance").count() == 10


def test_a_run_goes_on_where_an_upgrade_brought_a_parameter_and_not_where_one_has_changed(small_chunks):
    run = suggesting.start_run(project := project_of(15), project.created_by, "fake", {"seed": 3}, wake_workers=False)
    lifecycle.work_on(run.job_id, turn_seconds=0)
    run.refresh_from_db()
    begun = run.provenance
    CheckerRun.objects.filter(pk=run.pk).update(provenance=begun | {"parameters": begun["parameters"] | {"seed": 4}})
    assert lifecycle.run_here(run.job).state == Job.State.FAILED
    assert "began with parameters" in run.job.message and "'seed': 4" in run.job.message
    known = {"seed": 3}  # all that there was when it began
    assert known.keys() < begun["parameters"].keys()
    CheckerRun.objects.filter(pk=run.pk).update(parameters=known, provenance=begun | {"parameters": known})
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    run.refresh_from_db()
    assert run.provenance["parameters"] == known and run.suggestions.filter(dimension="relevance").count() == 15
    assert run.provenance["other_workers"][0]["parameters"] == begun["parameters"]


def test_workers_with_another_device_are_on_record_beside_the_first(small_chunks, monkeypatch):
    run = suggesting.start_run(project := project_of(15), project.created_by, "fake", wake_workers=False)
    lifecycle.work_on(run.job_id, turn_seconds=0)
    CheckerRun.objects.filter(pk=run.pk).update(
        provenance=CheckerRun.objects.get(pk=run.pk).provenance | {"device": "cuda"}
    )
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    run.refresh_from_db()
    assert run.provenance["device"] == "cuda"
    assert [other["device"] for other in run.provenance["other_workers"]] == ["cpu"]


def test_the_command_works_a_run_off_and_names_what_is_wrong(capsys):
    project = project_of(4)
    call_command("run_checker", project.slug, "fake", "--param", "seed=3", "--here")
    assert "4 inputs in" in capsys.readouterr().out
    run = CheckerRun.objects.get(project=project)
    assert run.parameters["seed"] == 3 and run.job.state == Job.State.DONE
    call_command("run_checker", project.slug, "fake", "--param", "seed=3", "--here")
    assert "already exists" in capsys.readouterr().out
    assert CheckerRun.objects.count() == 1
    for arguments, message in [
        (("nowhere", "fake"), "no project"),
        ((project.slug, "fakir"), "no checker 'fakir'"),
        ((project.slug, "fake", "--param", "seed=x"), "not of type int"),
        ((project.slug, "fake", "--param", "sead=1"), "no such parameter"),
        ((project.slug, "fake", "--param", "seed"), "NAME=VALUE"),
        ((project.slug, "fake", "--user", "nobody@example.org"), "nobody"),
    ]:
        with pytest.raises(CommandError, match=message):
            call_command("run_checker", *arguments)


def test_slices_grow_while_they_are_quick_and_shrink_when_they_are_slow():
    assert predicting.next_size(32, 0.2) == 64
    assert predicting.next_size(64, 2.0) == 64
    assert predicting.next_size(64, 9.0) == 32
    assert predicting.next_size(1, 9.0) == 1
    assert predicting.next_size(predicting.MAX_SLICE_SIZE, 0.0) == predicting.MAX_SLICE_SIZE
