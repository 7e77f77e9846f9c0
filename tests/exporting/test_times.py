"""The time of an answer is the server's, whatever the browser's clock says."""

import json
from datetime import datetime, timedelta

import pandas
import pytest
from django.core.management import call_command
from django.utils import timezone

from analysis.pages.answers import current_answers
from analysis.releases import freezing
from analysis.sources.database import DatabaseSource
from annotation.models import Revision
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db

AHEAD, ELAPSED = timedelta(hours=1), timedelta(seconds=9)
NOON = datetime.fromisoformat("2026-05-04T12:00:00+00:00")


@pytest.fixture
def answered():
    """Three answers: by a clock that is an hour ahead, without times as a program sends them, and by a clock that was
    set back while the item was open."""
    dataset = make_dataset()
    make_claim_evidence(dataset, 3)
    project = make_project(dataset, annotators=[make_user("ann")], slug="late", order="file")
    ann = Annotator(project.memberships.get(user__name="ann").user, project)
    ahead = timezone.now() + AHEAD
    sent = [(ahead - ELAPSED, ahead), (None, None), (ahead, ahead - AHEAD)]
    for shown, submitted in sent:
        times = {} if shown is None else {"shown_at": shown.isoformat(), "submitted_at": submitted.isoformat()}
        assert ann.submit(ann.next()["payload"], **times).status_code == 200
    for number, revision in enumerate(Revision.objects.order_by("pk")):
        Revision.objects.filter(pk=revision.pk).update(received_at=NOON + timedelta(minutes=number))
    return project


TIMES = [NOON + timedelta(minutes=number) for number in range(3)]
OPENED = [NOON - ELAPSED, None, None]


def test_exports_reports_releases_and_the_api_have_the_servers_time(answered, tmp_path):
    def said(lines) -> tuple[list, list]:
        lines = sorted(lines, key=lambda line: line["item"])
        both = (
            [line[name] and datetime.fromisoformat(line[name]) for line in lines]
            for name in ("submitted_at", "shown_at")
        )
        return tuple(both)

    call_command("export_dataset", "late", tmp_path / "export", kinds=["jsonl", "table-csv"], verbosity=0)
    manifest = freezing.write_release(answered, tmp_path / "release")
    for folder in ("export", "release"):
        lines = map(json.loads, (tmp_path / folder / "annotations.jsonl").read_text().splitlines())
        assert said(lines) == (TIMES, OPENED)
    table = pandas.read_csv(tmp_path / "export" / "ratings.csv")
    assert [datetime.fromisoformat(one) for one in table["time"]] == TIMES
    facts = json.loads((tmp_path / "release" / "figures.json").read_text())
    assert (facts["first_answer"], facts["last_answer"]) == ("2026-05-04T12:00:00Z", "2026-05-04T12:02:00Z")
    assert manifest["counts"]["annotations"] == 3
    source = DatabaseSource(answered)
    frame = source.answer_frame()
    assert list(frame["submitted_at"]) == TIMES
    assert [None if pandas.isna(one) else one for one in frame["shown_at"]] == OPENED
    assert list(source.revision_frame()["submitted_at"]) == TIMES
    beside = current_answers(answered, answered.items.values_list("pk", flat=True))
    assert sorted(one.submitted_at for one in beside) == TIMES
    answer = client_of(answered.created_by).get("/api/v1/projects/late/annotations/").json()
    assert said(answer["results"]) == (TIMES, OPENED)


def test_an_export_of_answers_given_here_is_known_where_it_comes_back(answered, tmp_path):
    call_command("export_dataset", "late", tmp_path, kinds=["jsonl"], verbosity=0)
    chosen = {"format": "assay", "dataset": answered.dataset.slug, "project": "late", "verbosity": 0}
    call_command("import_dataset", str(tmp_path / "annotations.jsonl"), owner=answered.created_by.email, **chosen)
    assert Revision.objects.count() == 3
