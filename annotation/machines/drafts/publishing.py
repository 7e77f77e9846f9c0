"""Accepted drafts become content, and items where annotators meet them.

One chunk stages the rows in a batch that nobody sees, the end publishes them all at once, notes on each draft the key
of what it became and makes the project's items (`staged_job` has what this shares with imports). A draft with a key is
not staged again, so publishing twice, or going on after a killed worker, brings nothing twice.

Drafts that say the same (`same_words`) as a piece of the set that the source has already, or as an earlier draft,
become that piece, unless one run found them in several places of the source. A source that people or checkers judged
with all its pieces of the set is dealt with as in an import (`imports/publishing.py`): nothing judged is rewritten; it
is refused, kept as it is, or gets a new version.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import connection, models, transaction

from annotation.bulk import batches
from annotation.formats.records import STATED_IN, RowError
from annotation.imports.publishing import ON_JUDGED, REFUSE, discard, projects_with_retired_items, publish
from annotation.imports.staged_job import (
    PublishingProblem,
    close_staging,
    found_in,
    guard_of,
    make_items,
    stage,
    start_publishing,
    take_back,
)
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import Lease
from annotation.machines.drafts.words import same_words
from annotation.models import Chunk, ContentBatch, Draft, ExtractedSource, Job, Project, User
from annotation.projects.draft_kinds import DRAFT_KINDS, DraftKind, drafted_for, drafts_of

SOURCES_AT_ONCE = 200
ROWS_AT_ONCE = 1000  # a statement takes only so many parameters
PAUSE_SECONDS = 0.02
BY_HAND = "by hand"


def waiting(project: Project, kind: DraftKind):
    """Accepted drafts that are no content yet."""
    return drafts_of(project, kind).filter(state=Draft.State.ACCEPTED, published_key="")


def start(
    user: User, project: Project, *, piece_set: str | None = None, on_judged: str = REFUSE, wake_workers: bool = True
) -> Job:
    """The job that publishes what is accepted into a set, the project's own if none is named. PublishingProblem where
    there is nothing, or the data set's content is being changed already."""
    kind = drafted_for(project.type)
    if kind is None:
        raise PublishingProblem("This project has no drafts")
    if on_judged not in ON_JUDGED:
        raise PublishingProblem(f"What was judged: choose one of {', '.join(ON_JUDGED)}")
    with transaction.atomic():
        # Two people who press the button at once get one job.
        Project.objects.select_for_update().get(pk=project.pk)
        if project.jobs.filter(kind=Job.Kind.DRAFTS, state__in=lifecycle.UNFINISHED).exists():
            raise PublishingProblem("Accepted drafts are being published already")
        if not waiting(project, kind).exists():
            raise PublishingProblem("No accepted draft waits to be published")
        parameters = {
            "kind": kind.name,
            "on_judged": on_judged,
            "piece_set": project.piece_set if piece_set is None else piece_set,
        }
        return start_publishing(Job.Kind.DRAFTS, user, project, parameters, wake_workers=wake_workers)


