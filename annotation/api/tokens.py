"""Who asks: a program by its token, or a user who is signed in. Scopes narrow a token's owner's rights further."""

from __future__ import annotations

from allauth.core.internal.ratelimit import consume
from django.http import HttpRequest, QueryDict
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission

from annotation.api.problems import CHALLENGE, Problem
from annotation.models import ApiToken
from annotation.projects import tokens

READ, ANNOTATE, WRITE = ApiToken.Scope.READ, ApiToken.Scope.ANNOTATE, ApiToken.Scope.WRITE
_SCHEME = "bearer "


def bearer_of(request: HttpRequest) -> str:
    """The token that a request carries; "" where it carries none of Assay's. What a proxy adds for itself is none."""
    header = request.META.get("HTTP_AUTHORIZATION", "")
    text = header[len(_SCHEME) :].strip() if header[: len(_SCHEME)].lower() == _SCHEME else ""
    return text if text.startswith(tokens.PREFIX) else ""


def token_in(request: HttpRequest) -> ApiToken | None:
    """The token that the request signs in with; None where it carries none. AuthenticationFailed where it does not
    work, Problem where it asks too often."""
    text = bearer_of(request)
    if not text:
        return None
    try:
        token = tokens.token_of(text)
    except tokens.TokenError as error:
        raise AuthenticationFailed(str(error)) from None
    if not consume(request, app="allauth.account", action="api", key=str(token.pk), limit_get=True):
        raise Problem(429, "The token was used too often in the last minute")
    return token


def check_scope(token: ApiToken | None, scope: str) -> None:
    """Nothing to check for a user who is signed in."""
    if token is not None and scope not in token.scopes:
        raise Problem(403, f"The token does not have the scope {scope!r}", scope=str(scope))


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request):
        token = token_in(request)
        return token and (token.user, token)

    def authenticate_header(self, request) -> str:
        return CHALLENGE


class SignedIn(SessionAuthentication):
    """The CSRF token is in the header alone: looking for it in a form would read the body, which routes read."""

    def enforce_csrf(self, request):
        request._request._post = QueryDict()
        super().enforce_csrf(request._request)


class InScope(BasePermission):
    def has_permission(self, request, view) -> bool:
        check_scope(request.auth, view.scope_of(request.method))
        return True
