"""The site's accounts, for its administrators. What can be done with one comes from the table of actions."""

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import path

from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import TRUTH, Listing, QueryFilter, Route
from annotation.api.shapes.accounts import ACTION_SHAPES, AccountShape, DoneShape
from annotation.models import User
from annotation.projects.accounts import managing, queries
from annotation.projects.accounts.actions import ACTIONS
from annotation.shapes import Nothing


def _check_administrator(request) -> None:
    if not request.user.is_superuser:
        raise PermissionDenied("This needs a site administrator")


class AccountsRoute(Listing):
    """All accounts of the site."""

    shape = AccountShape
    filters = {
        "email": QueryFilter("email__iexact"),
        "active": QueryFilter("is_active", kind=TRUTH),
        "administrator": QueryFilter("is_superuser", kind=TRUTH),
    }

    def rows(self, request):
        _check_administrator(request)
        return User.objects.annotate(has_second_factor=queries.second_factor())


def _route_of(slug: str) -> type[Route]:
    action = ACTIONS[slug]

    class ActionRoute(Route):
        __doc__ = action.explanation
        request_shape, response_shape = ACTION_SHAPES.get(slug, Nothing), DoneShape

        def post(self, request, uuid):
            _check_administrator(request)
            account = get_object_or_404(User, uuid=uuid)
            form = action.form(self.validated_body(request))
            if not form.is_valid():
                raise invalid_form(form)
            try:
                return self.respond({"message": action.apply(request.user, account, **form.cleaned_data)})
            except managing.AccountError as error:
                raise Problem(409, str(error)) from None

    ActionRoute.__name__ = "".join(word.capitalize() for word in slug.split("-")) + "AccountRoute"
    return ActionRoute


urlpatterns = [
    path("accounts/", AccountsRoute.as_view(), name="api_accounts"),
    *(path(f"accounts/<uuid:uuid>/{slug}/", _route_of(slug).as_view(), name=f"api_account_{slug}") for slug in ACTIONS),
]
