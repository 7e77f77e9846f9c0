"""Webhooks of a project, and what they were sent."""

from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import invalid
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.models import WebhookDelivery
from annotation.webhooks import delivering, events


class WebhooksRoute(Listing):
    """Addresses that are told what happens in the project."""

    shape, request_shape, response_shape, status = shapes.WebhookShape, shapes.NewWebhook, shapes.MadeWebhookShape, 201

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).webhooks.all()

    def post(self, request, slug):
        """A new webhook. Its `secret` is in this answer alone; a repeated request gets none."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.validated_body(request)
        try:
            made = delivering.make_webhook(project, request.user, asked["url"], asked["events"])
        except delivering.WebhookError as error:
            raise invalid(str(error), "url") from None
        response = self.respond(made, Location=f"/api/v1/webhooks/{made.uuid}/")
        response.kept = response.data | {"secret": ""}
        return response


class WebhookDetailRoute(Route):
    """One webhook."""

    shape = shapes.WebhookShape

    def get(self, request, uuid):
        return Response(self.shape(access.webhook_for(request.user, uuid)).data)


class RemoveWebhookRoute(Route):
    """Tell an address nothing any more; what it was sent is forgotten."""

    request_shape, response_shape = shapes.Nothing, shapes.Nothing

    def post(self, request, uuid):
        delivering.remove_webhook(access.webhook_for(request.user, uuid), request.user)
        return self.respond({})


class PingRoute(Route):
    """Send a delivery that says nothing, to see whether the address works."""

    request_shape, response_shape, status = shapes.Nothing, shapes.DeliveryShape, 202

    def post(self, request, uuid):
        return self.respond(events.send(access.webhook_for(request.user, uuid), events.PING, {}))


class DeliveriesRoute(Listing):
    """What a webhook was sent in the last 30 days, or is waiting to be sent."""

    shape = shapes.DeliveryShape
    filters = {"state": QueryFilter("state", WebhookDelivery.State.values), "event": QueryFilter("event")}

    def rows(self, request, uuid):
        return access.webhook_for(request.user, uuid).deliveries.all()


class RepeatRoute(Route):
    """Send a delivery again, as it was."""

    request_shape, response_shape, status = shapes.Nothing, shapes.DeliveryShape, 202

    def post(self, request, uuid):
        delivery = access.delivery_for(request.user, uuid)
        delivering.repeat(delivery)
        delivery.refresh_from_db()
        return self.respond(delivery)
