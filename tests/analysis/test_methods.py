"""Methods paragraphs say what was computed: their numbers are those of the result, and change with the options."""

import re

import pytest

from analysis.reports.metrics import get_report
from analysis.reports.words.methods import paragraph
from annotation import __version__
from annotation.models import Decision, Suggestion
from tests.factories import make_suggestions
from tests.kinds import make_kind_project
from tests.world.labels import items_of, make_rater, make_scores, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
N = 34
STANCES = ("refutes", "insufficient-neutral", "supports")


@pytest.fixture
@remembered
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
    assert f"Computed with Assay {__version__} from the labels of {project.slug}" in said
    return said, result


def test_agreement_names_its_coefficients_levels_and_what_is_left_out(project):
    said, result = said_of("agreement", project, all=True)
    stance = of_dimension(result, "stance")
    assert "everyone who labelled (3 raters) on 34 units of 34 items" in said
    assert f"For stance (ordinal, 6 labels, {stance['n_labels']} given)" in said
    assert "1,000 bootstrap resamples of whole claims or questions" in said and "17 at most" in said
    assert f"{stance['chance']['n_permutations']:,} permutations" in said
    only, _ = said_of("agreement", project, all=True, raters="members")
    assert "members of the project" in only
    nobody, _ = said_of("agreement", project, all=True, raters="imported")
    assert "Nobody has labelled any of the 34 units" in nobody


def test_comparison_says_against_whom_with_which_tests_and_for_how_many_they_are_adjusted(project):
    first, second = run_of(project, "first", 4), run_of(project, "second", 3)
    # Checkers that are right on the same units leave nothing to test: the second is right once where the first is not.
    irrelevant = items_of(project)[10].anchor
    Suggestion.objects.filter(run=second, unit=irrelevant, dimension="relevance").update(label="not_relevant")
    make_scores(first, "support", {item.anchor_id: 0.1 * (n % 10) for n, item in enumerate(items_of(project))})
    make_scores(first, "length", {item.anchor_id: 1.0 * (n % 7) for n, item in enumerate(items_of(project))})
    said, result = said_of("comparison", project, run=str(first.uuid), all=True)
    assert "The checker first 1 was compared with people (majority of people, ties excluded) on 34 units" in said
    assert "Only labels given before the annotator saw a suggestion of the checker are counted" in said
    n = of_dimension(result, "stance")["accuracy"]["n_pairable"]
    assert f"For stance n = {n} (left out:" in said and n < N
    assert "It was compared with second 1" in said
    assert "within 0.05 (Schuirmann 1987)" in said and "(2 at most) were adjusted" in said
    assert "The score support was correlated" in said and "Williams" not in said
    other, _ = said_of(
        "comparison",
        project,
        run=str(first.uuid),
        all=True,
        other_score="length",
        touched=True,
        margin=0.1,
        reference="dawid-skene",
    )
    assert "Correlations of support and of length with the same labels were compared by a paired permutation" in other
    assert "for whole claims or questions (2,000 swaps; Deutsch, Dror and Roth 2021)" in other
    assert "Williams's t and Steiger's Z" in other and "treat units as independent" in other.partition("Steiger")[2]
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
    assert "in 4 answers" in said and "1 answer without a decided label was left out" in said


def test_coverage_says_what_counts_as_covered_and_what_is_left_out():
    project = make_kind_project("aspect-coverage/-/1")  # six answers to two questions with two aspects each
    items = items_of(project)
    units = [[link.unit for link in item.item_units.order_by("index")] for item in items]
    assert [len(found) for found in units] == [2] * 6
    nobody, _ = said_of("coverage", project)
    assert "Means are over the 0 answers that have a coverage (left out: 6 with too few labels)" in nobody
    for item, found in zip(items[:4], units, strict=False):
        for name, labels in (("Anna", ("covered", "covered")), ("Ben", ("covered", "not_covered"))):
            rater, _ = project.raters.get_or_create(name=name, kind="external")
            annotation = item.annotations.create(rater=rater)
            revision = annotation.revisions.create(number=1, suggestion_shown=None)
            for unit, label in zip(found, labels, strict=True):
                revision.judgements.create(unit=unit, dimension="coverage", label=label)
    said, _ = said_of("coverage", project)
    assert "12 aspects in 6 answers to 2 questions" in said and "(16 labels)" in said
    assert "Tied aspects count neither as covered nor among the aspects (4)" in said
    assert "4 aspects have no label; missing labels were not imputed" in said
    assert "over the 4 answers that have a coverage (left out: 2 with too few labels)" in said
    strict, _ = said_of("coverage", project, k=3, ties="not_covered")
    assert "12 aspects have fewer than 3 labels" in strict and "Tied aspects count as not covered (0)" in strict
    for unit in units[0]:
        Decision.objects.create(project=project, unit=unit, dimension="coverage", label="covered", method="imported")
    decided, _ = said_of("coverage", project, reference="imported")
    assert "by imported decisions (2 of them)" in decided and "Tied aspects" not in decided
    assert "10 aspects have no label" in decided and "1 answer that has a coverage" in decided
