"""The form that starts a run, derived from what the registry says about the checker's parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings

from annotation.machines.runs.limits import MOST_MONEY, MOST_TOKENS, may_ask_server
from annotation.machines.runs.retrieved import MOST, USUAL, words_for
from annotation.machines.runs.starting import TEXT_LENGTH, queues_of
from annotation.models import MachineRun, RetrievalRun
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, ParameterInfo

NUMBERS = {"float": forms.FloatField, "int": forms.IntegerField}


class RunForm(forms.Form):
    """Its fields are the checker's parameters, in the registry's order, the queue where there is a choice, `again`."""

    no_estimate = ""  # why there may be no estimate, where that is always the reason
    is_filled_in = False  # beyond what it usually begins with

    def __init__(self, info: CheckerInfo, data=None, *, retrievals: Sequence[list[RetrievalRun]] = ()) -> None:
        super().__init__(data, prefix=info.slug)
        self.info, self.retrievals = info, {str(runs[0].uuid): runs for runs in retrievals}
        if self.retrievals:
            self.fields |= retrieval_fields(self.retrievals)
        for parameter in info.parameters:
            self.fields[parameter.name] = parameter_field(parameter)
        if len(queues := queues_of(info)) > 1:
            self.fields["queue"] = forms.ChoiceField(
                label="Workers",
                required=False,
                choices=[(queue, f"workers of the queue {queue}") for queue in queues],
                help_text="The workers that compute it. The queue gpu is for machines with a GPU.",
            )
        if may_ask_server(info):
            self.fields |= limit_fields()
        self.fields["again"] = forms.BooleanField(
            label="Judge all units again",
            required=False,
            help_text="Otherwise answers of an earlier run to the same questions about the same texts are reused.",
        )

    @property
    def asked(self) -> dict[str, Any]:
        """The values as a kind's `start` takes them, once the form is valid."""
        own = {name: value for name, value in self.cleaned_data.items() if name not in self.parameters}
        if self.retrievals:  # a run is started for each repetition
            own["retrievals"] = self.retrievals[own["retrieval"]]
        return own | {"parameters": self.parameters, "queue": own.get("queue") or None}

    @property
    def initial_data(self) -> dict[str, Any]:
        """What an unchanged form sends."""
        return {self.add_prefix(name): self.get_initial_for_field(field, name) for name, field in self.fields.items()}

    @property
    def parameters(self) -> dict:
        """The parameters as what is run takes them, once the form is valid."""
        known = (one.name for one in self.info.parameters)
        return {name: self.cleaned_data[name] for name in known if name in self.fields}


def retrieval_fields(retrievals: Mapping[str, list[RetrievalRun]]) -> dict[str, forms.Field]:
    return {
        "retrieval": forms.ChoiceField(
            label="Passages of the retrieval",
            choices=[(uuid, words_for(runs)) for uuid, runs in retrievals.items()],
            help_text="Claims are judged by its first passages together. A run is started for each of its repetitions.",
        ),
        "first": forms.IntegerField(label="Number of passages", initial=USUAL, min_value=1, max_value=MOST),
    }


class PublishForm(forms.Form):
    """The form that publishes what a run made."""

    def __init__(self, run: MachineRun, data=None) -> None:
        super().__init__(data, prefix="publish")


class LimitsForm(forms.Form):
    """Other limits for a run that there is."""

    def __init__(self, data=None, **options) -> None:
        super().__init__(data, **options)
        self.fields |= limit_fields()


def limit_fields() -> dict[str, forms.Field]:
    found: dict[str, forms.Field] = {
        "limit_tokens": forms.IntegerField(
            label="Stop at this many tokens",
            required=False,
            min_value=1,
            max_value=MOST_TOKENS,
            help_text="Sent and received together. Requests under way come on top. Empty: no limit.",
        )
    }
    if any(endpoint.prompt_price is not None for endpoint in settings.LLM_ENDPOINTS.values()):
        found["limit_money"] = forms.FloatField(
            label=f"Stop at this cost{f' ({settings.CURRENCY})' if settings.CURRENCY else ''}",
            required=False,
            min_value=0,
            max_value=MOST_MONEY,
            help_text="At the endpoint's prices. Empty: no limit.",
        )
    return found


def parameter_field(parameter: ParameterInfo) -> forms.Field:
    options = {"label": parameter.title, "initial": parameter.default, "help_text": parameter.hint}
    if parameter.kind == "bool":
        return forms.BooleanField(required=False, **options)
    if parameter.choices:
        choices = [(choice, choice) for choice in parameter.choices]
        return forms.TypedChoiceField(choices=choices, coerce=type(parameter.default), **options)
    if parameter.kind == "endpoint":
        names = registry.endpoint_names()
        return forms.ChoiceField(required=False, choices=[(name, name) for name in names], **options)
    if parameter.kind in ("prompt", "examples"):
        return forms.CharField(
            required=False, strip=False, max_length=TEXT_LENGTH, widget=forms.Textarea(attrs={"rows": 8}), **options
        )
    if parameter.kind == "model" and (allowed := registry.allowed_in_words()):
        options["help_text"] = f"{parameter.hint} This site allows: {allowed}.".strip()
    if parameter.kind in ("str", "model"):
        return forms.CharField(required=bool(parameter.default), strip=False, max_length=400, **options)
    return NUMBERS[parameter.kind](min_value=parameter.low, max_value=parameter.high, **options)
