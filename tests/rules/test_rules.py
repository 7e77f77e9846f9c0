"""Rules that settle what people said: what each decides, that a further run adds what changed, and round trips."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.releases.cards.final_labels import final_labels
from analysis.rules import deciding
from analysis.rules.kinds import RuleError
from analysis.rules.running import preview, run_rule
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from annotation.decisions import adjudicating
from annotation.models import Annotation, Decision, ItemUnit, Judgement, Project, Rater, Revision, RuleRun, Unit
from tests import factories
from tests.projects.test_numbers import SAID, labelled
from tests.stats.samples import shared
from tests.world.labels import items_of

pytestmark = pytest.mark.django_db


def say(project, unit, rater, comment="", **labels):
    item = ItemUnit.objects.get(item__project=project, unit=unit).item
    who, _ = Rater.objects.get_or_create(
        project=project, name=rater, defaults={"kind": Rater.Kind.EXTERNAL, "pseudonym": rater}
    )
    annotation = Annotation.objects.create(item=item, rater=who)
    revision = Revision.objects.create(annotation=annotation, number=1, comment=comment)
    Judgement.objects.bulk_create(
        Judgement(revision=revision, unit=unit, dimension=dimension, label=label) for dimension, label in labels.items()
    )
    return revision


def make_study():
    dataset = factories.make_dataset()
    units = factories.make_claim_evidence(dataset, 6)
    project = factories.make_project(dataset)
    stances = (
        ("supports", "supports", "refutes"),
        ("supports", "refutes"),
        ("insufficient-supports", "supports"),
        ("refutes", "refutes"),
        ("insufficient-neutral", "insufficient-neutral"),
    )
    for unit, said in zip(units, stances, strict=False):
        for number, stance in enumerate(said):
            say(project, unit, f"p{number}", relevance="relevant", stance=stance)
    return project, units


def stands(project, name, dimension="stance"):
    rows = Decision.objects.in_force().filter(project=project, dimension=dimension).of_set(f"rule:{name}")
    return dict(rows.values_list("unit__key", "label"))


def test_majority_says_what_becomes_of_ties_and_several_rules_stand_side_by_side(study):
    project, units = study
    run_rule(project, None, "plain", "majority", {})
    run_rule(project, None, "first", "majority", {"ties": "first"})
    run_rule(
        project, None, "neutral", "majority",
        {"question": "stance", "ties": "label", "tie_label": "insufficient-neutral"},
    )  # fmt: skip
    plain = {"c0/e0": "supports", "c1/e3": "refutes", "c0/e4": "insufficient-neutral"}
    assert stands(project, "plain") == plain
    assert stands(project, "first") == plain | {"c1/e1": "refutes", "c0/e2": "insufficient-supports"}
    assert stands(project, "neutral") == plain | dict.fromkeys(("c1/e1", "c0/e2"), "insufficient-neutral")
    assert DatabaseSource(project).references() == ["majority", "rule:first", "rule:neutral", "rule:plain"]


def test_a_further_run_adds_only_what_changed_and_no_rule_touches_a_person(study):
    project, units = study
    user = project.created_by
    adjudicating.decide(project, user, units[1], "stance", "refutes")
    first = run_rule(project, user, "plain", "majority", {"question": "stance"})
    assert run_rule(project, user, "plain", "majority", {"question": "stance"}).version == 2
    assert set(Decision.objects.filter(rule="plain").values_list("rule_run", flat=True)) == {first.pk}
    say(project, units[1], "p2", relevance="relevant", stance="supports")  # a tie no more
    say(project, units[3], "p2", relevance="relevant", stance="supports")  # changes nothing
    say(project, units[4], "p2", relevance="relevant", stance="supports")
    say(project, units[4], "p3", relevance="relevant", stance="supports")  # a tie now
    third = run_rule(project, user, "plain", "majority", {"question": "stance"})
    rows = Decision.objects.filter(rule_run=third).values_list("unit__key", "number", "label", "is_withdrawn")
    assert sorted(rows) == [("c0/e4", 2, "", True), ("c1/e1", 1, "supports", False)]
    assert Decision.objects.get(method="adjudicated").label == "refutes"
    assert not Decision.objects.filter(rule="plain").exclude(method="rule").exists()


def test_a_preview_says_what_a_run_would_write_and_writes_nothing(study):
    project, _ = study
    [found] = preview(project, "plain", "majority", {"question": "stance"})["questions"]
    assert (found["units"], found["decided"], found["undecided"], found["new"]) == (6, 3, 3, 3)
    assert found["labels"] == {"refutes": 1, "insufficient-neutral": 1, "supports": 1}
    assert found["open"] == {"tied": 2, "without labels": 1}
    assert [one["becomes"] for one in found["examples"]] == ["undecided"] * 2
    assert not Decision.objects.exists() and not RuleRun.objects.exists()


def test_the_middle_of_a_scale(study):
    project, _ = study
    run_rule(project, None, "median", "centre", {"question": "stance", "between": "lower"})
    run_rule(project, None, "mean", "centre", {"question": "stance", "centre": "mean"})
    # Places 0 to 5: (5, 5, 0), (5, 0), (4, 5), (0, 0), (3, 3).
    ends = {"c1/e3": "refutes", "c0/e4": "insufficient-neutral"}
    between = {"c1/e1": "insufficient-contradictory", "c0/e2": "insufficient-supports"}
    assert stands(project, "median") == ends | between | {"c0/e0": "supports"}
    assert stands(project, "mean") == ends | {"c0/e0": "insufficient-neutral"}  # 10/3


@pytest.mark.parametrize("model", ["dawid-skene", "mace"])
def test_the_weighted_label_follows_the_competent_where_it_is_probable_enough(model):
    """Two always say the same. Where only one good annotator stands against them, the majority is theirs."""
    units = factories.make_claim_evidence(dataset := factories.make_dataset(), 24)
    project = factories.make_project(dataset)
    truth = {unit.key: ("supports", "refutes")[place % 2] for place, unit in enumerate(units)}
    for place, unit in enumerate(units):
        for name in ("p0", "p1", "p2") if place < 16 else ("p0",):
            say(project, unit, name, relevance="relevant", stance=truth[unit.key])
        for name in ("p3", "p4"):
            say(project, unit, name, relevance="relevant", stance="insufficient-refutes")
    run_rule(project, None, "most", "majority", {"question": "stance"})
    assert Counter(stands(project, "most").values())["insufficient-refutes"] == 8
    given = {"question": "stance", "model": model, "seed": "3"}
    run_rule(project, None, "weighted", "weighted", given)
    assert stands(project, "weighted") == truth
    rows = Decision.objects.filter(rule="weighted")
    assert all(0.5 <= row.posterior == round(row.posterior, 3) <= 1 for row in rows)
    # One whom the model takes for half as good says what two others deny.
    for unit in units[16:20]:
        say(project, unit, "p1", relevance="relevant", stance="insufficient-neutral")
    [few] = run_rule(project, None, "sure", "weighted", given | {"minimum": "1"}).counts["questions"]
    assert few["decided"] + few["open"]["not probable enough"] == 24 and few["open"]["not probable enough"] >= 4


def test_druid_drops_what_lies_far_apart_and_asks_the_more_competent():
    dataset = factories.make_dataset()
    units = factories.make_claim_evidence(dataset, 24)
    project = factories.make_project(dataset)
    values = ["refutes", "insufficient-refutes", "insufficient-contradictory", "insufficient-neutral"]
    for number, unit in enumerate(units):
        label = values[number % 4]
        good = {"relevance": "relevant", "stance": label}
        # Anne and Bob agree where both label; Carl is off by one with Anne on every third.
        say(project, unit, "anne", **good, comment="broken page" if number == 7 else "")
        if number in (4, 9):
            say(
                project, unit, "carl", relevance="relevant", stance="insufficient-neutral" if number == 4 else "refutes"
            )
        elif number % 3:
            say(project, unit, "bob", **good)
        else:
            say(project, unit, "carl", relevance="relevant", stance=values[(number + 1) % 4])
    found = preview(project, "druid", "druid", {"threshold": "3"})["questions"]
    stance = next(one for one in found if one["question"] == "stance")
    run_rule(project, None, "druid", "druid", {"threshold": "3"})
    dropped = Decision.objects.filter(rule="druid", dimension="stance", outcome="dropped")
    # Number 7 has a note on quality; 4 (refutes against neutral), 3 and 15 (neutral against refutes) lie 3 steps apart.
    assert sorted(key.partition("/e")[2] for key in dropped.values_list("unit__key", flat=True)) == [
        "15",
        "3",
        "4",
        "7",
    ]
    assert stance["dropped"] == 4 and stance["decided"] == 20
    got = stands(project, "druid")
    assert all(got[unit.key] == values[n % 4] for n, unit in enumerate(units) if n not in (3, 4, 7, 15))
    assert stance["agreement"]["all"] < stance["agreement"]["without what was dropped"]
    kept = {one["question"]: one for one in preview(project, "k", "druid", {"quality": "keep"})["questions"]}
    assert kept["stance"]["dropped"] == 3  # a note changes nothing then
    # No majority takes the place of what was dropped, in a card as in an export.
    in_card = final_labels(DatabaseSource(project))
    number_of = dict(
        zip(*(DatabaseSource(project).unit_frame("evidence")[name] for name in ("unit_key", "unit")), strict=True)
    )
    left = {key for key, unit in number_of.items() if in_card[unit, "stance"].label is None}
    assert left == set(dropped.values_list("unit__key", flat=True))


@pytest.mark.parametrize(("relevance", "dropped", "left"), [("competence", 2, 1), ("drop", 3, 0), ("undecided", 2, 1)])
def test_druid_leaves_equal_competence_undecided_and_says_what_relevance_does(
    study, monkeypatch, relevance, dropped, left
):
    """Two of the pairs lie 5 steps apart, one 1 step; of another one says that it is not relevant."""
    project, units = study
    say(project, units[5], "p0", relevance="relevant", stance="supports")
    say(project, units[5], "p1", relevance="not_relevant")

    def alike(labels, seed):
        return SimpleNamespace(competence=np.full(labels.n_raters, 0.7))

    monkeypatch.setattr(deciding, "mace", alike)
    found = {one["question"]: one for one in preview(project, "d", "druid", {"relevance": relevance})["questions"]}
    assert found["relevance"]["dropped"] == found["stance"]["dropped"] == dropped
    equal = "equally competent, or relevance left open"
    assert found["relevance"]["open"].get(equal, 0) == left and found["stance"]["open"][equal] == 1
    assert found["stance"]["open"].get("not asked, or its condition is open", 0) == left
    assert found["stance"]["undecided"] == 1 + left


def test_a_verdict_follows_its_table_and_a_person_comes_before_the_rule(study):
    """The majorities below c0: supports, a tie, neutral; below c1: a tie, refutes, and one that nobody labelled."""
    project, units = study
    for unit in units:
        claim = unit.evidence.claim
        claim.units.get_or_create(dataset=unit.dataset, kind="claim", key=claim.key, defaults={"batch": unit.batch})

    def verdicts(name, table, undecided="ignore") -> dict:
        given = {"decisions": "most", "table": table, "undecided": undecided}
        [counts] = run_rule(project, None, name, "lift", given).counts["questions"]
        return stands(project, name, "verdict") | {"open": counts["open"]}

    run_rule(project, None, "most", "majority", {"question": "stance"})
    table = "mostly: most supports\nbad: all refutes\nmixed: any supports, no refutes"
    assert verdicts("wait", table, "wait") == {"open": {"with an undecided child": 2}}
    assert verdicts("lines", table) == {"c0": "mixed", "c1": "bad", "open": {}}
    adjudicating.decide(project, project.created_by, units[4], "stance", "supports")
    assert verdicts("lines", table) == {"c0": "mostly", "c1": "bad", "open": {}}
    assert verdicts("few", "bad: all refutes") == {
        "c1": "bad",
        "open": {"for which no line of the table holds": 1},
    }


def test_the_middle_of_numbers_is_a_decision_where_it_can_be_answered():
    project = labelled()
    middle = SAID.mean(axis=0)
    fits = middle * 2 == np.round(middle * 2)  # steps of a half
    for centre in ("median", "mean"):
        run = run_rule(project, None, centre, "centre", {"question": "share", "centre": centre})
        [counts] = run.counts["questions"]
        assert counts["open"] == {"between two numbers that can be answered": (~fits).sum()}
        found = stands(project, centre, "share")
        keys = [item.key for item in items_of(project)]
        assert {key: float(label) for key, label in found.items()} == {
            key: value for key, value, fit in zip(keys, middle, fits, strict=True) if fit
        }


@pytest.mark.parametrize(
    ("kind", "name", "given", "said"),
    [
        ("majority", "Two Words", {}, "small letters"),
        ("majority", "m", {"ties": "coin"}, "Ties: is one of undecided, first, last, label"),
        ("majority", "m", {"ties": "label", "tie_label": "maybe"}, "'maybe' is not a label"),
        ("majority", "m", {"question": "weather"}, "Question: is one of"),
        ("majority", "m", {"colour": "red"}, "no parameter 'colour'"),
        ("weighted", "m", {"minimum": "1.5"}, "is not from 0.0 to 1.0"),
        ("druid", "m", {"threshold": "few"}, "not a whole number"),
        ("lift", "m", {"table": "good: any better"}, "line 1: 'better' is not one of the labels"),
        ("lift", "m", {"table": "x: otherwise\ny: any supports"}, "line 2: is never reached"),
        ("lift", "m", {"decisions": "absent"}, "run the rule 'absent' first"),
    ],
)
def test_wrong_questions_get_a_clear_answer_and_leave_nothing(study, kind, name, given, said):
    project, _ = study
    with pytest.raises(RuleError, match=said):
        run_rule(project, None, name, kind, given)
    assert not RuleRun.objects.exists() and not Decision.objects.exists()


def test_a_name_stands_for_one_rule_and_without_labels_there_is_none(study):
    project, _ = study
    run_rule(project, None, "m", "majority", {})
    with pytest.raises(RuleError, match="with other parameters already"):
        run_rule(project, None, "m", "majority", {"ties": "first"})
    empty = factories.make_project(project.dataset)
    with pytest.raises(RuleError, match="No labels to apply"):
        run_rule(empty, None, "m", "majority", {})
    with pytest.raises(CommandError, match="No labels to apply"):
        call_command("rule", empty.slug, "majority")


def test_an_export_says_which_rule_decided_and_comes_back(study, tmp_path):
    project, _ = study
    for unit in Unit.objects.filter(kind="evidence"):
        claim = unit.evidence.claim
        Unit.objects.get_or_create(
            dataset=unit.dataset, kind="claim", key=claim.key, claim=claim, defaults={"batch": unit.batch}
        )
    run_rule(project, None, "firm", "weighted", {"question": "stance", "minimum": "0.6"})
    run_rule(project, None, "verdicts", "lift", {"decisions": "firm", "undecided": "ignore"} | {
        "table": "supports: any supports, no refutes\nrefutes: any refutes\nopen: otherwise"})  # fmt: skip
    unit = Unit.objects.filter(kind="evidence").order_by("pk").first()
    span = {"field": "evidence", "start": 0, "end": 4, "quote": unit.evidence.text[:4]}
    more = {"reason": "ambiguous", "spans": [span], "for_guidelines": True}
    judge = factories.join(project, factories.make_user("judge"), "adjudicator")
    adjudicating.decide(project, judge, unit, "stance", "supports", "Both read it so", **more)
    call_command("release", project.slug, tmp_path / "one", verbosity=0)
    lines = [json.loads(line) for line in (tmp_path / "one" / "decisions.jsonl").read_text().splitlines()]
    [person] = [one for one in lines if one["method"] == "adjudicated"]
    assert {name: person[name] for name in more} == more
    lines.remove(person)
    assert {(one["method"], one["version"]) for one in lines} == {("rule:firm", 1), ("rule:verdicts", 1)}
    assert all(one["posterior"] == round(one["posterior"], 3) for one in lines if one["method"] == "rule:firm")
    assert {one["unit_kind"] for one in lines if one["method"] == "rule:verdicts"} == {"claim"}
    factories.make_user(is_superuser=True)
    by_card = {one.method for one in final_labels(DatabaseSource(project)).values()}
    assert by_card == {"", "adjudicated", "majority", "rule:firm"}
    slug = project.slug
    Project.objects.filter(pk=project.pk).update(slug="before")
    zipped(tmp_path / "one", tmp_path / "one.zip")
    call_command(
        "import_dataset", tmp_path / "one.zip", "--format", "assay", "--dataset", "second", "--project", slug,
        "--with-settings", verbosity=0,
    )  # fmt: skip
    call_command("release", slug, tmp_path / "two", verbosity=0)
    for name in ("decisions.jsonl", "annotations.jsonl"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    one, two = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("one", "two"))
    assert one["settings"] == two["settings"] and one["release"]["sha256"] == two["release"]["sha256"]
    assert (
        "Weighted by competence: question stance; model dawid-skene; minimum posterior 0.6; seed 0"
        in (tmp_path / "two" / "README.md").read_text()
    )
    # The rule goes on under its name, as it decided before and no other way.
    copy = Project.objects.get(slug=slug)
    came = RuleRun.objects.get(project=copy, name="firm")
    with pytest.raises(RuleError, match="with other parameters already"):
        run_rule(copy, None, "firm", "majority", {})
    further = run_rule(copy, None, "firm", came.kind, came.parameters)
    [counts] = further.counts["questions"]
    assert (further.version, counts["new"], counts["withdrawn"]) == (2, 0, 0) and counts["unchanged"] > 1


@pytest.mark.slow
def test_climate_fever_has_its_published_labels():
    path = shared("climate_fever", "climate-fever.jsonl")
    factories.make_user(is_superuser=True)
    call_command(
        "import_dataset", path, "--format", "climate-fever", "--dataset", "climate", "--project", "climate",
        "--task-type", "claim-evidence/three-way/1", verbosity=0,
    )  # fmt: skip
    project = Project.objects.get(slug="climate")
    given = {"question": "stance", "ties": "label", "tie_label": "not_enough_info"}
    run = run_rule(project, None, "majority", "majority", given)
    assert run.counts["questions"][0]["open"]["tied"] == 2501
    table = (
        "DISPUTED: any supports, any refutes\nSUPPORTS: any supports\nREFUTES: any refutes\nNOT_ENOUGH_INFO: otherwise"
    )
    run_rule(project, None, "verdicts", "lift", {"decisions": "majority", "table": table})
    claims = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pieces = {
        f"{claim['claim_id']}/{one['evidence_id']}": one["evidence_label"].lower()
        for claim in claims
        for one in claim["evidences"]
    }
    assert stands(project, "majority") == pieces and len(pieces) == 7675
    assert stands(project, "verdicts", "verdict") == {claim["claim_id"]: claim["claim_label"] for claim in claims}
    assert Counter(stands(project, "verdicts", "verdict").values()).total() == 1535
