"""What is asked about a release."""

from django import forms
from django.db.models import QuerySet

from analysis.scopes import scope_of
from analysis.sources.selection import ARMS
from analysis.sources.several import per_label
from analysis.sources.wrong import WrongChoice
from annotation.exports.releasing import sets_for
from annotation.models import Project

FILTERS = ("source", "label", "arm", "guidelines", "since", "until")
VERSION = r"^[0-9]+(\.[0-9]+){0,2}\Z"


class ReleaseForm(forms.Form):
    version = forms.RegexField(
        VERSION,
        max_length=40,
        required=False,
        help_text="The version to cite, such as 1.0.0. Increase the first number if labels changed.",
        error_messages={"invalid": "Enter a version made of numbers and dots, such as 1.0.0"},
    )
    projects = forms.MultipleChoiceField(
        label="Together with",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Other projects on the data set: each is a numbered folder of the release, and a release of its own.",
    )
    note = forms.CharField(
        label="Purpose", max_length=2000, required=False, help_text="Such as the paper, or what changed."
    )

    decisions = forms.ChoiceField(
        label="One label per unit from",
        required=False,
        help_text="Every decision is in the files, whichever is chosen.",
    )
    source = forms.CharField(label="Only the source", max_length=300, required=False)
    label = forms.ChoiceField(label="Only units with the label", required=False)
    arm = forms.ChoiceField(label="Only answers of the arm", required=False)
    guidelines = forms.CharField(label="Only answers under version of the guidelines", max_length=9, required=False)
    since = forms.DateField(label="Only answers from", required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label="Only answers to", required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, *args, project: Project, others: QuerySet[Project], **more):
        super().__init__(*args, **more)
        self.project = project
        labels = [
            (f"{one.slug}:{label.value}", f"{one.title}: {label.title}")
            for one in per_label(project.type).dimensions
            for label in one.labels
        ]
        self.fields["decisions"].choices = sets_for(project)
        self.fields["label"].choices = [("", "any"), *labels]
        self.fields["arm"].choices = [("", "any"), *((one, one) for one in ARMS)]
        self.others = {one.slug: one for one in others}
        self.fields["projects"].choices = [(slug, one.title) for slug, one in self.others.items()]
        if not self.others:
            del self.fields["projects"]

    def clean_projects(self) -> list[Project]:
        return [self.others[slug] for slug in self.cleaned_data["projects"]]

    @property
    def of_release(self):
        return [self[name] for name in ("version", "note")]

    @property
    def of_contents(self):
        return [self[name] for name in ("projects", "decisions") if name in self.fields]

    @property
    def of_filters(self):
        return [self[name] for name in FILTERS]

    def clean(self):
        cleaned = super().clean()
        filters = {name: str(cleaned[name]) for name in FILTERS if cleaned.get(name)}
        try:
            cleaned["filters"] = scope_of(self.project, filters).get("selection", {})
        except WrongChoice as error:
            for name in error.names:
                self.add_error(name if name in FILTERS else None, str(error))
        return cleaned


class WithdrawalForm(forms.Form):
    reason = forms.CharField(
        label="Why it must not be used any more",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown on every page of the release, the public one included, and in the API.",
    )


class PublicForm(forms.Form):
    with_comments = forms.BooleanField(
        label="With comments, notes and reasons",
        required=False,
        help_text="What annotators and adjudicators wrote besides their answers. It may name people: check it first.",
    )


class HubForm(forms.Form):
    repository = forms.CharField(
        max_length=200, help_text="OWNER/NAME, such as harbour-institute/ports. The owner is you or an organisation."
    )
    token = forms.CharField(
        max_length=200,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="A token of the hub with write access. It is stored encrypted, and deleted after the upload.",
    )
    keeps_token = forms.BooleanField(label="Keep the token, encrypted, for my next publications", required=False)
    is_update = forms.BooleanField(
        label="The repository exists: add a new version",
        required=False,
        help_text="Otherwise a new repository is created, and an existing one is refused.",
    )
    is_public = forms.BooleanField(label="Everybody may see the new repository", required=False)
    with_comments = forms.BooleanField(label="With comments, notes and reasons", required=False)
