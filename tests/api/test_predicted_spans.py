"""Highlights that a checker elsewhere marked: compared with the texts, stored, shown, released."""

import json

import pytest
from django.core.management import call_command

from analysis.sources.releases.files import zipped
from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Job, Project, Suggestion
from tests.api.programs import Program
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_user
from tests.projects.test_labelled_spans import ENTITIES, TEXTS, span
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db
PARIS = [span(TEXTS[0], 17, 22, "place"), span(TEXTS[0], 10, 13, "person")]


@pytest.fixture
def project():
    return make_label_set_project(ENTITIES, TEXTS, overlap=1, slug="names", prefill="shown")


@pytest.fixture
def send(project):
    program = Program(project.created_by)

    def send(rows: list[dict], query: str = "") -> Job:
        body = "".join(json.dumps({"unit": "claim-1", "label": "yes"} | row) + "\n" for row in rows).encode()
        path = f"/api/v1/projects/names/suggestions/?checker=tagger{query}"
        sent = program.post(path, body, content_type="application/x-ndjson")
        assert sent.status_code == 202, sent.content
        return lifecycle.run_here(Job.objects.get(uuid=sent.json()["uuid"]))

    return send


def test_they_are_stored_given_and_shown_to_annotators(project, send):
    scored = PARIS[0] | {"score": 0.5}
    done = send([{"spans": [scored, PARIS[1]], "explanation": "Two names."}, {"unit": "claim-3", "label": "no"}])
    assert done.state == "done", done.message
    assert Suggestion.objects.get(label="yes").spans == [PARIS[1], scored]
    assert Suggestion.objects.get(label="no").spans == []
    rows = Program(project.created_by).read("projects/names/suggestions/", label="yes")["results"]
    assert rows[0]["spans"] == [PARIS[1], scored]
    page = Annotator(join(project, make_user("ann")), Project.objects.get(pk=project.pk)).next()
    assert page["payload"]["suggestions"][0]["spans"] == [PARIS[1], scored]
    assert page["payload"]["suggestions"][0]["explanation"] == rows[0]["explanation"] == "Two names."
    # The same in another order is the same; other places and other reasons are not.
    same = {"spans": [PARIS[1], scored], "explanation": "Two names."}
    assert send([{"unit": "claim-3", "label": "no"}, same]).result["is_unchanged"]
    assert send([{"spans": PARIS, "explanation": "Two names."}, {"unit": "claim-3", "label": "no"}]).state == "failed"
    assert send([same | {"explanation": "One."}, {"unit": "claim-3", "label": "no"}]).state == "failed"
    more = send([{"unit": "claim-2", "spans": [span(TEXTS[1], 0, 2)]}], "&existing=add")
    assert more.result["added"] == 1 and CheckerRun.objects.count() == 1


WRONG = [
    ({"spans": [PARIS[0] | {"quote": "Rome"}]}, "does not quote its text"),
    ({"spans": [PARIS[0] | {"end": 400}]}, "is outside its text"),
    ({"spans": [PARIS[0] | {"start": 1.5}]}, "whole numbers"),
    ({"spans": [PARIS[0] | {"field": "passage-1"}]}, "takes none"),
    ({"spans": [PARIS[0] | {"label": "river"}]}, "none of the labels person, place"),
    ({"spans": [span(TEXTS[0], 0, 5, None)]}, "none of the labels person, place"),
    ({"spans": [PARIS[0] | {"score": "high"}]}, "not a finite number"),
    ({"spans": [PARIS[0] | {"colour": "red"}]}, "is not one of end, field"),
    ({"spans": [PARIS[0], PARIS[0]]}, "the same place twice"),
    ({"spans": ["Paris"]}, "is not a list of objects"),
    ({"spans": {"0": "Paris"}}, "is not a list of objects"),
    ({"spans": [{"start": 0}]}, "has no field"),
    ({"label": "no", "spans": PARIS}, "do not belong to no"),
    ({"spans": [PARIS[0]] * 1001}, "are more than"),
    ({"explanation": ["because"]}, "is not a text of at most 20,000 characters"),
    ({"explanation": "x" * 20_001}, "is not a text of at most 20,000 characters"),
]


def test_those_that_cannot_be_are_named_by_their_lines(send):
    good = {"unit": "claim-2", "spans": [span(TEXTS[1], 0, 2)]}
    job = send([good, *(wrong for wrong, _ in WRONG)])
    assert job.state == "failed" and not Suggestion.objects.exists()
    errors = job.result["errors"]
    columns = ["explanation" if "explanation" in row else "spans" for row, _ in WRONG]
    assert [(one["line"], one["column"]) for one in errors] == list(enumerate(columns, 2))
    assert [said in one["reason"] for (_, said), one in zip(WRONG, errors, strict=True)] == [True] * len(WRONG)
    assert send([good, *(wrong for wrong, _ in WRONG)], "&on_error=skip").result["rows"] == 1


@pytest.mark.django_db(transaction=True)
def test_a_release_takes_them_along(project, send, tmp_path):
    send([{"spans": PARIS}])
    call_command("release", "names", str(tmp_path / "first"), verbosity=0)
    zipped(tmp_path / "first", tmp_path / "first.zip")
    again = through_an_empty_assay(tmp_path / "first.zip", tmp_path / "second", "names")
    first, second = (next(one.rglob("suggestions.jsonl")).read_bytes() for one in (tmp_path / "first", again))
    assert first == second and [json.loads(line)["spans"] for line in first.splitlines()] == [PARIS[::-1]]
