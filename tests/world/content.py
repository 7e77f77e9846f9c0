"""Content with every kind of object and awkward texts, as a file of Assay's own format, and a project of any type."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.management import call_command

from annotation.decisions import adjudicating
from annotation.models import Dataset, Project
from tests.factories import make_project, make_user
from tests.kinds import answer_all
from tests.second_assay import run_in_empty_assay
from tests.world.exported import files_in

EMOJI = "Der Hafen 👩🏽‍🔬 fror 1963 zu ❄️."
ARABIC = "تجمّد المِيناءُ شتاءَ 1963"
COMBINING = 'Cafe\u0301 owners say\nso, "maybe".\tYes'
ROWS = (
    {
        "question": {
            "id": "q/ä",
            "text": EMOJI,
            "date": "2024-02-29",
            "answers": ["1963", ARABIC],
            "note": {"b": 1, "a": [2.5]},
        },
        "passages": [
            {
                "text": ARABIC,
                "title": "Chronik",
                "url": "https://e.example.org/1",
                "gold": True,
                "rank": 2,
                "date": "1963-01-01",
            },
            {"id": "passage of its own", "text": COMBINING, "gold": False, "rank": 1},
            {"text": "=HYPERLINK(1)", "rank": 3, "mark": "x"},
        ],
        "aspects": ["das Jahr", {"id": "Kälte", "text": "wie kalt es war 🥶", "level": 1}, ARABIC],
        "responses": [
            {
                "text": f"{EMOJI} {ARABIC}",
                "model": "gpt",
                "method": "plain",
                "repetition": 1,
                "setting": "noisy",
                "triplets": [
                    {"head": "Hafen", "relation": "fror zu", "tail": "1963"},
                    {"head": "Hafen", "relation": "fror zu", "tail": "1963"},
                ],
                "sub_sentences": [
                    {"text": "Der Hafen 👩🏽‍🔬 fror zu"},
                    {"id": "of its own", "text": ARABIC, "by": "us"},
                ],
                "atomic_claims": [{"text": "It froze."}, {"text": COMBINING}, {"text": "He knew."}],
            },
            {"id": "an empty one", "text": "", "model": "other"},
            {"text": "I don't know.\n\nReally."},
        ],
        "comparisons": [
            {"output_a": EMOJI, "output_b": f"{ARABIC}\n\n", "system_b": "gpt", "batch": 2},
            {"output_a": "=1+1", "output_b": COMBINING, "output_c": ARABIC, "system_a": "é"},
        ],
        "pairs": [
            {"premise": COMBINING, "hypothesis": ARABIC, "passage": "q/ä/p0", "response": "q/ä/r0", "sentence": 0}
        ],
    },
    {
        "question": {"id": "Q2", "text": "A question without passages?"},
        "responses": [{"text": "Yes 👍🏽."}],
        "aspects": ["one"],
    },
    {"question": {"id": "alone", "text": "A question with nothing below it?"}},
    {
        "claim": {
            "id": "c1",
            "text": ARABIC,
            "claimant": "Someone",
            "date": "2020-01-02",
            "source": "https://c.example.org",
            "verdict": "False",
            "lang": "ar",
        },
        "passages": [
            {"text": EMOJI, "gold": True},
            {"text": "Not gold.", "gold": False},
            {"text": COMBINING, "gold": True},
        ],
        "responses": [{"text": f"Generated. {EMOJI}", "model": "m", "method": "HyDE"}, {"text": "Other document."}],
        "pairs": [
            {"premise": EMOJI, "hypothesis": "Generated.", "passage": "c1/p0", "response": "c1/r0"},
            # A response to another question than the evidence's.
            {"id": "across", "premise": "Not gold.", "hypothesis": "Yes.", "passage": "c1/p1", "response": "Q2/r0"},
        ],
    },
    {"claim": {"id": "C2", "text": "A claim without evidence."}, "responses": [{"text": "Document without evidence."}]},
    {
        "pairs": [
            {"id": "zz", "premise": "=1+1", "hypothesis": "'two"},
            {"id": "é", "premise": "e\u0301", "hypothesis": "é"},
        ]
    },
)


def write_rows(path: Path, rows=ROWS) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def import_content(path: Path, dataset: str = "everything", *arguments: str) -> Dataset:
    if not Dataset.objects.filter(slug=dataset).exists():
        make_user(f"owner-of-{dataset}", is_superuser=True)
    call_command("import_dataset", str(path), "--format", "content", "--dataset", dataset, *arguments, verbosity=0)
    return Dataset.objects.get(slug=dataset)


def judged_project(dataset: Dataset, identifier: str, slug: str) -> Project:
    """Two people judge everything, with spans, comments and notes; one label is decided by an adjudicator."""
    project = make_project(dataset, identifier, slug=slug, order="file")
    answer_all(project, comment=f"Why: {ARABIC} 👩🏽‍🔬", free_text="Naïve note 📝")
    first = project.items.order_by("position").first()
    unit = first.item_units.order_by("index").first().unit
    dimension = project.type.dimensions[0]
    adjudicating.decide(project, dataset.owner, unit, dimension.slug, dimension.values[-1])
    return project


def through_an_empty_assay(folder: Path, projects: dict[Path, Project]) -> dict[str, dict[str, bytes]]:
    """By slug of the project, what an Assay with a database of its own exports after it has imported the JSON Lines
    files in each of the folders."""
    commands = []
    for source, project in projects.items():
        name, files = project.slug, sorted(map(str, source.glob("*.json*")))
        chosen = ["--format", "assay", "--dataset", f"of-{name}", "--project", name, "--task-type", project.task_type]
        commands.append(["import_dataset", *files, *chosen, "--with-settings", "--overlap", "2"])
        commands.append(["export_dataset", name, str(folder / name)])
    run_in_empty_assay(folder, *commands)
    return {project.slug: files_in(folder / project.slug) for project in projects.values()}
