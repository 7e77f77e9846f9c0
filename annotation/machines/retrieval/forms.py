"""The forms that start a retrieval and publish its passages."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple
from typing import Any

from django import forms

from annotation.machines.retrieval import retrieving
from annotation.machines.retrieval.retrieving import DocumentGenerator
from annotation.machines.runs.forms import PublishForm, RunForm
from annotation.models import RetrievalRun
from models_runtime.contracts import CheckerInfo

TOP = 10
PUBLISHED = 3


class RetrievalForm(RunForm):
    """What is searched for and where, then the retriever's parameters."""

    no_estimate = "With these settings no language model is asked"

    def __init__(
        self,
        info: CheckerInfo,
        data=None,
        *,
        asked: dict[str, int],
        corpora: dict[str, str],
        replayable: Iterable[RetrievalRun] = (),
        generators: Mapping[DocumentGenerator, list[int]] | None = None,
        preset: str = "",
    ) -> None:
        super().__init__(info, data)
        is_pipeline = info.slug == retrieving.PIPELINE
        if not is_pipeline:
            corpora = {name: title for name, title in corpora.items() if not name.startswith(retrieving.WEB)}
        self.fields["asks"] = forms.ChoiceField(
            label="Search passages for",
            choices=[(asks, f"{retrieving.ASKED[asks].title} ({_in_words(number)})") for asks, number in asked.items()],
        )
        self.fields["corpus"] = forms.ChoiceField(label="Where", choices=list(corpora.items()))
        self.fields["top"] = forms.IntegerField(
            label="Passages per query", initial=TOP, min_value=1, max_value=retrieving.TOP_LIMIT
        )
        if is_pipeline and (runs := list(replayable)):
            dated = [(str(run.uuid), f"{run.corpus}, {run.created_at:%Y-%m-%d %H:%M}") for run in runs]
            self.fields["replays"] = forms.ChoiceField(
                label="Recorded web responses",
                required=False,
                choices=[("", "none: search the web"), *dated],
                help_text="A run keeps its web responses. A replay sends no requests, and those not recorded fail.",
            )
        self.presets = retrieving.PRESETS if is_pipeline else {}
        self.preset = self.presets.get(preset)
        if self.preset:
            self.initial, self.is_filled_in = {**self.preset.parameters, "top": self.preset.top}, True
        if "expansion" in self.fields:
            self._ask_for_documents(generators or {})
        self.fields["again"].label = "Search again"
        self.fields["again"].help_text = "Otherwise the existing run with the same queries and documents is used."
        self.order_fields(["asks", "corpus", "replays", "top"])

    def _ask_for_documents(self, generators: Mapping[DocumentGenerator, list[int]]) -> None:
        del self.fields["expansion_from"]  # follows from the choice of documents
        place = list(self.fields).index("expansion") + 1
        added = {
            "repetitions": forms.IntegerField(
                label="Repetitions",
                required=False,
                initial=1,
                min_value=1,
                max_value=retrieving.REPETITIONS_LIMIT,
                help_text="With an expansion: as many searches, each with new generated passages and the next "
                "seed. Reports give their mean and its standard error.",
            )
        }
        if generators:
            titles = [
                (json.dumps(astuple(one)), f"{one}: {len(numbers)} repetition{'s' * (len(numbers) > 1)}")
                for one, numbers in generators.items()
            ]
            added["documents"] = forms.ChoiceField(
                label="Stored documents",
                required=False,
                choices=[("", "none: passages are generated"), *titles],
                help_text="Search with stored documents of the claims, once for each repetition.",
            )
        names = list(self.fields)
        self.fields |= added
        self.order_fields([*names[:place], *added, *names[place:]])

    @property
    def asked(self) -> dict[str, Any]:
        asked = super().asked
        named = asked.get("documents")
        documents = asdict(DocumentGenerator(*json.loads(named))) if named else None
        return asked | {"documents": documents, "repetitions": asked.get("repetitions") or 1}


def _in_words(number: int) -> str:
    return f"{number:,}" if number <= retrieving.MAX_COUNTED else f"more than {retrieving.MAX_COUNTED:,}"


class PublishPassagesForm(PublishForm):
    def __init__(self, run: RetrievalRun, data=None) -> None:
        super().__init__(run, data)
        self.fields["top"] = forms.IntegerField(
            label="Passages per ranking",
            initial=min(PUBLISHED, run.top),
            min_value=1,
            max_value=run.top,
            help_text="The first passages of each query. Texts that are already its evidence are left out.",
        )
        if run.asks == "question":
            self.fields["context"] = forms.CharField(
                label="Context for questions that were judged already",
                required=False,
                max_length=80,
                help_text="They keep their passages. With a name here, new passages belong to a second question with "
                "the same text, which is judged separately; without one they are left out.",
            )
