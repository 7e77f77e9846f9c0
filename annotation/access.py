"""The object for this user, or 404. Every view and API route fetches through here.

Who is no member of a project does not learn that it exists (404); a member without the needed role gets 403.
"""

from typing import TypeVar
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext, gettext_lazy

from annotation import statements
from annotation.models import (
    Assignment,
    CheckerRun,
    ConsentWithdrawal,
    Dataset,
    ExtractionRun,
    GenerationRun,
    Job,
    LabelAccess,
    Membership,
    Project,
    RetrievalRun,
    TrainedModel,
    User,
    Webhook,
    WebhookDelivery,
)

Row = TypeVar("Row", CheckerRun, ExtractionRun, GenerationRun, RetrievalRun, TrainedModel, Webhook)

ANNOTATOR = Membership.Role.ANNOTATOR
ADJUDICATOR = Membership.Role.ADJUDICATOR
RESEARCHER = Membership.Role.RESEARCHER


def not_the_person(request) -> dict | None:
    """What a page gets whose person is no longer signed in, or where another person has signed in by the same browser;
    None where all is well. A page says whose it is: nothing of theirs may be stored as another's."""
    sent, user = request.headers.get("X-Assay-User"), request.user
    if not user.is_authenticated:
        return {"status": "signed-out", "message": gettext("Please sign in.")}
    if sent in (None, str(user.pk)):
        return None
    message = gettext("{person} is signed in with this browser now. Sign out, and sign in again yourself.").format(
        person=user
    )
    return {"status": "signed-out", "message": message, "signed_in": str(user)}


def may_create(user: User) -> bool:
    """Whether this person may make data sets and projects: site administrators and researchers they named."""
    return user.is_active and (user.is_superuser or user.is_staff)


def is_researcher(user: User) -> bool:
    """Whether this person makes projects or is researcher in one."""
    return may_create(user) or Membership.objects.filter(user=user, role=RESEARCHER, is_active=True).exists()


def roles_of(user: User, project: Project) -> set[str]:
    """The person's active roles. Site administrators have a researcher's rights everywhere."""
    roles = set(Membership.objects.filter(project=project, user=user, is_active=True).values_list("role", flat=True))
    if user.is_superuser:
        roles.add(RESEARCHER)
    return roles


def visible_projects(user: User) -> QuerySet[Project]:
    if user.is_superuser:
        return Project.objects.all()
    return Project.objects.filter(pk__in=Membership.objects.filter(user=user, is_active=True).values("project_id"))


def researched_projects(user: User) -> QuerySet[Project]:
    """Those in which the person has a researcher's rights."""
    if user.is_superuser:
        return Project.objects.all()
    own = Membership.objects.filter(user=user, role=RESEARCHER, is_active=True)
    return Project.objects.filter(pk__in=own.values("project_id"))


class InPreparation(PermissionDenied):
    """The project is in preparation, so its labels cannot be read yet."""


class Removed(PermissionDenied):
    """The person had the role and has it no longer. They know that the project exists; they learn why it is closed to
    them. `assignment` is what they asked for, if it was one."""

    outlook = "removed"
    title = gettext_lazy("You no longer label in this project")
    text = gettext_lazy("Your answers are kept. A researcher of the project can add you again")

    def __init__(self, assignment: Assignment | None = None):
        super().__init__(f"{self.title}. {self.text}")
        self.assignment = assignment


class Withdrawn(Removed):
    outlook = "withdrawn"
    title = gettext_lazy("You have withdrawn your consent")
    text = gettext_lazy("No more items are assigned to you. What was promised for this case holds for your answers")


def removed(user: User, project: Project, assignment: Assignment | None = None) -> Removed:
    """What to raise for a person who no longer annotates in the project, by how they left it."""
    has_withdrawn = ConsentWithdrawal.objects.filter(rater__user=user, rater__project=project).exists()
    return (Withdrawn if has_withdrawn else Removed)(assignment)


def project_for(user: User, slug: str, *roles: str) -> Project:
    """The project, if the person has any role in it (404 otherwise, Removed if they had one) and one of `roles` where
    some are named (403)."""
    project = visible_projects(user).filter(slug=slug).select_related("dataset").first()
    if project is None:
        former = Membership.objects.filter(project__slug=slug, user=user, role=ANNOTATOR, is_active=False)
        if left := former.select_related("project").first():
            raise removed(user, left.project)
        raise Http404("No such project")
    if roles and not roles_of(user, project) & set(roles):
        if ANNOTATOR in roles and Membership.objects.filter(project=project, user=user, role=ANNOTATOR).exists():
            raise removed(user, project)
        raise PermissionDenied(f"This needs the role of {' or '.join(roles)}")
    return project


