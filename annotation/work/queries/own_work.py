"""What one annotator did in a project: their answers and skips, their time, and how often decisions agree with them.

Checks are among them like other items; training and qualification are no work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.formats.records import SHOWN_ORDER
from annotation.models import Annotation, Assignment, Decision, Item, Judgement, Project, Rater, Revision, Thread
from annotation.task_types import SEPARATOR, Dimension
from annotation.task_words import answer_title, worded
from annotation.work.queries import pages, unit_words
from annotation.work.queries.work import answers_of

FILTERS = {
    "": _("Everything"),
    "answered": _("Answered"),
    "skipped": _("Skipped"),
    "flagged": _("Flagged"),
    "parked": _("Parked for later"),
    "commented": _("With a comment"),
    "replied": _("With a new reply"),
    "earlier-guidelines": _("Answered before the guidelines changed"),
}
DECIDED = "decided"  # where the project shows decisions
OF_SKIPS = {"skipped": {}, "flagged": {"is_flagged": True}, "parked": {"is_parked": True}}
# So many decided answers are compared before their share is shown: of a few, it would give away single decisions.
LEAST_COMPARED = 20
LEAST_SECONDS = 60  # of active time for a pace
DAY = 86_400


@dataclass
class OwnRow:
    """An answer or a skip. `place` is the assignment by which its item is opened, `number` counts answers."""

    item: Item
    at: datetime
    place: UUID
    title: str = ""
    number: int = 0
    labels: list[str] = field(default_factory=list)
    comment: str = ""
    changed_at: datetime | None = None
    skip: Assignment | None = None
    thread: Thread | None = None


def filters_of(project: Project) -> dict[str, str]:
    return FILTERS | ({DECIDED: _("With a decision")} if project.shows_decisions else {})


def label_filters(project: Project) -> list[tuple[str, str]]:
    """Names and titles of the labels that answers can be narrowed to. How shuffled texts are stored is not shown."""
    return [
        (f"{one.slug}:{label.value}", f"{one.title}: {label.title}")
        for one in worded(project.type).asked_dimensions
        for label in one.shown_labels
        if not label.ranks
    ]


def _skips_of(rater: Rater) -> QuerySet[Assignment]:
    return Assignment.objects.filter(rater=rater, state=Assignment.State.SKIPPED)


def find(project: Project, rater: Rater, chosen: str = "", search: str = ""):
    """What a filter and a search find, newest first: ("answer" or "skip", when, its number) of each."""
    answers, skips = answers_of(rater), _skips_of(rater)
    if search:
        words = Q(item__words__title__contains=search.casefold())
        answers, skips = answers.filter(words), skips.filter(words)
    latest = Revision.objects.filter(annotation=OuterRef("pk"), is_latest=True)
    if chosen == "replied":
        unread = Thread.objects.filter(rater=rater, item=OuterRef("item"), is_unread=True)
        answers, skips = answers.filter(Exists(unread)), skips.filter(Exists(unread))
    elif chosen in OF_SKIPS:
        answers = answers.none()
        skips = skips.filter(**OF_SKIPS[chosen])
    elif chosen:
        skips = skips.none()
    if chosen == "commented":
        answers = answers.filter(Exists(latest.exclude(comment="")))
    elif chosen == "earlier-guidelines":
        newest = project.guidelines.order_by("-version").values("version")[:1]
        answers = answers.filter(Exists(latest.filter(guideline_version__lt=Subquery(newest))))
    elif chosen == DECIDED:
        made = Decision.objects.in_force().filter(project=project, unit__item_units__item=OuterRef("item"))
        answers = answers.filter(Exists(made.filter(method__in=pages.SHOWN_DECISIONS)))
        answers = answers.exclude(item__state__in=Item.LEFT_OUT)
    elif chosen not in FILTERS:
        slug, _, value = chosen.partition(":")
        labels = Judgement.objects.filter(
            revision__annotation=OuterRef("pk"), revision__is_latest=True, dimension=slug
        ).filter(_holds(project.type.dimension(slug), value))
        answers = answers.filter(Exists(labels))
    columns = ("kind", "at", "pk")
    found = answers.order_by().annotate(kind=Value("answer"), at=F("created_at")).values_list(*columns)
    left = skips.order_by().annotate(kind=Value("skip"), at=F("done_at")).values_list(*columns)
    return found.union(left, all=True).order_by("-at", "-pk")


def _holds(dimension: Dimension, value: str) -> Q:
    """Whether an answer holds the label, alone or among several."""
    if not dimension.takes_several:
        return Q(label=value)
    inner = Q(label__contains=f"{SEPARATOR}{value}{SEPARATOR}")
    first, last = Q(label__startswith=value + SEPARATOR), Q(label__endswith=SEPARATOR + value)
    return Q(label=value) | first | inner | last


def rows_of(project: Project, rater: Rater, found: Sequence[tuple[str, datetime, int]]) -> list[OwnRow]:
    """The rows of a page, with as many queries however many there are."""
    ids = {kind: [pk for name, _, pk in found if name == kind] for kind in ("answer", "skip")}
    of_item = Assignment.objects.filter(item=OuterRef("item")).order_by("pk").values("uuid")[:1]
    answers = Annotation.objects.filter(pk__in=ids["answer"]).select_related("item")
    answers = answers.annotate(place=Coalesce("assignment__uuid", Subquery(of_item)))
    is_open = Assignment.objects.filter(item=OuterRef("item"), state=Assignment.State.OPEN)
    skips = Assignment.objects.filter(pk__in=ids["skip"]).select_related("item")
    skips = skips.annotate(has_place=Exists(is_open) | Q(reason=Assignment.Reason.CHECK))
    rows = {("skip", one.pk): OwnRow(one.item, one.done_at, one.uuid, skip=one) for one in skips}
    rows |= {("answer", one.pk): OwnRow(one.item, one.created_at, one.place) for one in answers}
    words = unit_words.words_of(project.type.anchor_kind, [row.item.anchor_id for row in rows.values()])
    threads = Thread.objects.filter(rater=rater, item__in=[row.item for row in rows.values()])
    threads = {one.item_id: one for one in threads.annotate(n_replies=Count("replies"))}
    for row in rows.values():
        row.title, row.thread = words[row.item.anchor_id][0], threads.get(row.item.pk)
    if ids["answer"]:
        own = list(answers_of(rater).order_by("pk").values_list("pk", flat=True))
        for pk in ids["answer"]:
            rows["answer", pk].number = bisect_right(own, pk)
        _add_answers(project, {pk: rows["answer", pk] for pk in ids["answer"]})
    return [rows[kind, pk] for kind, _, pk in found if (kind, pk) in rows]


def _add_answers(project: Project, rows: dict[int, OwnRow]) -> None:
    latest = Revision.objects.filter(annotation__in=rows, is_latest=True)
    orders = {}
    for pk, number, comment, at, metadata in latest.values_list(
        "annotation_id", "number", "comment", "received_at", "metadata"
    ):
        rows[pk].comment = comment
        rows[pk].changed_at = at if number > 1 else None
        orders[pk] = tuple(metadata.get(SHOWN_ORDER, ()))
    # In the words of the page that the person saw.
    dimensions = {}
    for order in {*orders.values()}:
        kind = project.type.on_page(order, order) if order else project.type
        dimensions[order] = {one.slug: one for one in worded(kind).dimensions}
    labels = Judgement.objects.filter(revision__annotation__in=rows, revision__is_latest=True).order_by("pk")
    labelled = defaultdict(Counter)
    for pk, slug, label in labels.values_list("revision__annotation_id", "dimension", "label"):
        if dimension := dimensions[orders[pk]].get(slug):
            labelled[pk][answer_title(dimension, label)] += 1
    for pk, counted in labelled.items():
        rows[pk].labels = [label if n == 1 else f"{label} ({n})" for label, n in counted.items()]


def number_of(rater: Rater, place: UUID) -> int | None:
    """Which of this person's answers the one to the assignment's item is; None where they have not answered it."""
    own = answers_of(rater)
    reached = own.filter(item__assignments__uuid=place).values_list("pk", flat=True).first()
    return reached and own.filter(pk__lte=reached).count()


def held(rater: Rater, place: UUID) -> Assignment | None:
    """The assignment, where this person holds it."""
    rows = Assignment.objects.select_related("project", "rater__user")
    return rows.filter(uuid=place, rater=rater, state=Assignment.State.LEASED).first()


def place_of(rater: Rater, number: int) -> UUID | None:
    """The assignment by which the person's answer with this number is opened."""
    one = answers_of(rater).order_by("pk")[number - 1 : number].first()
    if one is None:
        return None
    if one.assignment is not None:
        return one.assignment.uuid
    return Assignment.objects.filter(item=one.item_id).order_by("pk").values_list("uuid", flat=True).first()


