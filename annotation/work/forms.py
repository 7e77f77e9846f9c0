"""The form of what a project changes about its task, made from the task type's description.

Fields have the names of the places in the options (`captions.stance.title`), so that whatever is wrong with the options
stands at its field.
"""

from dataclasses import dataclass

from django import forms
from django.forms.boundfield import BoundField
from django.http import QueryDict

from annotation.editing import SharedForm
from annotation.models import Project
from annotation.task_types import Dimension, OptionsError, TaskType, configured, options_of, task_type
from annotation.task_types.options import CAPTION_CHARS, HINT_CHARS

SPAN_CHOICES = [("required", "Required"), ("optional", "Optional"), ("off", "Off")]


@dataclass
class LabelRow:
    value: str
    own_title: str
    title: BoundField
    hint: BoundField


@dataclass
class DimensionPart:
    """The fields of one dimension, in the order of the page; None for what it does not have."""

    dimension: Dimension  # as the task type has it
    opens: list[str]  # titles of the dimensions that are asked depending on this one
    hidden: BoundField | None
    title: BoundField
    question: BoundField
    spans: BoundField | None
    spans_title: BoundField | None
    order: BoundField
    labels: list[LabelRow]


def _text(label: str, initial: str, limit: int = CAPTION_CHARS, help_text: str = "") -> forms.CharField:
    # The limit is checked with the options themselves; the browser keeps people from running into it.
    widget = forms.TextInput(attrs={"maxlength": limit, "autocomplete": "off"})
    return forms.CharField(label=label, initial=initial, required=False, help_text=help_text, widget=widget)


