"""A project's rules: what there is, making one with a preview before it decides anything, and running it again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from analysis.rules import asking, pages
from analysis.rules.forms import RuleForm
from analysis.rules.kinds import KINDS, RuleError, is_single
from annotation import incoming
from annotation.access import job_for, project_with_labels_for, visible_jobs
from annotation.jobs.queries import progress_of
from annotation.models import Job, Project, RuleRun
from annotation.work.label_access import labels_served
from annotation.work.queries.work import label_version

PREVIEW, RUN = STEPS = ("preview", "run")
LISTED_RUNS = 50


def _step(request) -> bool:
    """Whether a preview is asked for, and no run."""
    step = request.POST.get("step", "")
    if step not in STEPS:
        raise BadRequest("step must be preview or run")
    return step == PREVIEW


@login_required
@require_safe
def project_rules(request, slug):
    project = project_with_labels_for(request.user, slug)
    runs = list(pages.newest_runs(project))
    if runs:
        labels_served(request, project)
    version = label_version(project)
    rows = [
        {
            "run": run,
            "kind": KINDS[run.kind].title if run.kind in KINDS else "from a file",
            "questions": pages.counted(project, run.parameters, run.counts.get("questions", [])),
            "is_outdated": run.moment.get("labels") != version,
        }
        for run in runs
    ]
    kinds = [(rule, rule.why_not(project.type)) for rule in KINDS.values()]
    return render(request, "analysis/rules/list.html", {"project": project, "rows": rows, "kinds": kinds})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rule_new(request, slug, kind):
    """`from` names a preview whose parameters the form begins with."""
    project = project_with_labels_for(request.user, slug)
    if kind not in KINDS:
        raise Http404("There is no such kind of rule")
    rule = KINDS[kind]
    why_not = rule.why_not(project.type)
    context = {"project": project, "rule": rule, "why_not": why_not}
    if why_not:
        return render(request, "analysis/rules/new.html", context, status=409 if request.method == "POST" else 200)
    begun = _begun_with(request, project, kind)
    question = request.POST.get("question") or request.GET.get("question") or begun.get("question", "")
    form = RuleForm(project, rule, request.POST if request.method == "POST" else None, begun, question)
    if request.method == "POST" and form.is_valid():
        try:
            job = asking.start_rule(
                project, request.user, form.cleaned_data["name"], kind, form.parameters(), is_preview=_step(request)
            )
            return redirect("rule_job", job.uuid)
        except RuleError as error:
            form.add_error(error.parameter if error.parameter in form.fields else None, str(error))
    context["form"] = form
    if rule.lifts_decisions:
        questions = [one for one in project.type.asked_dimensions if is_single(one)]
        context |= {"questions": questions, "question": form["question"].value()}
    return render(request, "analysis/rules/new.html", context)


def _begun_with(request, project: Project, kind: str) -> dict:
    begun = {"name": request.GET["name"][: RuleRun.NAME_CHARS]} if "name" in request.GET else {}
    if "from" not in request.GET:
        return begun
    try:
        job = job_for(request.user, incoming.uuid_of(request.GET["from"]))
    except incoming.Refused as refused:
        raise Http404("There is no such preview") from refused
    if job.kind != Job.Kind.RULE or job.project_id != project.pk or job.parameters["kind"] != kind:
        return begun
    return job.parameters["parameters"] | {"name": job.parameters["name"]}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rule_job(request, uuid):
    """A preview, with the way to the run; a run that is under way or failed. One that is done is on its rule's page."""
    job = job_for(request.user, uuid)
    if job.kind != Job.Kind.RULE:
        raise Http404("There is no such rule")
    project = project_with_labels_for(request.user, job.project.slug)
    arguments = [job.parameters[name] for name in ("name", "kind", "parameters")]
    is_preview, is_done = job.parameters["preview"], job.state == Job.State.DONE
    if request.method == "POST":
        try:
            started = asking.start_rule(project, request.user, *arguments, is_preview=_step(request))
            return redirect("rule_job", started.uuid)
        except RuleError as error:
            messages.error(request, str(error))
    if is_done and not is_preview:
        return redirect("project_rule", project.slug, arguments[0])
    context = {
        "project": project,
        "job": job,
        "name": arguments[0],
        "is_preview": is_preview,
        "progress": progress_of(job),
    }
    context |= {"rule": KINDS[arguments[1]], "parameters": pages.in_words(project, *arguments[1:])}
    if is_done:
        labels_served(request, project)
        questions = job.result["questions"]
        examples = [one | {"question": part["question"]} for part in questions for one in part["examples"]]
        context |= {
            "questions": pages.counted(project, arguments[2], questions),
            "examples": pages.listed(project, request.user, *arguments[1:], examples),
            "left_open": pages.listed(project, request.user, *arguments[1:], job.result.get("left_open", [])),
        }
    return render(request, "analysis/rules/job.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_rule(request, slug, name):
    """A rule with its runs; POST previews or makes a further one."""
    project = project_with_labels_for(request.user, slug)
    runs = RuleRun.objects.filter(project=project, name=name).select_related("created_by")
    runs = list(runs.order_by("-version")[:LISTED_RUNS])
    if not runs:
        raise Http404("There is no such rule")
    newest = runs[0]
    if request.method == "POST":
        try:
            job = asking.start_rule(
                project, request.user, name, newest.kind, newest.parameters, is_preview=_step(request)
            )
            return redirect("rule_job", job.uuid)
        except RuleError as error:
            messages.error(request, str(error))
    labels_served(request, project)
    waiting = visible_jobs(request.user).filter(
        project=project, kind=Job.Kind.RULE, parameters__name=name, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    context = {
        "project": project,
        "name": name,
        "newest": newest,
        "rule": KINDS.get(newest.kind),
        "kinds": [rule for rule in KINDS.values() if not rule.why_not(project.type)],
        "parameters": pages.in_words(project, newest.kind, newest.parameters),
        "questions": pages.counted(project, newest.parameters, newest.counts.get("questions", [])),
        "left_open": pages.listed(project, request.user, newest.kind, newest.parameters, newest.left_open),
        "is_outdated": newest.moment.get("labels") != label_version(project),
        "waiting": waiting.order_by("-pk").first(),
        "runs": [(run, pages.counted(project, run.parameters, run.counts.get("questions", []))) for run in runs],
    }
    return render(request, "analysis/rules/detail.html", context)


urlpatterns = [
    path("projects/<slug:slug>/rules/", project_rules, name="project_rules"),
    path("projects/<slug:slug>/rules/new/<slug:kind>/", rule_new, name="rule_new"),
    path("projects/<slug:slug>/rules/<slug:name>/", project_rule, name="project_rule"),
    path("rules/<uuid:uuid>/", rule_job, name="rule_job"),
]
