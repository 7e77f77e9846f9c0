"""Which pieces are drafted for a project, what they are taken from and what they become, by the kind of its units."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import models
from django.db.models import Exists, OuterRef, QuerySet

from annotation.datasets.kinds import KIND_NAMED, Kind
from annotation.formats.content.parts import PARTS as CONTENT_PARTS
from annotation.formats.records import piece_key
from annotation.models import Dataset, Draft, Project, UnitKind
from annotation.task_types import TaskType
from models_runtime.extractors.contracts import PARTS


@dataclass(frozen=True, slots=True)
class DraftKind:
    """`name` is the kind of the pieces, and of the content that they become; `source` the kind of content that they are
    taken from; `listed_as` the name of their list in the content format, which says how their keys are made."""

    name: str
    source: str
    listed_as: str
    one: str
    several: str
    source_one: str
    source_several: str

    @property
    def is_of_question(self) -> bool:
        """Whether the pieces are taken from a question, which has no other text; else from what answers one."""
        return self.source == "question"

    @property
    def parts(self) -> tuple[str, ...]:
        return PARTS[self.name]

    @property
    def content(self) -> Kind:
        return KIND_NAMED[self.name]

    @property
    def model(self) -> type[models.Model]:
        return KIND_NAMED[self.name].model

    @property
    def source_model(self) -> type[models.Model]:
        return KIND_NAMED[self.source].model

    @property
    def source_column(self) -> str:
        return f"{self.source}_id"

    def key_of(self, source_key: str, index: int, piece_set: str = "") -> str:
        """As the content format makes the key of a piece whose id a file leaves out."""
        return piece_key(source_key, index, CONTENT_PARTS[self.listed_as].mark, piece_set)


DRAFT_KINDS = {
    kind.name: kind
    for kind in (
        DraftKind("triplet", "response", "triplets", "triplet", "triplets", "response", "responses"),
        DraftKind(
            "atomic_claim", "response", "atomic_claims", "atomic claim", "atomic claims", "response", "responses"
        ),
        DraftKind(
            "sub_sentence", "response", "sub_sentences", "sub-sentence", "sub-sentences", "response", "responses"
        ),
        DraftKind("aspect", "question", "aspects", "aspect", "aspects", "question", "questions"),
    )
}
# What is judged -> what is drafted for it.
DRAFTED_FOR = {
    UnitKind.TRIPLET: DRAFT_KINDS["triplet"],
    UnitKind.SUB_SENTENCE: DRAFT_KINDS["sub_sentence"],
    UnitKind.ATOMIC_CLAIM: DRAFT_KINDS["atomic_claim"],
    UnitKind.ASPECT: DRAFT_KINDS["aspect"],
    UnitKind.RESPONSE_ASPECT: DRAFT_KINDS["aspect"],
}


def drafted_for(task_type: TaskType) -> DraftKind | None:
    """What can be drafted for a project of this type; None where it judges nothing that an extractor proposes."""
    return DRAFTED_FOR.get(task_type.unit_kind)


def sources_in(dataset: Dataset, task_type: TaskType, *, without: str | None = None) -> QuerySet:
    """What pieces can be taken from: responses or questions that have words; with `without`, the name of a set, only
    those that have no pieces of the kind in it."""
    kind = DRAFTED_FOR[task_type.unit_kind]
    sources = kind.source_model.objects.published().filter(dataset=dataset).exclude(text="")
    if task_type.anchor_kind == kind.source and task_type.anchor_parent:
        sources = sources.filter(**{f"{task_type.anchor_parent}__isnull": False})
    if without is not None:
        pieces = kind.model.objects.published().filter(piece_set=without, **{kind.source: OuterRef("pk")})
        sources = sources.filter(~Exists(pieces))
    return sources


def drafts_of(project: Project, kind: DraftKind) -> QuerySet[Draft]:
    return Draft.objects.filter(project=project, kind=kind.name)
