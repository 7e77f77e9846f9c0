"""Which files an export is to have."""

from django import forms

from annotation.services.releasing import kinds_for
from annotation.task_types import task_type

TITLES = {"jsonl": "JSON Lines", "tsv": "TSV (tab-separated)", "parquet": "Parquet"}


class ExportForm(forms.Form):
    kinds = forms.MultipleChoiceField(label="Content as", widget=forms.CheckboxSelectMultiple)

    def __init__(self, project, data=None):
        super().__init__(data)
        kinds = kinds_for(task_type(project.task_type))
        self.fields["kinds"].choices = [(kind, TITLES[kind]) for kind in kinds]
        self.fields["kinds"].initial = kinds
