"""The rater that a member's labels are by."""

from annotation.models import Project, Rater, User


def rater_of(project: Project, user: User) -> Rater:
    """The rater that this person's labels are by, made when they first need one."""
    rater, _ = Rater.objects.get_or_create(
        project=project, user=user, defaults={"kind": Rater.Kind.MEMBER, "name": str(user)[:200]}
    )
    return rater