def has_open_work(user: User, project: Project, roles: set[str] | None = None) -> bool:
    """Whether the person still has, or may still be given, work of their own here. `roles` are theirs, if known."""
    if ANNOTATOR not in (roles_of(user, project) if roles is None else roles) or project.state == Project.State.CLOSED:
        return False
    mine = Assignment.objects.filter(project=project, rater__user=user)
    if mine.filter(state=Assignment.State.LEASED).exists():
        return True
    return (
        Assignment.objects.filter(project=project, state=Assignment.State.OPEN)
        .exclude(item__in=mine.values("item_id"))
        .exists()
    )


def sees_labels(user: User, project: Project) -> bool:
    """Researchers and adjudicators see labels, unless they have open work of their own: it would no longer be blind.
    Nobody does while the project is in preparation: some of its labels are missing."""
    if project.is_preparing:
        return False
    roles = roles_of(user, project)
    return bool(roles & {RESEARCHER, ADJUDICATOR}) and not has_open_work(user, project, roles)


def project_with_labels_for(user: User, slug: str) -> Project:
    """The project, for a user who may see its labels now."""
    project = project_for(user, slug, RESEARCHER, ADJUDICATOR)
    if project.is_preparing:
        raise InPreparation(project.why_not_ready)
    if not sees_labels(user, project):
        raise PermissionDenied(
            "You still have items to label in this project; its labels are hidden until you finish them"
        )
    return project


def sees_keys(user: User, project: Project) -> bool:
    """Keys may tell which model wrote an answer. Researchers know; an adjudicator who still labels here must not."""
    return RESEARCHER in roles_of(user, project) or not has_open_work(user, project)


def label_access_of(user: User, project: Project) -> LabelAccess | None:
    """When Assay first served this person others' labels of the project; None where it never did."""
    return LabelAccess.objects.filter(project=project, user=user).first()


def may_still_be_blind(user: User, project: Project) -> bool:
    """Whether the user labels here and has been served nobody's labels yet."""
    return ANNOTATOR in roles_of(user, project) and label_access_of(user, project) is None


def visible_datasets(user: User) -> QuerySet[Dataset]:
    if user.is_superuser:
        return Dataset.objects.all()
    return Dataset.objects.filter(Q(owner=user) | Q(grants__user=user)).distinct()


def labels_content_of(user: User, dataset: Dataset) -> bool:
    """Whether the person still labels in a project on the data set: its gold labels would tell them the answers."""
    own = Membership.objects.filter(user=user, role=ANNOTATOR, is_active=True).values("project_id")
    projects = Project.objects.filter(dataset=dataset, pk__in=own).exclude(state=Project.State.CLOSED)
    mine = Assignment.objects.filter(rater__user=user, project=OuterRef("project_id"))
    leased = Assignment.objects.filter(project=OuterRef("pk"), rater__user=user, state=Assignment.State.LEASED)
    to_take = Assignment.objects.filter(project=OuterRef("pk"), state=Assignment.State.OPEN).exclude(
        Exists(mine.filter(item=OuterRef("item_id")))
    )
    return projects.filter(Exists(leased) | Exists(to_take)).exists()


def may_edit_dataset(user: User, dataset: Dataset) -> bool:
    return editable_datasets(user).filter(pk=dataset.pk).exists()


def editable_datasets(user: User) -> QuerySet[Dataset]:
    if user.is_superuser:
        return Dataset.objects.all()
    return Dataset.objects.filter(Q(owner=user) | Q(grants__user=user, grants__can_edit=True)).distinct()


def dataset_for(user: User, slug: str, *, edit: bool = False) -> Dataset:
    dataset = visible_datasets(user).filter(slug=slug).first()
    if dataset is None:
        raise Http404("No such data set")
    if edit and not may_edit_dataset(user, dataset):
        raise PermissionDenied("You need permission to change the data set")
    return dataset


def visible_jobs(user: User) -> QuerySet[Job]:
    """Those of projects for their researchers and, where they have none, of data sets for those who may edit them; a
    project's adjudicator sees the jobs that they started. Who started a job and has left sees it no more."""
    if user.is_superuser:
        return Job.objects.all()
    roles = Membership.objects.filter(user=user, is_active=True)
    adjudicated = roles.filter(role=ADJUDICATOR).values("project_id")
    return Job.objects.filter(
        Q(project__in=roles.filter(role=RESEARCHER).values("project_id"))
        | Q(project__in=adjudicated, created_by=user)
        | Q(project=None, dataset__in=editable_datasets(user).values("pk"))
    )


def job_for(user: User, uuid) -> Job:
    job = visible_jobs(user).select_related("project", "dataset").filter(uuid=uuid).first()
    if job is None:
        raise Http404("No such job")
    return job


