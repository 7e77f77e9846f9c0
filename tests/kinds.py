"""One small data set that holds every kind of record, and a project on it for any task type.

Everything is fed to the import's own pass and published by it, so units, keys and items are those of a real import.
"""

import uuid
from collections.abc import Iterable, Iterator
from datetime import date

import pytest

from annotation.access import assignment_for
from annotation.formats.records import (
    AspectRecord,
    AtomicClaimRecord,
    ClaimRecord,
    ComparisonRecord,
    EvidenceRecord,
    PairRecord,
    QuestionRecord,
    ResponseRecord,
    SubSentenceRecord,
    TripletRecord,
)
from annotation.imports.importing import REFUSE
from annotation.imports.publishing import publish
from annotation.imports.staging import ContentPass, read_all
from annotation.models import ContentBatch, Dataset, Job, Project, Revision
from annotation.task_types import Dimension, every_task_type
from annotation.work import annotating, assigning
from annotation.work.queries import pages
from tests.factories import join, make_dataset, make_project, make_user
from tests.world.remembered import remembered

IDENTIFIERS = tuple(description.identifier for description in every_task_type())
# For costly tests: between them these take every way through the code. The other kinds are among the slow tests.
EVERY_TIME = ("claim-evidence/six-way/1", "triplets/-/1", "aspect-coverage/-/1")
EACH_KIND = pytest.mark.parametrize(
    "identifier",
    [pytest.param(one, marks=() if one in EVERY_TIME else pytest.mark.slow, id=one) for one in sorted(IDENTIFIERS)],
)

GOLD = "The harbour of Lindau froze in January 1963. Ships stayed in port for two weeks."
OTHER = "The ferry to Bregenz was built in 1928."
ASPECTS = ("when the harbour froze", "what ferries cost today")
ANSWERS = ("January 1963", "early 1963")
ANSWER = "It rains often in spring. The harbour of Lindau froze in January 1963. Nobody knows what fish think."
# By model: what it answered to each question. The second abstained in words, the third in silence.
RESPONSES = {"model-a": ANSWER, "model-b": "I don't know.", "": ""}
DOCUMENT = "A made-up report. The harbour of Lindau froze in January 1963, and the lake with it. Children skated."
TRIPLETS = (("The harbour of Lindau", "froze in", "January 1963"), ("the ferry", "costs", "nine euros"))
SUB_SENTENCES = ("The harbour of Lindau froze in January 1963", "Nobody knows what fish think")
OUTPUTS = ("In January 1963, they say.", "It froze in winter.", "Harbours do not freeze.")
PAIRS = ((GOLD, "The harbour of Lindau froze."), (OTHER, "Nobody ever built a ferry."))


def records(n: int = 2, *, prefix: str = "") -> Iterator:
    """`n` questions and `n` claims with all that can hang below them, parents first."""
    for number in range(n):
        yield from _below_question(f"{prefix}q{number}", number)
        yield from _below_claim(f"{prefix}c{number}", number)


def _below_question(key: str, number: int) -> Iterator:
    yield QuestionRecord(key, f"When did harbour {number} freeze?", date=date(2024, 5, 1), answers=ANSWERS)
    for rank, text in enumerate((OTHER, GOLD)):
        yield EvidenceRecord(f"{key}/p{rank}", text, question=key, publisher=f"Chronicle {rank}", rank=rank)
    for index, text in enumerate(ASPECTS):
        yield AspectRecord(f"{key}/a{index}", key, index, text)
    for n_outputs in (2, 3):
        outputs = dict(zip(("output_a", "output_b", "output_c"), OUTPUTS[:n_outputs], strict=False))
        yield ComparisonRecord(f"{key}/best-of-{n_outputs}", key, **outputs, system_a="model-a", system_b="model-b")
    for place, (model, text) in enumerate(RESPONSES.items()):
        response = f"{key}/r{place}"
        yield ResponseRecord(response, text, question=key, model=model, context_setting="noisy")
        if place:
            continue
        for index, triplet in enumerate(TRIPLETS):
            yield TripletRecord(f"{response}/t{index}", response, index, *triplet)
        for index, text in enumerate(SUB_SENTENCES):
            yield SubSentenceRecord(f"{response}/s{index}", response, index, text)
            yield AtomicClaimRecord(f"{response}/c{index}", response, index, text)


