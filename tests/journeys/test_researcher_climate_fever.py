"""A researcher's whole way on all of CLIMATE-FEVER, in Chromium: real claims, evidence and votes, whose claims name no
source and whose voters are nobody. Three people label a part of it anew, by the votes and with slips of their own."""

import json
import random
import re
import time
import uuid
import zipfile
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from sklearn.metrics import accuracy_score, f1_score

from analysis.figures.tabular import rounded
from analysis.reports.checkers.comparison.filters import of_cell
from analysis.templatetags.figures import CELL_DIGITS, SHOWN_ROWS, number
from annotation.task_types import task_type

from . import browser
from . import researching as steps
from .browser import JOB_MS
from .demo import ROOT, made_before, manage, running_demo
from .researching import Study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILE = ROOT.parent / "shared" / "data" / "climate_fever" / "climate-fever.jsonl"
SLUG, TASK = "climate-fever", "claim-evidence/three-way/1"
CLAIMS, PAIRS, VOTES, ARTICLES = 1_535, 7_675, 18_486, 1_344
PUBLISHED_ALPHA = 0.33401548
# Who labels, by the title of the demo's account, and how often they say what the votes make true.
PEOPLE = {"Annotator": 0.92, "Second annotator": 0.85, "Adjudicator": 0.75}
EMAILS = {title: f"{title.lower().replace(' ', '-')}@demo.invalid" for title in PEOPLE}
ITEMS_EACH = 100
SPLIT = "evidence.article"
STANCES = task_type(TASK).dimension("stance").values
# docs/benchmarks.md: accuracy and macro-F1 against the majority of the votes, on the pairs that have one.
WITH_MAJORITY = 5_174
FIGURES = {"lexical": (0.524, 0.424), "embedding": (0.582, 0.489)}


@pytest.fixture(scope="module")
def evidence() -> dict[str, dict]:
    """Key of each piece of evidence -> what the file has about it."""
    if not FILE.exists():
        pytest.skip("the CLIMATE-FEVER file is not beside the repository")
    claims = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return {f"{claim['claim_id']}/{one['evidence_id']}": one for claim in claims for one in claim["evidences"]}


@pytest.fixture(scope="module")
def study(evidence, tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "climate-fever")) as demo:
        where = ("--format", "climate-fever", "--dataset", SLUG, "--project", SLUG, "--task-type", TASK)
        asked = ("--overlap", str(len(PEOPLE)), "--title", "CLIMATE-FEVER", "--owner", "researcher@demo.invalid")
        manage(demo.folder, "import_dataset", str(FILE), *where, *asked)
        yield Study(demo, SLUG)


@pytest.fixture
def mark(capsys):
    """Call it at the end of a step. Says afterwards how long each took."""
    times = [("", time.monotonic())]
    yield lambda step: times.append((step, time.monotonic()))
    with capsys.disabled():
        print(" · ".join(f"{step} {end - start:.0f} s" for (_, start), (step, end) in pairwise(times)))


def votes_of(found: dict) -> Counter:
    return Counter(vote.lower() for vote in found["votes"] if vote)


def true_answer(key: str, found: dict) -> tuple[bool, str]:
    """What most votes say, not enough information where they are tied; half of the evidence that settles nothing is
    off the point."""
    (most, n), *others = votes_of(found).most_common()
    stance = "not_enough_info" if others and others[0][1] == n else most
    return stance != "not_enough_info" or random.Random(key).random() < 0.5, stance


def answer(title: str, key: str, found: dict) -> list[dict]:
    """What somebody says of a pair: the same at every run."""
    chance, right = random.Random(f"{title} {key}"), PEOPLE[title]
    is_relevant, stance = true_answer(key, found)
    if chance.random() > right:
        is_relevant = not is_relevant
    if chance.random() > right:
        stance = chance.choice([other for other in STANCES if other != stance])
    said = {"relevance": "relevant" if is_relevant else "not_relevant"} | ({"stance": stance} if is_relevant else {})
    return [{"unit": key, "dimension": name, "label": label, "spans": []} for name, label in said.items()]


