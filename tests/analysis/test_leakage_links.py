"""What opens behind each cell of the report on leakage, against sets that are counted out here from the labels."""

import pytest

from analysis.figures.tabular import Linked, value_of
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Evidence, ItemUnit
from tests.factories import make_project
from tests.world.leaked import REPETITIONS, N, claim, document, is_matched, leaked, pair_labels, retrieve
from tests.world.planted import decide, suggest

pytestmark = pytest.mark.django_db
E, NO = "entailment", "non-entailment"
KIND = get_report("leakage")
WITHOUT_LABEL, WITHOUT_SUGGESTION, WITHOUT_GOLD = claim(39), claim(38), claim(5)


class World:
    """Pairs of 40 claims with two documents each. People say nothing of one claim, the checker nothing of another, and
    nothing entailed in the second repetition; a third claim has no gold evidence."""

    def __init__(self):
        dataset = leaked()
        Evidence.objects.filter(dataset=dataset, claim__key=WITHOUT_GOLD).update(is_gold=False)
        self.project = make_project(dataset, "nli/two-way/1")
        labels = pair_labels(E, NO)
        self.people = {pair: label == E for pair, label in labels.items() if not pair.startswith(WITHOUT_LABEL)}
        self.checker = {
            pair: label == E and "-0/" in pair
            for pair, label in labels.items()
            if not pair.startswith(WITHOUT_SUGGESTION)
        }
        said = {True: E, False: NO}
        decide(self.project, {pair: said[one] for pair, one in self.people.items()}, "entailment")
        run = suggest(self.project, {pair: said[one] for pair, one in self.checker.items()}, "entailment")
        for repetition in REPETITIONS:
            retrieve(self.project, repetition)
        source = DatabaseSource(self.project)
        self.result = KIND.compute(source, reference="imported", run=str(run.uuid), similarity="none")
        units = ItemUnit.objects.filter(item__project=self.project).values_list("unit_id", "unit__key")
        self.key_of = dict(units)
        self.pairs = sorted(labels)
        self.documents = sorted({pair.rpartition("/")[0] for pair in labels})

    def opened(self, cell) -> list[str]:
        return self.behind(cell.figure) if isinstance(cell, Linked) else []

    def behind(self, figure: str) -> list[str]:
        found = KIND.units_behind(self.result["behind"], figure)
        assert found is not None, figure
        return sorted(self.key_of[unit] for unit in found)

    def rows(self, title: str) -> list[dict]:
        table = next(one for one in KIND.tables(self.result) if one.title == title)
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows]

    def of_documents(self, holds) -> list[str]:
        return [pair for pair in self.pairs if holds(pair.rpartition("/")[0])]

    def verdict(self, said: dict[str, bool], name: str) -> str:
        mine = [said.get(f"{name}/p{place}") for place in range(2)]
        return "matched" if True in mine else "undecided" if None in mine else "unmatched"

    def cells(self, level: str) -> dict[str, list[str]]:
        """Pairs by what both sides say of each, or of its document."""
        found: dict[str, list[str]] = {}
        for pair in self.pairs:
            name = pair.rpartition("/")[0]
            if level == "pairs":
                sides = self.people.get(pair), self.checker.get(pair)
            else:
                known = {"matched": True, "unmatched": False, "undecided": None}
                sides = tuple(known[self.verdict(said, name)] for said in (self.people, self.checker))
            found.setdefault(sides, []).append(pair)
        return found


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)


def test_generators_open_their_generations_by_what_each_side_says(world):
    (row,) = world.rows("Generations that contain gold evidence")
    assert world.opened(row["Documents"]) == world.opened(row["Claims"]) == world.pairs
    for side in ("people", "checker"):
        said = getattr(world, side)
        for verdict in ("matched", "unmatched", "undecided"):
            mine = [name for name in world.documents if world.verdict(said, name) == verdict]
            assert mine and value_of(row[f"{side}: {verdict}"]) == len(mine)
            assert world.opened(row[f"{side}: {verdict}"]) == world.of_documents(lambda name, mine=mine: name in mine)
        decided = world.of_documents(lambda name, said=said: world.verdict(said, name) != "undecided")
        assert world.opened(row[f"{side}: share matched"]) == decided


def test_comparisons_open_the_cells_that_a_figure_is_computed_from(world):
    counts = {row["Level"]: row for row in world.rows("What each side calls matched")}
    for row in world.rows("Matching against people's labels"):
        cells = world.cells(row["Level"])

        def of(*sides, cells=cells):
            return sorted(sum((cells.get(side, []) for side in sides), []))

        every = of((True, True), (True, False), (False, True), (False, False))
        for name in ("n", "F1", "Accuracy", "Cohen's kappa"):
            assert world.opened(row[name]) == every
        by_other, by_reference = of((True, True), (False, True)), of((True, True), (True, False))
        assert world.opened(row["Precision"]) == world.opened(row["Matched by the other"]) == by_other
        assert world.opened(row["Recall"]) == world.opened(row["Matched by the reference"]) == by_reference
        alone = counts[row["Level"]]
        assert world.opened(alone["Without the other's label"]) == of((True, None), (False, None)) != []
        assert world.opened(alone["Without a reference"]) == of((None, True), (None, False)) != []
        assert world.opened(alone["Reference only"]) == of((True, False)) != []


@pytest.mark.parametrize("measure", ["Recall@5", "NDCG@10"])
def test_retrievals_open_the_claims_for_which_there_is_the_measure(world, measure):
    groups: dict[str, set[str]] = {"matched": set(), "unmatched": set(), "all claims": set()}
    for number in range(N):
        if claim(number) == WITHOUT_GOLD:
            continue
        for repetition in REPETITIONS:
            name = world.verdict(world.people, document(number, repetition))
            groups["all claims"].add(claim(number))
            groups.setdefault(name, set()).add(claim(number))
    of = {name: world.of_documents(lambda one, m=mine: one.partition("/")[0] in m) for name, mine in groups.items()}
    assert is_matched(0, 0) and not is_matched(0, 1)
    for row in world.rows(measure):
        assert value_of(row["n"]) == len(groups[row["Claims"]])
        assert world.opened(row["n"]) == world.opened(row[measure]) == of[row["Claims"]]
    (test,) = world.rows(f"{measure}: matched minus unmatched")
    both = sorted({*of["matched"], *of["unmatched"]})
    assert world.opened(test["Difference"]) == world.opened(test["P(matched > unmatched)"]) == both
    assert world.opened(test["n matched"]) == of["matched"] and world.opened(test["n unmatched"]) == of["unmatched"]
    assert world.opened(test["In both"]) == world.of_documents(lambda name: name.startswith(claim(0)))
    picture = next(one for one in KIND.pictures(world.result) if one.title.startswith(measure))
    assert [world.behind(item.figure) for item in picture.items] == [of[item.series] for item in picture.items]


@pytest.mark.parametrize(
    "figure", ["generator=9&generation.people=matched", "comparison0=a", "a=b", "&".join("a" * 200)]
)
def test_a_figure_that_there_is_not_opens_nothing(world, figure):
    assert KIND.units_behind(world.result["behind"], figure) is None
