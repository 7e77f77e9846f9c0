"""What the page of progress shows, counted from all answers of a project (`annotation.jobs.counts`): by ranges of
items, so that memory stays small, and without any library, since small projects are counted inside a request."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median

from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.models import (
    Assignment,
    CheckerRun,
    ConsentWithdrawal,
    Decision,
    Item,
    ItemKey,
    Judgement,
    KeyResult,
    Project,
    Revision,
    Suggestion,
)
from annotation.projects.queries.projects import team_of
from annotation.work.hours import seconds_worked
from annotation.work.queries.work import count_progress

ITEMS_AT_ONCE = 5000
DAYS_KEPT = 28
DECIDED = (Decision.Method.IMPORTED, Decision.Method.ADJUDICATED)  # the last one of a question counts
State = Assignment.State


@dataclass
class PersonFigures:
    """Of one person. Shares are (sum of the items' shares, items); `first` and `second` are those with others in the
    two halves of the person's items."""

    items: int = 0  # answered: work and checks
    week: int = 0  # in the last seven days
    seconds: int = 0  # of work
    median: float | None = None  # seconds of an item, as the browser measured them
    checks: tuple[int, int] = (0, 0)  # passed, and done
    others: tuple[float, int] = (0.0, 0)
    decided: tuple[float, int] = (0.0, 0)
    first: tuple[float, int] = (0.0, 0)
    second: tuple[float, int] = (0.0, 0)
    skips: int = 0
    flags: int = 0
    comments: int = 0
    last: str | None = None  # the last moment that counts for `seconds`
    followed: tuple[float, int] = (0.0, 0)  # first answers with a suggestion in view: labels that equal it


@dataclass
class _Work:
    """What is gathered of one person."""

    figures: PersonFigures = field(default_factory=PersonFigures)
    moments: array = field(default_factory=lambda: array("d"))
    times: array = field(default_factory=lambda: array("d"))  # milliseconds of items
    answers: array = field(default_factory=lambda: array("q"))  # annotations that others can be compared with, ...
    shares: array = field(default_factory=lambda: array("d"))  # ... and the share of others who said the same
    decided: list = field(default_factory=lambda: [0.0, 0])
    followed: list = field(default_factory=lambda: [0.0, 0])


def count_people(projects: Iterable[Project]) -> dict[int, dict]:
    return {project.pk: _Counting(project).values() for project in projects}


class _Counting:
    def __init__(self, project: Project):
        self.project, self.now = project, timezone.now()
        people = project.raters.filter(user__isnull=False)
        own = {"user__participations__project": project, "user__participations__is_test": True}
        people = people.exclude(pk__in=project.raters.filter(**own).values("pk"))
        self.users = dict(people.values_list("pk", "user_id"))
        self.groups = dict(people.values_list("pk", "group"))
        self.excluded = set(project.raters.filter(is_excluded=True).values_list("pk", flat=True))
        self.work: dict[int, _Work] = defaultdict(_Work)
        self.days: Counter[str] = Counter()
        self.items, self.places, self.of_groups = Counter(), Counter(), Counter()
        self.queues = Counter()  # items by what waits to be read
        self.compared = {one.slug for one in project.type.dimensions if not one.takes_text}
        self.has_decisions = self._decisions().exists()
        self.has_shown = False  # a suggestion of these runs with an answer of the chunk
        self.runs = {str(uuid): pk for uuid, pk in CheckerRun.objects.filter(project=project).values_list("uuid", "pk")}

    def values(self) -> dict:
        for chunk in self._chunks():
            self._look_at_places(chunk)
            answers = self._look_at_answers(chunk)
            self._look_at_labels(chunk, answers)
            if self.has_shown:
                self._look_at_suggestions(chunk)
        self._look_at_checks()
        self._look_at_withdrawals()
        pause = self.project.pay_pause_minutes * 60
        people = {str(self.users[rater]): astuple(_finished(work, pause)) for rater, work in self.work.items()}
        counts = Counter(self.groups[rater] for rater in self.work)
        groups = sorted({*filter(None, self.groups.values()), *(name for name, _ in self.of_groups if name)})
        return {
            "items": dict(self.items),
            "places": dict(self.places),
            "team": team_of(count_progress([self.project])[self.project.pk]),
            "days": dict(self.days),
            "queues": {
                "skips": self.queues["skips"],
                "flags": self.queues["flags"],
                "comments": self.project.cases.filter(is_commented=True).count(),
            },
            "groups": {
                name: [counts[name], self.of_groups[name, "answers"], self.of_groups[name, "reserved"]]
                for name in groups
            },
            "people": people,
        }

    def _chunks(self) -> Iterator[dict[int, tuple[str, str]]]:
        """Items by their ids, in order, with their state and what they are set apart for."""
        rows = self.project.items.order_by("pk").values_list("pk", "state", "unit_count", "item_key__purpose")
        chunk: dict[int, tuple[str, str]] = {}
        for pk, state, units, purpose in rows.iterator(chunk_size=ITEMS_AT_ONCE):
            chunk[pk] = (state if units or state != Item.State.ACTIVE else "empty", purpose or "")
            if len(chunk) == ITEMS_AT_ONCE:
                yield chunk
                chunk = {}
        if chunk:
            yield chunk

    @staticmethod
    def _range(chunk: dict, path: str) -> dict:
        """Without a condition on the project, for which databases would look through all of its items each time; the
        few items of other projects in between are passed over."""
        return {f"{path}__gte": min(chunk), f"{path}__lte": max(chunk)}

    def _look_at_places(self, chunk: dict) -> None:
        rows = Assignment.objects.filter(**self._range(chunk, "item")).order_by()
        columns = ("item", "rater", "state", "reason", "leased_at", "done_at", "is_flagged", "reserved_group")
        places: dict[int, Counter] = defaultdict(Counter)
        skipped, flagged = set(), set()
        for item, rater, state, reason, leased_at, done_at, is_flagged, group in rows.values_list(*columns):
            if item not in chunk:
                continue
            if reason not in Assignment.NO_WORK:
                places[item][state] += 1
                self.places[state] += 1
                if group and state in (State.OPEN, State.LEASED):
                    self.of_groups[group, "reserved"] += 1
            if state == State.SKIPPED:
                skipped.add(item)
            if is_flagged:
                flagged.add(item)
            if rater not in self.users:
                continue
            work = self.work[rater]
            if leased_at is not None:
                work.moments.append(leased_at.timestamp())
            if state == State.SKIPPED:
                work.figures.skips += 1
                if done_at is not None:
                    work.moments.append(done_at.timestamp())
            work.figures.flags += is_flagged
        self.queues += Counter(skips=len(skipped), flags=len(flagged))
        for item, (state, _) in chunk.items():
            if state == Item.State.ACTIVE:
                found = places[item]
                is_done = found[State.DONE] and not (found[State.OPEN] or found[State.LEASED])
                state = "done" if is_done else "begun" if found[State.DONE] else "untouched"
            self.items[state] += 1

    def _look_at_answers(self, chunk: dict) -> dict[int, int]:
        """The raters of answers whose labels are compared, by annotation."""
        rows = Revision.objects.filter(**self._range(chunk, "annotation__item")).order_by()
        columns = (
            "annotation", "annotation__item", "annotation__rater", "annotation__is_surplus",
            "annotation__assignment__reason", "client_id", "number", "received_at", "is_latest", "active_ms",
            "labels_seen", "suggestion_shown", "has_comment",
        )  # fmt: skip
        self.has_shown = False
        found, learning = {}, {*Assignment.LEARNING}
        since = (self.now - timedelta(days=DAYS_KEPT)).date()
        week = self.now - timedelta(days=7)
        rows = rows.annotate(has_comment=Q(comment__gt="")).values_list(*columns)
        for pk, item, rater, surplus, reason, own, number, at, latest, took, seen, shown, comment in rows.iterator():
            if item not in chunk:
                continue
            self.has_shown |= bool(shown and self.runs)
            state, purpose = chunk[item]
            if (
                latest and not surplus and not seen and rater not in self.excluded
                and reason != Assignment.Reason.FURTHER and state not in Item.LEFT_OUT
            ):  # fmt: skip
                found[pk] = rater
            if own is None or rater not in self.users:
                continue
            work = self.work[rater]
            work.moments.append(at.timestamp())
            if (reason or purpose) in learning:
                continue
            if latest:
                work.figures.comments += comment
                if took is not None:
                    work.times.append(took)
            if number == 1:
                work.figures.items += 1
                work.figures.week += at > week
                if group := self.groups[rater]:
                    self.of_groups[group, "answers"] += 1
                if not surplus and state != Item.State.APART and at.date() >= since:
                    self.days[at.astimezone(UTC).date().isoformat()] += 1
        return found

    def _look_at_labels(self, chunk: dict, answers: dict[int, int]) -> None:
        rows = Judgement.objects.filter(revision__is_latest=True)
        rows = rows.filter(**self._range(chunk, "revision__annotation__item")).order_by()
        columns = ("revision__annotation", "unit", "dimension", "label")
        of_question: dict[tuple, list[tuple[int, str]]] = defaultdict(list)
        for annotation, unit, dimension, label in rows.values_list(*columns).iterator():
            if annotation in answers and dimension in self.compared:
                of_question[unit, dimension].append((annotation, label))
        decided = self._decided(chunk) if self.has_decisions else {}
        others: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
        right: dict[int, list[float]] = defaultdict(lambda: [0.0, 0])
        for question, labels in of_question.items():
            if len(labels) > 1:
                counts, most = Counter(label for _, label in labels), len(labels) - 1
                for annotation, label in labels:
                    _add(others[annotation], (counts[label] - 1) / most)
            if question in decided:
                known, by = decided[question]
                for annotation, label in labels:
                    if answers[annotation] != by:
                        _add(right[annotation], label == known)
        for annotation, (total, n) in others.items():
            if (rater := answers[annotation]) in self.users:
                self.work[rater].answers.append(annotation)
                self.work[rater].shares.append(total / n)
        for annotation, (total, n) in right.items():
            if (rater := answers[annotation]) in self.users:
                _add(self.work[rater].decided, total / n)

    def _look_at_suggestions(self, chunk: dict) -> None:
        """As the report on a trial counts who follows them: first answers that were given with suggestions in view, of
        the last run where there were several."""
        rows = Judgement.objects.filter(**self._range(chunk, "revision__annotation__item")).order_by()
        rows = rows.filter(revision__number=1, revision__suggestion_shown=True, revision__annotation__is_surplus=False)
        place = "revision__annotation"
        columns = (place, f"{place}__item", f"{place}__rater", f"{place}__assignment__exposure")
        seen: dict[tuple, list[tuple]] = defaultdict(list)  # run, unit, dimension -> answers
        for annotation, item, rater, exposure, *question, label in rows.values_list(
            *columns, "unit", "dimension", "label"
        ).iterator():
            run = self.runs.get(exposure[-1]["run"]) if exposure else None
            if run and item in chunk and chunk[item][0] not in Item.LEFT_OUT and rater in self.users:
                seen[run, *question].append((annotation, rater, label))
        suggested = Suggestion.objects.filter(run__in={run for run, *_ in seen}, dimension__in=self.compared)
        suggested = suggested.filter(**self._range(chunk, "unit__item_units__item")) if seen else suggested.none()
        of_answer: dict[tuple, list[float]] = defaultdict(lambda: [0.0, 0])
        for *question, known in set(suggested.values_list("run", "unit", "dimension", "label").iterator()):
            for annotation, rater, label in seen.get(tuple(question), ()):
                _add(of_answer[annotation, rater], label == known)
        for (_, rater), (total, n) in of_answer.items():
            _add(self.work[rater].followed, total / n)

    def _decisions(self):
        rows = Decision.objects.in_force().filter(project=self.project, method__in=DECIDED)
        return rows.filter(outcome=Decision.Outcome.LABEL)

    def _decided(self, chunk: dict) -> dict[tuple, tuple[str, int | None]]:
        """Decisions by people and of files, with who decided; an adjudicated one comes before an imported one."""
        rows = self._decisions().filter(**self._range(chunk, "unit__item_units__item"))
        found: dict[tuple, tuple[str, int | None]] = {}
        columns = ("unit", "dimension", "method", "label", "decided_by")
        for unit, dimension, method, label, by in rows.values_list(*columns):
            if (unit, dimension) not in found or method == Decision.Method.ADJUDICATED:
                found[unit, dimension] = (label, by)
        return found

    def _look_at_checks(self) -> None:
        rows = KeyResult.objects.filter(rater__in=self.project.raters.all(), purpose=ItemKey.Purpose.CHECK).order_by()
        numbers = {"n": Count("pk"), "passed": Count("pk", filter=Q(right=F("asked")))}
        for rater, n, passed in rows.values_list("rater").annotate(**numbers).values_list("rater", "n", "passed"):
            if rater in self.users:
                self.work[rater].figures.checks = (passed, n)

    def _look_at_withdrawals(self) -> None:
        """Places of answers that are left out are others'; the time of these answers counts."""
        rows = ConsentWithdrawal.objects.filter(rater__project=self.project).exclude(given_at=[])
        for rater, given_at in rows.values_list("rater", "given_at"):
            if rater in self.users:
                self.work[rater].moments.extend(given_at)


def _add(total: list[float], share: float) -> None:
    total[0] += share
    total[1] += 1


def _finished(work: _Work, longest_pause: float) -> PersonFigures:
    figures = work.figures
    figures.seconds = round(seconds_worked(work.moments, longest_pause))
    if work.moments:
        figures.last = datetime.fromtimestamp(max(work.moments), UTC).isoformat(timespec="seconds")
    if work.times:
        figures.median = median(work.times) / 1000
    order = sorted(range(len(work.answers)), key=work.answers.__getitem__)
    half = len(order) // 2
    halves = [[work.shares[place] for place in part] for part in (order, order[:half], order[half:])]
    figures.others, figures.first, figures.second = ((round(sum(part), 6), len(part)) for part in halves)
    figures.decided = (round(work.decided[0], 6), work.decided[1])
    figures.followed = (round(work.followed[0], 6), work.followed[1])
    return figures
