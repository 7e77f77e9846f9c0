"""Taking answers over from an earlier run of the same checker, where the same was asked about the same texts."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import asdict

from django.db import connection, models
from django.db.models import F

from annotation.machines.runs.checker_inputs import Reader
from annotation.machines.runs.retrieved import RETRIEVED
from annotation.machines.runs.workers import CALIBRATION, OTHER_WORKERS, REUSED_FROM
from annotation.models import CheckerRun, Job, RunFailure, RunSample, Score, Suggestion
from models_runtime.contracts import CheckerInput, LabelSpace

# Says where and with what a run was computed, not what it would answer.
# What an approximate index finds is measured where it is built.
CIRCUMSTANCES = ("device", "libraries", "recall_at_10", OTHER_WORKERS, REUSED_FROM, CALIBRATION, RETRIEVED)
MOST_SOURCES = 10
FINISHED = (Job.State.DONE, Job.State.FAILED, Job.State.CANCELLED)


class SourceGone(Exception):
    """The earlier run was removed in between."""


def input_hashes(inputs: Mapping[int, CheckerInput], spaces: tuple[LabelSpace, ...], reader: Reader) -> dict[int, str]:
    """By unit, a hash of its texts and of all that is asked about them."""
    asked = json.dumps([[asdict(space) for space in spaces], reader.looks_in], sort_keys=True)
    return {unit_id: _hash_of([asked, item.fields]) for unit_id, item in inputs.items()}


def _hash_of(value: object) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).hexdigest()


def identity_of(provenance: Mapping) -> dict:
    """What of a checker's own description decides its answers: model, revision, parameters, prompt and the like."""
    # As the database gives it back, where tuples have become lists.
    return json.loads(json.dumps({name: provenance[name] for name in provenance if name not in CIRCUMSTANCES}))


def find_answers(run: CheckerRun, provenance: Mapping, hashes: Mapping[int, str]) -> dict[CheckerRun, list[int]]:
    """Units whose answers can be taken over, by the run that has them; the newest one where several do.

    Units belong to the data set, so runs of its other projects count too: what they asked is in the hash.
    """
    runs = (
        CheckerRun.objects.filter(
            project__dataset_id=run.project.dataset_id,
            checker=run.checker,
            version=run.version,
            parameters_hash=run.parameters_hash,
            job__state__in=FINISHED,
            origin={},  # what a release brought was not computed here
        )
        .exclude(pk=run.pk)
        .order_by("-pk")[:MOST_SOURCES]
    )
    wanted = identity_of(provenance)
    sources = {found.pk: found for found in runs if identity_of(found.provenance) == wanted}
    answers = Suggestion.objects.filter(run_id__in=list(sources), unit_id__in=list(hashes)).exclude(input_hash="")
    newest: dict[int, int] = {}
    for unit_id, run_id, input_hash in answers.values_list("unit_id", "run_id", "input_hash").distinct():
        if input_hash == hashes[unit_id]:
            newest[unit_id] = max(run_id, newest.get(unit_id, 0))
    found = defaultdict(list)
    for unit_id, run_id in sorted(newest.items()):
        found[sources[run_id]].append(unit_id)
    return dict(found)


def take_over(run: CheckerRun, source: CheckerRun, unit_ids: Collection[int], sampled: Collection[int]) -> None:
    """Copy the source's answers to the units. Belongs into the transaction that closes the chunk."""
    RunFailure.objects.filter(run=run, unit_id__in=unit_ids).delete()
    RunSample.objects.filter(run=run, unit_id__in=unit_ids).delete()
    _copy(Suggestion, run, source, unit_ids)
    arrived = Suggestion.objects.filter(run=run, unit_id__in=unit_ids).values("unit_id").distinct().count()
    if arrived != len(unit_ids):
        raise SourceGone(f"Run {source.uuid} no longer has all answers that were to be taken over from it")
    _copy(Score, run, source, unit_ids)
    sampled_here = [unit_id for unit_id in unit_ids if unit_id in sampled]
    kept = set(RunSample.objects.filter(run=source, unit_id__in=sampled_here).values_list("unit_id", flat=True))
    _copy(RunSample, run, source, kept)
    RunSample.objects.bulk_create(
        RunSample(run=run, unit_id=unit_id) for unit_id in sampled_here if unit_id not in kept
    )
    CheckerRun.objects.filter(pk=run.pk).update(n_reused=F("n_reused") + len(unit_ids))


def _copy(model: type[models.Model], run: CheckerRun, source: CheckerRun, unit_ids: Collection[int]) -> None:
    if not unit_ids:
        return
    quote = connection.ops.quote_name
    fields = model._meta.concrete_fields
    columns = ", ".join(quote(field.column) for field in fields if not field.primary_key and field.name != "run")
    places = ", ".join(["%s"] * len(unit_ids))
    table = quote(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (run_id, {columns}) SELECT %s, {columns} FROM {table} "
            f"WHERE run_id = %s AND unit_id IN ({places}) ORDER BY {quote(model._meta.pk.column)}",
            [run.pk, source.pk, *unit_ids],
        )
