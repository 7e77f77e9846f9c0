"""Running a rule: what it would decide, and its decisions; a further run adds only those that changed.

All is computed first and written in one transaction together with the run's row, so that nobody sees half of a run and
one that fails leaves nothing. A preview computes the same and writes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

from analysis.rules import deciding
from analysis.rules.asking import refuse_another, validated_parameters
from analysis.rules.deciding import DROPPED, NONE, LabelsOfQuestion, Outcome
from analysis.rules.kinds import PARENTS, WAIT, RuleError, get_kind
from analysis.rules.tables import parse_table, verdict_of
from annotation.bulk import MANY_ROWS, bulk_insert, refresh_statistics
from annotation.decisions.moments import Moment
from annotation.jobs.lifecycle import JobError, Lease
from annotation.models import Chunk, Decision, Item, ItemUnit, Job, Judgement, Project, Rater, Revision, RuleRun, Unit
from annotation.projects import cases
from annotation.projects.preparing import refuse_preparing
from annotation.task_types import Dimension, TaskType
from annotation.work.queries.work import label_version

AT_ONCE = 20_000
EXAMPLES = 10
LISTED = 200  # units that a run left undecided, per question
METHOD = Decision.Method.RULE


@dataclass(eq=False)
class DecidedQuestion:
    """What a rule makes of one question: an outcome for each of `units` (ids, ascending)."""

    units: np.ndarray
    dimension: str
    outcome: Outcome
    examples: list[dict] = field(default_factory=list)
    left_open: list[dict] = field(default_factory=list)

    def stored(self, place: int) -> tuple[str, str, float | None]:
        """Outcome, label and posterior as they are stored."""
        code, posterior = int(self.outcome.code[place]), self.outcome.posterior
        if code == DROPPED:
            return Decision.Outcome.DROPPED.value, "", None
        value = None if posterior is None else float(posterior[place])
        return Decision.Outcome.LABEL.value, self.outcome.values[code], value


def apply_rule(project: Project, kind: str, parameters: Mapping) -> list[DecidedQuestion]:
    """The rule's present outcome for every unit of the project. RuleError if there are no labels."""
    refuse_preparing(project)
    rule = get_kind(kind)
    if rule.lifts_decisions:
        return [_lifted(project, parameters)]
    units = units_of(project)
    dimensions = rule.dimensions(project.type, parameters)
    by_dimension = {one.slug: labels_of(project, one, units) for one in dimensions}
    if not any(len(one.unit) for one in by_dimension.values()):
        raise RuleError("No labels to apply this rule to")
    if rule.weighs_people and any(one.has_slots for one in by_dimension.values()):
        raise RuleError("This rule weighs people, but the raters here are slots, not people; choose the majority")
    outcomes = getattr(deciding, rule.decide)(by_dimension, parameters, lambda: _objected(project, units))
    _leave_out_what_is_not_asked(project.type, dimensions, outcomes)
    found = [DecidedQuestion(units, slug, outcome) for slug, outcome in outcomes.items()]
    for one in found:
        labels = by_dimension[one.dimension]
        one.outcome.why["without labels"] = int((labels.n_labels() == 0).sum())
        one.examples, one.left_open = _examples(one, labels), _left_open(one, labels)
    return found


def units_of(project: Project) -> np.ndarray:
    rows = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    found = np.fromiter(rows.values_list("unit_id", flat=True).iterator(chunk_size=AT_ONCE), dtype=np.int64)
    return np.unique(found)


