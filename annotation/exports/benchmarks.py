"""Exports to the layouts of benchmarks: what was judged with its one label, and what it is about."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Exists

from annotation.exports.content import Root, on_units, passages_below
from annotation.exports.queries import ExportedItem
from annotation.formats.records import ClaimRecord, EvidenceRecord, Record
from annotation.formats.studies import averitec, beir
from annotation.models import EVIDENCE_PARENTS, Dataset, Evidence, Project, UnitKind
from annotation.task_types import Dimension, TaskType

Batches = Iterator[list[ExportedItem]]


# --- AVeriTeC -------------------------------------------------------------------------------------------------------


def _verdicts(kind: TaskType) -> tuple[Dimension, dict[str, str]] | None:
    """The question about the verdict, and AVeriTeC's verdict for each of its labels."""
    for each in kind.dimensions if kind.unit_kind == UnitKind.CLAIM else ():
        found = {one.value: averitec.verdict_of(one.value) or averitec.verdict_of(one.title) for one in each.labels}
        if found and not each.takes_several and None not in found.values():
            return each, found
    return None


def why_not_averitec(project: Project) -> str:
    return "" if _verdicts(project.type) else "its layout holds verdicts on claims, in its own words, and no question"


def averitec_rows(project: Project, batches: Batches) -> Iterator[tuple[ClaimRecord, list[EvidenceRecord], str | None]]:
    question, verdicts = _verdicts(project.type)
    for items in batches:
        claims = {
            unit: Root("claim", *found["claim"])
            for unit, found in on_units({item.anchor for item in items}, {"claim": "claim"}).items()
        }
        evidence = passages_below(set(claims.values()))
        for item in items:
            claim = claims[item.anchor]
            label = item.label(project.type, item.key, question)
            yield claim.record, evidence[claim], verdicts.get(label)


# --- BEIR -----------------------------------------------------------------------------------------------------------


def _relevance(kind: TaskType) -> Dimension | None:
    if (kind.anchor_kind, kind.unit_kind) != (UnitKind.EVIDENCE, UnitKind.EVIDENCE):
        return None
    graded = [one for one in kind.dimensions if one.labels and not one.takes_several and beir.grades(one)]
    return next((one for one in graded if "relevance" in (one.role, one.slug)), None)


def why_not_beir(project: Project) -> str:
    if _relevance(project.type) is None:
        return "its layout holds how relevant passages are, on a scale, and no question"
    passages = Evidence.objects.published().filter(dataset=project.dataset_id)
    among = [Exists(passages.filter(**{f"{parent}__isnull": False})) for parent in EVIDENCE_PARENTS]
    if sum(Dataset.objects.values_list(*among).get(pk=project.dataset_id)) > 1:
        # Ids need only differ among claims, or among questions.
        return "its queries are of one kind, and there are several kinds (claims, questions, aspects) among those"
    return ""


def beir_rows(project: Project, batches: Batches) -> Iterator[tuple[Record, EvidenceRecord, int | None]]:
    relevance = _relevance(project.type)
    grades = beir.grades(relevance)
    kinds = {"evidence": "evidence"} | {f"evidence__{parent}": parent for parent in EVIDENCE_PARENTS}
    for items in batches:
        found = on_units({item.anchor for item in items}, kinds)
        for item in items:
            rows = dict(found[item.anchor])
            _, passage = rows.pop("evidence")
            [(_, query)] = rows.values()
            yield query, passage, grades.get(item.label(project.type, item.key, relevance))
