"""A checker against people: which labels count (promise 5), what the reference is, and what is left out."""

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.figures.results import PENDING
from analysis.releases import freezing
from analysis.reports.checkers.comparison import filters
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.touched import untouched
from annotation.jobs import lifecycle
from annotation.models import Annotation, Decision, Item, Project, RuleRun
from tests.factories import make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.work.browser import Annotator, answers_to
from tests.world.labels import items_of, make_rater, make_scores, of_dimension, of_name, project_of, say, units_behind

UNSEEN = {"runs": []}  # whoever decided had been shown no suggestion
pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
SUGGESTED = {"relevance": YES, "stance": "supports"}


def comparison(run, **parameters):
    return get_report("comparison").compute(run.project, run=str(run.uuid), all=True, **parameters)


def counts(report, slug="relevance"):
    dimension = of_dimension(report, slug)
    return dimension["n_labels_untouched"], dimension["n_labels_all"]


def labelled_in_the_browser(prefill):
    """One person who answers one item and then answers it again."""
    dataset, user = make_dataset(), make_user()
    make_claim_evidence(dataset, 1)
    project = make_project(dataset, annotators=[user], overlap=1, prefill=prefill)
    run = make_suggestions(project, checker="first", labels=SUGGESTED)
    project.refresh_from_db()
    person = Annotator(user, project)
    payload = person.next()["payload"]
    person.post(payload["assignment"], "shown", {"at": "2026-01-01T10:00:00Z", "suggestions": prefill == "shown"})
    person.submit(payload, answers_to(payload, choice=1))
    return person, payload, run


def test_after_the_first_answer_the_first_answer_counts_and_the_revised_one_does_not():
    person, payload, run = labelled_in_the_browser("after")
    assert counts(comparison(run)) == (1, 1)
    before = of_dimension(comparison(run), "relevance")
    assert before["confusion"] == [[0, 0], [1, 0]]  # the person said not relevant
    person.submit(payload, answers_to(payload, choice=0))
    after = comparison(run)
    assert counts(after) == (1, 1) and of_dimension(after, "relevance")["confusion"] == [[0, 0], [1, 0]]
    assert counts(after, "stance") == (0, 1)  # the stance came only with the revised answer
    with_touched = comparison(run, touched=True)
    assert of_dimension(with_touched, "relevance")["confusion"] == [[1, 0], [0, 0]]
    assert counts(with_touched) == (1, 1)


def test_a_label_given_beside_a_suggestion_is_touched():
    _, _, run = labelled_in_the_browser("shown")
    report = comparison(run)
    assert counts(report) == (0, 1)
    assert of_dimension(report, "relevance")["accuracy"]["undefined"]
    assert of_dimension(comparison(run, touched=True), "relevance")["accuracy"]["estimate"] == 0.0


def test_what_one_checker_touched_counts_for_another():
    _, _, run = labelled_in_the_browser("shown")
    other = make_suggestions(run.project, checker="second", labels=SUGGESTED)
    assert counts(comparison(other)) == (1, 1)
    again = make_suggestions(run.project, checker="first", labels=SUGGESTED)
    assert counts(comparison(again)) == (0, 1)  # a second run of the checker that was shown


def test_every_checker_that_was_shown_on_an_item_has_touched_it():
    """The project changes over to another run while the item lies before somebody."""
    dataset, user = make_dataset(), make_user()
    make_claim_evidence(dataset, 1)
    project = make_project(dataset, annotators=[user], overlap=1, prefill="shown")
    first = make_suggestions(project, checker="first", labels=SUGGESTED)
    person = Annotator(user, Project.objects.get(pk=project.pk))
    payload = person.next()["payload"]
    person.post(payload["assignment"], "shown", {"at": "2026-01-01T10:00:00Z", "suggestions": True})
    second = make_suggestions(project, checker="second", labels=SUGGESTED)
    payload = person.item(payload["assignment"]).json()["payload"]
    person.submit(payload)
    assert counts(comparison(first)) == (0, 1)
    assert counts(comparison(second)) == (0, 1)


@pytest.mark.parametrize(
    ("kind", "shown", "counted"),
    [
        ("external", True, 0),  # some suggestion was shown, nobody knows whose
        ("external", False, 1),
        ("external", None, 1),  # made elsewhere, without this checker
        ("slot", None, 1),
        ("member", None, 0),  # the trace was lost here
        ("member", False, 1),
        ("member", True, 0),
    ],
)
def test_what_is_not_known_to_be_untouched_does_not_count(kind, shown, counted):
    project = project_of(1)
    run = make_suggestions(project, labels=SUGGESTED)
    say(items_of(project)[0], make_rater(project, kind=kind), YES, shown=shown)
    assert counts(comparison(run)) == (counted, 1)


