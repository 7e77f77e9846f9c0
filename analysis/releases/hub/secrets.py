"""Tokens of a hub, encrypted with a key made from the site's secret key: a copy of the database alone opens none."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

PURPOSE = b"assay: tokens of hubs\0"


class LostSecret(Exception):
    """The token cannot be read any more; the message says what to do."""


def _keys() -> MultiFernet:
    """With the keys that the site had before, which Django calls fallbacks."""
    every = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = (hashlib.sha256(PURPOSE + key.encode()).digest() for key in every)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


def encrypt(token: str) -> str:
    return _keys().encrypt(token.encode()).decode()


def decrypt(secret: str) -> str:
    try:
        return _keys().decrypt(secret.encode()).decode()
    except InvalidToken:
        raise LostSecret(
            "The hub token cannot be read, since it was deleted or the site's secret key has changed; "
            "publish again and enter it"
        ) from None
