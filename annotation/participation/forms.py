"""Forms of study links."""

import math
from collections.abc import Sequence

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation import incoming
from annotation.editing import SharedForm
from annotation.models import ConsentForm, Questionnaire, StudyLink, User
from annotation.participation import links, panels
from annotation.participation.extending import Deadline
from annotation.participation.panels import check_ending
from annotation.participation.questionnaires import WORDS, screening_questions
from annotation.projects.label_sets import newest_for
from annotation.task_types import Dimension, TaskType, task_type
from annotation.task_types.base import CANNOT_JUDGE, TEXT_CHARS, number_text
from annotation.task_words import number_words

PARAMETERS = {"participant": "Participant", "study": "Study", "session": "Session"}


class StudyLinkForm(SharedForm, forms.Form):
    title = forms.CharField(max_length=200, help_text="Shown to participants before they join.")
    places = forms.IntegerField(
        min_value=1, max_value=links.MOST_PLACES, help_text="How many people can join by this link."
    )
    last_day = forms.DateField(
        required=False,
        validators=[MinValueValidator(incoming.EARLIEST.date()), MaxValueValidator(incoming.LATEST.date())],
        help_text="Nobody joins afterwards (UTC); who has joined goes on.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    group = forms.CharField(
        required=False, max_length=200, help_text="Of the raters who come by this link, such as crowd. Exports show it."
    )

    most_items = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=links.MOST_PLACES,
        label="Items per person",
        help_text="Empty: as many as there are.",
    )
    minutes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=links.MOST_MINUTES,
        label="Minutes per person",
        help_text="Afterwards the place goes to another person. Empty: no limit.",
    )
    panel = forms.ChoiceField(
        required=False, choices=[("", "None"), *((one.slug, one.title) for one in panels.PANELS.values())]
    )
    signing_key = forms.CharField(
        required=False,
        max_length=200,
        help_text="If the panel signs its URLs: a URL without a right signature is refused. Never shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )

    def __init__(self, *args, link: StudyLink | None = None, **kwargs):
        self.link = link
        if link is not None:
            kwargs["initial"] = {name: getattr(link, name, "") for name in self.base_fields if name != "signing_key"}
            kwargs["initial"] |= {f"parameter_{kind}": name for kind, name in link.parameters.items()}
            kwargs["initial"] |= {f"ending_{state}": entered for state, entered in link.endings.items()}
        super().__init__(*args, **kwargs)
        for kind, title in PARAMETERS.items():
            self.fields[f"parameter_{kind}"] = forms.RegexField(
                r"^[\w.-]{1,60}$", required=False, label=f"Name of the parameter: {title.lower()}"
            )
        for state, title in panels.OUTCOMES.items():
            self.fields[f"ending_{state}"] = forms.CharField(
                required=False, max_length=500, label=f"{title}: code or URL", validators=[check_ending]
            )
        if link is not None and link.signing_key:
            self.fields["drop_key"] = forms.BooleanField(required=False, label="Remove the signing key")

    @property
    def of_link(self) -> list[forms.BoundField]:
        return [self[name] for name in ("title", "places", "last_day", "group", "most_items", "minutes")]

    @property
    def of_panel(self) -> list[forms.BoundField]:
        return [self[name] for name in ("panel", "signing_key", "drop_key") if name in self.fields]

    @property
    def parameters(self) -> list[forms.BoundField]:
        return [self[f"parameter_{kind}"] for kind in PARAMETERS]

    @property
    def endings(self) -> list[forms.BoundField]:
        return [self[f"ending_{state}"] for state in panels.OUTCOMES]

    def clean(self):
        cleaned = super().clean()
        if cleaned.get("panel") == panels.URL and not cleaned.get("parameter_participant"):
            self.add_error("parameter_participant", "Name the parameter that holds the participant")
        return cleaned

    @property
    def values(self) -> dict:
        """What the link's fields become."""
        cleaned = self.cleaned_data
        values = {name: cleaned[name] for name in ("title", "places", "group", "most_items", "minutes", "panel")}
        values["expires_at"] = links.end_of(cleaned["last_day"]) if cleaned["last_day"] else None
        values["parameters"] = {kind: name for kind in PARAMETERS if (name := cleaned[f"parameter_{kind}"])}
        values["endings"] = {state: entered for state in panels.OUTCOMES if (entered := cleaned[f"ending_{state}"])}
        if cleaned["signing_key"] or cleaned.get("drop_key"):
            values["signing_key"] = cleaned["signing_key"]
        return values


class OutcomeForm(forms.Form):
    outcome = forms.ChoiceField(choices=list(panels.OUTCOMES.items()))


class ExtendForm(forms.Form):
    """Last days and the later day that they move to; all of them are chosen first."""

    deadlines = forms.MultipleChoiceField(
        label="Last days",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one or more"},
    )
    day = forms.DateField(label="New last day", widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}))

    def __init__(self, *args, deadlines: Sequence[Deadline], **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["deadlines"].choices = [(one.key, f"{one.title}, {one.day:%-d %B %Y}") for one in deadlines]
        self.fields["deadlines"].initial = [one.key for one in deadlines]


class ConsentTextForm(SharedForm, forms.Form):
    markdown = forms.CharField(
        label="Consent form in Markdown",
        required=False,
        max_length=200_000,
        help_text="What the study is about, what is stored, who sees it, the pay, whom to ask. Empty: nobody is asked.",
        widget=forms.Textarea(attrs={"rows": 16}),
    )
    on_withdrawal = forms.ChoiceField(
        label="When a person withdraws",
        choices=ConsentForm.OnWithdrawal.choices,
        initial=ConsentForm.OnWithdrawal.KEEP,
        help_text="Shown below the text. It holds for those who consent to this version.",
        widget=forms.RadioSelect,
    )


class ReturnForm(forms.Form):
    code = forms.CharField(
        max_length=60,
        label=_("Your return code"),
        help_text=_("Four groups of four letters and digits, which you were shown when you joined."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )


class QuestionnaireForm(forms.Form):
    label_set = forms.ChoiceField(
        required=False, help_text="Its questions are asked about the person, without highlights."
    )
    screens_out = forms.MultipleChoiceField(
        required=False,
        label="Answers that screen out",
        help_text="One of them ends the study for the person, and frees the place.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args, user: User, moment: str, current: Questionnaire | None, **kwargs):
        self.current = current
        if current is not None:
            chosen = [f"{slug} {value}" for slug, values in current.screens_out.items() for value in values]
            kwargs["initial"] = {"label_set": current.label_set, "screens_out": chosen}
        super().__init__(*args, **kwargs)
        own = {row.identifier: str(row) for row in newest_for(user).order_by("title", "pk")}
        if current is not None:
            own.setdefault(current.label_set, task_type(current.label_set).title)
        self.fields["label_set"].choices = [("", "Nothing is asked"), *own.items()]
        if current is None or moment != Questionnaire.Moment.SCREENING:
            del self.fields["screens_out"]
            return
        self.fields["screens_out"].choices = [
            (f"{one.slug} {label.value}", f"{one.title}: {label.title}")
            for one in screening_questions(task_type(current.label_set))
            for label in one.shown_labels
        ]

    @property
    def rule(self) -> dict[str, list[str]]:
        """The labels that screen out by question; none for another label set than the form was made for."""
        found: dict[str, list[str]] = {}
        if self.current is not None and self.cleaned_data["label_set"] == self.current.label_set:
            for one in self.cleaned_data.get("screens_out", ()):
                question, _, value = one.partition(" ")
                found.setdefault(question, []).append(value)
        return found


class AnswersForm(forms.Form):
    """The questions of a label set, about the person. `answers` are as they are stored."""

    def __init__(self, *args, kind: TaskType, **kwargs):
        super().__init__(*args, **kwargs)
        self.kind = kind
        for one in kind.asked_dimensions:
            self.fields[f"q-{one.slug}"] = self._field(one)
        if kind.free_text is not None:
            self.fields[WORDS] = forms.CharField(
                required=kind.free_text.required,
                max_length=TEXT_CHARS,
                label=kind.free_text.title,
                help_text=kind.free_text.hint,
                widget=forms.Textarea(attrs={"rows": 3}),
            )

    def full_clean(self) -> None:
        """A question with a condition is shown as one that needs an answer; whether it does is known in `clean`."""
        asked = [self.fields[f"q-{one.slug}"] for one in self.kind.asked_dimensions if one.asked_when is not None]
        needed = [field for field in asked if field.required]
        for field in needed:
            field.required = False
        super().full_clean()
        for field in needed:
            field.required = True

    def _field(self, one: Dimension) -> forms.Field:
        is_required = not (one.is_optional or _means_cannot_say(one))
        about = {"label": one.title, "required": is_required, "help_text": self._help(one)}
        if one.takes_text:
            return forms.CharField(max_length=TEXT_CHARS, widget=forms.Textarea(attrs={"rows": 3}), **about)
        if one.takes_number:
            return forms.CharField(max_length=40, widget=forms.TextInput(attrs={"inputmode": "decimal"}), **about)
        choices = [
            (label.value, f"{label.title} ({label.hint})" if label.hint else label.title) for label in one.shown_labels
        ]
        if one.has_cannot_judge:
            choices.append((CANNOT_JUDGE, gettext("I cannot say")))
        if one.takes_several:
            about["required"] = False
            return forms.MultipleChoiceField(choices=choices, widget=forms.CheckboxSelectMultiple, **about)
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect, **about)

    def _help(self, one: Dimension) -> str:
        parts = [one.question]
        if one.asked_when is not None:
            before = self.kind.dimension(one.asked_when.dimension)
            labels = gettext(" or ").join(before.label(value).title for value in one.asked_when.labels)
            parts.append(gettext("Only if {question} is {labels}.").format(question=before.title, labels=labels))
        if one.takes_number:
            parts.append(f"{capfirst(number_words(one.number))}{f' ({one.number.unit})' if one.number.unit else ''}.")
        if _means_cannot_say(one):
            parts.append(gettext("Leave this empty if you cannot say."))
        return " ".join(filter(None, parts))

    def clean(self):
        cleaned = super().clean()
        self.answers: dict[str, str] = {}
        for one in self.kind.asked_dimensions:
            name = f"q-{one.slug}"
            if name not in cleaned or not self.kind.is_asked(one, self.answers):
                continue
            answer = self._answer(one, cleaned[name]) or (CANNOT_JUDGE if _means_cannot_say(one) else "")
            if answer and not one.may_answer(answer):
                self.add_error(
                    name, gettext("Enter {answers}").format(answers=number_words(one.number) or one.known_answers)
                )
            elif answer:
                self.answers[one.slug] = answer
            elif not one.is_optional:
                self.add_error(name, gettext("Answer this question, too"))
        if cleaned.get(WORDS):
            self.answers[WORDS] = cleaned[WORDS]
        return cleaned

    @staticmethod
    def _answer(one: Dimension, entered: str | list[str]) -> str:
        if one.takes_several:
            return CANNOT_JUDGE if CANNOT_JUDGE in entered else one.answer_of(entered)
        if one.takes_number:
            try:
                number = float(entered) if entered.strip() else None
            except ValueError:
                return entered
            return "" if number is None else number_text(number) if math.isfinite(number) else entered
        return entered.replace("\r\n", "\n").strip() if one.takes_text else entered


def _means_cannot_say(one: Dimension) -> bool:
    """Whether an empty field is an answer: of questions without labels, which have no button for it."""
    return one.has_cannot_judge and not one.labels and not one.is_optional
