"""The prompts of a project: its versions, what differs between two, and running them on one of two parts."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, has_open_work, project_for
from annotation.editing import SharedForm, last_change, locked
from annotation.jobs.queues import look_up_waits
from annotation.machines.prompts import splitting, versions
from annotation.machines.runs.forms import limit_fields, parameter_field
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.starting import TEXT_LENGTH, RunError, SameRun
from annotation.machines.views import to_run
from annotation.models import HeldOutPart, Project, PromptVersion, SettingsChange
from models_runtime import registry
from models_runtime.contracts import ParameterError

# Of the judge's parameters, those that are chosen in addition to the prompt.
CHOSEN = ("endpoint", "reasoning", "reasoning_tokens", "passages")


class VersionForm(SharedForm, forms.Form):
    text = forms.CharField(
        label="Instructions",
        strip=False,
        max_length=TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="They must hold $options, and may hold $task and $letters.",
    )
    note = forms.CharField(label="What changed", required=False, max_length=versions.NOTE_LENGTH)

    def __init__(self, project: Project, data=None, **options) -> None:
        super().__init__(data, **options)
        roles = versions.roles_of(project)
        self.fields["role"] = forms.ChoiceField(label="For questions about", choices=[(one, one) for one in roles])


class HeldOutForm(SharedForm, forms.Form):
    percent = forms.IntegerField(
        label="Held out (percent of the claims or questions)", min_value=10, max_value=90, initial=50
    )


class TryForm(forms.Form):
    """A version on a part, by a model."""

    def __init__(self, project: Project, data=None) -> None:
        super().__init__(data)
        numbers = list(project.prompts.order_by("-number").values_list("number", flat=True))
        self.fields["version"] = forms.TypedChoiceField(
            label="Prompt", coerce=int, choices=[(one, f"version {one}") for one in numbers]
        )
        self.fields["part"] = forms.ChoiceField(label="On the", choices=list(splitting.TITLES.items()))
        known = {one.name: one for one in registry.get_info(versions.CHECKER).parameters}
        self.fields |= {name: parameter_field(known[name]) for name in CHOSEN}
        self.fields |= limit_fields()

    @property
    def parameters(self) -> dict:
        return {name: self.cleaned_data[name] for name in CHOSEN}


# What a form of the page says that it does. Each has a place of its own in the address, where the page opens again.
FORMS = ("version", "held-out", "try")
SHARED = ("version", "held-out")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_prompts(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    why_none = versions.why_none(project)
    if why_none and request.method == "POST":
        raise Http404("No prompts here")
    if request.method == "POST" and request.POST.get("do") not in FORMS:
        return HttpResponseBadRequest(f"do is one of {', '.join(FORMS)}")
    with locked(project, request.POST.get("do") in SHARED):
        newest = project.prompts.order_by("-number").first()
        added, held_out, tried = _forms(request, project, newest)
        if request.method == "POST" and (answer := _done(request, project, added, held_out, tried)):
            return answer
    for form, what in ((added, SettingsChange.What.PROMPT), (held_out, SettingsChange.What.HELD_OUT)):
        form.last_change = last_change(project, what) if form.has_conflict else None
    # How much people labelled is no label, but would tell those who still label here what others have done.
    is_blind = has_open_work(request.user, project)
    runs = {} if why_none else versions.runs_of(project)
    look_up_waits(run.job for of_version in runs.values() for run in of_version)
    context = {
        "project": project,
        "why_none": why_none,
        "versions": [(one, runs.get(one.number, ())) for one in project.prompts.order_by("-number")],
        "held_out": HeldOutPart.objects.filter(project=project).first(),
        "counts": [] if is_blind or why_none else splitting.counts_of(project),
        "titles": splitting.TITLES,
        "can_change_parts": not runs,
        "not_configured": registry.not_configured(versions.CHECKER),
        "forms": {"version": added, "held_out": held_out, "try": tried},
        "is_blind": is_blind,
        "still_labels": versions.STILL_LABELS if is_blind else "",
    }
    status = 409 if added.has_conflict or held_out.has_conflict else 200
    return render(request, "annotation/prompts/list.html", context, status=status)


def _forms(request, project: Project, newest: PromptVersion | None) -> tuple[forms.Form, ...]:
    def data(name: str):
        return request.POST if request.POST.get("do") == name else None

    now = {"text": newest.text, "role": newest.role} if newest else {}
    held_out = HeldOutPart.objects.filter(project=project).first()
    return (
        VersionForm(project, data("version"), initial=now),
        HeldOutForm(data("held-out"), initial={"percent": held_out.percent} if held_out else {}),
        TryForm(project, data("try")),
    )


def _done(request, project: Project, added, held_out, tried):
    """The answer to a form that did something; None where one is to be filled in again."""
    try:
        if added.is_bound and added.is_valid():
            cleaned = added.cleaned_data
            version = versions.add_version(project, request.user, cleaned["text"], cleaned["role"], cleaned["note"])
            messages.success(request, f"Version {version.number} is kept")
            return redirect("project_prompts", slug=project.slug)
        if held_out.is_bound and held_out.is_valid():
            splitting.hold_out(project, request.user, held_out.cleaned_data["percent"])
            return redirect("project_prompts", slug=project.slug)
        if tried.is_bound and tried.is_valid():
            version = project.prompts.get(number=tried.cleaned_data["version"])
            limits = CostLimits.asked(tried.cleaned_data)
            return to_run(
                versions.start(version, request.user, tried.cleaned_data["part"], tried.parameters, limits=limits)
            )
    except SameRun as same:
        return to_run(same.run)
    except ParameterError as error:
        form = added if added.is_bound else tried
        form.add_error("text" if error.name == "prompt" and form is added else None, str(error))
    except RunError as error:
        if tried.is_bound:
            tried.add_error(None, str(error))
        else:
            messages.error(request, str(error))
    return None


@login_required
@require_POST
def prompt_estimate(request, slug):
    """What a run of a version would cost, by the form that starts it."""
    project = project_for(request.user, slug, RESEARCHER)
    form = TryForm(project, request.POST)
    estimate, problem = None, "Correct the settings below to see the cost"
    if has_open_work(request.user, project):  # it tells how much others labelled
        problem = versions.STILL_LABELS
    elif form.is_valid():
        version = project.prompts.get(number=form.cleaned_data["version"])
        try:
            estimate = versions.estimate_of(version, form.cleaned_data["part"], form.parameters)
        except (ParameterError, RunError) as error:
            problem = str(error)
    context = {"estimate": estimate, "problem": problem, "title": "Run a version", "detail_url": "run_detail"}
    return render(request, "annotation/runs/estimate.html", context)


@login_required
@require_safe
def prompt_detail(request, slug, number):
    project = project_for(request.user, slug, RESEARCHER)
    version = get_object_or_404(project.prompts, number=number)
    chosen = request.GET.get("with", str(number - 1))
    before = (
        project.prompts.filter(number=int(chosen)).first()
        if chosen.isascii() and chosen.isdigit() and len(chosen) < 9
        else None
    )
    context = {
        "project": project,
        "version": version,
        "before": before,
        "lines": list(versions.difference(before.text, version.text)) if before else [],
        "others": project.prompts.exclude(pk=version.pk),
    }
    return render(request, "annotation/prompts/detail.html", context)


urlpatterns = [
    path("projects/<slug:slug>/prompts/", project_prompts, name="project_prompts"),
    path("projects/<slug:slug>/prompts/estimate/", prompt_estimate, name="prompt_estimate"),
    path("projects/<slug:slug>/prompts/<int:number>/", prompt_detail, name="prompt_detail"),
]
