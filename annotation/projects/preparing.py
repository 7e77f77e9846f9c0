"""A project in preparation: its items are still being made, or an import is storing labels.

Some of its labels are missing then, so nothing reads them. Annotators of an open project go on with their work.
"""

from __future__ import annotations

from annotation.models import Project
from models_runtime.contracts import UnavailableError


class NotReady(UnavailableError):
    """The labels cannot be read yet. A job waits and tries again; pages, the API and commands say why."""


def refuse_preparing(project: Project) -> None:
    """NotReady while the project is in preparation, as the database has it now."""
    now = Project.objects.only("title", "state", "filled_by").filter(pk=project.pk).first()
    if now is not None and now.is_preparing:
        raise NotReady(now.why_not_ready)
