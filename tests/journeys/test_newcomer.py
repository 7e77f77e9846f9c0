"""The whole way of somebody new, in Chromium: from the demo to an export that an empty Assay gives back equal."""

import contextlib
import csv
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.formats.studies.druid import COLUMNS
from tests.conftest import CHROMIUMS, how_to_start_chromium
from tests.own_database import empty_database

from . import browser
from .browser import Answer
from .demo import ROOT, made_before, manage, running_demo

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CLIMATE_FEVER = ROOT.parent / "shared" / "data" / "climate_fever" / "climate-fever.jsonl"
ANNOTATORS = {"Annotator": "annotator@demo.invalid", "Second annotator": "second-annotator@demo.invalid"}
GUIDELINES = "# What to judge\n\nRead the **claim**, then the *evidence*.\n"


@dataclass(frozen=True, slots=True)
class Journey:
    title: str
    slug: str
    file: Path
    contents: dict[str, str]  # as the dry run counts them
    task: str
    task_type: str
    stances: int
    answers: dict[str, list[Answer]]


def ten_answers(keys: str, slips: dict[int, str]) -> list[Answer]:
    """Relevant all but the fourth; a highlight in every other; `slips` are taken back in view of the suggestion."""
    answers = []
    for place, key in enumerate(keys):
        if place == 3:
            answers.append(Answer(relevant=False))
        else:
            words = 3 if place % 2 == 0 else 0
            answers.append(Answer(relevant=True, stance=key, words=words, instead=slips.get(place, "")))
    return answers


ANSWERS = {
    "Annotator": ten_answers("3213213213", {1: "3", 6: "1"}),
    "Second annotator": ten_answers("3212213113", {8: "3"}),
}


def small_file(folder: Path) -> Path:
    """Claims of which one has quotes, tabs' neighbours and an emoji, in DRUID's layout."""
    path = folder / "small.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, delimiter="\t")
        rows.writeheader()
        for number in range(12):
            claim, froze = number // 3, ("froze", "never froze")[number % 2]
            rows.writerow(
                {
                    "id": f"s{number}",
                    "claim_id": f"c{claim}",
                    "claim_source": "check.example",
                    "claim": f"The harbour of town {claim} “never” freezes 🧊.",
                    "claimant": "A reader",
                    "claim_date": "2024-03-02",
                    "evidence_source": f"https://news.example/{number}",
                    "evidence": f"Report {number} says that the harbour {froze}; see «{number}».",
                    "evidence_date": "2024-03-03",
                    "factcheck_verdict": "False",
                    "is_gold": "False",
                }
            )
    return path


def climate_fever(folder: Path) -> Journey:
    if not CLIMATE_FEVER.exists():
        pytest.skip("the CLIMATE-FEVER file is not beside the repository")
    return Journey(
        "CLIMATE-FEVER",
        "climate-fever",
        CLIMATE_FEVER,
        {"Claims": "1,535", "Evidence": "7,675"},
        "Claim and evidence, three-way stance",
        "claim-evidence/three-way/1",
        3,
        ANSWERS,
    )


def small(folder: Path) -> Journey:
    return Journey(
        "Harbours",
        "harbours",
        small_file(folder),
        {"Claims": "4", "Evidence": "12"},
        "Claim and evidence, six-way stance",
        "claim-evidence/six-way/1",
        6,
        ANSWERS,
    )


@pytest.fixture(scope="module")
def chromium(chromium):
    """The one that people have, with its windows, where it is installed beside the shell that other tests use."""
    browser = chromium.browser_type.launch(**how_to_start_chromium((*CHROMIUMS[1:], CHROMIUMS[0])))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "newcomer")) as demo:
        yield demo


