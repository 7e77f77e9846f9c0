"""The form of a rule: its name and what its kind asks for."""

from __future__ import annotations

from django import forms
from django.template.loader import render_to_string

from analysis.rules.kinds import NAME, Parameter, RuleKind, lifted_question
from analysis.rules.tables import HOLDS, TableError, cells_of, table_for, text_of
from annotation.models import Project, RuleRun

EMPTY_LINES = 3
MAX_LINES = 100


class VerdictTable(forms.Widget):
    """The table of `lift` with a row per verdict and a column per label. A table that has several conditions about one
    label is shown as its lines."""

    def __init__(self, labels: dict[str, str], attrs=None):
        self.labels = labels
        super().__init__(attrs)

    def render(self, name, value, attrs=None, renderer=None):
        values = list(self.labels)
        try:
            rows = cells_of(value or table_for(values), values)
        except TableError:
            rows = None
        if rows is not None:
            rows += [("", [""] * len(values))] * EMPTY_LINES
        context = {"name": name, "titles": self.labels.values(), "rows": rows, "text": value, "words": HOLDS}
        return render_to_string("analysis/rules/table.html", context | {"attrs": attrs or {}})

    def value_from_datadict(self, data, files, name):
        if name in data:
            return data[name]
        rows = []
        for line in range(MAX_LINES):
            verdict = data.get(f"{name}-{line}")
            if verdict is None:
                break
            rows.append((verdict.strip(), [data.get(f"{name}-{line}-{at}", "") for at in range(len(self.labels))]))
        return text_of(rows, list(self.labels))

    def value_omitted_from_data(self, data, files, name):
        return False


class RuleForm(forms.Form):
    """`given` is what `asking.start_rule` takes; it says what is wrong with the values."""

    name = forms.RegexField(
        NAME,
        max_length=RuleRun.NAME_CHARS,
        help_text="Small letters, digits and hyphens. Its decisions are called rule:NAME wherever they can be chosen.",
        error_messages={"invalid": "Use small letters, digits and hyphens, such as majority-of-three"},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, project: Project, rule: RuleKind, data=None, initial=None, question: str = ""):
        super().__init__(data, initial={"name": rule.slug} | dict(initial or {}))
        self.rule = rule
        for parameter in rule.parameters:
            self.fields[parameter.name] = _field(project, rule, parameter, question)

    def parameters(self) -> dict:
        return {one.name: self.cleaned_data[one.name] for one in self.rule.parameters}


def _field(project: Project, rule: RuleKind, parameter: Parameter, question: str) -> forms.Field:
    kind, options = (
        project.type,
        {"label": parameter.title, "required": parameter.default != "", "initial": parameter.default},
    )
    help_text = parameter.help[:1].upper() + parameter.help[1:]
    if rule.lifts_decisions and parameter.name == "question":
        # The table's columns are its labels, so that another question is another page.
        return forms.CharField(**options | {"initial": lifted_question(kind, question).slug}, widget=forms.HiddenInput)
    if parameter.name == "decisions":
        names = RuleRun.objects.filter(project=project).order_by("name").values_list("name", flat=True).distinct()
        choices = [
            ("", "people's decisions alone"),
            *((name, f"rule:{name}, and people's before it") for name in names),
        ]
        return forms.ChoiceField(**options, choices=choices)
    if parameter.is_long:
        labels = {one.value: one.title for one in lifted_question(kind, question).labels}
        help_text = "The first line that holds counts; a line without conditions always holds."
        return forms.CharField(**options | {"required": True}, widget=VerdictTable(labels), help_text=help_text)
    if parameter.choices is not None:
        return forms.ChoiceField(**options, choices=list(parameter.offered(kind).items()))
    if isinstance(parameter.default, str):
        return forms.CharField(**options, max_length=400, help_text=help_text + _known_labels(rule, kind, parameter))
    step = "1" if isinstance(parameter.default, int) else "any"
    bounds = {"min": f"{parameter.low:g}", "max": f"{parameter.high:.0f}", "step": step}
    return forms.CharField(**options, max_length=40, widget=forms.NumberInput(attrs=bounds), help_text=help_text)


def _known_labels(rule: RuleKind, kind, parameter: Parameter) -> str:
    if parameter.name != "tie_label":
        return ""
    known = dict.fromkeys(value for one in kind.asked_dimensions if rule.takes(one) for value in one.values)
    return f": {', '.join(known)}" if known else ""
