"""The result of an import as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotation.datasets.kinds import TITLES
from annotation.formats.cells import label_order
from annotation.formats.tables.oddities import ODDITIES
from annotation.imports.publishing import REFUSE
from annotation.imports.rows import KEPT
from annotation.models import Job
from annotation.task_types import TaskType, UnknownTaskTypeError, learn, task_type
from annotation.task_types.label_sets import LabelSetError


def kind_name(kind: str) -> str:
    """The kind of a row within a sentence."""
    title = TITLES.get(kind, kind)
    return (title if kind == "evidence" else title.removesuffix("s")).lower()


def _place(kind: str) -> int:
    return list(TITLES).index(kind) if kind in TITLES else len(TITLES)


@dataclass(frozen=True, slots=True)
class ImportResult:
    is_dry_run: bool
    is_done: bool
    read_as: list[str] = field(default_factory=list)
    content: list[dict] = field(default_factory=list)
    sets: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)  # title of the kind, sets of it
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    annotations: int = 0
    decisions: int = 0
    raters: int = 0
    from_checkers: dict[str, int] = field(default_factory=dict)
    lost: list[dict] = field(default_factory=list)
    odd: list[dict] = field(default_factory=list)
    chosen_count: int = 0
    error_count: int = 0
    errors: list[dict] = field(default_factory=list)
    judged_count: int = 0
    judged: list[dict] = field(default_factory=list)
    is_unchanged: bool = False
    published: dict = field(default_factory=dict)
    stored: dict = field(default_factory=dict)
    project_slug: str = ""
    is_refused: bool = False  # and would be again with the same choices
    is_guided: bool = False  # a step of a new study

    @property
    def has_labels(self) -> bool:
        return bool(self.annotations or self.decisions or self.from_checkers)

    @property
    def set_names(self) -> list[str]:
        """Of the file's pieces, where one has a name; the unnamed one first."""
        return sorted({name for _, sets in self.sets for name, _ in sets})

    @property
    def open_kinds(self) -> list[str]:
        """Kinds of odd rows whose meaning has to be chosen."""
        return list(dict.fromkeys(one["kind"] for one in self.odd if one["is_open"]))

    @property
    def is_empty(self) -> bool:
        """Whether the file was read, and no row of it, good or bad, holds anything."""
        numbers = (kind[name] for kind in self.content for name in ("created", "changed", "unchanged"))
        return self.is_done and not (any(numbers) or self.has_labels or self.error_count)

    @property
    def stored_labels(self) -> dict:
        """What became of the file's labels, where it had some."""
        return self.stored if self.has_labels else {}

    @property
    def is_sound_dry_run(self) -> bool:
        return self.is_dry_run and self.is_done and not self.error_count

    @property
    def may_import(self) -> bool:
        """Whether there is something to import, maybe without the bad rows."""
        return self.is_dry_run and self.is_done and (not self.is_unchanged or self.has_labels)

    @property
    def unlisted_errors(self) -> int:
        return max(self.error_count - KEPT, 0)


def import_result(job: Job, found: dict | None = None) -> ImportResult:
    """The job's result, or the part of it that this user may read."""
    found = job.result if found is None else found
    content = [
        {
            "title": TITLES.get(kind, kind),
            **{name: counts.get(name, 0) for name in ("created", "changed", "unchanged")},
        }
        # A database may store the keys of JSON in an order of its own.
        for kind, counts in sorted(found.get("content", {}).items(), key=lambda entry: _place(entry[0]))
    ]
    names = ("labels", "annotations", "decisions", "raters", "from_checkers", "lost", "odd", "chosen_count")
    names += ("error_count", "errors", "judged_count", "judged", "read_as")
    if "judged" in found:
        judged = [
            row | {"kind": kind_name(row["kind"]), "columns": _columns(row["columns"])} for row in found["judged"]
        ]
        found = found | {"judged": judged}
    if "odd" in found:
        found = found | {"odd": [one | {"title": ODDITIES[one["kind"]].title} for one in found["odd"]]}
    if "labels" in found:
        found = found | {"labels": _in_titles(found["labels"], _task_of(job))}
    return ImportResult(
        is_dry_run=bool(job.parameters.get("is_dry_run")),
        is_done=job.state == Job.State.DONE,
        content=content,
        sets=[(TITLES[kind], sorted(sets.items())) for kind, sets in sorted(found.get("sets", {}).items())],
        is_unchanged=found.get("is_unchanged", False),
        published=found.get("published", {}),
        stored=found.get("labels_stored", {}),
        project_slug=found.get("project", {}).get("slug", ""),
        is_refused=_is_refused(job),
        is_guided=bool(job.parameters.get("is_guided")),
        **{name: found[name] for name in names if name in found},
    )


def _is_refused(job: Job) -> bool:
    """Whether the import failed for what the file has and the choices do not allow."""
    found, asked = job.result, job.parameters
    is_bad = found.get("error_count") and not asked.get("leaves_out")
    is_judged = found.get("judged_count") and asked.get("on_judged", REFUSE) == REFUSE
    is_open = any(one["is_open"] for one in found.get("odd", ()))
    return job.state == Job.State.FAILED and bool(is_bad or is_judged or is_open)


def _task_of(job: Job) -> TaskType | None:
    """The task that the file's labels fit: its label set, or one that there is."""
    label_set, fitting = job.parameters.get("choices", {}).get("label_set"), job.result.get("fitting")
    try:
        return learn(label_set) if label_set else fitting and task_type(fitting)
    except (LabelSetError, UnknownTaskTypeError):
        return None


def _in_titles(labels: dict[str, dict[str, int]], kind: TaskType | None) -> dict[str, dict[str, int]]:
    """Questions and labels as the task calls them, labels in its order; others as the file does, in order."""
    questions = {one.slug: one for one in kind.dimensions} if kind else {}
    shown: dict[str, dict[str, int]] = {}
    for slug in sorted(labels, key=[*questions, *sorted(labels)].index):
        question, counts = questions.get(slug), labels[slug]
        known = [value for value in question.values if value in counts] if question else []
        for answer in dict.fromkeys((*known, *sorted(counts, key=label_order))):
            title = question.title_of(answer) if question and question.may_answer(answer) else answer
            of_title = shown.setdefault(question.title if question else slug, {})
            of_title[title] = of_title.get(title, 0) + counts[answer]
    return shown


def _columns(columns: list[str]) -> list[str]:
    """What differs; `one more` of a kind comes with the kind's name."""
    return [
        f"one more {kind_name(column.removeprefix('one more '))}" if column.startswith("one more ") else column
        for column in columns
    ]


def errors_as_markdown(result: ImportResult) -> str:
    columns = ("file", "line", "column", "value", "reason")
    lines = [f"# Bad rows: {result.error_count:,}", ""]
    if result.unlisted_errors:
        lines += [f"The first {len(result.errors):,} are listed.", ""]
    lines += [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(_markdown_cell(error[column]) for column in columns) + " |" for error in result.errors]
    return "\n".join(lines) + "\n"


def _markdown_cell(value: object) -> str:
    """One line of plain text: nothing in it may start a cell, a row, a tag or a link."""
    text = "" if value is None else " ".join(str(value).split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#&!" else character for character in text)
