"""Finished checker runs whose answers and scores are made up."""

from __future__ import annotations

import random

from benchmarks.shared.made_up import STANCES


def add_run(project):
    """A finished run that agrees with nobody in particular, for the comparison."""
    from annotation.models import CheckerRun, ItemUnit, Job, Suggestion

    chance = random.Random(2)
    by = project.created_by
    job = Job.objects.create(kind=Job.Kind.CHECKER_RUN, state=Job.State.DONE, project=project, created_by=by, result={})
    run = CheckerRun.objects.create(project=project, job=job, checker="lexical", version="1", created_by=by)
    rows = [
        Suggestion(run=run, unit_id=unit, dimension=dimension, label=chance.choice(labels), probability=chance.random())
        for unit in ItemUnit.objects.filter(item__project=project).values_list("unit_id", flat=True)
        for dimension, labels in (("relevance", ("relevant", "not_relevant")), ("stance", STANCES))
    ]
    Suggestion.objects.bulk_create(rows, batch_size=5000)
    return run


def add_druid_runs(project) -> None:
    """Finished runs with every score that the DRUID report reads, of made-up numbers."""
    from analysis.papers.druid.offered import ANSWER_SCORES, FEATURES, PERPLEXITY
    from annotation.models import CheckerRun, ItemUnit, Job, Score

    chance = random.Random(1)
    units = list(ItemUnit.objects.filter(item__project=project).values_list("unit_id", flat=True))
    runs = {
        "characteristics": [feature.score for feature in FEATURES],
        "answer-probabilities": ANSWER_SCORES,
        "answer-probabilities-server": ANSWER_SCORES,
        "perplexity": [PERPLEXITY],
    }
    for checker, names in runs.items():
        job = Job.objects.create(
            kind=Job.Kind.CHECKER_RUN,
            state=Job.State.DONE,
            project=project,
            created_by=project.created_by,
            result={"scores": dict.fromkeys(names, {})},
        )
        run = CheckerRun.objects.create(
            project=project, job=job, checker=checker, version="1", created_by=project.created_by
        )
        for name in names:
            rows = (Score(run=run, unit_id=unit, name=name, value=chance.random()) for unit in units)
            Score.objects.bulk_create(rows, batch_size=5000)
