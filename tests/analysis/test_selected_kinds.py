"""Every report of a part of every kind of project: from the database and from a release's files alike."""

import json

import pytest
from django.db.models import F

from analysis.figures.items import Items
from analysis.releases import freezing
from analysis.reports.metrics import REPORTS
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.models import Rater
from tests.kinds import EACH_KIND, answer_all, make_kind_project
from tests.world.labels import quickly

pytestmark = pytest.mark.django_db


def numbers(report, source) -> str:
    """Of the whole result, or why there is none; units are counted since either source numbers them."""
    try:
        with quickly():
            result = report.compute(source, **report.values(source, {}))
    except ValueError as error:
        return str(error)
    result["behind"] |= {"units": len(Items.from_json(result["behind"]).units)}
    return json.dumps({name: part for name, part in result.items() if name != "made_from"}, sort_keys=True)


@EACH_KIND
def test_a_part_gives_the_same_from_files(identifier, tmp_path):
    project = make_kind_project(identifier)
    answer_all(project)
    Rater.objects.update(name=F("pseudonym"))  # files know nobody's name
    freezing.write_release(project, tmp_path / "release")
    sources = DatabaseSource(project), source_of_files(tmp_path / "release")
    named, first = sources[0].unit_frame(project.type.unit_kind)["source"].iloc[0], project.type.dimensions[0]
    n_computed = 0
    for conditions in ({"source": named}, {"label": f"{first.slug}:{first.values[0]}"}, {"source": "nowhere"}):
        parts = [SelectedSource(source, Selection.of(conditions)) for source in sources]
        for report in REPORTS.values():
            if not report.fits(project.type) and not any(one.required for one in report.options):
                found = [numbers(report, part) for part in parts]
                assert found[0] == found[1], (report.name, conditions)
                n_computed += found[0].startswith("{")
    assert n_computed > 2
