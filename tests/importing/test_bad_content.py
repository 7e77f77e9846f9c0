"""Bad content and bad annotations of every kind of judgement: a clear error at import, in the dry run as well, and
nothing half done."""

import json

import pytest

from annotation.imports import importing
from annotation.imports.importing import ImportRequest, ProjectWish
from annotation.jobs import lifecycle
from annotation.models import Annotation, Aspect, Job, Project, Question, Response, Unit
from tests.factories import make_dataset, make_user
from tests.importing.files import answer, command, run, write_refchecker

pytestmark = pytest.mark.django_db

CONTENT = (
    {
        "question": {"id": "q1", "text": "When did it freeze?"},
        "passages": [
            {"id": "p1", "text": "It froze.", "rank": 1},
            {"id": "p2", "text": "In 1963, they say.", "rank": 2},
        ],
        "aspects": [{"id": "a1", "text": "the year"}, {"id": "a # 2", "text": "the cold"}],
        "responses": [{"id": "r # 1", "text": "In 1963 👍🏽.", "sub_sentences": [{"id": "s1", "text": "In 1963."}]}],
    },
    {
        "question": {"id": "q2", "text": "And then?"},
        "aspects": [{"id": "a3", "text": "the thaw"}],
        "responses": [{"id": "r2", "text": "It thawed.", "sub_sentences": [{"id": "s2", "text": "It thawed."}]}],
    },
)


