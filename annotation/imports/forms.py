"""Importing in the browser: files and their format, what columns mean, and what happens after the dry run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django import forms
from django.utils.text import Truncator

from annotation.formats import FORMATS, FormatError
from annotation.formats.files.encodings import ENCODINGS
from annotation.formats.names import question_slug
from annotation.formats.tables.guessing.columns import GuessedColumns
from annotation.formats.tables.guessing.roles import ROLE_TITLES, check_roles
from annotation.formats.tables.mapping import LAYOUTS, Preview, Target
from annotation.formats.tables.mapping_file import VERSION_CHARS, SaidMapping
from annotation.formats.tables.oddities import (
    BASE,
    CHARACTERS,
    DATES,
    ENCODING,
    LEAVE_OUT,
    ODDITIES,
    OFFSETS,
    UNMAPPED,
    ZONE,
)
from annotation.formats.tables.questions import range_in
from annotation.imports.column_mappings import values_offered
from annotation.imports.importing import FileChoices, ProjectWish
from annotation.imports.publishing import KEEP, REFUSE, SUPERSEDE
from annotation.models import PIECE_LINKS, Project
from annotation.projects.carried_settings import CarriedSettings
from annotation.projects.managing import free_slug
from annotation.projects.settings import SETTINGS
from annotation.task_types import TaskType, task_type

GUESS = ""
EXAMPLES = 3
MOST_RADIOS = 6
OF_READING = (ENCODING, CHARACTERS, OFFSETS, BASE, DATES, ZONE)  # what is wrong with a row depends on these
VALUES_MOST = 30  # different labels in the first rows that are offered one by one
AN_ERROR, NO_LABEL = "!", "-"
VALUE_CHOICES = ((AN_ERROR, "unknown: list such rows as errors"), (NO_LABEL, "no label"))


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files; empty ones are answered by the upload service, which names them."""

    def __init__(self, **kwargs):
        super().__init__(widget=ManyFilesInput(attrs={"multiple": True}), allow_empty_file=True, **kwargs)

    def clean(self, data, initial=None):
        files = data if isinstance(data, list | tuple) else [data] if data else []
        if not files and self.required:
            raise forms.ValidationError("Choose at least one file")
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    files = ManyFilesField(label="Files", help_text="Also compressed (.gz), or several in one .zip.")
    format = forms.ChoiceField(
        required=False,
        choices=lambda: [(GUESS, "Detect it from the file"), *((slug, each.title) for slug, each in FORMATS.items())],
    )
    encoding = forms.ChoiceField(
        required=False,
        choices=[("", "UTF-8, or as guessed from the file"), *((slug, one.title) for slug, one in ENCODINGS.items())],
        label="Encoding, if not UTF-8",
    )
    setting = forms.CharField(
        required=False,
        max_length=100,
        label="RefChecker: setting",
        help_text="Only needed if the file's name does not say.",
    )
    model = forms.CharField(
        required=False, max_length=100, label="Model", help_text="As above; also for ICAT's annotations."
    )


class ColumnsForm(forms.Form):
    """One choice of a column per target field, and one of a label per value found in label columns."""

    def __init__(self, *args, guess: GuessedColumns, **kwargs):
        super().__init__(*args, **kwargs)
        self.layout, self.columns, columns = guess.said.layout, guess.seen.columns, guess.seen.columns
        self.offered = values_offered(guess)
        choices = [("", "not in the file"), *((str(number), name) for number, name in enumerate(columns))]
        for target in LAYOUTS[self.layout]:
            chosen = guess.said.mapping.get(target.slug)
            self.fields[_column(target)] = forms.ChoiceField(
                label=target.title,
                choices=choices,
                required=target.required,
                initial=str(columns.index(chosen)) if chosen in columns else "",
                error_messages={"required": f"Choose the column for: {target.title.lower()}"},
            )
            for number, (value, label) in enumerate(list(self.offered.get(target.slug, {}).items())[:VALUES_MOST]):
                self.fields[_value(target, number)] = forms.ChoiceField(
                    label=f"{target.title}: “{value}” means",
                    choices=[*VALUE_CHOICES, *((label, label) for label in target.accepted)],
                    required=False,
                    initial=NO_LABEL if label == "" else label or AN_ERROR,
                )

    def clean(self):
        cleaned = super().clean()
        taken: dict[str, str] = {}
        for target in LAYOUTS[self.layout]:
            column = cleaned.get(_column(target))
            if column and column in taken:
                self.add_error(_column(target), f"This column is already {taken[column].lower()}")
            elif column:
                taken[column] = target.title
        return cleaned

    @property
    def mapping(self) -> dict[str, str]:
        """Target field -> column."""
        return {
            target.slug: self.columns[int(self.cleaned_data[_column(target)])]
            for target in LAYOUTS[self.layout]
            if self.cleaned_data.get(_column(target))
        }

    @property
    def values(self) -> dict[str, dict[str, str]]:
        """Target field -> value in the file -> label."""
        found: dict[str, dict[str, str]] = {}
        for target in LAYOUTS[self.layout]:
            for number, value in enumerate(list(self.offered.get(target.slug, {}))[:VALUES_MOST]):
                label = self.cleaned_data.get(_value(target, number)) or AN_ERROR
                if label != AN_ERROR:
                    found.setdefault(target.slug, {})[value] = "" if label == NO_LABEL else label
        return found

    @property
    def said(self) -> SaidMapping:
        return SaidMapping(self.layout, self.mapping, self.values)


