"""Importing in the browser: files and their format, what columns mean, and what happens after the dry run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.text import Truncator

from annotation.formats import FORMATS, FormatError
from annotation.formats.files.containers import EXTENSIONS as ROW_ENDINGS
from annotation.formats.files.encodings import ENCODINGS
from annotation.formats.names import question_slug
from annotation.formats.tables.guessing.columns import GuessedColumns, check_chosen
from annotation.formats.tables.guessing.roles import NAMES_AFTER
from annotation.formats.tables.mapping import LAYOUT_TITLES, LAYOUTS, RATINGS, Preview
from annotation.formats.tables.mapping_file import ROLES, VERSION_CHARS, ChosenMapping
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

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        endings = {ending for known in FORMATS.values() for ending in known.extensions}
        self.fields["files"].widget.attrs["accept"] = ",".join(sorted({*endings, *ROW_ENDINGS, ".gz", ".zip"}))


OF_LABELS, OF_CHECKERS = ("label", "labels"), ("score", "prediction")
# The fields of each column of a table.
ROLE, NAME, RATER, SCALE = COLUMN_PARTS = ("role", "name", "rater", "scale")


@cache
def _role_options() -> str:
    """All roles, by what a table holds; marked where the page asks for names."""
    groups = (
        (title, [_role_option(layout, *role) for role in ROLES[layout].items()])
        for layout, title in LAYOUT_TITLES.items()
    )
    kept = mark_safe('<option value="">Keep as metadata</option>')
    return kept + format_html_join(
        "", '<optgroup label="{}">{}</optgroup>', ((title, mark_safe("".join(options))) for title, options in groups)
    )


def _role_option(layout: str, role: str, title: str) -> str:
    mark = mark_safe(" data-named") if layout == RATINGS and role in NAMES_AFTER else ""
    return format_html('<option value="{}/{}"{}>{}</option>', layout, role, mark, title)


class RoleSelect(forms.Select):
    """Every column has the same sixty options, which take seconds to render one by one where columns are many."""

    def render(self, name, value, attrs=None, renderer=None):
        chosen = format_html('value="{}"', value or "")
        options = _role_options().replace(chosen, f"{chosen} selected", 1)
        attrs = flatatt(self.build_attrs(self.attrs, {"name": name} | (attrs or {})))
        return format_html("<select{}>{}</select>", attrs, mark_safe(options))


class ColumnsForm(forms.Form):
    """What each column of a table means: a role, the names that go with it, and the labels that its values mean. The
    roles say what the table holds."""

    def __init__(self, *args, guess: GuessedColumns, **kwargs):
        super().__init__(*args, **kwargs)
        self.guess, self.before = guess, guess.chosen
        self.columns = guess.seen.columns
        role_of = {column: role for role, column in self.before.mapping.items()}
        choices = [("", ""), *((f"{layout}/{role}", "") for layout, roles in ROLES.items() for role in roles)]
        for number, column in enumerate(self.columns):
            role, name, rater, scale = self._parts_of(role_of.get(column, ""))
            self.fields[f"{ROLE}-{number}"] = forms.ChoiceField(
                label=f"Role of {column}", choices=choices, required=False, initial=role, widget=RoleSelect
            )
            for part, label, initial in ((NAME, "Name", name), (RATER, "Rater or question", rater)):
                self.fields[f"{part}-{number}"] = forms.CharField(
                    label=f"{label} of {column}", required=False, max_length=80, initial=initial
                )
            self.fields[f"{SCALE}-{number}"] = forms.CharField(
                label=f"Scale or version of {column}",
                required=False,
                max_length=VERSION_CHARS,
                initial=scale,
                widget=forms.TextInput(attrs={"size": 6}),
            )
        self.asked: dict[str, tuple[str, str]] = {}  # name of a field -> target and value in the file
        offered = values_offered(guess)
        for target in LAYOUTS.get(self.before.layout, ()):
            for number, (value, label) in enumerate(list(offered.get(target.slug, {}).items())[:VALUES_MOST]):
                name = f"value-{target.slug}-{number}"
                self.asked[name] = target.slug, value
                self.fields[name] = forms.ChoiceField(
                    label=f"{target.title}: “{value}” means",
                    choices=[*VALUE_CHOICES, *((label, label) for label in target.accepted)],
                    required=False,
                    initial=NO_LABEL if label == "" else label or AN_ERROR,
                )

    def _parts_of(self, role: str) -> tuple[str, str, str, str]:
        """As the fields show them: role, name, rater or question, scale or version."""
        kind, _, names = role.partition("/")
        name, _, rater = names.partition("/")
        scale = self.before.ranges.get(name, "") if kind in OF_LABELS else ""
        if kind in OF_CHECKERS:
            scale = self.before.checkers.get(name, {}).get("version", "")
        return (f"{self.before.layout}/{kind}" if kind else ""), name, rater, scale

    def rows(self) -> list[dict]:
        return [
            {"column": column, "examples": _examples(self.guess.seen, column)}
            | {part: self[f"{part}-{number}"] for part in COLUMN_PARTS}
            for number, column in enumerate(self.columns)
        ]

    def values(self) -> list[forms.BoundField]:
        return [self[name] for name in self.asked]

    def clean(self):
        cleaned = super().clean()
        if not self.errors:
            try:
                self.chosen = self._chosen(cleaned)
            except FormatError as error:
                self.add_error(None, str(error))
        return cleaned

    def _chosen(self, cleaned: dict) -> ChosenMapping:
        """FormatError for roles that do not go together."""
        rows_chosen = [
            (number, *cleaned[f"{ROLE}-{number}"].partition("/")[::2])
            for number in range(len(self.columns))
            if cleaned[f"{ROLE}-{number}"]
        ]
        role_in = {layout: role for _, layout, role in rows_chosen} or {self.before.layout: ""}
        if len(role_in) > 1:
            which = " and ".join(f"“{ROLES[one][role]}” ({LAYOUT_TITLES[one]})" for one, role in role_in.items())
            raise FormatError(f"A table holds one kind of rows: choose either {which}")
        [layout] = role_in
        chosen = self.before if layout == self.before.layout else ChosenMapping(layout, {})
        roles = [role for _, _, role in rows_chosen]
        mapping: dict[str, str] = {}
        ranges: dict[str, str] = {}
        checkers = dict(chosen.checkers)
        for number, _, kind in rows_chosen:
            column, scale = self.columns[number], cleaned[f"{SCALE}-{number}"].strip()
            role = kind
            if layout == RATINGS:
                role = _with_names(kind, column, cleaned[f"{NAME}-{number}"], cleaned[f"{RATER}-{number}"], roles)
            name = role.split("/")[1] if "/" in role else ""
            if kind in OF_LABELS and name and scale:
                ranges[name] = scale
            checker = name or column.replace("/", "-")
            if kind in OF_CHECKERS and (scale or checker in checkers):
                checkers[checker] = {**checkers.get(checker, {}), "version": scale}
            if role in mapping:
                self.add_error(f"{ROLE}-{number}", f"The column {mapping[role]} has this role already")
            mapping.setdefault(role, column)
        chosen = replace(
            chosen, mapping=mapping, values=self._values(chosen, cleaned), ranges=ranges, checkers=checkers
        )
        check_chosen(chosen)
        return chosen

    def _values(self, chosen: ChosenMapping, cleaned: dict) -> dict[str, dict[str, str]]:
        """Target -> value in the file -> label."""
        found = {target: dict(values) for target, values in chosen.values.items()}
        for name, (target, value) in self.asked.items() if chosen.layout == self.before.layout else ():
            label = cleaned.get(name) or AN_ERROR
            found.setdefault(target, {})[value] = "" if label == NO_LABEL else label
            if label == AN_ERROR:
                del found[target][value]
        return {target: values for target, values in found.items() if values}


def _with_names(kind: str, column: str, name: str, rater: str, roles: Sequence[str]) -> str:
    """The role with its names. A question or checker without a name is called as its column; `roles` are all of the
    table; some name questions or checkers by row."""
    own = column.replace("/", "-")
    name, rater = name.strip().replace("/", "-"), rater.strip()
    first, _, rest = rater.partition("/")
    rest = rest.replace("/", "-")
    names: list[str] = []
    if kind == "labels" or (kind == "label" and "question" not in roles):
        names = [question_slug(name or column), first, rest]
    elif kind in ("row", "about"):
        names = [name or own]
    elif kind == "spans" and name:
        names = [question_slug(name)]
    elif kind == "probability" and (name or rater or "checker" not in roles):
        names = [name or own, question_slug(first), rest]
    elif kind == "score" and (name or "checker" not in roles):
        names = [name or own]
    elif kind == "prediction":
        names = [name or own, question_slug(rater.replace("/", "-"))]
    return "/".join([kind, *filter(None, names)])


def _examples(seen: Preview, column: str) -> list[str]:
    different = dict.fromkeys(str(row[column]) for row in seen.rows if row.get(column) not in (None, ""))
    return [Truncator(text).chars(60) for text in list(different)[:EXAMPLES]]


class ValuesForm(forms.Form):
    """What values of the file mean that are no labels of the project's questions, one by one. `unknown` are questions
    and values, as oddities name them."""

    title = "What the values mean"
    is_guided = False

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
        """With what was entered for the values, in addition to earlier entries."""
        values = {question: dict(meanings) for question, meanings in before.values.items()}
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
    is_guided = False

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
        is_other = any(treatment != self.fields[f"treat_{kind}"].initial for kind, treatment in treated.items())
        if "leave_out" in self.fields and not (cleaned.get("leave_out") or is_other):
            self.add_error("leave_out", "Nothing can be imported with bad rows: leave them out, or correct the file")
        if self.makes_project(cleaned):
            for name, what in (("project_title", "a title"), ("task_type", "a task")):
                if not cleaned.get(name) and name not in self.errors:
                    self.add_error(name, f"The project needs {what}")
            self._check_settings(cleaned)
            chosen, judges = cleaned.get("piece_set"), cleaned.get("task_type")
            if chosen and judges and self._judges_no_pieces(judges):
                self.add_error("piece_set", "This task judges no pieces of a set: choose another task, or no set")
        return cleaned

    def makes_project(self, cleaned: dict) -> bool:
        return bool(cleaned.get("with_project"))

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
    def text_formats(self) -> dict[str, str]:
        """How texts are shown; a data set's settings say it where no study is made."""
        return {}

    @property
    def treat(self) -> dict[str, str]:
        """Kind of odd rows -> what to do with them."""
        return {kind: self.cleaned_data[f"treat_{kind}"] for kind in self.odd}

    def wish(self) -> ProjectWish | None:
        if not self.makes_project(self.cleaned_data):
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