def projects_in(job: Job) -> QuerySet[Project]:
    """The projects whose labels the job's files and result hold: its own, and of a release, or of two that are
    compared, every project that is frozen with it."""
    named = [value for name, value in job.parameters.items() if name in ("release", "before", "after")]
    rows = Q(pk=job.project_id) | Q(shared_releases__job=job) | Q(shared_releases__public_job=job)
    rows |= Q(shared_releases__publications__job=job)
    if named:
        rows |= Q(shared_releases__uuid__in=named)
    return Project.objects.filter(rows).distinct().order_by("pk")


def projects_with_labels_for(user: User, job: Job) -> list[Project]:
    """The job's projects, for a user who may see the labels of each of them now."""
    return [project_with_labels_for(user, project.slug) for project in projects_in(job)]


def run_for(user: User, uuid, model: type[Row] = CheckerRun, *, edit: bool = False) -> Row:
    """A run or a training with its project and job, for the project's researchers; an extraction for those who review
    the project's drafts. With `edit`, for those who may change the data set."""
    rows = model.objects.filter(uuid=uuid).select_related("project__dataset", "job", "created_by")
    run = _of_researcher(user, rows, "run")
    if edit and not may_edit_dataset(user, run.project.dataset):
        raise PermissionDenied("You need permission to change the data set")
    if model is ExtractionRun:
        _check_drafts(user, run.project)
    return run


def webhook_for(user: User, uuid) -> Webhook:
    """The webhook with its project, for the project's researchers."""
    return _of_researcher(user, Webhook.objects.filter(uuid=uuid).select_related("project"), "webhook")


def delivery_for(user: User, uuid) -> WebhookDelivery:
    """The delivery with its webhook, for the project's researchers."""
    delivery = WebhookDelivery.objects.select_related("webhook").filter(uuid=uuid).first()
    if delivery is None:
        raise Http404("No such delivery")
    webhook_for(user, delivery.webhook.uuid)
    return delivery


def _of_researcher(user: User, rows: QuerySet[Row], what: str) -> Row:
    row = rows.first()
    if row is None or not visible_projects(user).filter(pk=row.project_id).exists():
        raise Http404(f"No such {what}")
    if RESEARCHER not in roles_of(user, row.project):
        raise PermissionDenied(f"This needs the role of {RESEARCHER}")
    return row


def drafts_project_for(user: User, slug: str) -> Project:
    """The project, for researchers who may change its data set: what they accept becomes content of it."""
    project = project_for(user, slug, RESEARCHER)
    _check_drafts(user, project)
    return project


def _check_drafts(user: User, project: Project) -> None:
    if not may_edit_dataset(user, project.dataset):
        raise PermissionDenied("Drafts become content, so you need permission to change the data set")


# Written by hand because it opens every request of the labelling page, where building it anew each time costs more than
# running it.
# What a person is asked to acknowledge, and what they last did. A project begins with version 1, which may be empty:
# there is nothing to read then.
NEWEST_GUIDELINE = """
SELECT MAX(g.version) FROM annotation_guideline g
WHERE g.project_id = {project} AND (g.version > 1 OR g.markdown <> '')
"""
ACKNOWLEDGED_GUIDELINE = """
SELECT MAX(k.version) FROM annotation_guidelineacknowledgement k JOIN annotation_rater r ON r.id = k.rater_id
WHERE r.project_id = {project} AND r.user_id = %s
"""
_ASSIGNMENT_OF_ANNOTATOR = f"""
SELECT a.*, ({NEWEST_GUIDELINE.format(project="a.project_id")}) AS guideline_newest,
({ACKNOWLEDGED_GUIDELINE.format(project="a.project_id")}) AS guideline_acknowledged,
m.is_active AS is_annotators
FROM annotation_assignment a JOIN annotation_membership m ON m.project_id = a.project_id
WHERE a.uuid = %s AND m.user_id = %s AND m.role = %s
"""
_PROJECT = "SELECT p.* FROM annotation_project p WHERE p.id = %s"


def assignment_for(user: User, uuid: UUID) -> Assignment:
    """An assignment of a project in which the person annotates, with its project and two versions of its guidelines:
    `guideline_newest`, and `guideline_acknowledged`, the last one that the person did.

    The id is a secret of the person who was served the page, and a lost lease does not take it back: late answers are
    kept. Removed where the person no longer annotates in the project.
    """
    values = [user.pk, Assignment._meta.get_field("uuid").get_db_prep_value(uuid, connection), user.pk, ANNOTATOR.value]
    assignment = statements.first(Assignment, _ASSIGNMENT_OF_ANNOTATOR, values)
    if assignment is None:
        # A lesson whose try has ended on another device, too.
        raise Http404(gettext("This item is not assigned to you any more. Reload the page to go on"))
    assignment.project = statements.first(Project, _PROJECT, [assignment.project_id])
    if not assignment.is_annotators:
        raise removed(user, assignment.project, assignment)
    return assignment
