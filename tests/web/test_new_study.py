"""From an own CSV to the first label and the first figure in Chromium, in few clicks."""

import json
import re

import pytest
from playwright.sync_api import expect

from annotation.jobs import lifecycle
from annotation.models import Job, Project, Question
from tests import factories
from tests.formats.tools.test_pdf import BODY, HEADING, pdf
from tests.web.looks import grave_problems, picture
from tests.web.pages import LabellingPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OWN = "claim,evidence,url\n" + "".join(
    f"The lake {'never' if n < 2 else 'always'} freezes.,Report {n} says so.,https://news.example/{n}\n"
    for n in range(3)
)
COUNT_CLICKS = """addEventListener("click", () => {
  sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true)"""
MOST_CLICKS = 10  # to choose the file among them


def work(page) -> None:
    """What a worker does; the page of the job notices by itself."""
    with page.expect_navigation():
        lifecycle.run_here(Job.objects.latest("pk"))


@pytest.fixture
def rosa(open_context):
    context = open_context(factories.make_user("rosa", is_staff=True))
    context.add_init_script(COUNT_CLICKS)
    return context.new_page()


def press(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_from_an_own_table_to_the_first_figure(open_context, rosa, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"  # links are passed on by hand
    page = rosa
    ann = factories.make_user("ann")
    page.goto("/")
    page.get_by_role("link", name="New study").click()
    page.set_input_files("[name=files]", {"name": "lakes.csv", "mimeType": "text/csv", "buffer": OWN.encode()})
    press(page, "Continue")
    expect(page.get_by_label("Role of url")).to_have_value("claim-evidence/evidence_url")
    picture(page, "study-columns", full_page=True)
    assert grave_problems(page) == []
    press(page, "Continue")
    work(page)
    expect(page.get_by_label("Claim and evidence, six-way stance")).to_be_checked()
    expect(page.locator(".task-picture")).to_contain_text("The lake never freezes.")
    expect(page.get_by_label("Claim and evidence, three-way stance")).to_be_hidden()
    picture(page, "study-task", full_page=True)
    assert grave_problems(page) == []
    press(page, "Create the study")
    expect(page.get_by_role("button", name="Create the study")).to_have_count(0)
    work(page)
    page.get_by_role("link", name="Next: people and guidelines").click()
    emails = [ann.email, "ben@x.example", "cy@x.example"]
    page.get_by_label("Annotators").fill("\n".join(emails))
    page.get_by_label("I label too").check()
    press(page, "Start")
    expect(page.get_by_role("rowheader")).to_have_text(emails[::-1])
    picture(page, "study-people", full_page=True)
    assert grave_problems(page) == []
    clicks = int(page.evaluate("sessionStorage.getItem('clicks')")) + 1  # the file was chosen by none
    assert clicks <= MOST_CLICKS

    link = page.get_by_role("row", name=ann.email).locator("code").inner_text()
    project = Project.objects.get()
    for context in (open_context(ann), page.context):
        own = context.new_page()
        if context is not page.context:
            own.goto(link)
            press(own, "Join")
        labelling = LabellingPage(own, project).open()
        for n in range(3):
            labelling.answer("1", "1" if n else "6")
    page.goto(f"/projects/{project.slug}/")
    page.get_by_role("link", name="See the agreement").click()
    lifecycle.run_here(Job.objects.latest("pk"))
    page.reload()
    expect(page.locator(".headlines strong").first).to_have_text(re.compile(r"^\d|undefined"))
    expect(
        page.get_by_role("link", name="Compare with a checker").or_(page.get_by_role("link", name="Freeze a release"))
    ).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_name_of_a_file_is_no_question_unless_one_says_so(open_context, scheme):
    page = open_context(factories.make_user("rosa", is_staff=True), color_scheme=scheme).new_page()
    page.goto("/studies/new/")
    files = {"harbour-v2.pdf": pdf(HEADING + BODY), "paper-final-v2.pdf": pdf(BODY)}
    sent = [{"name": name, "mimeType": "application/pdf", "buffer": data} for name, data in files.items()]
    page.set_input_files("[name=files]", sent)
    press(page, "Continue")
    work(page)
    expect(page.locator(".task-picture")).to_contain_text("Ice in the harbour")
    expect(page.get_by_label("Context that suffices to answer")).to_be_checked()  # not of a claim
    for row in ("Titles of PDF.* Ice in the harbour 1 harbour-v2.pdf", "no title.* 1 paper-final-v2.pdf"):
        expect(page.get_by_role("row", name=re.compile(row))).to_be_visible()
    picture(page, f"study-pdf-{scheme}", full_page=True)
    assert grave_problems(page) == []
    press(page, "Create the study")
    expect(page.locator(".errorlist")).to_have_text("Choose how to read these rows")
    assert not Project.objects.exists()
    page.get_by_label("Leave these files out").check()
    press(page, "Create the study")
    work(page)
    assert list(Question.objects.values_list("key", "text")) == [("harbour-v2", "Ice in the harbour")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_markdown_is_shown_as_such_before_the_study_is_made(open_context, scheme):
    page = open_context(factories.make_user("rosa", is_staff=True), color_scheme=scheme).new_page()
    page.goto("/studies/new/")
    texts = ["## Ice\n\n- **May**: open\n- June: none", "It froze.", "See [the log](https://log.example/1)."]
    rows = [
        {"prompt": f"Will it freeze in year {n}?", "response_a": text, "response_b": "No."}
        for n, text in enumerate(texts)
    ]
    data = json.dumps([row | {"winner": "model_a", "judge": "ann"} for row in rows]).encode()
    page.set_input_files("[name=files]", {"name": "outputs.json", "mimeType": "application/json", "buffer": data})
    press(page, "Continue")
    work(page)
    shown = page.get_by_label("Answers, outputs and generated documents are shown as")
    expect(shown).to_have_value("markdown")
    expect(page.get_by_text("Guessed: 2 of the first 6 look like Markdown.")).to_be_visible()
    expect(page.locator(".task-picture .rendered li").first).to_have_text("May: open")
    expect(page.get_by_label("Questions are shown as")).to_have_value("")
    picture(page, f"study-formats-{scheme}", full_page=True)
    assert grave_problems(page) == []
