"""Takes back a project that is still being prepared, in short transactions. One that was open is never removed."""

from __future__ import annotations

import time

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import (
    Annotation,
    Assignment,
    Case,
    CheckerRun,
    Consent,
    ConsentForm,
    ConsentWithdrawal,
    Decision,
    Disagreement,
    GeneratedText,
    GenerationRun,
    Guideline,
    GuidelineAcknowledgement,
    HeldOutPart,
    Item,
    ItemUnit,
    Judgement,
    LabelAccess,
    Membership,
    Participation,
    Project,
    ProjectOptions,
    PromptVersion,
    QueryRanking,
    Questionnaire,
    QuestionnaireAnswer,
    RankedPassage,
    Rater,
    RetrievalRun,
    Revision,
    RuleRun,
    RunFailure,
    Score,
    SettingsChange,
    Shown,
    Span,
    StudyLink,
    Suggestion,
)

AT_ONCE = 2000
PAUSE_SECONDS = 0.02

# Children first, each with the way to its project.
TABLES = (
    (Span, "judgement__revision__annotation__item__project"),
    (Judgement, "revision__annotation__item__project"),
    (Revision, "annotation__item__project"),
    (Annotation, "item__project"),
    (Suggestion, "run__project"),
    (Score, "run__project"),
    (RunFailure, "run__project"),
    (RankedPassage, "ranking__run__project"),
    (QueryRanking, "run__project"),
    (CheckerRun, "project"),
    (PromptVersion, "project"),
    (HeldOutPart, "project"),
    (RetrievalRun, "project"),
    (GeneratedText, "run__project"),
    (GenerationRun, "project"),
    (Decision, "project"),
    (RuleRun, "project"),
    (Shown, "project"),
    (Disagreement, "project"),
    (Case, "project"),
    (Assignment, "project"),
    (ItemUnit, "item__project"),
    (Item, "project"),
    (ConsentWithdrawal, "rater__project"),
    (Consent, "rater__project"),
    (ConsentForm, "project"),
    (QuestionnaireAnswer, "rater__project"),
    (Questionnaire, "project"),
    (GuidelineAcknowledgement, "rater__project"),
    (Rater, "project"),
    (Participation, "project"),
    (StudyLink, "project"),
    (LabelAccess, "project"),
    (Guideline, "project"),
    (ProjectOptions, "project"),
    (SettingsChange, "project"),
    (Membership, "project"),
)


def remove_project(project: Project) -> None:
    """Delete the project and all in it. ValueError for one that people may already have worked in."""
    if project.state != Project.State.PREPARING:
        raise ValueError(f"{project} is {project.state}; only a project in preparation can be removed")
    for model, path in TABLES:
        while _delete_some(model.objects.filter(**{path: project})):
            time.sleep(PAUSE_SECONDS)
    project.delete()


def _delete_some(rows: QuerySet) -> int:
    with transaction.atomic():
        ids = list(rows.values_list("pk", flat=True)[:AT_ONCE])
        # What points at these rows was deleted before them, so there is nothing to cascade to.
        return QuerySet(rows.model).filter(pk__in=ids)._raw_delete(rows.db) if ids else 0
