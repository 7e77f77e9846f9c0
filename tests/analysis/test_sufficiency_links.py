"""What opens behind each cell of the report on sufficient context, against sets that are counted out here."""

import pytest

from analysis.figures.tabular import Linked, value_of
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import ItemUnit
from tests.analysis.test_sufficiency import GRADE, GRADES, PLANTED, SUFFICIENCY, N, is_sufficient, records
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.world.planted import decide, suggest

KIND = get_report("sufficiency")
OUTCOME = {"c": "correct", "a": "abstain", "h": "hallucinate"}
UNDECIDED, UNRATED, UNGRADED = "q39", "q38", "q37/shy-rag"


class World:
    """40 questions: one nobody decided, one that the autorater left out; and answers, one of them without a grade."""

    def __init__(self):
        dataset = make_dataset()
        bring_in(dataset, records())
        self.project, grading = make_project(dataset, SUFFICIENCY), make_project(dataset, GRADE)
        self.keys = [f"q{number:02}" for number in range(N)]
        self.number = {key: number for number, key in enumerate(self.keys)}
        self.people = {key: is_sufficient(number) for key, number in self.number.items() if key != UNDECIDED}
        self.score = {key: number / N for key, number in self.number.items() if key != UNRATED}
        self.rated = {key: number % 3 > 0 for key, number in self.number.items() if key != UNRATED}
        said = {True: "sufficient", False: "insufficient"}
        decide(self.project, {key: said[one] for key, one in self.people.items()}, "sufficiency")
        labels = {key: said[one] for key, one in self.rated.items()}
        suggest(self.project, labels, "sufficiency", {key: {"sufficient": one, "insufficient": 1 - one}
                                                      for key, one in self.score.items()})  # fmt: skip
        self.outcome = {
            (system, key): outcomes[not is_sufficient(number)][number % (N // 2)]
            for system, outcomes in PLANTED.items()
            for key, number in self.number.items()
            if f"{key}/{'-'.join(system)}" != UNGRADED
        }
        grades = {f"{key}/{'-'.join(system)}": GRADES[one] for (system, key), one in self.outcome.items()}
        decide(grading, grades, "grade")
        source = DatabaseSource(self.project)
        self.result = KIND.compute(source, reference="imported", grades=grading.slug, withhold="confidence")
        units = ItemUnit.objects.filter(item__project=self.project).values_list("unit_id", "unit__key")
        self.key_of = dict(units)

    def opened(self, cell) -> list[str]:
        if not isinstance(cell, Linked):
            return []
        found = KIND.units_behind(self.result["behind"], cell.figure)
        assert found is not None, cell.figure
        return sorted(self.key_of[unit] for unit in found)

    def rows(self, beginning: str) -> list[dict]:
        table = next(one for one in KIND.tables(self.result) if one.title.startswith(beginning))
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    def where(self, holds) -> list[str]:
        return [key for key in self.keys if holds(key)]

    def context(self, group: str) -> list[str]:
        wanted = {"sufficient": True, "insufficient": False}
        return self.where(lambda key: group == "all" or self.people.get(key) is wanted[group])

    def answered(self, title: str, group: str, outcomes: str = "cah") -> list[str]:
        """Questions of a context to which a system has an answer with any of these outcomes."""
        systems = [system for system in PLANTED if title in ("all", " / ".join(system))]
        mine = {key for (system, key), one in self.outcome.items() if system in systems and one in outcomes}
        return [key for key in self.context(group) if key in mine]


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


def test_counts_of_questions_open_them(world):
    (row,) = world.rows("Context of the questions")
    assert world.opened(row["Questions"]) == world.keys
    assert world.opened(row["Share sufficient"]) == [key for key in world.keys if key != UNDECIDED]
    assert world.opened(row["Undecided"]) == [UNDECIDED]


def test_an_autorater_opens_the_questions_that_its_figures_are_computed_from(world):
    (row,) = world.rows("Autoraters against people")
    both = world.where(lambda key: key in world.people and key in world.rated)
    assert [world.opened(row[name]) for name in ("Questions", "F1", "Accuracy")] == [both] * 3
    assert world.opened(row["Precision"]) == [key for key in both if world.rated[key]]
    assert world.opened(row["Recall"]) == [key for key in both if world.people[key]]
    assert world.opened(row["People only"]) == [key for key in both if world.people[key] and not world.rated[key]]
    (scored,) = world.rows("Autoraters' scores")
    for name in ("ROC area", "F1 out of fold", "Accuracy out of fold"):
        assert world.opened(scored[name]) == [key for key in both if key in world.score]
    sweep = world.rows("Autoraters at every threshold")
    assert len(sweep) == 19
    for row in sweep:
        taken = [key for key in both if world.score[key] >= row["Threshold"]]
        predicted = row["Predicted sufficient"]
        assert world.opened(predicted) == taken and value_of(predicted) == len(taken)


def test_shares_of_answers_open_the_questions_that_were_answered(world):
    for row in world.rows("Answers by sufficiency"):
        title, group = row["Data set / model / setting"], row["Context"]
        graded = world.answered(title, group)
        assert [world.opened(row[name]) for name in ("Answers", "Correct", "Abstain")] == [graded] * 3
        for letter, name in OUTCOME.items():
            assert world.opened(row[f"{name}, n"]) == world.answered(title, group, letter)
    for row in world.rows("Sufficient minus insufficient"):
        title = row["Data set / model / setting"]
        both = sorted(world.answered(title, "sufficient") + world.answered(title, "insufficient"))
        assert world.opened(row["Correct"]) == world.opened(row["Hallucinate"]) == both
    (row,) = world.rows("Context settings against each other")
    assert world.opened(row["Correct"]) == world.keys  # both settings answer everything


def test_withheld_answers_open_questions_with_a_score_and_abstentions(world):
    for row in world.rows("Withholding answers"):
        title = row["Data set / model / setting"]
        answered = world.answered(title, "all")
        assert [world.opened(row[name]) for name in ("Answers", "Area", "Gain")] == [answered] * 3
        assert world.opened(row["Abstained"]) == world.answered(title, "all", "a")


def test_contains_answer_opens_questions_by_what_the_answer_says(world):
    for row in world.rows("Contains-answer"):
        title, group = row["Data set / model / setting"], row["Context"]
        answered = world.answered(title, group)
        assert world.opened(row["Answers"]) == world.opened(row["Agreement"]) == answered
        right = world.answered(title, group, "c")
        assert world.opened(row["Judged correct"]) == right
        # Who is right says so in the words of the ground truth, but for every fourth question.
        assert world.opened(row["Contain an answer"]) == [key for key in right if world.number[key] % 4]
        assert world.opened(row["Without ground truth"]) == []


def test_nothing_opens_behind_0(world):
    raters = [row | {"counts": row["counts"] | {"rest": 0}} for row in world.result["autoraters"]]
    tables = KIND.tables(world.result | {"autoraters": raters})
    cells = [cell for table in tables for row in table.rows for cell in row]
    counts = [one.value for one in cells if isinstance(one, Linked) and isinstance(one.value, int)]
    assert 0 in cells and counts and 0 not in counts
