"""A project's items: the list, one item with all answers, and what can be done with it."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import incoming
from annotation.access import (
    ADJUDICATOR,
    RESEARCHER,
    has_open_work,
    may_still_be_blind,
    project_for,
    project_with_labels_for,
    roles_of,
    sees_keys,
    sees_labels,
)
from annotation.decisions import adjudicating, queries
from annotation.decisions.forms import (
    DecisionWithdrawalForm,
    MoreForm,
    OrderForm,
    PriorityForm,
    ReservingForm,
    ReservingTableForm,
    StuckForm,
)
from annotation.jobs import lifecycle
from annotation.models import Assignment, Item, Project, Unit
from annotation.projects import searching
from annotation.projects.raters import person_in, set_group, why_no_group
from annotation.work import assigning, ordering, reserving, showing, stuck, threads
from annotation.work.label_access import labels_served

# More items than this are ordered by the project's creator: by its order.
MAX_MOVED = 50_000
MAX_FREED = 200  # stuck items, each in a transaction of its own


def _chosen(request, project: Project, values) -> tuple[str, str]:
    """Filter and search, as named in `values`; a filter that is not offered is refused."""
    chosen, search = values.get("filter", ""), values.get("search", "").strip()[:400]
    if not incoming.is_storable(search):
        raise BadRequest(f"search {incoming.BAD_CHARACTER}")
    if chosen in queries.LABEL_FILTERS and not sees_labels(request.user, project):
        raise PermissionDenied(
            "You still have items to label in this project; its labels are hidden until you finish them"
        )
    if chosen in queries.LABEL_FILTERS:
        labels_served(request, project)
    if chosen not in queries.FILTERS and chosen not in queries.LABEL_FILTERS:
        raise BadRequest("There is no such filter")
    return chosen, search


def _chosen_items(request, project: Project, values):
    """Filter, search and all items that they find."""
    chosen, search = _chosen(request, project, values)
    by_key = sees_keys(request.user, project)
    return chosen, search, queries.find_items(project, filter=chosen, search=search, searches_keys=by_key)


def _counted(found) -> int:
    """How many items these are, and one more than MAX_MOVED where there are more."""
    return found.order_by()[: MAX_MOVED + 1].count()


@login_required
@require_safe
def project_items(request, slug):
    project = project_for(request.user, slug, RESEARCHER, ADJUDICATOR)
    labels, is_researcher = sees_labels(request.user, project), RESEARCHER in roles_of(request.user, project)
    filters = queries.FILTERS | (queries.LABEL_FILTERS if labels else {})
    is_blind = has_open_work(request.user, project)  # and is not shown which items are checks
    chosen, search = _chosen(request, project, request.GET)
    by_key = sees_keys(request.user, project)
    matches = searching.first_matches(project, search, searches_keys=by_key) if search else None
    person = person_in(request, project)
    among = matches and matches.items
    found = queries.find_items(project, filter=chosen, among=among)
    found = found.exclude(state=Item.State.APART) if is_blind else found
    found = queries.of_person(found, person, chosen) if person else found
    is_whole = not (is_blind or person)
    page = queries.ItemPages(project, found, chosen, among, is_whole=is_whole).get_page(request.GET.get("page"))
    # Members who label read labels in the list once they have opened some on purpose.
    with_labels = labels and not may_still_be_blind(request.user, project)
    if with_labels:
        labels_served(request, project)
    context = {
        "project": project,
        "filters": [(name, title) for name, (title, _) in filters.items() if name != "apart" or not is_blind],
        "chosen": chosen,
        "search": search,
        "query": urlencode({"filter": chosen, "search": search} | ({"person": person.user.uuid} if person else {})),
        "person": person,
        "done_by": queries.DONE_BY.get(chosen, "answered by"),
        "page": page,
        "rows": queries.item_rows(project, list(page.object_list), with_labels=with_labels),
        "with_labels": with_labels,
        "sees_labels": labels,
        "sees_keys": by_key,
        "searched": searching.searched_words(project, searches_keys=by_key),
        "matches": matches,
        "ways": [(name, title) for name, (title, _) in stuck.WAYS.items()],
        "max_freed": MAX_FREED,
        # What is done to all items of the list is done to those of a filter and a search, not of a person.
        "priority": PriorityForm() if is_researcher and not person else None,
        "order": OrderForm(project=project) if is_researcher and not (chosen or search or person) else None,
    }
    return render(request, "annotation/projects/items.html", context)


@login_required
@require_POST
def project_items_priority(request, slug):
    """Move all items that a filter and a search find before the others, or behind them."""
    project = project_for(request.user, slug, RESEARCHER)
    chosen, search, found = _chosen_items(request, project, request.POST)
    form = PriorityForm(request.POST)
    count = _counted(found)
    if not form.is_valid():
        raise BadRequest("Choose when these items are assigned")
    if count > MAX_MOVED:
        messages.error(
            request, f"These are more than {MAX_MOVED:,} items, the most that can be moved at once. Narrow the list."
        )
    else:
        assigning.set_priority(project, found, form.cleaned_data["priority"])
        titles = dict(PriorityForm.base_fields["priority"].choices)
        moved = "1 item is now assigned" if count == 1 else f"{count:,} items are now assigned"
        messages.success(request, f"{moved} {titles[form.cleaned_data['priority']]}")
    return redirect(f"{reverse('project_items', args=[slug])}?{urlencode({'filter': chosen, 'search': search})}")


@login_required
@require_POST
def project_items_order(request, slug):
    """Give all items of the project another order of work; people keep what they hold."""
    project = project_for(request.user, slug, RESEARCHER)
    form = OrderForm(request.POST, project=project)
    if not form.is_valid():
        raise BadRequest("Choose an order, and a share from 0 to 100 %")
    try:
        return redirect("job_detail", ordering.start(project, request.user, **form.cleaned_data).uuid)
    except ordering.OrderingError as error:
        messages.error(request, error)
    except lifecycle.SameJob as same:
        return redirect("job_detail", same.job.uuid)
    return redirect("project_items", slug)


@login_required
@require_POST
def project_items_return(request, slug):
    """Take all items back from those who hold them."""
    project = project_for(request.user, slug, RESEARCHER)
    returned = assigning.return_held(project)
    messages.success(request, f"{returned:,} item{'s' * (returned != 1)} went back to the queue")
    return redirect("project_detail", slug)


@login_required
@require_POST
def project_items_stuck(request, slug):
    """Ask those who skipped stuck items again, do without the missing answers, or hand the items over: one of them, or
    the first of all that a search finds."""
    project = project_for(request.user, slug, RESEARCHER)
    values = {"filter": "stuck", "search": request.POST.get("search", "")}
    _, search, found = _chosen_items(request, project, values)
    form = StuckForm(request.POST)
    if not form.is_valid():
        raise BadRequest("Choose what to do about the item")
    if form.cleaned_data["item"]:
        found = found.filter(uuid=form.cleaned_data["item"])
    done, refused = stuck.take_way(project, found[:MAX_FREED], form.cleaned_data["way"], request.user)
    if done:
        messages.success(request, f"Done for {done:,} item{'s' * (done != 1)}")
    if refused:
        messages.error(request, f"Nobody who skipped still labels here ({refused:,} item{'s' * (refused != 1)})")
    if not done and not refused:
        messages.info(request, "No longer stuck")
    return redirect(f"{reverse('project_items', args=[slug])}?{urlencode({'filter': 'stuck', 'search': search})}")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def reserved_items(request, slug):
    """Choose for whom these items are. A first POST shows what that changes, a second one with `confirmed` does it."""
    project = project_for(request.user, slug, RESEARCHER)
    values = request.POST if request.method == "POST" else request.GET
    chosen, search, found = _chosen_items(request, project, values)
    found = found.filter(unit_count__gt=0).exclude(state=Item.State.RETIRED)
    people = reserving.annotators(project)
    form = ReservingForm(request.POST or None, project=project, people=people)
    count, effect = _counted(found), None
    if count > MAX_MOVED and request.method == "POST":
        form.add_error(
            None, f"These are more than {MAX_MOVED:,} items, the most that can be changed at once. Narrow the list"
        )
    if form.is_valid():
        rule = form.rule
        if request.POST.get("confirmed"):
            job = reserving.start(project, dict.fromkeys(found.values_list("pk", flat=True), rule), request.user)
            return redirect("job_detail", job.uuid)
        effect = _effect(found, rule)
    context = {
        "project": project,
        "chosen": chosen,
        "search": search,
        "count": min(count, MAX_MOVED),
        "is_cut": count > MAX_MOVED,
        "form": form,
        "table": ReservingTableForm(),
        "columns": reserving.COLUMNS,
        "effect": effect,
        "page": Paginator(people, queries.ItemPages.PER_PAGE).get_page(request.GET.get("page")),
        "groups": reserving.groups_of(people),
        "query": urlencode({"filter": chosen, "search": search}),
    }
    return render(request, "annotation/projects/reserving.html", context)


def _effect(found, rule: reserving.ItemRule) -> dict[str, int]:
    """What a rule would change of these items, before it does: how many have a person or an answer already, and how
    many of their places are open, and reserved."""
    rows = Assignment.objects.filter(item__in=found)
    opened = rows.filter(state=Assignment.State.OPEN)
    return {
        "asked": len(rule.people) + sum(rule.groups.values()),
        "without": len(rule.without),
        "open": opened.count(),
        "reserved": opened.filter(reserving.RESERVED).count(),
        "had": rows.filter(rater__isnull=False).values("item").distinct().count(),
    }


@login_required
@require_POST
def reserve_by_table(request, slug):
    """What each line of the table does; with `confirmed`, do it."""
    project = project_for(request.user, slug, RESEARCHER)
    form = ReservingTableForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, "Choose a CSV file")
        return redirect("reserved_items", slug)
    context = {"project": project, "form": form, "columns": reserving.COLUMNS}
    try:
        content = form.content(reserving.MAX_BYTES + 1)
        rules = reserving.rules_of_table(project, content)
    except reserving.ReservingError as error:
        context["problems"] = error.problems
        return render(request, "annotation/projects/reserving_table.html", context, status=422)
    if not rules:
        messages.error(request, "The file lists no items")
        return redirect("reserved_items", slug)
    if request.POST.get("confirmed"):
        return redirect("job_detail", reserving.start(project, rules, request.user).uuid)
    found = Item.objects.filter(project=project, pk__in=list(rules)[:1000])
    context |= {
        "rows": reserving.rules_in_words(project, rules),
        "count": len(rules),
        "effect": _effect(found, reserving.ItemRule()) if len(rules) <= 1000 else None,
        "text": content.decode("utf-8-sig"),
    }
    return render(request, "annotation/projects/reserving_table.html", context)


@login_required
@require_POST
def set_groups(request, slug):
    """Put an annotator into a group, or into none."""
    project = project_for(request.user, slug, RESEARCHER)
    pseudonym, group = request.POST.get("annotator", ""), request.POST.get("group", "").strip()
    if not incoming.is_storable(pseudonym):
        raise Http404("No such annotator")
    rater = next((one for one in reserving.annotators(project) if one.pseudonym == pseudonym), None)
    if rater is None:
        raise Http404("No such annotator")
    if not incoming.is_storable(group):
        messages.error(request, f"The group's name {incoming.BAD_CHARACTER}")
    elif problem := why_no_group(group):
        messages.error(request, problem.capitalize())
    else:
        set_group(rater, group)
        messages.success(request, f"{rater.name} is now in {'the group ' + group if group else 'no group'}")
    return redirect(reverse("reserved_items", args=[slug]) + "#groups")


def _item(project: Project, uuid):
    return get_object_or_404(project.items.select_related("anchor", "project"), uuid=uuid)


@login_required
@require_safe
def item_detail(request, slug, uuid):
    project = project_with_labels_for(request.user, slug)
    item = _item(project, uuid)
    labels_served(request, project, item=None if _kept_filter(request) in queries.LABEL_FILTERS else item)
    before, after = queries.neighbours(project, item, filter=_kept_filter(request))
    view = queries.item_view(project, item)
    others = any(revision.annotation.rater.user_id != request.user.pk for revision in view.revisions)
    showing.showed(project, request.user, [item], view.runs, labels=others)
    context = {
        "project": project,
        "item": item,
        "type": project.type,
        "view": view,
        "roles": roles_of(request.user, project),
        "before": before,
        "after": after,
        "filter": _kept_filter(request),
        "threads": threads.threads_of(project).filter(item=item),
    }
    return render(request, "annotation/projects/item.html", context)


def _kept_filter(request) -> str:
    """The list's filter that the person came with, so that 'next' goes through the same list."""
    chosen = request.GET.get("filter", "")
    return chosen if chosen in queries.FILTERS or chosen in queries.LABEL_FILTERS else ""


