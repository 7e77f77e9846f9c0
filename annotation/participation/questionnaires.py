"""Questions about a person, asked before the first item or after the last: label sets on people instead of items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from django.db import transaction

from annotation import editing
from annotation.access import ANNOTATOR
from annotation.models import Participation, Project, Questionnaire, QuestionnaireAnswer, SettingsChange, User
from annotation.participation import leaving, steps
from annotation.projects import managing
from annotation.projects.raters import rater_of
from annotation.task_types import Dimension, TaskType, task_type

WORDS = "free_text"  # where the answer to a label set's free-text question is kept
_COLUMNS = ("person", "label_set", "version", "answered_at", "screened_out")


def newest(project: Project, moment: str) -> Questionnaire | None:
    """The version that is asked; None where nobody is asked."""
    found = project.questionnaires.filter(moment=moment).order_by("-version").first()
    return found if found is not None and found.label_set else None


def publish(project: Project, by: User, moment: str, label_set: str, screens_out: Mapping) -> Questionnaire | None:
    """Ask a label set at the moment, with the labels that screen out by question; an empty one asks nothing. People who
    have answered an earlier version are not asked again. None where nothing was asked before, either."""
    with editing.locked(project):
        before = project.questionnaires.filter(moment=moment).order_by("-version").first()
        if (before.label_set, before.screens_out) == (label_set, screens_out) if before else not label_set:
            return before
        made = Questionnaire.objects.create(
            project=project,
            moment=moment,
            version=before.version + 1 if before else 1,
            label_set=label_set,
            screens_out=screens_out,
            created_by=by,
        )
        words = [{"label set": one.label_set, "screens out": _in_words(one)} if one else {} for one in (before, made)]
        editing.record(by, project, SettingsChange.What.PERSON, *words, moment)
        steps.set_step(project, moment, bool(label_set))
    return made


def _in_words(questionnaire: Questionnaire) -> list[str]:
    return [f"{question}: {', '.join(labels)}" for question, labels in sorted(questionnaire.screens_out.items())]


def is_screened_out(questionnaire: Questionnaire, kind: TaskType, answers: Mapping[str, str]) -> bool:
    return any(
        set(labels) & set(kind.dimension(question).chosen(answers[question]))
        for question, labels in questionnaire.screens_out.items()
        if question in answers
    )


def store(questionnaire: Questionnaire, user: User, answers: Mapping[str, str]) -> bool:
    """Keep what the person answered, the first time; False where it screens them out, which ends their part."""
    project = questionnaire.project
    is_out = is_screened_out(questionnaire, task_type(questionnaire.label_set), answers)
    with transaction.atomic():
        stored, is_new = QuestionnaireAnswer.objects.get_or_create(
            rater=rater_of(project, user),
            moment=questionnaire.moment,
            defaults={"questionnaire": questionnaire, "answers": answers, "is_screened_out": is_out},
        )
        if is_new and is_out:
            participation = Participation.objects.filter(project=project, user=user).first()
            if participation is None:
                managing.remove_member(project, user, ANNOTATOR)
            else:
                leaving.end(participation, Participation.State.SCREENED_OUT)
    return not stored.is_screened_out


def screening_questions(kind: TaskType) -> Iterator[Dimension]:
    """Those whose labels can screen out."""
    return (one for one in kind.asked_dimensions if one.labels)


def answer_rows(project: Project, moment: str) -> Iterable[list[str]]:
    """A header, and a row for each person by pseudonym; without those who withdrew their answers or play."""
    found = QuestionnaireAnswer.objects.filter(rater__project=project, rater__is_excluded=False, moment=moment)
    rows = list(found.select_related("questionnaire", "rater").order_by("pk"))
    questions = list(dict.fromkeys(question for row in rows for question in row.answers))
    yield [*_COLUMNS, *questions]
    for row in rows:
        about = (row.questionnaire.label_set, str(row.questionnaire.version), row.answered_at.isoformat())
        out = str(row.is_screened_out).lower()
        yield [row.rater.pseudonym, *about, out, *(row.answers.get(question, "") for question in questions)]
