"""What a language model says beside the judge, as runs of a project: scores, which are suggested to nobody, and the
alignment of aspects, which are suggested with the sentence that covers them."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Job, Score, Suggestion
from annotation.task_types import every_task_type
from tests.kinds import ANSWER, ASPECTS, RESPONSES, make_kind_project

from .server import completion, picked

pytestmark = pytest.mark.django_db
LETTERS = {"source-reference": "AB"}


@pytest.mark.parametrize(
    ("kind", "checker", "score"),
    [
        ("claim-evidence/six-way", "verdict", "verdict"),
        ("claim-evidence/three-way", "source-reference", "refers_to_external_source"),
        ("triplets", "model-knowledge", "knows"),
        ("triplets/sub-sentences", "model-knowledge", "knows"),
    ],
)
def test_a_run_stores_the_answers_and_its_page_shows_them(client, serve, kind, checker, score):
    """The second unit's answer is none."""
    shares = {letter: 0.6 if letter == "B" else 0.2 for letter in LETTERS.get(checker, "ABC")}
    serve(lambda request, n: completion("?") if n == 1 else picked("B", shares), max_in_flight=1)
    project = make_kind_project(identifier_of(kind))
    run = suggesting.start_run(project, project.created_by, checker, {"wait_seconds": 0}, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    values = list(Score.objects.filter(run=run, name=score).values_list("value", flat=True))
    assert set(values) == ({0.0} if checker == "source-reference" else {-1.0})
    assert len(values) == job.progress_total - 1 and run.failures.get().reason == "malformed"
    assert not Suggestion.objects.filter(run=run).exists()
    client.force_login(project.created_by)
    assert checker in client.get(reverse("project_runs", args=[project.slug])).content.decode()
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "Use as the suggestions shown to annotators" not in page and "malformed" in page


def test_aligned_aspects_are_suggested_with_the_sentence_that_covers_them(client, serve):
    """The first of the two aspects, in the second sentence of the one answer that says something."""

    def answer(request, n):
        texts = request["messages"][1]["content"]
        numbers = request["response_format"]["json_schema"]["schema"]["required"]
        first = texts.split("[begin aspect 1 ")[1].split("]\n")[1].split("\n")[0]
        place = 1 if first == ASPECTS[0] else 2
        return completion(json.dumps({number: [place] if number == "2" else [] for number in numbers}))

    server = serve(answer)
    project = make_kind_project(identifier_of("aspect-coverage"))
    run = suggesting.start_run(project, project.created_by, "aspect-alignment", {"wait_seconds": 0}, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    said = Suggestion.objects.filter(run=run).select_related("unit__aspect", "unit__response")
    answered = [one for one in said if one.unit.response.text == ANSWER]
    assert {(one.unit.aspect.text, one.label) for one in answered} == {
        (ASPECTS[0], "covered"),
        (ASPECTS[1], "not_covered"),
    }
    assert {one.spans[0]["quote"] for one in answered if one.spans} == {"The harbour of Lindau froze in January 1963."}
    questions = {one.unit.response.question_id for one in answered}
    assert len(server.requests) == len(questions) * len([text for text in RESPONSES.values() if text])
    client.force_login(project.created_by)
    assert client.get(reverse("run_detail", args=[run.uuid])).status_code == 200


def identifier_of(kind: str) -> str:
    slug, _, variant = kind.partition("/")
    return next(one.identifier for one in every_task_type() if (one.slug, one.variant) == (slug, variant))
