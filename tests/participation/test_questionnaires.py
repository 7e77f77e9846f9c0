"""Questions about people before the first item and after the last."""

import csv
import io

import pytest

from annotation.models import Participation, QuestionnaireAnswer, Rater
from annotation.participation import consent, joining, questionnaires
from annotation.projects import label_sets
from annotation.task_types.base import CANNOT_JUDGE
from tests import factories
from tests.participation.test_consent import answer
from tests.participation.test_study_links import joined, make_link
from tests.world import client_of

pytestmark = pytest.mark.django_db
ABOUT = {
    "name": "About you",
    "version": 1,
    "page": "claim",
    "summary": "A few questions.",
    "questions": [
        {
            "slug": "language",
            "title": "First language",
            "labels": [{"value": "en", "title": "English"}, {"value": "other", "title": "Another"}],
        },
        {
            "slug": "which",
            "title": "Which language",
            "answer": "text",
            "asked_when": {"question": "language", "labels": ["other"]},
        },
        {
            "slug": "age",
            "title": "Age",
            "answer": "number",
            "level": "ratio",
            "number": {"min": 18, "max": 120, "step": 1, "unit": "years"},
        },
        {
            "slug": "reads",
            "title": "What you read",
            "answer": "labels",
            "labels": [{"value": "news", "title": "News"}, {"value": "books", "title": "Books"}],
        },
    ],
}


def make_study(moment: str = "screening", screens_out: dict | None = None, **values):
    link = make_link(**values)
    row = label_sets.save_label_set(link.created_by, ABOUT)
    questionnaires.publish(link.project, link.created_by, moment, row.identifier, screens_out or {})
    return link, joined(link)[0]


def path_of(link, moment: str = "screening") -> str:
    return f"/projects/{link.project.slug}/taking-part/{moment}/"


RIGHT = {"q-language": "en", "q-age": "41", "q-reads": ["books", "news"]}


def test_screening_comes_before_the_first_item():
    link, browser = make_study()
    assert browser.get(f"/projects/{link.project.slug}/work/").url == path_of(link)
    page = browser.get(path_of(link)).content.decode()
    assert "First language" in page and "Only if First language is Another." in page
    assert browser.post(path_of(link), RIGHT | {"q-which": "ignored"}).url == f"/projects/{link.project.slug}/work/"
    stored = QuestionnaireAnswer.objects.get()
    assert stored.answers == {"language": "en", "age": "41", "reads": "news|books"}
    assert browser.get(f"/projects/{link.project.slug}/work/").context["state"] == "item"
    browser.post(path_of(link), RIGHT | {"q-age": "50"})
    assert QuestionnaireAnswer.objects.get().answers["age"] == "41"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q-age": "17"}, "from 18 to 120"),
        ({"q-age": "many"}, "from 18 to 120"),
        ({"q-age": ""}, "required"),
        ({"q-language": "other"}, "Answer this question, too"),
        ({"q-language": "xx"}, "valid choice"),
    ],
)
def test_an_incomplete_answer_says_what_is_missing(change, words):
    link, browser = make_study()
    assert words in browser.post(path_of(link), RIGHT | change).content.decode()
    assert not QuestionnaireAnswer.objects.exists()


def test_people_may_say_that_they_cannot_where_the_label_set_lets_them():
    link = make_link()
    questions = [one | {"cannot_judge": one["slug"] != "which"} for one in ABOUT["questions"]]
    row = label_sets.save_label_set(link.created_by, ABOUT | {"questions": questions})
    questionnaires.publish(link.project, link.created_by, "screening", row.identifier, {"language": ["other"]})
    browser = joined(link)[0]
    page = browser.get(path_of(link)).content.decode()
    assert page.count("I cannot say") == 2 and page.count("Leave this empty if you cannot say.") == 1
    assert "required" in browser.post(path_of(link), {"q-age": "41"}).content.decode()
    unable = {"q-language": CANNOT_JUDGE, "q-age": "", "q-reads": ["news", CANNOT_JUDGE]}
    assert browser.post(path_of(link), unable).url == f"/projects/{link.project.slug}/work/"
    assert QuestionnaireAnswer.objects.get().answers == dict.fromkeys(("language", "age", "reads"), CANNOT_JUDGE)


