"""The adjudicators' queue: which item is next and who holds it, what its page shows, and storing what was decided.

Judgements come under letters. Names and checkers' answers leave the server only when the adjudicator asks for them, and
that is noted (`Shown`). A decision carries what its page was made from: where an answer or a decision has come since,
nothing is stored and the page is asked again.
"""

from __future__ import annotations

import hashlib
import string
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation import incoming
from annotation.decisions import adjudicating
from annotation.decisions.revised import revised_answers
from annotation.formats.content.assay import cells_of_span
from annotation.formats.names import run_name
from annotation.jobs.lifecycle import create_job
from annotation.models import (
    Assignment,
    Case,
    Decision,
    Disagreement,
    Item,
    ItemUnit,
    Job,
    Project,
    Revision,
    Shown,
    Suggestion,
    Unit,
    User,
)
from annotation.projects import cases, reach
from annotation.projects.raters import rater_of
from annotation.task_types import TaskType
from annotation.work import showing, threads
from annotation.work.answer_rules import FieldError, InvalidSubmission, check, check_spans
from annotation.work.queries import pages

# What the queue can be narrowed to, and its orders: name in the address -> title.
WHICH = {
    "": "Everything that waits",
    "differing": "Answers that differ",
    "flagged": "Flagged items",
    "commented": "Items with comments",
    "improbable": "Improbable labels",
}
ORDERS = {
    "distance": "Farthest apart first",
    "entropy": "Least agreement first",
    "age": "Oldest first",
    "posterior": "Least probable first",
    "uncertainty": "Checkers least certain first",
}
# Labels that a model of raters takes to be less probable are improbable.
LOW_POSTERIOR = 0.8
LABEL, NO_ANSWER, DROPPED = Decision.Outcome.values
OTHER_OUTCOMES = (NO_ANSWER, DROPPED)
# Orders by a snapshot. What it does not know yet comes last, the oldest first.
OF_SNAPSHOT = {"posterior": "posterior", "uncertainty": "-uncertainty"}
MAX_COUNTED = 10_000
MAX_PASSED = 500
MAX_NOTE = 2000
NEW_ANSWER = "Another person answered or decided this item while you had it open. Look at it again before you decide."
NEW_QUESTIONS = (
    "The questions of this project changed while you had this item open. Look at it again before you decide."
)
HELD = "Another adjudicator has this item now. Your decision was not stored."


class Outdated(Exception):
    """The item is not as the page showed it; the message is for the person."""


@dataclass(frozen=True)
class Queue:
    """What the adjudicator chose to work through."""

    which: str = ""
    order: str = "distance"
    beyond: float = 0.0  # answers that lie at most so many steps apart are left out

    def cases(self, project: Project) -> QuerySet[Case]:
        found = Case.objects.filter(cases.WAITING, project=project)
        if self.beyond:
            found = found.filter(distance__gt=self.beyond)  # it is 0 where nothing is undecided
        elif self.which == "differing":
            found = found.filter(undecided__gt=0)
        if self.which not in ("", "differing"):
            found = found.filter(**{f"is_{self.which}": True})
        return found

    def in_order(self, project: Project) -> list[QuerySet[Case]]:
        """The cases in the order of work: those of the first, then those of the next."""
        found = self.cases(project)
        if self.order in OF_SNAPSHOT:
            by = OF_SNAPSHOT[self.order]
            unknown = f"{by.removeprefix('-')}__isnull"
            return [
                found.filter(**{unknown: False}).order_by(by, "item"),
                found.filter(**{unknown: True}).order_by("since", "item"),
            ]
        order = {"distance": ("-distance", "item"), "entropy": ("-entropy", "item"), "age": ("since", "item")}
        return [found.order_by(*order[self.order])]

    @property
    def needs_snapshot(self) -> bool:
        return self.which == "improbable" or self.order in OF_SNAPSHOT


def length(project: Project, queue: Queue | None = None) -> int:
    """How many items wait, counted as far as MAX_COUNTED + 1."""
    return (queue or Queue()).cases(project)[: MAX_COUNTED + 1].count()


def snapshot_of(project: Project) -> Job | None:
    """The newest job that takes or took the snapshot of posteriors and of checkers' uncertainty."""
    return project.jobs.filter(kind=Job.Kind.SNAPSHOT).order_by("-pk").first()


