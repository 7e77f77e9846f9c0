"""Where a person stands on their way through a project."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Subquery

from annotation.models import (
    Annotation,
    Assignment,
    Consent,
    ConsentForm,
    Participation,
    Project,
    Questionnaire,
    QuestionnaireAnswer,
    Rater,
    User,
)


def newest_consent_form(project: Project) -> ConsentForm | None:
    """The version that people are asked to consent to; None where the project asks for nothing."""
    newest = project.consent_forms.order_by("-version").first()
    return newest if newest is not None and newest.markdown else None


@dataclass(frozen=True)
class StudyStanding:
    """What is known of one person in one project. `state` is of their participation; empty: they came by no link.
    `answered` and `held` are items of work and checks, counted where there is a limit (`most_items`)."""

    has_consented: bool = False
    has_screened: bool = False
    has_closed: bool = False
    state: str = ""
    most_items: int | None = None
    answered: int = 0
    held: int = 0

    @property
    def has_ended(self) -> bool:
        return self.state not in ("", Participation.State.ACTIVE)

    @property
    def has_all_items(self) -> bool:
        """Whether the person gets no further item, those apart that they hold."""
        return self.most_items is not None and self.answered + self.held >= self.most_items


def standing(project: Project, user: User) -> StudyStanding:
    """One statement, and one more for a person who may have only so many items."""
    newest = ConsentForm.objects.filter(project=project).order_by("-version").values("pk")[:1]
    consents = Consent.objects.filter(rater=OuterRef("pk"), form=Subquery(newest))
    answers = QuestionnaireAnswer.objects.filter(rater=OuterRef("pk"))
    participation = Participation.objects.filter(project=project, user=user)
    rows = Rater.objects.filter(project=project, user=user).annotate(
        has_consented=Exists(consents),
        has_screened=Exists(answers.filter(moment=Questionnaire.Moment.SCREENING)),
        has_closed=Exists(answers.filter(moment=Questionnaire.Moment.CLOSING)),
        state=Subquery(participation.values("state")[:1]),
        most_items=Subquery(participation.values("link__most_items")[:1]),
    )
    found = rows.values_list("pk", "has_consented", "has_screened", "has_closed", "state", "most_items").first()
    if found is None:
        return StudyStanding()
    rater, *steps, state, most_items = found
    answered = held = 0
    if most_items is not None:
        answers = Annotation.objects.filter(rater=rater)
        answered = answers.exclude(assignment__reason__in=Assignment.LEARNING).count()
        places = Assignment.objects.filter(rater=rater, state=Assignment.State.LEASED)
        held = places.exclude(reason__in=Assignment.LEARNING).count()
    return StudyStanding(*steps, state or "", most_items, answered, held)
