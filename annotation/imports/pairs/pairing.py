"""Pairs made from a data set's own content: gold evidence of a claim against the sentences of a generated document.

This is the set-up of the study of knowledge leakage (`models_runtime.texts.matching`). The key of a pair comes from the
keys of document and evidence and the sentence's place, so making pairs again changes nothing and new documents only add
pairs. A pair's metadata trace it: hypothesis = document[start:end] in code points, `sentence` the place in the document
(from 0), `times` how often the document says it, `rouge_2` against the claim, `sentences_by` what divided the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace

from django.db.models import Count, Exists, OuterRef, QuerySet

from annotation.datasets.queries import documents_of
from annotation.formats.records import PairRecord, RowError
from annotation.imports import importing
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.jobs import lifecycle
from annotation.models import Dataset, Evidence, Job, Pair, Response, User
from annotation.projects.item_making import seeded
from models_runtime.texts.matching import (
    MODELS,
    REASONS,
    REPRODUCED,
    SENTENCIZER,
    THRESHOLD,
    Sentence,
    document_sentences,
    installed_segmenters,
)
from plugins.extras import why_missing

SEGMENTERS = (*MODELS, SENTENCIZER)
DOCUMENTS_AT_ONCE = 200
EXAMPLES = 5
EXAMPLE_CHARS = 300
# What the documents can be chosen by: field of the request -> column of the response.
CHOICES = {"methods": "method", "models": "model", "settings": "context_setting"}


class PairingProblem(Exception):
    """What was asked for cannot be done; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class PairRequest:
    """Which documents, and how. An empty choice means all; `segmenter` "" means the one used before, else the best."""

    methods: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    limit: int | None = None  # maximum number of documents, drawn with the seed
    seed: int = 0
    segmenter: str = ""
    on_judged: str = REFUSE

    def as_json(self) -> dict:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict) -> PairRequest:
        values = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored}
        return cls(**values | {name: tuple(values[name]) for name in CHOICES if name in values})


def gold_evidence(dataset: Dataset) -> QuerySet[Evidence]:
    return Evidence.objects.published().filter(dataset=dataset, claim__isnull=False, is_gold=True)


def chosen_documents(dataset: Dataset, request: PairRequest) -> QuerySet[Response]:
    found = documents_of(dataset)
    for name, column in CHOICES.items():
        if values := getattr(request, name):
            found = found.filter(**{f"{column}__in": values})
    return found


def with_gold_evidence(documents: QuerySet[Response]) -> QuerySet[Response]:
    gold = Evidence.objects.published().filter(claim=OuterRef("claim_id"), is_gold=True)
    return documents.filter(Exists(gold))


def values_to_choose(dataset: Dataset) -> dict[str, dict[str, int]]:
    """For each choice the values that documents of claims have, with how many documents have each."""
    found: dict[str, Counter] = {name: Counter() for name in CHOICES}
    columns = tuple(CHOICES.values())
    rows = documents_of(dataset).order_by().values_list(*columns).annotate(number=Count("pk"))
    for *values, number in rows:
        for name, value in zip(CHOICES, values, strict=True):
            found[name][value] += number
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def used_segmenter(dataset: Dataset) -> str:
    """What divided the documents of the pairs that the data set has; "" where none were made."""
    made = Pair.objects.published().filter(dataset=dataset, response__isnull=False, metadata__has_key="sentences_by")
    return made.values_list("metadata__sentences_by", flat=True).first() or ""


def settled(dataset: Dataset, request: PairRequest) -> PairRequest:
    """The request with its segmenter named. PairingProblem for what cannot be done."""
    if not 0 < request.threshold <= 1:
        raise PairingProblem("The threshold of ROUGE-2 lies above 0 and is at most 1")
    if request.limit is not None and request.limit < 1:
        raise PairingProblem("The number of documents is at least 1")
    if request.on_judged not in ON_JUDGED:
        raise PairingProblem(f"Pairs that were judged: choose one of {', '.join(ON_JUDGED)}")
    if missing := why_missing("spacy"):
        raise PairingProblem(missing)
    used = used_segmenter(dataset)
    segmenter = request.segmenter or used or installed_segmenters()[0]
    if used and segmenter != used:
        raise PairingProblem(
            f"The pairs of this data set come from sentences by {used}. Other sentence boundaries would mix with them; "
            f"choose {used} again"
        )
    if segmenter not in installed_segmenters():
        raise PairingProblem(
            f"The sentence segmenter {segmenter} is not installed here; available: {', '.join(installed_segmenters())}"
        )
    documents = chosen_documents(dataset, request)
    if not documents.exists():
        if documents_of(dataset).exists():
            raise PairingProblem("No document of a claim has the chosen method, model and setting")
        raise PairingProblem("The data set has no documents that were generated for claims: import responses to claims")
    if not with_gold_evidence(documents).exists():
        raise PairingProblem(
            "None of these documents belongs to a claim with gold evidence: import the evidence and say which is gold"
        )
    return replace(request, segmenter=segmenter)


