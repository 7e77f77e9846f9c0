"""Collecting claims: reviewed ones from files or a provider, or what extractors took from the data set's texts; and
publishing those that were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from urllib.parse import urlencode

from django.db.models import Count

from annotation import incoming
from annotation.datasets.queries import set_counts
from annotation.formats import FormatError, Options, SourceFile
from annotation.formats.records import ClaimRecord, RowError
from annotation.formats.studies import claim_review
from annotation.formats.studies.claim_review import Reviews, records_of, site_of
from annotation.imports import importing, uploads
from annotation.imports.claims.choosing import MOST_CLAIMS, ClaimChoice
from annotation.imports.importing import ImportProblem
from annotation.jobs import lifecycle
from annotation.models import AtomicClaim, ClaimCollection, CollectedClaim, Dataset, Job, Upload, User
from models_runtime.evidence import providers

FILES, PROVIDER, PIECES = "files", "provider", "pieces"
PAGE_SIZE = 100
SUMMARIES_AT_ONCE = 8
KEPT_BAD_ROWS = 50


class CollectingProblem(Exception):
    """The claims cannot be collected or published; the message says why."""


def provider_names() -> tuple[str, ...]:
    return providers.names("claims")


def from_files(user: User, dataset: Dataset, stored: Iterable[Upload], *, wake_workers: bool = True) -> ClaimCollection:
    names = {str(upload.uuid): upload.file_name for upload in stored}
    return _start(user, dataset, {"kind": FILES, "files": names}, wake_workers)


def from_provider(
    user: User,
    dataset: Dataset,
    provider: str,
    query: str = "",
    language: str = "",
    site: str = "",
    most: int = 1000,
    *,
    wake_workers: bool = True,
) -> ClaimCollection:
    """What a provider of fact-checks has about some words, or of a publisher's site."""
    known = provider_names()
    if provider not in known:
        raise CollectingProblem(
            f"There is no provider of claims {provider!r}; configured: {', '.join(known) or 'none'}"
        )
    if not query.strip() and not site.strip():
        raise CollectingProblem("Say what the claims are about, or which site reviewed them")
    if not 1 <= most <= MOST_CLAIMS:
        raise CollectingProblem(f"From 1 to {MOST_CLAIMS:,} claims can be collected")
    parameters = {"query": query.strip(), "language": language.strip(), "site": site.strip()}
    if any(len(value) > 500 or not incoming.is_storable(value) for value in parameters.values()):
        raise CollectingProblem("What is asked for has at most 500 characters")
    return _start(user, dataset, {"kind": PROVIDER, "provider": provider, "most": most, **parameters}, wake_workers)


def sets_of_atomic_claims(dataset: Dataset) -> dict[str, int]:
    return set_counts(dataset).get("atomic_claim", {})


def from_pieces(user: User, dataset: Dataset, piece_set: str, *, wake_workers: bool = True) -> ClaimCollection:
    """The atomic claims of one set. Nobody reviewed them, and few texts have a date: neither drops a claim at first."""
    if piece_set not in (sets := sets_of_atomic_claims(dataset)):
        known = ", ".join(name or "the unnamed one" for name in sets) or "none"
        raise CollectingProblem(f"The data set has no set of atomic claims {piece_set!r}; it has {known}")
    choice = ClaimChoice(drop_unreviewed=False, drop_undated=False)
    return _start(user, dataset, {"kind": PIECES, "piece_set": piece_set}, wake_workers, choice)


def _start(
    user: User, dataset: Dataset, source: dict, wake_workers: bool, choice: ClaimChoice | None = None
) -> ClaimCollection:
    job = lifecycle.create_job(
        Job.Kind.CLAIMS,
        user,
        chunks=[({}, 0)],
        dataset=dataset,
        parameters={"source": source},
        wake_workers=wake_workers,
    )
    return ClaimCollection.objects.create(
        dataset=dataset, source=source, choice=(choice or ClaimChoice()).as_json(), job=job, created_by=user
    )


