"""Signing in with an OpenID Connect provider. allauth speaks the protocol; who gets in, and what each refusal says, is
decided here.

An account is linked to a provider's account once, by an email address that the provider has verified; after that by the
provider's id of the person. A second factor that is set up in Assay is asked for in addition.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from requests import RequestException

from annotation.models import Invitation, User
from annotation.projects import invitations
from annotation.projects.accounts.groups import apply_groups
from config.oidc import EVERYONE, IN_GROUPS, SignInProvider

log = logging.getLogger(__name__)
MOST_GROUPS = 200  # that are kept of a person
SHOWN_GROUPS = 10


def provider_named(name: str) -> SignInProvider:
    if name not in settings.OIDC:
        raise Http404("There is no such sign-in provider")
    return settings.OIDC[name]


def _problem(request: HttpRequest, provider: SignInProvider, title: str, text: str, status: int) -> HttpResponse:
    context = {"provider": provider, "title": title, "text": text}
    return render(request, "account/provider_problem.html", context, status=status)


def _is_away(request: HttpRequest, provider: SignInProvider, error: Exception) -> HttpResponse:
    log.warning("The sign-in provider %s (%s) cannot be used: %s", provider.name, provider.issuer, error)
    text = _("{provider} does not answer as it should. Try again in a few minutes").format(provider=provider.title)
    title = _("{provider} is not available").format(provider=provider.title)
    return _problem(request, provider, title, text, 503)


@require_http_methods(["GET", "HEAD", "POST"])
def start(request, provider_id):
    """On to the provider. Not by a redirect: the content security policy forbids a form one to another site, and the
    provider may redirect to further ones."""
    provider = provider_named(provider_id)
    if request.method != "POST":
        return redirect_to_login(request.GET.get("next", "/"))
    try:
        answer = openid_connect.login(request, provider_id)
    except (RequestException, ValueError, KeyError) as error:  # no JSON, or not what discovery holds
        return _is_away(request, provider, error)
    if answer.status_code != 302:
        return answer
    return render(request, "account/provider_continue.html", {"provider": provider, "address": answer.url})


@require_safe
def callback(request, provider_id):
    provider = provider_named(provider_id)
    try:
        return openid_connect.callback(request, provider_id)
    except (RequestException, ValueError, KeyError) as error:
        return _is_away(request, provider, error)


class ProviderAdapter(DefaultSocialAccountAdapter):
    def is_open_for_signup(self, request, sociallogin) -> bool:
        return True  # `pre_social_login` has refused all others

    def on_authentication_error(self, request, provider, error=None, exception=None, extra_context=None) -> None:
        found = provider_named(provider.app.provider_id)
        if error == AuthError.CANCELLED:
            messages.info(request, _("You did not sign in with {provider}").format(provider=found.title))
            raise ImmediateHttpResponse(redirect("account_login"))
        if isinstance(exception, RequestException):
            raise ImmediateHttpResponse(_is_away(request, found, exception))
        if exception is not None:
            log.warning("The answer of %s was refused: %s", found.name, exception)
            text = _(
                "The answer of {provider} could not be used. Start again; ask an administrator if it happens again"
            ).format(provider=found.title)
            raise ImmediateHttpResponse(_problem(request, found, _("Signing in failed"), text, 502))
        if "state_id" in (extra_context or {}):
            text = _("It was begun in another browser or too long ago. Start again on the sign-in page")
            raise ImmediateHttpResponse(_problem(request, found, _("This sign-in has expired"), text, 400))
        reason = request.GET.get("error_description", request.GET.get("error", ""))[:200]
        text = _("{provider} refused: {reason}").format(provider=found.title, reason=reason or _("it gave no reason"))
        raise ImmediateHttpResponse(_problem(request, found, _("Signing in failed"), text, 403))

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        return _is_verified(login.account.extra_data, email, provider_named(login.account.provider))

    def pre_social_login(self, request, sociallogin: SocialLogin) -> None:
        provider = provider_named(sociallogin.account.provider)
        claims = _claims_of(sociallogin.account.extra_data)
        for address in sociallogin.email_addresses:
            address.verified = _is_verified(sociallogin.account.extra_data, address.email, provider)
        groups = _groups_in(claims, provider)
        # Nothing else of what the provider says is kept.
        sociallogin.account.extra_data = {"groups": groups[:MOST_GROUPS]}
        if sociallogin.account.pk:
            sociallogin.account.save(update_fields=["extra_data"])
        rights = provider.rights_from(groups)
        user = sociallogin.user if sociallogin.is_existing else None
        if sociallogin.state.get("process", "login") != "login":
            raise Http404("Accounts are linked by signing in")
        if refusal := _refusal(sociallogin, provider, user, groups, rights):
            if user is not None:
                apply_groups(user, provider.name, rights)
                for session in user.usersession_set.all():
                    session.end()
            log.warning("A sign-in with %s was refused: %s", provider.name, refusal)
            raise ImmediateHttpResponse(_problem(request, provider, _("You cannot sign in here"), refusal, 403))
        if user is not None:
            apply_groups(user, provider.name, rights)

    def populate_user(self, request, sociallogin, data):
        user = sociallogin.user
        user.email = user.username = (data.get("email") or "").strip().lower()
        user.name = str(data.get("name") or "")[:150]
        return user

    def save_user(self, request, sociallogin, form=None):
        """A new account, with what its invitations and groups give."""
        user = sociallogin.user
        user.set_unusable_password()
        user.username = user.email
        sociallogin.save(request)
        for invitation in _invitations_of(user.email):
            invitations.accept(invitation, user)
        provider = provider_named(sociallogin.account.provider)
        apply_groups(user, provider.name, provider.rights_from(sociallogin.account.extra_data["groups"]))
        return user


def _claims_of(data: Mapping) -> dict:
    """Those of the id token, and of the endpoint for details of the person."""
    return dict(data.get("id_token") or {}) | dict(data.get("userinfo") or {})


def _is_verified(data: Mapping, email: str, provider: SignInProvider) -> bool:
    """Whether the provider says so of this address, or owns its domain. Some providers send words: "false" is false."""
    identity = data.get("userinfo") or data.get("id_token") or {}
    says_so = identity.get("email_verified") in (True, "true") and str(identity.get("email")).lower() == email.lower()
    domain = email.rpartition("@")[2].lower()
    return says_so or domain in {one.lower() for one in provider.verified_domains}


def _groups_in(claims: Mapping, provider: SignInProvider) -> list[str]:
    found = claims.get(provider.groups_claim, [])
    found = [found] if isinstance(found, str) else found
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _invitations_of(email: str) -> list[Invitation]:
    rows = Invitation.objects.filter(email__iexact=email, accepted_at=None).select_related("project", "invited_by")
    return [one for one in rows if not invitations.obstacle(one)]


def _refusal(
    sociallogin: SocialLogin, provider: SignInProvider, user: User | None, groups: list[str], rights: set[str]
) -> str:
    """Why the person does not get in, and what to do; empty where they do."""
    title, address = provider.title, _address_of(sociallogin.email_addresses)
    shown = ", ".join(groups[:SHOWN_GROUPS]) or _("none")
    if user is not None:
        if not user.is_active:
            return _("The account {email} is deactivated in Assay. Ask an administrator to reactivate it").format(
                email=user.email
            )
        if provider.new_accounts == IN_GROUPS and not rights and not user.has_usable_password():
            return _(
                "None of your groups at {provider} gives access to Assay now (they are: {groups}). Ask an administrator"
            ).format(provider=title, groups=shown)
        return ""
    if address is None:
        return _(
            "{provider} did not say your email address, which Assay needs. Ask an administrator to check the scopes"
        ).format(provider=title)
    email = address.email
    if not address.verified:
        return _("{provider} has not verified the address {email}. Verify it there, then sign in again").format(
            provider=title, email=email
        )
    in_groups = provider.new_accounts == IN_GROUPS
    if provider.new_accounts == EVERYONE or (in_groups and rights) or _invitations_of(email):
        return ""
    if in_groups:
        return _(
            "There is no account for {email} in Assay, and none of your groups at {provider} gives access (they are: "
            "{groups}). Ask an administrator"
        ).format(email=email, provider=title, groups=shown)
    return _(
        "There is no account for {email} in Assay. Ask a researcher or an administrator to invite this address"
    ).format(email=email)


def _address_of(addresses: Iterable[EmailAddress]) -> EmailAddress | None:
    return next(iter(addresses), None)


urlpatterns = [
    path("accounts/oidc/<str:provider_id>/login/", start, name="provider_sign_in"),
    path("accounts/oidc/<str:provider_id>/login/callback/", callback, name="provider_callback"),
]
