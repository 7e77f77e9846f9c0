"""Items are found by parts of their key and words, by an index of runs of three characters or by looking at some."""

import pytest
from django.db import connection

from annotation.models import Claim, Item, ItemWords
from annotation.projects import item_making, searching
from tests import factories
from tests.importing.files import run
from tests.importing.test_judged_content import changed, write
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

TEXTS = (
    "Das Meer ist ÜBERALL",
    "100% of harbours_froze",
    r"a back\slash",
    "港が凍った冬",
    "The harbour",
    "harbourx froze",
)


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, len(TEXTS), claims=len(TEXTS))
    for claim, text in zip(Claim.objects.order_by("pk"), TEXTS, strict=True):
        Claim.objects.filter(pk=claim.pk).update(text=text)
    other = factories.make_project(dataset, slug="other")  # of whose items none may be found
    assert other.items.count() == len(TEXTS)
    return factories.make_project(dataset)


def titles(project, text: str, *, searches_keys=False) -> set[str]:
    found = searching.first_matches(project, text, searches_keys=searches_keys)
    assert not found.is_cut and not found.scanned
    items = Item.objects.filter(pk__in=found.items, project=project)
    assert len(items) == len(found.items)
    return set(items.values_list("anchor__evidence__claim__text", flat=True))


@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("überall", {TEXTS[0]}),
        ("MEER IST", {TEXTS[0]}),
        ("100% of", {TEXTS[1]}),
        ("har%froze", set()),
        ("s_f", {TEXTS[1]}),
        ("r_froze", set()),
        ("k\\s", {TEXTS[2]}),
        ("が凍っ", {TEXTS[3]}),
        ("凍", {TEXTS[3]}),
        ("harbour", {TEXTS[1], TEXTS[4], TEXTS[5]}),
        ('"harbour" OR', set()),
        ("'); DROP", set()),
    ],
)
def test_what_is_found_has_the_text(project, monkeypatch, text, found, is_indexed):
    if not is_indexed:
        monkeypatch.setattr(searching, "_has_index", lambda: False)
    assert titles(project, text) == found
    every = searching.all_matches(project, text, searches_keys=False)
    assert set(Item.objects.filter(pk__in=every).values_list("anchor__evidence__claim__text", flat=True)) == found


def test_keys_are_searched_only_where_they_may_be_seen(project):
    assert titles(project, "C1/E1", searches_keys=True) == {TEXTS[1]}
    assert titles(project, "C1/E1") == set()


def test_the_index_follows_the_items(project):
    ItemWords.objects.filter(project=project, title__contains="meer").update(title="der see")
    assert titles(project, "meer") == set() and titles(project, "der see") == {TEXTS[0]}
    ItemWords.objects.filter(project=project, title="der see").delete()
    assert titles(project, "der see") == set()
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:  # fails where the index is not as what it is of
            for column in ("key", "title"):
                table = f"{searching.INDEX}_{column}"
                cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")


def test_the_index_is_read_and_not_the_items(project):
    assert searching._has_index()
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("EXPLAIN SELECT item_id FROM annotation_itemwords WHERE title LIKE '%harbour%'")
        else:
            cursor.execute(f"EXPLAIN QUERY PLAN SELECT rowid FROM {searching.INDEX}_title WHERE title LIKE '%harbour%'")
        plan = str(cursor.fetchall())
    assert searching.INDEX in plan and ("VIRTUAL TABLE INDEX 0:L" in plan or connection.vendor == "postgresql")


def test_the_page_says_what_was_looked_through(project, monkeypatch):
    client, address = client_of(project.created_by), f"/projects/{project.slug}/items/"
    monkeypatch.setattr(searching, "MOST_FOUND", 2)
    monkeypatch.setattr(searching, "MOST_SCANNED", 3)
    page = client.get(address, {"search": "harbour"}).content.decode()
    assert "More than 2 found" in page and "2 of them are listed" in page
    page = client.get(address, {"search": "harbour", "filter": "open"}).content.decode()
    assert "the filter was applied to 2 of them" in page
    page = client.get(address, {"search": "凍"}).content.decode()
    assert "Only the first 3 items in the order of work were searched" in page and "three characters" in page
    monkeypatch.setattr(searching, "_has_index", lambda: False)
    assert "has no index to search all" in client.get(address, {"search": "harbour"}).content.decode()


@pytest.mark.parametrize(
    ("task_type", "words"),
    [
        ("claim-evidence/six-way/1", "key or claim or question"),
        ("answer-grade/-/1", "key or question"),
        ("nli/three-way/1", "key or text"),
    ],
)
def test_the_page_names_the_texts_that_are_searched(task_type, words):
    """The list shows the evidence, too, in which nothing is found."""
    project = factories.make_project(factories.make_dataset(), task_type)
    page = client_of(project.created_by).get(f"/projects/{project.slug}/items/", {"search": "lake"}).content.decode()
    assert f"in their {words}, in upper or lower case" in page
    assert f'placeholder="{words.capitalize()} contains"' in page


def test_new_items_of_an_import_are_found(project):
    factories.make_claim_evidence(project.dataset, 1, prefix="late-")
    assert titles(project, "late-", searches_keys=True) == set()
    item_making.plan(project)
    assert len(titles(project, "late-", searches_keys=True)) == 1


def test_items_are_found_by_text_that_was_corrected_where_it_stands(tmp_path):
    """Of a claim and a question with evidence, and of a question whose answers are judged."""
    dataset = factories.make_dataset()
    assert run(dataset, write(tmp_path), format="content").state == "done"
    passages, answers = (
        factories.make_project(dataset, one) for one in ("claim-evidence/six-way/1", "answer-grade/-/1")
    )

    def finds(project, text: str) -> int:
        return len(searching.first_matches(project, text, searches_keys=False).items)

    assert finds(passages, "did it freeze?") == finds(answers, "did it freeze?") == 2
    assert run(dataset, changed(tmp_path, 0, "question", text="Did it thaw?"), format="content").state == "done"
    for project in (passages, answers):
        assert finds(project, "did it thaw?") == 2 and finds(project, "did it freeze?") == 0
    assert run(dataset, changed(tmp_path, 2, "claim", text="It thawed."), format="content").state == "done"
    assert finds(passages, "it thawed.") == 2 and finds(passages, "it froze") == 0
    assert Item.objects.filter(words=None).count() == 0
