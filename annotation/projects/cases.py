"""What waits for adjudicators, item by item (`Case`), and on which units and dimensions answers differ
(`Disagreement`): counted from answers, flags and decisions in the transaction that stores one of these.

The caller has locked the item, or the project where it is about many of its items: of two people who answer one
item at the same moment the second sees what the first one said. Rows are written in the order of items and units.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.utils import timezone

from annotation.formats.records import place_of_span
from annotation.models import (
    Annotation,
    Assignment,
    Case,
    Decision,
    Disagreement,
    Item,
    Judgement,
    Project,
    Revision,
    Span,
)
from annotation.task_types import Dimension, TaskType

ITEMS_AT_ONCE = 1000
ROWS_AT_ONCE = 1000
PROJECTS, ITEMS = 1601, 1602  # spaces of advisory locks
# Methods whose decisions resolve a disagreement. A rule chooses no highlights: where these are compared, people do.
BY_PEOPLE = "adjudicated"
SETTLING = (BY_PEOPLE, "rule")
WAITING = Q(is_waiting=True)
MAX_COUNTED = 10_000

Place = tuple[int, str]  # a unit and a dimension


@dataclass(frozen=True, slots=True)
class PlaceState:
    """What is stored of a place where answers differ."""

    distance: float
    entropy: float
    is_tied: bool
    is_settled: bool
    has_decision: bool


@dataclass(frozen=True)
class CaseState:
    """What a case says about an item."""

    differences: Mapping[Place, PlaceState] = field(default_factory=dict)
    is_flagged: bool = False
    is_commented: bool = False

    @property
    def is_open(self) -> bool:
        return bool(self.differences or self.is_flagged or self.is_commented)

    def numbers(self) -> tuple[int, int, float, float]:
        """Differing, undecided, and how far and how evenly the undecided ones lie apart."""
        left = [one for one in self.differences.values() if not one.is_settled]
        far, bits = ([getattr(one, name) for one in left] for name in ("distance", "entropy"))
        return len(self.differences), len(left), max(far, default=0.0), max(bits, default=0.0)


NUMBERS = ("differing", "undecided", "distance", "entropy")
MARKS = ("is_flagged", "is_commented")
DIFFERENCE = tuple(PlaceState.__dataclass_fields__)


def lock(project_id: int, item_id: int | None = None) -> None:
    """Wait for others who count this item, or with none named all items of the project, until the transaction ends."""
    if connection.vendor != "postgresql":
        return  # SQLite has one writer
    with connection.cursor() as cursor:
        if item_id is None:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [PROJECTS, project_id % 2**31])
        else:
            cursor.execute(f"SELECT {LOCKED_ITEM}", locked_item(project_id, item_id))


# The same as an expression, for a statement that comes first in its transaction anyway.
LOCKED_ITEM = "pg_advisory_xact_lock_shared(%s, %s), pg_advisory_xact_lock(%s, %s)"


def locked_item(project_id: int, item_id: int) -> list[int]:
    return [PROJECTS, project_id % 2**31, ITEMS, item_id % 2**31]


# Others' answers to an item, as of now: the page that an answer came from may be older.
_OTHERS = """
SELECT item.state, item.position, (SELECT options_version FROM annotation_project WHERE id = item.project_id),
EXISTS (SELECT 1 FROM annotation_decision AS decision
    WHERE decision.project_id = item.project_id AND decision.unit_id = judgement.unit_id),
