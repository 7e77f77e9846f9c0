"""The first page: where to go on, what is new, and the person's projects."""

from itertools import groupby
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation import incoming
from annotation.access import may_create, visible_datasets, visible_projects
from annotation.projects.queries import home as queries
from annotation.projects.queries.outlook import former_projects
from annotation.projects.queries.projects import project_rows

PAGE_ROWS = 40


@login_required
@require_safe
def home(request):
    group, search = request.GET.get("group", ""), request.GET.get("search", "").strip()[:200]
    if group not in queries.GROUPS:
        raise BadRequest("There is no such group")
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    n = visible_projects(request.user).count()
    page = Paginator(queries.projects_of(request.user, group, search), PAGE_ROWS).get_page(request.GET.get("page"))
    rows = project_rows(request.user, [one for one in page.object_list if not one.lacks_type])
    current = [row for row in rows if not queries.is_folded(row)]
    context = {
        "n": n,
        "lead_on": queries.lead_on(request.user),
        "news": queries.news_for(request.user),
        "page": page,
        "rows": rows,
        "groups": [(name, list(some)) for name, some in groupby(current, lambda row: queries.group_of(row, group))],
        "folded": [row for row in rows if queries.is_folded(row)],
        "is_many": n >= queries.MANY,
        "ways": list(queries.GROUPS.items()),
        "group": group,
        "search": search,
        "query": urlencode({"group": group, "search": search}),
        "lacking": [one for one in page.object_list if one.lacks_type],
        "former": former_projects(request.user),
        "may_create": may_create(request.user),
        "datasets": visible_datasets(request.user).count(),
    }
    return render(request, "home.html", context)


urlpatterns = [path("", home, name="home")]
