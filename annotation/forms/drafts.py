"""The form that starts an extraction, derived from what the registry says of the extractor, and that of publishing."""

from django import forms

from annotation.forms.projects import PlainRadio
from annotation.forms.runs import parameter_field
from annotation.services import suggesting
from annotation.services.draft_kinds import DraftKind
from annotation.services.import_publish import KEEP, REFUSE, SUPERSEDE
from models_runtime.contracts import CheckerInfo


class ExtractionForm(forms.Form):
    """Its fields are the extractor's parameters, the queue where there is a choice, which sources, and `again`."""

    def __init__(self, info: CheckerInfo, kind: DraftKind, data=None) -> None:
        super().__init__(data, prefix=info.slug)
        self.info = info
        for parameter in info.parameters:
            self.fields[parameter.name] = parameter_field(parameter)
        if len(queues := suggesting.queues_of(info)) > 1:
            self.fields["queue"] = forms.ChoiceField(
                label="Workers",
                required=False,
                choices=[(queue, f"those of the queue {queue}") for queue in queues],
                help_text="Which queue's workers compute it; the queue gpu is for machines that have one.",
            )
        self.fields["everything"] = forms.BooleanField(
            label=f"Also {kind.source_several} that have {kind.several} already",
            required=False,
            help_text=f"Otherwise only {kind.source_several} without any are read.",
        )
        self.fields["again"] = forms.BooleanField(
            label="Start it even if the same run exists already",
            required=False,
        )

    @property
    def queue(self) -> str | None:
        return self.cleaned_data.get("queue") or None

    @property
    def parameters(self) -> dict:
        """The parameters as the extractor takes them, once the form is valid."""
        return {parameter.name: self.cleaned_data[parameter.name] for parameter in self.info.parameters}


class PublishForm(forms.Form):
    """What happens to a source that was judged, where it would get more pieces."""

    on_judged = forms.ChoiceField(label="What was judged already", widget=PlainRadio, initial=REFUSE)

    def __init__(self, kind: DraftKind, data=None) -> None:
        super().__init__(data)
        self.fields["on_judged"].choices = [
            (REFUSE, f"Publish nothing if a {kind.source_one} that was judged would get more {kind.several}"),
            (
                SUPERSEDE,
                f"Give such a {kind.source_one} a new version with new items; judgements stay with the old one",
            ),
            (KEEP, f"Leave such a {kind.source_one} as it is, publish the rest"),
        ]
