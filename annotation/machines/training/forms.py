"""What a checker is to be trained on, and how."""

from django import forms

from annotation.machines.training.training import (
    CLASSIFIERS,
    ENCODER,
    HIDDEN,
    MIN_PER_LABEL,
    POOLINGS,
    REPRESENTATIONS,
    TrainingError,
    TrainingRequest,
    language_model,
    sources_of,
)
from annotation.models import Project
from models_runtime import registry


class TrainingForm(forms.Form):
    source = forms.ChoiceField(label="Labels")
    representation = forms.ChoiceField(
        label="Representation",
        choices=list(REPRESENTATIONS.items()),
        help_text="Embeddings capture meaning; shared words capture overlap, numbers and negation. Hidden states need "
        "the language model named below. Fine-tuning trains a network six times: use a GPU beyond some hundred labels.",
    )
    encoder = forms.CharField(
        label="Encoder, or transformer to fine-tune",
        required=False,
        max_length=300,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    hidden_model = forms.CharField(
        label="Language model, for hidden states",
        required=False,
        max_length=300,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    layers = forms.CharField(
        label="Layers of the hidden states",
        required=False,
        max_length=200,
        help_text="-1 is the last one. Several (8,16,24) or all: one classifier per layer, averaged.",
    )
    pooling = forms.ChoiceField(label="Pooling of the hidden states", choices=list(POOLINGS.items()), required=False)
    classifier = forms.ChoiceField(
        label="Classifier",
        choices=list(CLASSIFIERS.items()),
        help_text="Support vectors do best on pairs of sentences. Beyond 6,000 labels both kernel methods "
        "are replaced by a ridge on 2,000 of the texts, to limit the time.",
    )
    minimum = forms.IntegerField(
        label="Minimum number of labels per class",
        min_value=MIN_PER_LABEL,
        max_value=1_000_000,
        help_text=f"Fewer than {MIN_PER_LABEL} are too few to learn from.",
    )
    balanced = forms.BooleanField(
        label="Weight labels by inverse frequency",
        required=False,
        help_text="Better for macro-F1, and worse for accuracy if one label dominates.",
    )
    skip_rare = forms.BooleanField(
        label="Leave out labels that are too rare",
        required=False,
        help_text="The checker then never predicts them. Otherwise a label that is too rare stops the training.",
    )
    include_touched = forms.BooleanField(
        label="Include labels given with a trained checker's suggestion shown",
        required=False,
        help_text="The checker would partly learn from its own output.",
    )

    def __init__(self, project: Project, data=None):
        super().__init__(data)
        self.fields["source"].choices = sources_of(project)
        for name, field in self.fields.items():
            field.initial = getattr(TrainingRequest(), name)
        # Of another machine than the workers' own: what is here says little, but is what can be told.
        self.fields["encoder"].help_text = (
            f"Leave it empty for {ENCODER}. Otherwise a name on the Hugging Face Hub, or the absolute path of a folder "
            "on the workers' machine: a sentence-transformers model for embeddings, any encoder for fine-tuning."
            + (f" This site allows: {allowed}." if (allowed := registry.allowed_in_words()) else "")
        )
        model, command = language_model()
        self.fields["hidden_model"].initial = model
        self.fields["hidden_model"].help_text = (
            "A causal language model: a name on the Hugging Face Hub, or the absolute path of a folder on the workers' "
            "machine with config.json, .safetensors weights and tokenizer."
            + (f" This site allows: {allowed}." if allowed else "")
            + (f" {model} is not on this machine yet; download it with: {command}" if command else "")
        )

    def clean(self):
        cleaned = super().clean()
        for name in ("layers", "pooling"):
            cleaned[name] = cleaned.get(name) or getattr(TrainingRequest(), name)
        if cleaned.get("representation") != HIDDEN:
            cleaned |= {name: getattr(TrainingRequest(), name) for name in ("hidden_model", "layers", "pooling")}
        if not self.errors:
            try:
                TrainingRequest(**cleaned)
            except TrainingError as error:
                self.add_error("encoder" if cleaned["encoder"] else "representation", str(error))
        return cleaned

    def request(self) -> TrainingRequest:
        """What was asked for, once the form is valid."""
        return TrainingRequest(**self.cleaned_data)
