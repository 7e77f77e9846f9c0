"""Methods paragraphs say what was computed: their numbers are those of the result, and change with the options."""

import re

import pytest

from analysis.reports.methods import paragraph
from analysis.reports.metrics import get_report
from annotation.models import Suggestion
from tests.analysis.world import items_of, make_rater, make_scores, of_dimension, project_of, say
from tests.factories import make_suggestions

pytestmark = pytest.mark.django_db
N = 34
STANCES = ("refutes", "insufficient-neutral", "supports")


@pytest.fixture
def project():
    project = project_of(N, claims=N // 2)
    for place, name in enumerate(("Anna", "Ben", "Cleo")):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            if number % 11 == 10:
                say(item, rater, "not_relevant")
            else:
                say(
                    item,
                    rater,
                    "relevant",
                    STANCES[(number + (number + place) // 7) % 3],
                    active_ms=9000 + 300 * number,
                )
    return project


def run_of(project, checker: str, wrong: int):
    run = make_suggestions(project, checker=checker, labels={"relevance": "relevant"})
    for number, item in enumerate(items_of(project)):
        label = STANCES[(number + (number % wrong == 0)) % 3]
        values = project.type.dimension("stance").values
        share = {value: 0.6 if value == label else 0.4 / (len(values) - 1) for value in values}
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="stance").update(
            label=label, probability=0.6, probabilities=share
        )
    return run


def said_of(name: str, project, **options) -> tuple[str, dict]:
    report = get_report(name)
    result = report.compute(project, **options)
    said = paragraph(report, result)
    assert said.startswith(report.methods(result)) and said != report.methods(result)
    assert not re.search(r"None|\bnan\b|\{|\}|  | ,|\.\.|\(\)", said), said
    assert said.endswith(".") and said[0].isupper()
    return said, result


def test_agreement_names_its_coefficients_levels_and_what_is_left_out(project):
    said, result = said_of("agreement", project)
    stance = of_dimension(result, "stance")
    assert "everybody who labelled (3 raters) on 34 units of 34 items" in said
    assert f"For stance (ordinal, 6 labels, {stance['n_labels']} given)" in said
    assert "Krippendorff's alpha (ordinal)" in said and "Gwet's AC2 (ordinal weights)" in said
    assert "1,000 bootstrap resamples of whole claims or questions" in said and "17 at most" in said
    assert f"{stance['chance']['n_permutations']:,} permutations" in said
    only, _ = said_of("agreement", project, raters="members")
    assert "members of the project" in only
    nobody, _ = said_of("agreement", project, raters="imported")
    assert "Nobody has labelled any of the 34 units" in nobody


def test_comparison_says_against_whom_with_which_tests_and_for_how_many_they_are_adjusted(project):
    first, _ = run_of(project, "first", 4), run_of(project, "second", 3)
    make_scores(first, "support", {item.anchor_id: 0.1 * (n % 10) for n, item in enumerate(items_of(project))})
    make_scores(first, "length", {item.anchor_id: 1.0 * (n % 7) for n, item in enumerate(items_of(project))})
    said, result = said_of("comparison", project, run=str(first.uuid))
    assert "The checker first 1 was held against people (majority of people, ties excluded) on 34 units" in said
    assert "Only labels count that were given before a suggestion of the checker was seen" in said
    n = of_dimension(result, "stance")["accuracy"]["n_pairable"]
    assert f"For stance n = {n} (left out:" in said and n < N
    assert "It was set against second 1" in said and "McNemar's exact test" in said and "Brier score" in said
    assert "within 0.05 (Schuirmann 1987)" in said and "(2 at most) were adjusted" in said
    assert "The score support was correlated" in said and "Williams" not in said
    other, _ = said_of(
        "comparison",
        project,
        run=str(first.uuid),
        other_score="length",
        touched=True,
        margin=0.1,
        reference="dawid-skene",
    )
    assert "Correlations of support and of length" in other and "Williams's t and Steiger's Z" in other
    assert "All labels of people count" in other and "within 0.1 (" in other
    assert "Dawid and Skene's model (1979) of the people" in other


def test_annotators_prevalence_and_the_alternative_annotator_say_what_they_suppose(project):
    first, second = run_of(project, "first", 4), run_of(project, "second", 3)
    said, result = said_of("annotators", project, checkers="with")
    assert "with second 1 and first 1 as raters" in said and "fewer than 10 units" in said
    alone, _ = said_of("annotators", project)
    assert "from labels of people alone" in alone and "as raters" not in alone
    said, result = said_of("alternative-annotator", project, epsilon=0.15)
    assert "Whether second 1 or first 1 could stand in" in said and "epsilon = 0.15" in said and "q = 0.05" in said
    assert "fewer than 30 units" in said and "for stance the root mean squared difference" in said
    said, result = said_of("prevalence", project, run=str(first.uuid))
    both = max(dimension["n_both"] for dimension in result["dimensions"])
    assert f"and first 1 (at most {both})" in said and "random sample" in said
    said, result = said_of("difference", project, run=str(second.uuid), other=str(first.uuid))
    stance = of_dimension(result, "stance")
    assert f"stance {stance['n_changed']} of {stance['n_both']}" in said and "total variation" in said


def test_rates_say_how_they_are_averaged():
    project = project_of(4, "triplets/-/1", triplets=[2, 1, 1, 0])
    rater = make_rater(project)
    for item in items_of(project)[:2]:
        say(item, rater, labels={0: "entailment"})
    said, result = said_of("rates", project)
    assert "in 4 answers" in said and "unweighted" in said and "1 answers without a decided label" in said
    assert "The abstain rate is the share of answers in which there is nothing to judge" in said
