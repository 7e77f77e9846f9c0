"""Webhooks of a project: make one, see what it was sent, send it again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, delivery_for, project_for, webhook_for
from annotation.webhooks import delivering, events
from annotation.webhooks.forms import WebhookForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_webhooks(request, slug):
    """A new one's secret stands on the page that answers the form, and nowhere else."""
    project = project_for(request.user, slug, RESEARCHER)
    form, made = WebhookForm(request.POST if request.method == "POST" else None), None
    if request.method == "POST" and form.is_valid():
        try:
            made = delivering.make_webhook(project, request.user, form.cleaned_data["url"], form.cleaned_data["events"])
            form = WebhookForm()
        except delivering.WebhookError as error:
            form.add_error("url", str(error))
    context = {"project": project, "form": form, "made": made, "webhooks": project.webhooks.order_by("pk")}
    return render(request, "annotation/webhooks/list.html", context)


@login_required
@require_safe
def webhook_detail(request, uuid):
    webhook = webhook_for(request.user, uuid)
    page = Paginator(webhook.deliveries.order_by("-pk"), 50).get_page(request.GET.get("page"))
    context = {"project": webhook.project, "webhook": webhook, "page": page}
    return render(request, "annotation/webhooks/detail.html", context)


@login_required
@require_POST
def webhook_ping(request, uuid):
    """Send a delivery that says nothing, to see whether the address works."""
    webhook = webhook_for(request.user, uuid)
    events.send(webhook, events.PING, {})
    messages.success(request, "A ping is being sent")
    return redirect("webhook_detail", uuid=uuid)


@login_required
@require_POST
def webhook_remove(request, uuid):
    webhook = webhook_for(request.user, uuid)
    delivering.remove_webhook(webhook, request.user)
    messages.success(request, f"{webhook.url} no longer receives notifications")
    return redirect("project_webhooks", slug=webhook.project.slug)


@login_required
@require_POST
def delivery_repeat(request, uuid):
    delivery = delivery_for(request.user, uuid)
    delivering.repeat(delivery)
    messages.success(request, "It is being sent again")
    return redirect("webhook_detail", uuid=delivery.webhook.uuid)


urlpatterns = [
    path("projects/<slug:slug>/webhooks/", project_webhooks, name="project_webhooks"),
    path("webhooks/<uuid:uuid>/", webhook_detail, name="webhook_detail"),
    path("webhooks/<uuid:uuid>/ping/", webhook_ping, name="webhook_ping"),
    path("webhooks/<uuid:uuid>/remove/", webhook_remove, name="webhook_remove"),
    path("deliveries/<uuid:uuid>/repeat/", delivery_repeat, name="delivery_repeat"),
]