def labels_of(
    project: Project, dimension: Dimension, units: np.ndarray, without: QuerySet | None = None
) -> LabelsOfQuestion:
    """The newest labels that are not surplus, but for those of the annotations `without`. Few bytes a label: there may
    be millions."""
    rows = Judgement.objects.filter(
        dimension=dimension.slug,
        revision__is_latest=True,
        revision__annotation__is_surplus=False,
        revision__annotation__item__project=project,
    )
    if without is not None:
        rows = rows.exclude(revision__annotation__in=without)
    rows = rows.values_list("unit_id", "revision__annotation__rater_id", "label")
    codes: dict[str, int] = {value: code for code, value in enumerate(dimension.values)}
    parts = []
    rows = rows.iterator(chunk_size=AT_ONCE)
    while batch := list(islice(rows, AT_ONCE)):
        parts.append(np.array([(unit, rater, codes.setdefault(label, len(codes))) for unit, rater, label in batch]))
    table = np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.int64)
    place = np.searchsorted(units, table[:, 0])
    known = (place < len(units)) & (units[np.minimum(place, len(units) - 1)] == table[:, 0]) if len(units) else []
    table, place = table[known], place[known]
    raters, rater = np.unique(table[:, 1], return_inverse=True)
    slots = Rater.objects.filter(pk__in=raters.tolist(), kind=Rater.Kind.SLOT).exists()
    return LabelsOfQuestion(dimension, place, rater, table[:, 2], tuple(codes), len(units), slots)


def _objected(project: Project, units: np.ndarray) -> np.ndarray:
    """Units of the items that have a comment in a person's newest answer."""
    commented = Revision.objects.filter(annotation__item__project=project, is_latest=True).exclude(comment="")
    rows = ItemUnit.objects.filter(item__in=commented.values("annotation__item"))
    return np.isin(units, np.fromiter(rows.values_list("unit_id", flat=True), dtype=np.int64))


def _leave_out_what_is_not_asked(kind: TaskType, dimensions: list[Dimension], outcomes: dict[str, Outcome]) -> None:
    """A conditional question is decided only if its condition is decided and met."""
    for dimension in dimensions:
        condition = dimension.asked_when
        if condition is None or dimension.slug not in outcomes or condition.dimension not in outcomes:
            continue
        mine, before = outcomes[dimension.slug], outcomes[condition.dimension]
        allowed = np.array([
            condition.is_met(kind.dimension(condition.dimension).chosen(value)) for value in before.values
        ])  # fmt: skip
        asked = (before.code == DROPPED) | ((before.code >= 0) & allowed[np.maximum(before.code, 0)])
        mine.why["not asked, or its condition is open"] = int(((mine.code >= 0) & ~asked).sum())
        mine.code = np.where(asked, mine.code, NONE)


def _examples(decided: DecidedQuestion, labels: LabelsOfQuestion) -> list[dict]:
    """Units that people are divided on, with their labels and the rule's outcome."""
    tied = decided.outcome.tied
    chosen = np.flatnonzero(tied)[:EXAMPLES] if tied is not None else np.zeros(0, dtype=int)
    found = _with_votes(decided, labels, chosen)
    for one, place in zip(found, chosen.tolist(), strict=True):
        code = decided.outcome.code[place]
        one["becomes"] = "undecided" if code == NONE else decided.stored(place)[1] or "dropped"
    return found


def _left_open(decided: DecidedQuestion, labels: LabelsOfQuestion) -> list[dict]:
    """The first labelled units that the rule leaves undecided."""
    chosen = np.flatnonzero((decided.outcome.code == NONE) & (labels.n_labels() > 0))[:LISTED]
    found = _with_votes(decided, labels, chosen)
    for one, place in zip(found, chosen.tolist(), strict=True):
        one["question"] = decided.dimension
        if decided.outcome.posterior is not None and decided.outcome.posterior[place] >= 0:
            one["posterior"] = float(decided.outcome.posterior[place])
    return found


def _with_votes(decided: DecidedQuestion, labels: LabelsOfQuestion, places: np.ndarray) -> list[dict]:
    """These units by their keys, and how often each label was given."""
    votes: dict[int, Counter] = defaultdict(Counter)
    rows = np.flatnonzero(np.isin(labels.unit, places))
    for place, code in zip(labels.unit[rows].tolist(), labels.value[rows].tolist(), strict=True):
        votes[place][labels.values[code]] += 1
    keys = dict(Unit.objects.filter(pk__in=decided.units[places].tolist()).values_list("pk", "key"))
    return [{"unit": keys[int(decided.units[place])], "votes": dict(votes[place])} for place in places.tolist()]


