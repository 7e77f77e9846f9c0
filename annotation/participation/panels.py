"""Panels that send participants: one literal table of what their URLs hold and where participants go at the end."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from annotation import incoming
from annotation.models import Participation, StudyLink

State = Participation.State
ID_CHARS = 200
SIGNATURE, TOKEN = "signature", "token"  # parameters of a signed URL: an HMAC of the others, or a JWT with them
# How a participation can end for a panel, which pays by it.
OUTCOMES = {
    state.value: str(state.label)
    for state in (State.COMPLETE, State.SCREENED_OUT, State.FAILED, State.RETURNED, State.TIMED_OUT)
}
URL = "url"  # the panel whose parameters the link names
KINDS = ("participant", "study", "session")


class PanelError(Exception):
    """The URL is not one of the panel's; the message is for the person who opened it."""


@dataclass(frozen=True)
class Panel:
    """`parameters` are the names of URL parameters by `KINDS`, and what the panel puts in their place; without any, the
    link names them. `completion` is where participants go with a code."""

    slug: str
    title: str
    parameters: Mapping[str, tuple[str, str]]
    completion: str = ""


PANELS = {
    one.slug: one
    for one in (
        Panel(
            "prolific",
            "Prolific",
            {
                "participant": ("PROLIFIC_PID", "{{%PROLIFIC_PID%}}"),
                "study": ("STUDY_ID", "{{%STUDY_ID%}}"),
                "session": ("SESSION_ID", "{{%SESSION_ID%}}"),
            },
            completion="https://app.prolific.com/submissions/complete?cc={code}",
        ),
        Panel(
            "connect",
            "CloudResearch Connect",
            {
                "participant": ("participantId", "{participantId}"),
                "study": ("projectId", "{projectId}"),
                "session": ("assignmentId", "{assignmentId}"),
            },
        ),
        Panel("sona", "SONA", {"participant": ("sona_id", "%SURVEY_CODE%")}),
        Panel(URL, "Another panel, by URL parameters", {}),
    )
}


@dataclass(frozen=True)
class PanelIds:
    """What a panel calls the person, its study and this visit."""

    participant: str
    study: str = ""
    session: str = ""


def names_of(link: StudyLink) -> dict[str, str]:
    """The name of each URL parameter that the link reads, by kind."""
    panel = PANELS[link.panel]
    named = {kind: name for kind, (name, _) in panel.parameters.items()} or link.parameters
    return {kind: named[kind] for kind in KINDS if named.get(kind)}


def query_of(link: StudyLink) -> str:
    """What is added to the link's URL where it is entered at the panel."""
    filled = {name: value for name, value in PANELS[link.panel].parameters.values()}
    return "&".join(f"{name}={filled.get(name, '…')}" for name in names_of(link).values())


def ids_in(link: StudyLink, query: Mapping[str, str]) -> PanelIds:
    """The ids that a URL holds. PanelError without the participant's, and where a link with a signing key was opened by
    a URL that the key does not sign."""
    names = names_of(link)
    values = {kind: query.get(name, "") for kind, name in names.items()}
    if link.signing_key:
        values = _signed(link, names, values, query)
    if not values.get("participant"):
        raise PanelError(
            _("The URL lacks {name}, by which the panel names you. Open the study from the panel again.").format(
                name=names["participant"]
            )
        )
    if values["participant"] in {placeholder for _, placeholder in PANELS[link.panel].parameters.values()}:
        raise PanelError(
            _("The panel has not filled in {name}, by which it names you. Open the study from the panel.").format(
                name=names["participant"]
            )
        )
    for value in values.values():
        if len(value) > ID_CHARS or not incoming.is_storable(value):
            raise PanelError(_("The URL holds an id that is too long. Open the study from the panel again."))
    return PanelIds(**values)


def _signed(link: StudyLink, names: Mapping[str, str], values: dict, query: Mapping[str, str]) -> dict:
    wrong = PanelError(
        _(
            "The signature of the URL is missing or wrong, so it was changed on its way or is too old. Nothing was "
            "stored. Open the study from the panel again."
        )
    )
    if token := query.get(TOKEN, ""):
        claims = claims_of(token, link.signing_key)
        if claims is None:
            raise wrong
        return {kind: str(claims.get(name, "")) for kind, name in names.items()}
    expected = sign(link.signing_key, {names[kind]: value for kind, value in values.items()})
    if not hmac.compare_digest(expected.encode(), query.get(SIGNATURE, "").lower().encode("utf-8", "replace")):
        raise wrong
    return values


def claims_of(token: str, key: str) -> dict | None:
    """The claims of a JWT that the key signs with HS256; None of any other, and of one that has expired."""
    try:
        head, body, signature = token.encode("ascii").split(b".")
        expected = hmac.new(key.encode(), head + b"." + body, hashlib.sha256).digest()
        if not hmac.compare_digest(expected, _decoded(signature)) or json.loads(_decoded(head)).get("alg") != "HS256":
            return None
        claims = json.loads(_decoded(body))
        is_valid = isinstance(claims, dict) and float(claims.get("exp", "inf")) > time.time()
    except (ValueError, TypeError, AttributeError, RecursionError, binascii.Error):
        return None
    return claims if is_valid else None


def _decoded(part: bytes) -> bytes:
    return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))


def sign(key: str, parameters: Mapping[str, str]) -> str:
    """The HMAC-SHA256 in hex of `name=value` of the parameters, joined by `&`, values as they are before encoding."""
    message = "&".join(f"{name}={value}" for name, value in parameters.items())
    return hmac.new(key.encode(), message.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def check_ending(entered: str) -> None:
    """ValidationError where what participants take back is no code and no URL that a page may lead to."""
    if ":" in entered and not entered.startswith(("https://", "http://")):
        raise ValidationError("Enter a code, or a URL that begins with https://")


def ending_of(participation: Participation) -> tuple[str, str]:
    """The code that the person enters at the panel, and the URL that leads back to it; each empty where the link has
    none for how the participation ended."""
    link = participation.link
    entered = link.endings.get(participation.state, "")
    is_url = entered.startswith(("https://", "http://"))
    code, url = ("", entered) if is_url else (entered, "")
    if code and link.panel:
        url = PANELS[link.panel].completion
    values = {"code": code} | {kind: getattr(participation, f"panel_{kind}") for kind in KINDS}
    for name, value in values.items():
        url = url.replace(f"{{{name}}}", quote(value, safe=""))
    return code, url
