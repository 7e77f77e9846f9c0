"""Reads for reviewing drafts: which sources there are to review, and the page of one."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from django.db.models import Count, Q, QuerySet

from annotation.access import may_edit_dataset
from annotation.machines.drafts.queries.drafts import question_of
from annotation.machines.drafts.reviewing import seen
from annotation.models import Draft, ExtractedSource, ExtractionRun, Job, Project, User
from annotation.projects.draft_kinds import DraftKind, drafted_for, drafts_of

# The filter's values in the address and their titles.
STATES = {
    "": "All",
    "to-review": "To review",
    "reviewed": "Reviewed",
    "to-publish": "Accepted, not published",
    "published": "Published",
    "empty": "Nothing proposed",
}


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Drafts of a project by what became of them, and sources with undecided ones."""

    proposed: int
    accepted: int  # not published
    published: int
    dropped: int
    sources_to_review: int

    @property
    def is_empty(self) -> bool:
        return not (self.proposed or self.accepted or self.published or self.dropped)


def counts_of(project: Project, kind: DraftKind) -> DraftCounts:
    """One query."""
    waiting = Q(published_key="")
    found = drafts_of(project, kind).aggregate(
        proposed=Count("pk", filter=Q(state=Draft.State.PROPOSED)),
        accepted=Count("pk", filter=Q(state=Draft.State.ACCEPTED) & waiting),
        published=Count("pk", filter=~waiting),
        dropped=Count("pk", filter=Q(state=Draft.State.DROPPED)),
        sources_to_review=Count(kind.source_column, distinct=True, filter=Q(state=Draft.State.PROPOSED)),
    )
    return DraftCounts(**found)


def needs_drafts(project: Project, kind: DraftKind) -> bool:
    """Whether the project has nothing to judge before pieces have been drafted and published."""
    pieces = kind.model.objects.published().filter(dataset=project.dataset_id, piece_set=project.piece_set)
    return not pieces.exists()


@dataclass(frozen=True, slots=True)
class Overview:
    """What a project's own page says of its drafts to those who review them."""

    kind: DraftKind
    is_needed: bool  # there is nothing to judge before
    to_review: int
    to_publish: int


def overview_of(user: User, project: Project) -> Overview | None:
    """None where nothing is drafted here, or not by this person. Three queries at most."""
    kind = drafted_for(project.type)
    if kind is None or not may_edit_dataset(user, project.dataset):
        return None
    counts = counts_of(project, kind)
    return Overview(kind, needs_drafts(project, kind), counts.sources_to_review, counts.accepted)


def publishing_of(project: Project) -> Job | None:
    """The last job that published drafts, or does so now."""
    return project.jobs.filter(kind=Job.Kind.DRAFTS).order_by("-pk").first()


def sources_to_review(
    project: Project, kind: DraftKind, *, state: str = "", run: ExtractionRun | None = None, failed: bool = False
) -> QuerySet:
    """Sources that a run has dealt with or that have drafts, in the order of the data set. `state` is one of STATES."""
    mine = drafts_of(project, kind)
    read = ExtractedSource.objects.filter(run__project=project, run__kind=kind.name)
    found = kind.source_model.objects.filter(dataset=project.dataset_id).order_by("pk")

    def are_in(rows: QuerySet) -> Q:
        # Looked up once for all sources: asked for each of them, SQLite would read all drafts of the project each time.
        return Q(pk__in=rows.values(kind.source_column))

    if run is not None:
        read, mine = read.filter(run=run), mine.filter(run=run)
        found = found.filter(are_in(read))
    else:
        found = found.filter(are_in(read) | are_in(mine))
    if failed:
        found = found.filter(are_in(read.exclude(reason="")))
    undecided = are_in(mine.filter(state=Draft.State.PROPOSED))
    chosen = {
        "to-review": undecided,
        "reviewed": are_in(mine) & ~undecided,
        "to-publish": are_in(mine.filter(state=Draft.State.ACCEPTED, published_key="")),
        "published": are_in(mine.exclude(published_key="")),
        "empty": are_in(read.filter(reason="")) & ~are_in(mine),
    }
    return found.filter(chosen[state]) if state in chosen else found


@dataclass(frozen=True)
class SourceRow:
    source: object
    question: str
    counts: Counter = field(default_factory=Counter)  # proposed, accepted, published, dropped
    reasons: list[str] = field(default_factory=list)  # of runs that failed on it


