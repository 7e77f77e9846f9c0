"""Forms of items: one more judgement, their priority, a decision."""

from contextlib import suppress

from django import forms

from annotation.models import Decision
from annotation.task_types.base import number_text
from annotation.work.stuck import WAYS


class MoreForm(forms.Form):
    note = forms.CharField(label="Why", required=False, max_length=500)


class PriorityForm(forms.Form):
    """How early the items of a list come; items of equal priority keep their drawn order."""

    priority = forms.TypedChoiceField(
        label="Assign", choices=[(10, "first"), (0, "in the usual order"), (-10, "last")], coerce=int
    )


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
                self.add_error("label", f"Give no label where the outcome is {cleaned['outcome']}")
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
