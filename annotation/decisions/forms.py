"""Forms of items: one more judgement, their priority, a decision."""

from contextlib import suppress

from django import forms

from annotation.formats.names import run_name
from annotation.models import CheckerRun, Decision, Project, Rater
from annotation.task_types.base import number_text
from annotation.work import ordering, reserving
from annotation.work.stuck import WAYS


class MoreForm(forms.Form):
    note = forms.CharField(label="Why", required=False, max_length=500)


class PriorityForm(forms.Form):
    """How early the items of a list come; items of equal priority keep their drawn order."""

    priority = forms.TypedChoiceField(
        label="Assign", choices=[(10, "first"), (0, "in the usual order"), (-10, "last")], coerce=int
    )


class OrderForm(forms.Form):
    """The order of all items of a project. `order` needs runs where checkers say it."""

    order = forms.ChoiceField(
        label="Order of all items", choices=[(name, one.title) for name, one in ordering.ORDERS.items()]
    )
    run = forms.ModelChoiceField(CheckerRun.objects.none(), label="Checker run", required=False, to_field_name="uuid")
    random_percent = forms.IntegerField(
        label="Share at random places, in %", required=False, min_value=0, max_value=100, initial=20
    )

    def __init__(self, *args, project: Project, **kwargs):
        super().__init__(*args, **kwargs)
        runs = [run.pk for run in ordering.runs_for(project)]
        self.fields["run"].queryset = CheckerRun.objects.filter(pk__in=runs).order_by("-created_at")
        self.fields["run"].label_from_instance = lambda run: (
            f"{run_name(run.checker, run.version)}, {run.created_at:%d %b %Y}"
        )

    def clean_random_percent(self):
        percent = self.cleaned_data["random_percent"]
        return self.fields["random_percent"].initial if percent is None else percent


class NamedAnnotatorsField(forms.CharField):
    """Numbers of annotators who are named, where there are too many to choose from."""

    widget = forms.Textarea(attrs={"rows": 3})

    def __init__(self, project: Project, **kwargs):
        self.project = project
        super().__init__(help_text="Email addresses or pseudonyms with semicolons between them", **kwargs)

    def clean(self, value) -> list[str]:
        try:
            rule = reserving.rule_of(self.project, reserving.listed(super().clean(value)), (), {})
        except reserving.ReservingError as error:
            raise forms.ValidationError(str(error)) from None
        return [str(pk) for pk in rule.people]


class ReservingForm(forms.Form):
    """For whom items are: `rule` of valid input."""

    MOST_OFFERED = 100

    people = forms.MultipleChoiceField(
        label="All of these annotators", required=False, widget=forms.CheckboxSelectMultiple
    )
    without = forms.MultipleChoiceField(
        label="None of these annotators", required=False, widget=forms.CheckboxSelectMultiple
    )
    group = forms.ChoiceField(label="Annotators of the group", required=False)
    per_group = forms.IntegerField(
        label="So many of the group", required=False, min_value=1, max_value=reserving.MOST_OF_A_GROUP
    )

    def __init__(self, *args, project: Project, people: list[Rater], **kwargs):
        super().__init__(*args, **kwargs)
        self.sizes = reserving.groups_of(people)
        for name in ("people", "without"):
            if len(people) > self.MOST_OFFERED:
                self.fields[name] = NamedAnnotatorsField(project, label=self.fields[name].label, required=False)
            else:
                self.fields[name].choices = [(str(one.pk), one.name) for one in people]
        counted = [(name, f"{name} ({number})") for name, number in self.sizes.items()]
        self.fields["group"].choices = [("", "None"), *counted]

    def clean(self):
        cleaned = super().clean()
        people, without = (set(cleaned.get(name) or ()) for name in ("people", "without"))
        if people & without:
            self.add_error("without", "Nobody can both get the items and not get them")
        group, number = cleaned.get("group"), cleaned.get("per_group")
        if group and number and number > self.sizes[group]:
            self.add_error("per_group", f"The group has {self.sizes[group]}")
        if group and not number and "per_group" not in self.errors:
            self.add_error("per_group", "Enter how many")
        return cleaned

    @property
    def rule(self) -> reserving.ItemRule:
        values = self.cleaned_data
        people, without = (tuple(map(int, values[name])) for name in ("people", "without"))
        return reserving.ItemRule(people, without, {values["group"]: values["per_group"]} if values["group"] else {})


class ReservingTableForm(forms.Form):
    """A file; or its text, which the page of the preview carries."""

    table = forms.FileField(label="CSV file", required=False)
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def clean(self):
        cleaned = super().clean()
        if not cleaned.get("table") and not cleaned.get("text"):
            self.add_error("table", "Choose a CSV file")
        return cleaned

    def content(self, most: int) -> bytes:
        file = self.cleaned_data["table"]
        return file.read(most) if file else self.cleaned_data["text"].encode()


class StuckForm(forms.Form):
    """What to do about one stuck item, or about all that a search finds."""

    way = forms.ChoiceField(choices=[(name, title) for name, (title, _) in WAYS.items()])
    item = forms.UUIDField(required=False)


class DecisionWithdrawalForm(forms.Form):
    """`number` is the decision's that the person saw: one that was made since stays."""

    unit = forms.CharField(strip=False)
    dimension = forms.CharField(max_length=40)
    number = forms.IntegerField(min_value=1, max_value=2**31 - 1)


class DecisionForm(forms.Form):
    """A decision on one unit and dimension; the answer must be one of the dimension's, unless the outcome is another.
    Where it is of several labels, each comes by itself, and none where none is chosen."""

    unit = forms.CharField(strip=False)
    dimension = forms.ChoiceField()
    label = forms.CharField(required=False)
    outcome = forms.ChoiceField(choices=Decision.Outcome.choices, required=False)
    note = forms.CharField(required=False, max_length=2000)

    def __init__(self, *args, type, **kwargs):
        super().__init__(*args, **kwargs)
        self.type = type
        self.fields["dimension"].choices = [(dimension.slug, dimension.title) for dimension in type.dimensions]

    def clean(self):
        cleaned = super().clean()
        if self.data.get("withdraw") or not {"dimension", "label", "outcome"} <= set(cleaned):
            return cleaned
        cleaned["outcome"] = cleaned["outcome"] or Decision.Outcome.LABEL.value
        if cleaned["outcome"] != Decision.Outcome.LABEL:
            if cleaned["label"]:
                outcome = Decision.Outcome(cleaned["outcome"]).label.lower()
                self.add_error("label", f"A decision that is {outcome} has no label: leave the label empty")
            return cleaned
        dimension = self.type.dimension(cleaned["dimension"])
        if dimension.takes_several:
            chosen = self.data.getlist("label")
            cleaned["label"] = dimension.answer_of(chosen) if set(chosen) <= set(dimension.values) else ""
        elif dimension.takes_number:
            with suppress(ValueError):
                cleaned["label"] = number_text(float(cleaned["label"]))
        cleaned["label"] = cleaned["label"].replace("\r\n", "\n")
        if not dimension.takes(cleaned["label"]):
            self.add_error("label", f"{dimension.title} takes {dimension.known_answers}")
        return cleaned