OF_CHECKERS = ("score", "prediction")


class RatingsForm(forms.Form):
    """What each column of a table of ratings is: a role, and the names that go with it."""

    def __init__(self, *args, guess: GuessedColumns, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen, self.before = guess.seen, guess.said
        columns, said = guess.seen.columns, guess.said
        role_of = {column: role.split("/") for role, column in said.mapping.items()}
        for number, column in enumerate(columns):
            role, *names = role_of.get(column, [""])
            names += [""] * (2 - len(names))
            if role in ("probability", "label", "labels"):
                names[1] = "/".join(names[1:]).strip("/")
            self.fields[f"role-{number}"] = forms.ChoiceField(
                label=f"Role of {column}", choices=list(ROLE_TITLES.items()), required=False, initial=role
            )
            for part, name, initial in (("name", "Name", names[0]), ("rater", "Rater or question", names[1])):
                self.fields[f"{part}-{number}"] = forms.CharField(
                    label=f"{name} of {column}", required=False, max_length=80, initial=initial
                )
            self.fields[f"scale-{number}"] = forms.CharField(
                label=f"Scale or version of {column}",
                required=False,
                max_length=VERSION_CHARS,
                initial=said.ranges.get(names[0], "")
                if role == "label"
                else said.checkers.get(names[0], {}).get("version", "")
                if role in OF_CHECKERS
                else "",
                widget=forms.TextInput(attrs={"size": 6}),
            )

    def rows(self) -> list[dict]:
        return [
            {"column": column, "example": _examples(self.seen, column)}
            | {part: self[f"{part}-{number}"] for part in ("role", "name", "rater", "scale")}
            for number, column in enumerate(self.seen.columns)
        ]

    def clean(self):
        cleaned = super().clean()
        if not self.errors:
            self.mapping = self._mapping(cleaned)
            try:
                check_roles(self.mapping)
                for question, text in self.ranges.items():
                    range_in(text, question)
            except FormatError as error:
                self.add_error(None, str(error))
        return cleaned

    def _mapping(self, said: dict) -> dict[str, str]:
        """Role -> column. A question or checker that nobody names is called as its column."""
        found: dict[str, str] = {}
        self.ranges: dict[str, str] = {}
        self.checkers = dict(self.before.checkers)
        has_checker = any(said.get(f"role-{number}") == "checker" for number in range(len(self.seen.columns)))
        names_questions = any(said.get(f"role-{number}") == "question" for number in range(len(self.seen.columns)))
        for number, column in enumerate(self.seen.columns):
            role, name, rater = (said.get(f"{part}-{number}", "").strip() for part in ("role", "name", "rater"))
            names = [part.replace("/", "-") for part in (name, rater)]
            version, checker = said.get(f"scale-{number}", "").strip(), names[0] or column.replace("/", "-")
            if role in OF_CHECKERS and (version or checker in self.checkers):
                self.checkers[checker] = {**self.checkers.get(checker, {}), "version": version}
            if role == "labels" or (role == "label" and not names_questions):
                question, scale = question_slug(names[0] or column), said.get(f"scale-{number}", "").strip()
                group, slash, one = rater.partition("/")
                role = "/".join(filter(None, [role, question, group, one.replace("/", "-")]))
                self.ranges |= {question: scale} if scale else {}
            elif role in ("row", "about"):
                role = f"{role}/{names[0] or column.replace('/', '-')}"
            elif role == "spans" and name:
                role = f"spans/{question_slug(name)}"
            elif role == "probability" and (name or rater or not has_checker):
                question, _, label = rater.partition("/")
                parts = [names[0] or column.replace("/", "-"), question_slug(question), label.replace("/", "-")]
                role = "/".join(filter(None, ["probability", *parts]))
            elif role == "score" and (name or not has_checker):
                role = f"score/{names[0] or column.replace('/', '-')}"
            elif role == "prediction":
                role = f"prediction/{names[0] or column.replace('/', '-')}/{question_slug(names[1])}"
            if role in found:
                self.add_error(f"role-{number}", f"The column {found[role]} has this role already")
            elif role:
                found[role] = column
        return found

    @property
    def said(self) -> SaidMapping:
        return replace(self.before, mapping=self.mapping, ranges=self.ranges, checkers=self.checkers)


def _examples(seen: Preview, column: str) -> str:
    different = dict.fromkeys(str(row[column]) for row in seen.rows if row.get(column) not in (None, ""))
    return " · ".join(Truncator(text).chars(60) for text in list(different)[:EXAMPLES])


def _column(target: Target) -> str:
    return f"column-{target.slug}"


def _value(target: Target, number: int) -> str:
    return f"value-{target.slug}-{number}"


class ValuesForm(forms.Form):
    """What values of the file mean that are no labels of the project's questions, one by one. `unknown` are questions
    and values, as oddities name them."""

    title = "What the values mean"

    def __init__(self, *args, unknown: Sequence[str], kind: TaskType, **kwargs):
        super().__init__(*args, **kwargs)
        self.places = [what.partition(": ")[::2] for what in unknown[:VALUES_MOST]]
        for number, (question, value) in enumerate(self.places):
            dimension = kind.dimension(question)
            labels = [(label.value, label.title) for label in dimension.labels]
            self.fields[f"value-{number}"] = forms.ChoiceField(
                label=f"{dimension.title}: “{value}” means",
                choices=[("", "choose"), *labels, (NO_LABEL, "no label"), (AN_ERROR, "leave these rows out")],
                error_messages={"required": "Choose what this value means"},
            )

    def choices(self, before: FileChoices) -> FileChoices:
        """With what was said of the values, besides what was said before."""
        values = {question: dict(said) for question, said in before.values.items()}
        leaves_out = False
        for number, (question, value) in enumerate(self.places):
            label = self.cleaned_data[f"value-{number}"]
            if label == AN_ERROR:
                leaves_out = True
            else:
                values.setdefault(question, {})[value] = "" if label == NO_LABEL else label
        treat = {**before.treat, UNMAPPED: LEAVE_OUT} if leaves_out else before.treat
        return replace(before, values=values, treat=treat)


class ImportNowForm(forms.Form):
    """The step after a dry run. What is not needed is not asked. `odd` is by kind of odd rows whether it is open what
    some of them mean."""

    title = "Import"

    on_judged = forms.ChoiceField(
        label="Changed rows that were already judged",
        widget=forms.RadioSelect,
        choices=[
            (
                SUPERSEDE,
                "Replace them with a new version; their judgements stay with the old one, and new items are created",
            ),
            (KEEP, "Keep them as they are and import the rest"),
        ],
    )
    leave_out = forms.BooleanField(required=False)
    with_project = forms.BooleanField(
        label="Create a project with the labels in the file",
        required=False,
        help_text="Its raters are people outside Assay; no annotators are assigned.",
    )
    project_title = forms.CharField(max_length=200, required=False, label="Title of the project")
    task_type = forms.ChoiceField(label="Task", required=False)
    piece_set = forms.ChoiceField(
        label="Set of pieces",
        required=False,
        help_text="The project judges the pieces of one set; labels of others are left out. Another project of the "
        "data set can judge another.",
    )
    with_settings = forms.BooleanField(
        label="Use the exported project's settings",
        required=False,
        initial=True,
        help_text="With its questions, guidelines and other settings, as listed above.",
    )
    with_people = forms.BooleanField(label="Also assign the items to annotators", required=False)

    def __init__(
        self,
        *args,
        judged: int,
        makes_project: bool,
        fitting: str,
        title: str,
        choices: list[tuple] = (),
        with_project: bool = False,
        bad: int = 0,
        odd: Mapping[str, bool] | None = None,
        treated: Mapping[str, str] | None = None,
        settings: CarriedSettings | None = None,
        sets: Sequence[str] = (),
        **kwargs,
    ):
        super().__init__(*args, **kwargs)
        self.settings = settings
        if not judged:
            del self.fields["on_judged"]
        if bad:
            words = "the bad row" if bad == 1 else f"the {bad:,} bad rows"
            self.fields["leave_out"].label = f"Leave out {words} and import the rest"
            self.fields[
                "leave_out"
            ].help_text = "Rows that depend on them are left out, too. The list of bad rows stays with the import."
        else:
            del self.fields["leave_out"]
        odd, treated = odd or {}, treated or {}
        self.odd = [kind for kind, oddity in ODDITIES.items() if kind in odd and oddity.is_asked]
        for kind in self.odd:
            oddity = ODDITIES[kind]
            choices_of_kind = oddity.answers if odd[kind] else oddity.all_choices()
            preselected = "" if odd[kind] else treated.get(kind) or oddity.default
            self.fields[f"treat_{kind}"] = forms.ChoiceField(
                label=oddity.title,
                widget=forms.RadioSelect if len(choices_of_kind) <= MOST_RADIOS else forms.Select,
                choices=list(choices_of_kind.items()),
                initial=preselected or oddity.suggested or None,
                error_messages={"required": "Choose how to read these rows"},
            )
        self.order_fields([f"treat_{kind}" for kind in self.odd])
        if settings is None:
            del self.fields["with_settings"]
        if settings is None or not settings.overlap:
            del self.fields["with_people"]
        else:
            number = SETTINGS["overlap"].in_words(settings.plain)
            self.fields["with_people"].help_text = f"Judgements per item: {number}, besides those in the file."
        if makes_project:
            self.fields["task_type"].choices = choices
            self.fields["task_type"].initial = fitting
            self.fields["project_title"].initial = title
            self.fields["with_project"].initial = with_project
            self.fields["piece_set"].choices = [(name, name or "without a set") for name in sets]
            if not sets:
                del self.fields["piece_set"]
        else:
            for name in ("with_project", "project_title", "task_type", "piece_set", "with_settings", "with_people"):
                self.fields.pop(name, None)

    def clean(self):
        cleaned = super().clean()
        # Read otherwise than by the dry run, other rows may be bad, which the import lists.
        treated = {kind: cleaned.get(f"treat_{kind}") for kind in OF_READING if kind in self.odd}
        is_other = any(said != self.fields[f"treat_{kind}"].initial for kind, said in treated.items())
        if "leave_out" in self.fields and not (cleaned.get("leave_out") or is_other):
            self.add_error("leave_out", "Nothing can be imported with bad rows: leave them out, or correct the file")
        if cleaned.get("with_project"):
            for name, what in (("project_title", "a title"), ("task_type", "a task")):
                if not cleaned.get(name):
                    self.add_error(name, f"The project needs {what}")
            self._check_settings(cleaned)
            chosen, judges = cleaned.get("piece_set"), cleaned.get("task_type")
            if chosen and judges and self._judges_no_pieces(judges):
                self.add_error("piece_set", "This task judges no pieces of a set: choose another task, or no set")
        return cleaned

    def _judges_no_pieces(self, identifier: str) -> bool:
        try:
            return task_type(identifier).unit_kind not in PIECE_LINKS
        except KeyError:  # a label set that the file brings
            return True

    def _check_settings(self, cleaned: dict) -> None:
        chosen = cleaned.get("task_type")
        if cleaned.get("with_settings") and chosen and chosen != self.settings.task_type:
            title = task_type(self.settings.task_type).title
            self.add_error("task_type", f"The settings are those of “{title}”: choose that, or leave the settings out")
        if cleaned.get("with_people") and not cleaned.get("with_settings"):
            self.add_error("with_people", "The number of judgements per item is one of the settings: use these as well")

    @property
    def choice(self) -> str:
        return self.cleaned_data.get("on_judged") or REFUSE

    @property
    def leaves_out(self) -> bool:
        return bool(self.cleaned_data.get("leave_out"))

    @property
    def treat(self) -> dict[str, str]:
        """Kind of odd rows -> what to do with them."""
        return {kind: self.cleaned_data[f"treat_{kind}"] for kind in self.odd}

    def wish(self) -> ProjectWish | None:
        if not self.cleaned_data.get("with_project"):
            return None
        title = self.cleaned_data["project_title"]
        has_people = self.cleaned_data.get("with_people")
        return ProjectWish(
            overlap=self.settings.overlap if has_people else 0,
            with_settings=bool(self.cleaned_data.get("with_settings")),
            slug=free_slug(title)[: Project._meta.get_field("slug").max_length],
            title=title,
            task_type=self.cleaned_data["task_type"],
            piece_set=self.cleaned_data.get("piece_set", ""),
        )
