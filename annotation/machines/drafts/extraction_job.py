"""Works through an extraction run: drafts and failures are stored in the transaction that closes their chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Count

from annotation.bulk import bulk_insert
from annotation.jobs import lifecycle
from annotation.machines.drafts.words import as_words
from annotation.machines.runs import workers
from annotation.machines.runs.gathering import gather
from annotation.machines.runs.storing import SAMPLES_PER_REASON, kept_trace, storable
from annotation.models import Chunk, Draft, ExtractedSource, ExtractionRun, Job
from annotation.projects.draft_kinds import DRAFT_KINDS, DraftKind
from models_runtime import registry
from models_runtime.contracts import Prediction, PredictionError
from models_runtime.extractors.contracts import Extraction, ExtractionInput, Piece

# What must be the same in every worker of a run, or its drafts would not be one extractor's.
IDENTITY = ("checker", "version", "model", "revision", "parameters", "kind")


class ExtractionHandler:
    """See `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        run = ExtractionRun.objects.select_related("job").get(job_id=chunk.job_id)
        kind = DRAFT_KINDS[run.kind]
        info = workers.info_of(run.extractor, run.version)
        with workers.final_errors():
            extractor = registry.load_extractor(run.extractor, run.kind, run.parameters)
        provenance = workers.described(extractor)
        workers.check_identity(run.provenance, provenance, IDENTITY, run.parameters)
        source_ids: list[int] = chunk.payload["sources"]
        sources = read_sources(kind, source_ids)

        def keep(found: dict[int, Extraction]) -> None:
            with transaction.atomic():
                lease.keep({"sources": [one for one in source_ids if one not in found]}, len(found))
                workers.store_description(run, provenance, IDENTITY)
                store(run, kind, found)

        found = gather(
            run,
            extractor,
            list(sources.values()),
            lease,
            ask=extractor.extract,
            check=lambda answer: checked(_as_extraction(answer), kind, sources[int(answer.id)]),
            keep=keep if info.needs == "server" else None,
            measures_time=info.needs != "server",
        )
        gone = PredictionError("withdrawn", "Its text was replaced or withdrawn after the run began", True)
        for source_id in source_ids:
            found.setdefault(source_id, Extraction(str(source_id), error=gone))
        with transaction.atomic():
            lease.complete()  # first, so that who lost the lease writes nothing at all
            workers.store_description(run, provenance, IDENTITY)
            store(run, kind, found)

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        return summary(ExtractionRun.objects.get(job=job))

    def clean_up(self, job: Job) -> None:
        """What was stored stays, and the run goes on from there when it is resumed."""


HANDLER = ExtractionHandler()


def read_sources(kind: DraftKind, source_ids: Iterable[int]) -> dict[int, ExtractionInput]:
    """Those of the sources that readers may see now, in the order of their ids: one query."""
    rows = kind.source_model.objects.published().filter(pk__in=list(source_ids)).order_by("pk")
    if kind.is_of_question:
        return {pk: ExtractionInput(str(pk), question=text) for pk, text in rows.values_list("pk", "text")}
    asked = rows.values_list("pk", "question__text", "text")
    return {pk: ExtractionInput(str(pk), question=question or "", text=text) for pk, question, text in asked}


def summary(run: ExtractionRun) -> dict:
    """How many sources were answered, how many failed, how many gave nothing, and how many pieces there are."""
    column = DRAFT_KINDS[run.kind].source_column
    failures = dict(
        run.sources.exclude(reason="").values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    )
    answered = run.sources.filter(reason="").count()
    with_pieces = run.drafts.values(column).distinct().count()
    return {
        "answered": answered,
        "failed": sum(failures.values()),
        "failures": failures,
        "empty": answered - with_pieces,
        "pieces": run.drafts.count(),
    }


def _as_extraction(answer: Extraction | Prediction) -> Extraction:
    """What broke alone comes as a checker's failure."""
    return answer if isinstance(answer, Extraction) else Extraction(answer.id, error=answer.error)


def checked(extraction: Extraction, kind: DraftKind, source: ExtractionInput) -> Extraction:
    """The extraction, or its failure where a piece is not one of its kind or lies outside of the text."""
    if extraction.error:
        return extraction
    for place, piece in enumerate(extraction.pieces):
        if problem := _problem(piece, kind, source):
            error = PredictionError("invalid-answer", f"Piece {place + 1} {problem}", True)
            return Extraction(extraction.id, error=error, usage=extraction.usage, trace=extraction.trace)
    return extraction


def _problem(piece: Piece, kind: DraftKind, source: ExtractionInput) -> str:
    if set(piece.parts) != set(kind.parts) or not all(isinstance(text, str) for text in piece.parts.values()):
        return f"does not have the parts {', '.join(kind.parts)}"
    if not any(text.strip() for text in piece.parts.values()):
        return "is empty"
    if (piece.start is None) != (piece.end is None):
        return "has only a start or only an end"
    if piece.start is not None and not 0 <= piece.start < piece.end <= len(source.text):
        return f"comes from {piece.start} to {piece.end}, outside of the text of {len(source.text)} characters"
    return ""


def store(run: ExtractionRun, kind: DraftKind, found: Mapping[int, Extraction]) -> None:
    """Belongs into the transaction that closes the chunk, after the lease was given back."""
    workers.add_usage(run, (extraction.usage for extraction in found.values()))
    # Those of an earlier attempt, where failed sources are tried again; they have no drafts.
    run.sources.filter(**{f"{kind.source}__in": list(found)}).delete()
    kept = Counter(dict(run.sources.exclude(reason="").values_list("reason").annotate(Count("pk")).order_by()))
    sampled = set(run.job.parameters.get("sample", ()))
    rows, drafts = [], []
    for source_id, extraction in found.items():
        link = {kind.source_column: source_id}
        error = extraction.error
        reason = error.reason[:80] if error else ""
        kept[reason] += 1
        is_kept = kept[reason] <= SAMPLES_PER_REASON if error else source_id in sampled
        rows.append(
            ExtractedSource(
                run=run,
                **link,
                reason=reason,
                message=storable(error.message)[:2000] if error else "",
                is_permanent=error.permanent if error else False,
                trace=kept_trace(extraction.trace) if is_kept and extraction.trace else None,
            )
        )
        drafts += [
            (run.project_id, run.pk, kind.name, source_id, index, _stored_parts(kind, piece), piece.start, piece.end)
            for index, piece in enumerate(extraction.pieces)
        ]
    ExtractedSource.objects.bulk_create(rows, batch_size=500)
    columns = ["project_id", "run_id", "kind", kind.source_column, "index", "parts", "start", "end"]
    bulk_insert(Draft, drafts, columns)


def _stored_parts(kind: DraftKind, piece: Piece) -> dict[str, str]:
    return {name: as_words(piece.parts[name]) for name in kind.parts}
