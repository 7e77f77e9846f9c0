"""Storing an answer: checked against the task type, once per client id, never dropped.

An answer whose lease was lost takes its place back while that is open and is otherwise kept as surplus. A changed
answer is a new revision. What reports are cached by is raised on the person's own rater row (`Rater.label_version`),
which this transaction holds anyway: one counter on the project's row would make all annotators wait for each other.
`annotation.work.queries.work.label_version` adds the counters up.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotation import incoming
from annotation.bulk import batches, insert_rows
from annotation.formats.records import SHOWN_ORDER, SPAN_VALUES, values_of_span
from annotation.models import (
    Annotation,
    Assignment,
    GuidelineAcknowledgement,
    Item,
    Judgement,
    Project,
    Rater,
    Revision,
    Shown,
    Span,
)
from annotation.projects import cases, options, reach
from annotation.projects.item_making import reopen
from annotation.projects.prefill import arm_of
from annotation.projects.raters import rater_of
from annotation.task_words import worded
from annotation.work import assigning, further, threads
from annotation.work.answer_rules import (
    MAX_COMMENT,
    CheckedJudgement,
    FieldError,
    InvalidSubmission,
    check,
    check_free_text,
)
from annotation.work.learning import results
from annotation.work.queries import pages

ATTEMPTS = 4
MOST_ROWS = 100  # in one statement, which SQLite gives so many parameters
# Two clocks are involved, and a request's way.
MINIMUM_TIME_TOLERANCE = timedelta(seconds=1)
QUESTIONS_CHANGED = gettext_lazy(
    "The questions have changed since this page was loaded. Nothing is lost: open the item again, answer what has "
    "changed, and submit it."
)

__all__ = ["Conflict", "FieldError", "InvalidSubmission", "SubmitResult", "submit"]


class Conflict(Exception):
    """The request contradicts what is stored; the message is for the person."""


@dataclass(frozen=True)
class Submission:
    client_id: uuid.UUID
    shown_at: datetime | None
    submitted_at: datetime | None
    active_ms: int | None
    comment: str
    free_text: str
    text_hash: str
    guideline_version: int | None
    options_version: int | None
    suggestions_shown_at: datetime | None  # when the page first painted a suggestion on this item
    tells_shown: bool  # whether the sender says that at all
    judgements: object
    body_hash: str


@dataclass(frozen=True)
class CheckedSubmission:
    """A submission that was found good, and what it is about."""

    submission: Submission
    page: pages.LabellingPage
    judgements: list[CheckedJudgement]
    free_text: str
    guideline_version: int | None
    options_version: int
    labels_seen: bool | None = None
    has_open_place: bool = False  # whether the item has one besides the person's own
    is_excluded: bool = False  # whether the person's answers fill no place


@dataclass(frozen=True)
class SubmitResult:
    revision: int
    is_surplus: bool
    suggestions: list[dict] = field(default_factory=list)
    is_repeat: bool = False


def submit(assignment: Assignment, user, body: dict) -> SubmitResult:
    """Store what `user` says about the assignment's item.

    `assignment` comes from `access.assignment_for`. Raises InvalidSubmission with everything that is wrong, or Conflict
    where the client id is taken by another answer or the shown texts are not those stored.
    """
    project = assignment.project
    submission = _parse(assignment, body)
    options_version, description = options.asked_under(project, assignment, submission.options_version)
    page = pages.load_page(assignment.item_id, description, user)
    if submission.text_hash and submission.text_hash not in (page.shown_hash, page.text_hash):
        raise Conflict(gettext("The texts of this item have changed since they were shown. Please review it again."))
    guideline = _guideline(submission, assignment, user)
    try:
        judgements, free_text = _checked(assignment, page, submission)
    except InvalidSubmission:
        before = _stored_before(submission, user)
        if before is None:
            raise
        # It fitted when it was stored; the project asks differently since.
        return _answer_again(
            before, before.annotation.rater_id, CheckedSubmission(submission, page, [], "", None, 0), project
        )
    answer = CheckedSubmission(submission, page, judgements, free_text, guideline, options_version)
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                rater_id, labels_seen, is_open, is_excluded = _locked_rater(project, user, assignment.item_id)
                answer = replace(answer, labels_seen=labels_seen, has_open_place=is_open, is_excluded=is_excluded)
                is_common = attempt == 0 and not is_excluded
                first = _store_first(assignment, rater_id, answer, timezone.now()) if is_common else None
                return first or _store_any(assignment, rater_id, answer, timezone.now())
        except IntegrityError:
            continue  # the id came before, or another request of the same person was faster: look at what is stored
    raise Conflict(gettext("The item was reassigned while your answer was sent. Please submit it again."))


def stored_before(assignment: Assignment, user, body: dict) -> SubmitResult | None:
    """What was stored when the very same answer came before; None where it never did."""
    before = _stored_before(_parse(assignment, body), user)
    return before and SubmitResult(before.number, before.annotation.is_surplus, is_repeat=True)


def _checked(
    assignment: Assignment, page: pages.LabellingPage, submission: Submission
) -> tuple[list[CheckedJudgement], str]:
    """The judgements and the answer in words, or InvalidSubmission with all that is wrong about both."""
    errors: list[FieldError] = []
    judgements, free_text, kind = [], "", worded(page.type)
    try:
        by_unit = _by_unit_id(page, submission.judgements)
        judgements = check(kind, list(page.unit_ids.values()), page.contents.texts, by_unit)
    except InvalidSubmission as invalid:
        errors += invalid.errors
    try:
        free_text = check_free_text(kind, submission.free_text)
    except InvalidSubmission as invalid:
        errors += invalid.errors
    if errors:
        if options.changed_since(assignment.project, assignment):
            errors.insert(0, FieldError(str(QUESTIONS_CHANGED), field=options.OPTIONS_VERSION))
        raise InvalidSubmission(errors)
    return judgements, free_text


def _by_unit_id(page: pages.LabellingPage, judgements: object) -> object:
    """Answers that wait in a browser since before pages had ids of units name them by key, and are taken like others.
    So are those that are made up from what is stored, such as the demo's."""
    if not isinstance(judgements, list):
        return judgements
    return [
        one | {"unit": page.unit_ids[one["unit"]]}
        if isinstance(one, dict) and isinstance(one.get("unit"), str) and one["unit"] in page.unit_ids
        else one
        for one in judgements
    ]


