"""The form that starts a run, derived from what the registry says about the checker's parameters."""

from django import forms

from models_runtime.contracts import CheckerInfo, ParameterInfo

NUMBERS = {"float": forms.FloatField, "int": forms.IntegerField}


class RunForm(forms.Form):
    """Its fields are the checker's parameters, in the registry's order, and `again` once the same run was found."""

    def __init__(self, info: CheckerInfo, data=None, *, same_run_exists: bool = False) -> None:
        super().__init__(data, prefix=info.slug)
        self.info = info
        for parameter in info.parameters:
            self.fields[parameter.name] = parameter_field(parameter)
        self.fields["again"] = forms.BooleanField(
            label="Run it again all the same",
            required=False,
            widget=forms.CheckboxInput if same_run_exists else forms.HiddenInput,
        )

    @property
    def parameters(self) -> dict:
        """The parameters as the checker takes them, once the form is valid."""
        return {parameter.name: self.cleaned_data[parameter.name] for parameter in self.info.parameters}


def parameter_field(parameter: ParameterInfo) -> forms.Field:
    options = {"label": parameter.title, "initial": parameter.default, "help_text": parameter.hint}
    if parameter.kind == "bool":
        return forms.BooleanField(required=False, **options)
    if parameter.choices:
        choices = [(choice, choice) for choice in parameter.choices]
        return forms.TypedChoiceField(choices=choices, coerce=type(parameter.default), **options)
    if parameter.kind == "str":
        return forms.CharField(required=bool(parameter.default), strip=False, max_length=400, **options)
    return NUMBERS[parameter.kind](min_value=parameter.low, max_value=parameter.high, **options)
