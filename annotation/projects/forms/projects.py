"""Forms of projects: making one, changing its settings, its guidelines."""

from django import forms

from annotation import incoming
from annotation.datasets.queries import set_counts
from annotation.editing import SharedForm
from annotation.models import PIECE_LINKS, Dataset, Membership, Project, Unit, User
from annotation.projects.draft_kinds import drafted_for, sources_in
from annotation.projects.item_making import can_collect
from annotation.projects.label_sets import newest_for
from annotation.projects.prefill import prefill_runs
from annotation.task_types import current_task_types, task_type

PREFILL_HELP = (
    "With Off, no checker influences the labels. Shown is the fastest, but comparisons with a checker leave out labels "
    "given while its suggestion was visible. After the first answer keeps that answer uninfluenced and still lets "
    "people reconsider."
)


def _whole(label, initial, minimum, maximum, help_text="", **kwargs) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, initial=initial, min_value=minimum, max_value=maximum, help_text=help_text, **kwargs
    )


class PlainRadio(forms.RadioSelect):
    use_fieldset = True


class PieceSetField(forms.CharField):
    """The name of a set of pieces; empty: the unnamed one."""

    def __init__(self, **kwargs):
        more = {"label": "Set of pieces", "required": False, "max_length": incoming.PIECE_SET_CHARS}
        super().__init__(**(more | kwargs))

    def clean(self, value):
        try:
            return incoming.piece_set(super().clean(value))
        except incoming.Refused as refused:
            raise forms.ValidationError(f"This {refused}") from None


class ProjectForm(forms.Form):
    title = forms.CharField(max_length=200)
    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set", empty_label=None)
    task_type = forms.ChoiceField(label="Task", widget=PlainRadio, help_text="It cannot be changed later.")
    piece_set = PieceSetField(
        help_text="Where triplets, sub-sentences, atomic claims or aspects are judged: the name of the set that they "
        "belong to, such as an extractor's. Empty: those without a set. It cannot be changed later."
    )
    overlap = _whole("Judgements per item", 2, 0, 20, "By different people. 0: nobody labels here.")
    multiple_percent = _whole(
        "Percentage of items with this many judgements",
        100,
        0,
        100,
        "The others get one judgement. The items are drawn at random with the seed.",
    )
    order = forms.ChoiceField(choices=Project.Order.choices, widget=PlainRadio, initial=Project.Order.RANDOM)
    seed = _whole("Seed", None, 0, 2**31 - 1, "Of the random order. Leave empty to draw one.", required=False)
    prefill = forms.ChoiceField(
        label="Suggestions of checkers",
        choices=Project.Prefill.choices,
        widget=PlainRadio,
        initial=Project.Prefill.OFF,
        help_text=PREFILL_HELP,
    )
    minimum_seconds = _whole(
        "Minimum time per item, in seconds", 0, 0, 600, "Annotators are asked to confirm faster answers. 0: no minimum."
    )
    lease_minutes = _whole(
        "Time to answer, in minutes",
        60,
        1,
        10080,
        "An assignment not answered in time goes to another annotator.",
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Markdown. Every label records the version that its annotator had acknowledged.",
    )

    def __init__(self, *args, datasets, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["dataset"].queryset = datasets
        self.fields["task_type"].choices = task_choices(user)
        self.fields["task_type"].initial = current_task_types()[0].identifier

    def clean(self):
        cleaned = super().clean()
        dataset, identifier = cleaned.get("dataset"), cleaned.get("task_type")
        if dataset and identifier:
            kind, piece_set = task_type(identifier).anchor_kind, cleaned.get("piece_set")
            units = Unit.objects.published().filter(dataset=dataset, kind=kind)
            can_be_drafted = _can_be_drafted(dataset, identifier)
            if not (can_be_drafted or units.exists() or can_collect(dataset.pk, task_type(identifier))):
                name = kind.replace("_", " ")
                self.add_error("task_type", f"The data set “{dataset}” has nothing to judge in this task (no {name})")
            elif piece_set is not None and (problem := why_no_set(dataset, identifier, piece_set, can_be_drafted)):
                self.add_error("piece_set", problem)
        return cleaned

    def arguments(self) -> dict:
        """What `create_project` takes."""
        values = dict(self.cleaned_data)
        values["multiple_share"] = values.pop("multiple_percent") / 100
        return values


def why_no_set(dataset: Dataset, identifier: str, piece_set: str, can_be_drafted: bool) -> str:
    """Why a project of the task cannot judge this set of the data set; empty where it can. Pieces of a set that is yet
    to be drafted may come later."""
    kind = task_type(identifier).unit_kind
    if kind not in PIECE_LINKS:
        return "This task judges no pieces of a set: leave this empty" if piece_set else ""
    counts = set_counts(dataset).get(PIECE_LINKS[kind], {})
    if piece_set in counts or (can_be_drafted and (piece_set or not counts)) or not counts:
        return ""
    known = ", ".join(filter(None, counts)) or "none that has a name"
    return f"The data set has no such set; it has {known}" if piece_set else f"Name the set: the data set has {known}"


def task_choices(user: User) -> list[tuple]:
    """What a project of this person can ask: what Assay ships, and the label sets that they have."""
    shipped = [(kind.identifier, kind.title) for kind in current_task_types()]
    own = [(row.identifier, str(row)) for row in newest_for(user).order_by("title", "pk")]
    return [("Task types", shipped), ("Your label sets", own)] if own else shipped


def _can_be_drafted(dataset: Dataset, identifier: str) -> bool:
    """Whether what the task judges can still be extracted from what the data set has."""
    kind = task_type(identifier)
    return drafted_for(kind) is not None and sources_in(dataset, kind).exists()


class ProjectSettingsForm(SharedForm, forms.ModelForm):
    prefill = forms.ChoiceField(
        label="Suggestions of checkers", choices=Project.Prefill.choices, widget=PlainRadio, help_text=PREFILL_HELP
    )

    class Meta:
        model = Project
        fields = [
            "title",
            "description",
            "prefill",
            "prefill_run",
            "shows_decisions",
            "minimum_seconds",
            "lease_minutes",
        ]
        labels = {
            "prefill_run": "Suggestions come from",
            "shows_decisions": "Show annotators what was decided of items that they have answered",
            "minimum_seconds": "Minimum time per item, in seconds",
            "lease_minutes": "Time to answer, in minutes",
        }
        help_texts = {
            "prefill_run": "The checker run whose suggestions annotators see.",
            "shows_decisions": "The label and its reason, never others' answers or notes. Answers that they change "
            "afterwards are marked and, by default, left out of agreement.",
            "minimum_seconds": "Annotators are asked to confirm faster answers. 0: no minimum.",
            "lease_minutes": "An assignment not answered in time goes to another annotator.",
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["prefill_run"].queryset = prefill_runs(self.instance).order_by("-created_at")
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


class RolesForm(SharedForm, forms.Form):
    roles = forms.MultipleChoiceField(choices=Membership.Role.choices, required=False)


class GuidelinesForm(SharedForm, forms.Form):
    markdown = forms.CharField(
        label="Guidelines in Markdown", required=False, max_length=200_000, widget=forms.Textarea(attrs={"rows": 16})
    )