def start(user: User, dataset: Dataset, request: PairRequest, *, is_dry_run: bool, wake_workers: bool = True) -> Job:
    """Store the job. PairingProblem where it cannot be done, or the data set's content is being changed already."""
    request = settled(dataset, request)
    if not is_dry_run:
        try:
            importing.refuse_second(dataset)
        except importing.ImportProblem as problem:
            raise PairingProblem(str(problem)) from None
    return lifecycle.create_job(
        Job.Kind.PAIRS,
        user,
        chunks=[({}, 0)],
        dataset=dataset,
        parameters=request.as_json() | {"is_dry_run": is_dry_run},
        wake_workers=wake_workers,
    )


def pair_key(document: str, evidence: str, claim: str, place: int) -> str:
    """document/evidence/s<place>, the evidence without the claim's key that its own key often begins with."""
    return f"{document}/{evidence.removeprefix(claim + '/')}/s{place}"


@dataclass(slots=True)
class Pairing:
    """One walk over the chosen documents; `as_json` says afterwards what was found and what was left out."""

    dataset: Dataset
    request: PairRequest
    counts: Counter = field(default_factory=Counter)
    examples: dict[str, list[dict]] = field(default_factory=dict)
    claim_id: int | None = None
    keys: set[str] = field(default_factory=set)  # pairs of this claim

    def as_json(self) -> dict:
        names = ("documents", "documents_left_out", "documents_without_gold", "documents_without_pairs", "claims")
        names += ("gold_evidence", "repeated_evidence", "sentences", "pairs")
        return {
            "counts": {name: self.counts[name] for name in names},
            "dropped": {reason: self.counts[reason] for reason in REASONS},
            "examples": self.examples,
        }

    def records(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator:
        """Pairs and row errors, document by document. `on_progress` may raise to stop."""
        ids = self._draw()
        done = 0
        for first in range(0, len(ids), DOCUMENTS_AT_ONCE):
            documents = list(
                Response.objects.filter(pk__in=ids[first : first + DOCUMENTS_AT_ONCE])
                .select_related("claim")
                .order_by("claim_id", "pk")
            )
            gold = self._gold_of({document.claim_id for document in documents})
            for document in documents:
                on_progress(done, len(ids))
                yield from self._of_document(document, gold[document.claim_id])
                done += 1

    def _draw(self) -> list[int]:
        """Ids of the documents, those of a claim together."""
        every = chosen_documents(self.dataset, self.request)
        rows = list(with_gold_evidence(every).values_list("claim_id", "pk", "key"))
        self.counts["documents_without_gold"] = every.count() - len(rows)
        if self.request.limit is not None and self.request.limit < len(rows):
            self.counts["documents_left_out"] = len(rows) - self.request.limit
            rows = sorted(rows, key=lambda row: (seeded(self.request.seed, "pairs", row[2]), row[2]))
            rows = rows[: self.request.limit]
        self.counts["documents"] = len(rows)
        return [pk for _, pk, _ in sorted(rows)]

    def _gold_of(self, claims: set[int]) -> dict[int, list[tuple[str, str]]]:
        """By claim the keys and texts of its gold evidence, each text once."""
        found: dict[int, dict[str, str]] = {claim: {} for claim in claims}
        rows = Evidence.objects.published().filter(claim__in=claims, is_gold=True).in_order()
        for claim, key, text in rows.values_list("claim_id", "key", "text"):
            if text in found[claim]:
                self.counts["repeated_evidence"] += 1
            else:
                found[claim][text] = key
        return {claim: [(key, text) for text, key in texts.items()] for claim, texts in found.items()}

    def _of_document(self, document: Response, gold: list[tuple[str, str]]) -> Iterator:
        if document.claim_id != self.claim_id:
            self.claim_id, self.keys = document.claim_id, set()
            self.counts["claims"] += 1
            self.counts["gold_evidence"] += len(gold)
        claim = document.claim
        try:
            found = document_sentences(claim.text, document.text, self.request.threshold, self.request.segmenter)
        except ValueError as error:
            yield RowError("", None, "text", document.key, str(error))
            return
        self.counts["sentences"] += len(found.kept) + len(found.dropped)
        self.counts["documents_without_pairs"] += not found.kept
        for sentence, reason in found.dropped:
            self.counts[reason] += 1
            self._show(reason, document, sentence)
        for evidence, premise in gold:
            for sentence in found.kept:
                key = pair_key(document.key, evidence, claim.key, sentence.place)
                if key in self.keys:
                    yield RowError("", None, "key", key, "would be the key of two pairs; give the evidence other ids")
                    continue
                self.keys.add(key)
                self.counts["pairs"] += 1
                yield PairRecord(
                    key,
                    premise,
                    sentence.text,
                    evidence=evidence,
                    response=document.key,
                    metadata=self._trace(sentence),
                )

    def _trace(self, sentence: Sentence) -> dict:
        return {
            "sentence": sentence.place,
            "start": sentence.start,
            "end": sentence.end,
            "times": sentence.times,
            "rouge_2": round(sentence.rouge_2, 4),
            "sentences_by": self.request.segmenter,
        }

    def _show(self, reason: str, document: Response, sentence: Sentence) -> None:
        shown = self.examples.setdefault(reason, [])
        if len(shown) < EXAMPLES:
            of_claim = {"claim": document.claim.text[:EXAMPLE_CHARS]} if reason == REPRODUCED else {}
            shown.append(
                {
                    "document": document.key,
                    "sentence": sentence.text[:EXAMPLE_CHARS],
                    "rouge_2": round(sentence.rouge_2, 4),
                    **of_claim,
                }
            )
