"""Claims on their way into a data set: collect them, map verdicts of reviews, drop and draw, publish."""

import csv

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import dataset_for, may_edit_dataset
from annotation.formats.files.spreadsheets import needs_escape
from annotation.imports import uploads
from annotation.imports.claims import choosing, collecting
from annotation.imports.claims.forms import ChoiceForm, CollectForm
from annotation.imports.views import takes_files
from annotation.jobs.queries import progress_of
from annotation.jobs.queues import look_up_waits
from annotation.models import ClaimCollection, Job

LISTED, PER_PAGE = 50, 50
COLUMNS = ("key", "text", "claimant", "date", "url", "site", "verdict", "label", "dropped", "detail")


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def claims_new(request, slug):
    dataset = dataset_for(request.user, slug, edit=True)
    form = CollectForm(dataset, request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            if cleaned.get("files"):
                stored = uploads.store_all(request.user, dataset, cleaned["files"])
                collection = collecting.from_files(request.user, dataset, stored)
            elif cleaned.get("pieces"):
                collection = collecting.from_pieces(request.user, dataset, cleaned["pieces"].removeprefix("set:"))
            else:
                asked = (cleaned[name] for name in ("provider", "query", "language", "site"))
                collection = collecting.from_provider(request.user, dataset, *asked, cleaned["most"] or 1000)
            return redirect("claims_detail", uuid=collection.uuid)
        except uploads.UploadError as error:
            form.add_error("files", str(error))
        except collecting.CollectingProblem as problem:
            form.add_error(None, str(problem))
    found = list(dataset.claim_collections.select_related("job", "created_by").order_by("-pk")[:LISTED])
    look_up_waits(collection.job for collection in found)
    context = {
        "dataset": dataset,
        "form": form,
        "collections": found,
        "limit": settings.UPLOAD_LIMIT // 1024**2,
    }
    return render(request, "annotation/claims/new.html", context, status=422 if form.errors else 200)


def collection_for(user, uuid) -> ClaimCollection:
    found = ClaimCollection.objects.select_related("dataset", "job", "created_by").filter(uuid=uuid).first()
    if found is None or not may_edit_dataset(user, found.dataset):
        raise Http404("No such collection of claims")
    return found


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def claims_detail(request, uuid):
    collection = collection_for(request.user, uuid)
    form = ChoiceForm(collection, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            choosing.choose(collection, form.choice())
            if "suggested" in request.POST:
                choosing.choose(collection, choosing.with_suggestions(collection))
            return redirect("claims_detail", uuid=uuid)
        except choosing.ChoiceProblem as problem:
            form.add_error(None, str(problem))
    return _detail(request, collection, form)


def _detail(request, collection: ClaimCollection, form: ChoiceForm, problem: str = ""):
    reason = request.GET.get("dropped", "")
    claims = collection.claims.order_by("pk").filter(dropped=reason)
    page = Paginator(claims, PER_PAGE).get_page(request.GET.get("page"))
    publishings = collecting.publishings_of(collection)
    context = {
        "collection": collection,
        "dataset": collection.dataset,
        "job": collection.job,
        "progress": progress_of(collection.job),
        "form": form,
        "unmapped": sum(1 for row in form.rows if not row.label),
        "suggested": sum(1 for row in form.rows if not row.label and row.suggested),
        "labels": choosing.LABELS,
        "reasons": collecting.counts_of(collection),
        "reason": reason,
        "page": page,
        "query": f"dropped={reason}" if reason else "",
        "publishings": publishings,
        "publishing": progress_of(publishings[0]) if publishings and publishings[0].state != Job.State.DONE else None,
        "problem": problem,
    }
    return render(request, "annotation/claims/detail.html", context, status=422 if form.errors or problem else 200)


@login_required
@require_POST
def claims_publish(request, uuid):
    collection = collection_for(request.user, uuid)
    try:
        collecting.publish(request.user, collection, fetches="summaries" in request.POST)
        return redirect("claims_detail", uuid=uuid)
    except collecting.CollectingProblem as problem:
        return _detail(request, collection, ChoiceForm(collection), str(problem))


class _Echo:
    def write(self, line: str) -> str:
        return line


@login_required
@require_safe
def claims_csv(request, uuid):
    """All collected claims, those that were dropped with the reason."""
    collection = collection_for(request.user, uuid)
    writer = csv.writer(_Echo())
    rows = collection.claims.order_by("pk").values_list(*COLUMNS).iterator(chunk_size=1000)

    def cell(value: object) -> str:
        text = "" if value is None else str(value)
        return f"'{text}" if needs_escape(text) else text

    lines = (writer.writerow([cell(value) for value in row]) for row in rows)
    response = StreamingHttpResponse(_after(writer.writerow(COLUMNS), lines), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="claims-{collection.uuid.hex[:8]}.csv"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _after(first: str, lines):
    yield first
    yield from lines


urlpatterns = [
    path("datasets/<slug:slug>/claims/", claims_new, name="claims_new"),
    path("claims/<uuid:uuid>/", claims_detail, name="claims_detail"),
    path("claims/<uuid:uuid>/publish/", claims_publish, name="claims_publish"),
    path("claims/<uuid:uuid>/claims.csv", claims_csv, name="claims_csv"),
]
