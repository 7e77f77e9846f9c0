"""Texts for annotators: none is missing in German, and no page of theirs has words that cannot be translated."""

import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from string import Formatter

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation

from annotation import task_words
from annotation.models import Claim, Evidence, Judgement, Thread, User
from annotation.participation import consent, joining, links, steps
from annotation.projects import invitations
from annotation.projects.raters import rater_of
from annotation.rendering.formats import render
from annotation.task_types import own_task_types, task_type
from annotation.work import threads
from annotation.work.queries import pages
from scripts import messages
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.kinds import ANSWERS, make_kind_dataset, make_kind_project, records
from tests.work.browser import Annotator
from tests.world import client_of, label_one

LANGUAGES = sorted(one.name for one in messages.LOCALES.iterdir() if one.is_dir())
DOMAINS = ("django", "djangojs")


@pytest.fixture(scope="module")
def wanted():
    return messages.templates()


def strings(message) -> tuple[str, ...]:
    return message.string if isinstance(message.string, tuple) else (message.string,)


def placeholders(text: str) -> set[str]:
    named = {name for _, name, _, _ in Formatter().parse(re.sub(r"%\(\w+\)s", "", text)) if name}
    return named | set(re.findall(r"%\((\w+)\)s", text)) | set(re.findall(r"</?\w+[^>]*>", text))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_with_its_placeholders(wanted, language, domain):
    catalog = messages.read_catalog(messages.LOCALES / language, domain)
    has = {(one.id, one.context) for one in catalog if one.id}
    assert has == {(one.id, one.context) for one in wanted[domain] if one.id}, "run scripts/messages.py"
    for one in catalog:
        if not one.id:
            continue
        assert not one.fuzzy and all(strings(one)), one.id
        ids = one.id if isinstance(one.id, tuple) else (one.id,)
        for number, text in enumerate(strings(one)):
            assert placeholders(text) == placeholders(ids[min(number, len(ids) - 1)]), (one.id, text)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_django_reads_is_compiled_from_the_texts(language, domain):
    folder = messages.LOCALES / language
    compiled = (folder / "LC_MESSAGES" / f"{domain}.mo").read_bytes()
    assert compiled == messages.compiled(messages.read_catalog(folder, domain)), "run scripts/messages.py"


class Words(HTMLParser):
    """Visible texts of a page, and of attributes that are read out."""

    READ = ("aria-label", "title", "placeholder", "alt")

    def __init__(self, html: str):
        super().__init__()
        self.texts: list[str] = []
        self.within: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "kbd", "code", "title", "template"):
            self.within.append(tag)
        self.texts += [value for name, value in attrs if name in self.READ and value]

    def handle_endtag(self, tag):
        if self.within and self.within[-1] == tag:
            self.within.pop()

    def handle_data(self, data):
        if not set(self.within) & {"script", "style", "kbd", "code", "title"} and data.strip():
            self.texts.append(data)


MARKED = re.compile(r"⟦[^⟦⟧]*⟧")


def unmarked(html: str, data: set[str]) -> list[str]:
    """Words outside marks, other than `data` of the project and names."""
    found = []
    # What is wrapped in a marked text, such as a number in bold, is part of it.
    text = re.sub(r"⟦(.*?)⟧", lambda one: f"⟦{re.sub('<[^>]*>', '', one[1])}⟧", html, flags=re.DOTALL)
    for one in Words(text).texts:
        rest = one
        while MARKED.search(rest):
            rest = MARKED.sub("", rest)
        for word in sorted(data, key=len, reverse=True):
            rest = rest.replace(word, "")
        if re.search(r"[^\W\d_]{2,}", rest):
            found.append(one.strip())
    return found


@pytest.fixture
def marked(monkeypatch):
    """The German pages, with each text in marks in the place of its translation."""
    trans = translation._trans
    monkeypatch.setattr(trans, "gettext", lambda text: f"⟦{text}⟧" if text else text)
    monkeypatch.setattr(trans, "ngettext", lambda one, many, n: f"⟦{one if n == 1 else many}⟧")
    monkeypatch.setattr(trans, "pgettext", lambda context, text: f"⟦{text}⟧")
    caches = (task_words._worded, pages._groups, pages._dimensions)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.fixture
def project(db):
    dataset = make_dataset()
    make_claim_evidence(dataset, 2)
    return make_project(dataset, study_steps=[steps.CONSENT, steps.FINISH])


SHORT = {"English", "Assay", "CSV", "h", "min", "Ctrl"}


def data_of(project, user) -> set[str]:
    columns = [
        *Claim.objects.values_list("text", "claimant", "source"),
        *Evidence.objects.values_list("text", "publisher"),
    ]
    texts = {one for row in columns for one in row if one}
    own = {project.title, project.slug, str(user), user.email, str(project.created_by), "Read twice, judge once."}
    return texts | own | SHORT | {"We store answers."}


def read_in(client: Client, language: str, address: str) -> str:
    answer = client.get(address, HTTP_ACCEPT_LANGUAGE=language)
    assert answer.status_code == 200, answer
    return answer.content.decode()


OF_PROJECT = ("project_detail", "project_guidelines", "work_page", "my_work", "taking_part", "give_consent",
              "finish_study")  # fmt: skip
OF_ANNOTATORS = (*OF_PROJECT, "home", "account", "account_keys", "usersessions_list")
OF_STRANGERS = ("account_login", "account_reset_password", "return_to_study")


def address_of(name: str, project) -> str:
    is_of_project = name in OF_PROJECT
    return reverse(name, args=[project.slug] if is_of_project else [])


