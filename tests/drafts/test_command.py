"""`manage.py extract`: what it starts, what it prints, what it refuses."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotation.models import AtomicClaim, Draft, ExtractionRun, SubSentence
from annotation.rendering.conversation import to_text
from tests import factories
from tests.world.drafts import CLAIMS, make_drafting_project

pytestmark = pytest.mark.django_db


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("extract", *arguments, stdout=out)
    return out.getvalue()


def test_it_drafts_here_and_says_how_much():
    project = make_drafting_project(CLAIMS, slug="claims")
    said = command("claims", "fake-extractor", "--param", "omitted_share=0", "--param", "most=2", "--here")
    run = ExtractionRun.objects.get()
    assert f"Run {run.uuid}: 3 responses in" in said
    assert "0 failed, 6 atomic claims to review at /projects/claims/drafts/" in said
    assert Draft.objects.filter(project=project, state="proposed").count() == 6
    again = command("claims", "fake-extractor", "--param", "omitted_share=0", "--param", "most=2", "--here")
    assert "The same run already exists, done" in again and ExtractionRun.objects.count() == 1


def test_all_is_accepted_unread_and_published_into_a_set_where_that_is_wanted():
    make_drafting_project(CLAIMS, slug="claims")
    arguments = ("claims", "fake-extractor", "--param", "omitted_share=0", "--param", "most=2")
    with pytest.raises(CommandError, match="--publish"):
        command(*arguments, "--publish", "a/b")
    assert not Draft.objects.exclude(state="proposed").exists()
    said = command(*arguments, "--publish", "fake")
    assert "Accepted 6 atomic claims, published 6 into fake" in said
    assert set(AtomicClaim.objects.published().values_list("piece_set", flat=True)) == {"fake"}
    with pytest.raises(CommandError, match="No accepted draft waits"):
        command(*arguments, "--publish", "fake")


def test_turns_of_a_conversation_are_units_of_its_item_also_where_they_say_the_same():
    turns = [("user", "Did it freeze?"), ("assistant", "Yes."), ("user", "Again?"), ("assistant", "Yes.")]
    text = to_text([{"role": role, "content": words} for role, words in turns])
    project = make_drafting_project("triplets/sub-sentences/1", [text], slug="talk", piece_set="turns", overlap=1)
    assert "published 2 into turns" in command("talk", "turns", "--publish", "turns")
    rows = SubSentence.objects.published().order_by("index")
    assert [row.text for row in rows] == ["Yes.", "Yes."]
    places = [row.metadata["stated_in"]["start"] for row in rows]
    assert places == [text.index("Yes."), text.rindex("Yes.")] and project.items.get().unit_count == 2
    command("talk", "turns", "--param", "role=all", "--all", "--publish", "turns")
    assert SubSentence.objects.published().count() == 4


def test_workers_do_it_otherwise():
    make_drafting_project(slug="triplets")
    said = command("triplets", "fake-extractor", "--all")
    assert "3 responses on the queue cpu" in said and not Draft.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("nowhere", "fake-extractor"), "no project 'nowhere'"),
        (("triplets", "lexical"), "has no extractor 'lexical'; it has"),
        (("triplets", "fake-extractor", "--param", "most=few"), "'few' is not of type int"),
        (("triplets", "fake-extractor", "--param", "most=0"), "most"),
        (("triplets", "fake-extractor", "--queue", "llm"), "not on the queue 'llm'"),
        (("triplets", "fake-extractor", "--user", "x@y"), "no account with the address"),
        (("stances", "fake-extractor"), "does not judge pieces that extractors propose"),
    ],
)
def test_what_it_refuses(arguments, reason):
    make_drafting_project(slug="triplets")
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    factories.make_project(dataset, slug="stances")
    with pytest.raises(CommandError, match=reason):
        command(*arguments)
    assert not ExtractionRun.objects.exists()
