"""Guidelines: the version in force, the one that a person acknowledged, and what changed between two versions."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from django.db import connection
from django.db.models import Count

from annotation.access import ACKNOWLEDGED_GUIDELINE, NEWEST_GUIDELINE
from annotation.models import Guideline, Project, Revision, User

CONTEXT_LINES = 2
# Words are compared within lines up to this length: beyond it comparing takes too long to be waited for.
LONGEST_COMPARED = 5_000
LEAST_ALIKE = 0.4  # lines that share less are shown as a removed and an added one, without marks inside

_STANDING = f"SELECT ({NEWEST_GUIDELINE.format(project='%s')}), ({ACKNOWLEDGED_GUIDELINE.format(project='%s')})"


def current_guideline(project: Project) -> Guideline | None:
    return project.guidelines.order_by("-version").first()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a person stands with the guidelines: the newest version, and the last one that they acknowledged."""

    newest: int | None
    acknowledged: int | None

    @property
    def is_pending(self) -> bool:
        """Whether the newest version waits to be acknowledged."""
        return (self.newest or 0) > (self.acknowledged or 0)


def standing(project: Project, user: User) -> Standing:
    """By hand like the statement that opens an answer: every fetched item asks."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [project.pk, project.pk, user.pk])
        return Standing(*cursor.fetchone())


def changed_for(project: Project, user: User) -> bool:
    """Whether there is a newer version than the one that this person acknowledged."""
    acknowledged = standing(project, user)
    return acknowledged.acknowledged is not None and acknowledged.is_pending


# ---- what changed ----


@dataclass(frozen=True, slots=True)
class Line:
    """A line of two versions: `same`, `removed`, `added`, or a `gap` where lines that did not change are left out."""

    kind: str
    parts: tuple[tuple[str, bool], ...] = ()  # stretches of text, and whether the other version lacks them


def changes(older: str, newer: str) -> list[Line]:
    """The lines that differ between two versions, with those around them."""
    before, after = older.splitlines(), newer.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after)
    lines: list[Line] = []
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        if lines or group[0][1] > 0:
            lines.append(Line("gap"))
        for kind, start, end, start_after, end_after in group:
            if kind == "equal":
                lines += [Line("same", ((text, False),)) for text in before[start:end]]
            else:
                lines += _replaced(before[start:end], after[start_after:end_after])
    if lines and group[-1][2] < len(before):
        lines.append(Line("gap"))
    return lines


def _replaced(before: list[str], after: list[str]) -> Iterator[Line]:
    """The removed lines, then the added ones; of lines that stand in for each other, the words that differ."""
    pairs = [_compared(old, new) for old, new in zip_longest(before, after)]
    yield from (Line("removed", old) for old, _ in pairs if old)
    yield from (Line("added", new) for _, new in pairs if new)


def _compared(old: str | None, new: str | None) -> tuple[tuple, tuple]:
    if old is None or new is None:
        return ((old, False),) if old is not None else (), ((new, False),) if new is not None else ()
    words, others = re.findall(r"\s+|\w+|[^\w\s]", old), re.findall(r"\s+|\w+|[^\w\s]", new)
    matcher = difflib.SequenceMatcher(None, words, others)
    if max(len(old), len(new)) > LONGEST_COMPARED or matcher.ratio() < LEAST_ALIKE:
        return ((old, False),), ((new, False),)
    before, says = [], []
    for kind, start, end, start_after, end_after in matcher.get_opcodes():
        before.append(("".join(words[start:end]), kind != "equal"))
        says.append(("".join(others[start_after:end_after]), kind != "equal"))
    return tuple(part for part in before if part[0]), tuple(part for part in says if part[0])


# ---- all versions ----


def count_answers(projects: Iterable[Project]) -> dict[int, dict[str, int]]:
    """By project, how many answers in force were given under each version."""
    found = {}
    for project in projects:
        answers = Revision.objects.filter(annotation__rater__project=project, is_latest=True)
        of_version = answers.exclude(guideline_version=None).order_by().values_list("guideline_version")
        found[project.pk] = {str(version): n for version, n in of_version.annotate(Count("pk"))}
    return found


@dataclass
class GuidelineVersion:
    guideline: Guideline
    changes: list[Line]  # against the version before
    labels: int | None  # answers in force that were given under it; None: not counted yet


def guideline_versions(
    project: Project, versions: Iterable[Guideline], answers: Mapping[str, int] | None
) -> list[GuidelineVersion]:
    """`answers` are those of `count_answers`, if they have been counted."""
    versions = list(versions)
    older = dict(
        project.guidelines.filter(version__in=[one.version - 1 for one in versions]).values_list("version", "markdown")
    )
    return [
        GuidelineVersion(
            one,
            changes(older.get(one.version - 1, ""), one.markdown),
            None if answers is None else answers.get(str(one.version), 0),
        )
        for one in versions
    ]
