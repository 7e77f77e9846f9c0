"""System checks: mistakes that no part can detect alone are reported at start."""

from django.conf import settings
from django.core.checks import Error, Warning, register

from annotation.formats import FORMATS
from annotation.task_types import every_task_type
from config.corpora import VARIABLE, problem_of
from config.task_type_checks import problems_among, problems_of
from plugins import TABLES


@register()
def check_task_types(app_configs, **kwargs):
    """A misspelt name in a description is an error here, not at its first use."""
    descriptions = every_task_type()
    problems = [*problems_among(descriptions), *(problem for one in descriptions for problem in problems_of(one))]
    return [Error(problem, id="assay.E001") for problem in problems]


@register()
def check_formats(app_configs, **kwargs):
    known = {"", *(description.identifier for description in every_task_type())}
    return [
        Error(f"the format {info.slug} fits the task type {info.task_type!r}, which there is not", id="assay.E002")
        for info in FORMATS.values()
        if info.task_type not in known
    ]


@register()
def check_plugins(app_configs, **kwargs):
    """What installed packages add and Assay leaves out. Web server and workers go on without it; here it is an error,
    so that a deployment stops before it lacks something."""
    return [
        Error(problem, hint="Mend or uninstall the package.", id="assay.E003")
        for table in TABLES.values()
        for problem in table.problems
    ]


@register()
def corpora_can_be_read(app_configs, **kwargs):
    """A warning, since only the machines of the workers need the files."""
    problems = {name: problem_of(path) for name, path in settings.CORPORA.items()}
    return [
        Warning(
            f"{VARIABLE}: the corpus {name} is not on this machine: {problem}",
            hint="Workers that search it need the file under this path (docs/settings.md).",
            id="assay.W002",
        )
        for name, problem in problems.items()
        if problem
    ]


@register(deploy=True)
def production_is_closed(app_configs, **kwargs):
    """What would make production unsafe without anybody noticing is an error, which stops `check --deploy`."""
    problems = []
    if settings.DEBUG:
        problems.append(
            Error("ASSAY_DEBUG shows settings and code to everybody; it is not for production", id="assay.E011")
        )
    if settings.HTTPS and settings.TRUSTED_PROXIES < 0:
        problems.append(
            Error(
                "ASSAY_TRUSTED_PROXIES must say how many proxies are in front of the web server",
                hint="1 for one proxy that ends TLS: without it, all users share the proxy's address, and "
                "failed sign-ins of one person count against all. 0 where browsers reach the web server itself, so "
                "that no header passes for a proxy's.",
                id="assay.E012",
            )
        )
    if settings.WEB_PROCESSES > 1 and not settings.CACHE_URL:
        problems.append(
            Error(
                f"ASSAY_CACHE_URL must name a Redis database: WEB_CONCURRENCY asks for {settings.WEB_PROCESSES} "
                "web processes",
                hint="Without one each of them counts attempts to sign in for itself.",
                id="assay.E013",
            )
        )
    return problems


@register(deploy=True)
def production_is_no_demo(app_configs, **kwargs):
    if settings.DEMO:
        return [Error("ASSAY_DEMO has accounts that anybody can use; it is not for production", id="assay.E010")]
    return []