class OptionsForm(SharedForm, forms.Form):
    def __init__(self, data: QueryDict | None = None, *, project: Project):
        super().__init__(data)
        self.own: TaskType = task_type(project.task_type)
        now = project.type
        self.options: dict = dict(project.options)
        can_hide = len(self.own.dimensions) > 1
        for own, asked in zip(self.own.dimensions, now.dimensions, strict=True):
            self._add_dimension(own, asked, can_hide)
        words = now.free_text
        self.fields["free_text.title"] = _text(
            "Question", words.title if words else "", help_text="Leave empty for no free-text question."
        )
        self.fields["free_text.hint"] = _text("Hint", words.hint if words else "", HINT_CHARS)
        self.fields["free_text.required"] = forms.BooleanField(
            label="An answer is required", required=False, initial=bool(words and words.required)
        )

    def _add_dimension(self, own: Dimension, asked: Dimension, can_hide: bool) -> None:
        place = f"captions.{own.slug}"
        if can_hide:
            self.fields[f"hidden.{own.slug}"] = forms.BooleanField(
                label="Do not ask this", required=False, initial=asked.is_hidden
            )
        self.fields[f"{place}.title"] = _text("Title", asked.title)
        self.fields[f"{place}.question"] = _text("Question", asked.question)
        if own.spans:
            choice = "off" if asked.spans is None else ("required" if asked.spans.required else "optional")
            self.fields[f"spans.{own.slug}"] = forms.ChoiceField(
                label="Highlights", choices=SPAN_CHOICES, initial=choice
            )
            self.fields[f"{place}.spans"] = _text("What to highlight", (asked.spans or own.spans).title)
        self.fields[f"order.{own.slug}"] = forms.MultipleChoiceField(
            choices=[(value, value) for value in own.values],
            initial=[label.value for label in asked.shown_labels],
            required=False,
            widget=forms.MultipleHiddenInput,
        )
        for label in asked.labels:
            at = f"{place}.labels.{label.value}"
            self.fields[f"{at}.title"] = _text("Title", label.title)
            self.fields[f"{at}.hint"] = _text("Hint", label.hint, HINT_CHARS)

    def parts(self) -> list[DimensionPart]:
        return [self._part(dimension) for dimension in self.own.dimensions]

    def words(self) -> list[BoundField]:
        """The fields of the question that is answered in words."""
        return [self[name] for name in self.fields if name.startswith("free_text.")]

    def _part(self, dimension: Dimension) -> DimensionPart:
        slug, place = dimension.slug, f"captions.{dimension.slug}"

        def field(name: str) -> BoundField | None:
            return self[name] if name in self.fields else None

        order = [value for value in self[f"order.{slug}"].value() or [] if value in dimension.values]
        order = list(dict.fromkeys([*order, *dimension.values]))
        return DimensionPart(
            dimension=dimension,
            opens=[
                other.title for other in self.own.dimensions if other.asked_when and other.asked_when.dimension == slug
            ],
            hidden=field(f"hidden.{slug}"),
            title=self[f"{place}.title"],
            question=self[f"{place}.question"],
            spans=field(f"spans.{slug}"),
            spans_title=field(f"{place}.spans"),
            order=self[f"order.{slug}"],
            labels=[
                LabelRow(
                    value,
                    dimension.label(value).title,
                    self[f"{place}.labels.{value}.title"],
                    self[f"{place}.labels.{value}.hint"],
                )
                for value in order
            ],
        )

    def shared_label(self, name: str) -> str:
        """Many fields are called alike: with the question, and the label, that they are about."""
        _, *about = name.split(".")
        about = [one for one in about if one not in ("title", "question", "hint", "spans", "labels", "required")]
        label = self.fields[name].label or "Order of the labels"
        return f"{', '.join(about)}: {label}" if about else f"Free-text question: {label}"

    def clean(self) -> dict:
        cleaned = super().clean()
        if not self.errors:
            try:
                self.options = options_of(self.own, self._options(cleaned))
            except OptionsError as wrong:
                for place, reason in wrong.problems:
                    self.add_error(*self._place_of(place, reason))
        return cleaned

    def _options(self, changes: dict) -> dict:
        """What the fields say, as options."""
        options: dict = {"hidden": [], "spans": {}, "captions": {}, "order": {}}
        for dimension in self.own.dimensions:
            slug, place = dimension.slug, f"captions.{dimension.slug}"
            if changes.get(f"hidden.{slug}"):
                options["hidden"].append(slug)
            captions = {name: changes.get(f"{place}.{name}", "") for name in ("title", "question")}
            if dimension.spans:
                captions["spans"] = changes[f"{place}.spans"]
                options["spans"][slug] = changes[f"spans.{slug}"]
            captions["labels"] = {
                value: {name: changes[f"{place}.labels.{value}.{name}"] for name in ("title", "hint")}
                for value in dimension.values
            }
            options["captions"][slug] = captions
            if changes[f"order.{slug}"]:
                options["order"][slug] = changes[f"order.{slug}"]
        words = {name: changes[f"free_text.{name}"] for name in ("title", "hint", "required")}
        options["free_text"] = words if any(words.values()) else None
        return options

    def _place_of(self, place: str, reason: str) -> tuple[str | None, str]:
        """The field of a place in the options, or none and the place in words."""
        if place in self.fields:
            return place, f"This {reason}"
        _, _, slug = place.partition(".")
        titles = {dimension.slug: dimension.title for dimension in self.own.dimensions}
        name = titles.get(slug.split(".")[0], "The page")
        return None, f"{name}: {reason}"

    def asked(self) -> TaskType:
        """The task type as these options ask it. For forms that are valid, and for those without data."""
        return configured(self.own, self.options)


def with_label_moved(data: QueryDict) -> QueryDict:
    """The form's data after a press of a button that moves a label: `move` is `dimension/label/up` or `…/down`."""
    data = data.copy()
    slug, _, rest = data.get("move", "").partition("/")
    value, _, direction = rest.rpartition("/")
    order = data.getlist(f"order.{slug}")
    if value in order:
        here = order.index(value)
        there = here - 1 if direction == "up" else here + 1
        if 0 <= there < len(order):
            order[here], order[there] = order[there], order[here]
            data.setlist(f"order.{slug}", order)
    return data
