"""Figures leave out answers given or changed after their author had been served others' labels, and say how many."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import F

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from analysis.sources.blind import looked_at
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.releases.files import ANNOTATIONS, Files
from analysis.sources.selection import Selection
from annotation.jobs import lifecycle
from annotation.models import Annotation, Job, Judgement, Project, Revision, Span
from tests.factories import make_suggestions
from tests.kinds import answer_all, make_kind_project
from tests.world.labels import quickly_but_at_first_kind
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
KINDS = ("claim-evidence/six-way/1", "triplets/-/1", "aspect-coverage/-/1", "sufficient-context/-/1")
INCLUDED = Selection(labels_seen="included")


@remembered
def marked_project(identifier: str = KINDS[0], n: int = 5) -> Project:
    """Three people, of whom one changed some answers after looking, and gave another one after it."""
    project = make_kind_project(identifier, n=n, overlap=3)
    answer_all(project, people=3)
    make_suggestions(project)
    make_suggestions(project, checker="lexical")
    rater = project.raters.order_by("pk").last()
    for annotation in Annotation.objects.filter(rater=rater).order_by("pk")[:3]:
        last = annotation.revisions.get()
        annotation.revisions.update(is_latest=False)
        changed = Revision.objects.create(
            annotation=annotation, number=2, labels_seen=True, suggestion_shown=False, submitted_at=last.submitted_at
        )
        Judgement.objects.bulk_create(
            Judgement(revision=changed, unit=one.unit, dimension=one.dimension, label=one.label)
            for one in last.judgements.all()
        )
    return project


def without_marked(project: Project) -> None:
    gone = Annotation.objects.filter(item__project=project, revisions__labels_seen=True).values("pk")
    Span.objects.filter(judgement__revision__annotation__in=gone).delete()
    Judgement.objects.filter(revision__annotation__in=gone).delete()
    ids = list(gone.values_list("pk", flat=True))
    Revision.objects.filter(annotation__in=ids).delete()
    Annotation.objects.filter(pk__in=ids).delete()


def figures(source, name: str) -> tuple[dict, dict] | str:
    """The report's numbers, and what it says it was made from; why there are none."""
    report = REPORTS[name]
    try:
        result = report.compute(source, **report.values(looked_at(source, Selection()), {}))
    except ValueError as error:
        return str(error)
    return json.loads(json.dumps(result, default=str)), result["made_from"]


@pytest.mark.parametrize("identifier", KINDS)
def test_every_report_is_as_if_marked_answers_were_not_there(identifier):
    project = marked_project(identifier)
    fitting = [name for name, report in REPORTS.items() if not report.fits(project.type)]
    with transaction.atomic(), quickly_but_at_first_kind(identifier):
        found = {name: figures(DatabaseSource(project), name) for name in fitting}
        without_marked(project)
        expected = {name: figures(DatabaseSource(project), name) for name in fitting}
        transaction.set_rollback(True)
    unmarked = [name for name in fitting if not isinstance(found[name], str)]
    assert len(unmarked) > 5
    for name in fitting:
        if isinstance(found[name], str):
            assert found[name] == expected[name]
            continue
        (numbers, made), (others, _) = found[name], expected[name]
        assert made["labels_seen"] == {"answers": 3, "counted": False}
        assert {k: v for k, v in numbers.items() if k != "made_from"} == {
            k: v for k, v in others.items() if k != "made_from"
        }, name


def test_an_option_brings_them_in_and_the_count_is_said_either_way():
    project = marked_project()
    without = REPORTS["agreement"].compute(project)
    included = REPORTS["agreement"].compute(looked_at(DatabaseSource(project), INCLUDED))
    Revision.objects.update(labels_seen=False)
    unmarked = REPORTS["agreement"].compute(project)
    assert included["dimensions"] == unmarked["dimensions"] != without["dimensions"]
    assert included["made_from"]["labels_seen"] == {"answers": 3, "counted": True}
    assert "labels_seen" not in unmarked["made_from"]
    for result, words in ((without, "are left out"), (included, "count")):
        said = f"had been served others' labels of the project {words}."
        for written in (REPORTS["agreement"].tables(result)[0].note, *_written(project, result)):
            assert f"3 answers that were given or changed after their authors {said}" in written
    assert not any("served others" in text for text in _written(project, unmarked))


def _written(project, result) -> list[str]:
    from analysis.reports.text import as_text
    from analysis.reports.words.methods import paragraph

    return [paragraph(REPORTS["agreement"], result), as_text(result)]


def run_command(*arguments: str) -> dict:
    out = StringIO()
    call_command("report", *arguments, "--format", "json", stdout=out)
    return json.loads(out.getvalue())


def test_commands_and_files_agree(tmp_path):
    project = marked_project()
    project.raters.update(name=F("pseudonym"))  # files know people by nothing else
    call_command("release", project.slug, str(tmp_path / "files"), stdout=StringIO())
    marked = {
        (key, pseudonym)
        for key, pseudonym in Annotation.objects.filter(revisions__labels_seen=True).values_list(
            "item__key", "rater__pseudonym"
        )
    }
    lines = [line for line in Files(tmp_path / "files").rows(ANNOTATIONS) if line.get("labels_seen")]
    assert {(line["item"], line["annotator"]) for line in lines} == marked
    for more in ((), ("--labels-seen", "included")):
        for name in ("agreement", "annotators", "comparison"):
            now = run_command(project.slug, name, *more)
            files = run_command(str(tmp_path / "files"), name, "--from-files", *more)
            assert now["made_from"]["labels_seen"] == files["made_from"]["labels_seen"]
            assert now["made_from"]["labels_seen"]["counted"] == bool(more)
            assert now["dimensions"] == files["dimensions"]
    with pytest.raises(CommandError, match="labels_seen is included or empty"):
        run_command(project.slug, "agreement", "--labels-seen", "perhaps")


def test_files_without_marks_know_of_none(tmp_path):
    project = marked_project()
    Revision.objects.update(labels_seen=None)
    call_command("release", project.slug, str(tmp_path / "files"), stdout=StringIO())
    source = source_of_files(tmp_path / "files")
    assert source.labels_seen() == set()
    assert "labels_seen" not in REPORTS["agreement"].compute(source)["made_from"]


def test_the_page_says_how_many_offers_to_include_them_and_tells_them_apart_behind(client):
    project = marked_project()
    client.force_login(project.created_by)
    path = f"/projects/{project.slug}/agreement/"

    def page(**query) -> str:
        client.get(path, query)
        for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
            lifecycle.run_here(job)
        return client.get(path, query).content.decode()

    assert "3 answers that were given or changed after" in (html := page()) and "are left out." in html
    assert '<option value="included">included</option>' in html
    html = page(labels_seen="included")
    assert '<option value="included" selected>' in html and "others&#x27; labels of the project count." in html
    assert client.get(path, {"labels_seen": "perhaps"}).status_code == 404
    behind = {}
    for report in StoredReport.objects.filter(name="agreement"):
        address = f"/projects/{project.slug}/behind/agreement/"
        found = client.get(address, {"report": report.parameters_hash, "figure": ""}).content.decode()
        behind[bool(report.scope)] = found.count("does not count: given or changed after they had been served")
    assert behind[True] == 0 < behind[False]