def _lifted(project: Project, parameters: Mapping) -> DecidedQuestion:
    """Verdicts on parents from the decisions that stand for their children: a person's, else the rule's."""
    kind, slug = project.type, parameters["question"]
    _, path = PARENTS[kind.unit_kind]
    lines = parse_table(parameters["table"], kind.dimension(slug).values)
    stands = Decision.objects.in_force().filter(project=project, dimension=slug)
    labels: dict[int, str] = {}
    rule = parameters["decisions"]
    sets = [f"{METHOD.value}:{rule}"] if rule else []
    for name in (*sets, "imported", "adjudicated"):  # the later ones come before
        labels.update(stands.of_set(name).values_list("unit_id", "label").iterator(chunk_size=AT_ONCE))
    if not labels:
        missing = "There are no decisions of people to lift; name the rule whose decisions are"
        raise RuleError(
            f"There are no decisions to lift: run the rule {rule!r} first" if rule else missing, "decisions"
        )
    below: dict[int, list[str | None]] = defaultdict(list)
    rows = ItemUnit.objects.filter(item__project=project).exclude(item__state__in=Item.LEFT_OUT)
    rows = rows.filter(**{f"unit__{path}__superseded_at": None}).values_list(f"unit__{path}", "unit_id")
    for parent, unit in rows.iterator(chunk_size=AT_ONCE):
        if parent is not None:
            below[parent].append(labels.get(unit))
    units = np.array(sorted(below), dtype=np.int64)
    values = tuple(dict.fromkeys(line.verdict for line in lines))
    code, why, left_open = np.full(len(units), NONE), Counter(), []
    for place, parent in enumerate(units.tolist()):
        known = [label for label in below[parent] if label]  # an empty one: dropped
        if not known:
            why["without a decided child"] += 1
        elif None in below[parent] and parameters["undecided"] == WAIT:
            why["with an undecided child"] += 1
        elif (verdict := verdict_of(lines, Counter(known))) is not None:
            code[place] = values.index(verdict)
        else:
            why["for which no line of the table holds"] += 1
        if code[place] == NONE and known and len(left_open) < LISTED:
            left_open.append({"unit": parent, "votes": dict(Counter(known)), "question": parameters["verdict"]})
    keys = dict(Unit.objects.filter(pk__in=[one["unit"] for one in left_open]).values_list("pk", "key"))
    left_open = [one | {"unit": keys[one["unit"]]} for one in left_open]
    return DecidedQuestion(units, parameters["verdict"], Outcome(code, values, why=why), left_open=left_open)


def preview(project: Project, name: str, kind: str, values: Mapping) -> dict:
    """What a run would write, and what it would leave open. RuleError says what is wrong with the question."""
    parameters = validated_parameters(project, name, kind, values)
    found = apply_rule(project, kind, parameters)
    counts = [_counted(one, _changes(project, name, one)) for one in found]
    return {"parameters": parameters, "questions": counts, "left_open": [row for one in found for row in one.left_open]}


def run_rule(project: Project, user, name: str, kind: str, values: Mapping) -> RuleRun:
    """Run the rule and store what changed since its last run: decisions of its own, all of them or none."""
    parameters = validated_parameters(project, name, kind, values)
    moment, now = Moment.now(project), timezone.now()
    labels = label_version(project)
    found = apply_rule(project, kind, parameters)
    with transaction.atomic():
        # Comes first: two runs, and adjudicators of the project, wait for each other.
        Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
        refuse_another(project, name, kind, parameters)
        last = RuleRun.objects.filter(project=project, name=name).aggregate(last=Max("version"))["last"] or 0
        run = RuleRun.objects.create(
            project=project,
            name=name,
            version=last + 1,
            kind=kind,
            parameters=parameters,
            # `labels`: as `label_version` counts, once this run is stored.
            moment={"revision": moment.revision, "decision": moment.decision, "labels": labels + 1},
            left_open=[row for one in found for row in one.left_open],
            created_by=user,
            created_at=now,
        )
        counts = []
        for one in found:
            changes = _changes(project, name, one)
            _write(run, one, changes)
            counts.append(_counted(one, changes))
        run.counts = {"questions": counts}
        run.save(update_fields=["counts"])
        cases.decided(project)
    if sum(len(one.units) for one in found) >= MANY_ROWS:
        refresh_statistics(Decision)
    return run


