"""Pages on which researchers choose what people are asked about themselves, and people answer it."""

import csv

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, project_for
from annotation.formats.files.spreadsheets import as_cell
from annotation.models import Project, Questionnaire, QuestionnaireAnswer
from annotation.participation import joining, questionnaires, steps
from annotation.participation.forms import AnswersForm, QuestionnaireForm
from annotation.participation.views.taking_part import own_project
from annotation.projects.raters import rater_of
from annotation.task_types import task_type

Moment = Questionnaire.Moment


def _moment(name: str) -> Moment:
    if name not in Moment.values:
        raise Http404("No such questionnaire")
    return Moment(name)


@login_required
@require_safe
def study_questionnaires(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    return _page(request, project, {one: _form(request, project, one) for one in Moment})


def _form(request, project: Project, moment: str, data=None) -> QuestionnaireForm:
    return QuestionnaireForm(
        data, user=request.user, moment=moment, current=questionnaires.newest(project, moment), prefix=moment
    )


def _page(request, project: Project, forms: dict, status: int = 200):
    answers = QuestionnaireAnswer.objects.filter(rater__project=project, rater__is_excluded=False).order_by()
    counts = {
        moment: (n, out)
        for moment, n, out in answers.values_list("moment").annotate(
            n=Count("pk"), out=Count("pk", filter=Q(is_screened_out=True))
        )
    }
    parts = [(moment, form, *counts.get(moment, (0, 0))) for moment, form in forms.items()]
    context = {"project": project, "parts": parts}
    return render(request, "annotation/participation/questionnaires.html", context, status=status)


@login_required
@require_POST
def study_questionnaire(request, slug, moment):
    project = project_for(request.user, slug, RESEARCHER)
    moment = _moment(moment)
    form = _form(request, project, moment, request.POST)
    if not form.is_valid():
        forms = {one: _form(request, project, one) for one in Moment} | {moment: form}
        return _page(request, project, forms, 422)
    questionnaires.publish(project, request.user, moment, form.cleaned_data["label_set"], form.rule)
    messages.success(request, "Saved")
    return redirect("study_questionnaires", slug)


@login_required
@require_safe
def questionnaire_csv(request, slug, moment):
    project = project_for(request.user, slug, RESEARCHER)
    moment = _moment(moment)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{moment}.csv"'
    writer = csv.writer(response)
    for row in questionnaires.answer_rows(project, moment):
        writer.writerow(map(as_cell, row))
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def answer_questionnaire(request, slug, moment):
    """The person's own answers, once."""
    project = own_project(request, slug)
    asked = questionnaires.newest(project, _moment(moment))
    participation = joining.participation_of(request.user, project)
    has_ended = project.is_left or (participation is not None and participation.state != participation.State.ACTIVE)
    own = QuestionnaireAnswer.objects.filter(rater=rater_of(project, request.user), moment=moment)
    if asked is None or has_ended or own.exists():
        return _go_on(request, project)
    asked.project, kind = project, task_type(asked.label_set)
    form = AnswersForm(request.POST if request.method == "POST" else None, kind=kind)
    if request.method == "POST" and form.is_valid():
        questionnaires.store(asked, request.user, form.answers)
        return _go_on(request, own_project(request, slug))
    context = {"project": project, "form": form, "kind": kind}
    return render(request, "annotation/participation/answer.html", context)


def _go_on(request, project: Project):
    if project.is_left:
        return redirect("taking_part", project.slug)
    step = steps.way(project, request.user)[0]
    if step is None:
        step = steps.outlook_of(project, request.user)[1]
    return redirect(step.url(project)) if step else redirect("work_page", project.slug)


urlpatterns = [
    path("projects/<slug:slug>/questionnaires/", study_questionnaires, name="study_questionnaires"),
    path("projects/<slug:slug>/questionnaires/<slug:moment>/", study_questionnaire, name="study_questionnaire"),
    path("projects/<slug:slug>/questionnaires/<slug:moment>/answers.csv", questionnaire_csv, name="questionnaire_csv"),
    path("projects/<slug:slug>/taking-part/<slug:moment>/", answer_questionnaire, name="answer_questionnaire"),
]
