"""Claims with gold evidence, documents of two generators, and retrievals that find more where a document leaks."""

from __future__ import annotations

from annotation.formats.records import ClaimRecord, EvidenceRecord, PairRecord, ResponseRecord
from annotation.models import Claim, Dataset, Evidence, Job, Project, QueryRanking, RankedPassage, RetrievalRun
from tests.factories import make_dataset
from tests.kinds import bring_in
from tests.world.remembered import remembered

N = 40
REPETITIONS = (0, 1)
OTHERS = 10


def claim(number: int) -> str:
    return f"c{number:02}"


def is_matched(number: int, repetition: int) -> bool:
    """The first half; but the very first claim's document holds evidence in one repetition only."""
    return number < N // 2 and not (number == 0 and repetition == 1)


def document(number: int, repetition: int, method: str = "query2doc") -> str:
    return f"{claim(number)}/{method}-{repetition}"


def words(number: int, repetition: int) -> str:
    return f"The harbour {number} froze, they say for the {repetition}. time."


def records():
    for number in range(N):
        key = claim(number)
        yield ClaimRecord(key, f"Harbour {number} froze.", verdict="Supported" if number % 2 else "REFUTES")
        for place in range(2):
            yield EvidenceRecord(f"{key}/g{place}", f"Harbour {number} froze in {place}.", claim=key, is_gold=True)
        for repetition in REPETITIONS:
            name = document(number, repetition)
            yield ResponseRecord(
                name, words(number, repetition), claim=key, model="m1", method="query2doc", repetition=repetition
            )
            for place in range(2):
                yield PairRecord(
                    f"{name}/p{place}",
                    f"Harbour {number} froze in {place}.",
                    words(number, repetition),
                    evidence=f"{key}/g{place}",
                    response=name,
                )
    for place in range(OTHERS):
        yield EvidenceRecord(f"x/{place}", f"Perch {place} is rare.", claim=claim(0), is_gold=False)


@remembered
def leaked() -> Dataset:
    dataset = make_dataset()
    bring_in(dataset, records())
    return dataset


def pair_labels(entailed: str, other: str) -> dict[str, str]:
    """The first pair of a matched document is entailed, and nothing else."""
    return {
        f"{document(number, repetition)}/p{place}": entailed if is_matched(number, repetition) and not place else other
        for number in range(N)
        for repetition in REPETITIONS
        for place in range(2)
    }


def retrieve(project: Project, repetition: int | None, *, top: int = 10) -> RetrievalRun:
    """For matched claims both pieces of gold evidence first; for others one at the seventh place. Without a repetition
    nobody's document was searched with, and each claim finds one piece in the second place."""
    job = Job.objects.create(
        kind=Job.Kind.RETRIEVAL, state=Job.State.DONE, project=project, created_by=project.created_by
    )
    run = RetrievalRun.objects.create(
        project=project,
        job=job,
        asks="claim",
        corpus="own",
        top=top,
        retriever="bm25",
        version="1",
        parameters={"expansion": "none" if repetition is None else "query2doc", "expansion_seed": repetition or 0},
        parameters_hash=str(repetition),
        created_by=project.created_by,
    )
    claims = {row.key: row for row in Claim.objects.published().filter(dataset=project.dataset)}
    evidence = {row.key: row for row in Evidence.objects.published().filter(dataset=project.dataset)}
    passages = []
    for number in range(N):
        row = claims[claim(number)]
        expanded = "" if repetition is None else f"{row.text} {row.text} {words(number, repetition)}"
        ranking = QueryRanking.objects.create(run=run, claim=row, text=row.text, expanded=expanded)
        for rank, key in enumerate(_found(number, repetition), 1):
            source = evidence[key]
            passages.append(
                RankedPassage(
                    ranking=ranking,
                    rank=rank,
                    score=1 / rank,
                    document=key,
                    evidence=source,
                    start=0,
                    end=len(source.text),
                    text=source.text,
                )
            )
    RankedPassage.objects.bulk_create(passages)
    return run


def _found(number: int, repetition: int | None) -> list[str]:
    gold, others = [f"{claim(number)}/g{place}" for place in range(2)], [f"x/{place}" for place in range(OTHERS)]
    if repetition is None:
        return [others[0], gold[0], *others[1:9]]
    if is_matched(number, repetition):
        return [*gold, *others[:8]]
    return [*others[:6], gold[0], *others[6:9]]