@pytest.mark.parametrize("name", OF_ANNOTATORS)
def test_pages_of_annotators_have_no_words_outside_the_catalogue(marked, project, name):
    link = links.make_link(project, project.created_by, title="Harbours", places=5)
    form = consent.publish(project, project.created_by, "We store answers.", consent.KEEP)
    person = joining.join_as_new(link)[0].user
    if name != "give_consent":
        consent.give(project, person, form.version)
    if name == "my_work":
        label_one(project, person)
    html = read_in(client_of(person), "de", address_of(name, project))
    assert "⟦" in html
    assert unmarked(html, data_of(project, person) | {"Harbours"}) == []


@pytest.mark.parametrize("name", OF_STRANGERS)
def test_entry_pages_have_no_words_outside_the_catalogue(marked, db, name):
    assert unmarked(read_in(Client(), "de", reverse(name)), {"English", "Assay"}) == []


def test_a_study_link_has_no_words_outside_the_catalogue(marked, project):
    link = links.make_link(project, project.created_by, title="Harbours", places=5)
    assert unmarked(read_in(Client(), "de", f"/join/{link.token}/"), {"English", "Assay", "Harbours"}) == []


def test_what_an_item_gets_is_translated_and_what_is_stored_is_not(project):
    ann = Annotator(join(project, make_user()), project)
    project.study_steps = []
    project.save()
    ann.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de-AT,de;q=0.9"
    offered = ann.next()
    assert offered["payload"]["dimensions"][0]["title"] == "Relevanz"
    assert "Hat der Beleg mit der Behauptung zu tun?" in offered["html"]
    ann.submit(offered["payload"])
    assert set(Judgement.objects.values_list("label", flat=True)) <= {"relevant", "refutes"}
    answer = ann.submit(offered["payload"], judgements=[])
    assert "Relevanz: keine Antwort" in [one["message"] for one in answer.json()["errors"]]


@pytest.mark.django_db
def test_items_of_each_task_have_no_words_outside_the_catalogue(marked):
    dataset, person = make_kind_dataset(1), make_user()
    data = {text for record in records(1) for text in asdict(record).values() if text and isinstance(text, str)}
    data |= {*ANSWERS}
    for kind in own_task_types():
        project = make_kind_project(kind, dataset=dataset)
        ann = Annotator(join(project, person), project)
        ann.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
        html = ann.next()["html"]
        assert unmarked(html, data | SHORT) == [], kind


def test_titles_of_a_project_stay_its_own(project):
    kind = task_type(project.task_type)
    own = replace(kind, dimensions=(replace(kind.dimensions[0], title="Bears on it"), *kind.dimensions[1:]))
    with translation.override("de"):
        assert [one.title for one in task_words.worded(own).dimensions] == ["Bears on it", "Haltung"]


def test_a_choice_counts_before_the_browser_and_other_pages_stay_english(project):
    user = join(project, make_user())
    client = client_of(user)
    assert 'lang="en"' in read_in(client, "fr", "/account/")
    assert 'lang="de"' in read_in(client, "de", "/account/")
    client.post("/language/", {"language": "de", "next": "/account/"})
    user.refresh_from_db()
    assert user.language == "de"
    assert "Ihr Konto" in read_in(client_of(user), "en", "/account/")
    assert 'id="catalogue"' in read_in(client, "en", "/account/")
    assert 'lang="en"' in read_in(client, "de", "/account/tokens/")
    client.post("/language/", {"language": "en", "next": "/account/"})
    assert 'id="catalogue"' not in read_in(client, "de", "/account/")
    client.post("/language/", {"language": "xx", "next": "/account/"})
    user.refresh_from_db()
    assert user.language == "en"


def test_a_right_to_left_language_turns_the_page(project, settings):
    settings.LANGUAGES = [*settings.LANGUAGES, ("ar", "العربية")]
    assert '<html lang="ar" dir="rtl">' in read_in(Client(), "ar", "/accounts/login/")


def test_mails_are_in_the_language_of_their_reader(project, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    person = join(project, make_user())
    User.objects.filter(pk=person.pk).update(language="de", mails_comments=True)
    own = Thread.objects.create(
        project=project, item=project.items.first(), rater=rater_of(project, person), changed_at=timezone.now()
    )
    assert threads.mail_comment(own.pk, to_annotator=True) == 1
    assert mail.outbox[0].subject == f"[Assay] Kommentar in {project.title}"
    assert "Antwort auf Ihren Kommentar" in mail.outbox[0].body


def test_an_invitation_is_in_the_language_of_who_is_invited_or_else_of_who_invites(project, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    known = make_user()
    User.objects.filter(pk=known.pk).update(language="de")
    for email in (known.email, "new@example.org"):
        invitations.send(invitations.invite(project.created_by, email, project=project, roles=["annotator"]), "LINK")
    german, english = mail.outbox
    assert german.subject == f"[Assay] {project.created_by} lädt Sie ein"
    assert f"in das Projekt „{project.title}“ ein." in german.body and "LINK" in german.body
    assert f"invites you to the project “{project.title}”." in english.body
    User.objects.filter(pk=project.created_by.pk).update(language="de")
    project.created_by.refresh_from_db()
    invitations.send(invitations.invite(project.created_by, "x@example.org", project=project, roles=["annotator"]), "")
    assert "lädt Sie ein" in mail.outbox[-1].subject


def test_outputs_and_reasons_for_a_source_are_in_the_language_of_the_page():
    kind = task_type("preference/-/1")
    with translation.override("de"):
        shown = task_words.worded(kind.on_page(kind.shuffled.fields, kind.shuffled.fields))
        assert shown.dimensions[0].labels[0].title == "Ausgabe 1"
        why = render("\n".join(f"[{n}]" for n in range(200_000)), "markdown").why(translation.gettext)
        assert why == "Als Quelltext gezeigt, nicht als Markdown: er ist länger als 200,000 Zeichen."
