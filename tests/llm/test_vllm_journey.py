"""From answers without triplets to a comparison, in Chromium, with a real vLLM: extract, review, check, annotate,
compare. The model is random; what it proposes is edited and added to until it says something, as reviewers do."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from models_runtime.llm.endpoints import VARIABLE
from tests.journeys import browser
from tests.journeys.browser import JOB_MS
from tests.journeys.demo import running_demo

pytestmark = [pytest.mark.slow, pytest.mark.services, pytest.mark.browser]

ANNOTATORS = {"Annotator": "annotator@demo.invalid", "Second annotator": "second-annotator@demo.invalid"}
# As RefChecker's files are, but for the triplets, which nobody has extracted yet.
ANSWERS = [
    {
        "id": str(number),
        "response": f"The harbour of town {number} froze in 196{number}. Ferries stayed in port.",
        "question": f"When did the harbour of town {number} freeze?",
        "context": [f"In 196{number} the harbour of town {number} froze.", "Ferries went on all winter."],
        "random_response_kg": [],
    }
    for number in range(4)
]
WRITTEN = [("harbour", "froze in", "the sixties"), ("ferries", "stayed in", "port")]
KEYS = {"Annotator": ("1", "3"), "Second annotator": ("1", "2")}  # entailment and contradiction, or neutral


@pytest.fixture(scope="module")
def demo(server, tmp_path_factory):
    endpoints = json.dumps({"tiny": {"url": server.url, "model": "tiny", "max_in_flight": 8}})
    with running_demo(tmp_path_factory.mktemp("extracting") / "demo", **{VARIABLE: endpoints}) as demo:
        yield demo


def start(page: Page, title: str, **parameters: str) -> None:
    entry = page.locator("details.card").filter(has=page.get_by_text(title, exact=True))
    if entry.get_attribute("open") is None:
        entry.locator("summary").first.click()
    for name, value in parameters.items():
        entry.locator(f'[name$="-{name}"]').fill(value)
    entry.get_by_role("button", name="Start").click()


def extract(page: Page, project: str) -> dict[str, int]:
    """How many answers the language model failed on, and what it proposed. A random model never thinks of ending a
    text, so it gets room for one piece of the greatest length."""
    page.goto(f"{project}drafts/")
    page.get_by_role("link", name="Extract triplets").first.click()
    start(page, "Language model", most="1", max_tokens="1400")
    page.wait_for_url("**/extractions/*/")
    expect(page.locator(".badge").get_by_text("done", exact=True).first).to_be_visible(timeout=JOB_MS)
    page.goto(f"{project}drafts/")
    read, failed, proposed = page.locator("table").first.locator("tbody td.num").all_inner_texts()
    assert read == f"{len(ANSWERS)} of {len(ANSWERS)}"
    return {"failed": int(failed), "proposed": int(proposed.replace(",", ""))}


def review(page: Page, project: str) -> None:
    """Drop what is nonsense, keep the first proposal of an answer in words of one's own, and add what is missing."""
    page.goto(f"{project}drafts/")
    addresses = [link.evaluate("link => link.href") for link in page.locator('a[href*="/drafts/of/"]').all()]
    assert len(addresses) == len(ANSWERS)
    for address in addresses:
        page.goto(address)
        rows = page.locator("#drafts > li")
        written = list(WRITTEN)
        if rows.count():
            for part, words in zip(rows.first.locator("textarea").all(), written.pop(0), strict=True):
                part.fill(words)
            rows.first.get_by_role("button", name="Accept").click()
            expect(rows.first.get_by_text("accepted, edited")).to_be_visible()
            for row in rows.all()[1:]:
                row.get_by_role("button", name="Drop").click()
                expect(row.get_by_text("dropped", exact=True)).to_be_visible()
        for words in written:
            before = rows.count()
            for part, word in zip(page.locator("#draft-add textarea").all(), words, strict=True):
                part.fill(word)
            page.get_by_role("button", name="Add", exact=True).click()
            expect(rows).to_have_count(before + 1)
            expect(page.locator("#draft-add textarea").first).to_have_value("")  # ready for the next
        expect(page.get_by_text(re.compile(r"^All \d+ decided$"))).to_be_visible()
    page.goto(f"{project}drafts/")
    wanted = len(WRITTEN) * len(ANSWERS)
    page.get_by_role("button", name=f"Publish {wanted}").click()
    published = page.locator("dl.stats > div").filter(has=page.get_by_text("published", exact=True))
    expect(published.locator("dd")).to_have_text(str(wanted), timeout=JOB_MS)


def annotate(page: Page, project: str, keys: tuple[str, ...]) -> None:
    page.goto(project)
    page.get_by_role("link", name="Start labelling").click()
    item = page.locator("[data-item]")
    for _ in ANSWERS:
        expect(item.locator(".is-current")).to_have_count(1)
        assignment = item.get_attribute("data-item")
        for key in keys:
            page.keyboard.press(key)
        expect(page.locator("[data-status]")).to_have_text("Complete")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-item="{assignment}"]')).to_have_count(0)
    expect(page.locator("[data-save-text]")).to_have_text("Saved")


def test_extract_review_check_annotate_compare(demo, chromium, tmp_path, capsys):
    file = tmp_path / "accurate_context" / "dolly_tiny_answers.json"
    file.parent.mkdir()
    file.write_text(json.dumps(ANSWERS))
    with browser.person(chromium, demo.address, "Researcher") as researcher:
        browser.new_dataset(researcher, "Harbours told", "harbours-told")
        found = browser.look_at(researcher, file)
        assert (found["Questions"], found["Responses"]) == ("4", "4") and "Triplets" not in found
        browser.import_now(researcher)
        researcher.get_by_role("link", name="Go to the data set").click()
        researcher.get_by_role("link", name="New project").click()
        researcher.get_by_label("Title").fill("Harbours judged")
        researcher.get_by_label("Claim-triplets", exact=False).first.check()
        researcher.get_by_label("Judgements per item").fill("2")
        researcher.get_by_role("button", name="Create the project").click()
        expect(researcher.get_by_role("heading", name="Harbours judged")).to_be_visible()
        project = researcher.url
        made = extract(researcher, project)
        assert made["failed"] < len(ANSWERS) and made["proposed"] >= 1
        review(researcher, project)

        researcher.goto(f"{project}runs/")
        start(researcher, "Language model as judge")
        researcher.wait_for_url("**/runs/*/")
        expect(researcher.locator("#run-progress .badge")).to_have_text("done", timeout=JOB_MS)
        expect(researcher.locator("#run-progress")).to_contain_text("8 of 8")
        invitations = {title: browser.invite(researcher, project, email) for title, email in ANNOTATORS.items()}
        for title, keys in KEYS.items():
            with browser.person(chromium, demo.address, title) as annotator:
                browser.join(annotator, invitations[title])
                annotate(annotator, project, keys)

        researcher.goto(f"{project}agreement/")
        agreement = browser.figures(researcher, "Label")
        assert agreement["Percent agreement (mean over items)"][0] == "0.500"
        researcher.goto(f"{project}comparison/")
        against = browser.figures(researcher, "Label: agreement with people")
        # Where the two annotators agree there is a reference: the first triplet of every answer.
        assert 0 <= int(against["Accuracy"][2]) <= 4
        with capsys.disabled():
            print(f"\nextracted: {made}, accuracy {against['Accuracy'][0]} of {against['Accuracy'][2]}")
