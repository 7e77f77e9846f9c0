"""Which files an export is to have."""

from django import forms

from annotation.exports.layouts import kinds_for, layout_of, why_own, why_unwritable
from annotation.exports.releasing import LEAVE_OUT, LIST, REFUSE, sets_for
from annotation.exports.tools import tool_exports, tools_for

WAYS = {
    LIST: "keep them, without a label",
    LEAVE_OUT: "leave out their rows",
    REFUSE: "export nothing, and say which",
}
TITLES = {"jsonl": "JSON Lines", "tsv": "TSV (tab-separated)", "parquet": "Parquet"}


class Kinds(forms.MultipleChoiceField):
    """`refusals` says why a tool's files have no room for the project."""

    refusals: dict[str, str] = {}

    def validate(self, value):
        for name in filter(self.refusals.get, value):
            raise forms.ValidationError(self.refusals[name])
        super().validate(value)


class ExportForm(forms.Form):
    kinds = Kinds(label="Content as", widget=forms.CheckboxSelectMultiple)
    decisions = forms.ChoiceField(label="Labels", required=False)
    without_label = forms.ChoiceField(
        label="Units without a label",
        required=False,
        initial=LIST,
        help_text="Tied, dropped, undecided or unanswered. Each is listed with its reason in undecided.tsv.",
    )

    def __init__(self, project, data=None):
        super().__init__(data)
        layout = layout_of(project)
        kinds, self.why_own = kinds_for(project, layout), why_own(project, layout)
        self.tools = tools_for(project)
        tools = [(name, tool.title) for name, tool in self.tools.items()]
        self.fields["kinds"].refusals = {
            name: tool.refusal(project) for name, tool in tool_exports().items() if name not in self.tools
        } | {kind: why_unwritable(kind) for kind in layout.kinds}
        self.fields["kinds"].choices = [*((kind, TITLES[kind]) for kind in kinds), *tools]
        self.fields["kinds"].initial = kinds
        self.usual = [TITLES[kind] for kind in kinds]  # what is ticked unless chosen otherwise
        self.fields["decisions"].choices = sets_for(project)
        kind = project.type
        more = "" if kind.anchor_kind == kind.unit_kind else ", and with them all of the item that they are in"
        ways = WAYS | {LEAVE_OUT: f"{WAYS[LEAVE_OUT]}{more}"}
        self.fields["without_label"].choices = ways.items()

    def clean_without_label(self):
        return self.cleaned_data["without_label"] or LIST
