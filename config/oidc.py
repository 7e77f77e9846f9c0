"""Sign-in providers (OpenID Connect), from the environment: `ASSAY_OIDC` holds them as JSON, by name.

`KEYS` declares what an entry may hold; reading it, its errors and the table in docs/settings.md come from there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from annotation.incoming import is_loopback
from models_runtime.named_entries import named_entries

VARIABLE = "ASSAY_OIDC"
INVITED, IN_GROUPS, EVERYONE = "invited", "groups", "everyone"
SITE_RIGHTS = ("administrator", "creator")
_PROJECT_RIGHT = re.compile(r"[-a-zA-Z0-9_]{1,80}/(?:annotator|adjudicator|researcher)")


@dataclass(frozen=True, slots=True)
class Key:
    """`read` gives the value as it is kept; its ValueError reads after the key's name. No default: required."""

    read: Callable[[Any], Any]
    meaning: str
    default: Any = None
    shown_default: str = "required"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text")
    return value.strip()


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise ValueError("must be a list of texts")
    return tuple(one.strip() for one in value)


def _issuer(value: object) -> str:
    address = _text(value).rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address that begins with https://")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must begin with https://, since passwords depend on it")
    return address


def _secret(value: object) -> str:
    """The value of the variable that is named."""
    name = _text(value)
    if name.startswith("ASSAY_"):
        raise ValueError("must name a variable that does not begin with ASSAY_")
    if not (secret := os.environ.get(name, "").strip()):
        raise ValueError(f"names {name}, which is not set")
    return secret


def _groups(value: object) -> dict[str, frozenset[str]]:
    if not isinstance(value, dict):
        raise ValueError('must be an object such as {"nlp-lab": ["creator"]}')
    return {group: frozenset(map(_right, _texts(rights))) for group, rights in value.items()}


def _right(right: str) -> str:
    if right not in SITE_RIGHTS and not _PROJECT_RIGHT.fullmatch(right):
        raise ValueError(
            f"has the right {right!r}; a right is {' or '.join(SITE_RIGHTS)}, or a project's short name with a role, "
            "such as stance/annotator"
        )
    return right


def _new_accounts(value: object) -> str:
    if value not in (INVITED, IN_GROUPS, EVERYONE):
        raise ValueError(f"must be {INVITED}, {IN_GROUPS} or {EVERYONE}")
    return str(value)


KEYS: Mapping[str, Key] = {
    "title": Key(_text, "what the button on the sign-in page names"),
    "issuer": Key(
        _issuer,
        "the provider's address, below which `/.well-known/openid-configuration` is found; `https`, except on this "
        "machine",
    ),
    "client_id": Key(_text, "the id under which Assay is registered there"),
    "client_secret_env": Key(
        _secret, "the name of the variable that holds the secret; it must not begin with `ASSAY_`", "", "no secret"
    ),
    "scopes": Key(
        _texts,
        "the scopes to ask for; some providers need one more for groups",
        ("openid", "email", "profile"),
        '`["openid", "email", "profile"]`',
    ),
    "groups_claim": Key(_text, "the claim that lists a person's groups", "groups", "`groups`"),
    "groups": Key(
        _groups,
        "the rights that each group gives: `administrator`, `creator` (may create data sets and projects), or a "
        "project's short name with a role, such as `stance/annotator`",
        {},
        "none",
    ),
    "new_accounts": Key(
        _new_accounts,
        "who gets a new account: `invited` (the address has an open invitation), `groups` (invited people, and members "
        "of a group in `groups`, who need one at every sign-in), `everyone` whom the provider lets in",
        INVITED,
        "`invited`",
    ),
    "verified_domains": Key(
        _texts,
        "domains whose email addresses the provider owns, so that they count as verified although it does not say so",
        (),
        "none",
    ),
}


@dataclass(frozen=True, slots=True)
class SignInProvider:
    """An entry; its fields are KEYS."""

    name: str
    title: str
    issuer: str
    client_id: str
    client_secret_env: str  # the secret itself
    scopes: tuple[str, ...]
    groups_claim: str
    groups: Mapping[str, frozenset[str]]
    new_accounts: str
    verified_domains: tuple[str, ...]

    def rights_from(self, groups: Iterable[str]) -> set[str]:
        return {right for group in groups for right in self.groups.get(group, ())}

    def as_app(self) -> dict[str, Any]:
        """In the form of allauth."""
        return {
            "provider_id": self.name,
            "name": self.title,
            "client_id": self.client_id,
            "secret": self.client_secret_env,
            "settings": {
                "server_url": self.issuer,
                "scope": list(self.scopes),
                "oauth_pkce_enabled": True,
                "verified_email": list(self.verified_domains),
            },
        }


def parse_sign_in_providers(raw: str) -> dict[str, SignInProvider]:
    """By name, in the order given; ValueError says what is wrong and where."""
    entries = named_entries(raw, 'sign-in providers by name, such as {"uni": {"title": "University", …}}')
    return {name: _provider(name, entry) for name, entry in entries.items()}


def _provider(name: str, entry: object) -> SignInProvider:
    if not isinstance(entry, dict):
        raise ValueError(f"must give {name} an object with {', '.join(KEYS)}")
    if unknown := sorted(set(entry) - set(KEYS)):
        raise ValueError(f"has {unknown[0]!r} in {name}; known are {', '.join(KEYS)}")
    values = {}
    for key, one in KEYS.items():
        if key not in entry:
            if one.default is None:
                raise ValueError(f"lacks {key} in {name}")
            values[key] = one.default
            continue
        try:
            values[key] = one.read(entry[key])
        except ValueError as error:
            raise ValueError(f"{name}.{key} {error}") from None
    return SignInProvider(name, **values)


def keys_table() -> str:
    """For docs/settings.md."""
    rows = [f"| `{name}` | {key.shown_default} | {key.meaning} |" for name, key in KEYS.items()]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows])
