"""Forms of study links."""

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from annotation import incoming
from annotation.editing import SharedForm
from annotation.models import ConsentForm, StudyLink
from annotation.participation import links


class StudyLinkForm(SharedForm, forms.Form):
    title = forms.CharField(max_length=200, help_text="Shown to participants before they join.")
    places = forms.IntegerField(
        min_value=1, max_value=links.MOST_PLACES, help_text="How many people can join by this link."
    )
    last_day = forms.DateField(
        required=False,
        validators=[MinValueValidator(incoming.EARLIEST.date()), MaxValueValidator(incoming.LATEST.date())],
        help_text="Nobody joins afterwards (UTC); who has joined goes on.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    group = forms.CharField(
        required=False, max_length=200, help_text="Of the raters who come by this link, such as crowd. Exports show it."
    )

    def __init__(self, *args, link: StudyLink | None = None, **kwargs):
        if link is not None:
            kwargs["initial"] = {name: getattr(link, name) for name in self.base_fields}
        super().__init__(*args, **kwargs)

    @property
    def values(self) -> dict:
        """What the link's fields become."""
        values = dict(self.cleaned_data)
        day = values.pop("last_day")
        return values | {"expires_at": links.end_of(day) if day else None}


class ConsentTextForm(SharedForm, forms.Form):
    markdown = forms.CharField(
        label="Consent form in Markdown",
        required=False,
        max_length=200_000,
        help_text="What the study is about, what is stored, who sees it, the pay, whom to ask. Empty: nobody is asked.",
        widget=forms.Textarea(attrs={"rows": 16}),
    )
    on_withdrawal = forms.ChoiceField(
        label="When a person withdraws",
        choices=ConsentForm.OnWithdrawal.choices,
        initial=ConsentForm.OnWithdrawal.KEEP,
        help_text="Shown below the text. It holds for those who consent to this version.",
        widget=forms.RadioSelect,
    )


class ReturnForm(forms.Form):
    code = forms.CharField(
        max_length=60,
        label="Your return code",
        help_text="Four groups of four letters and digits, which you were shown when you joined.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )
