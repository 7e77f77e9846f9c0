"""Two parts of a project that no claim or question is in both of: one to tune prompts on, the other to test them."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from django.db import transaction

from annotation import editing
from annotation.machines.retrieval.publishing import context_key
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.suggesting import run_units
from annotation.machines.runs.workers import CALIBRATION
from annotation.machines.training.queries.labels import GROUPS
from annotation.models import Decision, HeldOutPart, Item, Judgement, Project, SettingsChange, User

TUNE, TEST = PARTS = ("tune", "test")
TITLES = {TUNE: "tuning part", TEST: "held-out part"}


@dataclass(frozen=True)
class PartCount:
    """What people labelled of a part."""

    part: str
    title: str
    groups: int
    units: int


def part_of(held_out: HeldOutPart, group: str) -> str:
    """The part of a claim or question, by its key."""
    drawn = hashlib.sha256(f"{held_out.seed}\n{group}".encode("utf-8", "surrogatepass")).digest()
    return TEST if int.from_bytes(drawn[:8]) < held_out.percent / 100 * 2**64 else TUNE


def hold_out(project: Project, user: User, percent: int) -> HeldOutPart:
    """Set the share of the held-out part. RunError where prompts have been run on the parts that there are."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.checker_runs.filter(job__parameters__has_key=CALIBRATION).exists():
            raise RunError("Prompts have been run on these parts, so the parts cannot be changed")
        values = {"percent": percent, "seed": random.SystemRandom().randrange(2**31), "created_by": user}
        before = HeldOutPart.objects.filter(project=project).values("percent").first() or {}
        editing.record(user, project, SettingsChange.What.HELD_OUT, before, {"percent": percent})
        return HeldOutPart.objects.update_or_create(project=project, defaults=values)[0]


def labelled_units(project: Project) -> dict[int, str]:
    """Units that a person judged or decided, with the key of their claim or question."""
    kind = project.type
    judged = Judgement.objects.filter(
        revision__is_latest=True, revision__annotation__item__project=project, revision__annotation__is_surplus=False
    ).exclude(revision__annotation__item__state=Item.State.APART)
    decided = Decision.objects.in_force().filter(project=project).exclude(label="")
    known = set(judged.values_list("unit_id", flat=True).distinct()) | set(decided.values_list("unit_id", flat=True))
    rows = run_units(project, kind).values_list("pk", *GROUPS[kind.unit_kind])
    return {pk: _group(next(key for key in keys if key is not None)) for pk, *keys in rows if pk in known}


def _group(key: str) -> str:
    """A question with passages of another context is the same question."""
    return key.partition(context_key("", ""))[0]


def units_of(project: Project, part: str) -> set[int]:
    """The labelled units of a part; RunError where the project has no held-out part."""
    held_out = HeldOutPart.objects.filter(project=project).first()
    if held_out is None:
        raise RunError("Hold out a share of the claims or questions first")
    return {pk for pk, group in labelled_units(project).items() if part_of(held_out, group) == part}


def counts_of(project: Project) -> list[PartCount]:
    held_out = HeldOutPart.objects.filter(project=project).first()
    if held_out is None:
        return []
    groups = labelled_units(project)
    found = {pk: part_of(held_out, group) for pk, group in groups.items()}
    return [
        PartCount(
            part,
            TITLES[part],
            len({groups[pk] for pk, mine in found.items() if mine == part}),
            sum(mine == part for mine in found.values()),
        )
        for part in PARTS
    ]
