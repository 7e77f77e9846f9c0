"""What opens behind each cell of the ICAT report, against sets that are counted out here from labels and scores."""

import pytest

from analysis.figures.items import Filter, Items
from analysis.reports.metrics import get_report
from annotation.formats.records import response_aspect_key
from annotation.models import Judgement, Unit
from tests.analysis.test_icat_report import (
    ASPECTS,
    DIMENSION,
    PLANTED,
    QUERIES,
    baseline_scores,
    by_machine,
    by_people,
    icat_scores,
    make_planted,
    report_of,
    units,
)
from tests.world.planted import score, suggest

KIND = get_report("icat")
NOTHING = {name: dict.fromkeys(units(by_people)) for name in ("meteor", "bertscore")}
FEW, ONE_LABEL, NO_CLAIMS, NOT_COVERED, NOT_SUGGESTED = "good/q00", "good/q01", "brief/q00", "wild/q02", "wild/q03"


class World:
    """60 answers with four aspects each. Nobody labelled an aspect of the first, and one person an aspect of another;
    the scorer has no claims of a third and nothing of an aspect of a fourth, and the checker is silent on a fifth."""

    def __init__(self):
        self.answers = [f"{model}/q{number:02}" for model in PLANTED for number in range(QUERIES)]
        self.units = {
            name: [response_aspect_key(name, f"{name[-3:]}/a{place}") for place in range(ASPECTS)]
            for name in self.answers
        }
        labels = {key: "covered" if one else "not_covered" for key, one in units(by_people).items()}
        self.project = make_planted(labels)
        of = Judgement.objects.filter(revision__annotation__item__project=self.project)
        of.filter(unit__key=self.units[FEW][0]).delete()
        of.filter(unit__key=self.units[ONE_LABEL][3]).exclude(revision__annotation__rater__name="Ann").delete()
        scores = icat_scores()
        scores["claims"] |= dict.fromkeys(self.units[NO_CLAIMS])
        scores["covered"][self.units[NOT_COVERED][0]] = None
        run = score(self.project, "icat", scores)
        suggested = dict.fromkeys(units(by_people), "covered")
        for key in self.units[NOT_SUGGESTED]:
            del suggested[key]
        checker = suggest(self.project, suggested, DIMENSION, checker="lexical")
        baselines = score(self.project, "text-baselines", baseline_scores() | NOTHING)
        options = {"automatic": str(run.uuid), "baselines": str(baselines.uuid)}
        self.result = report_of(self.project, **options)
        self.items = Items.from_json(self.result["behind"])
        self.key_of = dict(Unit.objects.filter(dataset=self.project.dataset).values_list("pk", "key"))
        self.of_machine = {str(run.uuid): units(by_machine), str(checker.uuid): dict.fromkeys(suggested, True)}
        del self.of_machine[str(run.uuid)][self.units[NOT_COVERED][0]]
        self.titles = {one["title"]: one["key"] for one in self.result["compared"]}
        # The third person says of every first aspect that it is not covered, and is outvoted; of the others all agree.
        self.people = {key: one for key, one in units(by_people).items() if key != self.units[FEW][0]}

    def behind(self, wanted: Filter | None) -> list[str]:
        return sorted(self.key_of[unit] for unit in self.items.units_of(wanted)) if wanted else []

    def rows(self, beginning: str) -> list[dict]:
        """Rows of a table by column: what each cell opens, and the value of those that can open nothing."""
        table = next(one for one in KIND.page_of(self.result).tables() if one.title.startswith(beginning))
        return [
            {one.title: self.behind(one.items(row)) if one.items else one.value(row) for one in table.columns}
            for row in table.rows
        ]

    def aspects(self, answers) -> list[str]:
        return sorted(key for name in answers for key in self.units[name])

    def by(self, model: str) -> list[str]:
        return [name for name in self.answers if model in ("all models", name.partition("/")[0])]

    def has_machine(self, machine: str, name: str) -> bool:
        return all(key in self.of_machine[machine] for key in self.units[name])


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


def test_means_open_the_aspects_of_answers_that_have_the_figure(world):
    for row in world.rows("Coverage by people"):
        mine = world.by(row["Model"])
        assert row["Answers"] == world.aspects(mine)
        assert row["Coverage by people"] == world.aspects(name for name in mine if name != FEW)
    scored = {"Factuality": {NO_CLAIMS}, "Coverage by supported claims": {NOT_COVERED}}
    scored |= dict.fromkeys(("Answers with a score", "ICAT, beta 1"), {NO_CLAIMS, NOT_COVERED})
    for row in world.rows("Factuality, coverage and ICAT"):
        for column, without in scored.items():
            expected = world.aspects(name for name in world.by(row["Model"]) if name not in without)
            assert row[column] == expected, column


def test_correlations_and_dots_open_answers_with_both_values(world):
    both = {}
    for row in world.rows("Automatic coverage of answers"):
        machine = world.titles[row["Measure"]]
        both[machine] = [name for name in world.answers if name != FEW and world.has_machine(machine, name)]
        assert row["Answers"] == row["Correlation"] == world.aspects(both[machine])
    assert {len(mine) for mine in both.values()} == {58}
    for row in world.rows("Baselines"):
        expected = [] if row["Measure"] in ("METEOR", "BERTScore") else [name for name in world.answers if name != FEW]
        assert row["Answers"] == world.aspects(expected)
    scatter = next(one for one in KIND.pictures(world.result) if one.name == "coverage-by-people-and-machine")
    assert len(scatter.points) == 58
    assert all(world.behind(Filter.decoded(point.figure)) == world.units[point.title] for point in scatter.points)


def test_detection_opens_the_aspects_that_it_counts(world):
    for of in ("mean over answers", "all aspects together"):
        for row in world.rows(f"Aspects judged covered, against people: {of}"):
            says = world.of_machine[world.titles[row["Machine"]]]
            known = [key for key in world.people if key in says]
            denominators = {
                "Precision": {key for key in known if says[key]},
                "Recall": {key for key in known if world.people[key]},
                "F1": {key for key in known if says[key] or world.people[key]},
            }
            for name, counted in denominators.items():
                answers = {key.rpartition("/a")[0] for key in counted}
                expected = {
                    "mean over answers": [key for key in known if key.rpartition("/a")[0] in answers],
                    "all aspects together": known if name == "F1" else counted,
                }[of]
                assert row[name] == sorted(expected)


def test_agreement_opens_aspects_by_their_labels(world):
    (row,) = world.rows("Agreement of the annotators")
    every = {key for name in world.answers for key in world.units[name]}
    several = sorted(every - {world.units[FEW][0], world.units[ONE_LABEL][3]})
    assert [row[name] for name in ("Aspects", "With three labels or more", "Kappa")] == [several] * 3
    assert world.result["agreement"]["fleiss"]["n_pairable"] == len(several)
