"""Where a person stands on their way through a project."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Subquery

from annotation.models import Consent, ConsentForm, Project, Rater, User


def newest_consent_form(project: Project) -> ConsentForm | None:
    """The version that people are asked to consent to; None where the project asks for nothing."""
    newest = project.consent_forms.order_by("-version").first()
    return newest if newest is not None and newest.markdown else None


@dataclass(frozen=True)
class StudyStanding:
    """What is known of one person in one project, read by one statement."""

    has_consented: bool = False


def standing(project: Project, user: User) -> StudyStanding:
    newest = ConsentForm.objects.filter(project=project).order_by("-version").values("pk")[:1]
    consents = Consent.objects.filter(rater=OuterRef("pk"), form=Subquery(newest))
    rows = Rater.objects.filter(project=project, user=user).annotate(has_consented=Exists(consents))
    found = rows.values("has_consented").first()
    return StudyStanding(**found) if found else StudyStanding()
