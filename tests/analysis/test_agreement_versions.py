"""Agreement under each version of the guidelines, and what each changed."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.base import Source
from analysis.sources.files import source_of_files
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.world.labels import items_of, make_rater, of_dimension, project_of, quickly, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


def agreement(project):
    return get_report("agreement").compute(project, all=True)


@pytest.fixture
@remembered
def of_versions():
    """Four items under each of the versions 1, 2 and 4, of which Anna and Ben agree on 2, 3 and 4; one item that Anna
    labelled under version 2 and Ben under 4; and one whose labels have no version."""
    project = project_of(14, claims=14)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    truth, items = [YES, NO, YES, NO], items_of(project)
    for place, (version, agreed) in enumerate([(1, 2), (2, 3), (4, 4)]):
        for number, item in enumerate(items[4 * place : 4 * place + 4]):
            other = {YES: NO, NO: YES}[truth[number]]
            say(item, anna, truth[number], guideline_version=version)
            say(item, ben, truth[number] if number < agreed else other, guideline_version=version)
    for number, item in enumerate(items[12:]):
        say(item, anna, YES, guideline_version=None if number else 2)
        say(item, ben, NO, guideline_version=None if number else 4)
    return project


def test_versions_of_the_guidelines_have_their_own_figures_and_a_difference_from_the_one_before(of_versions):
    dimension = of_dimension(agreement(of_versions), "relevance")
    rows = dimension["by_version"]
    assert [(row["version"], row["n_units"], row["n_labels"]) for row in rows] == [(1, 4, 8), (2, 5, 9), (4, 5, 9)]
    # Labels given under different versions form no pair, so each version has its four units.
    assert [row["alpha_nominal"]["n_pairable"] for row in rows] == [4, 4, 4]
    assert [row["percent_agreement"]["estimate"] for row in rows] == [0.5, 0.75, 1.0]
    assert dimension["n_labels_without_version"] == 2
    alphas = [row["alpha_nominal"]["estimate"] for row in rows]
    found = dimension["version_differences"]
    assert [(row["version"], row["before"]) for row in found] == [(2, 1), (4, 2)]
    assert [row["estimate"] for row in found] == pytest.approx([alphas[1] - alphas[0], alphas[2] - alphas[1]])
    assert found[0]["low"] < found[0]["estimate"] < found[0]["high"]
    assert "over units" in found[0]["interval"]["method"]  # each claim has one


def test_versions_are_those_of_the_labels_that_count(of_versions):
    """A changed answer counts under the version it was changed under."""
    item = items_of(of_versions)[0]
    for annotation in item.annotations.all():
        say(item, annotation.rater, YES, guideline_version=2)
    rows = of_dimension(agreement(of_versions), "relevance")["by_version"]
    assert [(row["version"], row["n_labels"]) for row in rows] == [(1, 6), (2, 11), (4, 9)]


def test_one_version_alone_has_no_table_of_versions():
    project = project_of(2)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            say(item, rater, YES, guideline_version=3)
    dimension = of_dimension(agreement(project), "relevance")
    assert dimension["by_version"] == dimension["version_differences"] == []


def test_first_figures_do_not_wait_for_versions(of_versions, monkeypatch):
    def refuse(*_):
        raise AssertionError("moments were read in a first pass")

    monkeypatch.setattr(Source, "with_moments", refuse)
    with quickly():
        first = of_dimension(agreement(of_versions), "relevance")
    assert first["by_version"] == [] and first["figures"][0]["estimate"] is not None
    with pytest.raises(AssertionError, match="moments"):
        agreement(of_versions)


def test_versions_are_the_same_from_files(of_versions, tmp_path):
    freezing.write_release(of_versions, tmp_path / "release")
    from_files = get_report("agreement").compute(source_of_files(tmp_path / "release"), all=True)
    names = ("by_version", "version_differences", "n_labels_without_version")
    expected, found = (of_dimension(one, "relevance") for one in (agreement(of_versions), from_files))
    assert {name: found[name] for name in names} == {name: expected[name] for name in names}
    assert len(found["by_version"]) == 3


def test_versions_stand_on_the_page_and_in_every_table(client, of_versions, capsys):
    client.force_login(of_versions.created_by)
    address = reverse("project_agreement", args=[of_versions.slug]) + "?all=1"
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = " ".join(client.get(address).content.decode().split())
    [first, second] = of_dimension(StoredReport.objects.get().result, "relevance")["version_differences"]
    assert "by version of the guidelines" in page and "2 labels with an unknown version are left out" in page
    for version, before, found in ((2, 1, first), (4, 2, second)):
        row = f'<th scope="row" dir="auto">{version}</th><td>{before}</td><td class="num">{found["n_shared"]}</td>'
        assert f'{row}<td class="num">{found["estimate"]:.3f}' in page
    for form, words in {
        "csv": ("difference of alpha between versions of the guidelines", str(second["estimate"])),
        "md": ("by version of the guidelines", f"{second['estimate']:.4f}"),
        "latex": ("by version of the guidelines", f"{second['estimate']:.4f}"),
        "table": ("difference of alpha between versions of the guidelines", f"{second['estimate']:.4f}"),
    }.items():
        call_command("report", of_versions.slug, "agreement", "--all", "--format", form)
        printed = capsys.readouterr().out
        assert all(one in printed for one in words), form
