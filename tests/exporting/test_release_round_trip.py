"""A release, imported into an empty Assay and frozen again, is the same: its hash, and every report from its files."""

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from analysis.releases import freezing
from analysis.releases.writing import write_frames
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.releases.files import zipped
from annotation.datasets.managing import update_dataset
from annotation.decisions import adjudicating
from annotation.machines.generations.publishing import why_not
from annotation.machines.runs import reuse, suggesting
from annotation.models import (
    Annotation,
    Assignment,
    Decision,
    GenerationRun,
    GuidelineAcknowledgement,
    Item,
    Job,
    Judgement,
    KeyResult,
    Project,
    Rater,
    Revision,
    RunFailure,
    Suggestion,
    Thread,
)
from annotation.projects import guidelines
from tests.analysis.test_old_releases import FROZEN
from tests.analysis.test_releases import computed, lively
from tests.factories import join, make_suggestions, make_user
from tests.own_database import ROOT
from tests.second_assay import run_in_empty_assay
from tests.world.labels import quickly_but_at_first_kind

pytestmark = pytest.mark.django_db

WRITTEN = {"answered": 11, "abstained": 2, "failed": 1, "failures": {"timeout": 1}}


def through_an_empty_assay(source: Path, folder: Path, project: str) -> Path:
    """The release that an Assay with a database of its own makes of what it imported from this one."""
    chosen = ["--format", "assay", "--dataset", "second", "--project", project, "--with-settings"]
    run_in_empty_assay(folder, ["import_dataset", str(source), *chosen], ["release", project, str(folder / "release")])
    return folder / "release"


def adjudicated(identifier: str) -> Project:
    """Answers of members with a suggestion seen, runs with scores and a failure; three adjudications by two people, one
    of them changed and one withdrawn; an imported decision; acknowledged guidelines; a marked answer."""
    project = lively(identifier)
    Decision.objects.all().delete()
    dimension = project.type.dimensions[0]
    units = list(Suggestion.objects.order_by("unit__key").values_list("unit", flat=True).distinct())[:3]
    units = [Suggestion.objects.filter(unit=unit).first().unit for unit in units]
    judges = [join(project, make_user(), "adjudicator") for _ in range(2)]
    for unit in units:
        adjudicating.decide(project, judges[0], unit, dimension.slug, dimension.values[0], "Looked twice.")
    adjudicating.decide(project, judges[1], units[0], dimension.slug, dimension.values[-1])
    adjudicating.withdraw(project, judges[1], units[1], dimension.slug, "Too hasty")
    place = {"project": project, "unit": units[2], "dimension": dimension.slug}
    Decision.objects.create(**place, label=dimension.values[1], method="imported")
    guidelines.publish(project, project.created_by, "Read three times.")
    update_dataset(project.dataset, project.created_by, text_formats={"evidence": "markdown", "response": "html"})
    rater = project.raters.filter(annotations__isnull=False).first()
    GuidelineAcknowledgement.objects.create(rater=rater, version=1, acknowledged_at=timezone.now())
    some = Revision.objects.filter(annotation__item__project=project).order_by("pk")
    some.filter(pk=some[0].pk).update(labels_seen=True, guideline_version=1)
    Assignment.objects.filter(pk=some[0].annotation.assignment_id).update(reason=Assignment.Reason.FURTHER)
    commented = some[0].annotation
    thread = Thread.objects.create(
        project=project, item_id=commented.item_id, rater_id=commented.rater_id, changed_at=timezone.now()
    )
    thread.replies.create(author=judges[0], is_annotators=False, text="The first\nof the two.")
    learned_and_skipped(project, judges[0])
    run = project.checker_runs.get(checker="lexical")
    RunFailure.objects.create(run=run, unit=units[0], reason="too-long", message="", is_permanent=True)
    Suggestion.objects.filter(run=run, unit=units[0]).delete()
    reasoned = Suggestion.objects.filter(run=run).order_by("pk").first()
    Suggestion.objects.filter(pk=reasoned.pk).update(explanation="It says so\nin two lines.")
    GenerationRun.objects.create(
        project=project,
        job=Job.objects.create(kind="generation", state="done", project=project, created_by=judges[0], result=WRITTEN),
        generator="llm-answers",
        version="1",
        parameters={"form": "sentences"},
        provenance={"model": "m", "prompts": [{"name": "answer", "version": "1"}]},
        passages="own",
        most_passages=3,
        repetitions=2,
        context_setting="given passages",
        created_by=judges[0],
    )
    return project