def _parse(assignment: Assignment, body: dict) -> Submission:
    errors: list[FieldError] = []

    def wrong(name: str, message: str) -> None:
        errors.append(FieldError(message, field=name))

    def validated(name: str, value: object, kind: Callable, *limits: int):
        try:
            return kind(value, *limits)
        except incoming.Refused as refused:
            return wrong(name, f"{name} {refused}")

    def instant(name: str) -> datetime | None:
        value = body.get(name)
        return None if value is None else validated(name, value, incoming.instant)

    def whole(name: str, highest: int = incoming.MAX_INTEGER) -> int | None:
        value = body.get(name)
        return None if value is None else validated(name, value, incoming.whole, 0, highest)

    def text(name: str, limit: int) -> str:
        return validated(name, body.get(name) or "", incoming.text, limit) or ""

    client_id = validated("client_id", body.get("client_id"), incoming.uuid_of)
    comment = text("comment", MAX_COMMENT)
    free_text = text("free_text", MAX_COMMENT)
    parsed = Submission(
        client_id,
        instant("shown_at"),
        instant("submitted_at"),
        whole("active_ms", incoming.MAX_ACTIVE_MS),
        comment,
        free_text,
        text("text_hash", 64),
        whole("guideline_version", incoming.MAX_INTEGER)
        if "guideline_version" in body
        else assignment.guideline_acknowledged,
        whole(options.OPTIONS_VERSION),
        instant("suggestions_shown_at"),
        "suggestions_shown_at" in body,
        body.get("judgements"),
        _body_hash(assignment, comment, body.get("judgements"), free_text),
    )
    if errors:
        raise InvalidSubmission(errors)
    return parsed


