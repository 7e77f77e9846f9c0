"""Accounts are created by invitation only; sign-ins are limited by account and address."""

from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.utils.translation import gettext as _

from annotation.addresses import absolute


class InvitationOnlyAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request) -> bool:
        return False

    def logout(self, request) -> None:
        used = request.session.get("account_authentication_methods", [])
        provider = next((settings.OIDC[one["provider"]] for one in used if one.get("provider") in settings.OIDC), None)
        super().logout(request)
        if provider and request.resolver_match.url_name == "account_logout":
            messages.info(
                request,
                _(
                    "You are signed out of Assay, and may still be signed in at {provider}: on a shared computer, sign "
                    "out there too"
                ).format(provider=provider.title),
            )

    def send_password_reset_mail(self, user, email, context) -> None:
        """None to who has no password and signs in with a provider, which may let them in no more."""
        if user.has_usable_password() or not user.socialaccount_set.exists():
            super().send_password_reset_mail(user, email, context)

    def get_reset_password_from_key_url(self, key: str) -> str:
        return absolute(self.request, urlsplit(super().get_reset_password_from_key_url(key)).path)

    def _get_login_attempts_cache_key(self, request, **credentials) -> str:
        """An account at an address, so that guessing elsewhere does not lock out its owner."""
        account = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{account}:{ratelimit.get_ip(request)}"

    def pre_authenticate(self, request, **credentials) -> None:
        """Many addresses that guess one account together are slowed down: each has one failure in five minutes. The
        owner still signs in from any address with the right password, since only failures count."""
        super().pre_authenticate(request, **credentials)
        here = self._get_login_attempts_cache_key(request, **credentials)
        account = super()._get_login_attempts_cache_key(request, **credentials)
        usages = [self._login_failed_rl_usage]
        for action, key in (("login_failed_anywhere", account), ("login_failed_slow", here)):
            usage = ratelimit.consume(request, app="allauth.account", action=action, key=key)
            if usage:
                usages += [usage]
                break
        else:
            raise self.validation_error("too_many_login_attempts")
        self._login_failed_rl_usage = ratelimit.RateLimitUsage([one for usage in usages for one in usage.usage])
