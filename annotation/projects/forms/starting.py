"""The last part of a new study: who labels, and by which guidelines."""

from __future__ import annotations

import re

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from annotation import incoming
from annotation.projects.forms.projects import GuidelinesForm

MOST_AT_ONCE, NAMED = 50, 3
SEPARATORS = re.compile(r"[\s,;]+")


class EmailsField(forms.CharField):
    """Addresses as people paste them: lines, commas or semicolons between them, in <> after a name or alone."""

    widget = forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"})

    def clean(self, value) -> list[str]:
        text = super().clean(value)
        found = re.findall(r"<([^<>]*)>", text) if "<" in text else []
        # Of what has names, the rest is names; an address without brackets among them counts, too.
        found += [one for one in SEPARATORS.split(re.sub(r"<[^<>]*>", " ", text)) if one and ("@" in one or not found)]
        addresses = list(dict.fromkeys(one.strip().strip("<>").lower() for one in found))
        if wrong := [one for one in addresses if not _is_email(one)]:
            names = ", ".join(f"“{one[:60]}”" for one in wrong[:NAMED]) + (" and others" if wrong[NAMED:] else "")
            raise ValidationError(f"Not an e-mail address: {names}. Nobody was invited.")
        if len(addresses) > MOST_AT_ONCE:
            raise ValidationError(f"{len(addresses)} addresses: invite at most {MOST_AT_ONCE} at once")
        return addresses


def _is_email(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= incoming.EMAIL_CHARS


class StartForm(GuidelinesForm):
    emails = EmailsField(
        label="Annotators",
        required=False,
        max_length=MOST_AT_ONCE * (incoming.EMAIL_CHARS + 2),
        help_text="Paste e-mail addresses. Each gets a link, to be sent by mail or passed on.",
    )
    labels_too = forms.BooleanField(label="I label too", required=False)

    field_order = ("emails", "labels_too", "markdown")
