"""`manage.py retrieve`: from the command line to rankings, a file and published evidence."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotation.machines.retrieval import index
from annotation.models import Evidence, Job, RetrievalRun
from tests.retrieval.harbour import corpus, harbour

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_index():
    index.forget()


def command(*arguments) -> str:
    out = io.StringIO()
    call_command("retrieve", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_retrieve_write_and_publish(tmp_path, settings):
    corpus(tmp_path, settings)
    project = harbour(tmp_path, evidence=())
    file = tmp_path / "run.trec"
    said = command(project.slug, "bm25", "--corpus", "papers", "--top", 2, "--param", "chunker=whole",
                   "--trec", file, "--publish", 1)  # fmt: skip
    run = RetrievalRun.objects.get()
    assert f"Run {run.uuid}: 3 queries in" in said and "0 failed" in said and f"Written to {file}" in said
    assert "Published: 3 new pieces of evidence, 3 new items; 0 left out" in said
    assert [line.split()[2] for line in file.read_text().splitlines() if line.split()[3] == "1"] == [
        "ice/a", "fish/a", "light/a",
    ]  # fmt: skip
    assert Evidence.objects.count() == 3
    assert run.parameters["chunker"] == "whole" and run.top == 2 and run.created_by == project.created_by


def test_the_same_run_is_used_again_and_gold_is_told(tmp_path):
    project = harbour(tmp_path)
    said = command(project.slug, "bm25", "--here", "--top", 1, "--param", "chunker=whole")
    assert "gold evidence found: 3 of 3, for 3 of 3 queries that have some" in said
    said = command(project.slug, "bm25", "--here", "--top", 1, "--param", "chunker=whole")
    assert "The same run already exists, done" in said and RetrievalRun.objects.count() == 1


def test_without_here_workers_do_it(tmp_path):
    said = command(harbour(tmp_path).slug, "bm25")
    assert said.endswith("3 queries on the queue cpu\n") and Job.objects.get(kind="retrieval").state == "queued"


def test_what_is_wrong_is_told(tmp_path):
    project = harbour(tmp_path)
    for arguments, message in (
        (["nothing", "bm25"], "There is no project 'nothing'"),
        ([project.slug, "lexical"], "There is no retriever 'lexical'"),
        ([project.slug, "bm2"], "there is no checker 'bm2'"),
        ([project.slug, "bm25", "--corpus", "wiki"], "There is no corpus 'wiki' here"),
        ([project.slug, "bm25", "--param", "k1=x"], "--param k1: 'x' is not of type float"),
        ([project.slug, "bm25", "--user", "nobody@example.org"], "no account with the address"),
        ([project.slug, "bm25", "--trec", tmp_path / "none" / "x"], "There is no folder"),
        ([project.slug, "bm25", "--publish", 11], "publish from 1 to 10"),
    ):
        with pytest.raises(CommandError, match=message):
            command(*arguments)