@dataclass(slots=True)
class Publication:
    """One walk over the accepted drafts. Afterwards `same` has those that become pieces that there are (draft's id,
    key), and `counts` what was left out."""

    project: Project
    kind: DraftKind
    piece_set: str = ""
    same: list[tuple[int, str]] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)

    def records(self, on_progress: Callable[[int, int], None] = lambda done, total: None) -> Iterator:
        """Records of the content, source by source, and row errors. `on_progress` may raise to stop."""
        column = self.kind.source_column
        ids = sorted(set(waiting(self.project, self.kind).values_list(column, flat=True)))
        for first in range(0, len(ids), SOURCES_AT_ONCE):
            on_progress(first, len(ids))
            part = ids[first : first + SOURCES_AT_ONCE]
            drafts: dict[int, list[Draft]] = defaultdict(list)
            accepted = waiting(self.project, self.kind).filter(**{f"{column}__in": part}).prefetch_related("run")
            for draft in accepted.order_by("pk"):
                drafts[getattr(draft, column)].append(draft)
            yield from self._of_sources(drafts)
        on_progress(len(ids), len(ids))

    def _of_sources(self, drafts: dict[int, list[Draft]]) -> Iterator:
        kind = self.kind
        sources = self._current(drafts)
        pieces = defaultdict(list)
        stored = kind.model.objects.published().filter(
            piece_set=self.piece_set, **{f"{kind.source}__in": {row.pk for row in sources.values()}}
        )
        for row in stored.order_by("index", "pk"):
            pieces[getattr(row, kind.source_column)].append(row)
        made: dict[str, tuple[Draft, int, models.Model]] = {}
        for source_id, own in drafts.items():
            source = sources.get(source_id)
            if source is None:
                self.counts["left_out"] += len(own)
                continue
            there = pieces[source.pk]
            stored_before: Counter[tuple[str, ...]] = Counter()
            known = {}
            for row in there:
                words = self._words_of(row)
                known[words, stored_before[words]] = row.key
                stored_before[words] += 1
            keys = {row.key for row in there}
            index = max((row.index for row in there), default=-1)
            places: dict[tuple, list[int | None]] = defaultdict(list)
            for draft in own:
                same = same_words(kind, draft.edited or draft.parts)
                # What a run found in several places is as many pieces, such as turns that say the same.
                if draft.start not in (before := places[draft.run_id, same]):
                    before.append(draft.start)
                words = same, before.index(draft.start)
                if words in known:
                    self.same.append((draft.pk, known[words]))
                    continue
                index += 1
                while (key := kind.key_of(source.key, index, self.piece_set)) in keys:
                    index += 1
                known[words] = key
                keys.add(key)
                made[key] = (draft, index, source)
        yield from self._records_of(made)

    def _records_of(self, made: dict[str, tuple[Draft, int, models.Model]]) -> Iterator:
        kind = self.kind
        others = kind.model.objects.filter(dataset=self.project.dataset_id, key__in=list(made))
        used = set(others.exclude(batch__state=ContentBatch.State.DISCARDED).values_list("key", flat=True))
        for key, (draft, index, source) in made.items():
            if key in used:
                yield RowError("", None, "key", key, f"is the key of another {kind.one} of the data set already")
                continue
            parts = draft.edited or draft.parts
            yield kind.content.record(
                key=key,
                index=index,
                metadata=_origin(draft) | _place(draft, source.text),
                piece_set=self.piece_set,
                **{kind.source: source.key},
                **{name: parts[name] for name in kind.parts},
            )

    def _words_of(self, row) -> tuple[str, ...]:
        return same_words(self.kind, {name: getattr(row, name) for name in self.kind.parts})

    def _current(self, source_ids) -> dict[int, object]:
        """By the source that was read the one that readers see now: itself, or a newer version of the same words."""
        read = self.kind.source_model.objects.filter(pk__in=list(source_ids)).in_bulk()
        keys = [row.key for row in read.values() if row.superseded_at]
        newest = self.kind.source_model.objects.published().filter(dataset=self.project.dataset_id, key__in=keys)
        newer = {row.key: row for row in newest}
        found = {}
        for pk, row in read.items():
            now = newer.get(row.key) if row.superseded_at else row
            if now is not None and now.text == row.text:
                found[pk] = now
        return found


def _origin(draft: Draft) -> dict:
    """Where a piece comes from, as its metadata say it."""
    if draft.run is None:
        return {"draft": str(draft.uuid), "drafted_by": BY_HAND}
    by = {"drafted_by": f"{draft.run.extractor} {draft.run.version}", "extraction": str(draft.run.uuid)}
    return {"draft": str(draft.uuid), **by, "edited": draft.edited is not None}


def _place(draft: Draft, text: str) -> dict:
    """The stretch of its response that a piece is from, as its metadata say it; nothing where that is not known."""
    if draft.start is None:
        return {}
    return {STATED_IN: {"start": draft.start, "end": draft.end, "quote": text[draft.start : draft.end]}}