@dataclass(frozen=True)
class Day:
    day: date
    answers: int
    seconds: float


@dataclass(frozen=True)
class Totals:
    answers: int
    seconds: float

    @property
    def hours(self) -> float:
        return self.seconds / 3600

    @property
    def minutes(self) -> float:
        return self.seconds / 60

    @property
    def per_hour(self) -> float | None:
        return self.answers / self.hours if self.seconds >= LEAST_SECONDS else None


def days_of(rater: Rater) -> list[Day]:
    """Answers and active time by day, oldest first. Days are UTC's, by the server's clock; a changed answer adds its
    time to the day of the change. Kept until the person answers again."""

    def count() -> list[Day]:
        own = Revision.objects.filter(annotation__rater=rater)
        own = own.exclude(annotation__assignment__reason__in=Assignment.LEARNING)
        by_day = own.order_by().annotate(day=TruncDate("received_at", tzinfo=UTC)).values_list("day")
        counted = by_day.annotate(n=Count("pk", filter=Q(number=1)), ms=Sum("active_ms")).order_by("day")
        return [Day(day, n, (ms or 0) / 1000) for day, n, ms in counted]

    return cache.get_or_set(f"own-days:{rater.pk}:{rater.label_version}", count, DAY)


def totals_of(days: Sequence[Day]) -> Totals:
    return Totals(sum(one.answers for one in days), sum(one.seconds for one in days))


