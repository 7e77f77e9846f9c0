"""A judge on a scale from 1 to 5, from a file that nobody here wrote to a verdict and back as a table: by command, and
through the pages in Chromium, with the same figures."""

import csv
import json
import re

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Job
from tests import factories
from tests.formats.helpers import DATA
from tests.judge.test_judge import said

FOLDER = DATA / "alt_test" / "ten_k_prompts"
JUDGE, PEOPLE = "gpt_4o", ("ann_1", "ann_2", "ann_3")

needs_data = pytest.mark.skipif(not FOLDER.exists(), reason=f"needs {FOLDER}")


@pytest.fixture
def ratings(tmp_path):
    """The three people who share most prompts, and a model (Calderon et al. 2025), with a column for each."""
    people = json.loads((FOLDER / "human_annotations.json").read_text())
    model = json.loads((FOLDER / "llm_annotations.json").read_text())["gpt-4o"]
    three = sorted(people, key=lambda one: -len(people[one]))[:3]
    items = [one for one in model if sum(one in people[who] for who in three) > 1]
    path = tmp_path / "ratings.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "text", *PEOPLE, JUDGE])
        for item in items:
            labels = [people[who].get(item, "") for who in three]
            table.writerow([item, f"The prompt {item} of the set", *labels, model[item]])
    return path


@needs_data
def test_by_command(ratings, tmp_path, capsys):
    out = tmp_path / "out.csv"
    code, found, guess = said(capsys, ratings, "--json", "--out", out)
    assert code == 0 and f"Judge from {JUDGE}, people from {', '.join(PEOPLE)}." in guess
    [verdict] = json.loads(found)
    assert verdict["level"] == "interval" and verdict["sentence"].startswith(f"{JUDGE} is ")
    before, after = (list(csv.DictReader(path.open(encoding="utf-8"))) for path in (ratings, out))
    assert [{name: row[name] for name in before[0]} for row in after] == before
    errors = [float(row[JUDGE]) - float(row[f"{JUDGE}.people"]) for row in after]
    assert [float(row[f"{JUDGE}.error"]) for row in after] == pytest.approx(errors, abs=1e-5)
    assert verdict["error"]["mean"] == pytest.approx(sum(errors) / len(errors), abs=1e-5)
    people = [name for one in PEOPLE for name in ("--human", one)]
    again = json.loads(said(capsys, out, "--judge", JUDGE, *people, "--json")[1])
    assert again[0]["sentence"] == verdict["sentence"]


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def work() -> None:
    """What a worker does; the page of the job notices by itself."""
    lifecycle.run_here(Job.objects.latest("pk"))


@needs_data
@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_through_the_pages(open_context, live_server, ratings, capsys):
    [verdict] = json.loads(said(capsys, ratings, "--json")[1])
    page = open_context(factories.make_user("rosa", is_staff=True)).new_page()
    page.goto("/")
    page.get_by_role("link", name="New study").click()
    page.set_input_files("[name=files]", ratings)
    press(page, "Continue")
    press(page, "Continue")
    work()
    press(page, "Create the study")
    expect(page.get_by_role("button", name="Create the study")).to_have_count(0)
    work()
    page.get_by_role("link", name="See the verdict on the judge").click()
    work()
    page.reload()
    work()
    page.reload()
    shown = page.get_by_text(re.compile(f"Label: {JUDGE} 1 is .* on the scale 1 to 5")).first.inner_text()
    words = shown[shown.index(" is ") : shown.index(" Label:")]
    assert words == verdict["sentence"].removeprefix(JUDGE)
    address = page.locator("a[href*='format=csv']").first.get_attribute("href")
    table = page.request.get(f"{live_server.url}{address}").text()
    found = {round(abs(float(one)), 3) for one in re.findall(r"\d+\.\d+", table)}
    assert {round(abs(one), 3) for one in (verdict["kappa"][0], verdict["error"]["mean"])} <= found, table[:2000]
