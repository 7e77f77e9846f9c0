"""Who works in a project: members with their roles, and invitations."""

from allauth.core.internal.ratelimit import consume
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.addresses import absolute
from annotation.api import shapes
from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import TRUTH, Editing, Listing, QueryFilter, Route
from annotation.models import Invitation, Membership, User
from annotation.projects import invitations, managing
from annotation.projects.forms.accounts import ProjectInvitationForm


class MembersRoute(Listing):
    """Everybody who is or was in the project, once for each role."""

    shape = shapes.MemberShape
    filters = {"role": QueryFilter("role", Membership.Role.values), "active": QueryFilter("is_active", kind=TRUTH)}

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).memberships.select_related("user")


class MemberRolesRoute(Editing, Route):
    """The roles of a person who is or was in the project. POST makes these their roles; without any they leave it.
    Labels stay."""

    shape = request_shape = shapes.RolesShape

    def version_of(self, project, user):
        return managing.active_roles(project, user)

    def get(self, request, slug, uuid):
        project, user = self._member(request, slug, uuid)
        shown = self.shape({"roles": managing.active_roles(project, user)}).data
        return self.tagged(Response(shown), project, user=user)

    def post(self, request, slug, uuid):
        project, user = self._member(request, slug, uuid)
        roles = self.validated_body(request)["roles"]
        with self.edited(project, user=user):
            managing.set_roles(project, user, roles, request.user)
            return self.tagged(self.respond({"roles": managing.active_roles(project, user)}), project, user=user)

    def _member(self, request, slug, uuid):
        project = access.project_for(request.user, slug, RESEARCHER)
        return project, get_object_or_404(User.objects.filter(memberships__project=project).distinct(), uuid=uuid)


class InvitationsRoute(Listing):
    """Invitations into the project that were not accepted yet and still work."""

    shape, request_shape, status = shapes.InvitationShape, shapes.NewInvitation, 201
    response_shape = shapes.SentInvitationShape

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        rows = Invitation.objects.filter(project=project, accepted_at=None, expires_at__gt=timezone.now())
        return rows.select_related("invited_by", "project")

    def prepared(self, page: list) -> list:
        return [_with_link(self.request, one) for one in page]

    def post(self, request, slug):
        """Invite a person. The link is mailed where there is a mail server; `is_sent` says whether it was."""
        project = access.project_for(request.user, slug, RESEARCHER)
        form = ProjectInvitationForm(self.validated_body(request))
        if not form.is_valid():
            raise invalid_form(form)
        if not consume(request, app="allauth.account", action="invite", user=request.user, limit_get=True):
            raise Problem(429, "You have reached the limit of invitations per hour")
        made = _with_link(request, invitations.invite(request.user, project=project, **form.cleaned_data))
        mailed = absolute(request, invitations.path_of(made, way=invitations.MAIL))
        made.is_sent = invitations.send(made, mailed)
        return self.respond(made)


class RevokeInvitationRoute(Route):
    """Make an invitation's link stop working. `token` is the last part of the link."""

    request_shape, response_shape = shapes.Nothing, shapes.Nothing

    def post(self, request, slug, token):
        project = access.project_for(request.user, slug, RESEARCHER)
        found = Invitation.objects.filter(project=project, token=token).first()
        if found is None:
            raise Http404("No such invitation")
        invitations.withdraw(found)
        return self.respond({})


def _with_link(request, found: Invitation) -> Invitation:
    found.link = absolute(request, invitations.path_for(request.user, found))
    return found