def figures_of(archive: Path, run: str, evidence: dict[str, dict]) -> tuple[float, float]:
    """Accuracy and macro-F1 of a run's stances against the majority of the votes, by scikit-learn."""
    majority = {}
    for key, found in evidence.items():
        (most, n), *others = votes_of(found).most_common()
        if not others or n > others[0][1]:
            majority[key] = most
    assert len(majority) == WITH_MAJORITY
    with zipfile.ZipFile(archive) as files, files.open("frames/suggestions.jsonl") as lines:
        rows = [row for line in lines if (row := json.loads(line))["run"] == run and row["dimension"] == "stance"]
    labels = {row["unit"]: row["label"] for row in rows}
    pairs = [(majority[key], labels[key]) for key in majority]
    return accuracy_score(*zip(*pairs, strict=True)), f1_score(*zip(*pairs, strict=True), average="macro")


def keys_of_items(page: Page, study: Study) -> dict[str, str]:
    """Key by item, which researchers alone are told."""
    address, found = f"{study.demo.address}/api/v1/projects/{SLUG}/items/?page_size=1000", {}
    while address:
        rows = page.request.get(address).json()
        found |= {row["uuid"]: row["key"] for row in rows["results"]}
        address = rows["next"]
    return found


def label_items(page: Page, study: Study, title: str, evidence: dict[str, dict], keys_of: dict[str, str]) -> set[str]:
    """Take items and answer them, one after another, as the labelling page does. Returns their keys."""
    api, keys = f"{study.demo.address}/api/v1", set()
    token = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    offered = page.request.get(f"{api}/projects/{SLUG}/work/next").json()
    for left in reversed(range(ITEMS_EACH)):
        key = keys_of[offered["payload"]["item"]]
        [unit] = offered["payload"]["units"]
        body = {
            "client_id": str(uuid.uuid4()),
            "submitted_at": datetime.now(UTC).isoformat(),
            "active_ms": 4_000,
            "judgements": [one | {"unit": unit} for one in answer(title, key, evidence[key])],
            "want_next": left > 0,
        }
        address = f"{api}/assignments/{offered['payload']['assignment']}/submit"
        stored = page.request.post(address, data=body, headers={"X-CSRFToken": token, "Referer": page.url})
        assert stored.ok, stored.text()
        keys.add(key)
        offered = stored.json()["ahead"]
    return keys