def lines_of(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def said(item: str, *judgements: tuple, task_type: str) -> dict:
    return {
        "item": item,
        "annotator": "r-1",
        "annotator_kind": "person",
        "task_type": task_type,
        "revision": 1,
        "judgements": [
            {"unit": unit, "dimension": dimension, "label": label, "spans": list(spans)}
            for unit, dimension, label, *spans in judgements
        ],
    }


def span(field: str, start: int, end: int, quote: str) -> dict:
    return {"field": field, "start": start, "end": end, "quote": quote}


class Importing:
    def __init__(self, tmp_path):
        self.folder, self.dataset = tmp_path, make_dataset()

    def job(self, *annotations: dict, task_type: str = "", is_dry_run: bool, content=CONTENT) -> Job:
        files = [self.folder / "content.jsonl"]
        files[0].write_text(lines_of(*content), encoding="utf-8")
        if annotations:
            files.append(self.folder / "annotations.jsonl")
            files[1].write_text(lines_of(*annotations), encoding="utf-8")
        request = ImportRequest(
            "assay" if annotations else "content",
            importing.files_of_paths(files),
            project=ProjectWish("p", task_type=task_type) if task_type else None,
        )
        return lifecycle.run_here(
            importing.start(self.dataset.owner, self.dataset, request, is_dry_run=is_dry_run, wake_workers=False)
        )


@pytest.fixture
def world(tmp_path):
    return Importing(tmp_path)


def nothing_is_there() -> bool:
    return not any(model.objects.exists() for model in (Unit, Question, Response, Aspect, Annotation, Project))


BAD_CONTENT = {
    "an aspect without a question": ({"aspects": ["the year"]}, 3, "aspects[0]", "has no question"),
    "a response without its question": ({"responses": [{"text": "In 1963."}]}, 3, "responses[0]", "has no question"),
    "a question that is only named": (
        {"question": {"id": "nowhere"}, "responses": [{"id": "r9", "text": "In 1963."}]},
        None,
        "question",
        "is the question of response r9, and is neither earlier in the file nor in the data set",
    ),
    "an aspect of a question that is only named": (
        {"question": {"id": "nowhere"}, "aspects": [{"id": "a9", "text": "x"}]},
        None,
        "question",
        "is the question of aspect a9, and is neither",
    ),
    "pieces of a response that is only named": (
        {"question": {"id": "q1"}, "responses": [{"id": "nowhere", "sub_sentences": [{"text": "x"}]}]},
        None,
        "response",
        "is the response of sub_sentence nowhere/s0, and is neither",
    ),
    "a pair of an unknown passage": (
        {"question": {"id": "q1"}, "pairs": [{"premise": "a", "hypothesis": "b", "passage": "nowhere"}]},
        3,
        "pairs[0].passage",
        "names no passage of this line",
    ),
    "a pair alone of an unknown response": (
        {"pairs": [{"id": "n", "premise": "a", "hypothesis": "b", "response": "nowhere"}]},
        None,
        "response",
        "is the response of pair n, and is neither",
    ),
    "another text of the same response": (
        {"question": {"id": "q2"}, "responses": [{"id": "r2", "text": "It did not."}]},
        3,
        "responses[0].text",
        "differs from line 2",
    ),
    "a number that no table of PostgreSQL holds": (
        {"question": {"id": "q9", "text": "Q"}, "passages": [{"id": "p9", "text": "P", "rank": 2**31}]},
        None,
        "rank",
        "is too large a number",
    ),
    "an overlong id": ({"question": {"id": "q" * 450, "text": "Q"}}, None, "key", "at most 400 are stored"),
}


@pytest.mark.parametrize("name", BAD_CONTENT)
@pytest.mark.parametrize("is_dry_run", [True, False])
def test_bad_content_is_named_with_its_place_and_nothing_comes_in(world, name, is_dry_run):
    row, line, column, reason = BAD_CONTENT[name]
    job = world.job(content=(*CONTENT, row), is_dry_run=is_dry_run)
    assert job.state == ("done" if is_dry_run else "failed")
    (error,) = job.result["errors"]
    assert (error["line"], error["column"]) == (line, column)
    assert error["file"].endswith("content.jsonl") == (line is not None)
    assert reason in error["reason"]
    assert nothing_is_there()


COVERAGE, CONTEXT, PIECES = "aspect-coverage/-/1", "sufficient-context/-/1", "triplets/sub-sentences/1"
COVERED = ("r # 1 # a1", "coverage", "covered", span("response", 3, 7, "1963"))
GOOD_LABELS = {
    COVERAGE: said("r # 1", COVERED, ("r # 1 # a # 2", "coverage", "not_covered"), task_type=COVERAGE),
    CONTEXT: said("q1", ("q1", "sufficiency", "sufficient", span("passage-2", 3, 7, "1963")), task_type=CONTEXT),
    PIECES: said("r # 1", ("s1", "entailment", "entailment", span("passage-1", 0, 2, "It")), task_type=PIECES),
}


@pytest.mark.parametrize("task_type", GOOD_LABELS)
def test_good_annotations_pass_the_dry_run_and_come_in(world, task_type):
    job = world.job(GOOD_LABELS[task_type], task_type=task_type, is_dry_run=True)
    assert (job.state, job.result["errors"]) == ("done", []) and nothing_is_there()
    job = world.job(GOOD_LABELS[task_type], task_type=task_type, is_dry_run=False)
    assert job.state == "done", job.message
    assert Annotation.objects.get().item.key == GOOD_LABELS[task_type]["item"]


BAD_LABELS = {
    "a span past the end": (
        COVERAGE,
        said("r # 1", ("r # 1 # a1", "coverage", "covered", span("response", 9, 14, "👍🏽..!")), task_type=COVERAGE),
        "is not the text at 9-14 in the response of r # 1 # a1",
    ),
    "a wrong quote": (
        COVERAGE,
        said("r # 1", ("r # 1 # a1", "coverage", "covered", span("response", 3, 7, "1964")), task_type=COVERAGE),
        "is not the text at 3-7 in the response",
    ),
    "a wrong quote in a passage": (
        CONTEXT,
        said("q1", ("q1", "sufficiency", "sufficient", span("passage-2", 0, 9, "It froze.")), task_type=CONTEXT),
        "is not the text at 0-9 in the passage-2 of q1",
    ),
    "a span past the end of a passage": (
        PIECES,
        said("r # 1", ("s1", "entailment", "entailment", span("passage-2", 17, 19, ".!")), task_type=PIECES),
        "is not the text at 17-19 in the passage-2 of s1",
    ),
    "a passage that there is none of": (
        CONTEXT,
        said("q1", ("q1", "sufficiency", "sufficient", span("passage-3", 0, 2, "It")), task_type=CONTEXT),
        "is not a text on the page of q1",
    ),
    "a text that is not marked": (
        COVERAGE,
        said("r # 1", ("r # 1 # a1", "coverage", "covered", span("question", 0, 4, "When")), task_type=COVERAGE),
        "is not a text that coverage marks passages of",
    ),
    "another version of the task type": (
        COVERAGE,
        said("r # 1", COVERED, task_type="aspect-coverage/-/2"),
        "is not the project's task type aspect-coverage/-/1",
    ),
    "another variant of the task type": (
        PIECES,
        said("r # 1", ("s1", "entailment", "entailment"), task_type="triplets/-/1"),
        "is not the project's task type triplets/sub-sentences/1",
    ),
    "a label of another dimension": (
        COVERAGE,
        said("r # 1", ("r # 1 # a1", "coverage", "sufficient"), task_type=COVERAGE),
        "is not one of the task type's labels covered, not_covered",
    ),
    "another dimension": (
        COVERAGE,
        said("r # 1", ("r # 1 # a1", "grade", "perfect"), task_type=COVERAGE),
        "is not one of the task type's dimensions coverage",
    ),
    "an aspect of another question": (
        COVERAGE,
        said("r # 1", ("r # 1 # a3", "coverage", "not_covered"), task_type=COVERAGE),
        "names no response_aspect of this file or of the data set",
    ),
    "an aspect of another response": (
        COVERAGE,
        said("r # 1", ("r2 # a3", "coverage", "not_covered"), task_type=COVERAGE),
        "r # 1",
    ),
    "a sub-sentence of another response": (
        PIECES,
        said("r # 1", ("s2", "entailment", "neutral"), task_type=PIECES),
        "r # 1",
    ),
    "an item of another kind": (
        CONTEXT,
        said("r2", ("r2", "sufficiency", "sufficient"), task_type=CONTEXT),
        "names no question of this file or of the data set",
    ),
}


@pytest.mark.parametrize("is_dry_run", [True, False])
@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_annotations_are_refused_and_nothing_comes_in(world, name, is_dry_run):
    task_type, bad, reason = BAD_LABELS[name]
    job = world.job(GOOD_LABELS[task_type] | {"annotator": "r-2"}, bad, task_type=task_type, is_dry_run=is_dry_run)
    assert job.state == ("done" if is_dry_run else "failed")
    assert [reason in error["reason"] for error in job.result["errors"]] == [True], job.result["errors"]
    assert nothing_is_there()


def test_a_label_of_another_dimension_in_the_content_is_refused_where_labels_are_wanted(world):
    rows = ({"question": {"id": "q1", "text": "Q", "labels": {"grade": "perfect"}}},)
    assert world.job(content=rows, is_dry_run=False).state == "done"  # nobody wants them: they are passed over
    job = world.job(content=rows, task_type=CONTEXT, is_dry_run=False)
    assert job.state == "failed" and not Project.objects.exists()
    (error,) = job.result["errors"]
    assert (error["line"], error["column"], error["value"]) == (1, "question.labels.grade", "perfect")


def test_answers_of_refchecker_need_no_text_of_their_question(tmp_path):
    dataset = make_dataset()
    bare = {name: value for name, value in answer(1).items() if name not in ("question", "context")}
    file = write_refchecker(tmp_path / "zero_context" / "nq_gpt4_answers.json", [bare])
    assert run(dataset, file, format="refchecker").state == "done"
    assert Question.objects.get().text == "" and Response.objects.get().question.key == "zero_context/1"


def test_the_command_says_it_likewise(tmp_path):
    make_user(is_superuser=True)
    file = tmp_path / "content.jsonl"
    file.write_text(lines_of(*CONTENT, {"aspects": ["the year"]}), encoding="utf-8")
    for more in ((), ("--dry-run",)):
        code, text = command(file, "--format", "content", "--dataset", "d", *more)
        assert code == 1 and "content.jsonl:3: aspects[0]: 'the year' has no question" in text
        assert nothing_is_there()
