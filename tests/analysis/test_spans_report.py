"""The report on marked passages: planted marks are found again, in value and in order, whoever reads them."""

import numpy as np
import pytest

from analysis.figures.items import Filter, Items
from analysis.figures.tabular import Person
from analysis.reports.metrics import get_report
from annotation.task_types import every_task_type
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.world.labels import (
    in_order_of_keys,
    items_of,
    make_rater,
    of_dimension,
    of_name,
    project_of,
    say,
    units_behind,
)

pytestmark = pytest.mark.django_db

TEXT = "The harbour froze over in the winter of that year, and carts crossed it. " * 3


def marking_project(n: int, **fields):
    dataset = make_dataset()
    make_claim_evidence(dataset, n, claims=max(1, n // 3), texts=[TEXT] * n)
    return make_project(dataset, order="file", **fields)


def mark(item, rater, start, end, stance="supports"):
    spans = (("evidence", start, end, TEXT[start:end]),) if end > start else ()
    say(item, rater, "relevant", stance, spans=spans)


def found(project, **options):
    report = get_report("spans")
    result = report.compute(project, **options)
    return of_dimension(result, "stance"), result, report


def value(rows, name):
    return of_name(rows, name)["estimate"]


def test_planted_distances_are_found_again():
    """Marks of 40 characters: y is 4 from x, z is 20 from x and 16 from y. Characters in common: 36, 20, 24 of 40."""
    project = marking_project(12)
    x, y, z = (make_rater(project, name) for name in ("Xenia", "Yves", "Zoe"))
    for place, item in enumerate(items_of(project)):
        for rater, moved in ((x, 0), (y, 4), (z, 20)):
            mark(item, rater, 5 * place + moved, 5 * place + moved + 40)
    stance, _, _ = found(project)
    pairs = {(row["a"], row["b"]): value(row["figures"], "character_f1") for row in stance["pairs"]}
    assert pairs == pytest.approx({("Xenia", "Yves"): 0.9, ("Yves", "Zoe"): 0.6, ("Xenia", "Zoe"): 0.5})
    figures = stance["figures"]
    assert value(figures, "character_f1") == pytest.approx(2 / 3)
    assert value(figures, "character_iou") == pytest.approx((36 / 44 + 20 / 60 + 24 / 56) / 3)
    assert (value(figures, "exact_f1"), value(figures, "overlap_f1")) == (0, 1)
    for row in stance["pairs"] + stance["labels"] + stance["fields"]:
        for one in row["figures"][:4]:
            said = one["interval"]["undefined"]  # all marks are moved alike, so no measure varies
            assert one["low"] is None and said.startswith("every resample gives the same figure"), one["name"]
    alphas = [value(row["figures"], "u_alpha") for row in sorted(stance["pairs"], key=lambda row: (row["a"], row["b"]))]
    assert alphas[0] > alphas[2] > alphas[1]


def test_more_noise_gives_less_of_every_measure():
    rng = np.random.default_rng(4)
    by_noise = []
    for noise in (0, 4, 15):
        project = marking_project(30)
        raters = [make_rater(project) for _ in range(2)]
        for item in items_of(project):
            start = int(rng.integers(20, 120))
            for rater in raters:
                moved = start + int(rng.integers(-noise, noise + 1))
                mark(item, rater, moved, moved + 40)
        stance = found(project)[0]
        figures = stance["figures"]
        by_noise.append({one["name"]: one["estimate"] for one in figures if one["name"] not in ("cu_alpha",)})
        for one in (of_name(figures, "u_alpha"), *(stance["pairs"] + stance["labels"])[0]["figures"][1:4]):
            assert noise == 0 or one["name"] == "overlap_f1" or one["low"] < one["estimate"] < one["high"]
    for name in ("character_f1", "character_iou", "character_alpha", "u_alpha", "gamma"):
        none, some, much = (one[name] for one in by_noise)
        assert none == 1
        assert none > some > much, name
    # Both ends move by the difference d of two uniform draws: characters in common are 40 - |d|, and |d| is 3.0 for 4.
    assert by_noise[1]["character_f1"] == pytest.approx(1 - 3.0 / 40, abs=0.025)


def test_labels_are_told_apart_and_open_the_units_behind_them():
    project = marking_project(4)
    x, y = make_rater(project), make_rater(project)
    same, other_label, apart, one_sided = items_of(project)
    for rater in (x, y):
        mark(same, rater, 0, 10)
    mark(other_label, x, 0, 10)
    mark(other_label, y, 0, 10, "refutes")
    mark(apart, x, 0, 10)
    mark(apart, y, 50, 60)
    mark(one_sided, x, 0, 10)
    mark(one_sided, y, 0, 0)
    stance, result, report = found(project)
    assert stance["outcomes"] == {"same": 2, "overlap": 0, "apart": 1, "one": 1, "none": 0, "single": 0}
    assert units_behind(result, "stance.same=yes") == in_order_of_keys([same, other_label])
    assert units_behind(result, "stance.apart=yes") == [apart.anchor_id]
    assert units_behind(result, "stance.label.refutes=yes") == [other_label.anchor_id]
    assert value(stance["figures"], "character_f1") == pytest.approx((1 + 1 + 0 + 0) / 4)
    by_label = {row["label"]: row["figures"] for row in stance["labels"]}
    assert value(by_label["supports"], "exact_f1") == pytest.approx(1 / 4)
    assert value(by_label["refutes"], "exact_f1") == 0
    assert (stance["n_answers"], stance["n_marking"], stance["n_spans"]) == (8, 7, 7)
    items = Items.from_json(result["behind"])
    assert items.words(Filter({"stance.label.refutes": "yes"})) == "Stance: a highlight under Refutes"


def test_people_can_be_compared_where_they_gave_one_label_or_marked_something():
    project = marking_project(3)
    x, y = make_rater(project), make_rater(project)
    agree, differ, silent = items_of(project)
    mark(agree, x, 0, 10)
    mark(agree, y, 0, 10)
    mark(differ, x, 0, 10)
    mark(differ, y, 0, 10, "refutes")
    mark(silent, x, 0, 10)
    mark(silent, y, 0, 0)
    exact = {
        who: of_name(found(project, who=who)[0]["figures"], "exact_f1") for who in ("answered", "same-label", "marked")
    }
    assert {who: one["estimate"] for who, one in exact.items()} == {
        "answered": pytest.approx(2 / 3),
        "same-label": 0.5,
        "marked": 1,
    }
    assert [one["n_pairable"] for one in exact.values()] == [3, 2, 2]


def test_passages_of_a_unit_lie_end_to_end():
    """Two people, three triplets: the same passage, another passage, and the same characters of another passage."""
    project = project_of(1, "triplets/-/1", triplets=3)
    (item,) = items_of(project)
    x, y = make_rater(project), make_rater(project)
    passages = {x: ("passage-1", "passage-1", "passage-1"), y: ("passage-1", "passage-2", "passage-2")}
    for rater, fields in passages.items():
        revision = say(item, rater, labels={index: "entailment" for index in range(3)})
        for judgement, field in zip(revision.judgements.order_by("unit__triplet__index"), fields, strict=True):
            judgement.spans.create(field=field, start=0, end=7, quote="Passage")
    result = get_report("spans").compute(project)
    entailment = of_dimension(result, "entailment")
    assert value(entailment["figures"], "exact_f1") == pytest.approx(1 / 3)
    assert [row["field"] for row in entailment["fields"]] == ["passage-1", "passage-2"]
    # Of the three units in which x marked passage 1, y did so in one; of passage 2 y marked two and x none.
    assert [value(row["figures"], "exact_f1") for row in entailment["fields"]] == [pytest.approx(1 / 3), 0]
    length = sum(len(f"Passage {rank} of 0.") for rank in range(2))
    assert of_name(entailment["figures"], "character_alpha")["n_units"] == 3 * length


def test_tables_and_words_say_what_was_computed():
    project = marking_project(6)
    x, y = make_rater(project, "Xenia"), make_rater(project, "Yves")
    for place, item in enumerate(items_of(project)):
        mark(item, x, place, place + 20)
        mark(item, y, place + 5, place + 25)
    people = tuple(Person(rater.name, rater.pseudonym) for rater in (x, y))
    stance, result, report = found(project)
    tables = {table.title: table for table in report.tables(result)}
    title = stance["title"]
    agreement = {row[0]: row for row in tables[f"{title}: agreement on highlights"].plain().rows}
    assert agreement["Character F1"][1] == pytest.approx(0.75)
    assert agreement["Gamma"][1] == value(stance["figures"], "gamma")
    # All are moved alike, so no measure of these varies, which the tables say below.
    for name in ("agreement on highlights", "highlights by label", "highlights by pair of people"):
        assert "Without an interval: every resample gives the same" in tables[f"{title}: {name}"].below
    assert tables[f"{title}: highlights by pair of people"].rows[0][:2] == people
    assert tables[f"{title}: highlights by pair of people"].plain().rows[0][2] == 6
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)
    (picture,) = report.pictures(result)
    assert "12 highlights" in picture.caption
    methods = report.methods(result)
    assert "6 units that two people or more looked at (12 highlights)" in methods
    assert "1000 random continua" in methods
    assert "bootstrap" in methods


def test_a_first_pass_has_numbers_without_intervals_and_no_gamma():
    from analysis.figures.results import PENDING
    from tests.world.labels import quickly

    project = marking_project(3)
    x, y = make_rater(project), make_rater(project)
    for item in items_of(project):
        mark(item, x, 0, 10)
        mark(item, y, 5, 15)
    with quickly():
        stance, result, report = found(project)
    assert value(stance["figures"], "character_f1") == 0.5
    assert not any(one["name"] == "gamma" for one in stance["figures"])
    parts = (row["figures"] for row in (stance, *stance["labels"], *stance["fields"], *stance["pairs"]))
    assert all(one["interval"]["undefined"] == PENDING for figures in parts for one in figures)
    assert report.body(result)


def test_without_marks_everything_is_undefined_with_its_reason():
    project = marking_project(2)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            mark(item, rater, 0, 0)
    stance, result, report = found(project)
    assert all(one["estimate"] is None and one["undefined"] for one in stance["figures"])
    assert stance["outcomes"]["none"] == 2
    assert not report.pictures(result)
    assert report.methods(result)
    assert found(marking_project(1))[0]["n_answers"] == 0


def test_a_mark_beyond_its_text_leaves_the_unit_out_and_is_counted():
    project = marking_project(2)
    x, y = make_rater(project), make_rater(project)
    whole, cut = items_of(project)
    for rater in (x, y):
        mark(whole, rater, 0, 10)
        say(cut, rater, "relevant", "supports", spans=(("evidence", 0, len(TEXT) + 5, TEXT),))
    stance, _, report = found(project)
    assert stance["n_unknown"] == 1
    assert stance["n_texts"] == 1
    assert value(stance["figures"], "exact_f1") == 1


def test_projects_without_marks_and_unknown_choices_are_refused():
    report = get_report("spans")
    reasons = {kind.identifier: report.fits(kind) for kind in every_task_type()}
    assert reasons["claim-evidence/six-way/1"] == ""
    assert reasons["answer-grade/-/1"] == "it asks for no highlights"
    with pytest.raises(ValueError, match="who is one of answered, same-label, marked"):
        report.compute(marking_project(1), who="nobody")
    with pytest.raises(ValueError, match="raters is one of"):
        report.compute(marking_project(1), raters="some")


def test_the_page_begins_with_its_answer():
    project = marking_project(9)
    report = get_report("spans")
    x, y = make_rater(project), make_rater(project)
    for item in items_of(project):
        mark(item, x, 0, 0)
    begins = report.page_of(report.compute(project)).answer
    assert begins.sentences == ("Stance: nothing has been highlighted.",) and "two people" in begins.next
    for place, item in enumerate(items_of(project)):
        mark(item, x, place, place + 20)
    begins = report.page_of(report.compute(project)).answer
    assert begins.sentences[0].startswith("Stance: u-alpha is undefined: ") and "a second person" in begins.next
    for place, item in enumerate(items_of(project)):
        mark(item, y, place + place % 4, place + 20)
    result = report.compute(project)
    begins, u_alpha = report.page_of(result).answer, of_name(of_dimension(result, "stance")["figures"], "u_alpha")
    said = f"{u_alpha['estimate']:.3f} [{u_alpha['low']:.3f}, {u_alpha['high']:.3f}]"
    (told, *_) = begins.sentences
    assert f"= {said}, over 9 units that two people or more looked at." in told
    assert "People highlight the same text more often than expected by chance." in told
    assert "Two people share" in begins.sentences[0] and begins.picture and not begins.next
    assert f"stance {said}" in report.methods(result)


@pytest.mark.parametrize(
    ("low", "estimate", "high", "says"),
    [
        (-0.1, 0.1, 0.3, "Agreement beyond chance is not shown: the interval includes zero."),
        (-0.5, -0.3, -0.1, "People highlight the same text less often than expected by chance."),
        (None, 0.5, None, "(no interval: one cluster)."),
    ],
)
def test_what_an_interval_shows_is_said(low, estimate, high, says):
    project = marking_project(2)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            mark(item, rater, 0, 10)
    report = get_report("spans")
    result = report.compute(project)
    of_name(of_dimension(result, "stance")["figures"], "u_alpha").update(
        low=low, estimate=estimate, high=high, undefined="", interval={"undefined": "one cluster"}
    )
    [sentence] = report.page_of(result).answer.sentences
    assert f"{estimate:.3f}" in sentence and sentence.endswith(says)