judgement.id, judgement.unit_id, judgement.dimension, judgement.label
FROM annotation_annotation AS said
JOIN annotation_item AS item ON item.id = said.item_id
JOIN annotation_revision AS latest ON latest.annotation_id = said.id AND latest.is_latest
JOIN annotation_judgement AS judgement ON judgement.revision_id = latest.id
WHERE said.item_id = %s AND said.rater_id <> %s AND NOT said.is_surplus
"""
_DECIDED = """
SELECT unit_id, dimension, method, label FROM annotation_decision
WHERE project_id = %s AND unit_id IN ({}) AND is_latest AND NOT is_withdrawn ORDER BY method DESC
"""


def compares_highlights(kind: TaskType) -> list[str]:
    """Questions whose labelled highlights are a part of the answer."""
    return [one.slug for one in kind.asked_dimensions if one.spans and (one.spans.own_labels or one.spans.severities)]


def as_compared(label: str, highlights: Iterable[tuple]) -> str:
    """A label with its highlights, as (field, start, end, label) and a severity where there is one: answers are the
    same where both are."""
    marked = sorted(highlights)
    return label + (f"\n{json.dumps(marked)}" if marked else "")


def _place_compared(*place: object) -> tuple:
    return place if place[-1] else place[:-1]  # as it was before there were severities


def _highlights_of(judgements: Iterable) -> dict[int, list[tuple]]:
    found: dict[int, list[tuple]] = defaultdict(list)
    rows = Span.objects.filter(judgement__in=judgements).order_by()
    for judgement, *span in rows.values_list("judgement", "field", "start", "end", "label", "severity"):
        found[judgement].append(_place_compared(*span))
    return found


def judgement_as_compared(judgement, spans: Iterable, slugs: Collection[str]) -> str:
    """With its spans, where its question is one of `compares_highlights`."""
    marked = [_place_compared(*place_of_span(one)) for one in (spans if judgement.dimension in slugs else ())]
    return as_compared(judgement.label, marked)


def answered(project: Project, item_id: int, rater_id: int, own: Iterable[tuple[int, str, str]]) -> None:
    """After a person's first answer to an item, without a comment, was stored: `own` has units, dimensions and what is
    compared. What it adds follows from others' answers: this comes with every answer, and reads no more. The item is
    locked."""
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS, [item_id, rater_id])
        others = cursor.fetchall()
    if not others or others[0][0] in Item.LEFT_OUT:
        return
    if others[0][2] != project.options_version:
        project = Project.objects.get(pk=project.pk)
    votes: dict[Place, Counter] = {(unit, dimension): Counter((label,)) for unit, dimension, label in own}
    slugs = compares_highlights(project.type)
    marked = _highlights_of([row[4] for row in others if row[6] in slugs]) if slugs else {}
    for *_, pk, unit, dimension, label in others:
        votes.setdefault((unit, dimension), Counter())[as_compared(label, marked.get(pk, ()))] += 1
    differing = _differing(project.type, votes)
    if differing:
        differences = _differences(project.pk, project.type, differing, any(row[3] for row in others))
        _write(project.pk, {item_id: CaseState(differences)}, {item_id: others[0][1]}, NUMBERS)


def _differing(kind: TaskType, votes: Mapping[tuple, Counter]) -> dict[tuple, Counter]:
    """Nobody writes what another one does, so words are never compared."""
    found = {place: labels for place, labels in votes.items() if len(labels) > 1}
    if not found:
        return found
    compared = {one.slug for one in kind.asked_dimensions if not one.takes_text}
    return {place: found[place] for place in sorted(found) if place[-1] in compared}


def _differences(
    project_id: int, kind: TaskType, differing: Mapping[tuple, Counter], are_decided: bool = True
) -> dict[tuple, PlaceState]:
    """By the same places: the unit and the dimension, after the item where it is about several. Unless there may be
    decisions, none are looked for."""
    units = sorted({unit for *_, unit, _ in differing}) if are_decided else []
    settled, by_people, decided = {}, set(), set()
    for start in range(0, len(units), ROWS_AT_ONCE):
        part = units[start : start + ROWS_AT_ONCE]
        with connection.cursor() as cursor:
            cursor.execute(_DECIDED.format(", ".join(["%s"] * len(part))), [project_id, *part])
            for unit, dimension, method, label in cursor.fetchall():
                decided.add((unit, dimension))
                if method in SETTLING:
                    settled[unit, dimension] = label  # an adjudicator's comes last
                if method == BY_PEOPLE:
                    by_people.add((unit, dimension))
    found = {}
    for (*item, unit, slug), labels in differing.items():
        dimension, plain = kind.dimension(slug), Counter()
        for answer, n in labels.items():
            plain[answer.partition("\n")[0]] += n
        counts = sorted(plain.values())
        found[*item, unit, slug] = PlaceState(
            distance(dimension, labels),
            entropy(labels),
            counts[-1] in counts[:-1],
            (unit, slug) in (by_people if slug in compares_highlights(kind) else settled)
            or _is_not_asked(kind, dimension, unit, settled),
            (unit, slug) in decided,
        )
    return found


def recount(project: Project, items: Iterable[int] | None = None) -> None:
    """Count these items anew, or all of the project. Comes last in a transaction: it makes others wait."""
    with transaction.atomic():
        ids = None if items is None else list(items)
        lock(project.pk, ids[0] if ids is not None and len(ids) == 1 else None)
        if connection.vendor == "postgresql":  # starting processes takes longer than a part does
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
        for part in parts(project.pk, ids):
            count(project, project.type, part)


def decided(project: Project) -> None:
    """After decisions on many units, as of a rule's run: whether disagreements are decided, for all items of the
    project in a few statements."""
    lock(project.pk)
    kind, in_force = project.type, Decision.objects.in_force().filter(project=project)
    for dimension in kind.asked_dimensions:
        rows = Disagreement.objects.filter(project=project, dimension=dimension.slug)
        here = in_force.filter(unit=OuterRef("unit"), dimension=dimension.slug)
        methods = [BY_PEOPLE] if dimension.slug in compares_highlights(kind) else SETTLING
        settled = Q(Exists(here.filter(method__in=methods)))
        on = dimension.asked_when and dimension.asked_when.dimension
        if on:
            before = in_force.filter(dimension=on, method__in=SETTLING)
            labels = before.order_by().values_list("label", flat=True).distinct()
            unasked = [label for label in labels if not kind.is_asked(dimension, {on: label})]
            of_unit = before.filter(unit=OuterRef("unit")).order_by("method", "rule").values("label")[:1]
            rows = rows.annotate(before=Subquery(of_unit))
            settled |= Q(before__in=unasked)
        for name, holds in (("is_settled", settled), ("has_decision", Q(Exists(here)))):
            true, false = (rows.filter(**{name: value}) for value in (True, False))
            false.filter(holds).update(**{name: True})
            true.exclude(holds).update(**{name: False})
    about = in_force.filter(method__in=SETTLING, unit__item_units__item=OuterRef("pk"))
    Case.objects.filter(Exists(about), project=project, is_improbable=True).update(is_improbable=False)
    with connection.cursor() as cursor:
        cursor.execute(_ROLL_UP, [project.pk])


def open_cases(project: Project, items: Iterable[int]) -> None:
    """Cases of items on which nobody differs, where they have none."""
    ids = sorted(items)
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        part = ids[start : start + ITEMS_AT_ONCE]
        positions = dict(Item.objects.filter(pk__in=part).values_list("pk", "position"))
        _write(project.pk, dict.fromkeys(part, CaseState()), positions, ("position",))


_ROLL_UP = """
UPDATE annotation_case SET undecided = of_case.undecided, distance = of_case.distance, entropy = of_case.entropy
FROM (
    SELECT case_id, COUNT(*) FILTER (WHERE NOT is_settled) AS undecided,
    COALESCE(MAX(distance) FILTER (WHERE NOT is_settled), 0) AS distance,
    COALESCE(MAX(entropy) FILTER (WHERE NOT is_settled), 0) AS entropy
    FROM annotation_disagreement WHERE project_id = %s GROUP BY case_id
) AS of_case
WHERE annotation_case.item_id = of_case.case_id AND (annotation_case.undecided <> of_case.undecided
OR annotation_case.distance <> of_case.distance OR annotation_case.entropy <> of_case.entropy)
"""


def parts(project_id: int, ids: list[int] | None, model=None) -> Iterator[list[int]]:
    if model is not None:
        return  # a migration that is older than the tables of today: a later one counts everything
    if ids is None:
        answers = Annotation.objects.filter(item__project=project_id).order_by().values("item")
        several = answers.annotate(n=Count("pk")).filter(n__gt=1).values_list("item", flat=True)
        commented = Revision.objects.filter(annotation__item__project=project_id, is_latest=True).exclude(comment="")
        flagged = Assignment.objects.filter(project=project_id, is_flagged=True).values_list("item", flat=True)
        known = Case.objects.filter(project=project_id).values_list("pk", flat=True)
        ids = sorted({*several, *commented.values_list("annotation__item", flat=True), *flagged, *known})
    for start in range(0, len(ids), ITEMS_AT_ONCE):
        yield ids[start : start + ITEMS_AT_ONCE]


def count(project, kind: TaskType, ids: list[int]) -> None:
    """Store the cases of these items, where they are not as they should be."""
    changed = {pk: (before, state) for pk, before, state in _compared(project.pk, kind, ids)}
    for pk, (before, state) in sorted(changed.items()):
        for unit, dimension in sorted(before.differences.keys() - state.differences.keys()):
            Disagreement.objects.filter(case=pk, unit=unit, dimension=dimension).delete()
    positions = dict(Item.objects.filter(pk__in=changed).values_list("pk", "position"))
    states = {pk: state for pk, (_, state) in sorted(changed.items())}
    _write(project.pk, states, positions, ("position", *NUMBERS, *MARKS))


def _compared(project_id: int, kind: TaskType, ids: list[int]) -> Iterator[tuple[int, CaseState, CaseState]]:
    """Items whose case is not what follows from what is stored: item, stored, recomputed. The two are alike where only
    the sums, or the item's position, are wrong."""
    differences: dict[int, dict[Place, PlaceState]] = defaultdict(dict)
    rows = Disagreement.objects.filter(case__in=ids).order_by()
    for case, unit, dimension, *values in rows.values_list("case", "unit", "dimension", *DIFFERENCE):
        differences[case][unit, dimension] = PlaceState(*values)
    before, seen, wrong = {}, {}, set()
    cases = Case.objects.filter(pk__in=ids).order_by()
    for pk, flags, revision, is_flagged, is_commented, position, right, *numbers in cases.values_list(
        "pk", "seen_flags", "seen_revision", *MARKS, "position", "item__position", *NUMBERS
    ):
        before[pk] = CaseState(differences[pk], is_flagged, is_commented)
        seen[pk] = flags, revision
        if position != right or before[pk].numbers() != tuple(numbers):
            wrong.add(pk)
    for pk, state in standings(project_id, kind, ids, seen).items():
        if pk in wrong or before.get(pk, CaseState()) != state:
            yield pk, before.get(pk, CaseState()), state