def test_the_last_answer_before_the_suggestion_counts_and_nothing_of_earlier_ones():
    project = project_of(1)
    run = make_suggestions(project, labels=SUGGESTED)
    [item], anna = items_of(project), make_rater(project)
    say(item, anna, YES, "supports")
    say(item, anna, NO)
    say(item, anna, YES, "refutes", shown=True)
    report = comparison(run)
    assert of_dimension(report, "relevance")["confusion"] == [[0, 0], [1, 0]]
    assert counts(report, "stance") == (0, 1)


def test_surplus_and_retired_items_never_count():
    project = project_of(2)
    run = make_suggestions(project, labels=SUGGESTED)
    one, two = items_of(project)
    anna = make_rater(project)
    say(one, make_rater(project), YES, surplus=True)
    say(two, anna, YES)
    Item.objects.filter(pk=two.pk).update(state=Item.State.RETIRED)
    report = comparison(run, touched=True)
    assert counts(report) == (0, 0) and report["n_units"] == 1
    Item.objects.filter(pk=two.pk).update(state=Item.State.ACTIVE)
    assert counts(comparison(run)) == (1, 1)


def test_ties_are_excluded_and_counted():
    project = project_of(4)
    run = make_suggestions(project, labels=SUGGESTED)
    anna, ben = make_rater(project), make_rater(project)
    one, two, three, _ = items_of(project)
    for item, a, b in ((one, YES, YES), (two, YES, NO), (three, NO, None)):
        say(item, anna, a)
        if b:
            say(item, ben, b)
    relevance = of_dimension(comparison(run), "relevance")
    assert relevance["votes"] == {"decided": 2, "tied": 1, "single": 1, "not_asked": 0, "unlabelled": 1}
    assert relevance["accuracy"]["estimate"] == 0.5
    assert relevance["accuracy"]["left_out"] == {"no reference": 2}


def test_stance_is_compared_where_both_found_the_evidence_relevant():
    project = project_of(4)
    run = make_suggestions(project, labels=SUGGESTED)
    one, two, three, four = items_of(project)
    run.suggestions.filter(unit=two.anchor, dimension="relevance").update(label=NO)
    raters = [make_rater(project) for _ in range(3)]
    for rater in raters:
        say(one, rater, YES, "supports")
        say(two, rater, YES, "supports")
    # Two of three find it irrelevant: the third's stance does not stand for the unit.
    say(three, raters[0], YES, "supports")
    say(three, raters[1], NO)
    say(three, raters[2], NO)
    # A tie about relevance decides nothing about the stance either.
    say(four, raters[0], YES, "supports")
    say(four, raters[1], NO)
    stance = of_dimension(comparison(run), "stance")
    assert stance["votes"] == {"decided": 2, "tied": 1, "single": 0, "not_asked": 1, "unlabelled": 0}
    assert stance["n_checker_not_asked"] == 1
    assert (stance["accuracy"]["estimate"], stance["accuracy"]["n_pairable"]) == (1.0, 1)
    seven = of_name(stance["with_unasked"]["figures"], "accuracy")
    assert (seven["n_pairable"], seven["estimate"]) == (3, pytest.approx(1 / 3))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("imported", "Imported decisions"),
        ("adjudicated", "Adjudicated decisions"),
        ("rule:strict", "Decisions of the rule strict"),
    ],
)
def test_decisions_are_a_reference_of_their_own(name, title):
    project = project_of(2)
    run = make_suggestions(project, labels=SUGGESTED)
    one, two = items_of(project)
    say(one, make_rater(project), NO)
    method, _, rule = name.partition(":")
    known = {"seen": UNSEEN}
    if rule:
        version = RuleRun.objects.create(project=project, name=rule, version=1, created_at=timezone.now())
        known = {"rule": rule, "rule_run": version}
    of_relevance = {"project": project, "dimension": "relevance"}
    Decision.objects.create(unit=one.anchor, label=YES, method=method, **of_relevance, **known)
    other = "adjudicated" if name == "imported" else "imported"
    Decision.objects.create(unit=two.anchor, label=NO, method=other, **of_relevance)
    report = comparison(run, reference=name)
    assert report["reference_title"] == title
    relevance = of_dimension(report, "relevance")
    assert relevance["votes"]["decided"] == 1 and relevance["accuracy"]["estimate"] == 1.0
    assert of_dimension(comparison(run), "relevance")["accuracy"]["estimate"] == 0.0