def learned_and_skipped(project: Project, lead) -> None:
    """Two tries of a qualification, a passed check and a failed one; of two skips one was flagged, and replied to."""
    rater = project.raters.filter(kind=Rater.Kind.MEMBER, annotations__isnull=False).first()
    results = [("qualification", 1, 0), ("qualification", 2, 1), ("check", 1, 1), ("check", 1, 0)]
    item = Item.objects.filter(project=project, state="active").order_by("key").first()
    for place, (purpose, attempt, right) in enumerate(results):
        apart = Item.objects.create(
            project=project, anchor=item.anchor, key=item.key, state="apart", position=10**9 + place, planned=0
        )
        revision = Annotation.objects.create(item=apart, rater=rater).revisions.create(number=1)
        KeyResult.objects.create(
            revision=revision, item=apart, rater=rater, purpose=purpose, attempt=attempt, right=right, asked=1
        )
    for flag in (False, True):
        user = join(project, make_user())
        skipper = Rater.objects.create(project=project, kind=Rater.Kind.MEMBER, user=user, name=str(user))
        skip = {"state": "skipped", "rater": skipper, "done_at": timezone.now(), "is_flagged": flag}
        words = "Cut\noff." if flag else ""
        item.assignments.create(project=project, position=item.position, skip_reason=words, **skip)
    thread = Thread.objects.create(project=project, item=item, rater=skipper, changed_at=timezone.now())
    thread.replies.create(author=lead, is_annotators=False, text="So it is.")


@pytest.mark.parametrize(
    "identifier",
    ["claim-evidence/six-way/1", "triplets/-/1", pytest.param("aspect-coverage/-/1", marks=pytest.mark.slow)],
)
def test_a_release_imported_and_frozen_again_has_the_same_hash_and_the_same_reports(identifier, tmp_path):
    project = adjudicated(identifier)
    first = freezing.write_release(project, tmp_path / "first")
    zipped(tmp_path / "first", tmp_path / "first.zip")
    again = through_an_empty_assay(tmp_path / "first.zip", tmp_path / "second", project.slug)
    second = json.loads((again / "manifest.json").read_text(encoding="utf-8"))
    assert second["files"] == first["files"] and "frames/generations.jsonl" in first["files"]
    assert second["release"]["sha256"] == first["release"]["sha256"]
    first = json.loads((tmp_path / "first" / "manifest.json").read_text(encoding="utf-8"))
    for name in ("settings", "labels", "counts", "text_formats"):
        assert second[name] == first[name], name
    suggestions = (again / "frames" / "suggestions.jsonl").read_text(encoding="utf-8")
    assert suggestions.count('"explanation":"It says so\\nin two lines."') == 1 == suggestions.count('"explanation"')
    answers = (again / "annotations.jsonl").read_text(encoding="utf-8")
    assert answers.count('"by":"researcher"') == answers.count('"text":"The first\\nof the two."') == 1
    results, skips = ((again / "frames" / f"{name}.jsonl").read_text() for name in ("key_results", "skips"))
    assert results.count('"purpose":"qualification"') == results.count('"purpose":"check"') == 2
    assert skips.count('"flagged":true') == skips.count('"text":"So it is."') == 1 and len(skips.splitlines()) == 2
    one, other = source_of_files(tmp_path / "first"), source_of_files(again)
    write_frames(one, tmp_path / "read")
    for name in ("key_results", "skips"):
        file = f"frames/{name}.jsonl"
        assert (tmp_path / "read" / file).read_bytes() == (again / file).read_bytes(), "read back without a database"
    assert one.has_checks() and [tuple(row)[1:] for row in other.check_frame().to_numpy()] == [(2, 1)]
    assert one.generations() == other.generations() == DatabaseSource(project).generations()
    assert [run.counts for run in other.generations()] == [WRITTEN]
    assert one.decision_history().astype(str).equals(other.decision_history().astype(str))
    assert len(one.further()) == len(other.further()) == 1
    assert len(one.decision_history()) == 6 and len(one.acknowledgement_frame()) == 1
    with quickly_but_at_first_kind(identifier):
        assert computed(one) == computed(other) == computed(DatabaseSource(project))


def imported(path: Path, slug: str) -> Project:
    make_user("importer", is_superuser=True)
    chosen = {"format": "assay", "dataset": slug, "project": slug, "with_settings": True, "verbosity": 0}
    call_command("import_dataset", str(path), owner="importer@example.org", **chosen)
    return Project.objects.get(slug=slug)


