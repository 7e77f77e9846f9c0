"""Reads about a project's items: the list with its filters, and one item with everything that was said about it."""

from collections import defaultdict
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet

from annotation.models import (
    Annotation,
    Assignment,
    Decision,
    Item,
    Judgement,
    Project,
    Revision,
    Suggestion,
    Unit,
)
from annotation.queries import pages
from annotation.task_types import Dimension, task_type


def _with(state: str):
    return lambda items: items.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), state=state)))


def _flagged(items):
    return items.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), is_flagged=True)))


def _judged(items):
    waiting = Assignment.objects.filter(item=OuterRef("pk"), state__in=[Assignment.State.OPEN, Assignment.State.LEASED])
    return items.filter(Exists(Annotation.objects.filter(item=OuterRef("pk")))).exclude(Exists(waiting))


# What the list can be narrowed to: name in the address -> (title, narrowing). Nothing else is accepted.
FILTERS = {
    "": ("All items", lambda items: items),
    "open": ("Waiting for judgements", _with(Assignment.State.OPEN)),
    "taken": ("Before somebody now", _with(Assignment.State.LEASED)),
    "judged": ("Fully judged", _judged),
    "skipped": ("Skipped by somebody", _with(Assignment.State.SKIPPED)),
    "flagged": ("Flagged", _flagged),
    "stuck": ("Stuck: everybody skipped", lambda items: items.filter(state=Item.State.STUCK)),
    "retired": ("Retired", lambda items: items.filter(state=Item.State.RETIRED)),
    "empty": ("Nothing to judge in them", lambda items: items.filter(unit_count=0)),
}
# These tell something about labels, and are only for those who may see them.
LABEL_FILTERS = {
    "disagreed": ("People disagree", lambda items: items.filter(pk__in=_disagreeing(items))),
    "undecided": (
        "People disagree, not decided",
        lambda items: items.filter(pk__in=_disagreeing(items, decided=False)),
    ),
}


def _disagreeing(items: QuerySet, *, decided: bool = True) -> QuerySet:
    """Items where two answers in force differ on one unit and dimension."""
    differing = (
        Judgement.objects.filter(
            revision__is_latest=True,
            revision__annotation__is_surplus=False,
            revision__annotation__item__in=items.values("pk"),
        )
        .order_by()
        .values("revision__annotation__item", "revision__annotation__item__project", "unit", "dimension")
        .annotate(least=Min("label"), most=Max("label"))
        .filter(least__lt=F("most"))
    )
    if not decided:
        differing = differing.exclude(
            Exists(
                Decision.objects.filter(
                    project=OuterRef("revision__annotation__item__project"),
                    unit=OuterRef("unit"),
                    dimension=OuterRef("dimension"),
                    method=Decision.Method.ADJUDICATED,
                )
            )
        )
    return differing.values("revision__annotation__item")


def find_items(project: Project, *, filter: str = "", search: str = "") -> QuerySet[Item]:
    """Items in the order of work. `filter` is a name of FILTERS or LABEL_FILTERS (KeyError otherwise)."""
    items = project.items.order_by("position")
    if search:
        items = items.filter(key__icontains=search)
    return (FILTERS | LABEL_FILTERS)[filter][1](items)


@dataclass
class ItemRow:
    item: Item
    open: int = 0
    leased: int = 0
    done: int = 0
    skipped: int = 0
    judgements: int = 0  # people who answered, late ones and imported ones included


def item_rows(items: list[Item]) -> list[ItemRow]:
    rows = {item.pk: ItemRow(item) for item in items}
    states = Assignment.objects.filter(item__in=rows).order_by().values_list("item_id", "state").annotate(Count("pk"))
    for item_id, state, number in states:
        if state != Assignment.State.CANCELLED:
            setattr(rows[item_id], state, number)
    answered = Annotation.objects.filter(item__in=rows).order_by().values_list("item_id").annotate(Count("pk"))
    for item_id, number in answered:
        rows[item_id].judgements = number
    return list(rows.values())


@dataclass
class Answer:
    label: str = ""
    title: str = ""
    spans: list = field(default_factory=list)
    probability: float | None = None


