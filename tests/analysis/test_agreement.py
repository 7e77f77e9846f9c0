"""What the agreement report counts, what it leaves out, and what it says where there is nothing to say."""

import pytest

from analysis.reports.metrics import get_report
from annotation.models import Item
from tests.factories import make_dataset, make_project
from tests.world.labels import items_of, make_rater, of_dimension, of_name, project_of, say, units_behind

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


def agreement(project, **parameters):
    return get_report("agreement").compute(project, all=True, **parameters)


def test_figures_of_two_people_are_those_worked_out_by_hand():
    # Of four pairs of labels three agree; alpha = 1 - 7 * 2 / (2 * 5 * 3) from coincidences by hand.
    project = project_of(4)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    for item, (a, b) in zip(items_of(project), [(YES, YES), (YES, YES), (YES, NO), (NO, NO)], strict=True):
        say(item, anna, a)
        say(item, ben, b)
    relevance = of_dimension(agreement(project), "relevance")
    assert of_name(relevance["figures"], "percent_agreement")["estimate"] == 0.75
    assert of_name(relevance["figures"], "krippendorff_alpha_nominal")["estimate"] == pytest.approx(1 - 7 * 2 / 30)
    [pair] = relevance["pairs"]
    assert (pair["a"], pair["b"], pair["n_pairable"], pair["percent_agreement"]["estimate"]) == ("Anna", "Ben", 4, 0.75)
    assert pair["estimate"] == pytest.approx(0.5)  # chance agreement 1/2


def test_only_the_newest_revision_counts_and_surplus_never_does():
    project = project_of(2)
    anna, ben, late = (make_rater(project) for _ in range(3))
    first, second = items_of(project)
    say(first, anna, NO)
    say(first, anna, YES)
    say(first, ben, YES)
    say(first, late, NO, surplus=True)
    say(second, anna, YES)
    say(second, late, NO, surplus=True)
    relevance = of_dimension(agreement(project), "relevance")
    assert relevance["n_labels"] == 3
    found = of_name(relevance["figures"], "percent_agreement")
    assert (found["estimate"], found["n_pairable"], found["left_out"]) == (1.0, 1, {"one label only": 1})


def test_retired_items_are_left_out_with_their_labels():
    project = project_of(3)
    anna, ben = make_rater(project), make_rater(project)
    for item in items_of(project):
        say(item, anna, YES)
        say(item, ben, NO)
    Item.objects.filter(pk=items_of(project)[0].pk).update(state=Item.State.RETIRED)
    report = agreement(project)
    assert (report["n_items"], report["n_units"]) == (2, 2)
    assert of_dimension(report, "relevance")["n_labels"] == 4
    assert len(units_behind(report, "relevance=disagree")) == 2


def test_stance_is_over_pairs_that_both_found_relevant_and_the_figure_with_irrelevant_stands_beside():
    project = project_of(4)
    anna, ben = make_rater(project), make_rater(project)
    one, two, three, four = items_of(project)
    say(one, anna, YES, "supports")
    say(one, ben, YES, "supports")
    say(two, anna, YES, "supports")
    say(two, ben, YES, "refutes")
    say(three, anna, YES, "supports")
    say(three, ben, NO)
    say(four, anna, NO)
    say(four, ben, NO)
    stance = of_dimension(agreement(project), "stance")
    found = of_name(stance["figures"], "percent_agreement")
    assert (found["n_pairable"], found["estimate"]) == (2, 0.5)
    assert found["left_out"] == {"one label only": 1, "no label": 1}
    seven = stance["with_unasked"]
    assert seven["label"] == "not_applicable"
    found = of_name(seven["figures"], "percent_agreement")
    assert (found["n_pairable"], found["estimate"]) == (4, 0.5)  # items one and four agree


def test_people_form_pairs_and_exchangeable_slots_do_not():
    project = project_of(3)
    members = [make_rater(project, name) for name in ("Anna", "Ben")]
    slots = [make_rater(project, f"vote {number}", "slot") for number in (1, 2, 3)]
    for item in items_of(project):
        for rater in (*members, *slots):
            say(item, rater, YES)
        say(item, make_rater(project, kind="slot"), NO)
    everybody = agreement(project)
    assert everybody["groups"] == ["all", "members", "imported"]
    assert everybody["exchangeable"] and everybody["n_raters"] == 8
    assert [(pair["a"], pair["b"]) for pair in of_dimension(everybody, "relevance")["pairs"]] == [("Anna", "Ben")]
    members_only = agreement(project, raters="members")
    assert not members_only["exchangeable"] and members_only["n_raters"] == 2
    assert of_dimension(members_only, "relevance")["n_labels"] == 6
    imported = agreement(project, raters="imported")
    assert of_dimension(imported, "relevance")["n_labels"] == 12
    assert of_dimension(imported, "relevance")["pairs"] == []
    with pytest.raises(ValueError, match="raters is one of"):
        agreement(project, raters="nobody")