@dataclass(eq=False)
class Changes:
    """Places of units whose decision is new, and the previous outcomes of units that the rule leaves open now."""

    new: np.ndarray
    numbers: np.ndarray  # of the row to come, for each of `new`
    withdrawn: list[tuple[int, int]]  # (unit, number of the row to come)
    replaced: list[int]  # rows that are no longer the newest
    unchanged: int


def _changes(project: Project, name: str, decided: DecidedQuestion) -> Changes:
    rows = Decision.objects.filter(
        project=project, dimension=decided.dimension, method=METHOD, rule=name, is_latest=True
    ).values_list("pk", "unit_id", "number", "is_withdrawn", "outcome", "label", "posterior")
    is_open = decided.outcome.code == NONE
    wanted, numbers = ~is_open, np.ones(len(decided.units), dtype=np.int64)
    withdrawn, replaced, unchanged = [], [], 0
    for pk, unit, number, was_withdrawn, *stored in rows.iterator(chunk_size=AT_ONCE):
        place = int(np.searchsorted(decided.units, unit))
        here = place < len(decided.units) and decided.units[place] == unit and not is_open[place]
        if here and not was_withdrawn and tuple(stored) == decided.stored(place):
            wanted[place] = False
            unchanged += 1
            continue
        if here:
            numbers[place] = number + 1
        elif not was_withdrawn:
            withdrawn.append((unit, number + 1))
        if here or not was_withdrawn:
            replaced.append(pk)
    new = np.flatnonzero(wanted)
    return Changes(new, numbers[new], withdrawn, replaced, unchanged)


def _write(run: RuleRun, decided: DecidedQuestion, changes: Changes) -> None:
    for start in range(0, len(changes.replaced), 500):
        Decision.objects.filter(pk__in=changes.replaced[start : start + 500]).update(is_latest=False)
    fields = ["project_id", "dimension", "method", "rule", "rule_run_id", "decided_at", "unit_id", "number"]
    fields += ["is_withdrawn", "outcome", "label", "posterior"]
    same = (run.project_id, decided.dimension, METHOD.value, run.name, run.pk, run.created_at)
    for start in range(0, len(changes.new), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        places, numbers = changes.new[part].tolist(), changes.numbers[part].tolist()
        units = decided.units[changes.new[part]].tolist()
        rows = zip(places, units, numbers, strict=True)
        bulk_insert(
            Decision,
            [(*same, unit, number, False, *decided.stored(place)) for place, unit, number in rows],
            fields,
        )
    taken_back = [(*same, unit, number, True, "label", "", None) for unit, number in changes.withdrawn]
    bulk_insert(Decision, taken_back, fields)


def _counted(decided: DecidedQuestion, changes: Changes) -> dict:
    """What pages and the command say of it: plain data."""
    outcome = decided.outcome
    labels = np.bincount(outcome.code[outcome.code >= 0], minlength=len(outcome.values)).tolist()
    return {
        "question": decided.dimension,
        "units": len(decided.units),
        "decided": sum(labels),
        "dropped": int((outcome.code == DROPPED).sum()),
        "undecided": int((outcome.code == NONE).sum()),
        "labels": {value: n for value, n in zip(outcome.values, labels, strict=True) if n},
        "open": {why: n for why, n in sorted(outcome.why.items()) if n},
        "new": len(changes.new),
        "withdrawn": len(changes.withdrawn),
        "unchanged": changes.unchanged,
        "agreement": outcome.agreement,
        "examples": decided.examples,
    }


class RuleHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        arguments = [job.parameters[name] for name in ("name", "kind", "parameters")]
        try:
            with transaction.atomic():
                if job.parameters["preview"]:
                    job.result = preview(job.project, *arguments)
                else:
                    run = run_rule(job.project, job.created_by, *arguments)
                    job.result = {"version": run.version, **run.counts, "left_open": run.left_open}
                lease.complete()
                Job.objects.filter(pk=job.pk).update(result=job.result)
        except RuleError as error:
            raise JobError(str(error)) from None

    def finish(self, job: Job, lease: Lease) -> dict:
        return Job.objects.values_list("result", flat=True).get(pk=job.pk)

    def clean_up(self, job: Job) -> None:
        """A run that ended early wrote nothing."""


HANDLER = RuleHandler()
