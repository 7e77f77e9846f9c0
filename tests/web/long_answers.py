"""A question, its aspects, its passages and its answer, for the pages that have them."""

from annotation.formats.records import (
    AspectRecord,
    AtomicClaimRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
    SubSentenceRecord,
    TripletRecord,
)
from annotation.models import Dataset
from tests.factories import make_dataset
from tests.kinds import bring_in

ANSWER = "Salt lowers the freezing point. Currents keep the harbour open. Ferries break what ice there is."
ASPECTS = ("salt", "currents", "cost of ferries")


def make_answers(
    n: int = 2, *, text: str = ANSWER, aspects=ASPECTS, passages=(), triplets: int = 0, question: str = "Why no ice?"
) -> Dataset:
    """`n` questions, each with an answer, the aspects and the passages."""

    def records():
        for number in range(n):
            key = f"q{number}"
            yield QuestionRecord(key, question, answers=("Salt and currents",))
            for rank, passage in enumerate(passages):
                yield EvidenceRecord(f"{key}/p{rank}", passage, question=key, publisher=f"Paper {rank}", rank=rank)
            for index, aspect in enumerate(aspects):
                yield AspectRecord(f"{key}/a{index}", key, index, aspect)
            response = f"{key}/r0"
            yield ResponseRecord(response, text, question=key, model="secret-model-name")
            for index in range(triplets):
                yield TripletRecord(f"{response}/t{index}", response, index, f"head {index}", "is", f"tail {index}")
                yield SubSentenceRecord(f"{response}/s{index}", response, index, f"Sub-sentence {index}")
                yield AtomicClaimRecord(f"{response}/c{index}", response, index, f"Claim {index}")

    dataset = make_dataset()
    bring_in(dataset, records())
    return dataset
