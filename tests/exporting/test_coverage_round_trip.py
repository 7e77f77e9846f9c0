"""ICAT's files imported, exported by Assay and imported again give the same report on coverage."""

import pytest

from analysis.reports.metrics import get_report
from annotation.models import Project, Rater, Response
from tests.factories import make_user
from tests.formats.icat_samples import COFFEE, annotation, lines
from tests.importing.files import command
from tests.world.exported import export

pytestmark = pytest.mark.django_db


def report_of(slug: str, **parameters) -> dict:
    """The report without what names the database's own rows and the project."""
    report = get_report("coverage").compute(Project.objects.get(slug=slug), **parameters)
    report.pop("behind")
    report["responses"] = sorted(
        ({name: value for name, value in row.items() if name != "item"} for row in report["responses"]),
        key=lambda row: row["response"],
    )
    return report | {"project": ""}


@pytest.fixture
def first(tmp_path):
    """A project with labels of three annotators on some answers and decided ones on others."""
    make_user("owner", is_superuser=True, is_staff=True)
    rows = {
        "gpt-4": [
            annotation(1, [[COFFEE[0]], [1, 2], []]),
            annotation(2, ["hoof care"], "Hooves."),
            annotation(3, [], "Nothing.", query_description="A query without aspects."),
        ],
        "mixtral": [annotation(1, [[1, 2, 3], [2], [2, 1]], "Tea 👩🏽‍🔬\r\nand e\u0301."), annotation(2, [], "No.")],
    }
    paths = []
    for model, found in rows.items():
        path = tmp_path / f"{model}.jsonl"
        path.write_text(lines(found), encoding="utf-8")
        paths.append(path)
    code, out = command(*paths, "--format", "icat", "--dataset", "first", "--project", "one")
    assert code == 0, out
    return Project.objects.get(slug="one")


def test_the_report_stays_the_same(first, tmp_path):
    export(first, tmp_path / "out")
    files = [path for path in sorted((tmp_path / "out").iterdir()) if path.suffix == ".jsonl"]
    code, out = command(*files, "--format", "assay", "--dataset", "second", "--project", "two")
    assert code == 0, out
    assert Response.objects.filter(dataset__slug="second").count() == 5
    assert Rater.objects.filter(project__slug="two").exclude(kind="member").count() == 3
    for parameters in ({}, {"k": 3}, {"ties": "covered"}):
        report = report_of("one", **parameters)
        assert report == report_of("two", **parameters)
    shares = {row["response"]: row["coverage"] for row in report["responses"]}
    assert shares == {
        "gpt-4/1": pytest.approx(1 / 3),
        "gpt-4/2": None,
        "gpt-4/3": None,
        "mixtral/1": pytest.approx(2 / 3),
        "mixtral/2": None,
    }
    decided = {
        slug: {row["response"]: row["coverage"] for row in report_of(slug, reference="imported")["responses"]}
        for slug in ("one", "two")
    }
    assert decided["one"]["gpt-4/2"] == decided["two"]["gpt-4/2"] == 0.5
    assert decided["one"]["mixtral/2"] == decided["two"]["mixtral/2"] == 0.0
