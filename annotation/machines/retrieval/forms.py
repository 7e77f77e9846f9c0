"""The forms that start a retrieval and publish its passages."""

from collections.abc import Iterable

from django import forms

from annotation.machines.retrieval import retrieving
from annotation.machines.runs.forms import RunForm
from annotation.models import MachineRun, Project, RetrievalRun, User
from models_runtime.contracts import CheckerInfo

TOP = 10
PUBLISHED = 3


class RetrievalForm(RunForm):
    """What is searched for and where, then the retriever's parameters."""

    def __init__(
        self,
        info: CheckerInfo,
        data=None,
        *,
        asked: dict[str, int],
        corpora: dict[str, str],
        replayable: Iterable[RetrievalRun] = (),
        preset: str = "",
    ) -> None:
        super().__init__(info, data)
        is_pipeline = info.slug == retrieving.PIPELINE
        if not is_pipeline:
            corpora = {name: title for name, title in corpora.items() if not name.startswith(retrieving.WEB)}
        self.fields["asks"] = forms.ChoiceField(
            label="Search passages for",
            choices=[(asks, f"{retrieving.ASKED[asks].title} ({number:,})") for asks, number in asked.items()],
        )
        self.fields["corpus"] = forms.ChoiceField(label="Where", choices=list(corpora.items()))
        self.fields["top"] = forms.IntegerField(
            label="Passages per query", initial=TOP, min_value=1, max_value=retrieving.TOP_LIMIT
        )
        if is_pipeline and (runs := list(replayable)):
            dated = [(str(run.uuid), f"{run.corpus}, {run.created_at:%Y-%m-%d %H:%M}") for run in runs]
            self.fields["replays"] = forms.ChoiceField(
                label="Answers of the web",
                required=False,
                choices=[("", "ask anew"), *dated],
                help_text="What a run asked of the web is kept. Replayed, nothing is asked, and what it did not ask is "
                "a failure.",
            )
        if is_pipeline and preset in retrieving.PRESETS:
            self.initial = {**retrieving.PRESETS[preset].parameters, "top": retrieving.PRESETS[preset].top}
        self.fields["again"].label = "Search again"
        self.fields["again"].help_text = "Otherwise the existing run with the same queries and documents is used."
        self.order_fields(["asks", "corpus", "replays", "top"])

    def start(self, project: Project, user: User) -> MachineRun:
        given = self.cleaned_data
        asked = retrieving.RetrievalRequest(
            self.info.slug,
            given["asks"],
            given["corpus"],
            given["top"],
            parameters=self.parameters,
            replays=given.get("replays", ""),
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
            help_text="The top ones. Texts that are already evidence of what was searched for are left out.",
        )
        if run.asks == "question":
            self.fields["context"] = forms.CharField(
                label="Context for questions that were judged already",
                required=False,
                max_length=80,
                help_text="They keep the passages that they were judged with. With a name here the new passages stand "
                "below a second question of the same words, to be judged on its own; without one they are left out.",
            )
