"""The forms that start a retrieval and publish its passages."""

from django import forms

from annotation.forms.runs import RunForm
from annotation.models import RetrievalRun
from annotation.services import retrieval
from models_runtime.contracts import CheckerInfo

TOP = 10
PUBLISHED = 3


class RetrievalForm(RunForm):
    """What is searched for and where, then the retriever's parameters."""

    def __init__(self, info: CheckerInfo, asked: dict[str, int], corpora: dict[str, str], data=None) -> None:
        super().__init__(info, data)
        self.fields["asks"] = forms.ChoiceField(
            label="Search passages for",
            choices=[(asks, f"{retrieval.ASKED[asks].title} ({number:,})") for asks, number in asked.items()],
        )
        self.fields["corpus"] = forms.ChoiceField(label="Where", choices=list(corpora.items()))
        self.fields["top"] = forms.IntegerField(
            label="Passages for each", initial=TOP, min_value=1, max_value=retrieval.TOP_LIMIT
        )
        self.fields["again"].label = "Search again"
        self.fields["again"].help_text = "Otherwise a run that searched the same for the same is shown instead."
        self.order_fields(["asks", "corpus", "top"])

    @property
    def request(self) -> retrieval.RetrievalRequest:
        """What was asked for, once the form is valid."""
        given = self.cleaned_data
        return retrieval.RetrievalRequest(
            self.info.slug, given["asks"], given["corpus"], given["top"], parameters=self.parameters
        )


class PublishForm(forms.Form):
    def __init__(self, run: RetrievalRun, data=None) -> None:
        super().__init__(data, prefix="publish")
        self.fields["top"] = forms.IntegerField(
            label="Passages of each ranking",
            initial=min(PUBLISHED, run.top),
            min_value=1,
            max_value=run.top,
            help_text="The first ones. Words that a claim or question has as evidence already are left out.",
        )