def start_snapshot(project: Project, user: User) -> Job:
    return create_job(Job.Kind.SNAPSHOT, user, chunks=[({}, 0)], project=project)


def take(project: Project, user: User, queue: Queue, passed: list, keep=None) -> Item | None:
    """The next item that nobody else holds, leased to this person, who goes on holding `keep` alone: the item on the
    screen, where this one is fetched ahead. Those `passed` come again with the next visit."""
    now = timezone.now()
    with transaction.atomic():
        for rows in queue.in_order(project):
            free = rows.filter(Q(holder=None) | Q(holder=user) | Q(held_until__lt=now))
            free = free.exclude(item__uuid__in=passed) if passed else free
            case = free.select_for_update(skip_locked=True, no_key=True, of=("self",)).select_related("item").first()
            if case is not None:
                others = Case.objects.filter(holder=user, project=project).exclude(pk=case.pk)
                others.exclude(item__uuid=keep).update(holder=None, held_until=None)
                Case.objects.filter(pk=case.pk).update(**_lease(project, user, now))
                return case.item
    return None


def hold(project: Project, user: User, item: Item) -> bool:
    """Lease this very item, where it waits. False where another adjudicator has it."""
    now = timezone.now()
    free = Case.objects.filter(Q(holder=None) | Q(holder=user) | Q(held_until__lt=now), pk=item.pk)
    return bool(free.update(**_lease(project, user, now))) or not Case.objects.filter(pk=item.pk).exists()


def _lease(project: Project, user: User, now) -> dict:
    return {"holder": user, "held_until": now + timedelta(minutes=project.lease_minutes)}


def desk_type(kind: TaskType) -> TaskType:
    """The task as adjudicators decide it: nothing in words is required, highlights have the colours of letters, and
    that a person cannot judge decides nothing."""
    dimensions = tuple(
        replace(
            one,
            is_optional=one.is_optional or one.takes_text,
            has_cannot_judge=False,
            spans=one.spans and replace(one.spans, required=False),
        )
        for one in kind.dimensions
    )
    return replace(kind, dimensions=dimensions, free_text=None, has_unit_colours=False)


def spans_to_store(project: Project, unit: Unit, dimension: str, label: str, spans: list[dict]) -> list[dict]:
    """Highlights of a decision, checked against its label and the texts that the unit's item shows; InvalidSubmission
    says what is wrong with them."""
    if not spans:
        return []
    items = ItemUnit.objects.filter(unit=unit, item__project=project).values_list("item", flat=True)
    page = pages.load_page(items.latest("item"), desk_type(project.type))
    checked = check_spans(page.type.dimension(dimension), label, spans, page.contents.texts)
    return [cells_of_span(span) for span in checked]


def letters(count: int) -> list[str]:
    """A to Z, then AA, AB and so on."""
    found = list(string.ascii_uppercase)
    return [found[i] if i < 26 else f"{found[i // 26 - 1]}{found[i % 26]}" for i in range(count)]


def said_about(item: Item, user: User) -> list[tuple[str, Revision]]:
    """The newest answers with their letters: shuffled by item and adjudicator, and always the same for these."""
    revisions = (
        Revision.objects.filter(annotation__item=item, is_latest=True)
        .select_related("annotation__rater", "annotation__assignment")
        .prefetch_related("judgements__spans")
    )

    def place(revision: Revision) -> str:
        text = f"{item.uuid} {user.uuid} {revision.annotation.rater.pseudonym}"
        return hashlib.sha256(text.encode()).hexdigest()

    shuffled = sorted(revisions, key=place)
    return list(zip(letters(len(shuffled)), shuffled, strict=True))


