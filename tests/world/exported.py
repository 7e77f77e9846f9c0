"""A project with everything that an export must carry, and the way of its files into an empty Assay."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.core.management import call_command
from django.db.models import F

from annotation.models import Claim, Decision, Evidence, Project
from tests.factories import make_batch, make_dataset, make_project
from tests.second_assay import run_in_empty_assay
from tests.world.labels import items_of, make_rater, say

# Emoji with modifiers, Arabic with marks, a combining accent, a line feed, a quote, a tab, a formula.
TEXTS = (
    "Der Hafen blieb offen 👩🏽‍🔬 den ganzen Winter.",
    "المِيناءُ ظلّ مفتوحًا طوال الشتاء",
    'Cafe\u0301 owners say\nso, "maybe".\tYes',
    '=HYPERLINK("http://example.org")',
    "  leading and trailing  ",
    "@cmd, +1, -1",
    "plain",
)
KEYS = ("Zebra/1", "apple/1", "Ä/1", "ä/1", "e\u0301/1", "é/1", "_x/1")


def make_content(dataset, texts=TEXTS, keys=KEYS):
    from annotation.models import Unit

    base = {"dataset": dataset, "batch": make_batch(dataset)}
    units = []
    for key, text in zip(keys, texts, strict=True):
        claim = Claim.objects.create(
            **base,
            key=f"claim of {key}",
            text=f"Claim: {text}",
            claimant="Somebody",
            source="https://a.example.org/x",
            verdict="False",
            date="2021-03-04",
        )
        evidence = Evidence.objects.create(
            **base, key=key, claim=claim, text=text, url="https://b.example.org/y", rank=1
        )
        units.append(Unit.objects.create(**base, kind="evidence", key=key, evidence=evidence))
    return units


def make_rich_project(slug="rich", identifier="claim-evidence/six-way/1") -> Project:
    """Spans, revisions, surplus, decisions of two methods, ties, irrelevant evidence, no label at all."""
    dataset = make_dataset(slug=f"{slug}-content")
    make_content(dataset)
    project = make_project(dataset, identifier, slug=slug)
    anna, ben, late = (make_rater(project, name) for name in ("Anna Secret", "Ben Secret", "Late Secret"))
    outside = make_rater(project, "Outside Secret", "external")
    slot = make_rater(project, "vote 1", "slot")
    items = {item.key: item for item in items_of(project)}
    one, two, three, four, five, six, _ = (items[key] for key in KEYS)
    refutes = "refutes"
    start = datetime(2026, 2, 3, 4, 5, 6, 789000, tzinfo=UTC)
    times = {"shown_at": start, "submitted_at": start + timedelta(seconds=9), "active_ms": 8000, "guideline_version": 1}
    emoji = TEXTS[0].index("👩🏽‍🔬")
    say(
        one, anna, "relevant", "supports", spans=(("evidence", emoji, emoji + 4, TEXTS[0][emoji : emoji + 4]),), **times
    )
    say(one, anna, "relevant", refutes, shown=True, comment="Changed my mind – “really”", **times)
    say(one, ben, "relevant", refutes, spans=(("evidence", 0, 3, "Der"), ("evidence", 4, 9, "Hafen")), **times)
    say(one, late, "relevant", "supports", surplus=True, **times)
    say(two, anna, "relevant", "supports", spans=(("evidence", 0, 11, TEXTS[1][:11]),))
    say(two, ben, "relevant", refutes)
    Decision.objects.create(project=project, unit=two.anchor, dimension="stance", label=refutes, method="adjudicated")
    Decision.objects.create(project=project, unit=two.anchor, dimension="stance", label="supports", method="imported")
    say(three, anna, "relevant", "supports", spans=(("evidence", 3, 5, "e\u0301"),), shown=None)
    say(three, ben, "not_relevant")
    say(four, anna, "not_relevant")
    say(four, ben, "not_relevant")
    say(four, outside, "relevant", "supports", metadata={"mood": "good"})
    say(five, slot, None, "supports")
    say(six, anna, "relevant", "supports")
    say(six, ben, "relevant", refutes)
    Project.objects.filter(pk=project.pk).update(label_version=F("label_version") + 1)
    project.refresh_from_db()
    return project


def export(project: Project, folder: Path, *arguments: str) -> dict[str, bytes]:
    call_command("export_dataset", project.slug, str(folder), *arguments, verbosity=0)
    return files_in(folder)


def arguments_for(source: Path) -> tuple[list[str], list[str]]:
    """The files of an export that an import takes, and the arguments that set the project up as it was."""
    files = [str(path) for path in sorted(source.iterdir()) if path.suffix in (".jsonl", ".json")]
    overlap = json.loads((source / "manifest.json").read_text(encoding="utf-8"))["settings"]["overlap"]
    return files, ["--with-settings", "--overlap", str(overlap)]


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def through_an_empty_assay(source: Path, folder: Path, project: str, task_type: str) -> dict[str, bytes]:
    """What an Assay with a database of its own exports after it has imported the files in `source`. Its report on
    agreement lies in `folder` too."""
    chosen = ["--format", "assay", "--dataset", "second", "--project", project, "--task-type", task_type]
    files, settings = arguments_for(source)
    run_in_empty_assay(
        folder,
        ["import_dataset", *files, *chosen, *settings],
        ["export_dataset", project, str(folder / "out")],
        ["report", project, "agreement", "--format", "json"],
        stdout=folder / "out-agreement.json",
    )
    return files_in(folder / "out")