def _body_hash(assignment: Assignment, comment: str, judgements, free_text: str) -> str:
    """Of what must not differ when a client id comes again: the item and the answers."""
    content = [assignment.item_id, comment, judgements, *([free_text] if free_text else [])]
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _locked_rater(project: Project, user, item_id: int) -> tuple[int, bool, bool, bool]:
    """Raise the rater's label version, which locks the row until the answer is stored: one person's tabs go one after
    the other, and always rater before assignment, as in taking. Then the item is locked for its case, before others'
    answers are read. The rater's number, and whether this person has been served others' labels of the project, or
    shown what was decided of this item: what was served before the answer came is committed by now. And whether the
    item has an open place: who opened one looked itself at who is left. And whether the person's answers fill none."""
    statement = (
        "UPDATE annotation_rater SET label_version = label_version + 1 WHERE project_id = %s AND user_id = %s "
        "RETURNING id, EXISTS (SELECT 1 FROM annotation_labelaccess seen "
        "WHERE seen.project_id = annotation_rater.project_id AND seen.user_id = annotation_rater.user_id) OR EXISTS "
        "(SELECT 1 FROM annotation_shown shown WHERE shown.user_id = annotation_rater.user_id AND shown.item_id = %s "
        "AND shown.what = %s), EXISTS (SELECT 1 FROM annotation_assignment place "
        "WHERE place.item_id = %s AND place.state = 'open'), is_excluded"
    )
    parameters = [project.pk, user.pk, item_id, Shown.DECISION, item_id]
    if connection.vendor == "postgresql":  # SQLite has one writer
        statement += f", {cases.LOCKED_ITEM}"
        parameters += cases.locked_item(project.pk, item_id)
    with connection.cursor() as cursor:
        for _ in range(2):
            cursor.execute(statement, parameters)
            found = cursor.fetchone()
            if found is not None:
                return found[0], *map(bool, found[1:4])
            rater_of(project, user)
    raise Rater.DoesNotExist


# The statements of a first answer, written by hand like those of taking.
_DONE = """
UPDATE annotation_assignment SET state = 'done', done_at = %s, lease_expires_at = NULL
WHERE id = %s AND rater_id = %s AND state = 'leased'
"""
_ANNOTATION = ("item_id", "rater_id", "assignment_id", "is_surplus", "created_at")
_REVISION = (
    "annotation_id",
    "number",
    "client_id",
    "body_hash",
    "shown_at",
    "submitted_at",
    "received_at",
    "active_ms",
    "guideline_version",
    "text_hash",
    "suggestion_shown",
    "labels_seen",
    "comment",
    "metadata",
)
_JUDGEMENT = ("revision_id", "unit_id", "dimension", "label")
_SPAN = ("judgement_id", *SPAN_VALUES)


def _stored_annotation(item_id: int, rater_id: int, assignment_id: int | None, now: datetime) -> int:
    row = (item_id, rater_id, assignment_id, assignment_id is None, now)
    return insert_rows(Annotation, [row], _ANNOTATION)[0]


def _store_first(
    assignment: Assignment, rater_id: int, answer: CheckedSubmission, now: datetime
) -> SubmitResult | None:
    """The common case, in as few statements as it takes: a first answer to a row that the person holds. None where it
    is not that, with nothing changed."""
    if assignment.rater_id != rater_id or assignment.state != Assignment.State.LEASED:
        return None
    _check_time(assignment.project, assignment, answer.submission, now)
    changes: dict = {}
    was_shown = _was_shown(assignment, True, assignment.project, answer.submission, now, changes)
    suggestions = _revealed(assignment, answer, changes)
    with connection.cursor() as cursor:
        cursor.execute(_DONE, [connection.ops.adapt_datetimefield_value(now), assignment.pk, rater_id])
        if not cursor.rowcount:
            return None
    if changes:
        Assignment.objects.filter(pk=assignment.pk).update(**changes)
    annotation = _stored_annotation(assignment.item_id, rater_id, assignment.pk, now)
    revision = _store_revision(annotation, 1, answer, was_shown, now)
    _keep_comment(assignment, rater_id, answer)
    if answer.page.item.state == Item.State.APART:
        _record_result(assignment, revision, rater_id, assignment, answer)
        return SubmitResult(1, False, suggestions)
    if answer.has_open_place or answer.page.item.state == Item.State.STUCK:
        reach.check([assignment.item_id])
    if answer.submission.comment:
        cases.count(assignment.project, assignment.project.type, [assignment.item_id])
    else:
        units = {answer.page.unit_ids[unit.key]: unit.pk for unit in answer.page.units}
        slugs = cases.compares_highlights(answer.page.type)
        own = [
            (units[one.unit], one.dimension, cases.judgement_as_compared(one, one.spans, slugs))
            for one in answer.judgements
        ]
        cases.answered(assignment.project, assignment.item_id, rater_id, own)
    if not answer.has_open_place:
        further.ask(assignment.project, assignment.item_id)
    return SubmitResult(1, False, suggestions)


