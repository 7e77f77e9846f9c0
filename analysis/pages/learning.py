"""Training, qualification and checks for researchers: the items with their keys, and how people do on them."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from analysis.stats.shares import wilson_ends
from annotation.access import RESEARCHER, has_open_work, project_for
from annotation.models import ItemKey, Rater
from annotation.work.learning import queries, standing, tables
from annotation.work.learning.forms import KeyTableForm

PER_PAGE = 40
PROBLEMS_SHOWN = 20


@dataclass(frozen=True)
class CasesOfAll:
    """Cases among all, with the ends of Wilson's interval; without any, there is no share."""

    cases: int
    n: int

    @property
    def ends(self) -> tuple[float, float] | None:
        return wilson_ends(self.cases, self.n) if self.n else None

    def __str__(self) -> str:
        if not self.n:
            return "–"
        low, high = (round(100 * end) for end in self.ends)
        return f"{self.cases} of {self.n} ({low}–{high} %)"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_learning(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    form = KeyTableForm(request.POST or None, request.FILES or None)
    problems = []
    if request.method == "POST" and form.is_valid():
        try:
            done, problems = tables.set_apart_all(
                project, request.user, form.cleaned_data["file"], form.cleaned_data["purpose"]
            )
        except tables.KeyTableError as error:
            form.add_error("file", str(error))
        else:
            messages.success(request, f"{done:,} item{'s were' if done != 1 else ' was'} set apart")
            if not problems:
                return redirect("project_learning", slug)
    is_blind = has_open_work(request.user, project)  # and is not shown which items are checks
    keys = ItemKey.objects.none() if is_blind else project.item_keys.select_related("item")
    keys = keys.order_by("purpose", "created_at", "item")
    items = Paginator(keys, PER_PAGE).get_page(request.GET.get("items"))
    people = Paginator(queries.learners_of(project), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "form": form,
        "problems": problems[:PROBLEMS_SHOWN],
        "n_problems": len(problems),
        "is_blind": is_blind,
        "items": items,
        "key_rows": queries.key_rows(project, list(items.object_list)),
        "page": people,
        "learners": [
            (
                row,
                CasesOfAll(*row.training),
                CasesOfAll(*row.qualification),
                CasesOfAll(*row.checks),
                standing.ways_for(project, row.rater),
            )
            for row in queries.learner_rows(list(people.object_list))
        ],
    }
    return render(request, "analysis/learning.html", context)


@login_required
@require_POST
def learner_decision(request, slug, uuid):
    """Let a person in, give them another try, let them go on, or pause them."""
    project = project_for(request.user, slug, RESEARCHER)
    rater = get_object_or_404(Rater, project=project, user__uuid=uuid)
    way = request.POST.get("way", "")
    if way not in standing.WAYS:
        raise BadRequest(f"way is one of {', '.join(standing.WAYS)}")
    try:
        standing.decide_standing(project, rater, way, request.user)
        messages.success(request, f"Stored: {standing.WAYS[way][0].lower()}, {rater}")
    except standing.NotOffered as error:
        messages.error(request, str(error))
    return redirect("project_learning", slug)


urlpatterns = [
    path("projects/<slug:slug>/learning/", project_learning, name="project_learning"),
    path("projects/<slug:slug>/learning/<uuid:uuid>/", learner_decision, name="learner_decision"),
]
