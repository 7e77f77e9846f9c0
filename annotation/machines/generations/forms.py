"""The form that starts a generation: who answers, what is shown, how often, then the generator's parameters."""

from collections.abc import Iterable

from django import forms

from annotation.machines.generations import generating
from annotation.machines.runs.forms import RunForm
from annotation.models import RetrievalRun
from models_runtime import registry
from models_runtime.contracts import CheckerInfo


class GenerationForm(RunForm):
    def __init__(
        self, info: CheckerInfo, data=None, *, has_passages: bool, retrievals: Iterable[RetrievalRun] = ()
    ) -> None:
        super().__init__(info, data)
        again = self.fields.pop("again")
        del self.fields["endpoint"]
        names = registry.endpoint_names()
        self.fields["endpoints"] = forms.MultipleChoiceField(
            label="Endpoints",
            choices=[(name, name) for name in names],
            initial=names[:1],
            widget=forms.CheckboxSelectMultiple,
            help_text="Each serves a model, and gets a run of its own.",
        )
        shown = [(generating.NOTHING, "none: closed book")]
        shown += [(generating.OWN, "those that the questions have in the data set")] if has_passages else []
        shown += [
            (str(run.uuid), f"retrieved by {run.retriever}, {run.created_at:%Y-%m-%d %H:%M} UTC") for run in retrievals
        ]
        self.fields["passages"] = forms.ChoiceField(
            label="Passages that the model is shown",
            required=False,
            choices=shown,
            help_text="Publish retrieved passages if the answers are to be judged by them.",
        )
        self.fields["most_passages"] = forms.IntegerField(
            label="Passages per question, at most",
            initial=generating.PASSAGES,
            min_value=1,
            max_value=generating.MOST_PASSAGES,
        )
        self.fields["repetitions"] = forms.IntegerField(
            label="Repetitions",
            initial=1,
            min_value=1,
            max_value=generating.MOST_REPETITIONS,
            help_text="With a temperature above 0 each is sampled anew.",
        )
        self.fields["context_setting"] = forms.CharField(
            label="Context setting",
            required=False,
            max_length=generating.SETTING_CHARS,
            help_text="The name by which tables compare settings. Empty: closed book, given passages or retrieved "
            "passages.",
        )
        self.fields["again"] = again
        again.label, again.help_text = "Ask again even if the same run already exists", ""
        self.order_fields(["endpoints", "passages", "most_passages", "repetitions", "context_setting"])
