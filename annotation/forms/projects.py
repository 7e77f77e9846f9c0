"""Forms of projects: making one, changing its settings, its guidelines, deciding on items."""

from django import forms

from annotation.models import Dataset, Project, Unit
from annotation.queries.suggestions import scorers
from annotation.services.draft_kinds import drafted_for, sources_in
from annotation.task_types import current_task_types, task_type

PREFILL_HELP = (
    "Off gives labels that no checker touched. Shown is the fastest, but figures against a checker leave out what "
    "people saw it say. After the first answer keeps that answer untouched and still lets people reconsider."
)


def _whole(label, initial, minimum, maximum, help_text="", **kwargs) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, min_value=minimum, max_value=maximum, help_text=help_text, **kwargs
    )


class PlainRadio(forms.RadioSelect):
    use_fieldset = True


class ProjectForm(forms.Form):
    title = forms.CharField(max_length=200)
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set", empty_label=None)
    task_type = forms.ChoiceField(
        label="Task", widget=PlainRadio, help_text="What people are asked; it cannot change later."
    )
    overlap = _whole("Judgements per item", 2, 0, 20, "By different people. 0: nobody labels here.")
    multiple_percent = _whole(
        "Share of items with that many, in per cent",
        100,
        0,
        100,
        "The others get one judgement. Which items these are is drawn with the seed.",
    )
    order = forms.ChoiceField(choices=Project.Order.choices, widget=PlainRadio, initial=Project.Order.RANDOM)
    seed = _whole("Seed", None, 0, 2**31 - 1, "Decides the random order. Left empty, one is drawn.", required=False)
    prefill = forms.ChoiceField(
        label="Suggestions of checkers",
        choices=Project.Prefill.choices,
        widget=PlainRadio,
        initial=Project.Prefill.OFF,
        help_text=PREFILL_HELP,
    )
    minimum_seconds = _whole(
        "Minimum time per item, in seconds", 0, 0, 600, "Faster answers are asked to look again. 0: no minimum."
    )
    lease_minutes = _whole(
        "Time to answer, in minutes", 60, 1, 10080, "An item that somebody took and left goes to others after this."
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Markdown. Annotators have them one key away; every label keeps the version it was made under.",
    )

    def __init__(self, *args, datasets, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = datasets
        self.fields["task_type"].choices = [(kind.identifier, kind.title) for kind in current_task_types()]
        self.fields["task_type"].initial = current_task_types()[0].identifier

    def clean(self):
        cleaned = super().clean()
        dataset, identifier = cleaned.get("dataset"), cleaned.get("task_type")
        if dataset and identifier:
            kind = task_type(identifier).anchor_kind
            if not Unit.objects.published().filter(dataset=dataset, kind=kind).exists() and not _can_be_drafted(
                dataset, identifier
            ):
                name = kind.replace("_", " ")
                self.add_error("task_type", f"The data set “{dataset}” has nothing to judge this way (no {name})")
        return cleaned

    def arguments(self) -> dict:
        """What `create_project` takes."""
        values = dict(self.cleaned_data)
        values["multiple_share"] = values.pop("multiple_percent") / 100
        return values


def _can_be_drafted(dataset: Dataset, identifier: str) -> bool:
    """Whether what the task judges can still be extracted from what the data set has."""
    kind = task_type(identifier)
    return drafted_for(kind) is not None and sources_in(dataset, kind).exists()


class ProjectSettingsForm(forms.ModelForm):
    prefill = forms.ChoiceField(
        label="Suggestions of checkers", choices=Project.Prefill.choices, widget=PlainRadio, help_text=PREFILL_HELP
    )

    class Meta:
        model = Project
        fields = ["title", "description", "prefill", "prefill_run", "minimum_seconds", "lease_minutes"]
        labels = {
            "prefill_run": "Suggestions come from",
            "minimum_seconds": "Minimum time per item, in seconds",
            "lease_minutes": "Time to answer, in minutes",
        }
        help_texts = {
            "prefill_run": "The checker run whose suggestions annotators see.",
            "minimum_seconds": "Faster answers are asked to look again. 0: no minimum.",
            "lease_minutes": "An item that somebody took and left goes to others after this.",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["prefill_run"].queryset = self.instance.checker_runs.exclude(checker__in=scorers()).order_by(
            "-created_at"
        )
        self.fields["prefill_run"].label_from_instance = lambda run: (
            f"{run.checker} {run.version}, {run.created_at:%d %b %Y %H:%M}"
        )
        self.fields["prefill_run"].empty_label = "No run yet"
        self.fields["lease_minutes"].validators.append(forms.fields.validators.MinValueValidator(1))

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("prefill") not in (None, Project.Prefill.OFF) and not cleaned.get("prefill_run"):
            self.add_error(
                "prefill_run", "Choose the run whose suggestions are shown; start one first if there is none"
            )
        return cleaned


class GuidelinesForm(forms.Form):
    markdown = forms.CharField(
        label="Guidelines in Markdown", required=False, max_length=200_000, widget=forms.Textarea(attrs={"rows": 16})
    )


class MoreForm(forms.Form):
    note = forms.CharField(label="Why", required=False, max_length=500)


class PriorityForm(forms.Form):
    """How early the items of a list come; items of equal priority keep their drawn order."""

    priority = forms.TypedChoiceField(
        label="Work on these", choices=[(10, "first"), (0, "in their usual turn"), (-10, "last")], coerce=int
    )


class DecisionForm(forms.Form):
    """A decision on one unit and dimension; the label must be one of the dimension's."""

    unit = forms.CharField(strip=False, widget=forms.HiddenInput)
    dimension = forms.ChoiceField(widget=forms.HiddenInput)
    label = forms.CharField(max_length=80)
    note = forms.CharField(required=False, max_length=2000)

    def __init__(self, *args, type, **kwargs):
        super().__init__(*args, **kwargs)
        self.type = type
        self.fields["dimension"].choices = [(dimension.slug, dimension.title) for dimension in type.dimensions]

    def clean(self):
        cleaned = super().clean()
        if "dimension" in cleaned and cleaned.get("label") not in self.type.dimension(cleaned["dimension"]).values:
            self.add_error("label", "There is no such label")
        return cleaned
