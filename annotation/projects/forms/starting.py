"""The last part of a new study: who labels, and by which guidelines."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from annotation.projects.accounts.pasted import MOST, PASTE_CHARS, parse_pasted
from annotation.projects.forms.projects import GuidelinesForm


class EmailsField(forms.CharField):
    """Pasted addresses, each once; one that is wrong is named with its line, and none is taken."""

    widget = forms.Textarea(attrs={"rows": 4, "autocomplete": "off", "spellcheck": "false"})

    def clean(self, value) -> list[str]:
        pasted = parse_pasted(super().clean(value))
        addresses = list(dict.fromkeys(one.text for one in pasted if not one.problem))
        wrong = [one for one in pasted if one.problem and one.text not in addresses]
        if wrong:
            lines = [f"Line {one.line}: “{one.text[:60]}” is {one.problem}" for one in wrong]
            raise ValidationError([*lines, "Nobody was invited."])
        if len(addresses) > MOST:
            raise ValidationError(f"{len(addresses)} addresses: invite at most {MOST} at once")
        return addresses


class StartForm(GuidelinesForm):
    emails = EmailsField(
        label="Annotators",
        required=False,
        max_length=PASTE_CHARS,
        help_text="Paste email addresses, or a table with a column of them. Each person gets a link.",
    )
    labels_too = forms.BooleanField(label="I label too", required=False)

    field_order = ("emails", "labels_too", "markdown")