def test_an_answer_that_screens_out_ends_the_study_and_frees_the_place():
    link, browser = make_study(screens_out={"language": ["other"]}, endings={"screened-out": "OUT1"})
    participation = Participation.objects.get()
    end = browser.post(path_of(link), RIGHT | {"q-language": "other", "q-which": "Frisian"}).url
    assert end == f"/projects/{link.project.slug}/taking-part/finish/"
    page = browser.get(end).content.decode()
    assert "people with other answers" in page and "OUT1" in page
    link.refresh_from_db()
    participation.refresh_from_db()
    assert (link.places_used, participation.state) == (0, "screened-out")
    assert browser.get(f"/api/v1/projects/{link.project.slug}/work/next").json()["outlook"] == "step"


def test_a_member_without_a_link_is_screened_out_of_the_project():
    link, _ = make_study(screens_out={"language": ["other"]})
    person = factories.join(link.project, factories.make_user("ada"), "annotator")
    browser = client_of(person)
    end = browser.post(path_of(link), RIGHT | {"q-language": "other", "q-which": "Frisian"}).url
    assert end == f"/projects/{link.project.slug}/taking-part/" and browser.get(end).status_code == 200
    assert not person.memberships.get().is_active


def test_closing_comes_after_the_last_item():
    link, browser = make_study("closing", most_items=1)
    slug = link.project.slug
    answer(Participation.objects.get().user, link.project)
    page = browser.get(f"/projects/{slug}/work/").content.decode()
    assert path_of(link, "closing") in page and "taking-part/finish" not in page
    assert browser.post(f"/projects/{slug}/taking-part/finish/").url == path_of(link, "closing")
    assert browser.post(path_of(link, "closing"), RIGHT).url == f"/projects/{slug}/taking-part/finish/"
    browser.post(f"/projects/{slug}/taking-part/finish/")
    assert Participation.objects.get().state == "complete"


def test_researchers_choose_questions_and_what_screens_out():
    link = make_link()
    project, lead = link.project, client_of(link.created_by)
    row = label_sets.save_label_set(link.created_by, ABOUT)
    pages = f"/projects/{project.slug}/questionnaires/"
    assert lead.post(f"{pages}screening/", {"screening-label_set": "none/-/1"}).status_code == 422
    lead.post(f"{pages}screening/", {"screening-label_set": row.identifier})
    assert "First language: Another" in lead.get(pages).content.decode()
    rule = {"screening-label_set": row.identifier, "screening-screens_out": ["language other"]}
    lead.post(f"{pages}screening/", rule)
    asked = questionnaires.newest(project, "screening")
    assert (asked.version, asked.screens_out) == (2, {"language": ["other"]})
    project.refresh_from_db()
    assert project.study_steps == ["finish", "screening"]
    lead.post(f"{pages}screening/", {"screening-label_set": ""})
    project.refresh_from_db()
    assert project.study_steps == ["finish"] and questionnaires.newest(project, "screening") is None
    assert lead.get(f"/projects/{project.slug}/settings/history/").status_code == 200
    assert lead.post(f"{pages}other/").status_code == 404


def test_answers_come_as_csv_by_pseudonym():
    link, browser = make_study()
    browser.post(path_of(link), RIGHT)
    other, _ = joining.join_as_new(link)
    client_of(other.user).post(path_of(link), RIGHT | {"q-language": "other", "q-which": "=1+1"})
    lead = client_of(link.created_by)
    address = f"/projects/{link.project.slug}/questionnaires/screening/answers.csv"
    rows = list(csv.DictReader(io.StringIO(lead.get(address).content.decode())))
    pseudonyms = Rater.objects.filter(questionnaire_answers__isnull=False).order_by("pk")
    assert [row["person"] for row in rows] == [one.pseudonym for one in pseudonyms]
    assert (rows[1]["which"], rows[0]["screened_out"]) == ("'=1+1", "false")
    consent.exclude(Rater.objects.get(user=other.user))
    assert len(lead.get(address).content.decode().splitlines()) == 2