def _below_claim(key: str, number: int) -> Iterator:
    yield ClaimRecord(
        key, f"The harbour froze in winter {number}.", claimant="A guide", source="https://a.example.org/"
    )
    for rank, text in enumerate((OTHER, GOLD)):
        yield EvidenceRecord(
            f"{key}/e{rank}", text, claim=key, url="https://b.example.org/", is_gold=bool(rank), rank=rank
        )
    yield ResponseRecord(f"{key}/d0", DOCUMENT, claim=key, model="model-a", method="HyDE")
    for index, (premise, hypothesis) in enumerate(PAIRS):
        yield PairRecord(f"{key}/pair-{index}", premise, hypothesis, evidence=f"{key}/e1", response=f"{key}/d0")


def bring_in(dataset: Dataset, found: Iterable) -> None:
    """Stage and publish records as an import does; every row must be good."""
    job = Job.objects.create(kind=Job.Kind.IMPORT, state=Job.State.DONE, dataset=dataset, created_by=dataset.owner)
    batch = ContentBatch.objects.create(dataset=dataset, job=job)
    findings = read_all(found, ContentPass(dataset, batch=batch, guard=lambda: None))
    assert not findings.error_count, findings.errors
    publish(batch, REFUSE, lambda: None)


@remembered
def make_kind_dataset(n: int = 2, **fields) -> Dataset:
    dataset = make_dataset(**fields)
    bring_in(dataset, records(n))
    return dataset


@remembered
def make_kind_project(identifier: str, *, n: int = 2, dataset: Dataset | None = None, **fields) -> Project:
    """An open project of that task type, with its items in the order of the content."""
    return make_project(dataset or make_kind_dataset(n), identifier, **{"order": "file", **fields})


def spans_for(dimension: Dimension, label: str, texts: dict[str, str]) -> list[dict]:
    """The first word of the first text that may be marked, where the label may carry spans; nothing otherwise."""
    rule = dimension.spans
    if rule is None or not rule.may_carry(label):
        return []
    for field, text in texts.items():
        if rule.takes(field) and text.strip():
            start = len(text) - len(text.lstrip())
            end = start + len(text.split()[0])
            return [{"field": field, "start": start, "end": end, "quote": text[start:end]}]
    return []


def judgements_for(page: pages.LabellingPage, turn: int) -> list[dict]:
    """A complete answer to a page; another `turn` takes other labels. A required span that the page has no text for
    (an empty answer) makes it take the dimension's last label."""
    found = []
    for number, unit in enumerate(page.unit_keys):
        answers: dict[str, str] = {}
        for dimension in page.type.asked_dimensions:
            if not page.type.is_asked(dimension, answers):
                continue
            label = dimension.values[(turn + number) % len(dimension.values)]
            spans = spans_for(dimension, label, page.contents.texts)
            rule = dimension.spans
            if rule and rule.required and rule.may_carry(label) and not spans:
                label = next(value for value in reversed(dimension.values) if not rule.may_carry(value))
            answers[dimension.slug] = label
            found.append({"unit": unit, "dimension": dimension.slug, "label": label, "spans": spans})
    return found


def answer_all(project: Project, *, people: int = 2, free_text: str = "A note.", comment: str = "") -> list[Revision]:
    """Every open place of the project taken and answered by `people` new annotators, who differ now and then."""
    for person in range(people):
        user = join(project, make_user())
        place = 0
        while (taken := assigning.take(project, user)) is not None:
            assignment = assignment_for(user, taken.uuid)
            page = pages.load_page(assignment.item_id, project.type)
            turn = place + (person if place % 3 == 1 else 0)  # each second item of three is where people differ
            body = {"client_id": str(uuid.uuid4()), "judgements": judgements_for(page, turn), "comment": comment}
            if project.type.free_text:
                body["free_text"] = free_text
            annotating.submit(assignment, user, body)
            place += 1
    return list(Revision.objects.filter(annotation__item__project=project, is_latest=True).order_by("pk"))
