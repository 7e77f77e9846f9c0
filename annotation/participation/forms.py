"""Forms of study links."""

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator

from annotation import incoming
from annotation.editing import SharedForm
from annotation.models import ConsentForm, StudyLink
from annotation.participation import links, panels
from annotation.participation.panels import check_ending

PARAMETERS = {"participant": "Parameter of the participant", "study": "Of the study", "session": "Of the session"}


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

    most_items = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=links.MOST_PLACES,
        label="Items per person",
        help_text="Empty: as many as there are.",
    )
    minutes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=links.MOST_MINUTES,
        label="Minutes per person",
        help_text="Afterwards the place goes to another person. Empty: no limit.",
    )
    panel = forms.ChoiceField(
        required=False, choices=[("", "None"), *((one.slug, one.title) for one in panels.PANELS.values())]
    )
    signing_key = forms.CharField(
        required=False,
        max_length=200,
        help_text="If the panel signs its URLs: a URL without a right signature is refused. Never shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )

    def __init__(self, *args, link: StudyLink | None = None, **kwargs):
        self.link = link
        if link is not None:
            kwargs["initial"] = {name: getattr(link, name, "") for name in self.base_fields if name != "signing_key"}
            kwargs["initial"] |= {f"parameter_{kind}": name for kind, name in link.parameters.items()}
            kwargs["initial"] |= {f"ending_{state}": entered for state, entered in link.endings.items()}
        super().__init__(*args, **kwargs)
        for kind, title in PARAMETERS.items():
            self.fields[f"parameter_{kind}"] = forms.RegexField(
                r"^[\w.-]{1,60}$", required=False, label=title, help_text="For another panel only."
            )
        for state, title in panels.OUTCOMES.items():
            self.fields[f"ending_{state}"] = forms.CharField(
                required=False, max_length=500, label=f"{title}: code or URL", validators=[check_ending]
            )
        if link is not None and link.signing_key:
            self.fields["drop_key"] = forms.BooleanField(required=False, label="Remove the signing key")

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        of_panel = ["panel", *(f"parameter_{kind}" for kind in PARAMETERS), "signing_key", "drop_key"]
        endings = [f"ending_{state}" for state in panels.OUTCOMES]
        first = [name for name in self.fields if name not in (*of_panel, *endings)]
        titled = (("Link", first), ("Panel", of_panel), ("What participants take back to the panel", endings))
        return [(title, [self[name] for name in names if name in self.fields]) for title, names in titled]

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("panel") == panels.URL and not cleaned.get("parameter_participant"):
            self.add_error("parameter_participant", "Name the parameter that holds the participant")
        return cleaned

    @property
    def values(self) -> dict:
        """What the link's fields become."""
        cleaned = self.cleaned_data
        values = {name: cleaned[name] for name in ("title", "places", "group", "most_items", "minutes", "panel")}
        values["expires_at"] = links.end_of(cleaned["last_day"]) if cleaned["last_day"] else None
        values["parameters"] = {kind: name for kind in PARAMETERS if (name := cleaned[f"parameter_{kind}"])}
        values["endings"] = {state: entered for state in panels.OUTCOMES if (entered := cleaned[f"ending_{state}"])}
        if cleaned["signing_key"] or cleaned.get("drop_key"):
            values["signing_key"] = cleaned["signing_key"]
        return values


class OutcomeForm(forms.Form):
    outcome = forms.ChoiceField(choices=list(panels.OUTCOMES.items()))


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
