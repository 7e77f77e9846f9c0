"""The form of a webhook."""

from django import forms

from annotation.webhooks.events import EVENTS
from models_runtime.egress import URL_CHARS


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Address",
        max_length=URL_CHARS,
        help_text="The address that receives the requests, such as https://example.org/assay. It must be public.",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        label="Events", choices=list(EVENTS.items()), initial=list(EVENTS), widget=forms.CheckboxSelectMultiple
    )