@dataclass
class Question:
    """One dimension of one unit, with everybody's answers in the order of the item's judges and runs."""

    unit: Unit
    unit_title: str
    dimension: Dimension
    answers: list[Answer | None]
    suggestions: list[Answer | None]
    decisions: list[Decision]
    adjudicated: Decision | None
    disagrees: bool


@dataclass
class ItemView:
    item: Item
    revisions: list[Revision]  # the newest of each judge
    history: dict[int, int]  # number of revisions by annotation
    runs: list
    questions: list[Question]
    assignments: list[Assignment]


def item_view(project: Project, item: Item) -> ItemView:
    """Everything that was said about one item, side by side."""
    kind = task_type(project.task_type)
    units = list(Unit.objects.filter(item_units__item=item).select_related("triplet").order_by("item_units__index"))
    revisions = list(
        Revision.objects.filter(annotation__item=item, is_latest=True)
        .select_related("annotation__rater", "annotation__assignment")
        .prefetch_related("judgements__spans")
        .order_by("annotation__is_surplus", "annotation__rater__name", "pk")
    )
    said = {
        (revision.pk, judgement.unit_id, judgement.dimension): judgement
        for revision in revisions
        for judgement in revision.judgements.all()
    }
    suggested, runs = {}, {}
    for suggestion in Suggestion.objects.filter(run__project=project, unit__in=units).select_related("run"):
        runs[suggestion.run_id] = suggestion.run
        suggested[suggestion.run_id, suggestion.unit_id, suggestion.dimension] = suggestion
    decisions = defaultdict(list)
    for decision in Decision.objects.filter(project=project, unit__in=units).select_related("decided_by"):
        decisions[decision.unit_id, decision.dimension].append(decision)
    questions = []
    for unit in units:
        for dimension in kind.dimensions:
            place = (unit.pk, dimension.slug)
            answers = [_answer(dimension, said.get((revision.pk, *place))) for revision in revisions]
            counted = {
                answer.label
                for answer, revision in zip(answers, revisions, strict=True)
                if answer and not revision.annotation.is_surplus
            }
            of_unit = decisions[place]
            questions.append(
                Question(
                    unit=unit,
                    unit_title=pages.unit_text(unit).title or unit.key,
                    dimension=dimension,
                    answers=answers,
                    suggestions=[_suggested(dimension, suggested.get((run, *place))) for run in sorted(runs)],
                    decisions=of_unit,
                    adjudicated=next((one for one in of_unit if one.method == Decision.Method.ADJUDICATED), None),
                    disagrees=len(counted) > 1,
                )
            )
    numbers = Revision.objects.filter(annotation__item=item).order_by().values_list("annotation").annotate(Count("pk"))
    return ItemView(
        item=item,
        revisions=revisions,
        history=dict(numbers),
        runs=[runs[run] for run in sorted(runs)],
        questions=questions,
        assignments=list(item.assignments.select_related("rater").order_by("pk")),
    )


def _title(dimension: Dimension, label: str) -> str:
    """The label's title; a label of an older version is shown as it is stored."""
    return dimension.label(label).title if label in dimension.values else label


def _answer(dimension: Dimension, judgement: Judgement | None) -> Answer | None:
    if judgement is None:
        return None
    return Answer(judgement.label, _title(dimension, judgement.label), list(judgement.spans.all()))


def _suggested(dimension: Dimension, suggestion: Suggestion | None) -> Answer | None:
    if suggestion is None:
        return None
    return Answer(suggestion.label, _title(dimension, suggestion.label), suggestion.spans, suggestion.probability)


def stuck_items(project: Project, limit: int = 10) -> list[Item]:
    return list(project.items.filter(Q(state=Item.State.STUCK)).order_by("position")[:limit])


def neighbours(project: Project, item: Item, *, filter: str = "") -> tuple[Item | None, Item | None]:
    """The items before and after this one in the list with the filter."""
    items = find_items(project, filter=filter)
    before = items.filter(position__lt=item.position).order_by("-position").first()
    return before, items.filter(position__gt=item.position).first()


def texts_of(item: Item) -> list[tuple[str, str]]:
    """Name and text of what the item's judges read, in reading order; empty ones are left out."""
    texts = pages.load_page(item.pk, task_type(item.project.task_type)).contents.texts
    return [(name.replace("-", " ").capitalize(), text) for name, text in texts.items() if text]
