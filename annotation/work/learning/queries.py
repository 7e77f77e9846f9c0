"""Reads about keys and results: for the person who learns, and for researchers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, Max, Min, Q, Sum
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.markdown import render
from annotation.models import Assignment, ItemKey, Judgement, KeyResult, Membership, Project, Rater
from annotation.task_words import answer_title, worded
from annotation.work.learning.giving import keys_of
from annotation.work.learning.results import tries_of
from annotation.work.queries import pages, unit_words

TRAINING, QUALIFICATION, CHECK = ItemKey.Purpose
TITLES = {TRAINING: _("Training"), QUALIFICATION: _("Qualification")}
TEXTS = {
    TRAINING: _("After your answer you see the right one. Mistakes are allowed here."),
    QUALIFICATION: _("Your answers decide whether you can go on to the work."),
}


# ---- for the person ----


def lesson_of(project: Project, rater: Rater, assignment: Assignment) -> dict:
    """What stands above an item of training or qualification."""
    items = list(keys_of(project, assignment.reason).values_list("item", flat=True))
    done = KeyResult.objects.filter(rater=rater, purpose=assignment.reason, item__in=items).exclude(
        item=assignment.item_id
    )
    if assignment.reason == QUALIFICATION:
        done = done.filter(attempt=rater.attempt)
    tries = tries_of(project, rater)
    tried = gettext(", try {n} of {total}").format(n=rater.attempt, total=tries)
    is_tried = assignment.reason == QUALIFICATION and tries > 1
    return {
        "title": TITLES[assignment.reason] + (tried if is_tried else ""),
        "number": done.values("item").distinct().count() + 1,
        "total": len(items),
        "text": TEXTS[assignment.reason],
    }


def feedback_on(project: Project, rater: Rater, item_id: int) -> dict | None:
    """The right answers to the item with the person's own, where they may see them, and how the try ended with it;
    None where there is neither."""
    result = KeyResult.objects.filter(item=item_id, rater=rater).order_by("-attempt", "-pk").first()
    key = ItemKey.objects.filter(item=item_id).first()
    if result is None or key is None:
        return None
    context = {"project": project, **_outcome(project, rater, result)}
    if result.purpose == TRAINING or project.shows_keys:
        context |= {"answers": _compared(project, key, result), "reason": mark_safe(render(key.reason))}
    return context if len(context) > 1 else None


def _outcome(project: Project, rater: Rater, result: KeyResult) -> dict:
    """How the try ended, where this answer ended it."""
    if result.purpose != QUALIFICATION:
        return {}
    tried = KeyResult.objects.filter(rater=rater, purpose=QUALIFICATION, attempt=result.attempt)
    left = keys_of(project, QUALIFICATION).exclude(item__in=tried.values("item"))
    if left.exists() or tried.filter(pk__gt=result.pk).exists():
        return {}
    numbers = tried.aggregate(right=Sum("right"), asked=Sum("asked"))
    return {
        "outcome": "passed" if rater.admitted_at else "failed",
        "tries_left": max(0, tries_of(project, rater) - result.attempt),
        **numbers,
    }


def _compared(project: Project, key: ItemKey, result: KeyResult) -> list[dict]:
    rows = Judgement.objects.filter(revision=result.revision_id).values_list("unit__key", "dimension", "label")
    own = {(unit, dimension): label for unit, dimension, label in rows}
    units = {row.unit.key: row.unit_id for row in key.item.item_units.select_related("unit")}
    words = unit_words.words_of(project.type.unit_kind, list(units.values())) if len(units) > 1 else {}
    # In the words of the page that the person saw.
    shown = pages.load_page(key.item_id, project.type, result.rater.user).type
    dimensions = {one.slug: one for one in worded(shown).dimensions}
    found = []
    for one in key.answers:
        dimension = dimensions.get(one["dimension"])
        if dimension is None:
            continue
        label = own.get((one["unit"], one["dimension"]))
        found.append(
            {
                "unit": words[units[one["unit"]]][0] if words and one["unit"] in units else "",
                "question": dimension.title,
                "right": answer_title(dimension, one["label"]),
                "own": answer_title(dimension, label) if label is not None else "",
                "is_right": label == one["label"],
                "quotes": [span["quote"] for span in one["spans"]],
            }
        )
    return found


# ---- for researchers ----


@dataclass
class KeyRow:
    key: ItemKey
    title: str
    answers: str
    answered: int = 0
    all_right: int = 0


def key_rows(project: Project, keys: list[ItemKey]) -> list[KeyRow]:
    """Keys with their item's words and how many people answered them all right: two queries for a page of keys."""
    words = unit_words.words_of(project.type.anchor_kind, [key.item.anchor_id for key in keys])
    numbers = KeyResult.objects.filter(item__in=[key.item_id for key in keys]).order_by().values_list("item")
    counted = {
        item: (n, right)
        for item, n, right in numbers.annotate(n=Count("pk"), all_right=Count("pk", Q(right=F("asked"))))
    }
    dimensions = {one.slug: one for one in project.type.dimensions}
    return [
        KeyRow(
            key,
            words[key.item.anchor_id][0],
            ", ".join(
                dimensions[one["dimension"]].title_of(one["label"])
                for one in key.answers
                if one["dimension"] in dimensions
            ),
            *counted.get(key.item_id, (0, 0)),
        )
        for key in keys
    ]


@dataclass
class LearnerRow:
    """How a person does: answers to questions in training and in the latest try, and checks."""

    rater: Rater
    training: tuple[int, int] = (0, 0)  # right answers, and all that were asked
    qualification: tuple[int, int] = (0, 0)
    checks: tuple[int, int] = (0, 0)  # passed, and done
    first_at: datetime | None = None
    last_at: datetime | None = None
    ways: list = field(default_factory=list)


def learner_rows(raters: list[Rater]) -> list[LearnerRow]:
    """One query for a page of people."""
    rows = {rater.pk: LearnerRow(rater) for rater in raters}
    attempts = {rater.pk: rater.attempt for rater in raters}
    results = KeyResult.objects.filter(rater__in=rows).order_by().values("rater", "purpose", "attempt")
    numbers = {"n": Count("pk"), "passed": Count("pk", Q(right=F("asked"))), "first": Min("created_at")}
    for one in results.annotate(n_right=Sum("right"), n_asked=Sum("asked"), last=Max("created_at"), **numbers):
        row = rows[one["rater"]]
        row.first_at = min(filter(None, (row.first_at, one["first"])))
        row.last_at = max(filter(None, (row.last_at, one["last"])))
        if one["purpose"] == CHECK:
            row.checks = (one["passed"], one["n"])
        elif one["purpose"] == TRAINING:
            row.training = (one["n_right"], one["n_asked"])
        elif one["attempt"] == attempts[one["rater"]]:
            row.qualification = (one["n_right"], one["n_asked"])
    return list(rows.values())


def learners_of(project: Project):
    """Raters who annotate here now, those who need a decision first."""
    active = Membership.objects.filter(project=project, role=Membership.Role.ANNOTATOR, is_active=True)
    raters = project.raters.filter(user__in=active.values("user")).select_related("user")
    waiting = Q(standing__in=(Rater.Standing.FAILED, Rater.Standing.PAUSED, Rater.Standing.ASKED))
    return raters.annotate(waits=Count("pk", waiting)).order_by("-waits", "name", "pk")