@login_required
@require_POST
def item_more(request, slug, uuid):
    project = project_for(request.user, slug, RESEARCHER)
    form = MoreForm(request.POST)
    item = _item(project, uuid)
    if form.is_valid():
        try:
            assigning.ask_for_one_more(item, form.cleaned_data["note"], request.user)
            messages.success(request, "One more judgement was requested")
            if project.items.filter(pk=item.pk, state=Item.State.STUCK).exists():
                messages.warning(request, "No annotator is left who could give it: add one to the project")
        except assigning.AssigningError as error:
            messages.error(request, error)
    return redirect("item_detail", slug, uuid)


@login_required
@require_POST
def item_release(request, slug, uuid):
    project = project_for(request.user, slug, RESEARCHER)
    assigning.release_item(_item(project, uuid))
    messages.success(request, "The item was returned to the queue")
    return redirect("item_detail", slug, uuid)


@login_required
@require_POST
def item_withdraw(request, slug, uuid):
    project = project_with_labels_for(request.user, slug)
    if ADJUDICATOR not in roles_of(request.user, project):
        raise PermissionDenied("This needs the role of adjudicator")
    item = _item(project, uuid)
    form = DecisionWithdrawalForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest(str(form.errors.as_text()), content_type="text/plain")
    values = form.cleaned_data
    unit = Unit.objects.filter(item_units__item=item, key=values["unit"]).first()
    if unit is None:
        raise Http404("No such unit in this item")
    newest = adjudicating.withdraw(project, request.user, unit, values["dimension"], number=values["number"])
    if newest is None:
        messages.error(request, "There is no decision that could be withdrawn")
    elif not newest.is_withdrawn:
        messages.error(request, "This was decided again after the page was loaded. The new decision stays; see below")
    else:
        messages.success(request, "Stored")
    return redirect("item_detail", slug, uuid)


urlpatterns = [
    path("projects/<slug:slug>/items/", project_items, name="project_items"),
    path("projects/<slug:slug>/items/priority/", project_items_priority, name="project_items_priority"),
    path("projects/<slug:slug>/items/people/", reserved_items, name="reserved_items"),
    path("projects/<slug:slug>/items/people/table/", reserve_by_table, name="reserve_by_table"),
    path("projects/<slug:slug>/items/people/groups/", set_groups, name="reserving_groups"),
    path("projects/<slug:slug>/items/order/", project_items_order, name="project_items_order"),
    path("projects/<slug:slug>/items/return/", project_items_return, name="project_items_return"),
    path("projects/<slug:slug>/items/stuck/", project_items_stuck, name="project_items_stuck"),
    path("projects/<slug:slug>/items/<uuid:uuid>/", item_detail, name="item_detail"),
    path("projects/<slug:slug>/items/<uuid:uuid>/more/", item_more, name="item_more"),
    path("projects/<slug:slug>/items/<uuid:uuid>/release/", item_release, name="item_release"),
    path("projects/<slug:slug>/items/<uuid:uuid>/withdraw/", item_withdraw, name="item_withdraw"),
]