@pytest.mark.parametrize("plan", [climate_fever, small], ids=lambda plan: plan.__name__)
def test_from_the_demo_to_an_export_that_comes_back_equal(demo, chromium, tmp_path, capsys, plan):
    journey = plan(tmp_path)
    steps = []

    def mark(step: str) -> None:
        steps.append((step, time.monotonic()))

    mark("begin")
    with browser.person(chromium, demo.address, "Researcher") as researcher:
        browser.new_dataset(researcher, journey.title, journey.slug)
        found = browser.look_at(researcher, journey.file)
        assert found == journey.contents
        mark("dry run")
        browser.import_now(researcher)
        mark("import")
        project = browser.new_project(researcher, f"{journey.title} judged", journey.title, journey.task, GUIDELINES)
        slug = project.rstrip("/").rpartition("/")[2]
        mark("project")
        invitations = {title: browser.invite(researcher, project, email) for title, email in ANNOTATORS.items()}
        browser.run_checker(researcher, project, "Shared words", journey.contents["Evidence"])
        mark("checker run")

        seen = {}
        # Both stay: what the first has fetched ahead would come back when she leaves, and go to the second at once.
        with contextlib.ExitStack() as staying:
            for title in ANNOTATORS:
                annotator = staying.enter_context(browser.person(chromium, demo.address, title))
                browser.join(annotator, invitations[title])
                seen[title] = browser.label_items(annotator, project, journey.answers[title], "lexical")
        assert seen["Annotator"] == seen["Second annotator"]
        assert len(set(seen["Annotator"])) == 10
        mark("labelling")

        researcher.goto(f"{project}agreement/?all=1")
        relevance, stance = (browser.figures(researcher, of) for of in ("Relevance", "Stance"))
        mark("agreement")
        researcher.goto(f"{project}comparison/")
        against = browser.figures(researcher, "Stance: agreement with people")
        labels = browser.stats(researcher, "Stance: agreement with people")
        # Numbers come first, pictures with the whole report.
        confusions = researcher.locator("svg.plot[aria-labelledby*=confusion]")
        expect(confusions).to_have_count(2, timeout=browser.JOB_MS)
        counts = researcher.locator(".table-wrap[aria-label$=': people (rows) and checker']")
        matrices = [table.locator("tbody td").all_text_contents() for table in counts.all()]
        assert [len(cells) for cells in matrices] == [4, journey.stances**2]
        assert sum(map(int, matrices[0])) == 10
        mark("comparison")
        files = browser.export(researcher, project, tmp_path / "first")
        mark("export")

    agreement = "Percent agreement (mean over items)"
    assert relevance[agreement][0] == "1.000" and relevance[agreement][2] == "10"
    # Nine pairs that both found relevant, five of them with one stance; as one more label, the tenth agrees, too.
    assert (stance[agreement][0], stance[agreement][2]) == ("0.556", "9")
    seven = stance[f"{agreement}, with “not_applicable” as a label"]
    assert (seven[0], seven[2]) == ("0.600", "10")
    assert all(", " in interval for _, interval, *_ in stance.values())
    assert labels["labels untouched by the checker"] == labels["labels in all"] == "18"
    # The answers before the suggestions count, of which two were other ones.
    assert (labels["units with a reference label"], labels["ties, excluded"]) == ("8", "1")
    assert 1 <= int(against["Accuracy"][2]) <= 8  # where the checker found it relevant, too
    expected = ("annotations.jsonl", "claims.jsonl", "claims.parquet", "claims.tsv", "manifest.json", "undecided.tsv")
    assert [file.name for file in files] == [f"{slug}-{name}" for name in expected]
    again = export_from_an_empty_assay(journey, slug, tmp_path)
    for file in files:
        assert (again / file.name.removeprefix(f"{slug}-")).read_bytes() == file.read_bytes(), file.name
    mark("empty Assay")
    with capsys.disabled():
        print(" · ".join(f"{b[0]} {b[1] - a[1]:.1f} s" for a, b in zip(steps, steps[1:], strict=False)))


def export_from_an_empty_assay(journey: Journey, slug: str, folder: Path) -> Path:
    """Import the downloaded content, annotations and settings where nothing is, and export there."""
    data = folder / "empty"
    data.mkdir()
    shutil.copyfile(empty_database(), data / "assay.sqlite3")
    names = ("claims.jsonl", "annotations.jsonl", "manifest.json")
    files = [str(folder / "first" / f"{slug}-{name}") for name in names]
    overlap = json.loads(Path(files[-1]).read_text(encoding="utf-8"))["settings"]["overlap"]
    chosen = ["--dataset", journey.slug, "--project", slug, "--task-type", journey.task_type, "--with-settings"]
    chosen += ["--overlap", str(overlap)]
    commands = [
        ("import_dataset", *files, "--format", "assay", *chosen),
        ("export_dataset", slug, str(folder / "second")),
    ]
    # In one process, which takes seconds to start.
    manage(
        data,
        "shell",
        "-v0",
        "-c",
        "from annotation.models import User; User.objects.create_superuser('a@b.example', 'a@b.example')\n"
        "from django.core.management import call_command\n"
        f"for one in {commands}: call_command(*one)",
    )
    return folder / "second"
