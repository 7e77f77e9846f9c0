"""The form that starts a run, derived from what the registry says about the checker's parameters."""

from collections.abc import Mapping, Sequence

from django import forms
from django.conf import settings

from annotation.machines.runs import suggesting
from annotation.machines.runs.limits import MOST_MONEY, MOST_TOKENS, CostLimits, may_ask_server
from annotation.machines.runs.queries import costs
from annotation.machines.runs.retrieved import MOST, USUAL, RetrievedPassages, words_for
from annotation.machines.runs.starting import TEXT_LENGTH, queues_of
from annotation.models import MachineRun, Project, RetrievalRun, User
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, ParameterInfo

NUMBERS = {"float": forms.FloatField, "int": forms.IntegerField}


class RunForm(forms.Form):
    """Its fields are the checker's parameters, in the registry's order, the queue where there is a choice, `again`."""

    no_estimate = ""  # why there may be no estimate, where that is always the reason

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

    def start(self, project: Project, user: User) -> MachineRun:
        """The run that was asked for, once the form is valid; the first of several, where a retrieval is repeated."""
        given = self.cleaned_data
        options = {"again": given["again"], "limits": limits_of(given)}
        if not self.retrievals:
            return suggesting.start_run(project, user, self.info.slug, self.parameters, self.queue, **options)
        return suggesting.start_by_retrievals(
            project,
            user,
            self.info.slug,
            self.retrievals[given["retrieval"]],
            given["first"],
            self.parameters,
            self.queue,
            **options,
        )[0]

    def estimate(self, project: Project) -> costs.RunEstimate | None:
        """What that would cost."""
        given = self.cleaned_data
        if not self.retrievals:
            return costs.estimate_of(project, self.info.slug, self.parameters)
        runs = self.retrievals[given["retrieval"]]
        passages = RetrievedPassages(given["retrieval"], given["first"])
        return costs.estimate_of(project, self.info.slug, self.parameters, passages, len(runs))

    @property
    def queue(self) -> str | None:
        return self.cleaned_data.get("queue") or None

    @property
    def parameters(self) -> dict:
        """The parameters as what is run takes them, once the form is valid."""
        return {parameter.name: self.cleaned_data[parameter.name] for parameter in self.info.parameters}


def retrieval_fields(retrievals: Mapping[str, list[RetrievalRun]]) -> dict[str, forms.Field]:
    return {
        "retrieval": forms.ChoiceField(
            label="Passages of the retrieval",
            choices=[(uuid, words_for(runs)) for uuid, runs in retrievals.items()],
            help_text="Claims are judged by its first passages together. A run is started for each of its repetitions.",
        ),
        "first": forms.IntegerField(label="Number of passages", initial=USUAL, min_value=1, max_value=MOST),
    }


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


def limits_of(given: Mapping) -> CostLimits:
    return CostLimits(given.get("limit_tokens"), given.get("limit_money"))


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
