"""Planned widths of each label's share for n units and k judgements each: on the page, in pictures and as files."""

import csv
import io

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.planning.planning import compute as planning
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.test_planning import NO, YES, pilot
from tests.world.labels import of_dimension

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Fewer sizes and studies than a page has: enough for what is asserted."""
    monkeypatch.setattr(planning, "SIZES", (50, 100, 200, 1000))
    monkeypatch.setattr(planning, "STUDIES", 50)


@pytest.fixture
def project():
    return pilot(relevant=0.3)[0]


def test_every_label_has_a_width_for_every_number_of_units_and_of_judgements(project):
    dimension = of_dimension(get_report("planning").compute(project, judgements=4), "relevance")
    assert {row["label"] for row in dimension["rates"]} == {YES, NO}
    for row in dimension["rates"]:
        assert [group["judgements"] for group in row["widths"]] == [1, 2, 3, 4, 5]
        for group in row["widths"]:
            plans = {plan["n_units"]: plan for plan in group["plans"]}
            assert list(plans) == [50, 100, 120, 200, 1000] and not any(plan["undefined"] for plan in plans.values())
            # The square root's law, and what one number of units now has.
            assert plans[50]["half_width"] == pytest.approx(2 * plans[200]["half_width"])
            assert plans[120]["estimate"] == row["now"]["estimate"] or group["judgements"] > 1
        at_100 = [group["plans"][1]["half_width"] for group in row["widths"]]
        assert at_100 == sorted(at_100, reverse=True) and at_100[0] > 1.05 * at_100[-1]
    # Two labels: what is not the one is the other.
    yes, no = ([plan["half_width"] for plan in row["widths"][0]["plans"]] for row in dimension["rates"])
    assert yes == pytest.approx(no)
    # At 100 units the widest interval of a share of one half is 0.098.
    assert 0.06 < yes[1] < 0.098


def test_the_grid_is_on_the_page_in_a_picture_of_each_label_and_in_every_form(client, project, capsys):
    client.force_login(project.created_by)
    address = reverse("project_report", args=[project.slug, "planning"])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    report = StoredReport.objects.get()
    assert "Relevance: expected half width of the interval of each label&#x27;s share" in page
    own = {name: one["spec"] for name, one in report.pictures.items() if "-share-" in name}
    assert set(own) == {"planning-relevance-share-1-relevant", "planning-relevance-share-2-not_relevant"}
    for spec in own.values():
        assert [one["title"] for one in spec["series"]] == [
            "1 judgement each",
            "2 judgements each",
            "3 judgements each",
            "5 judgements each",
        ]
        assert "closed form" in spec["caption"] and "180 labels of 60 units" in spec["caption"]
        assert "at 1,000 units" in spec["alt"] and spec["title"] in page
    row = of_dimension(report.result, "relevance")["rates"][0]
    numbers = reverse("project_picture", args=[project.slug, "planning", "planning-relevance-share-1-relevant", "csv"])
    asked = {"report": report.parameters_hash}
    lines = list(csv.DictReader(io.StringIO(client.get(numbers, asked).content.decode())))
    assert [(int(one["Units"]), float(one["Half width"])) for one in lines if one["Judgements"].startswith("1 ")] == [
        (plan["n_units"], plan["half_width"]) for plan in row["widths"][0]["plans"]
    ]
    for form in ("table", "md", "latex", "csv"):
        call_command("report", project.slug, "planning", "--format", form)
        said = capsys.readouterr().out
        assert "expected half width of the interval of each label's share" in said and "1 judgement each" in said
    call_command("report", project.slug, "planning", "--format", "methods")
    said = capsys.readouterr().out
    assert "Krippendorff's alpha (nominal for relevance)" in said and "in closed form" in said
