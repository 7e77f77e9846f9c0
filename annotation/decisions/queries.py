"""Reads about a project's items: the list with its filters, and one item with all answers."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from django.core.paginator import Paginator
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.utils.functional import cached_property

from annotation.decisions.moments import DECISION_ORDER
from annotation.decisions.revised import revised_answers
from annotation.formats.cells import label_order
from annotation.formats.records import SpanRecord, place_of_span, span_of, values_of_span
from annotation.models import (
    Annotation,
    Assignment,
    Case,
    Decision,
    Item,
    Judgement,
    Project,
    Rater,
    Revision,
    Suggestion,
    Unit,
)
from annotation.projects import cases, searching
from annotation.rendering import ShownText
from annotation.task_types import Dimension
from annotation.work.queries import pages, unit_words
from annotation.work.queries.contents import UNIT_TEXTS
from annotation.work.stuck import WhyStuck, why_stuck


def _open(items):
    return items.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), state=Assignment.State.OPEN)))


def _through(**of_assignment):
    """By assignments that are few compared with items."""
    return lambda items: items.filter(pk__in=Assignment.objects.filter(**of_assignment).values("item"))


# Filters of the list that go through assignments, with what these have.
FEW = {
    "taken": {"state": Assignment.State.LEASED},
    "skipped": {"state": Assignment.State.SKIPPED},
    "flagged": {"is_flagged": True},
}


def _judged(items):
    waiting = Assignment.objects.filter(item=OuterRef("pk"), state__in=[Assignment.State.OPEN, Assignment.State.LEASED])
    return items.filter(Exists(Annotation.objects.filter(item=OuterRef("pk")))).exclude(Exists(waiting))


# What the list can be narrowed to: name in the address -> (title, narrowing). Nothing else is accepted.
FILTERS = {
    "": ("All items", lambda items: items),
    "open": ("Waiting for judgements", _open),
    "taken": ("Assigned now", _through(**FEW["taken"])),
    "judged": ("Fully judged", _judged),
    "skipped": ("Skipped", _through(**FEW["skipped"])),
    "flagged": ("Flagged", _through(**FEW["flagged"])),
    "stuck": ("Stuck: no annotator left", lambda items: items.filter(state=Item.State.STUCK)),
    "apart": ("Set apart", lambda items: items.filter(state=Item.State.APART)),
    "retired": ("Retired", lambda items: items.filter(state=Item.State.RETIRED)),
    "empty": ("Nothing to judge", lambda items: items.filter(unit_count=0)),
}
# These tell something about labels, and are only for those who may see them. Where several people wrote words, they do
# not disagree.
LABEL_FILTERS = {
    "disagreed": ("Disagreements", {"differing__gt": 0}),
    "undecided": ("Disagreements without a decision", {"differing__gt": 0, "undecided__gt": 0}),
    "commented": ("Comments that wait", {"is_commented": True}),
}


def find_items(
    project: Project,
    *,
    filter: str = "",
    search: str = "",
    searches_keys: bool = True,
    among: Collection[int] | None = None,
) -> QuerySet[Item]:
    """Items in the order of work, those with `search` in their title or, if `searches_keys`, their key; or if they are
    known already, those of `among`.

    `filter` is a name of FILTERS or LABEL_FILTERS (KeyError otherwise).
    """
    if filter in LABEL_FILTERS:  # through the index of cases, which are few compared with items
        narrow = {f"case__{name}": value for name, value in LABEL_FILTERS[filter][1].items()}
        items = Item.objects.filter(case__project=project, **narrow).order_by("case__position")
    else:
        items = FILTERS[filter][1](project.items.order_by("position"))
    if among is not None:
        # Few are sorted sooner than found in the order of work, which PostgreSQL would go through by its index.
        [position] = items.query.order_by
        return items.filter(pk__in=among).order_by(F(position) + 0)
    if search:
        items = items.filter(pk__in=searching.all_matches(project, search, searches_keys=searches_keys))
    return items


# What a person did with the items of a filter; of all other filters they answered them.
DONE_BY = {"taken": "assigned to", "skipped": "skipped by", "flagged": "flagged by"}


def of_person(items: QuerySet[Item], rater: Rater, filter: str) -> QuerySet[Item]:
    """Those that the person answered, or holds, skipped or flagged where the filter says so."""
    own = Assignment.objects.filter(**FEW[filter]) if filter in DONE_BY else Annotation.objects
    return items.filter(pk__in=own.filter(rater=rater).values("item"))


class ItemPages(Paginator):
    """Pages of what `find_items` finds, counted as far as MAX_LISTED; disagreements by their cases alone, and what is
    found through assignments by these, where nothing else narrows them."""

    MAX_LISTED, PER_PAGE = 10_000, 40

    def __init__(
        self, project: Project, items: QuerySet[Item], filter: str, among: Collection[int] | None, *, is_whole: bool
    ):
        super().__init__(items, self.PER_PAGE)
        self.rows = items
        if not is_whole:
            return
        if among is not None:
            if not filter:
                self._counted = len(among)
        elif filter in LABEL_FILTERS:
            self.rows = Case.objects.filter(project=project, **LABEL_FILTERS[filter][1])
        elif filter in FEW:
            self.rows = Assignment.objects.filter(project=project, **FEW[filter]).values("item").distinct()

    @cached_property
    def _counted(self) -> int:
        return self.rows.order_by()[: self.MAX_LISTED + 1].count()

    @property
    def count(self) -> int:
        return min(self._counted, self.MAX_LISTED)

    @property
    def is_cut(self) -> bool:
        return self._counted > self.MAX_LISTED


@dataclass
class ItemRow:
    item: Item
    title: str = ""  # its claim, question, hypothesis or whatever the item is made from
    text: str = ""  # what is judged about it, such as the evidence; empty where nothing more is shown
    open: int = 0
    leased: int = 0
    done: int = 0
    skipped: int = 0
    judgements: int = 0  # people who answered, late ones and imported ones included
    why_stuck: WhyStuck | None = None
    labels: list[str] = field(default_factory=list)  # of each question, the labels with their numbers
    decisions: list[str] = field(default_factory=list)
    differing: int = 0


def item_rows(project: Project, items: list[Item], *, with_labels: bool = False) -> list[ItemRow]:
    """The items with their texts and numbers: three queries, two more where some are stuck, and three for labels."""
    words = unit_words.words_of(project.type.anchor_kind, [item.anchor_id for item in items])
    rows = {item.pk: ItemRow(item, *words[item.anchor_id]) for item in items}
    states = Assignment.objects.filter(item__in=rows).order_by().values_list("item_id", "state").annotate(Count("pk"))
    for item_id, state, number in states:
        if state != Assignment.State.CANCELLED:
            setattr(rows[item_id], state, number)
    answered = Annotation.objects.filter(item__in=rows).order_by().values_list("item_id").annotate(Count("pk"))
    for item_id, number in answered:
        rows[item_id].judgements = number
    for item_id, why in why_stuck(items).items():
        rows[item_id].why_stuck = why
    if with_labels:
        _add_labels(project, rows)
    return list(rows.values())


def _add_labels(project: Project, rows: dict[int, ItemRow]) -> None:
    counts, decided = defaultdict(Counter), defaultdict(dict)
    judgements = Judgement.objects.filter(revision__annotation__item__in=rows, revision__is_latest=True)
    for item_id, dimension, label in judgements.values_list("revision__annotation__item_id", "dimension", "label"):
        counts[item_id, dimension][label] += 1
    in_force = Decision.objects.in_force().filter(project=project, unit__item_units__item__in=rows)
    columns = ("unit__item_units__item_id", "dimension", "unit_id", "method", "label", "outcome")
    # The decision of a unit that comes first in the order of decisions stays.
    for item_id, dimension, unit_id, _, label, outcome in sorted(
        in_force.values_list(*columns), key=lambda row: DECISION_ORDER.index(row[3]), reverse=True
    ):
        decided[item_id, dimension][unit_id] = label or Decision.Outcome(outcome).label
    for item_id, number in Case.objects.filter(item__in=rows).values_list("item_id", "differing"):
        rows[item_id].differing = number
    for dimension in project.type.dimensions:
        for item_id, row in rows.items():
            if labels := counts.get((item_id, dimension.slug)):
                row.labels.append(_counted(dimension, labels))
            if labels := decided.get((item_id, dimension.slug)):
                row.decisions.append(_counted(dimension, Counter(labels.values())))


def _counted(dimension: Dimension, labels: Counter[str]) -> str:
    """The most frequent labels with their numbers: "Supports 2, Refutes"."""
    ordered = sorted(labels.items(), key=lambda pair: (-pair[1], label_order(pair[0])))
    shown = [f"{dimension.title_of(label)[:60]}{f' {n}' if n > 1 else ''}" for label, n in ordered[:3]]
    return ", ".join([*shown, "…"] if len(labels) > 3 else shown)


NOT_ASKED = "not asked"


@dataclass
class Highlight:
    where: str  # the text's title, empty where only one text of the page can be marked
    quote: str
    is_whole: bool = False  # the whole text was marked
    label: str = ""  # in words, as is the severity
    severity: str = ""
    reason: str = ""


@dataclass
class ShownAnswer:
    label: str = ""
    title: str = ""
    derived: list[str] = field(default_factory=list)  # titles of what follows from the label
    spans: list[Highlight] = field(default_factory=list)
    probability: float | None = None
    explanation: str = ""  # a checker's
    at_decision: str | None = None  # what it was when the unit was decided, in words, where it is something else now


@dataclass
class Decided:
    decision: Decision
    answer: ShownAnswer


@dataclass
class ItemQuestion:
    """One dimension of one unit, with everybody's answers in the order of the item's judges and runs."""

    unit: Unit
    unit_title: str
    dimension: Dimension
    answers: list[ShownAnswer | None]
    suggestions: list[ShownAnswer | None]
    decisions: list[Decided]
    adjudicated: Decision | None
    disagrees: bool


@dataclass
class ItemView:
    item: Item
    texts: list[ShownText]
    revisions: list[Revision]  # the newest of each judge
    free_texts: list[tuple[Revision, str, str]]  # with the question in words and its answer
    history: dict[int, int]  # number of revisions by annotation
    runs: list
    questions: list[ItemQuestion]
    assignments: list[Assignment]
    n_revised: int = 0  # answers that changed after a decision


def item_view(project: Project, item: Item) -> ItemView:
    """All answers to one item, side by side."""
    kind = project.type
    units = list(
        Unit.objects.filter(item_units__item=item)
        .select_related(*(UNIT_TEXTS[kind.unit_kind][:1] if kind.unit_kind in UNIT_TEXTS else ()))
        .order_by("item_units__index")
    )
    texts = pages.load_page(item.pk, kind).shown_texts()
    by_field = {text.field: text for text in texts}
    revisions = list(
        Revision.objects.filter(annotation__item=item, is_latest=True)
        .select_related("annotation__rater", "annotation__assignment")
        .prefetch_related("judgements__spans")
        .order_by("annotation__is_surplus", "annotation__rater__name", "pk")
    )
    by_rater = {
        (revision.pk, judgement.unit_id, judgement.dimension): judgement
        for revision in revisions
        for judgement in revision.judgements.all()
    }
    marked = [span for judgement in by_rater.values() for span in judgement.spans.all()]
    suggested, runs = {}, {}
    for suggestion in Suggestion.objects.filter(run__project=project, unit__in=units).select_related("run"):
        runs[suggestion.run_id] = suggestion.run
        suggested[suggestion.run_id, suggestion.unit_id, suggestion.dimension] = suggestion
    decisions = defaultdict(list)
    for decision in Decision.objects.in_force().filter(project=project, unit__in=units).select_related("decided_by"):
        decisions[decision.unit_id, decision.dimension].append(decision)
    revised = revised_answers(item.pk, [one for of_unit in decisions.values() for one in of_unit])
    then = {(one.annotation, one.unit, one.dimension): one.then for one in revised}
    # A question that the project hides is shown if it has answers or decisions.
    known = {dimension for _, _, dimension in by_rater} | {dimension for _, dimension in decisions}
    dimensions = [one for one in kind.dimensions if not one.is_hidden or one.slug in known]
    questions, marking = [], cases.compares_highlights(kind)
    for unit in units:
        for dimension in dimensions:
            place = (unit.pk, dimension.slug)
            answers = [_answer(dimension, by_field, by_rater.get((revision.pk, *place))) for revision in revisions]
            for number, revision in enumerate(revisions):
                if (before := then.get((revision.annotation_id, *place))) is not None:
                    answers[number] = answers[number] or ShownAnswer(title=NOT_ASKED)
                    answers[number].at_decision = dimension.title_of(before) if before else NOT_ASKED
            counted = {
                cases.judgement_as_compared(judgement, judgement.spans.all(), marking)
                for revision in revisions
                if not revision.annotation.is_surplus and (judgement := by_rater.get((revision.pk, *place)))
            }
            of_unit = decisions[place]
            questions.append(
                ItemQuestion(
                    unit=unit,
                    unit_title=pages.unit_text(unit).title or unit.key,
                    dimension=dimension,
                    answers=answers,
                    suggestions=[_suggested(dimension, by_field, suggested.get((run, *place))) for run in sorted(runs)],
                    decisions=[
                        Decided(one, _as_answer(dimension, by_field, one.label, _spans_of(one))) for one in of_unit
                    ],
                    adjudicated=next((one for one in of_unit if one.method == Decision.Method.ADJUDICATED), None),
                    disagrees=len(counted) > 1 and not dimension.takes_text,
                )
            )
    numbers = Revision.objects.filter(annotation__item=item).order_by().values_list("annotation").annotate(Count("pk"))
    return ItemView(
        item=item,
        texts=[text.marked(marked) for text in texts],
        revisions=revisions,
        free_texts=[
            (revision, by_rater["question"], by_rater["answer"])
            for revision in revisions
            if (by_rater := revision.metadata.get(pages.FREE_TEXT)) and by_rater.get("answer")
        ],
        history=dict(numbers),
        runs=[runs[run] for run in sorted(runs)],
        questions=questions,
        assignments=list(item.assignments.select_related("rater").order_by("pk")),
        n_revised=len(revised),
    )


def _derived(dimension: Dimension, label: str) -> list[str]:
    """What follows from the label, in words: the outcome that a grade stands for."""
    found = []
    for derived in dimension.derived:
        coarser = dict(derived.of).get(label)
        found += [one.title for one in derived.labels if one.value == coarser]
    return found


def _answer(dimension: Dimension, texts: dict[str, ShownText], judgement: Judgement | None) -> ShownAnswer | None:
    if judgement is None:
        return None
    spans = [SpanRecord(*values_of_span(span)) for span in judgement.spans.all()]
    return _as_answer(dimension, texts, judgement.label, sorted(spans, key=place_of_span))


def _suggested(dimension: Dimension, texts: dict[str, ShownText], suggestion: Suggestion | None) -> ShownAnswer | None:
    if suggestion is None:
        return None
    answer = _as_answer(dimension, texts, suggestion.label, _spans_of(suggestion), suggestion.probability)
    answer.explanation = suggestion.explanation
    return answer


def _spans_of(row: Suggestion | Decision) -> list[SpanRecord]:
    return [span_of(one) for one in row.spans]


def _as_answer(
    dimension: Dimension,
    texts: dict[str, ShownText],
    label: str,
    spans: list[SpanRecord],
    probability: float | None = None,
) -> ShownAnswer:
    names_place = dimension.spans is None or sum(dimension.spans.takes(name) for name in texts) > 1
    marked = []
    rule = dimension.spans
    for span in spans:
        text = texts.get(span.field)
        where = (text.title if text else span.field) if names_place else ""
        is_whole = text is not None and (span.start, span.end) == (0, len(text.text))
        own = rule.own_title(span.label) if rule else span.label
        severity = rule.severity_title(span.severity) if rule else span.severity
        marked.append(Highlight(where, span.quote, is_whole, own, severity, span.reason))
    return ShownAnswer(label, dimension.title_of(label), _derived(dimension, label), marked, probability)


def neighbours(project: Project, item: Item, *, filter: str = "") -> tuple[Item | None, Item | None]:
    """The items before and after this one in the list with the filter."""
    items, position = find_items(project, filter=filter), "case__position" if filter in LABEL_FILTERS else "position"
    before = items.filter(**{f"{position}__lt": item.position}).order_by(f"-{position}").first()
    return before, items.filter(**{f"{position}__gt": item.position}).first()
