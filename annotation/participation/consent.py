"""Consent: its versions, who gave it, and withdrawing it."""

from __future__ import annotations

from django.db.models import F

from annotation import editing
from annotation.access import ANNOTATOR
from annotation.models import (
    Annotation,
    Assignment,
    Consent,
    ConsentForm,
    ConsentWithdrawal,
    Participation,
    Project,
    Rater,
    SettingsChange,
    User,
)
from annotation.participation import leaving, steps
from annotation.participation.queries import newest_consent_form
from annotation.projects import cases, managing, reach
from annotation.projects.item_making import reopen
from annotation.projects.raters import rater_of

KEEP, REMOVE = ConsentForm.OnWithdrawal.KEEP, ConsentForm.OnWithdrawal.REMOVE
AT_ONCE = 500


def publish(project: Project, by: User, markdown: str, on_withdrawal: str) -> ConsentForm:
    """Put the text in force as a new version, to which everybody is asked to consent before their next item; the same
    text and promise again stay the version they are. An empty text asks for nothing."""
    markdown = markdown.replace("\r\n", "\n")
    with editing.locked(project):
        newest = project.consent_forms.order_by("-version").first()
        if newest is not None and (newest.markdown, newest.on_withdrawal) == (markdown, on_withdrawal):
            return newest
        number = newest.version + 1 if newest is not None else 1
        made = ConsentForm.objects.create(
            project=project, version=number, markdown=markdown, on_withdrawal=on_withdrawal, created_by=by
        )
        before = {"version": newest.version} if newest is not None else {}
        editing.record(by, project, SettingsChange.What.CONSENT, before, {"version": number})
        steps.set_step(project, steps.CONSENT, bool(markdown.strip()))
    return made


def give(project: Project, user: User, version: int) -> bool:
    """Store that the person consents to the version that they were shown. False where another one is asked for."""
    form = newest_consent_form(project)
    if form is None or form.version != version:
        return False
    Consent.objects.get_or_create(form=form, rater=rater_of(project, user))
    return True


def promise_to(rater: Rater) -> str:
    """What becomes of the person's answers if they withdraw: as the version said that they consented to last."""
    last = Consent.objects.filter(rater=rater).order_by("-form__version").select_related("form").first()
    return last.form.on_withdrawal if last is not None else KEEP


def withdraw(project: Project, user: User, by: User) -> ConsentWithdrawal:
    """The person takes no more part: their place and what they hold go back to others at once, and their answers are
    kept or left out, as was promised. Repeating it changes nothing."""
    with editing.locked(project):  # before places, as where roles are changed
        rater = Rater.objects.select_for_update(no_key=True).get(pk=rater_of(project, user).pk)
        made, is_new = ConsentWithdrawal.objects.get_or_create(
            rater=rater, defaults={"on_withdrawal": promise_to(rater), "by": by}
        )
        if not is_new:
            return made
        words = str(ConsentForm.OnWithdrawal(made.on_withdrawal).label)
        what = SettingsChange.What.CONSENT
        editing.record(by, project, what, {"consent": "given"}, {"consent": "withdrawn", "answers": words}, str(user))
        participation = Participation.objects.filter(project=project, user=user).first()
        if participation is not None:
            leaving.end(participation, Participation.State.WITHDRAWN)
        managing.remove_member(project, user, ANNOTATOR)
        if made.on_withdrawal == REMOVE:
            exclude(rater)
    return made


def exclude(rater: Rater) -> None:
    """Leave the rater's answers out of figures and files, and give their places to others. The answers stay stored."""
    project = rater.project
    cases.lock(project.pk)  # before places, as answers do
    # The version says to reports that their figures are stale.
    Rater.objects.filter(pk=rater.pk).update(is_excluded=True, label_version=F("label_version") + 1)
    answered = Assignment.objects.filter(rater=rater, state=Assignment.State.DONE, leased_at__isnull=False)
    given_at = sorted(moment.timestamp() for moment in answered.values_list("leased_at", flat=True))
    ConsentWithdrawal.objects.filter(rater=rater).update(given_at=given_at)
    items = sorted(Annotation.objects.filter(rater=rater).values_list("item_id", flat=True))
    for start in range(0, len(items), AT_ONCE):
        part = items[start : start + AT_ONCE]
        Annotation.objects.filter(rater=rater, item__in=part).update(is_surplus=True, assignment=None)
        reopen(Assignment.objects.filter(rater=rater, item__in=part, state=Assignment.State.DONE))
        cases.count(project, project.type, part)
        reach.check(part)
