"""A person drops a published data set on the page of an import, and reads what it was taken for before anything is
stored; the command and the API say the same."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.jobs import lifecycle
from annotation.models import Claim, Dataset, Job, Pair, Project, Rater, Response, Revision
from annotation.rendering import render
from tests.factories import make_dataset, make_user
from tests.formats import shaped
from tests.importing.files import command
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]

SHAPES = {
    "popquorn.csv": (
        shaped.popquorn(),
        ["12 raters from user_id; 5 columns describe them: gender, race, age, occupation"],
    ),
    "factscore.jsonl": (
        shaped.factscore(),
        ["each entry of annotations, annotations[].human-atomic-facts."],
    ),
    "factcheck.jsonl": (shaped.factcheck_gpt(), ["Texts from sentences{}.claims[], their context from"]),
    "attribution.jsonl": (shaped.attribution_bench(), ["Texts from claim, their context from references"]),
    "snli.jsonl": (shaped.snli(), ["5 raters, one for each place in annotator_labels."]),
    "qags.jsonl": (shaped.qags(), ["5 raters from summary_sentences[].responses[].worker_id."]),
    "study.csv": (shaped.hanna_study(), ["Texts from Input.explanation, documents from Input.story_id."]),
    "xsum.csv": (shaped.xsum_factuality(), ["3 raters from worker_id.", "documents from bbcid, systems from system."]),
}


@pytest.fixture
def rosa():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    return rosa


def dropped(client, *files):
    """The page that a person is on after sending the files."""
    sent = [SimpleUploadedFile(name, text.encode()) for name, text in files]
    return client.post("/datasets/texts/import/", {"files": sent}, follow=True)


@pytest.mark.parametrize("name", SHAPES)
def test_the_guess_is_said_before_anything_is_written(rosa, name):
    text, words = SHAPES[name]
    client = client_of(rosa)
    page = dropped(client, (name, text))
    assert page.context["layout"] == "ratings"
    said = page.context["read_as"]
    assert said and "As guessed from the first" in page.content.decode()
    data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(page.redirect_chain[-1][0], data)
    job = Job.objects.get(kind="import")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done" and not job.result["error_count"], job.result
    for sentence in words:
        assert sentence in " ".join(job.result["read_as"])
    shown = client.get(f"/imports/{job.uuid}/").content.decode()
    assert words[0] in shown.replace("&#x27;", "'")
    assert not (Claim.objects.exists() or Pair.objects.exists() or Response.objects.exists())


def test_what_describes_raters_is_kept_with_their_labels(rosa):
    client = client_of(rosa)
    page = dropped(client, ("popquorn.csv", shaped.popquorn()))
    data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(page.redirect_chain[-1][0], data)
    lifecycle.run_here(Job.objects.get(kind="import"))
    page = client.get(f"/imports/{Job.objects.get(kind='import').uuid}/")
    data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(f"/imports/{Job.objects.get(kind='import').uuid}/start/", data | {"project_title": "Popquorn"})
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    project = Project.objects.get(slug="popquorn")
    assert [one.slug for one in project.type.dimensions] == ["offensiveness"] and project.raters.count() == 12
    kept = Revision.objects.values_list("metadata", flat=True)
    assert all(one["rater"].keys() == {"gender", "race", "age", "occupation", "education"} for one in kept)
    assert Rater.objects.filter(kind="external").count() == 12


def test_claims_come_with_their_corpus_or_ask_for_it(rosa):
    claims, corpus = shaped.scifact()
    client = client_of(rosa)
    for files, state in (
        ([("claims.jsonl", claims)], "failed"),
        ([("claims.jsonl", claims), ("c.jsonl", corpus)], "done"),
    ):
        dropped(client, *files)
        job = Job.objects.filter(kind="import").latest("pk")
        lifecycle.run_here(job)
        job.refresh_from_db()
        assert (job.parameters["format"], job.state) == ("scifact", state), job.message
        assert state == "done" or "choose also corpus.jsonl" in job.message
    assert job.result["labels"] == {"stance": {"not_enough_info": 2, "refutes": 1, "supports": 1}}


def test_preferences_are_read_as_such_and_as_ratings_they_are_refused_with_what_helps(rosa, tmp_path):
    dropped(client_of(rosa), ("pairs.csv", shaped.pairwise()))
    job = Job.objects.get(kind="import")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert (job.parameters["format"], job.state) == ("preferences", "done"), job.message
    path = tmp_path / "pairs.csv"
    path.write_text(shaped.pairwise())
    code, said = command(path, "--format", "ratings", "--dataset", "new", "--owner", rosa.email)
    assert code == 1 and "Import it with the format preferences" in said and "--mapping FILE.json" in said
    assert not Dataset.objects.filter(slug="new").exists()


def test_conversations_are_imported_as_texts_that_name_who_speaks(rosa, tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text(shaped.chat())
    code, said = command(path, "--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    assert code == 0, said
    text = Claim.objects.filter(dataset__slug="new").first().text
    assert text.startswith("[user]\nHi, **help** me\n\n[assistant]\nSure:")
    made = render(text)
    assert made.html.count('class="turn is-') == text.count("[user]") + text.count("[assistant]")


def test_a_conversation_with_a_turn_that_has_no_role_is_a_bad_row(rosa, tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text(shaped.chat().replace('{"role": "assistant", ', "{", 1))
    code, said = command(path, "--format", "ratings", "--dataset", "new", "--owner", rosa.email)
    assert code == 1 and "messages" in said and "Turn 2 has no role with a content" in said
    assert not Claim.objects.exists()


def test_the_command_says_its_guess_first(rosa, tmp_path):
    path = tmp_path / "popquorn.csv"
    path.write_text(shaped.popquorn())
    arguments = (path, "--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    code, said = command(*arguments, "--dry-run")
    assert code == 0 and not Dataset.objects.filter(slug="new").exists()
    assert "raters from user_id; 5 columns describe them" in said.split("Would be")[0]
    assert "12 raters from user_id; 5 columns describe them: gender" in said


def test_a_row_without_a_rater_is_asked_about(rosa, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(shaped.UNNAMED)
    arguments = (path, "--format", "ratings", "--dataset", "new", "--project", "new", "--owner", rosa.email)
    code, said = command(*arguments)
    assert code == 1 and "unnamed: places, decisions, leave-out" in said and not Claim.objects.exists()
    code, said = command(*arguments, "--treat", "unnamed=decisions,identical=places")
    assert code == 0 and "1 decision" in said
    code, said = command(*arguments, "--dry-run", "--treat", "unnamed=places,identical=places")
    assert "2 raters from rater" in said
    client = client_of(rosa)
    page = dropped(client, ("t.csv", shaped.UNNAMED))
    data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    client.post(page.redirect_chain[-1][0], data)
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    form = client.get(f"/imports/{job.uuid}/").context["form"]
    assert "unnamed" in form.odd and form["treat_unnamed"].value() is None


def test_a_dry_run_of_the_api_guesses_and_says_so(rosa, settings):
    client = client_of(rosa)
    address = "/api/v1/datasets/texts/imports/"
    sent = {"data": shaped.popquorn(), "content_type": "text/csv"}
    dry = client.post(f"{address}?dry_run=true", **sent)
    assert dry.status_code == 202, dry.content
    job = Job.objects.get(kind="import")
    lifecycle.run_here(job)
    result = client.get(f"/api/v1/jobs/{job.uuid}/").json()["result"]
    assert any("12 raters from user_id; 5 columns describe them" in sentence for sentence in result["read_as"])
    refused = client.post(address, **sent)
    assert refused.status_code == 409
    reason = json.dumps(refused.json())
    assert "this format needs a mapping" in reason and "format=ratings" in reason and "user_id" in reason
    pairs = client.post(f"{address}?dry_run=true", data=shaped.pairwise(), content_type="text/csv")
    assert pairs.status_code == 202, pairs.content
    assert Job.objects.filter(kind="import").latest("pk").parameters["format"] == "preferences"
