"""Forms of items that are set apart: the key of one, and a table of keys."""

from django import forms

from annotation import incoming
from annotation.models import ItemKey
from annotation.task_types import NONE_CHOSEN, NONE_TITLE, Dimension
from annotation.work.learning.keys import MAX_REASON
from annotation.work.learning.tables import MAX_CHARS
from annotation.work.queries.contents import unit_text


class ItemKeyForm(forms.Form):
    """What makes an item one for training, qualification or checks: the right answers to some of its questions. They
    begin as they are stored, or as `proposed`; highlights of these stay with the answers that are kept."""

    purpose = forms.ChoiceField(label="Used as", choices=ItemKey.Purpose.choices, widget=forms.RadioSelect)
    reason = forms.CharField(
        label="Why this is right",
        required=False,
        max_length=MAX_REASON,
        help_text="Shown with the right answers after a person's own. Markdown.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    is_loud = forms.BooleanField(
        label="The text itself says what to answer",
        required=False,
        help_text="An attention check, such as “choose Neutral here”.",
    )

    def __init__(self, data=None, *, page, key: ItemKey | None, proposed: list[dict]):
        first = {"purpose": key.purpose, "reason": key.reason, "is_loud": key.is_loud} if key else {}
        super().__init__(data, initial={"purpose": ItemKey.Purpose.TRAINING} | first)
        self.known = {(one["unit"], one["dimension"]): one for one in (key.answers if key else proposed)}
        self.places: dict[str, tuple[str, Dimension]] = {}
        for number, unit in enumerate(page.units):
            for dimension in page.type.asked_dimensions:
                if not dimension.takes_text:
                    title = f"{unit_text(unit).title[:80]}: {dimension.title}" if page.units[1:] else dimension.title
                    self._add(f"answer.{number}.{dimension.slug}", title, unit.key, dimension)

    def _add(self, name: str, title: str, unit: str, dimension: Dimension) -> None:
        self.places[name] = (unit, dimension)
        label = self.known.get((unit, dimension.slug), {}).get("label", "")
        choices = [(one.value, one.title) for one in dimension.shown_labels]
        more = {"label": title, "required": False, "initial": label}
        if dimension.takes_several:
            more["initial"] = dimension.chosen(label) if label else [] if not self.known else [NONE_CHOSEN]
            field = forms.MultipleChoiceField(choices=[*choices, (NONE_CHOSEN, NONE_TITLE)], **more)
        elif dimension.labels:
            field = forms.ChoiceField(choices=[("", "Not compared"), *choices], **more)
        else:
            field = forms.CharField(max_length=40, **more)
        self.fields[name] = field

    @property
    def answers(self) -> list[dict]:
        """The key as `set_apart` takes it."""
        found = []
        for name, (unit, dimension) in self.places.items():
            value = self.cleaned_data.get(name)
            if isinstance(value, list):
                value = value and dimension.answer_of(one for one in value if one != NONE_CHOSEN)
            if not value:
                continue
            known = self.known.get((unit, dimension.slug), {})
            spans = known.get("spans", []) if known.get("label") == value else []
            found.append({"unit": unit, "dimension": dimension.slug, "label": value, "spans": spans})
        return found


class KeyTableForm(forms.Form):
    file = forms.FileField(
        label="Table",
        help_text="CSV or tab-separated, UTF-8: a column key, a column for each question by its name, and, if you "
        "like, purpose (training, qualification, check), reason, loud, and unit where items have several.",
    )
    purpose = forms.ChoiceField(label="Purpose where the table has none", choices=ItemKey.Purpose.choices)

    def clean_file(self) -> str:
        file = self.cleaned_data["file"]
        try:
            text = file.read(4 * MAX_CHARS).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not text in UTF-8; save it as CSV UTF-8") from None
        if len(text) > MAX_CHARS or not incoming.is_storable(text):
            raise forms.ValidationError(f"The file must be text of at most {MAX_CHARS:,} characters")
        return text
