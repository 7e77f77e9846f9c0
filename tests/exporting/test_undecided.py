"""What an export does with units that have no label, and whose labels it has."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from analysis.rules.running import run_rule
from annotation.decisions import adjudicating
from annotation.jobs import lifecycle
from annotation.models import Decision, Job
from annotation.projects import cases
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db

PLAIN = {"c0/e0": "supports", "c1/e3": "refutes", "c0/e4": "insufficient-neutral"}
TIES = {"c1/e1": "refutes", "c0/e2": "insufficient-supports"}  # by the first of the scale


def exported(project, folder, **options) -> tuple[dict, dict, dict]:
    """Stances by row (None: an empty cell), why others have none, and the manifest."""
    call_command("export_dataset", project.slug, folder, kinds=["jsonl"], verbosity=0, **options)
    rows = map(json.loads, (folder / "claims.jsonl").read_text().splitlines())
    stances = {row["id"]: row["evidence_stance"] for row in rows}
    why = {}
    if (folder / "undecided.tsv").exists():
        with open(folder / "undecided.tsv", newline="") as table:
            why = {(row["unit"], row["dimension"]): row for row in csv.DictReader(table, delimiter="\t")}
    return stances, why, json.loads((folder / "manifest.json").read_text())


def test_units_without_a_label_are_listed_left_out_or_refused(study, tmp_path):
    project, units = study
    stances, why, manifest = exported(project, tmp_path / "listed")
    assert {key: label for key, label in stances.items() if label} == PLAIN and len(stances) == 6
    assert {key: row["why"] for (key, name), row in why.items() if name == "stance"} == dict.fromkeys(TIES, "tied")
    assert json.loads(why["c1/e1", "stance"]["votes"]) == {"refutes": 1, "supports": 1}
    assert why["c1/e5", "relevance"]["why"] == "not answered"
    counts = {"relevance": {"not answered": 1}, "stance": {"tied": 2}}
    assert manifest["without_label"] == {"rows": "list", "counts": counts}
    stances, why, _ = exported(project, tmp_path / "left", without_label="leave-out")
    assert stances == PLAIN and len(why) == 3
    with pytest.raises(CommandError, match=r"1 units not answered \(Relevance\), 2 units tied \(Stance\)"):
        exported(project, tmp_path / "refused", without_label="refuse")
    assert not list((tmp_path / "refused").iterdir())


def test_labels_come_from_the_set_that_is_named_and_people_come_before_a_rule(study, tmp_path):
    project, units = study
    run_rule(project, None, "first", "majority", {"ties": "first"})
    run_rule(project, None, "strict", "majority", {"at_least": "3"})
    adjudicating.decide(project, project.created_by, units[1], "stance", "supports")
    by_first, why, manifest = exported(project, tmp_path / "first", decisions="rule:first")
    decided = PLAIN | TIES | {"c1/e1": "supports"}
    assert {key: label for key, label in by_first.items() if label} == decided
    assert {key for key, _ in why} == {"c1/e5"} and manifest["decisions"] == "rule:first"
    strict, why, _ = exported(project, tmp_path / "strict", decisions="rule:strict")
    assert {key: label for key, label in strict.items() if label} == {"c0/e0": "supports", "c1/e1": "supports"}
    assert why["c1/e3", "relevance"]["why"] == "not decided"  # no majority steps in
    Decision.objects.filter(rule="first", unit=units[0]).update(label="", outcome="dropped")
    dropped, why, _ = exported(project, tmp_path / "dropped", decisions="rule:first", without_label="leave-out")
    assert "c0/e0" not in dropped and why["c0/e0", "stance"]["why"] == "dropped"
    plain, *_ = exported(project, tmp_path / "plain", decisions="majority")
    assert {key: label for key, label in plain.items() if label} == PLAIN
    with pytest.raises(CommandError, match="no decisions that are called rule:absent"):
        exported(project, tmp_path / "absent", decisions="rule:absent")


def test_an_item_of_several_units_goes_with_one_that_has_no_label(tmp_path):
    project = project_of(2, "triplets/-/1")
    anna, (whole, open_one) = make_rater(project), items_of(project)
    say(whole, anna, labels=dict.fromkeys(range(3), "Entailment"))
    say(open_one, anna, labels=dict.fromkeys(range(2), "Neutral"))
    call_command("export_dataset", project.slug, tmp_path, kinds=["jsonl"], without_label="leave-out", verbosity=0)
    [content] = [path for path in tmp_path.glob("*.jsonl") if path.name != "annotations.jsonl"]
    [line] = map(json.loads, content.read_text().splitlines())
    assert whole.key in json.dumps(line) and open_one.key not in json.dumps(line)
    assert (tmp_path / "undecided.tsv").read_text().count("not answered") == 1
    page = client_of(project.created_by).get(f"/projects/{project.slug}/exports/").content.decode()
    assert "leave out their rows, and with them all of the item that they are in" in page


def test_the_page_offers_the_sets_and_says_what_has_no_label(study, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    project, _ = study
    client, here = client_of(project.created_by), f"/projects/{project.slug}/exports/"
    cases.recount(project)
    undecided = f'3 items have different answers and no decision: <a href="/projects/{project.slug}/rules/">'
    assert undecided in client.get(here).content.decode()
    run_rule(project, None, "first", "majority", {"ties": "first", "question": "stance"})
    assert "decide by a rule" not in client.get(here).content.decode()
    page = client.get(here).content.decode()
    assert "Decisions of the rule first, after people&#x27;s" in page and "leave out their rows" in page
    said = {"kinds": "tsv", "decisions": "rule:first", "without_label": "leave-out"}
    assert client.post(here, said | {"decisions": "rule:absent"}).status_code == 200  # refused at its field
    client.post(here, said)
    lifecycle.run_here(Job.objects.get(kind="export"))
    page = client.get(here).content.decode()
    # The rule says nothing of relevance, so that the majority goes on to count there.
    assert "rule:first" in page and "Relevance, without a label: 1 not answered" in page
    assert "undecided.tsv" in page
