"""Personal tokens: made and revoked by their owner, and found again by their hash."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from annotation.models import ApiToken, User

PREFIX = "assay_"  # so that scanners of repositories recognize one that leaked
SHOWN_CHARS = 12
LONGEST_DAYS = 365
MOST = 50  # of one person that still work


class TokenError(Exception):
    """The token cannot be made or used; the message is for its owner."""


def make_token(user: User, name: str, scopes: Iterable[str], days: int) -> tuple[ApiToken, str]:
    """The token's row, and the token, which is returned here and stored nowhere."""
    if in_force(user).count() >= MOST:
        raise TokenError(f"You have {MOST} active tokens, the limit per person; revoke some")
    text = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        beginning=text[:SHOWN_CHARS],
        digest=digest_of(text),
        scopes=sorted(set(scopes)),
        expires_at=timezone.now() + timedelta(days=days),
    )
    return token, text


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def in_force(user: User):
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())


def token_of(text: str) -> ApiToken:
    """The token with its owner, for a request that carries it; TokenError where it does not work (any more)."""
    token = ApiToken.objects.select_related("user").filter(digest=digest_of(text)).first()
    if token is None:
        raise TokenError("There is no such token")
    if not token.user.is_active:
        revoke(token)  # for good, should the account be active again
        raise TokenError("The token's account is not active")
    if token.revoked_at is not None:
        raise TokenError("The token was revoked")
    now = timezone.now()
    if token.expires_at <= now:
        raise TokenError(f"The token expired on {token.expires_at:%Y-%m-%d}")
    if token.last_used_on != now.date():
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=now.date())
    return token


def revoke(token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
