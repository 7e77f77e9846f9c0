"""Versions of a project's prompts: adding one, what differs between two, running one on a part."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import transaction

from annotation import editing
from annotation.access import has_open_work
from annotation.machines.prompts import splitting
from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import label_spaces, why_not
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries import costs
from annotation.machines.runs.queries.costs import RunEstimate
from annotation.machines.runs.starting import RunError
from annotation.machines.runs.workers import CALIBRATION
from annotation.models import CheckerRun, Project, PromptVersion, SettingsChange, User
from models_runtime import registry

CHECKER = "llm"
ALL = "all"
NOTE_LENGTH = 300
STILL_LABELS = (
    "You still have items to label in this project. Trials of prompts and their cost show how much others labelled, so "
    "they are closed to you until you finish them"
)
MOST_LINES = 1_000  # of a prompt; longer ones are shown one after the other


def why_none(project: Project) -> str:
    """Why no prompts can be tuned here; empty where some can."""
    if reason := why_not(project.type):
        return reason
    return "" if CHECKER in suggesting.checkers_of(project.type) else "No language model judges this task"


def roles_of(project: Project) -> list[str]:
    return [ALL, *dict.fromkeys(space.role for space in label_spaces(project.type))]


def add_version(project: Project, user: User, text: str, role: str = ALL, note: str = "") -> PromptVersion:
    """The next version; the newest one where it says the same. ParameterError where the text is no prompt."""
    registry.complete_parameters(registry.get_info(CHECKER), {"prompt": text, "prompt_for": role})
    text = text.replace("\r\n", "\n").strip()
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        newest = PromptVersion.objects.filter(project=project).order_by("-number").first()
        if newest and (newest.text, newest.role) == (text, role):
            return newest
        number = newest.number + 1 if newest else 1
        if newest:
            editing.record(user, project, SettingsChange.What.PROMPT, {"version": newest.number}, {"version": number})
        return PromptVersion.objects.create(
            project=project, number=number, role=role, text=text, note=note.strip(), created_by=user
        )


def difference(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Lines of both texts with what they are: `-` of the first one only, `+` of the second only, or a space."""
    old, new = before.splitlines(), after.splitlines()
    # Not `ndiff`, which compares each line with every other, character by character.
    is_long = max(len(old), len(new)) > MOST_LINES
    matcher = difflib.SequenceMatcher(None, [] if is_long else old, [] if is_long else new)
    codes = [("replace", 0, len(old), 0, len(new))] if is_long else matcher.get_opcodes()
    for kind, start, end, start_after, end_after in codes:
        if kind == "equal":
            yield from ((" ", line) for line in old[start:end])
        else:
            yield from (("-", line) for line in old[start:end])
            yield from (("+", line) for line in new[start_after:end_after])


def start(
    version: PromptVersion,
    user: User,
    part: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    limits: CostLimits | None = None,
    again: bool = False,
    wake_workers: bool = True,
) -> CheckerRun:
    """A run of this version on what people labelled of a part. RunError, ParameterError and SameRun as any run, and
    RunError where the user still labels in the project."""
    if has_open_work(user, version.project):
        raise RunError(STILL_LABELS)
    return suggesting.start_run(
        version.project,
        user,
        CHECKER,
        _parameters(version, parameters),
        limits=limits,
        again=again,
        wake_workers=wake_workers,
        only=_units(version, part),
        noted={CALIBRATION: {"version": version.number, "part": part}},
    )


def estimate_of(version: PromptVersion, part: str, parameters: Mapping[str, Any] | None = None) -> RunEstimate | None:
    """What that run would cost. RunError and ParameterError as there."""
    only = _units(version, part)
    return costs.estimate_of(version.project, CHECKER, _parameters(version, parameters), only=only)


def _parameters(version: PromptVersion, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(parameters or {}) | {"prompt": version.text, "prompt_for": version.role}


def _units(version: PromptVersion, part: str) -> set[int]:
    units = splitting.units_of(version.project, part)
    if not units:
        raise RunError(f"People have labelled nothing of the {splitting.TITLES[part]} yet")
    return units


def runs_of(project: Project) -> dict[int, list[CheckerRun]]:
    """Runs of the project's prompts by the number of their version, oldest first."""
    found: dict[int, list[CheckerRun]] = {}
    runs = CheckerRun.objects.filter(project=project, job__parameters__has_key=CALIBRATION)
    for run in runs.select_related("job").order_by("pk"):
        found.setdefault(run.job.parameters[CALIBRATION]["version"], []).append(run)
    return found
