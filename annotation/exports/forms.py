"""Which files an export is to have."""

from django import forms

from annotation.exports.layouts import layout_of, why_own
from annotation.exports.tools import TOOLS

TITLES = {"jsonl": "JSON Lines", "tsv": "TSV (tab-separated)", "parquet": "Parquet"}


class ExportForm(forms.Form):
    kinds = forms.MultipleChoiceField(label="Content as", widget=forms.CheckboxSelectMultiple)

    def __init__(self, project, data=None):
        super().__init__(data)
        layout = layout_of(project)
        kinds, self.why_own = tuple(layout.kinds), why_own(project, layout)
        tools = [(name, tool.title) for name, tool in TOOLS.items()]
        self.fields["kinds"].choices = [*((kind, TITLES[kind]) for kind in kinds), *tools]
        self.fields["kinds"].initial = kinds
