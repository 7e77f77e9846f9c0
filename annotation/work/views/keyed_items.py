"""The page on which an item is set apart with its right answers."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotation.access import RESEARCHER, project_with_labels_for, roles_of
from annotation.formats.records import span_of
from annotation.models import ItemKey
from annotation.work.answer_rules import InvalidSubmission
from annotation.work.label_access import labels_served
from annotation.work.learning import keys
from annotation.work.learning.forms import ItemKeyForm
from annotation.work.queries import pages


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def item_key(request, slug, uuid):
    project = project_with_labels_for(request.user, slug)
    if RESEARCHER not in roles_of(request.user, project):
        raise PermissionDenied("This needs the role of researcher")
    item = get_object_or_404(project.items.select_related("anchor"), uuid=uuid)
    key = ItemKey.objects.filter(item=item).first()
    if request.method == "POST" and "remove" in request.POST and key is not None:
        is_work = keys.put_back(project, item, request.user)
        messages.success(request, "The item is work again" if is_work else "The item is given to nobody any more")
        return redirect("project_learning", slug)
    labels_served(request, project, item=item)  # what is proposed comes from them
    page = pages.load_page(item.pk, project.type)
    proposed = keys.propose_key(project, item)
    form = ItemKeyForm(request.POST or None, page=page, key=key, proposed=proposed)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            more = {"reason": values["reason"], "is_loud": values["is_loud"]}
            keys.set_apart(project, item, request.user, values["purpose"], form.answers, **more)
        except (keys.ApartError, InvalidSubmission) as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Stored")
            return redirect("project_learning", slug)
    answers = key.answers if key else proposed
    spans = [span_of(one) for answer in answers for one in answer["spans"]]
    context = {
        "texts": [text.marked(spans) for text in page.shown_texts()],
        "project": project,
        "item": item,
        "key": key,
        "form": form,
        "is_proposed": bool(proposed) and not key,
    }
    return render(request, "annotation/projects/item_key.html", context)


urlpatterns = [path("projects/<slug:slug>/items/<uuid:uuid>/key/", item_key, name="item_key")]