def test_what_came_is_nobodys_here_and_no_run_goes_on_or_gives_answers(tmp_path, client):
    """Beside the project that it was frozen from: runs get ids of their own, which exposures follow; members are
    nobody's account; a run with the same checker takes nothing from what came."""
    project = adjudicated("claim-evidence/six-way/1")
    freezing.write_release(project, tmp_path / "first")
    zipped(tmp_path / "first", tmp_path / "first.zip")
    copy = imported(tmp_path / "first.zip", "copy")
    assert not copy.raters.exclude(user=None).exists() and not copy.raters.filter(kind=Rater.Kind.MEMBER).exists()
    kinds = [DatabaseSource(one).everybody()[["rater", "kind"]].values.tolist() for one in (project, copy)]
    assert kinds[0] == kinds[1] and {kind for _, kind in kinds[0]} == {"member"}
    assert not copy.assignments.exists() and copy.memberships.filter(role="annotator").count() == 0
    runs = {run.checker: run for run in copy.checker_runs.all()}
    old = {run.checker: run for run in project.checker_runs.all()}
    assert set(runs) == set(old) and {run.origin["run"] for run in runs.values()} == {str(r.uuid) for r in old.values()}
    assert not {run.uuid for run in runs.values()} & {run.uuid for run in old.values()}
    seen = [one for one in DatabaseSource(copy).exposure_frame().itertuples()]
    assert [(one.run, one.checker) for one in seen] == [(str(runs["fake"].uuid), "fake")]
    assert suggesting.retry_failures(runs["lexical"], include_permanent=True) == 0
    generation = copy.generation_runs.get()
    client.force_login(copy.created_by)
    shown = client.get(reverse("generation_detail", args=[generation.uuid])).content.decode()
    assert "given passages" in shown and "Nothing was written" in why_not(generation)
    assert runs["fake"].job.state == "done" and not runs["fake"].job.chunks.exists()
    Suggestion.objects.update(input_hash="h")
    units = [unit for unit in copy.items.values_list("item_units__unit", flat=True) if unit]
    hashes = dict.fromkeys(units, "h")
    assert reuse.find_answers(runs["lexical"], {}, hashes) == {}
    decided = [sorted(one.decisions.values_list("unit__key", "method", "number", "label")) for one in (project, copy)]
    assert decided[0] == decided[1]


def test_formats_of_texts_go_out_and_come_back(tmp_path):
    """A data set that says how its texts are shown keeps that; a format that is not known is refused."""
    (tmp_path / "t.csv").write_text("id,text,annotator,tone\n1,So *good*.,ann,0\n1,So *good*.,ben,1\n")
    make_user("owner", is_superuser=True)
    options = {"format": "ratings", "dataset": "t", "project": "t", "owner": "owner@example.org", "verbosity": 0}
    call_command("import_dataset", str(tmp_path / "t.csv"), **options)
    project = Project.objects.get(slug="t")
    unformatted = freezing.write_release(project, tmp_path / "unformatted")
    update_dataset(project.dataset, project.created_by, text_formats={"claim": "markdown"})
    first = freezing.write_release(project, tmp_path / "first")
    assert first["release"]["sha256"] != unformatted["release"]["sha256"]
    assert first["release"]["labels_sha256"] == unformatted["release"]["labels_sha256"]
    zipped(tmp_path / "first", tmp_path / "first.zip")
    copy = imported(tmp_path / "first.zip", "copy")
    assert copy.dataset.text_formats == {"claim": "markdown"}
    assert freezing.write_release(copy, tmp_path / "again")["release"]["sha256"] == first["release"]["sha256"]
    update_dataset(copy.dataset, copy.created_by, text_formats={"claim": "plain"})
    chosen = {"format": "assay", "dataset": "copy", "owner": "importer@example.org", "verbosity": 0}
    call_command("import_dataset", str(tmp_path / "first.zip"), **chosen)
    copy.dataset.refresh_from_db()
    assert copy.dataset.text_formats == {"claim": "plain"}
    manifest = json.loads((tmp_path / "first" / "manifest.json").read_text())
    wrong = json.dumps(manifest | {"text_formats": {"claim": "tex"}})
    (tmp_path / "first" / "manifest.json").write_text(wrong)
    with pytest.raises(CommandError, match=r"text_formats\.claim: texts are claim, .* formats plain, markdown"):
        call_command("import_dataset", str(tmp_path / "first"), **chosen)