def records_in(collection: ClaimCollection, on_page=lambda number: None) -> Iterator[ClaimRecord | RowError]:
    """The claims of a collection's source. FormatError for a file that is none, and what `providers.search` raises;
    `on_page` hears how many pages of answers were read, and may raise to stop."""
    source = collection.source
    if source["kind"] == PIECES:
        pieces = AtomicClaim.objects.published().filter(dataset=collection.dataset_id, piece_set=source["piece_set"])
        in_order = pieces.select_related("response__question").order_by("response_id", "index", "pk")
        yield from map(_record_of, in_order.iterator(chunk_size=1000))
        return
    if source["kind"] == FILES:
        stored = [SourceFile(uploads.folder() / uuid.replace("-", ""), name) for uuid, name in source["files"].items()]
        for record in claim_review.read(stored, Options()):
            if isinstance(record, ClaimRecord | RowError):
                yield record
        return
    provider = providers.configured("claims").get(source["provider"])
    if provider is None:
        raise FormatError(f"This worker has no provider of claims {source['provider']!r}; {providers.HOW_TO}")
    seen, token, left = Reviews(), "", source["most"]
    for number in range(1, MOST_CLAIMS):
        body = providers.search(provider, _asked(source, min(PAGE_SIZE, left), token), 1)[0]
        for claim in body.get("claims") or []:
            yield from records_of(claim, seen, source["provider"], number)
        left -= len(body.get("claims") or [])
        next_token = body.get("nextPageToken") or ""
        on_page(number)
        if left <= 0 or not isinstance(next_token, str) or next_token in ("", token):
            return
        token = next_token


def _record_of(piece: AtomicClaim) -> ClaimRecord:
    """A claim with what is known of its text. The model that wrote a text is no claimant: annotators see that one."""
    text = piece.response
    known = {name: value for name, value in text.metadata.items() if isinstance(value, str)}
    url = known.get("url", "")
    day = day_of(known.get("date", "")) or (text.question.date if text.question else None)
    return ClaimRecord(
        piece.key,
        piece.text,
        claimant=known.get("claimant") or known.get("author", ""),
        date=day,
        source=url,
        metadata={"site": known.get("publisher") or site_of(url), "response": text.key, "piece_set": piece.piece_set},
    )


def _asked(source: dict, size: int, token: str) -> str:
    named = {
        "query": source["query"],
        "languageCode": source["language"],
        "reviewPublisherSiteFilter": source["site"],
        "pageSize": size,
        "pageToken": token,
    }
    return urlencode({name: value for name, value in named.items() if value})


def row_of(collection: ClaimCollection, record: ClaimRecord) -> CollectedClaim:
    known = dict(record.metadata)
    return CollectedClaim(
        collection=collection,
        key=record.key,
        text=record.text,
        claimant=record.claimant,
        date=record.date,
        url=record.source,
        site=known.pop("site", "")[:260],
        verdict=record.verdict,
        metadata=known,
    )


def publish(user: User, collection: ClaimCollection, *, fetches: bool = True, wake_workers: bool = True) -> Job:
    """Make the chosen claims content, with the summaries of their reviews as gold evidence where these are fetched."""
    if collection.job.state != Job.State.DONE:
        raise CollectingProblem("Claims are published when all of them have been read")
    chosen = collection.claims.filter(dropped="").order_by("pk")
    if not chosen.exists():
        raise CollectingProblem("No claim is chosen: map verdicts, or drop fewer claims")
    try:
        importing.refuse_second(collection.dataset)
    except ImportProblem as problem:
        raise CollectingProblem(str(problem)) from None
    reviewed = list(chosen.exclude(url="").exclude(verdict="").values_list("pk", flat=True)) if fetches else []
    parts = [reviewed[at : at + SUMMARIES_AT_ONCE] for at in range(0, len(reviewed), SUMMARIES_AT_ONCE)]
    return lifecycle.create_job(
        Job.Kind.CHOSEN_CLAIMS,
        user,
        chunks=[({"claims": part}, len(part)) for part in parts] or [({"claims": []}, 0)],
        dataset=collection.dataset,
        parameters={"collection": str(collection.uuid), "fetches": fetches, "choice": collection.choice},
        wake_workers=wake_workers,
    )


def counts_of(collection: ClaimCollection) -> list[tuple[str, int]]:
    """How many claims are chosen (""), and how many were dropped for which reason."""
    counted = dict(collection.claims.values_list("dropped").annotate(Count("pk")).order_by())
    reasons = sorted((name for name in counted if name), key=lambda name: (-counted[name], name))
    return [("", counted.get("", 0)), *((name, counted[name]) for name in reasons)] if counted else []


def publishings_of(collection: ClaimCollection) -> list[Job]:
    found = Job.objects.filter(kind=Job.Kind.CHOSEN_CLAIMS, parameters__collection=str(collection.uuid))
    return list(found.select_related("created_by").order_by("-pk"))


def day_of(text: str) -> date | None:
    try:
        return incoming.day(text) if text else None
    except incoming.Refused:
        return None