def _store_any(assignment: Assignment, rater_id: int, answer: CheckedSubmission, now: datetime) -> SubmitResult:
    """Whatever else may come: repeated requests, changed answers, late ones, answers after a skip."""
    submission, project = answer.submission, assignment.project
    before = Revision.objects.filter(client_id=submission.client_id).select_related("annotation__assignment").first()
    if before is not None:
        return _answer_again(before, rater_id, answer, project)

    annotation = Annotation.objects.filter(item=assignment.item_id, rater=rater_id).select_related("assignment").first()
    if answer.is_excluded:  # what they hold goes back to the others
        row, is_own = None, False
        reopen(Assignment.objects.filter(item=assignment.item_id, rater=rater_id, state=Assignment.State.LEASED))
    elif annotation is not None and annotation.assignment is not None:
        row, is_own = annotation.assignment, True
    else:
        row, is_own = _place(assignment, rater_id)
    number, comment = 1, ""
    if annotation is not None:
        if annotation.assignment_id is None and row is not None:  # it was surplus, and a place has opened since
            Annotation.objects.filter(pk=annotation.pk).update(assignment=row, is_surplus=False)
            annotation.is_surplus = False
        latest = annotation.revisions.filter(is_latest=True)
        number, comment = latest.values_list("number", "comment").get()
        number += 1
        latest.update(is_latest=False)
    else:
        _check_time(project, row if is_own else None, submission, now)
        place = row.pk if row is not None else None
        pk = _stored_annotation(assignment.item_id, rater_id, place, now)
        annotation = Annotation(pk=pk, assignment=row, is_surplus=row is None)

    changes, suggestions = {}, []
    was_shown = _was_shown(row, is_own, project, submission, now, changes)
    if row is not None:
        row.project = project
        painted_at = submission.suggestions_shown_at
        if not is_own and not (painted_at and _while_held(painted_at, row, now) == row.suggestions_shown_at):
            # Taken back: what another annotator saw, who held it meanwhile, does not count for this person.
            row.exposure = []
            changes |= {"exposure": [], "suggestions_shown_at": None}
        suggestions = _revealed(row, answer, changes)
        if row.state != Assignment.State.DONE:
            changes |= {"state": Assignment.State.DONE, "rater_id": rater_id, "done_at": now}
            changes |= {"lease_expires_at": None, "returned": False}
        if changes:
            Assignment.objects.filter(pk=row.pk).update(**changes)
    revision = _store_revision(annotation.pk, number, answer, was_shown, now)
    _keep_comment(assignment, rater_id, answer, comment)
    if answer.page.item.state == Item.State.APART:
        _record_result(assignment, revision, rater_id, row, answer)
        return SubmitResult(number, False, suggestions)
    reach.check([assignment.item_id])
    cases.count(project, project.type, [assignment.item_id])
    further.ask(project, assignment.item_id)
    return SubmitResult(number, annotation.is_surplus, suggestions)