def test_people_called_alike_are_told_apart_and_named_never_by_row_numbers():
    project = project_of(2)
    for name in ("Anna", "Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, YES if name == "Ben" else NO)
    pairs = of_dimension(agreement(project), "relevance")["pairs"]
    names = {pair["a"] for pair in pairs} | {pair["b"] for pair in pairs}
    assert len(pairs) == 3 and len(names) == 3 and "Ben" in names
    assert all(name == "Ben" or name.startswith("Anna (r-") for name in names)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ([(YES, None), (None, YES)], "no unit has two labels"),
        ([(YES, None), (NO, None)], "no unit has two labels"),
        ([(YES, YES), (YES, YES)], "only one label was used"),
    ],
    ids=["no item shared", "one rater", "agreement on one label"],
)
def test_undefined_says_why(labels, reason):
    project = project_of(2)
    anna, ben = make_rater(project), make_rater(project)
    for item, (a, b) in zip(items_of(project), labels, strict=True):
        if a:
            say(item, anna, a)
        if b:
            say(item, ben, b)
    alpha = of_name(of_dimension(agreement(project), "relevance")["figures"], "krippendorff_alpha_nominal")
    assert alpha["estimate"] is None and alpha["low"] is None
    assert alpha["undefined"].startswith(reason)


def test_a_project_without_items_has_a_report():
    report = agreement(make_project(make_dataset()))
    assert (report["n_items"], report["n_units"], report["n_raters"]) == (0, 0, 0)
    for dimension in report["dimensions"]:
        assert all(figure["estimate"] is None and figure["undefined"] for figure in dimension["figures"])


def test_units_are_counted_by_how_many_labels_they_have_and_can_be_listed():
    project = project_of(4)
    anna, ben = make_rater(project), make_rater(project)
    one, two, three, four = items_of(project)
    for item, labels in ((one, (YES, YES)), (two, (YES, NO)), (three, (YES,))):
        for rater, label in zip((anna, ben), labels, strict=False):
            say(item, rater, label)
    report = agreement(project)
    found = of_name(of_dimension(report, "relevance")["figures"], "percent_agreement")
    assert (found["n_units"], found["left_out"]) == (4, {"one label only": 1, "no label": 1})
    for name, item in (("agree", one), ("disagree", two), ("single", three), ("unlabelled", four)):
        assert units_behind(report, f"relevance={name}") == [item.anchor_id]


def test_abstained_answers_are_counted_though_nothing_in_them_can_be_judged():
    report = agreement(project_of(3, "triplets/-/1", triplets=[2, 0, 0]))
    assert (report["n_items"], report["n_items_without_units"], report["n_units"]) == (1, 2, 2)


def test_sources_have_their_own_figures_and_cover_all_units():
    project = project_of(4, claims=2)  # claims come from two sources in turn
    anna, ben = make_rater(project), make_rater(project)
    for item in items_of(project):
        source = item.anchor.evidence.claim.source
        say(item, anna, YES)
        say(item, ben, YES if source.startswith("source0") else NO)
    rows = of_dimension(agreement(project), "relevance")["by_source"]
    assert [(row["source"], row["n_units"], row["percent_agreement"]["estimate"]) for row in rows] == [
        ("source0.example.org", 2, 1.0),
        ("source1.example.org", 2, 0.0),
    ]


def test_intervals_resample_claims():
    project = project_of(6, claims=2)
    anna, ben = make_rater(project), make_rater(project)
    for number, item in enumerate(items_of(project)):
        say(item, anna, YES if number % 2 else NO)
        say(item, ben, YES if number % 3 else NO)
    interval = of_name(of_dimension(agreement(project), "relevance")["figures"], "percent_agreement")["interval"]
    assert (interval["n_clusters"], interval["n_resamples"]) == (2, 1000)


def test_pairs_and_sources_beyond_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr("analysis.reports.agreement.agreement.parts.MAX_PAIRS", 1)
    monkeypatch.setattr("analysis.reports.agreement.agreement.parts.MAX_SOURCES", 1)
    project = project_of(4, claims=2)
    raters = [make_rater(project) for _ in range(3)]
    for item in items_of(project):
        for rater in raters:
            say(item, rater, YES)
    relevance = of_dimension(agreement(project), "relevance")
    assert (len(relevance["pairs"]), relevance["n_pairs_not_listed"]) == (1, 2)
    assert (len(relevance["by_source"]), relevance["n_sources_not_listed"]) == (1, 1)
