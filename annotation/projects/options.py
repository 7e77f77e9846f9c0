"""What a project changes about its task: each change is a version of its own, and a revision names the one it was
asked under (`options_version` in its metadata, which goes into the export; 0 and absent: the task type as it is)."""

from django.db import transaction
from django.db.models import F, Max

from annotation import editing
from annotation.models import Assignment, Project, ProjectOptions, SettingsChange, User
from annotation.projects import cases, reach
from annotation.task_types import TaskType, configured, options_of, task_type

OPTIONS_VERSION = "options_version"  # in a revision's metadata and in the payload of a page


def set_options(project: Project, user: User, options: dict) -> Project:
    """Ask this way from the next page on; the same options again stay the version that they are.

    Raises OptionsError, with places, where they do not fit the task type. Labels that are stored stay as they are.
    """
    kept = options_of(task_type(project.task_type), options)
    with transaction.atomic():
        # The project's row is the lock that keeps two researchers from numbering their versions alike.
        stored = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if stored.options != kept:
            newest = stored.options_versions.aggregate(newest=Max("version"))["newest"] or 0
            ProjectOptions.objects.create(project=stored, version=newest + 1, options=kept, created_by=user)
            # A hidden dimension leaves the figures, so reports are computed anew.
            Project.objects.filter(pk=project.pk).update(
                options=kept, options_version=newest + 1, label_version=F("label_version") + 1
            )
            versions = ({"version": number} for number in (stored.options_version, newest + 1))
            editing.record(user, stored, SettingsChange.What.QUESTIONS, *versions)
            stored.refresh_from_db()
            cases.recount(stored)  # answers to a hidden dimension wait for nobody
            reach.check_project(stored.pk)  # what is decided may lack a question now
    project.refresh_from_db(fields=["options", "options_version", "label_version"])
    return project


def asked_under(project: Project, assignment: Assignment, version: int | None) -> tuple[int, TaskType]:
    """The version of the options that an answer is checked against, and the task type as it asks.

    That is the one that the page named, so that no answer is refused because the project changed while they
    worked. One that was out of force already when the item was handed out cannot have been on the page: then the
    present one counts, as it does where nothing is named.
    """
    current = project.options_version, project.type
    if version is None or version >= project.options_version:
        return current
    versions = {row.version: row for row in project.options_versions.filter(version__in=[version, version + 1])}
    after = versions.get(version + 1)
    if after is None or (assignment.leased_at is not None and after.created_at < assignment.leased_at):
        return current
    options = versions[version].options if version else {}
    return version, configured(task_type(project.task_type), options)


def changed_since(project: Project, assignment: Assignment) -> bool:
    """Whether the options have changed since the item was handed out."""
    if not project.options_version or assignment.leased_at is None:
        return False
    return project.options_versions.filter(created_at__gte=assignment.leased_at).exists()


def named_version(metadata: dict) -> int:
    """The version that a revision's metadata names; metadata of imported lines may hold anything under that name."""
    version = metadata.get(OPTIONS_VERSION)
    return version if type(version) is int and version > 0 else 0