def rows_of(project: Project, kind: DraftKind, sources: QuerySet | list) -> list[SourceRow]:
    """Three queries, for one page of sources."""
    if not kind.is_of_question:
        sources = sources.select_related("question")
    sources = list(sources)
    ids = [source.pk for source in sources]
    column = kind.source_column
    counts: dict[int, Counter] = defaultdict(Counter)
    mine = drafts_of(project, kind).filter(**{f"{kind.source}__in": ids})
    for source_id, state, key, n in mine.values_list(column, "state", "published_key").annotate(n=Count("pk")):
        counts[source_id]["published" if key else state] += n
    reasons = defaultdict(list)
    failures = ExtractedSource.objects.filter(run__project=project, run__kind=kind.name).exclude(reason="")
    failures = failures.filter(**{f"{kind.source}__in": ids}).order_by("pk")
    for source_id, reason in failures.values_list(column, "reason"):
        reasons[source_id].append(reason)
    return [SourceRow(source, question_of(kind, source), counts[source.pk], reasons[source.pk]) for source in sources]


@dataclass(frozen=True)
class DraftRow:
    """A draft as its row shows it: its parts (name, title, words, as proposed where that differs), its number on the
    page, and what is sent back with a decision."""

    draft: Draft
    number: int
    parts: list[tuple[str, str, str, str]]
    shown: str
    quote: str  # of the stretch that it comes from
    by: str  # what proposed it

    @property
    def is_open(self) -> bool:
        return self.draft.state == Draft.State.PROPOSED

    @property
    def is_published(self) -> bool:
        return bool(self.draft.published_key)


@dataclass(frozen=True)
class SourcePage:
    source: object
    question: str
    pieces: list[tuple[str, str]]  # the response's words, each with the numbers of the drafts that come from there
    rows: list[DraftRow]
    failures: list[ExtractedSource]

    @property
    def undecided(self) -> int:
        return sum(row.is_open for row in self.rows)

    def row(self, draft: Draft) -> DraftRow | None:
        return next((row for row in self.rows if row.draft.pk == draft.pk), None)


def source_page(project: Project, kind: DraftKind, source) -> SourcePage:
    """Two queries, and one for the question of a response."""
    text = "" if kind.is_of_question else source.text
    mine = drafts_of(project, kind).filter(**{kind.source: source})
    drafts = list(mine.select_related("run", "reviewed_by").order_by("pk"))
    rows = [_row(kind, draft, number, text) for number, draft in enumerate(drafts, start=1)]
    failures = ExtractedSource.objects.filter(run__project=project, run__kind=kind.name, **{kind.source: source})
    return SourcePage(
        source=source,
        question=question_of(kind, source),
        pieces=_pieces(text, rows),
        rows=rows,
        failures=list(failures.exclude(reason="").select_related("run").order_by("pk")),
    )


def _row(kind: DraftKind, draft: Draft, number: int, text: str) -> DraftRow:
    now = draft.edited or draft.parts
    parts = []
    for name in kind.parts:
        before = draft.parts[name] if draft.parts[name] != now[name] else ""
        parts.append((name, "Words" if name == "text" else name.capitalize(), now[name], before))
    is_there = draft.start is not None and draft.end <= len(text)
    return DraftRow(
        draft=draft,
        number=number,
        parts=parts,
        shown=seen(draft),
        quote=text[draft.start : draft.end] if is_there else "",
        by=f"{draft.run.extractor} {draft.run.version}" if draft.run else "by hand",
    )


def _pieces(text: str, rows: list[DraftRow]) -> list[tuple[str, str]]:
    """The text in pieces, joined the text again; the numbers as in an attribute, "" where nothing comes from there."""
    spans = [(row.draft.start, row.draft.end, row.number) for row in rows if row.quote]
    borders = sorted({0, len(text), *(point for low, high, _ in spans for point in (low, high))})
    return [
        (text[start:end], " ".join(str(number) for low, high, number in spans if low <= start and end <= high))
        for start, end in zip(borders, borders[1:], strict=False)
    ]


def next_to_review(project: Project, kind: DraftKind, source) -> int | None:
    """The id of the next source with an undecided draft, after this one, else from the beginning."""
    open_ones = drafts_of(project, kind).filter(state=Draft.State.PROPOSED).order_by(kind.source_column)
    ids = open_ones.exclude(**{kind.source: source}).values_list(kind.source_column, flat=True)
    after = ids.filter(**{f"{kind.source_column}__gt": source.pk}).first()
    return after if after is not None else ids.first()
