"""Which files an export is to have."""

from django import forms

from annotation.exports.layouts import kinds_for

TITLES = {"jsonl": "JSON Lines", "tsv": "TSV (tab-separated)", "parquet": "Parquet"}


class ExportForm(forms.Form):
    kinds = forms.MultipleChoiceField(label="Content as", widget=forms.CheckboxSelectMultiple)

    def __init__(self, project, data=None):
        super().__init__(data)
        kinds = kinds_for(project)
        self.fields["kinds"].choices = [(kind, TITLES[kind]) for kind in kinds]
        self.fields["kinds"].initial = kinds