def test_scores_are_correlated_by_choice_and_a_constant_one_says_that_it_is():
    project = project_of(4)
    run = make_suggestions(project, labels=SUGGESTED)
    rater = make_rater(project)
    items = items_of(project)
    for item, label in zip(
        items, ("refutes", "insufficient-neutral", "insufficient-supports", "supports"), strict=True
    ):
        say(item, rater, YES, label)
    make_scores(
        run, "overlap", {item.anchor_id: value for item, value in zip(items, (0.1, 0.2, 0.3, None), strict=True)}
    )
    make_scores(run, "steady", {item.anchor_id: 0.5 for item in items})
    report = comparison(run)
    assert (report["score"], report["scores"]) == ("overlap", ["overlap", "steady"])
    found = of_dimension(report, "stance")["correlations"]
    assert of_name(found, "spearman")["estimate"] == pytest.approx(1.0)
    assert of_name(found, "spearman")["n_pairable"] == 3
    assert of_dimension(report, "relevance")["correlations"] == []  # nominal
    steady = of_name(of_dimension(comparison(run, score="steady"), "stance")["correlations"], "pearson")
    assert steady["estimate"] is None and steady["undefined"] == "the score is the same for every item"
    with pytest.raises(ValueError, match="it has overlap, steady"):
        comparison(run, score="nothing")


def test_precision_recall_and_f1_of_each_label_carry_their_intervals():
    """Claims are drawn whole: of eight claims two have an evidence that the checker takes for relevant and people do
    not, so that precision is 22 / 24."""
    project = project_of(24, claims=8)
    run = make_suggestions(project, labels=SUGGESTED)
    rater = make_rater(project)
    for number, item in enumerate(items_of(project)):
        say(item, rater, NO if number in (3, 12) else YES)
    report = comparison(run)
    relevant, not_relevant = of_dimension(report, "relevance")["per_label"]
    assert relevant["precision"]["estimate"] == pytest.approx(22 / 24) and relevant["precision"]["n_pairable"] == 24
    assert relevant["precision"]["low"] < 22 / 24 < relevant["precision"]["high"] <= 1
    assert relevant["precision"]["interval"]["n_clusters"] == 8
    assert "rests on only 8 clusters" in relevant["precision"]["interval"]["note"]
    # Whatever is drawn is found: resampling cannot tell how sure that is.
    assert relevant["recall"]["estimate"] == 1 and relevant["recall"]["low"] is None
    assert relevant["recall"]["interval"]["undefined"].startswith("every resample gives the same figure")
    assert relevant["f1"]["estimate"] == pytest.approx(44 / 46) and relevant["f1"]["high"] > 44 / 46
    assert not_relevant["precision"]["undefined"] == "the label is never predicted (0/0)"
    assert (not_relevant["recall"]["estimate"], not_relevant["support"], not_relevant["predicted"]) == (0, 2, 0)
    tables = get_report("comparison").tables(report)
    table = next(one for one in tables if one.title == "Relevance: per label")
    assert len(table.columns) == len(table.rows[0]) == 12 and table.columns[2:4] == (
        "Precision, low",
        "Precision, high",
    )
    first = of_dimension(comparison(run, quick=True), "relevance")["per_label"][0]
    assert first["f1"]["estimate"] == relevant["f1"]["estimate"] and first["f1"]["low"] is None
    assert first["f1"]["interval"]["undefined"] == PENDING


def test_cells_list_exactly_their_units():
    project = project_of(5)
    run = make_suggestions(project, labels=SUGGESTED)
    rater = make_rater(project)
    items = items_of(project)
    for item, label in zip(items, (YES, NO, YES, NO), strict=False):
        say(item, rater, label)
    report = comparison(run)
    assert of_dimension(report, "relevance")["confusion"] == [[2, 0], [2, 0]]
    cell = f"relevance.people={NO}&relevance.checker={YES}"
    assert units_behind(report, cell) == [items[1].anchor_id, items[3].anchor_id]
    assert units_behind(report, f"relevance.people.has=none&relevance.checker={YES}") == [items[4].anchor_id]


def test_a_run_of_another_project_is_refused():
    run = make_suggestions(project_of(1), labels=SUGGESTED)
    with pytest.raises(ValueError, match="has no finished checker run"):
        get_report("comparison").compute(project_of(1), run=str(run.uuid))


