"""The forms that start a retrieval and publish its passages."""

from django import forms

from annotation.machines.retrieval import retrieving
from annotation.machines.runs.forms import RunForm
from annotation.models import MachineRun, Project, RetrievalRun, User
from models_runtime.contracts import CheckerInfo

TOP = 10
PUBLISHED = 3


class RetrievalForm(RunForm):
    """What is searched for and where, then the retriever's parameters."""

    def __init__(self, info: CheckerInfo, data=None, *, asked: dict[str, int], corpora: dict[str, str]) -> None:
        super().__init__(info, data)
        self.fields["asks"] = forms.ChoiceField(
            label="Search passages for",
            choices=[(asks, f"{retrieving.ASKED[asks].title} ({number:,})") for asks, number in asked.items()],
        )
        self.fields["corpus"] = forms.ChoiceField(label="Where", choices=list(corpora.items()))
        self.fields["top"] = forms.IntegerField(
            label="Passages per query", initial=TOP, min_value=1, max_value=retrieving.TOP_LIMIT
        )
        self.fields["again"].label = "Search again"
        self.fields["again"].help_text = "Otherwise the existing run with the same queries and documents is used."
        self.order_fields(["asks", "corpus", "top"])

    def start(self, project: Project, user: User) -> MachineRun:
        given = self.cleaned_data
        asked = retrieving.RetrievalRequest(
            self.info.slug, given["asks"], given["corpus"], given["top"], parameters=self.parameters
        )
        return retrieving.start(project, user, asked, self.queue, again=given["again"])


class PublishPassagesForm(forms.Form):
    def __init__(self, run: RetrievalRun, data=None) -> None:
        super().__init__(data, prefix="publish")
        self.fields["top"] = forms.IntegerField(
            label="Passages per ranking",
            initial=min(PUBLISHED, run.top),
            min_value=1,
            max_value=run.top,
            help_text="The top ones. Texts that are already evidence of the claim or question are left out.",
        )
