"""People's labels against a set of decisions by its name: from the database, from files, on the page and by the API."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from sklearn.metrics import accuracy_score, cohen_kappa_score

from analysis.releases.freezing import write_release
from analysis.reports.metrics import get_report
from analysis.rules.running import run_rule
from analysis.sources.files import source_of_files
from annotation.decisions import adjudicating
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.api.programs import Program, problem_of
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say, units_behind
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
SCALE = ("refutes", "insufficient-refutes", "insufficient-contradictory", "insufficient-neutral",
         "insufficient-supports", "supports")  # fmt: skip
# By unit what Anna and Ben said, and what was decided; the places of labels on the scale.
SAID = [(0, 0, 0), (0, 1, 1), (1, 1, 1), (2, 4, 4), (3, 3, 5), (3, 5, None), (4, None, 4), (5, 5, 5), (5, 4, None)]


@pytest.fixture
@remembered
def project():
    project = project_of(len(SAID), claims=5)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    for item, (a, b, decided) in zip(items_of(project), SAID, strict=True):
        for who, code in ((anna, a), (ben, b)):
            if code is not None:
                say(item, who, "relevant", SCALE[code])
        if decided is not None:
            adjudicating.decide(project, project.created_by, item.anchor, "stance", SCALE[decided])
    return project


def test_each_person_is_compared_with_what_was_decided(project, tmp_path):
    report = get_report("agreement").compute(project, reference="adjudicated")
    found = of_dimension(report, "stance")["against"]
    pairs = [[(row[who], row[2]) for row in SAID if None not in (row[who], row[2])] for who in (0, 1)]
    people = sorted(found["people"], key=lambda one: one["name"])
    assert found["n_units"] == 7 and [(one["name"], one["n"]) for one in people] == [("Anna", 7), ("Ben", 6)]
    for row, said in zip([*people, found["everybody"]], [*pairs, pairs[0] + pairs[1]], strict=True):
        theirs, decided = zip(*said, strict=True)
        figures = {one["name"]: one for one in row["figures"]}
        assert row["n_same"] == sum(a == b for a, b in said)
        assert figures["percent_agreement"]["estimate"] == pytest.approx(accuracy_score(decided, theirs))
        assert figures["kappa"]["estimate"] == pytest.approx(cohen_kappa_score(decided, theirs))
        weighted = cohen_kappa_score(decided, theirs, weights="quadratic", labels=range(6))
        assert figures["quadratic"]["estimate"] == pytest.approx(weighted)
        assert figures["percent_agreement"]["low"] < figures["percent_agreement"]["estimate"]
        assert figures["kappa"]["interval"]["n_clusters"] == 5  # claims, not labels, are drawn
    assert of_dimension(report, "relevance")["against"] is None
    anna = people[0]["id"]
    assert len(units_behind(report, f"1.dimension=stance&1.rater={anna}&1.against=same")) == 4
    # Without it nothing is compared, and a release's files give the same.
    assert of_dimension(get_report("agreement").compute(project), "stance")["against"] is None
    write_release(project, tmp_path / "frozen")
    of_files = get_report("agreement").compute(source_of_files(tmp_path / "frozen"), reference="adjudicated")
    of_files = of_dimension(of_files, "stance")["against"]
    assert [{**row, "name": ""} for row in of_files["people"]] == [{**row, "name": ""} for row in found["people"]]
    assert of_files["everybody"] == found["everybody"]


def test_any_set_by_name_on_the_page_by_the_api_and_by_the_command(client, project, capsys):
    client.force_login(project.created_by)
    address = reverse("project_agreement", args=[project.slug])
    run_rule(project, None, "first", "majority", {"question": "stance", "ties": "first"})
    with pytest.raises(CommandError, match="reference is one of adjudicated, rule:first, not 'rule:second'"):
        call_command("report", project.slug, "agreement", "--reference", "rule:second")
    asked = {"reference": "rule:first"}
    assert client.get(address, {"reference": "rule:second"}).status_code == 404
    page = client.get(address, asked).content.decode()
    assert '<option value="rule:first" selected>Decisions of the rule first' in page
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = " ".join(client.get(address, asked).content.decode().split())
    assert "Stance: labels against decisions of the rule first" in page
    assert "The rule decided from these labels" in page and "Relevance: against decisions" in page
    program, path = Program(project.created_by), f"projects/{project.slug}/reports/agreement/"
    found = program.send(f"{path}?reference=rule:first").json()  # the page had it computed
    assert found["state"] == "fresh" and found["parameters"]["reference"] == "rule:first"
    everybody = of_dimension(found["result"], "stance")["against"]["everybody"]
    assert (everybody["n_same"], everybody["n"]) == (13, 17)
    tables = {one["name"]: one["rows"] for one in found["tables"]}
    rows = tables["stance-labels-against-decisions-of-the-rule-first"]
    assert sorted(row[2] for row in rows) == [5, 8, 13]  # Ben, Anna, everybody
    wrong = problem_of(program.send(f"{path}?reference=rule:second"), 400)
    assert [one["field"] for one in wrong["errors"]] == ["reference"]
    call_command("report", project.slug, "agreement", "--reference", "rule:first")
    printed = " ".join(capsys.readouterr().out.split())
    # The rule takes the lower of two labels: 13 of 17 are that one.
    said = "Labels that equal the decision about their unit (decisions of the rule first): stance, 0.765"
    assert said in printed and said in page
