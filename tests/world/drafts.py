"""Questions with answers and no pieces of them yet, and a project that judges the pieces."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.drafts import extraction, publishing
from annotation.models import (
    Dataset,
    Draft,
    Evidence,
    ExtractionRun,
    GenerationRun,
    Item,
    Job,
    Project,
    Question,
    Response,
    Unit,
)
from annotation.projects.draft_kinds import drafted_for
from models_runtime.contracts import PredictionError, Usage
from models_runtime.extractors.contracts import Extraction, Piece
from tests import factories

TRIPLETS = "triplets/-/1"
ASPECTS = "aspect-coverage/-/1"
CLAIMS = "nli/atomic-claim/1"
RELEVANCE = "nli/aspect-relevance/1"
ANSWERS = (
    "The harbour froze in 1963. Ferries stayed in port. Skaters crossed the lake.",
    "The lighthouse was built in 1856. It was rebuilt after the war.",
    "Nobody knows the first keeper. Letters mention one Anna.",
)


def make_answers(dataset: Dataset, texts: Sequence[str] = ANSWERS, prefix: str = "q") -> list[Response]:
    base = {"dataset": dataset, "batch": factories.make_batch(dataset)}
    made = []
    for number, text in enumerate(texts):
        question = Question.objects.create(**base, key=f"{prefix}{number}", text=f"What happened at harbour {number}?")
        Unit.objects.create(**base, kind="question", key=question.key, question=question)
        Evidence.objects.create(**base, key=f"{question.key}/p0", question=question, text="Ice lay on it.", rank=0)
        response = Response.objects.create(**base, key=f"{question.key}/r0", question=question, text=text)
        Unit.objects.create(**base, kind="response", key=response.key, response=response)
        made.append(response)
    return made


def make_drafting_project(identifier: str = TRIPLETS, texts: Sequence[str] = ANSWERS, **fields) -> Project:
    """An open project on answers that nothing was extracted from."""
    dataset = factories.make_dataset(fields.pop("owner", None))
    make_answers(dataset, texts)
    return factories.make_project(dataset, identifier, **fields)


def extract(project: Project, extractor: str = "fake-extractor", **options) -> ExtractionRun:
    options.setdefault("parameters", {"omitted_share": 0.0})
    run = extraction.start_extraction(project, project.created_by, extractor, wake_workers=False, **options)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    run.refresh_from_db()
    return run


def answered(project: Project) -> GenerationRun:
    """A finished run as it is stored, for tests of pages: an answer to every question, one of them failed."""
    job = Job.objects.create(
        kind=Job.Kind.GENERATION,
        state=Job.State.DONE,
        project=project,
        created_by=project.created_by,
        started_at=timezone.now(),
        finished_at=timezone.now(),
        result={"answered": 1, "abstained": 0, "failed": 1, "failures": {"truncated": 1}},
    )
    run = GenerationRun.objects.create(
        project=project,
        job=job,
        generator="llm-answers",
        version="1",
        passages="own",
        most_passages=10,
        repetitions=1,
        context_setting="given passages",
        parameters={"form": "reasons"},
        parameters_hash="",
        provenance={"model": "m", "endpoint": "main"},
        prompt_tokens=300,
        created_by=project.created_by,
    )
    for number, question in enumerate(Question.objects.filter(dataset=project.dataset).order_by("pk")):
        facts = {"seed": 0, "prompt_tokens": 100, "completion_tokens": 9, "passages": ["p"], "finish_reason": "stop"}
        failure = {"reason": "truncated", "message": "The answer was cut off after 9 tokens", "is_permanent": True}
        trace = {"prompt": [{"role": "user", "content": "When?"}], "output": "It froze in", "is_cut": False}
        written = {"text": "In 1963.", "facts": facts | {"reasons": "The log says 1963."}, "trace": trace}
        run.texts.create(question=question, repetition=0, **(failure if number % 2 else written))
    return run


def publish(project: Project, on_judged: str = "refuse") -> Job:
    return lifecycle.run_here(publishing.start(project.created_by, project, on_judged=on_judged, wake_workers=False))


def drafts(project: Project, source=None) -> list[Draft]:
    found = Draft.objects.filter(project=project).order_by("pk")
    if source is not None:
        found = found.filter(**{drafted_for(project.type).source: source})
    return list(found)


def items(project: Project) -> dict[str, Item]:
    return {item.key: item for item in Item.objects.filter(project=project).exclude(state=Item.State.RETIRED)}


class Scripted:
    """An extractor that gives for each text what it was told, to take the place of one from the registry."""

    def __init__(self, answers: dict[str, object], described: dict | None = None) -> None:
        self.answers, self.described = answers, described or {"checker": "scripted", "version": "1"}
        self.asked: list[str] = []

    def describe(self) -> dict:
        return self.described

    def extract(self, sources):
        self.asked += [source.id for source in sources]
        return [self._one(source) for source in sources]

    def _one(self, source) -> Extraction:
        answer = self.answers.get(source.text or source.question, ())
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, PredictionError):
            return Extraction(source.id, error=answer, usage=Usage(5, 0), trace={"prompt": "p", "output": "refused"})
        pieces = tuple(one if isinstance(one, Piece) else triplet(*one) for one in answer)
        return Extraction(source.id, pieces, usage=Usage(10, 2), trace={"prompt": source.text, "output": "raw"})


def triplet(head: str, relation: str, tail: str, start: int | None = None, end: int | None = None) -> Piece:
    return Piece({"head": head, "relation": relation, "tail": tail}, start, end)


def script(monkeypatch, answers: dict[str, object], described: dict | None = None) -> Scripted:
    """From now on every extractor of the registry is this one."""
    scripted = Scripted(answers, described)
    monkeypatch.setattr("models_runtime.registry.load_extractor", lambda *_: scripted)
    return scripted
