"""Forms of projects: making one, changing its settings, its guidelines."""

from collections.abc import Iterable

from django import forms

from annotation.datasets.queries import set_counts
from annotation.editing import SharedForm
from annotation.models import PIECE_LINKS, Dataset, Membership, Project, Unit, User
from annotation.projects.draft_kinds import drafted_for, sources_in
from annotation.projects.item_making import can_collect
from annotation.projects.label_sets import newest_for
from annotation.projects.limits import last_day
from annotation.projects.managing import unknown_questions
from annotation.projects.prefill import why_not_drawn
from annotation.projects.setting_kinds.kinds import ProjectSetting
from annotation.projects.settings import SELDOM, TASK, asked, changeable, why_not_paid
from annotation.task_types import current_task_types, task_type


class ProjectForm(forms.Form):
    """Of a new project: what it is about, and its settings."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), label="Data set", empty_label=None)
    task_type = forms.ChoiceField(label="Task", widget=forms.RadioSelect, help_text="It cannot be changed later.")
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text="Markdown. Every label records the version that its annotator had acknowledged.",
    )

    def __init__(self, *args, datasets, user, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields |= {one.field_name: one.form_field() for one in asked()}
        self.fields["dataset"].queryset = datasets
        self.fields["task_type"].choices = task_choices(user)
        self.fields["task_type"].initial = current_task_types()[0].identifier

    def clean(self):
        cleaned = super().clean()
        _check_shares(self, cleaned)
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

    @property
    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The settings, but for those of the task."""
        names = [name for name in dict.fromkeys(one.section for one in asked()) if name != TASK]
        return [(name, [self[one.field_name] for one in asked() if one.section == name]) for name in names]

    def arguments(self) -> dict:
        """What `create_project` takes."""
        names = {one.field_name: one.name for one in asked()}
        return {names.get(name, name): value for name, value in self.cleaned_data.items()}


def _check_shares(form: forms.Form, cleaned: dict) -> None:
    if problem := why_not_drawn(cleaned.get("prefill_shown_percent"), cleaned.get("prefill_after_percent")):
        form.add_error("prefill_after_percent", problem)


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


class ProjectSettingsForm(SharedForm, forms.Form):
    def __init__(self, *args, project: Project, **kwargs):
        kwargs["initial"] = {one.name: getattr(project, one.name) for one in changeable()}
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields |= {one.field_name: one.form_field(project) for one in changeable()}

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """Each with its title and fields, and whether it is folded: what few projects use, and this one does not."""
        titles = {one: one.group or one.section for one in changeable()}
        return [
            (title, [self[one.field_name] for one in own], title in SELDOM and self._has_defaults(own))
            for title in dict.fromkeys(titles.values())
            if (own := [one for one, of in titles.items() if of == title])
        ]

    def _has_defaults(self, settings: Iterable[ProjectSetting]) -> bool:
        defaults = (Project._meta.get_field(one.name).get_default() for one in settings)
        values = (getattr(self.project, one.name) for one in settings)
        return not self.is_bound and list(values) == list(defaults)

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("prefill") not in (None, Project.Prefill.OFF) and not cleaned.get("prefill_run"):
            self.add_error(
                "prefill_run", "Choose the run whose suggestions are shown; start one first if there is none"
            )
        _check_shares(self, cleaned)
        if problem := last_day.why_not(cleaned.get("last_day"), self.project.last_day):
            self.add_error("last_day", problem)
        if problem := last_day.why_not_of_groups(cleaned.get("group_quotas") or "", self.project.group_quotas):
            self.add_error("group_quotas", problem)
        if problem := why_not_paid(cleaned):
            self.add_error("pay_currency", problem)
        if unknown := unknown_questions(self.project, cleaned.get("further_questions") or ""):
            self.add_error("further_questions", f"The project asks no question {unknown[0]!r}")
        return cleaned


class RolesForm(SharedForm, forms.Form):
    roles = forms.MultipleChoiceField(choices=Membership.Role.choices, required=False)


class GuidelinesForm(SharedForm, forms.Form):
    markdown = forms.CharField(
        label="Guidelines in Markdown", required=False, max_length=200_000, widget=forms.Textarea(attrs={"rows": 16})
    )
