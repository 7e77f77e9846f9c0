"""Comments of annotators: the list for researchers, and the page of one thread for both sides."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation import incoming
from annotation.access import project_with_labels_for
from annotation.models import Thread
from annotation.projects.raters import person_in
from annotation.work import threads
from annotation.work.answer_rules import MAX_COMMENT
from annotation.work.label_access import labels_served
from annotation.work.queries import unit_words

PAGE_ROWS = 40
FILTERS = {"unanswered": "Unanswered", "": "All"}


@login_required
@require_safe
def project_comments(request, slug):
    project = project_with_labels_for(request.user, slug)
    labels_served(request, project)  # comments may name labels
    chosen = request.GET.get("filter", "")
    if chosen not in FILTERS:
        raise BadRequest("There is no such filter")
    found = threads.threads_of(project)
    found = found.filter(is_unanswered=True) if chosen else found
    person = person_in(request, project)
    found = found.filter(rater=person) if person else found
    page = Paginator(found, PAGE_ROWS).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    words = unit_words.words_of(project.type.anchor_kind, [one.item.anchor_id for one in rows])
    context = {
        "project": project,
        "filters": list(FILTERS.items()),
        "chosen": chosen,
        "query": urlencode({"filter": chosen} | ({"person": person.user.uuid} if person else {})),
        "person": person,
        "page": page,
        "rows": [(one, words[one.item.anchor_id][0]) for one in rows],
    }
    return render(request, "annotation/work/comments.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def thread(request, slug, uuid):
    found = threads.thread_for(request.user, slug, uuid)
    is_own = found.rater.user_id == request.user.pk
    if not is_own:
        labels_served(request, found.project, item=found.item)
    if request.method == "POST":
        return _reply(request, found, is_own)
    if is_own and request.method == "GET":
        threads.read(found)
    words = unit_words.words_of(found.project.type.anchor_kind, [found.item.anchor_id])
    return _page(request, found, is_own, words[found.item.anchor_id][0])


def _page(request, found: Thread, is_own: bool, title: str, *, text: str = "", error: str = ""):
    context = {
        "project": found.project,
        "thread": found,
        "title": title,
        "replies": found.replies.select_related("author").order_by("pk"),
        "is_own": is_own,
        "place": found.item.assignments.filter(rater=found.rater).values_list("uuid", flat=True).first(),
        "text": text,
        "error": error,
        "most": MAX_COMMENT,
    }
    return render(request, "annotation/work/thread.html", context, status=422 if error else 200)


def _reply(request, found: Thread, is_own: bool):
    if request.POST.get("do") == "answered" and not is_own:
        threads.set_answered(found)
        messages.success(request, _("The comment no longer waits for a reply"))
        return redirect("project_comments", found.project.slug)
    text = request.POST.get("text", "").strip()
    error = "" if text else _("Write something first")
    try:
        text = incoming.text(text, MAX_COMMENT)
    except incoming.Refused as refused:
        text, error = "", _("Your reply {problem}").format(problem=refused)
    if error:
        words = unit_words.words_of(found.project.type.anchor_kind, [found.item.anchor_id])
        return _page(request, found, is_own, words[found.item.anchor_id][0], text=text, error=error)
    threads.reply(found, request.user, text)
    messages.success(request, _("Your reply was stored"))
    return redirect("thread", found.project.slug, found.uuid)


urlpatterns = [
    path("projects/<slug:slug>/comments/", project_comments, name="project_comments"),
    path("projects/<slug:slug>/comments/<uuid:uuid>/", thread, name="thread"),
]
