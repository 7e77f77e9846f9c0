"""Asking for a rule: whether it can be run so, and the job that runs it. Pages load this, and no statistics."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.rules.kinds import KINDS, RuleError, checked
from annotation.jobs.lifecycle import create_job
from annotation.models import Job, Project, RuleRun


def start_rule(project: Project, user, name: str, kind: str, values: Mapping, *, is_preview: bool) -> Job:
    """A job that shows what the rule would decide, or decides. RuleError where it cannot."""
    parameters = validated_parameters(project, name, kind, values)
    asked = {"name": name, "kind": kind, "parameters": parameters, "preview": is_preview}
    return create_job(Job.Kind.RULE, user, chunks=[({}, 0)], project=project, parameters=asked)


def validated_parameters(project: Project, name: str, kind: str, values: Mapping) -> dict:
    parameters = checked(kind, name, values, project.type)
    refuse_another(project, name, kind, parameters)
    return parameters


def refuse_another(project: Project, name: str, kind: str, parameters: Mapping) -> None:
    """A name stands for one rule: what differs needs another one."""
    known = RuleRun.objects.filter(project=project, name=name).order_by("-version").first()
    # The parameters of a rule that came with a file may not be known here; the user who runs it enters them.
    if known is not None and known.kind in KINDS and (known.kind, known.parameters) != (kind, dict(parameters)):
        raise RuleError(
            f"Name: there is a rule {name!r} with other parameters already; run that one again, or choose another name",
            "name",
        )