def _keep_comment(assignment: Assignment, rater_id: int, answer: CheckedSubmission, before: str = "") -> None:
    """Training and qualification open no thread: nobody sees them in their own work."""
    words = answer.submission.comment
    if (words or before) and assignment.reason not in Assignment.LEARNING:
        threads.keep(assignment.project_id, assignment.item_id, rater_id, words, before)


def _record_result(
    assignment: Assignment, revision: int, rater_id: int, row: Assignment | None, answer: CheckedSubmission
) -> None:
    keys = {unit: key for key, unit in answer.page.unit_ids.items()}
    labels = [(keys[one.unit], one.dimension, one.label) for one in answer.judgements]
    results.record_result(assignment.project, assignment.item_id, revision, rater_id, row, labels)


def _stored_before(submission: Submission, user) -> Revision | None:
    """The very same answer of this person, where a request is repeated."""
    stored = Revision.objects.filter(
        client_id=submission.client_id, body_hash=submission.body_hash, annotation__rater__user=user
    )
    return stored.select_related("annotation__assignment").first()


def _answer_again(before: Revision, rater_id: int, answer: CheckedSubmission, project: Project) -> SubmitResult:
    annotation = before.annotation
    if annotation.rater_id != rater_id or before.body_hash != answer.submission.body_hash:
        raise Conflict(gettext("Another answer was already sent under this id."))
    row = annotation.assignment
    shows = row is not None and row.prefill_arm == Project.Prefill.AFTER and bool(row.exposure)
    suggestions = _suggested(answer, project) if shows else []
    return SubmitResult(before.number, annotation.is_surplus, suggestions, is_repeat=True)


def _place(assignment: Assignment, rater_id: int) -> tuple[Assignment | None, bool]:
    """The row that this answer fills, and whether it was the person's own: the one that they hold or had skipped, or an
    open one, best the one named. None where there is no place: the answer is surplus."""
    rows = Assignment.objects.select_for_update(no_key=True, of=("self",))
    own = rows.filter(item=assignment.item_id, rater=rater_id).first()
    if own is not None and own.state in (Assignment.State.LEASED, Assignment.State.DONE):
        return own, True
    if assignment.reason in Assignment.NO_WORK:
        return own or rows.get(pk=assignment.pk), True  # its lease may be over: nobody else has the row
    place = assigning.open_place(assignment.item_id, rater_id, assignment.pk)
    arm = _arm_of_page(assignment, rater_id)
    if place is not None and place.prefill_arm != arm:
        place.prefill_arm = arm
        Assignment.objects.filter(pk=place.pk).update(prefill_arm=arm)
    if own is None or place is None:
        return place, False
    assigning.give_way(place, own)
    Assignment.objects.filter(pk=own.pk).update(
        skip_reason=own.skip_reason, is_flagged=own.is_flagged, is_parked=own.is_parked
    )
    return own, True


def _arm_of_page(assignment: Assignment, rater_id: int) -> str:
    """The arm in which this person had the page: the one that was drawn for them, or the row's, which another person
    may have held meanwhile."""
    if assignment.project.prefill != Project.Prefill.DRAWN:
        return assignment.prefill_arm
    item = Item.objects.values_list("key", flat=True).get(pk=assignment.item_id)
    rater = Rater.objects.values_list("pseudonym", flat=True).get(pk=rater_id)
    return arm_of(assignment.project, item, rater)


def _check_time(project: Project, row: Assignment | None, submission: Submission, now: datetime) -> None:
    if not project.minimum_seconds:
        return
    if row is not None and row.shown_at is not None:
        spent = now - row.shown_at
    elif submission.shown_at is not None:  # by one clock, which may be wrong
        spent = (submission.submitted_at or now) - submission.shown_at
    else:
        spent = timedelta(milliseconds=submission.active_ms or 0)
    if spent + MINIMUM_TIME_TOLERANCE < timedelta(seconds=project.minimum_seconds):
        raise InvalidSubmission(
            [
                FieldError(
                    gettext("Please take at least {n} seconds for an item").format(n=project.minimum_seconds),
                    field="active_ms",
                )
            ]
        )


