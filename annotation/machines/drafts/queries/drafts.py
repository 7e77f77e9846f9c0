"""Reads of extraction runs: the list, what one says, and how well it did against what people accepted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet

from annotation.machines.drafts.words import same_words
from annotation.machines.runs.queries.samples import marked, prompt_parts
from annotation.models import Draft, ExtractedSource, ExtractionRun, Project
from annotation.projects.draft_kinds import DRAFT_KINDS, DraftKind, drafts_of

PER_PAGE = 10
EXAMPLES_PER_REASON = 3


def runs_of(project: Project, kind: DraftKind) -> QuerySet[ExtractionRun]:
    """The project's runs, newest first."""
    found = ExtractionRun.objects.filter(project=project, kind=kind.name)
    return found.select_related("job", "created_by").order_by("-pk")


# --- figures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """How what a run proposed fares against the accepted pieces of the same sources, of whatever run or by hand.

    Only sources count that the run answered and whose review is complete: no proposal of any run is left undecided.
    Pieces are matched by their words without regard to case and white space, each accepted piece with one proposal at
    most. `found` proposals were accepted as they are; with `found_edited` also those whose edited words were accepted.
    """

    n_sources: int
    n_left_out: int  # answered sources whose review is not complete
    proposed: int
    accepted: int  # different pieces
    found: int
    found_edited: int
    unchanged: int  # of the proposals: what became of them
    edited: int
    dropped: int

    @property
    def precision(self) -> float | None:
        return self.found / self.proposed if self.proposed else None

    @property
    def recall(self) -> float | None:
        return self.found / self.accepted if self.accepted else None

    @property
    def f1(self) -> float | None:
        """2 found / (proposed + accepted): the harmonic mean of both, where both are defined."""
        both = self.proposed and self.accepted
        return 2 * self.found / (self.proposed + self.accepted) if both else None

    @property
    def lenient(self) -> Figures:
        """The same with edited proposals counted as found."""
        return Figures(
            **{name: getattr(self, name) for name in self.__dataclass_fields__} | {"found": self.found_edited}
        )

    @property
    def rows(self) -> list[tuple[str, float | None, float | None, str]]:
        """Name, strict value, lenient value, and why there is none where there is none."""
        lenient = self.lenient
        why_p, why_r = self._why("proposed nothing", self.proposed), self._why("nothing was accepted", self.accepted)
        return [
            ("Precision", self.precision, lenient.precision, why_p),
            ("Recall", self.recall, lenient.recall, why_r),
            ("F1", self.f1, lenient.f1, why_p or why_r),
        ]

    def _why(self, reason: str, number: int) -> str:
        if not self.n_sources:
            return "no source that it answered is reviewed completely"
        return "" if number else f"{reason} in the sources that are reviewed completely"


@dataclass(slots=True)
class _OfSource:
    proposals: list[tuple] = field(default_factory=list)  # (words, final words where accepted) of the run
    accepted: set[tuple] = field(default_factory=set)


def figures_of(run: ExtractionRun) -> Figures:
    """Three queries; reads all drafts of the run's kind in its project."""
    kind = DRAFT_KINDS[run.kind]
    column = kind.source_column
    answered = set(run.sources.filter(reason="").values_list(column, flat=True))
    drafts = drafts_of(run.project, kind)
    undecided = drafts.filter(state=Draft.State.PROPOSED).values_list(column, flat=True).distinct()
    complete = answered - set(undecided)
    sources: dict[int, _OfSource] = defaultdict(_OfSource)
    counts = {"unchanged": 0, "edited": 0, "dropped": 0}
    rows = drafts.values_list(column, "run_id", "state", "parts", "edited").order_by()
    for source_id, run_id, state, parts, edited in rows.iterator(chunk_size=2000):
        if source_id not in complete:
            continue
        is_accepted = state == Draft.State.ACCEPTED
        final = same_words(kind, edited or parts) if is_accepted else None
        if is_accepted:
            sources[source_id].accepted.add(final)
        if run_id == run.pk:
            words = same_words(kind, parts)
            sources[source_id].proposals.append((words, final))
            counts["dropped" if not is_accepted else "unchanged" if final == words else "edited"] += 1
    strict, lenient = _found(sources.values())
    return Figures(
        n_sources=len(complete),
        n_left_out=len(answered) - len(complete),
        proposed=sum(len(source.proposals) for source in sources.values()),
        accepted=sum(len(source.accepted) for source in sources.values()),
        found=strict,
        found_edited=lenient,
        **counts,
    )


def _found(sources: Iterable[_OfSource]) -> tuple[int, int]:
    """Accepted pieces that a proposal says word for word, and those that it says when edited ones count, too."""
    strict = lenient = 0
    for source in sources:
        words = {words for words, _ in source.proposals}
        best = {words if words in source.accepted else final for words, final in source.proposals}
        strict += len(words & source.accepted)
        lenient += len(best & source.accepted)
    return strict, lenient


# --- a sample -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampledSource:
    """A source that a run keeps in full: its words in pieces (text, whether a proposal comes from it), what was
    proposed, and the prompt as sent with the raw answer."""

    source: object
    question: str
    text: list[tuple[str, bool]]
    drafts: list[tuple[str, Draft]]  # with the words as proposed
    message: str
    reason: str
    prompt: list[tuple[str, str]]
    output: str
    is_cut: bool


def sample_of(run: ExtractionRun, page: str | int | None = 1) -> Page:
    """A page of the sampled answers. Three queries."""
    found = Paginator(_kept(run).filter(reason=""), PER_PAGE).get_page(page)
    found.object_list = list(_sampled(run, list(found.object_list)))
    return found


def failed_of(run: ExtractionRun) -> dict[str, list[SampledSource]]:
    """Some failures of each reason. Two queries."""
    chosen: dict[str, list[ExtractedSource]] = defaultdict(list)
    for row in _kept(run).exclude(reason=""):
        if len(chosen[row.reason]) < EXAMPLES_PER_REASON:
            chosen[row.reason].append(row)
    return {reason: list(_sampled(run, rows)) for reason, rows in chosen.items()}


def _kept(run: ExtractionRun) -> QuerySet[ExtractedSource]:
    links = ("question",) if DRAFT_KINDS[run.kind].is_of_question else ("response__question",)
    return run.sources.filter(trace__isnull=False).select_related(*links).order_by("pk")


def _sampled(run: ExtractionRun, rows: list[ExtractedSource]) -> Iterator[SampledSource]:
    kind = DRAFT_KINDS[run.kind]
    ids = [getattr(row, kind.source_column) for row in rows if not row.reason]
    drafts = defaultdict(list)
    if ids:
        for draft in run.drafts.filter(**{f"{kind.source}__in": ids}).order_by("index"):
            drafts[getattr(draft, kind.source_column)].append(draft)
    for row in rows:
        source = getattr(row, kind.source)
        own = drafts[source.pk]
        spans = [(draft.start, draft.end) for draft in own if draft.start is not None]
        question = question_of(kind, source)
        text = "" if kind.is_of_question else source.text
        trace = row.trace or {}
        yield SampledSource(
            source=source,
            question=question,
            text=marked(text, spans),
            drafts=[(" | ".join(draft.parts[name] for name in kind.parts), draft) for draft in own],
            message=row.message,
            reason=row.reason,
            prompt=list(prompt_parts(trace.get("prompt"))),
            output=trace.get("output", ""),
            is_cut=trace.get("is_cut", False),
        )


def question_of(kind: DraftKind, source) -> str:
    """The question that a source is, or that it answers."""
    if kind.is_of_question:
        return source.text
    return source.question.text if source.question_id else ""
