"""Labels that come with a file: whose they are, what is refused, and what a second import does."""

import json

import pytest

from annotation.imports import importing
from annotation.imports.importing import ImportRequest, ProjectWish
from annotation.jobs import lifecycle
from annotation.models import Annotation, Evidence, Judgement, Project, Rater, Revision, Span
from tests.factories import make_dataset
from tests.importing.files import druid_rows, write_druid

pytestmark = pytest.mark.django_db

TASK = "claim-evidence/six-way/1"


def line(item: str, rater: str = "r-1", stance: str = "refutes", spans=(), **changed) -> dict:
    judgements = [
        {"unit": item, "dimension": "relevance", "label": "relevant", "spans": []},
        {"unit": item, "dimension": "stance", "label": stance, "spans": list(spans)},
    ]
    row = {"item": item, "task_type": TASK, "annotator": rater, "annotator_kind": "person", "revision": 1}
    row |= {"submitted_at": "2026-03-01T10:00:00Z", "active_ms": 4200, "guideline_version": 2, "comment": "hm"}
    return row | {"suggestion_shown": True, "judgements": judgements} | changed


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def bring(dataset, tmp_path):
    """Import content and these annotation lines as an Assay export; the finished job."""
    content = write_druid(tmp_path / "content.tsv", druid_rows(4))

    def bring(lines, is_dry_run=False):
        labels = tmp_path / "annotations.jsonl"
        labels.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
        request = ImportRequest("assay", importing.files_of_paths([content, labels]), project=ProjectWish("p"))
        return lifecycle.run_here(
            importing.start(dataset.owner, dataset, request, is_dry_run=is_dry_run, wake_workers=False)
        )

    return bring


KEYS = [row["id"] for row in druid_rows(4)]


def test_annotations_keep_rater_revision_times_and_spans(bring):
    quote = {"field": "evidence", "start": 0, "end": 6, "quote": "Report"}
    lines = [line(KEYS[0], spans=[quote]), line(KEYS[0], rater="slot 1", annotator_kind="slot", surplus=True)]
    lines.append(line(KEYS[0], stance="supports", revision=2, suggestion_shown=None))
    job = bring(lines)
    assert job.state == "done", job.message
    assert Project.objects.get().task_type == TASK
    raters = {rater.pseudonym: rater.kind for rater in Rater.objects.exclude(kind="member")}
    assert raters == {"r-1": "external", "slot 1": "slot"}
    first, second = Revision.objects.filter(annotation__rater__pseudonym="r-1").order_by("number")
    assert (first.is_latest, second.is_latest) == (False, True)
    assert (first.active_ms, first.guideline_version, first.comment, first.suggestion_shown) == (4200, 2, "hm", True)
    assert first.submitted_at.isoformat() == "2026-03-01T10:00:00+00:00"
    assert first.client_id is None
    assert Span.objects.get().quote == "Report"
    assert Annotation.objects.get(rater__pseudonym="slot 1").is_surplus


def test_a_changed_label_becomes_a_further_revision(bring):
    bring([line(KEYS[0]), line(KEYS[1])])
    assert bring([line(KEYS[0]), line(KEYS[1])]).result["labels_stored"]["unchanged"] == 2
    changed = [line(KEYS[0], stance="supports"), line(KEYS[1])]
    done = bring(changed).result["labels_stored"]
    assert (done["annotations"], done["revisions"], done["unchanged"]) == (0, 1, 1)
    latest = Revision.objects.get(annotation__item__key=KEYS[0], is_latest=True)
    assert latest.number == 2
    assert latest.judgements.get(dimension="stance").label == "supports"
    assert Judgement.objects.filter(label="refutes").count() == 2
    assert bring(changed).result["labels_stored"]["unchanged"] == 2


@pytest.mark.parametrize(
    ("wrong", "column", "reason"),
    [
        (line(KEYS[1], stance="maybe"), "stance", "is not one of the task type's labels"),
        (line("no such item"), "item", "names no evidence of this file or of the data set"),
        (line(KEYS[1], task_type="triplets/-/1"), "task_type", "is not the project's task type"),
        (
            line(KEYS[1], judgements=[{"unit": KEYS[2], "dimension": "stance", "label": "refutes"}]),
            "unit",
            "is not the",
        ),
        (
            line(KEYS[1], judgements=[{"unit": KEYS[1], "dimension": "mood", "label": "x"}]),
            "dimension",
            "is not one of",
        ),
        (
            line(
                KEYS[1],
                judgements=[
                    {"unit": KEYS[1], "dimension": "relevance", "label": "not_relevant"},
                    {"unit": KEYS[1], "dimension": "stance", "label": "refutes"},
                ],
            ),
            "stance",
            "is not asked of",
        ),
        (
            line(KEYS[1], judgements=[{"unit": KEYS[1], "dimension": "stance", "label": "refutes"}] * 2),
            "judgements",
            "two",
        ),
    ],
)
def test_labels_that_do_not_fit_are_bad_rows_in_the_dry_run_and_stop_the_import(bring, wrong, column, reason):
    for is_dry_run in (True, False):
        job = bring([line(KEYS[0]), wrong], is_dry_run)
        assert job.state == ("done" if is_dry_run else "failed")
        assert job.result["error_count"] == 1, job.result["errors"]
        assert job.result["errors"][0]["column"] == column
        assert reason in job.result["errors"][0]["reason"]
    assert not Evidence.objects.exists()
    assert not Project.objects.exists()


def test_a_quote_that_does_not_match_stops_the_import_before_anything_is_seen(bring):
    span = {"field": "evidence", "start": 0, "end": 6, "quote": "report"}
    job = bring([line(KEYS[0], spans=[span])])
    assert job.state == "failed"
    assert "is not the text at 0-6 in the evidence" in job.result["errors"][0]["reason"]
    assert not Evidence.objects.exists()


def test_labels_go_into_a_project_that_exists_and_its_own_raters_are_recognised(bring):
    bring([line(KEYS[0])])
    project = Project.objects.get()
    before = project.label_version
    rater = project.raters.get(pseudonym="r-1")
    assert bring([line(KEYS[0]), line(KEYS[2])]).state == "done"
    project.refresh_from_db()
    assert project.label_version > before
    assert [each.item.key for each in rater.annotations.order_by("pk")] == [KEYS[0], KEYS[2]]
    assert Project.objects.count() == 1