def test_nothing_labelled_is_a_report_with_reasons():
    run = make_suggestions(project_of(2), labels=SUGGESTED)
    relevance = of_dimension(comparison(run), "relevance")
    assert relevance["accuracy"]["undefined"] == "no unit has both a reference and a prediction"
    assert relevance["confusion"] == [[0, 0], [0, 0]]
    assert Annotation.objects.count() == 0


def test_the_command_prints_a_table_with_both_numbers_of_labels(capsys):
    project = project_of(2)
    run = make_suggestions(project, labels=SUGGESTED)
    for item in items_of(project):
        say(item, make_rater(project), YES, "supports")
    call_command("report", project.slug, "comparison", "--run", run.checker)
    printed = capsys.readouterr().out
    lines = printed.split("Relevance: agreement with people: counts")[1].splitlines()[2:8]
    counts = {title.strip(): int(n) for title, n in (line.rsplit("  ", 1) for line in lines)}
    assert counts == {
        "labels untouched by the checker": 2,
        "labels in all": 2,
        "units with a reference label": 2,
        "ties, excluded": 0,
        "decided by one label": 2,
        "units without a reference label": 0,
    }
    assert "Accuracy" in printed and "Imported" not in printed


def test_decisions_that_saw_the_checker_do_not_count_against_it_and_are_said(tmp_path, client):
    """Of four adjudications one was made by somebody who had been shown this checker's suggestion, one shown another's,
    one nothing, and of one nobody knows. From files as from the database, on the page, and for checkers alone."""
    project = project_of(4)
    run = make_suggestions(project, checker="first", labels=SUGGESTED)
    other = make_suggestions(project, checker="second", labels=SUGGESTED)
    items = items_of(project)
    seen = [{"runs": [{"run": str(one.uuid), "checker": one.checker}]} for one in (run, other)]
    for item, shown in zip(items, [*seen, UNSEEN, None], strict=True):
        place = {"project": project, "unit": item.anchor, "dimension": "relevance", "label": YES}
        Decision.objects.create(**place, method="adjudicated", seen=shown)
        Decision.objects.create(**place, method="imported")
    report = comparison(run, reference="adjudicated")
    assert of_dimension(report, "relevance")["votes"]["decided"] == 2
    assert (report["decisions_left_out"]["n"], report["decisions_left_out"]["n_all"]) == (2, 4)
    assert of_dimension(comparison(other, reference="adjudicated"), "relevance")["votes"]["decided"] == 2
    both = comparison(run, reference="adjudicated", other=str(other.uuid))
    assert len(units_behind(both, filters.of_versus("relevance.versus").encoded)) == 1
    everything = comparison(run, reference="adjudicated", touched=True)
    assert of_dimension(everything, "relevance")["votes"]["decided"] == 4 and not everything["decisions_left_out"]
    elsewhere = comparison(run, reference="imported")  # made without this Assay's checkers
    assert of_dimension(elsewhere, "relevance")["votes"]["decided"] == 4
    freezing.write_release(project, tmp_path / "release")
    from_files = get_report("comparison").compute(
        source_of_files(tmp_path / "release"), run=str(run.uuid), all=True, reference="adjudicated"
    )
    assert from_files["decisions_left_out"] == report["decisions_left_out"]
    assert from_files["dimensions"] == report["dimensions"]
    client.force_login(project.created_by)
    address = reverse("project_comparison", args=[project.slug]) + f"?run={run.uuid}&reference=adjudicated"
    client.get(address)
    for job in project.jobs.filter(kind="report"):
        lifecycle.run_here(job)
    assert "2 of 4 decisions are left out" in client.get(address).content.decode()


def test_an_answer_of_which_the_trace_was_lost_does_not_count_and_one_made_elsewhere_does():
    project = project_of(3)
    run = make_suggestions(project)
    member, person = make_rater(project, "Anna"), make_rater(project, "Ben", kind="imported")
    first, second, third = items_of(project)
    kept = say(first, member, "relevant")
    say(second, member, "relevant", shown=None)
    elsewhere = say(third, person, "relevant", shown=None)
    source = DatabaseSource(project)
    labels = source.label_frame(source.unit_frame(project.type.unit_kind), every_revision=True)
    counted = untouched(source, labels, source.run(str(run.uuid)))
    assert set(counted["annotation"]) == {kept.annotation_id, elsewhere.annotation_id}
