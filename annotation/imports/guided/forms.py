"""The step of a new study in which its task is chosen, once a dry run has read the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from django import forms

from annotation.datasets.forms import FORMAT, format_fields
from annotation.imports.forms import ImportNowForm
from annotation.imports.guided.samples import proposed_format
from annotation.imports.guided.tasks import fits
from annotation.imports.importing import ProjectWish
from annotation.projects.settings import SETTINGS
from annotation.rendering import TEXTS
from annotation.task_types import task_type

ASKED_FIRST = ("task_type", "project_title", "overlap")


class StudyForm(ImportNowForm):
    """What `ImportNowForm` asks, always with a project; and how many people label each item."""

    title = "What is labelled"
    is_guided = True

    def __init__(
        self,
        *args,
        content: Collection[str],
        has_labels: bool,
        fitting: str,
        looks: Mapping[str, Mapping[str, int]],
        formats: Mapping[str, str],
        **kwargs,
    ):
        """`looks`: how many texts of each kind look like which format. `formats`: those that are chosen already."""
        super().__init__(*args, fitting=fitting, **kwargs)
        self.content, self.fitting = content, fitting
        self.other_fields = [*self.fields]
        guesses = {name: proposed_format(looks[name]) for name in TEXTS if name in looks}
        self.formats = {name: formats.get(name, slug) for name, (slug, _) in guesses.items()}
        self.guessed = {name: words for name, (_, words) in guesses.items() if words and name not in formats}
        self.fields |= format_fields(self.formats, self.guessed)
        for name in ("with_project", "with_people"):
            self.fields.pop(name, None)
        for name in ASKED_FIRST[:2]:
            self.fields[name].required = True
        self.fields["task_type"].widget = forms.RadioSelect(choices=self.fields["task_type"].choices)
        self.fields["project_title"].label = "Title"
        self.fields["overlap"] = SETTINGS["overlap"].form_field()
        if has_labels:
            self.fields["overlap"].initial = 0

    def tasks(self) -> tuple[list, list]:
        """Radio buttons of the proposed task, and of the others."""
        radios = list(self["task_type"])
        first = [one for one in radios if one.data["value"] == self.fitting]
        return first, [one for one in radios if one not in first]

    def others(self) -> list[forms.BoundField]:
        return [self[name] for name in self.other_fields if name in self.fields and name not in ASKED_FIRST]

    def shown_as(self) -> list[forms.BoundField]:
        """How texts are shown."""
        return [self[FORMAT + name] for name in self.formats]

    @property
    def text_formats(self) -> dict[str, str]:
        return {name: self.cleaned_data[FORMAT + name] for name in self.formats}

    def clean_task_type(self) -> str:
        identifier = self.cleaned_data["task_type"]
        if identifier != self.fitting and not fits(kind := task_type(identifier), self.content):
            raise forms.ValidationError(f"The file has nothing to judge in this task (no {kind.anchor_kind})")
        return identifier

    def makes_project(self, cleaned: dict) -> bool:
        return True

    def wish(self) -> ProjectWish:
        return replace(super().wish(), overlap=self.cleaned_data["overlap"])
