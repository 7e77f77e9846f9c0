"""The result of an import as its page shows it."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotation.models import Job
from annotation.services.import_rows import KEPT

# Columns of the counts, in the words of a dry run and of an import.
KIND_TITLES = {
    "claim": "Claims",
    "question": "Questions",
    "evidence": "Evidence",
    "response": "Responses",
    "triplet": "Triplets",
}


@dataclass(frozen=True, slots=True)
class ImportResult:
    is_dry_run: bool
    is_done: bool
    content: list[dict] = field(default_factory=list)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)
    annotations: int = 0
    decisions: int = 0
    raters: int = 0
    error_count: int = 0
    errors: list[dict] = field(default_factory=list)
    judged_count: int = 0
    judged: list[dict] = field(default_factory=list)
    is_unchanged: bool = False
    published: dict = field(default_factory=dict)
    stored: dict = field(default_factory=dict)
    project_slug: str = ""

    @property
    def has_labels(self) -> bool:
        return bool(self.annotations or self.decisions)

    @property
    def may_import(self) -> bool:
        return self.is_dry_run and self.is_done and not self.error_count and (not self.is_unchanged or self.has_labels)

    @property
    def unlisted_errors(self) -> int:
        return max(self.error_count - KEPT, 0)

    @property
    def unlisted_judged(self) -> int:
        return max(self.judged_count - KEPT, 0)


def import_result(job: Job) -> ImportResult:
    found = job.result
    content = [
        {
            "title": KIND_TITLES.get(kind, kind),
            **{name: counts.get(name, 0) for name in ("created", "changed", "unchanged")},
        }
        for kind, counts in found.get("content", {}).items()
    ]
    names = ("labels", "annotations", "decisions", "raters", "error_count", "errors", "judged_count", "judged")
    return ImportResult(
        is_dry_run=bool(job.parameters.get("is_dry_run")),
        is_done=job.state == Job.State.DONE,
        content=content,
        is_unchanged=found.get("is_unchanged", False),
        published=found.get("published", {}),
        stored=found.get("labels_stored", {}),
        project_slug=found.get("project", {}).get("slug", ""),
        **{name: found[name] for name in names if name in found},
    )


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
