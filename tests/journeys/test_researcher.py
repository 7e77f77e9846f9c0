"""A researcher's whole way, in Chromium: from labels and checkers to figures that others can compute again."""

import csv
import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.formats.druid import COLUMNS

from . import browser
from .browser import JOB_MS
from .demo import manage, running_demo

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CLAIMS, PER_CLAIM, SLUG = 60, 4, "rivers"
SOURCES = ("check.example", "facts.example", "verify.example")
PEOPLE = {"anna": 0.92, "ben": 0.85, "cleo": 0.7}  # how often they are right
TASK = "claim-evidence/three-way/1"


def write_study(folder: Path) -> tuple[Path, Path]:
    """Claims with evidence from three sources, and what three people said; a fifth of the evidence is irrelevant."""
    chance = random.Random(5)
    labels = [label.value for label in _stances()]
    claims, annotations = folder / "claims.tsv", folder / "annotations.jsonl"
    said: list[dict] = []
    with claims.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, delimiter="\t")
        rows.writeheader()
        for number in range(CLAIMS * PER_CLAIM):
            claim, key = number // PER_CLAIM, f"e{number:03}"
            relevant, stance = chance.random() < 0.8, chance.choice(labels)
            words = f"The river of town {claim} {_words(stance)} in spring" if relevant else "Bread is baked"
            rows.writerow(
                {
                    "id": key,
                    "claim_id": f"c{claim:03}",
                    "claim_source": SOURCES[claim % 3],
                    "claim": f"The river of town {claim} rose in spring.",
                    "claimant": "A reader",
                    "claim_date": "2024-03-02",
                    "evidence_source": f"https://news.example/{number}",
                    "evidence": f"{words}, says report {number}.",
                    "evidence_date": "2024-03-03",
                    "factcheck_verdict": "False",
                    "is_gold": "False",
                }
            )
            said += [_answer(chance, key, name, right, relevant, stance, labels) for name, right in PEOPLE.items()]
    said.sort(key=lambda line: (line["item"], line["annotator"]))
    annotations.write_text("".join(json.dumps(line) + "\n" for line in said), encoding="utf-8")
    return claims, annotations


def _stances():
    from annotation.task_types import task_type

    return task_type(TASK).dimension("stance").labels


def _words(stance: str) -> str:
    polarity = next(label.polarity for label in _stances() if label.value == stance) or 0
    return "rose" if polarity > 0 else "never rose" if polarity < 0 else "was measured"


def _answer(chance, key: str, name: str, right: float, relevant: bool, stance: str, labels: list[str]) -> dict:
    relevant = relevant if chance.random() < right else not relevant
    stance = stance if chance.random() < right else chance.choice(labels)
    judgements = [{"unit": key, "dimension": "relevance", "label": "relevant" if relevant else "not_relevant"}]
    judgements += [{"unit": key, "dimension": "stance", "label": stance}] if relevant else []
    return {"item": key, "task_type": TASK, "annotator": name, "annotator_kind": "person", "judgements": judgements}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("researcher")
    with running_demo(folder / "demo") as demo:
        files = [str(path) for path in write_study(folder)]
        arguments = ("--format", "assay", "--dataset", SLUG, "--project", SLUG, "--task-type", TASK)
        manage(demo.folder, "import_dataset", *files, *arguments, "--owner", "researcher@demo.invalid")
        for checker in ("lexical", "embedding"):
            manage(demo.folder, "run_checker", SLUG, checker, "--here")
        yield demo


def go(page: Page, demo, where: str) -> None:
    """A page of figures, once the whole report has been computed."""
    page.goto(f"{demo.address}/projects/{SLUG}/{where}")
    expect(page.locator("#state")).to_contain_text("Computed", timeout=JOB_MS)


def section_of(page: Page, heading: str):
    return page.locator("section.card").filter(has=page.get_by_role("heading", name=heading, exact=True))


def saved(page: Page, link, folder: Path) -> Path:
    with page.expect_download() as started:
        link.click()
    target = folder / started.value.suggested_filename
    started.value.save_as(target)
    return target