class DraftPublishingHandler:
    """See `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("dataset", "project").get(pk=chunk.job_id)
        kind, piece_set = DRAFT_KINDS[job.parameters["kind"]], job.parameters.get("piece_set", "")
        publication = Publication(job.project, kind, piece_set)
        records = publication.records(lambda done, total: lease.progress(done, total, "Reading accepted drafts"))
        result = found_in(job, stage(job, records, lease), job.parameters["on_judged"], "published")
        result |= {"same": publication.same, "left_out": publication.counts["left_out"]}
        close_staging(job, result, lease)

    def finish(self, job: Job, lease: Lease) -> dict:
        job = Job.objects.select_related("dataset", "project").get(pk=job.pk)
        batch = job.batch
        if job.result["is_unchanged"]:
            discard(batch, lease.beat)
        else:
            publish(batch, job.parameters["on_judged"], guard_of(lease))
        noted = _note_keys(job, batch, lease)
        projects = {project.pk: project for project in (job.project, *projects_with_retired_items(batch))}
        made = {pk: make_items(project, lease) for pk, project in projects.items()}[job.project_id]
        job.refresh_from_db(fields=["result"])
        kept = waiting(job.project, DRAFT_KINDS[job.parameters["kind"]]).count()
        return job.result | {"noted": noted, "not_published": kept, "items": made.items}

    def clean_up(self, job: Job) -> None:
        take_back(job)


HANDLER = DraftPublishingHandler()


def _note_keys(job: Job, batch: ContentBatch, lease: Lease) -> int:
    """Say on each draft what it became, and let drafts follow their sources to new versions. How many became content;
    the same ones again where this is repeated.

    In short transactions, so that annotators go on submitting. Should a worker die in between and nobody go on,
    the next publishing finds that the drafts that are left say the same as pieces that are there.
    """
    kind = DRAFT_KINDS[job.parameters["kind"]]
    mine = drafts_of(job.project, kind)
    rows = kind.model.objects.filter(batch=batch, metadata__has_key="draft").order_by("pk")
    noted = 0
    for part in batches(rows.values_list("metadata__draft", "key").iterator(chunk_size=ROWS_AT_ONCE), ROWS_AT_ONCE):
        keys = dict(part)
        became = [(draft, keys[str(draft.uuid)]) for draft in mine.filter(uuid__in=list(keys)).only("pk", "uuid")]
        noted += _note(became, lease)
    pieces = kind.model.objects.published().filter(dataset=job.dataset_id)
    for part in batches(job.result["same"], ROWS_AT_ONCE):
        same = dict(part)
        there = set(pieces.filter(key__in=set(same.values())).values_list("key", flat=True))
        also = [(draft, same[draft.pk]) for draft in mine.filter(pk__in=list(same)).only("pk")]
        noted += _note([(draft, key) for draft, key in also if key in there], lease)
    with transaction.atomic():
        guard_of(lease)()
        _follow(kind, batch)
    return noted


def _note(drafts: list[tuple[Draft, str]], lease: Lease) -> int:
    rows = [(key, draft.pk) for draft, key in drafts]
    with transaction.atomic(), connection.cursor() as cursor:
        guard_of(lease)()
        cursor.executemany(f'UPDATE "{Draft._meta.db_table}" SET published_key = %s WHERE id = %s', rows)
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(PAUSE_SECONDS)  # SQLite has one writer: it is another process's turn
    return len(rows)


def _follow(kind: DraftKind, batch: ContentBatch) -> None:
    """Sources that the batch stored as a new version because they got more pieces: their words are the same."""
    renewed = kind.source_model.objects.filter(batch=batch, version__gt=1, superseded_at=None)
    for pk, key, version in renewed.values_list("pk", "key", "version"):
        old = kind.source_model.objects.filter(dataset=batch.dataset_id, key=key, version=version - 1)
        for table in (Draft, ExtractedSource):
            table.objects.filter(**{f"{kind.source}__in": old.values("pk")}).update(**{kind.source_column: pk})


__all__ = ["HANDLER", "Publication", "PublishingProblem", "start", "waiting"]