@dataclass(frozen=True)
class Agreed:
    """How many of a person's first answers to a question decisions agree with."""

    title: str
    n: int
    of: int

    @property
    def percent(self) -> int:
        return round(100 * self.n / self.of)


def agreement_of(project: Project, rater: Rater) -> list[Agreed]:
    """By question that has enough decided answers. First answers count, and they are compared once a day: a number
    that followed each change would tell what was decided."""

    def count() -> list[tuple[str, int, int]]:
        own = Judgement.objects.filter(revision__annotation__rater=rater, revision__number=1)
        own = own.exclude(revision__annotation__item__state__in=Item.LEFT_OUT)
        decided = pages.decisions_that_stand(project, own.values("unit"))
        compared, agreed = Counter(), Counter()
        for unit, slug, label in own.values_list("unit_id", "dimension", "label"):
            row = decided.get((unit, slug))
            if row is not None and row.label:
                compared[slug] += 1
                agreed[slug] += row.label == label
        return [(slug, agreed[slug], n) for slug, n in compared.items()]

    today = timezone.now().date().isoformat()
    counted = {slug: (n, of) for slug, n, of in cache.get_or_set(f"own-agreement:{rater.pk}:{today}", count, DAY)}
    return [
        Agreed(one.title, *counted[one.slug])
        for one in worded(project.type).asked_dimensions
        if counted.get(one.slug, (0, 0))[1] >= LEAST_COMPARED
    ]
