"""System checks: what only shows when the parts meet is told at start."""

from django.conf import settings
from django.core.checks import Error, register
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from annotation.task_types import TASK_TYPES
from models_runtime.registry import list_infos


@register()
def task_types_fit_the_house(app_configs, **kwargs):
    """Task types name checkers and templates by slug; a misspelt one is an error here, not at its first use."""
    problems = []
    identifiers = [task_type.identifier for task_type in TASK_TYPES]
    for identifier in sorted({name for name in identifiers if identifiers.count(name) > 1}):
        problems.append(Error(f"Two task types are called {identifier}", id="assay.E001"))
    checkers = {info.slug for info in list_infos()}
    for task_type in TASK_TYPES:
        for slug in task_type.checkers:
            if slug not in checkers:
                problems.append(Error(f"{task_type.identifier} names the unknown checker {slug!r}", id="assay.E002"))
        try:
            get_template(task_type.template)
        except TemplateDoesNotExist:
            problems.append(Error(f"{task_type.identifier} needs {task_type.template}", id="assay.E003"))
        for dimension in task_type.dimensions:
            condition = dimension.asked_when
            if condition is None:
                continue
            known = {other.slug: other.values for other in task_type.dimensions}
            if not set(condition.labels) <= set(known.get(condition.dimension, ())):
                problems.append(
                    Error(f"{task_type.identifier}: {dimension.slug} is asked on unknown labels", id="assay.E004")
                )
    return problems


@register(deploy=True)
def production_is_no_demo(app_configs, **kwargs):
    if settings.DEMO:
        return [Error("ASSAY_DEMO has accounts that anybody can use; it is not for production", id="assay.E010")]
    return []