def test_groups_of_raters_go_out_and_come_back(tmp_path):
    """Names stay behind, and what they began with: the group is said, and nothing else."""
    rows = [f"{n},Text {n}.,{group},Rosa Secret {who},{(n * who) % 3}" for n in range(6)
            for group, who in (("expert", 1), ("expert", 2), ("crowd", 1), ("crowd", 4))]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["id,text,group,annotator,tone", *rows]))
    make_user("owner", is_superuser=True)
    chosen = {"format": "ratings", "dataset": "t", "project": "t", "owner": "owner@example.org", "verbosity": 0}
    call_command("import_dataset", str(tmp_path / "t.csv"), **chosen)
    first = freezing.write_release(Project.objects.get(slug="t"), tmp_path / "first")
    text = (tmp_path / "first" / "annotations.jsonl").read_text()
    assert '"annotator_group":"expert"' in text and "Rosa" not in text
    zipped(tmp_path / "first", tmp_path / "first.zip")
    copy = imported(tmp_path / "first.zip", "copy")
    again = freezing.write_release(copy, tmp_path / "again")
    assert again["release"]["sha256"] == first["release"]["sha256"]
    report, sources = get_report("agreement"), [source_of_files(tmp_path / "first"), DatabaseSource(copy)]
    assert [one.rater_groups() for one in sources] == [["crowd", "expert"]] * 2
    experts = [report.compute(one, raters="group:expert") for one in sources]
    assert experts[0]["dimensions"][0]["figures"] == experts[1]["dimensions"][0]["figures"]
    assert experts[0]["n_raters"] == 2 and report.compute(sources[0])["pooled"] == ["crowd", "expert"]


def test_an_old_release_comes_in_with_its_decisions_by_their_methods(tmp_path):
    """Frozen before decisions had a history: two were adjudicated, one imported, and most units have a majority."""
    copy = imported(FROZEN, "frozen-before")
    assert sorted(copy.decisions.values_list("unit__key", "dimension", "method", "label")) == [
        ("demo-01-1", "relevance", "adjudicated", "relevant"),
        ("demo-01-2", "relevance", "adjudicated", "not_relevant"),
        ("demo-01-3", "relevance", "imported", "relevant"),
    ]
    before = source_of_files(FROZEN)
    freezing.write_release(copy, tmp_path / "again")
    after = source_of_files(tmp_path / "again")
    assert before.files.manifest["release"]["labels_sha256"] == after.files.manifest["release"]["labels_sha256"]
    for name in ("runs", "suggestions", "answers", "items", "raters", "units"):
        file = f"frames/{name}.jsonl"
        assert before.files.manifest["files"][file] == after.files.manifest["files"][file], name
    some = ("agreement", "annotators", "comparison", "prevalence", "prefill-trial")
    assert computed(before, some) == computed(after, some)


REFCHECKER = ROOT.parent / "shared" / "data" / "refchecker" / "zero_context"


@pytest.mark.slow
@pytest.mark.skipif(not REFCHECKER.is_dir(), reason="needs the real RefChecker files")
def test_refchecker_comes_back_with_its_six_adjudications_and_no_other_decision(tmp_path):
    make_user("owner", is_superuser=True)
    files = sorted(map(str, REFCHECKER.iterdir()))[:2]
    chosen = {"format": "refchecker", "dataset": "rc", "project": "rc", "owner": "owner@example.org", "verbosity": 0}
    call_command("import_dataset", *files, **chosen)
    project = Project.objects.get(slug="rc")
    make_suggestions(project, checker="fake")
    judge = join(project, make_user("judge"), "adjudicator")
    labelled = Judgement.objects.filter(revision__annotation__item__project=project).order_by("unit__key")[:6]
    for one in labelled.select_related("unit"):
        adjudicating.decide(project, judge, one.unit, "entailment", "neutral")
    first = freezing.write_release(project, tmp_path / "first")
    zipped(tmp_path / "first", tmp_path / "first.zip")
    again = through_an_empty_assay(tmp_path / "first.zip", tmp_path / "second", "rc")
    second = source_of_files(again)
    assert second.files.manifest["release"]["sha256"] == first["release"]["sha256"]
    assert second.decision_methods() == ["adjudicated"] and len(second.decision_frame("adjudicated")) == 6
    assert first["counts"]["units"] > 100
