"""Claims that fact-checkers reviewed, or of a data set's texts, for programs."""

from __future__ import annotations

import json

from django.core.files.base import ContentFile
from rest_framework.response import Response

from annotation import access
from annotation.api import shapes
from annotation.api.problems import invalid
from annotation.api.routes import Listing, Route
from annotation.imports import uploads
from annotation.imports.claims import choosing, collecting
from annotation.imports.claims.views import collection_for


class CollectionsRoute(Listing):
    """Collections of claims."""

    shape, request_shape, status = shapes.ClaimCollectionShape, shapes.NewClaimCollection, 202

    def rows(self, request, slug):
        return access.dataset_for(request.user, slug, edit=True).claim_collections.select_related("job")

    def post(self, request, slug):
        """Read reviews that are sent, take the atomic claims of a set, or ask a provider for reviews."""
        dataset = access.dataset_for(request.user, slug, edit=True)
        asked = self.validated_body(request)
        if [bool(asked["reviews"]), asked["piece_set"] is not None, bool(asked["provider"])].count(True) != 1:
            raise invalid("Send reviews, or name a provider or a set of atomic claims", "reviews")
        try:
            if asked["reviews"]:
                raw = ContentFile(json.dumps(asked["reviews"]).encode(), name="reviews.json")
                stored = [uploads.store(request.user, dataset, raw)]
                collection = collecting.from_files(request.user, dataset, stored)
            elif asked["piece_set"] is not None:
                collection = collecting.from_pieces(request.user, dataset, asked["piece_set"])
            else:
                names = ("provider", "query", "language", "site", "most")
                collection = collecting.from_provider(request.user, dataset, *(asked[name] for name in names))
        except collecting.CollectingProblem as problem:
            raise invalid(str(problem), "provider" if asked["provider"] else "piece_set") from None
        return self.respond(collection, Location=f"/api/v1/claim-collections/{collection.uuid}/")


class CollectionRoute(Route):
    """One collection."""

    shape = shapes.ClaimCollectionShape

    def get(self, request, uuid):
        return Response(self.shape(collection_for(request.user, uuid)).data)


class ChoiceRoute(Route):
    """Map verdicts, drop and draw: every claim gets its label, or the reason why it is left out."""

    request_shape, response_shape = shapes.NewChoice, shapes.ClaimCollectionShape

    def post(self, request, uuid):
        collection = collection_for(request.user, uuid)
        asked = self.validated_body(request)
        try:
            choosing.choose(collection, choosing.ClaimChoice.from_json({**collection.choice, **asked["choice"]}))
            if asked["suggested"]:
                choosing.choose(collection, choosing.with_suggestions(collection))
        except choosing.ChoiceProblem as problem:
            raise invalid(str(problem), "choice") from None
        return self.respond(collection)


class PublishRoute(Route):
    """Make the chosen claims content: a job does it."""

    request_shape, response_shape, status = shapes.PublishedClaims, shapes.JobShape, 202

    def post(self, request, uuid):
        collection = collection_for(request.user, uuid)
        job = collecting.publish(request.user, collection, fetches=self.validated_body(request)["summaries"])
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")