def _write(project_id: int, states: Mapping[int, CaseState], positions: Mapping, changing: Sequence[str]) -> None:
    """Store these states; of cases that there are, only the columns that are `changing`."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    cases = [
        (pk, project_id, positions[pk], *state.numbers(), state.is_flagged, state.is_commented, 0, 0, now)
        for pk, state in states.items()
    ]
    columns = ("item_id", "project_id", "position", *NUMBERS, *MARKS, "seen_flags", "seen_revision", "since")
    statements = list(_upserts("annotation_case", columns, 1, cases, changing))
    rows = [
        (pk, *place, project_id, one.distance, one.entropy, one.is_tied, one.is_settled, one.has_decision)
        for pk, state in states.items()
        for place, one in state.differences.items()
    ]
    columns = ("case_id", "unit_id", "dimension", "project_id", *DIFFERENCE)
    statements += _upserts("annotation_disagreement", columns, 3, rows, DIFFERENCE)
    if len(statements) == 2 and connection.vendor == "postgresql":  # one of each, in one go: it comes with an answer
        (of_cases, values), (of_differences, more) = statements
        statements = [(f"WITH of_items AS ({of_cases}) {of_differences}", values + more)]
    with connection.cursor() as cursor:
        for statement, values in statements:
            cursor.execute(statement, values)


def _upserts(
    table: str, columns: Sequence[str], keys: int, rows: list[tuple], changing: Sequence[str]
) -> Iterator[tuple[str, list]]:
    """Statements with their values that insert rows; of those whose first `keys` columns are there, they change the
    columns that are `changing`. By hand, for they come with answers."""
    row = f"({', '.join(['%s'] * len(columns))})"
    key, change = ", ".join(columns[:keys]), ", ".join(f"{name} = excluded.{name}" for name in changing)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[start : start + ROWS_AT_ONCE]
        yield (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([row] * len(part))} "
            f"ON CONFLICT ({key}) DO UPDATE SET {change}",
            [value for one in part for value in one],
        )


def standings(project_id: int, kind: TaskType, ids: list[int], seen: Mapping) -> dict[int, CaseState]:
    """What follows from what is stored about these items: five queries, and one more where highlights are compared.
    `seen` has the flags and the newest revision that adjudicators have seen to, by item."""
    live = set(Item.objects.filter(pk__in=ids).exclude(state__in=Item.LEFT_OUT).values_list("pk", flat=True))
    judgements = Judgement.objects.filter(
        revision__is_latest=True, revision__annotation__is_surplus=False, revision__annotation__item__in=live
    )
    votes: dict[tuple[int, int, str], Counter] = defaultdict(Counter)
    slugs = compares_highlights(kind)
    marked = _highlights_of(judgements.filter(dimension__in=slugs)) if slugs else {}
    for pk, *place, label in judgements.values_list("pk", "revision__annotation__item", "unit", "dimension", "label"):
        votes[tuple(place)][as_compared(label, marked.get(pk, ()))] += 1
    differences: dict[int, dict[Place, PlaceState]] = defaultdict(dict)
    for (item, *place), one in _differences(project_id, kind, _differing(kind, votes)).items():
        differences[item][tuple(place)] = one
    newest = Revision.objects.filter(annotation__item__in=live, annotation__rater__is_excluded=False, is_latest=True)
    newest = newest.exclude(comment="")
    comments: dict[int, int] = {}
    for item, revision in newest.values_list("annotation__item", "pk"):
        comments[item] = max(revision, comments.get(item, 0))
    flagged = Assignment.objects.filter(item__in=live, is_flagged=True).order_by().values_list("item")
    flags = dict(flagged.annotate(n=Count("pk")))
    found = {}
    for item in ids:
        seen_flags, seen_revision = seen.get(item, (0, 0))
        found[item] = CaseState(
            differences.get(item, {}), flags.get(item, 0) > seen_flags, comments.get(item, 0) > seen_revision
        )
    return found


def _is_not_asked(kind: TaskType, dimension: Dimension, unit: int, decided: Mapping) -> bool:
    """Whether a decision says so."""
    on = dimension.asked_when and dimension.asked_when.dimension
    return (unit, on) in decided and not kind.is_asked(dimension, {on: decided[unit, on]})


def distance(dimension: Dimension, labels: Iterable[str]) -> float:
    """How far the answers that lie farthest apart are: steps of an ordered scale or of a number's range, labels or
    highlights that one answer of several has and another has not, and 1 where labels have no order."""
    answers = sorted(labels)
    if any("\n" in answer for answer in answers):
        marked = [{tuple(one) for one in json.loads(answer.partition("\n")[2] or "[]")} for answer in answers]
        return float(max(1, *(len(a ^ b) for a in marked for b in marked)))
    if dimension.takes_number:
        step = (dimension.number.step if dimension.number else None) or 1
        numbers = [float(answer) for answer in answers if _is_number(answer)]
        return round((max(numbers) - min(numbers)) / step, 6) if len(numbers) > 1 else float(len(answers) > 1)
    if dimension.takes_several:
        sets = [set(dimension.chosen(answer)) for answer in answers]
        return float(max((len(a ^ b) for a in sets for b in sets), default=0))
    places = {value: place for place, value in enumerate(dimension.values)}
    if dimension.level != "nominal" and all(answer in places for answer in answers):
        return float(max(places[one] for one in answers) - min(places[one] for one in answers))
    return float(len(answers) > 1)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def entropy(labels: Mapping[str, int]) -> float:
    total = sum(labels.values())
    return round(-sum(n / total * math.log2(n / total) for n in labels.values()) + 0.0, 6)


def mismatches(project: Project) -> Iterator[tuple[int, CaseState, CaseState]]:
    """Items of the project whose case is not what follows from what is stored: item, stored, recomputed. People may go
    on meanwhile: what seems to differ is looked at again under a lock."""
    for part in parts(project.pk, None):
        suspects = [pk for pk, *_ in _compared(project.pk, project.type, part)]
        if suspects:
            with transaction.atomic():
                lock(project.pk)
                found = list(_compared(project.pk, project.type, suspects))
            yield from found


def waiting(project: Project) -> int:
    """How many items wait for an adjudicator, counted as far as MAX_COUNTED + 1."""
    return Case.objects.filter(WAITING, project=project).order_by()[: MAX_COUNTED + 1].count()


def divided(project: Project) -> int:
    """How many items have answers that differ and nobody decided, counted as far as MAX_COUNTED + 1."""
    return Case.objects.filter(WAITING, project=project, undecided__gt=0).order_by()[: MAX_COUNTED + 1].count()
