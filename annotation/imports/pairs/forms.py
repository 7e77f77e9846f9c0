"""Making pairs in the browser: which documents, and how sentences are chosen."""

from __future__ import annotations

from django import forms

from annotation.imports.pairs import pairing
from annotation.imports.pairs.pairing import PairRequest
from annotation.models import Dataset

TITLES = {"methods": "Method", "models": "Model", "settings": "Setting"}
UNNAMED = "-"  # in a form an empty value looks like no choice
SEGMENTERS = {"sentencizer": "spaCy's rule-based sentencizer"}


class PairsForm(forms.Form):
    """A choice per property of the documents, where they differ in it; nothing chosen means all of them."""

    field_order = ("methods", "models", "settings")

    threshold = forms.FloatField(
        label="Drop sentences that reproduce the claim",
        min_value=0.01,
        max_value=1,
        help_text="Those with at least this ROUGE-2 F-measure against the claim; the study of leakage used 0.95.",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )
    segmenter = forms.ChoiceField(label="Sentence segmenter")
    limit = forms.IntegerField(
        label="Number of documents",
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="Drawn at random with the seed. Leave empty for all of them.",
    )
    seed = forms.IntegerField(label="Random seed", initial=0, min_value=0, max_value=2**31 - 1)

    def __init__(self, *args, dataset: Dataset, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["threshold"].initial = pairing.THRESHOLD
        used = pairing.used_segmenter(dataset)
        segmenters = (used,) if used else pairing.installed_segmenters()
        self.fields["segmenter"].choices = [(name, SEGMENTERS.get(name, name)) for name in segmenters]
        self.fields["segmenter"].required = bool(segmenters)  # without any, what is missing is said when it starts
        if used:
            self.fields[
                "segmenter"
            ].help_text = "The same as for the existing pairs: other sentence boundaries would mix with them."
        for name, counts in pairing.values_to_choose(dataset).items():
            if len(counts) > 1:
                self.fields[name] = forms.MultipleChoiceField(
                    label=TITLES[name],
                    required=False,
                    widget=Boxes,
                    choices=[
                        (value or UNNAMED, f"{value or 'not said'} ({number:,})") for value, number in counts.items()
                    ],
                    help_text="Tick none to use all.",
                )
        self.order_fields(self.field_order)

    def request(self) -> PairRequest:
        chosen = {
            name: tuple("" if value == UNNAMED else value for value in self.cleaned_data.get(name, ()))
            for name in pairing.CHOICES
        }
        own = {name: self.cleaned_data[name] for name in ("threshold", "segmenter", "limit", "seed")}
        return PairRequest(**chosen, **own)


class Boxes(forms.CheckboxSelectMultiple):
    use_fieldset = True