def train(page: Page, demo) -> None:
    page.goto(f"{demo.address}/projects/{SLUG}/training/")
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url("**/training/*/")
    run_it = page.get_by_role("button", name="Run it over the project")
    expect(run_it).to_be_visible(timeout=JOB_MS)
    run_it.click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#run-progress .badge")).to_have_text("done", timeout=JOB_MS)


def test_from_labels_to_figures_that_others_compute_again(study, chromium, tmp_path):
    with browser.person(chromium, study.address, "Researcher") as page:
        train(page, study)

        go(page, study, "agreement/")
        stance = section_of(page, "Stance")
        alpha = (
            stance.get_by_role("row", name=re.compile("^Krippendorff's alpha, nominal"))
            .locator("td")
            .first.inner_text()
        )
        assert stance.get_by_role("region", name="Stance: each label against the rest").locator("tbody tr").count() == 3
        by_source = stance.get_by_role("region", name=re.compile("Stance: .*source")).first
        assert {row.locator("th").first.inner_text() for row in by_source.locator("tbody tr").all()} == set(SOURCES)
        go(page, study, f"agreement/?source={SOURCES[0]}")
        part = section_of(page, "Stance").get_by_role("row", name=re.compile("^Krippendorff's alpha, nominal"))
        assert part.locator("td").first.inner_text() != alpha

        go(page, study, "comparison/")
        page.get_by_label("Beside", exact=True).select_option(index=1)
        expect(page.get_by_role("region", name="Stance: two runs against the same people")).to_be_visible(
            timeout=JOB_MS
        )
        expect(page.get_by_text(re.compile("McNemar")).first).to_be_visible()
        cell = page.locator("svg a[href*='behind']").first
        cell.click()
        expect(page.get_by_role("heading", name=re.compile("units? behind a figure"))).to_be_visible()
        page.locator("ul.plain li.card a").first.click()
        expect(page.get_by_text("The river of town").first).to_be_visible()

        go(page, study, "alternative-annotator/")
        trained = page.get_by_role("row", name=re.compile("^trained")).first
        expect(trained).to_be_visible()

        go(page, study, "reports/planning/")
        assert page.locator("table tbody tr").count() > 0

        go(page, study, "agreement/")
        tables = saved(page, page.get_by_role("link", name="LaTeX").first, tmp_path).read_text()
        assert r"\toprule" in tables and "Krippendorff's alpha, nominal" in tables
        for form, head in (("SVG", b"<"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG")):
            link = page.get_by_role("link", name=re.compile(form)).first
            assert saved(page, link, tmp_path).read_bytes().startswith(head)
        assert "Krippendorff" in page.locator("#methods").inner_text()

        page.goto(f"{study.address}/projects/{SLUG}/releases/")
        page.get_by_role("button", name="Freeze the labels as they are now").click()
        page.wait_for_url(re.compile(r"/releases/\d+/$"))
        number = page.url.rstrip("/").rpartition("/")[2]
        link = page.get_by_role("link", name=f"{SLUG}-release-{number}.zip")
        expect(link).to_be_visible(timeout=JOB_MS)
        archive = saved(page, link, tmp_path)
        sha256 = page.locator("code.hash").first.inner_text()

    said = json.loads(manage(tmp_path, "report", str(archive), "agreement", "--from-files", "--format", "json"))
    [dimension] = [one for one in said["dimensions"] if one["dimension"] == "stance"]
    figures = {one["name"]: one["estimate"] for one in dimension["figures"]}
    assert f"{figures['krippendorff_alpha_nominal']:.3f}" == alpha
    assert said["made_from"]["sha256"] == sha256
    here = json.loads(
        manage(study.folder, "report", f"{SLUG}@{number}", "comparison", "--run", "trained", "--format", "json")
    )
    there = json.loads(
        manage(tmp_path, "report", str(archive), "comparison", "--from-files", "--run", "trained", "--format", "json")
    )
    assert there == here
