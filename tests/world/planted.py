"""Data sets with planted effects: whoever reads the reports can say beforehand what they must find."""

from __future__ import annotations

import itertools

from annotation.models import CheckerRun, Decision, Job, Project, Score, Suggestion, Unit

_number = itertools.count(1)


def decide(project: Project, labels: dict[str, str], dimension: str, method: str = "imported") -> None:
    """Decisions by key of the unit."""
    units = units_of(project, labels)
    Decision.objects.bulk_create(
        Decision(project=project, unit=units[key], dimension=dimension, label=label, method=method)
        for key, label in labels.items()
    )


def suggest(
    project: Project, labels: dict[str, str], dimension: str, probability: dict[str, dict] | None = None, checker="fake"
) -> CheckerRun:
    """A finished run that labels these units, with the probabilities of labels where they are given."""
    run = finished_run(project, checker)
    units = units_of(project, labels)
    Suggestion.objects.bulk_create(
        Suggestion(
            run=run,
            unit=units[key],
            dimension=dimension,
            label=label,
            probability=(probability or {}).get(key, {}).get(label),
            probabilities=(probability or {}).get(key, {}),
        )
        for key, label in labels.items()
    )
    return run


def score(project: Project, checker: str, scores: dict[str, dict[str, float]]) -> CheckerRun:
    """A finished run that gives scores: name -> key of the unit -> value."""
    run = finished_run(project, checker)
    units = units_of(project, next(iter(scores.values())))
    Score.objects.bulk_create(
        Score(run=run, unit=units[key], name=name, value=value)
        for name, values in scores.items()
        for key, value in values.items()
    )
    return run


def finished_run(project: Project, checker: str) -> CheckerRun:
    job = Job.objects.create(
        kind=Job.Kind.CHECKER_RUN, state=Job.State.DONE, project=project, created_by=project.created_by
    )
    return CheckerRun.objects.create(
        project=project,
        job=job,
        checker=checker,
        version=str(next(_number)),
        parameters_hash="",
        created_by=project.created_by,
    )


def units_of(project: Project, keys) -> dict[str, Unit]:
    kind = project.type.unit_kind
    found = Unit.objects.filter(dataset=project.dataset, kind=kind, key__in=list(keys))
    return {unit.key: unit for unit in found}
