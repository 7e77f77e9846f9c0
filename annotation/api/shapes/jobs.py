"""Jobs, webhooks and files."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.exports.releasing import LIST, WITHOUT_LABEL
from annotation.jobs import results
from annotation.jobs.kinds import KINDS
from annotation.jobs.queues import waits_for
from annotation.models import Job, WebhookDelivery
from annotation.shapes import Choice, Shape
from annotation.webhooks.events import EVENTS
from models_runtime.egress import URL_CHARS

# ---- jobs ----


class JobShape(Shape):
    """`message` says what it is doing, or why it failed; `waiting` why no worker is at it, or which server is away."""

    uuid = s.UUIDField()
    kind = Choice(Job.Kind.choices)
    state = Choice(Job.State.choices)
    project = s.CharField(source="project.slug", allow_null=True, default=None)
    dataset = s.CharField(source="dataset.slug", allow_null=True, default=None)
    progress_done = s.IntegerField()
    progress_total = s.IntegerField()
    message = s.CharField(allow_blank=True)
    waiting = s.SerializerMethodField()
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)

    def get_waiting(self, job) -> str:
        return waits_for(job)


class ListedJobShape(JobShape):
    """One of many jobs: whose labels each of them read is not looked up."""

    message = s.SerializerMethodField()

    def get_message(self, job) -> str:
        return "" if KINDS[job.kind].is_of_labels else job.message


class JobDetailShape(JobShape):
    """With what came of it, bad rows by their lines included. Labels, figures and what checkers said are left out for
    who may not see the labels of each project in it, or still labels there."""

    message = s.SerializerMethodField()
    result = s.SerializerMethodField()

    def get_message(self, job) -> str:
        return results.message_for(self.context["request"].user, job)

    def get_result(self, job) -> dict:
        return results.result_for(self.context["request"].user, job)


# ---- webhooks ----


class WebhookShape(Shape):
    uuid = s.UUIDField()
    url = s.CharField()
    events = s.ListField(child=s.CharField())
    created_at = s.DateTimeField()


class MadeWebhookShape(WebhookShape):
    secret = s.CharField(allow_blank=True)


class NewWebhook(Shape):
    url = s.CharField(max_length=URL_CHARS)
    events = s.ListField(child=s.ChoiceField(sorted(EVENTS)), min_length=1, max_length=len(EVENTS))


class DeliveryShape(Shape):
    """`status` is that of the last answer, `message` why the last attempt failed."""

    uuid = s.UUIDField()
    event = s.CharField()
    payload = s.DictField()
    state = Choice(WebhookDelivery.State.choices)
    attempts = s.IntegerField()
    status = s.IntegerField(allow_null=True)
    message = s.CharField(allow_blank=True)
    due_at = s.DateTimeField()
    created_at = s.DateTimeField()
    delivered_at = s.DateTimeField(allow_null=True)


# ---- files ----


class FileShape(Shape):
    """GET `files/UUID/` gives its bytes."""

    uuid = s.UUIDField()
    name = s.CharField(source="file_name")
    media_type = s.CharField()
    size = s.IntegerField()
    sha256 = s.CharField(allow_blank=True)


class ExportShape(JobShape):
    kinds = s.ListField(child=s.CharField(), source="parameters.kinds", default=list)
    files = FileShape(many=True, source="artifacts.all")


class NewExport(Shape):
    """`kinds`: formats of the content (jsonl, tsv, parquet), tables of labels (table-tsv, table-csv, table-parquet) and
    other tools; the usual ones where it is empty.
    `decisions`: the set that labels come from, such as rule:NAME; what stands where it is empty. `without_label`: list
    units that have none, leave-out their rows, or refuse."""

    kinds = s.ListField(child=s.CharField(max_length=40), max_length=40, default=list)
    decisions = s.CharField(max_length=60, allow_blank=True, default="")
    without_label = s.ChoiceField(WITHOUT_LABEL, default=LIST)
