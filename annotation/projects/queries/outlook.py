"""What an annotator has before them in a project: work, nothing more, or nothing for now, and why.

Home, the project's page, the labelling page and the API all ask here, and say it in these words.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from annotation.access import Removed, Withdrawn
from annotation.models import (
    Annotation,
    Assignment,
    ConsentWithdrawal,
    Item,
    ItemExclusion,
    Membership,
    Participation,
    Project,
    Rater,
    User,
)
from annotation.projects.limits import quotas

LOOK_AGAIN = 60
REVIEW = _("Review your answers")
HELD = "held-work"  # what the person holds, whatever else is left


@dataclass(frozen=True)
class Outlook:
    name: str
    title: str
    text: str = ""
    retry_seconds: int = 0  # when a page that waits looks again by itself; 0: nothing will come by itself
    ends: bool = False  # nobody gets anything now, whatever is left
    is_over: bool = False  # nothing will come here: home folds the project
    # The link to the labelling page for a person who has answered nothing, or something; empty: no link.
    links: tuple[str, str] = ("", REVIEW)

    def __str__(self) -> str:
        return f"{self.title}. {self.text}".strip()

    def link(self, done: int) -> str:
        return self.links[bool(done)]


OUTLOOKS = {
    one.name: one
    for one in (
        Outlook("work", _("There is work for you"), links=(_("Start labelling"), _("Continue labelling"))),
        Outlook(
            "waiting",
            _("Nothing for you right now"),
            _(
                "The remaining items are assigned to other people. They come to you when another annotator skips one "
                "or an assignment expires."
            ),
            LOOK_AGAIN,
            links=(_("Open the labelling page"), _("Open the labelling page")),
        ),
        Outlook(
            "done",
            _("Your part is done"),
            _("You have judged or skipped every item available to you; the rest need other annotators. Thank you."),
            is_over=True,
        ),
        Outlook(
            "share",
            _("You have done your share"),
            _("You have answered as many items as one person gets here; others do the rest. Thank you."),
            is_over=True,
        ),
        Outlook(
            "group-share",
            _("Your group has done its share"),
            _("It has given as many answers as it was asked for; others do the rest. Thank you."),
            is_over=True,
        ),
        Outlook(
            quotas.GROUP_OVER,
            _("The last day of your group is over"),
            _("No more items are assigned to you. Every answer is kept, including those still being sent. Thank you."),
            is_over=True,
        ),
        Outlook(
            "skipped",
            _("Only items that you skipped are left"),
            _(
                "No other annotator is left for them. If you can answer one after all, take the skip back under "
                "My work."
            ),
            links=(REVIEW, REVIEW),
        ),
        Outlook("finished", _("All done"), _("This project needs no more judgements. Thank you."), is_over=True),
        Outlook(
            "full", _("No places left"), _("Other annotators have given all judgements of this project."), is_over=True
        ),
        Outlook("nothing", _("Nothing to label"), _("This project does not ask for judgements yet.")),
        Outlook(
            "preparing",
            _("Creating items"),
            _("Labelling begins when they are ready; this page checks by itself."),
            LOOK_AGAIN,
        ),
        Outlook(
            "paused",
            _("The project is paused"),
            _("No new items are assigned for now. You can still answer your current item; every answer is kept."),
            LOOK_AGAIN,
            ends=True,
        ),
        Outlook(
            "closed",
            _("The project is closed"),
            _("No more items are assigned. Every answer is kept, including those still being sent."),
            ends=True,
            is_over=True,
        ),
        Outlook(
            "ended",
            _("The study has ended for you"),
            _("No more items are assigned to you. Every answer is kept."),
            ends=True,
            is_over=True,
        ),
        Outlook(
            "learning",
            _("Training comes first"),
            _("A few items with known answers come before your first item of work."),
            links=(_("Start the training"), _("Continue the training")),
        ),
        Outlook(
            "failed",
            _("You have not qualified"),
            _(
                "Your answers to the qualification items differ too often from those that are known to be right, and "
                "no try is left. A researcher of the project sees this and may let you try again. Thank you for your "
                "time."
            ),
            ends=True,
            links=("", ""),
        ),
        Outlook(
            "held",
            _("Your work is paused"),
            _(
                "Several of your answers differ from answers that are known to be right. A researcher of the project "
                "decides how to go on; every answer is kept."
            ),
            ends=True,
        ),
        *(
            Outlook(one.outlook, one.title, format_lazy("{}.", one.text), ends=True, links=("", ""))
            for one in (Removed, Withdrawn)
        ),
    )
}
WITH_WORK = ("work", "learning")


def outlooks(user: User, projects: Iterable[Project], besides: UUID | None = None) -> dict[int, Outlook]:
    """By project, for those in which the person is or was an annotator; three queries however many there are, and one
    more where one of them is a study with people.

    `besides`: how it will be once this assignment is answered.
    """
    projects = list(projects)
    annotates = dict(
        Membership.objects.filter(project__in=projects, user=user, role=Membership.Role.ANNOTATOR).values_list(
            "project_id", "is_active"
        )
    )
    opened = [one for one in projects if annotates.get(one.pk) and one.state == Project.State.OPEN]
    names = _of_open(user, opened, besides) if opened else {}
    studies = [one.pk for one in opened if one.study_steps]
    if studies:
        left = Participation.objects.filter(project__in=studies, user=user).exclude(state=Participation.State.ACTIVE)
        names |= dict.fromkeys(left.values_list("project_id", flat=True), "ended")
    names |= names_of_former(user, [pk for pk, is_active in annotates.items() if not is_active])
    return {one.pk: OUTLOOKS[names.get(one.pk) or one.state] for one in projects if one.pk in annotates}


def names_of_former(user: User, projects: Collection[int]) -> dict[int, str]:
    """Of outlooks in projects in which the person no longer annotates: one query, and none for none."""
    withdrawn = ConsentWithdrawal.objects.filter(rater__user=user, rater__project__in=projects)
    has_withdrawn = set(withdrawn.values_list("rater__project", flat=True)) if projects else ()
    return {pk: (Withdrawn if pk in has_withdrawn else Removed).outlook for pk in projects}


def outlook(user: User, project: Project, besides: UUID | None = None) -> Outlook | None:
    return outlooks(user, [project], besides).get(project.pk)


def _of_open(user: User, projects: list[Project], besides: UUID | None) -> dict[int, str]:
    raters = {rater.project_id: rater for rater in Rater.objects.filter(user=user, project__in=projects)}
    own = [rater.pk for rater in raters.values()]
    rows = Assignment.objects.filter(project=OuterRef("pk")).exclude(uuid=besides)
    left = rows.filter(state__in=[Assignment.State.OPEN, Assignment.State.LEASED])
    # A row of an item, whatever became of it, and an answer without a row both bar the person from the item.
    for_them = left.filter(
        ~Exists(Assignment.objects.filter(item=OuterRef("item"), rater__in=own)),
        ~Exists(Annotation.objects.filter(item=OuterRef("item"), rater__in=own)),
    )
    if any(one.reserves_items for one in projects):
        group = Rater.objects.filter(pk__in=own, project=OuterRef("project")).values("group")[:1]
        for_them = for_them.annotate(own_group=Coalesce(Subquery(group), Value(""))).filter(
            Q(reserved_rater=None) | Q(reserved_rater__in=own),
            Q(reserved_group="") | Q(reserved_group=F("own_group")),
            ~Exists(ItemExclusion.objects.filter(item=OuterRef("item"), rater__in=own)),
        )
    # Items that this person skipped are few compared with those that wait.
    skipped = Assignment.objects.filter(
        project=OuterRef("pk"), rater__in=own, state=Assignment.State.SKIPPED, item__state=Item.State.STUCK
    )
    places = Assignment.objects.filter(item=OuterRef("item"), state=Assignment.State.OPEN)
    parked = Assignment.objects.filter(
        Exists(places) | Q(reason=Assignment.Reason.CHECK), project=OuterRef("pk"), rater__in=own, is_parked=True
    ).exclude(uuid=besides)
    took_part = Assignment.objects.filter(project=OuterRef("pk"), rater__in=own)
    name = Case(
        When(Exists(left.filter(rater__in=own)), then=Value(HELD)),
        When(Exists(for_them.filter(state=Assignment.State.OPEN)), then=Value("work")),
        When(Exists(parked), then=Value("work")),
        When(Exists(for_them), then=Value("waiting")),
        When(Exists(skipped), then=Value("skipped")),
        When(Exists(left), then=Value("done")),
        When(Exists(took_part), then=Value("finished")),
        When(Exists(rows.filter(state__in=[Assignment.State.DONE, Assignment.State.SKIPPED])), then=Value("full")),
        default=Value("finished" if besides else "nothing"),
    )
    found = Project.objects.filter(pk__in=[one.pk for one in projects]).annotate(outlook=name)
    known = {one.pk: one for one in projects}
    return {
        pk: _of_learner(_within_quotas(name, known[pk], raters.get(pk)), has_learning, raters.get(pk))
        for pk, name, has_learning in found.values_list("pk", "outlook", "has_learning")
    }


def _within_quotas(name: str, project: Project, rater: Rater | None) -> str:
    """What limits of a person's and a group's items make of it."""
    if name in ("work", "waiting") and rater is not None and quotas.are_set(project):
        return quotas.why_nothing(project, rater) or name
    return "work" if name == HELD else name


def _of_learner(name: str, has_learning: bool, rater: Rater | None) -> str:
    """What training, qualification and checks make of it."""
    if rater is not None and rater.standing in Rater.NO_WORK:
        return "failed" if rater.standing == Rater.Standing.FAILED else "held"
    is_new = has_learning and (rater is None or rater.admitted_at is None)
    return "learning" if is_new and name in ("work", "waiting") else name


def former_projects(user: User) -> list[tuple[Project, Outlook]]:
    """Those that the person took part in and no longer does in any role."""
    present = Membership.objects.filter(user=user, is_active=True).values("project_id")
    former = Membership.objects.filter(user=user, is_active=False).values("project_id")
    projects = list(Project.objects.filter(pk__in=former).exclude(pk__in=present).order_by("title"))
    names = names_of_former(user, [one.pk for one in projects])
    return [(one, OUTLOOKS[names[one.pk]]) for one in projects]