def basis_of(project: Project, item: Item) -> str:
    """A hash of everything that a decision rests on: answers, flags, skips and decisions."""
    revisions = (
        Revision.objects.filter(annotation__item=item, is_latest=True).order_by("pk").values_list("pk", flat=True)
    )
    flags = Assignment.objects.filter(item=item, is_flagged=True).order_by("pk").values_list("pk", flat=True)
    decisions = (
        Decision.objects.filter(project=project, unit__item_units__item=item, is_latest=True)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    return hashlib.sha256(repr([[*revisions], [*flags], [*decisions]]).encode()).hexdigest()


def parts(project: Project, user: User, item: Item) -> dict:
    """The page's context and payload for this person; what it shows of others is noted."""
    page = pages.load_page(item.pk, desk_type(project.type))
    basis = basis_of(project, item)
    answers = said_about(item, user)
    ids = {unit.pk: page.unit_ids[unit.key] for unit in page.units}
    if any(revision.annotation.rater.user_id != user.pk for _, revision in answers):
        showing.showed(project, user, [item], [], labels=False, more=[Shown.UNNAMED_LABELS])
    places = _differing(page, answers)
    in_force = list(Decision.objects.in_force().filter(project=project, unit__in=ids))
    decided = [one for one in in_force if one.method == adjudicating.ADJUDICATED]
    asked = {dimension.slug for dimension in page.type.asked_dimensions}
    letter_of = {revision.annotation_id: letter for letter, revision in answers}
    revised = revised_answers(item.pk, in_force)
    outcomes = [one.get_outcome_display() for one in decided if one.outcome != LABEL]
    improbable = Case.objects.filter(pk=item.pk, is_improbable=True).values_list("posterior", flat=True).first()
    must = {unit for unit, _ in places} | {*(page.unit_ids.values() if improbable and len(ids) == 1 else ())}
    payload = pages.page_payload(page) | {
        "assignment": str(item.uuid),
        "basis": basis,
        "options_version": project.options_version,
        "optional_units": [unit for unit in page.unit_ids.values() if unit not in must],
        "differing": [{"unit": unit, "dimension": dimension} for unit, dimension in sorted(places)],
        "said": [_shown(letter, revision, ids) for letter, revision in answers],
        "skips": [
            {"reason": reason, "is_flag": is_flag}
            for reason, is_flag in item.assignments.filter(Q(is_flagged=True) | ~Q(skip_reason=""))
            .order_by("pk")
            .values_list("skip_reason", "is_flagged")
        ],
        "answers": [
            {"unit": ids[one.unit_id], "dimension": one.dimension, "label": one.label, "spans": one.spans}
            for one in decided
            if one.dimension in asked and one.label
        ],
        # Answers that were others when the item was decided.
        "revised": [
            {"letter": letter_of[one.annotation], "unit": ids[one.unit], "dimension": one.dimension, "label": one.then}
            for one in revised
        ],
        "outcome": outcomes[0] if outcomes else "",
        "improbable": improbable,
        "comment": "",
        "suggestions": [],
    }
    context = {"is_desk": True, "reasons": Decision.Reason.choices, "project": project}
    return pages.template_context(page, payload) | context | {"threads": threads.threads_of(project).filter(item=item)}


def _differing(page: pages.LabellingPage, answers) -> set[tuple[str, str]]:
    votes: dict[tuple[int, str], set[str]] = {}
    marking = cases.compares_highlights(page.type)
    for _, revision in answers:
        if not revision.annotation.is_surplus:
            for one in revision.judgements.all():
                answer = cases.judgement_as_compared(one, one.spans.all(), marking)
                votes.setdefault((one.unit_id, one.dimension), set()).add(answer)
    words = {dimension.slug for dimension in page.type.dimensions if dimension.takes_text}
    ids = {unit.pk: page.unit_ids[unit.key] for unit in page.units}
    return {
        (ids[unit], dimension)
        for (unit, dimension), labels in votes.items()
        if len(labels) > 1 and dimension not in words and unit in ids
    }


def _shown(letter: str, revision: Revision, ids: dict[int, str]) -> dict:
    return {
        "letter": letter,
        "is_late": revision.annotation.is_surplus,
        "comment": revision.comment,
        "words": (revision.metadata.get(pages.FREE_TEXT) or {}).get("answer", ""),
        "judgements": [
            {
                "unit": ids[one.unit_id],
                "dimension": one.dimension,
                "label": one.label,
                "spans": pages.spans_of(one),
            }
            for one in revision.judgements.all()
            if one.unit_id in ids
        ],
    }


def names(project: Project, user: User, item: Item) -> dict[str, str]:
    """Who stands behind each letter, noted as shown."""
    showing.showed(project, user, [item], [], labels=True)
    return {letter: revision.annotation.rater.name for letter, revision in said_about(item, user)}


def checkers_view(project: Project, user: User, item: Item) -> list[dict]:
    """Runs' answers about the item, each run under a small letter, noted as shown."""
    page = pages.load_page(item.pk, desk_type(project.type))
    ids = {unit.pk: page.unit_ids[unit.key] for unit in page.units}
    rows = list(Suggestion.objects.filter(run__project=project, unit__in=ids).select_related("run").order_by("pk"))
    runs = sorted({row.run for row in rows}, key=lambda run: run.pk)
    showing.showed(project, user, [item], runs, labels=False)
    letter_of = {run.pk: letter.lower() for run, letter in zip(runs, letters(len(runs)), strict=True)}
    known = {dimension.slug: dimension for dimension in page.type.asked_dimensions}
    return [
        {
            "unit": ids[row.unit_id],
            "dimension": row.dimension,
            "title": known[row.dimension].title_of(row.label),
            "score": row.probability,
            "letter": letter_of[row.run_id],
            "checker": run_name(row.run.checker, row.run.version),
            "spans": row.spans,
        }
        | ({"explanation": row.explanation} if row.explanation else {})
        for row in rows
        if row.dimension in known
    ]


def decide(project: Project, user: User, item: Item, body: dict) -> list[dict]:
    """Store what the person decided of the item; what they saw to waits no longer. Returns what undoes it."""
    reason, note, basis, outcome = (
        _text(body, name, limit) for name, limit in (("reason", 20), ("note", MAX_NOTE), ("basis", 64), ("outcome", 10))
    )
    if outcome not in ("", *OTHER_OUTCOMES):
        raise InvalidSubmission([FieldError("There is no such outcome", field="outcome")])
    if reason and reason not in Decision.Reason.values:
        raise InvalidSubmission([FieldError("There is no such reason", field="reason")])
    if body.get("options_version", project.options_version) != project.options_version:
        raise Outdated(NEW_QUESTIONS)
    page = pages.load_page(item.pk, desk_type(project.type))
    sent = body.get("judgements") if not outcome else []
    about = [one.get("unit") for one in sent if isinstance(one, dict)] if isinstance(sent, list) else []
    units = [unit for unit in page.unit_ids.values() if unit in about]
    judgements = check(page.type, units, page.contents.texts, sent)
    if outcome:
        named = body.get("units")
        units = [unit for unit in page.unit_ids.values() if not isinstance(named, list) or unit in named]
    more = {"reason": reason, "for_guidelines": bool(body.get("for_guidelines"))}
    rows = {page.unit_ids[unit.key]: unit for unit in page.units}
    with transaction.atomic():
        adjudicating.changed(project)
        cases.lock(project.pk, item.pk)
        case = Case.objects.filter(pk=item.pk).first()
        if basis != basis_of(project, item):
            places = [(one.unit, one.dimension, one.label) for one in judgements]
            done = _done_before(
                project, user, rows, places or [(*one, "") for one in _without_label(page, item, units, outcome)]
            )
            if done is None:
                raise Outdated(NEW_ANSWER)
            return done
        is_held = case is not None and case.holder_id not in (None, user.pk) and case.held_until > timezone.now()
        if is_held:
            raise Outdated(HELD)
        if case is not None and (case.undecided or case.is_improbable) and not (judgements or outcome):
            raise InvalidSubmission([FieldError("Choose a label before you decide", field="judgements")])
        done = []
        rater, seen = rater_of(project, user), {}

        def by(unit: str) -> tuple:
            if unit not in seen:
                seen[unit] = adjudicating.seen_by(project, user, rows[unit])
            return rater, seen[unit]

        for one in judgements:
            spans = [cells_of_span(span) for span in one.spans]
            of_one = more | {"item": item, "spans": spans, "by": by(one.unit)}
            row = adjudicating.decide(project, user, rows[one.unit], one.dimension, one.label, note, **of_one)
            done.append({"unit": one.unit, "dimension": one.dimension, "number": row.number})
        decided = {(one.unit, one.dimension) for one in judgements}
        for unit, dimension in _without_label(page, item, units, outcome):
            of_one = more | {"item": item, "outcome": outcome, "by": by(unit)}
            row = adjudicating.decide(project, user, rows[unit], dimension, "", note, **of_one)
            done.append({"unit": unit, "dimension": dimension, "number": row.number})
            decided.add((unit, dimension))
        for old in Decision.objects.in_force().filter(
            project=project, unit__in=[rows[unit].pk for unit in units], method=adjudicating.ADJUDICATED
        ):
            unit = next(key for key, row in rows.items() if row.pk == old.unit_id)
            # It is not asked after this decision; where no label is right, others stay.
            if (unit, old.dimension) not in decided and outcome != NO_ANSWER:
                row = adjudicating.withdraw(project, user, rows[unit], old.dimension, item=item)
                done.append({"unit": unit, "dimension": old.dimension, "number": row.number})
        _see_to(item, Assignment.objects.filter(item=item, is_flagged=True).count(), _newest_revision(item))
        cases.count(project, project.type, [item.pk])
        reach.check([item.pk])
    return done


def _without_label(page: pages.LabellingPage, item: Item, units: list[str], outcome: str) -> list[tuple[str, str]]:
    """Units and questions that the outcome is about: of what is dropped all questions; else those on which answers
    differ, and all where none do."""
    if not outcome:
        return []
    asked = [one.slug for one in page.type.asked_dimensions if not one.takes_text]
    every = [(unit, dimension) for unit in units for dimension in asked]
    if outcome == DROPPED:
        return every
    keys = {page.unit_ids[unit.key]: unit.pk for unit in page.units}
    differing = set(Disagreement.objects.filter(case=item.pk).values_list("unit", "dimension"))
    return [(unit, dimension) for unit, dimension in every if (keys[unit], dimension) in differing] or every


def _done_before(project: Project, user: User, rows: dict, places: list[tuple]) -> list[dict] | None:
    """What a repeated request stored before; None where it says something else than what is in force."""
    found = []
    for unit, dimension, label in places:
        row = Decision.objects.in_force().filter(
            project=project, unit=rows[unit], dimension=dimension, method=adjudicating.ADJUDICATED
        )
        row = row.filter(
            label=label, decided_by__user=user, decided_at__gt=timezone.now() - timedelta(minutes=5)
        ).first()
        if row is None:
            return None
        found.append({"unit": unit, "dimension": dimension, "number": row.number})
    return found or None


def undo(project: Project, user: User, item: Item, done: object) -> None:
    """Take back what `decide` stored: what was in force before is in force again. Outdated if another person has
    decided since."""
    page = pages.load_page(item.pk, desk_type(project.type))
    rows = {page.unit_ids[unit.key]: unit for unit in page.units}
    rater, asked = rater_of(project, user), {dimension.slug for dimension in page.type.dimensions}
    with transaction.atomic():
        adjudicating.changed(project)
        cases.lock(project.pk, item.pk)
        for one in done if isinstance(done, list) else []:
            one = one if isinstance(one, dict) else {}
            unit, dimension = rows.get(str(one.get("unit"))), str(one.get("dimension"))
            if dimension not in asked:
                raise InvalidSubmission([FieldError("There is no such question", field="done")])
            of_place = Decision.objects.filter(
                project=project, unit=unit, dimension=dimension, method=adjudicating.ADJUDICATED
            )
            stored = list(of_place.order_by("number"))
            if not stored or stored[-1].number != one.get("number") or stored[-1].decided_by_id != rater.pk:
                raise Outdated(NEW_ANSWER)
            before = stored[-2] if len(stored) > 1 else None
            adjudicating.take_back(project, user, item, stored[-1], before)
        _see_to(item, 0, 0, is_improbable=bool(Case.objects.filter(pk=item.pk, posterior__lt=LOW_POSTERIOR)))
        cases.count(project, project.type, [item.pk])
        reach.check([item.pk])


def _newest_revision(item: Item) -> int:
    return max(Revision.objects.filter(annotation__item=item, is_latest=True).values_list("pk", flat=True), default=0)


def _see_to(item: Item, flags: int, revision: int, *, is_improbable: bool = False) -> None:
    seen = {"seen_flags": flags, "seen_revision": revision, "is_improbable": is_improbable}
    Case.objects.filter(pk=item.pk).update(**seen, holder=None, held_until=None)


def _text(body: dict, name: str, limit: int) -> str:
    try:
        return incoming.text(body.get(name) or "", limit).replace("\r\n", "\n")
    except incoming.Refused as refused:
        raise InvalidSubmission([FieldError(f"{name} {refused}", field=name)]) from refused
