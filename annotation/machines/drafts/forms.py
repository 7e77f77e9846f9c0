"""The form that starts an extraction, derived from what the registry says of the extractor, and that of publishing."""

from django import forms

from annotation.imports.publishing import KEEP, REFUSE, SUPERSEDE
from annotation.machines.runs.forms import RunForm
from annotation.models import Project
from annotation.projects.draft_kinds import DraftKind
from annotation.projects.setting_kinds.fields import PieceSetField
from models_runtime.contracts import CheckerInfo


class ExtractionForm(RunForm):
    """The fields of a run, with the choice of sources before `again`."""

    def __init__(self, info: CheckerInfo, data=None, *, kind: DraftKind) -> None:
        super().__init__(info, data)
        again = self.fields.pop("again")
        self.fields["everything"] = forms.BooleanField(
            label=f"Include {kind.source_several} that already have {kind.several}",
            required=False,
            help_text=f"Otherwise only {kind.source_several} without any are read.",
        )
        again.label, again.help_text = "Start even if the same run already exists", ""
        self.fields["again"] = again


class PublishDraftsForm(forms.Form):
    """The set that the pieces join, and what happens to a source that was judged with it and would get more."""

    piece_set = PieceSetField()
    on_judged = forms.ChoiceField(label="Content that was already judged", widget=forms.RadioSelect, initial=REFUSE)

    def __init__(self, project: Project, kind: DraftKind, data=None) -> None:
        super().__init__(data)
        shown = f"“{project.piece_set}”" if project.piece_set else "the unnamed set"
        self.fields["piece_set"].initial = project.piece_set
        self.fields["piece_set"].help_text = (
            f"Such as the extractor's name. Empty: the unnamed set. This project judges {shown}; {kind.several} of "
            "another set are judged in a project made for that set."
        )
        self.fields["on_judged"].choices = [
            (REFUSE, f"Publish nothing if a {kind.source_one} that was judged would get more {kind.several}"),
            (
                SUPERSEDE,
                f"Give such a {kind.source_one} a new version with new items; judgements stay with the old one",
            ),
            (KEEP, f"Keep such a {kind.source_one} as it is and publish the rest"),
        ]
