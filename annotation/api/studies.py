"""Study links of a project."""

from django.shortcuts import get_object_or_404
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api.problems import invalid
from annotation.api.routes import Editing, Listing, Route
from annotation.models import StudyLink
from annotation.participation import links, shapes
from annotation.participation.views.links import address_of


class StudyLinksRoute(Listing):
    """Links by which people join the project as annotators, without an account or with theirs."""

    shape, request_shape, status = shapes.StudyLinkShape, shapes.NewStudyLink, 201

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).study_links.all()

    def prepared(self, page: list) -> list:
        return [_with_address(self.request, one) for one in page]

    def post(self, request, slug):
        """A new link, which works at once."""
        project = access.project_for(request.user, slug, RESEARCHER)
        made = links.make_link(project, request.user, **self.validated_body(request))
        return self.respond(_with_address(request, made))


class StudyLinkRoute(Editing, Route):
    """One study link. POST changes what it names: more places, another last moment, closed or open again."""

    shape, request_shape = shapes.StudyLinkShape, shapes.ChangedStudyLink

    def version_of(self, link):
        return links.values_of(link) | {"closed": link.closed_at, "key": link.signing_key}

    def get(self, request, slug, uuid):
        link = self._link(request, slug, uuid)
        return self.tagged(Response(self.shape(_with_address(request, link)).data), link)

    def post(self, request, slug, uuid):
        link = self._link(request, slug, uuid)
        values = self.validated_body(request)
        with self.edited(link):
            closed = values.pop("closed", None)
            try:
                links.update_link(link, request.user, **values)
            except links.LinkError as error:
                raise invalid(str(error), "places") from None
            if closed is not None:
                (links.close_link if closed else links.reopen_link)(link, request.user)
            link.refresh_from_db()
            return self.tagged(self.respond(_with_address(request, link)), link)

    def _link(self, request, slug: str, uuid) -> StudyLink:
        project = access.project_for(request.user, slug, RESEARCHER)
        return get_object_or_404(StudyLink, project=project, uuid=uuid)


def _with_address(request, link: StudyLink) -> StudyLink:
    link.link = address_of(request, link)
    return link
