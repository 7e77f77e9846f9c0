"""What a checker is to be trained on, and how."""

from django import forms

from annotation.models import TrainedModel
from annotation.services.training import CLASSIFIERS, MIN_PER_LABEL, REPRESENTATIONS, TrainingRequest


class TrainingForm(forms.Form):
    source = forms.ChoiceField(label="Labels", choices=TrainedModel.Source.choices)
    representation = forms.ChoiceField(
        label="What it sees",
        choices=list(REPRESENTATIONS.items()),
        help_text="Embeddings carry meaning, shared words carry overlap, numbers and negations.",
    )
    classifier = forms.ChoiceField(
        label="Classifier",
        choices=list(CLASSIFIERS.items()),
        help_text="Support vectors do best on pairs of sentences, and take hours with tens of thousands of labels.",
    )
    minimum = forms.IntegerField(
        label="Labels of each kind, at least",
        min_value=MIN_PER_LABEL,
        max_value=1_000_000,
        help_text=f"Fewer than {MIN_PER_LABEL} cannot be learnt from.",
    )
    balanced = forms.BooleanField(
        label="Rare labels count as much as frequent ones",
        required=False,
        help_text="Better for macro-F1, and worse for accuracy where one label prevails.",
    )
    skip_rare = forms.BooleanField(
        label="Leave out labels that are too rare",
        required=False,
        help_text="The checker then never gives them. Otherwise too rare a label stops the training.",
    )
    include_touched = forms.BooleanField(
        label="Also labels given beside a trained checker's suggestion",
        required=False,
        help_text="It would learn in part from what it said itself.",
    )

    def __init__(self, data=None):
        super().__init__(data)
        for name, field in self.fields.items():
            field.initial = getattr(TrainingRequest(), name)

    def request(self) -> TrainingRequest:
        """What was asked for, once the form is valid."""
        return TrainingRequest(**self.cleaned_data)