def test_the_whole_of_climate_fever_from_votes_to_figures_that_others_compute_again(
    study, chromium, evidence, tmp_path, mark
):
    assert (len(evidence), sum(votes_of(one).total() for one in evidence.values())) == (PAIRS, VOTES)
    with browser.person(chromium, study.demo.address, "Researcher") as page:
        invitations = {title: browser.invite(page, study.address(), email) for title, email in EMAILS.items()}
        embedding = steps.start_checker(page, study, "Nearest sentence")
        lexical = steps.start_checker(page, study, "Shared words")
        judged: set[str] = set()
        keys_of = keys_of_items(page, study)
        for title, link in invitations.items():
            with browser.person(chromium, study.demo.address, title) as annotator:
                browser.join(annotator, link)
                keys = label_items(annotator, study, title, evidence, keys_of)
                assert len(keys) == ITEMS_EACH and judged in (set(), keys)  # all get the first of one order
                judged = keys
        mark("labelling")
        lexical = steps.finished(page, lexical, 4 * JOB_MS)  # it shares the workers with the other
        steps.train(page, study, representation="Shared words", classifier="Logistic regression", balanced=False)
        mark("training")
        embedding = steps.finished(page, embedding, 4 * JOB_MS)
        mark("checkers")

        # Agreement of the votes: as a whole, per label, and by article, since the claims name no source.
        steps.go(page, study, "agreement/?raters=imported")
        alpha = steps.alpha_of(page, "Stance")
        assert alpha == f"{PUBLISHED_ALPHA:.3f}"
        table = steps.table_of(page, "Stance: each label against the rest")
        per_label = {name: steps.value_of(cell) for name, cell in steps.column(table, 4).items()}
        assert len(per_label) == len(STANCES)
        assert steps.table_of(page, "Stance: by source").count() == 0
        filters = page.get_by_role("group").filter(has_text="Filters: none")
        filters.get_by_text("Filters: none").click()
        filters.get_by_label("By", exact=True).select_option("article of the evidence")
        filters.get_by_role("button", name="Show", exact=True).click()
        page.wait_for_url(f"**split={SPLIT}**")
        browser.are_computed(page)
        assert steps.alpha_of(page, "Stance") == alpha
        table = steps.table_of(page, "Stance: by article of the evidence")
        sizes = Counter(one["article"] for one in evidence.values())
        by_article = {name: int(n) for name, n in steps.column(table, 1).items()}
        assert by_article == dict(sorted(sizes.items(), key=lambda row: (-row[1], row[0]))[:SHOWN_ROWS])  # of 50
        alphas = {name: steps.value_of(cell) for name, cell in steps.column(table, 4).items()}
        expect(page.get_by_text(f"{ARTICLES - 50:,} more, with fewer units, are not listed")).to_be_visible()
        assert "with the article of the evidence in the place of the source" in page.locator("#methods").inner_text()
        latex = steps.download_figures(page, tmp_path)
        assert r"\caption{Stance: by article of the evidence}" in latex and r"\toprule" in latex
        mark("agreement")

        # Two checkers beside each other, and what lies behind a cell of their confusion with people.
        steps.go(page, study, f"comparison/?run={embedding}")
        mcnemar = steps.set_beside(page, "Stance", value=lexical).inner_text()
        accuracy = steps.value_of(steps.column(steps.table_of(page, "Stance: embedding against people"), 1)["Accuracy"])
        cell = quote(of_cell("stance", "refutes", "supports").encoded, safe="")
        key = steps.open_an_item(page, page.locator(f"svg a[href$='figure={cell}']"))
        expect(page.get_by_text(evidence[key]["evidence"], exact=True)).to_be_visible()
        assert key in judged or votes_of(evidence[key]).most_common(1)[0][0] == "refutes"
        mark("comparison")

        # May the trained one stand in for a person?
        steps.go(page, study, "alternative-annotator/")
        tested = steps.table_of(page, re.compile("^Stance: alternative annotator test"))
        trained = tested.get_by_role("row", name=re.compile("^trained"))
        winning_rate = steps.value_of(trained.locator("td").nth(1).inner_text())
        assert 0 <= float(winning_rate) <= 1 and trained.locator("td").nth(3).inner_text() == str(len(PEOPLE))
        mark("alternative annotator")

        # How many more labels? Then freeze those that there are.
        steps.go(page, study, "reports/planning/")
        assert page.locator("table tbody tr").count() > 0
        mark("planning")
        _, archive, sha256 = steps.freeze(page, study, tmp_path)
        mark("release")

    agreement, comparison, alternative = steps.reports(
        (tmp_path, (str(archive), "agreement", "--from-files", "--raters", "imported", "--split", SPLIT)),
        (tmp_path, (str(archive), "comparison", "--from-files", "--run", embedding, "--other", lexical)),
        (tmp_path, (str(archive), "alternative-annotator", "--from-files")),
    )
    mark("figures from files")
    assert {report["made_from"]["sha256"] for report in (agreement, comparison, alternative)} == {sha256}
    for checker, run in (("embedding", embedding), ("lexical", lexical)):
        assert figures_of(archive, run, evidence) == pytest.approx(FIGURES[checker], abs=5e-4)
    votes = steps.of_dimension(agreement, "stance")
    assert steps.figure(votes, "krippendorff_alpha_nominal") == pytest.approx(PUBLISHED_ALPHA, abs=1e-8)
    shown = votes["by_source"][:SHOWN_ROWS]
    assert {row["source"]: number(row["alpha_nominal"]["estimate"]) for row in shown} == alphas
    assert {row["title"]: number(row["alpha"]["estimate"]) for row in votes["per_label"]} == per_label
    compared = steps.of_dimension(comparison, "stance")
    assert number(compared["accuracy"]["estimate"]) == accuracy
    assert [
        rounded(one["p_value"], CELL_DIGITS, "p") for one in compared["versus"]["tests"] if "McNemar" in one["name"]
    ] == [mcnemar]
    row = next(
        one for one in steps.of_dimension(alternative, "stance")["checkers"] if one["checker"].startswith("trained")
    )
    assert number(row["winning_rate"]["estimate"]) == winning_rate
    assert {one["n_units"] >= alternative["min_units"] for one in row["people"]} == {True}
