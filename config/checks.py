"""System checks: what only shows when the parts meet is told at start."""

from django.conf import settings
from django.core.checks import Error, Warning, register

from annotation import task_types
from config.corpora import VARIABLE, problem_of
from config.task_type_checks import problems_among, problems_of


@register()
def task_types_fit_the_house(app_configs, **kwargs):
    """A misspelt name in a description is an error here, not at its first use."""
    problems = list(problems_among(task_types.TASK_TYPES))
    problems += [problem for description in task_types.TASK_TYPES for problem in problems_of(description)]
    return [Error(problem, id="assay.E001") for problem in problems]


@register()
def corpora_can_be_read(app_configs, **kwargs):
    """A warning, since only the machines of the workers need the files."""
    found = {name: problem_of(path) for name, path in settings.CORPORA.items()}
    return [
        Warning(
            f"{VARIABLE}: the corpus {name} is not on this machine: {problem}",
            hint="Workers that search it need the file under this path (docs/settings.md).",
            id="assay.W002",
        )
        for name, problem in found.items()
        if problem
    ]


@register(deploy=True)
def production_is_no_demo(app_configs, **kwargs):
    if settings.DEMO:
        return [Error("ASSAY_DEMO has accounts that anybody can use; it is not for production", id="assay.E010")]
    return []