def _was_shown(
    row: Assignment | None, is_own: bool, project: Project, submission: Submission, now: datetime, changes: dict
) -> bool | None:
    """Whether a browser had painted a suggestion on this item for the person before this revision; in `changes`, when
    it first did, where its note of that has not come. None where nobody knows: a lost lease took the trace, or the
    answer does not say what its page painted of the suggestions that it carried."""
    at = submission.suggestions_shown_at
    if row is None or not is_own:
        arm = row.prefill_arm if row is not None else project.prefill
        return True if at else None if arm in (Project.Prefill.SHOWN, Project.Prefill.DRAWN) else False
    if at and row.exposure and row.suggestions_shown_at is None:
        changes["suggestions_shown_at"] = _while_held(at, row, now)
    if at or row.suggestions_shown_at is not None:
        return True
    return None if row.exposure and not submission.tells_shown else False


def _while_held(at: datetime, row: Assignment, now: datetime) -> datetime:
    """A moment by a browser's clock, which may be wrong, as `assigning.shown` stores it."""
    return min(max(at, row.leased_at or at), now)


def _suggested(answer: CheckedSubmission, project: Project) -> list[dict]:
    labels = ((one.unit, one.dimension, one.label) for one in answer.judgements)
    return pages.suggestions_for(answer.page, project, pages.labels_by_unit(labels))


def _revealed(row: Assignment, answer: CheckedSubmission, changes: dict) -> list[dict]:
    """After the first answer: the suggestions about what it was asked, and in `changes` the note that this reply holds
    them. Whether they were seen is for the page to say, which may have gone on without them."""
    if row.prefill_arm != Project.Prefill.AFTER:
        return []
    suggestions = _suggested(answer, row.project)
    if suggestions:  # more than before, where the answer was changed; or the project has changed its run
        changes["exposure"] = assigning.exposure_with(row.exposure, row.project.prefill_run, len(suggestions))
    return suggestions


def _guideline(submission: Submission, assignment: Assignment, user) -> int | None:
    """The version that the author had acknowledged when they answered: the page says which, since an answer may come
    late. None where they never acknowledged it."""
    version, known = submission.guideline_version, assignment.guideline_acknowledged
    if not version or not known or version > known:
        return None
    acknowledged = GuidelineAcknowledgement.objects.filter(
        rater__project=assignment.project_id, rater__user=user, version=version
    )
    return version if version == known or acknowledged.exists() else None


def _metadata(answer: CheckedSubmission) -> dict:
    """The version of the project's options, where it has any, the answer in words with the question as it was asked,
    since a project may change its wording, and the order of texts that each person sees in another one."""
    metadata = {options.OPTIONS_VERSION: answer.options_version} if answer.options_version else {}
    if answer.free_text:
        metadata[pages.FREE_TEXT] = {"question": answer.page.type.free_text.title, "answer": answer.free_text}
    if answer.page.order:
        metadata[SHOWN_ORDER] = list(answer.page.order)
    return metadata


def _store_revision(
    annotation_id: int, number: int, answer: CheckedSubmission, suggestion_shown: bool | None, now: datetime
) -> int:
    submission = answer.submission
    row = (
        annotation_id,
        number,
        submission.client_id,
        submission.body_hash,
        submission.shown_at,
        submission.submitted_at,
        now,
        submission.active_ms,
        answer.guideline_version,
        answer.page.text_hash,
        suggestion_shown,
        answer.labels_seen,
        submission.comment,
        _metadata(answer),
    )
    (revision,) = insert_rows(Revision, [row], _REVISION)
    units = {answer.page.unit_ids[unit.key]: unit.pk for unit in answer.page.units}
    rows = [(revision, units[one.unit], one.dimension, one.label) for one in answer.judgements]
    stored = [pk for some in batches(rows, MOST_ROWS) for pk in insert_rows(Judgement, some, _JUDGEMENT)]
    spans = [
        (judgement, *values_of_span(span))
        for judgement, one in zip(stored, answer.judgements, strict=True)
        for span in one.spans
    ]
    for some in batches(spans, MOST_ROWS):
        insert_rows(Span, some, _SPAN)
    return revision
