"""A researcher's whole way, in Chromium: from labels and checkers to figures that others can compute again."""

import csv
import json
import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.formats.studies.druid import COLUMNS

from . import browser
from . import researching as steps
from .demo import made_before, manage, running_demo
from .researching import Study

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
    with running_demo(made_before(tmp_path_factory, "study")) as demo:
        files = [str(path) for path in write_study(folder)]
        arguments = ("--format", "assay", "--dataset", SLUG, "--project", SLUG, "--task-type", TASK)
        manage(demo.folder, "import_dataset", *files, *arguments, "--owner", "researcher@demo.invalid")
        for checker in ("lexical", "embedding"):
            manage(demo.folder, "run_checker", SLUG, checker, "--here")
        yield Study(demo, SLUG)


def test_from_labels_to_figures_that_others_compute_again(study, chromium, tmp_path):
    with browser.person(chromium, study.demo.address, "Researcher") as page:
        steps.train(page, study)

        steps.go(page, study, "agreement/?all=1")
        alpha = steps.alpha_of(page, "Stance")
        per_label = steps.table_of(page, "Stance: each label against the rest")
        expect(per_label.locator("tbody tr")).to_have_count(3)
        by_source = steps.table_of(page, "Stance: by source")
        assert set(steps.column(by_source, 1)) == set(SOURCES)
        steps.go(page, study, f"agreement/?source={SOURCES[0]}")
        assert steps.alpha_of(page, "Stance") != alpha

        steps.go(page, study, "comparison/")
        assert 0 <= float(steps.set_beside(page, "Stance", index=1).inner_text()) <= 1
        steps.open_an_item(page, page.locator("svg a[href*='behind']").first)
        expect(page.get_by_text("The river of town").first).to_be_visible()

        steps.go(page, study, "alternative-annotator/")
        tested = steps.table_of(page, re.compile("^Stance: alternative annotator test"))
        expect(tested.get_by_role("row", name=re.compile("^trained"))).to_be_visible()

        steps.go(page, study, "reports/planning/")
        assert page.locator("table tbody tr").count() > 0

        steps.go(page, study, "agreement/")
        tables = steps.download_figures(page, tmp_path)
        assert r"\toprule" in tables and "Krippendorff's alpha, nominal" in tables
        assert "Krippendorff" in page.locator("#methods").inner_text()
        number, archive, sha256 = steps.freeze(page, study, tmp_path)

    compared = ("comparison", "--run", "trained")
    said, there, here = steps.reports(
        (tmp_path, (str(archive), "agreement", "--from-files")),
        (tmp_path, (str(archive), *compared, "--from-files")),
        (study.demo.folder, (f"{SLUG}@{number}", *compared)),
    )
    assert f"{steps.figure(steps.of_dimension(said, 'stance'), 'krippendorff_alpha_nominal'):.3f}" == alpha
    assert said["made_from"]["sha256"] == sha256
    assert there == here
