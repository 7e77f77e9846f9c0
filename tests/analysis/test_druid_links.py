"""What opens behind each cell of DRUID's tables and pictures, against sets that are counted out here from the data."""

import numpy as np
import pytest

from analysis.figures.items import Filter, Items
from analysis.figures.tabular import Linked, value_of
from analysis.reports.metrics import get_report
from tests.world.druid import ANSWERS, SIX, PlantedSource, answer_scores

REPORT = get_report("druid")
SOURCES = ("a/b.org", "50 % off?", "c#d&e")
VERDICTS = ("Half/true", "", "False")
N, N_CLAIMS = 72, 24
MODELS = ("x%y", "z")
SIGNS = {
    "refutes": (1, -1, -1),
    "insufficient-refutes": (1, 1, -1),
    "insufficient-contradictory": (-1, 1, -1),
    "insufficient-neutral": (-1, 1, -1),
    "insufficient-supports": (-1, 1, 1),
    "supports": (-1, -1, 1),
    "not_applicable": (-1, 1, -1),
}
PAPER = (("refutes",), ("insufficient-refutes", "insufficient-contradictory", "insufficient-neutral"), ("supports",))


class Planted(PlantedSource):
    def content(self, kind):
        found = super().content(kind)
        return found.assign(verdict=[VERDICTS[claim % 3] for claim in range(N_CLAIMS)]) if kind == "claim" else found


class World:
    """72 pairs of 24 claims. Most have two labels, some one, some none; people are divided about every eleventh."""

    def __init__(self):
        rng = np.random.default_rng(11)
        self.units = list(range(N))
        self.claim = [unit // 3 for unit in self.units]
        self.source = [SOURCES[claim % 3] for claim in self.claim]
        self.verdict = [VERDICTS[claim % 3] for claim in self.claim]
        self.gold = (rng.random(N) < 0.3).tolist()
        said = [(*SIX, "not_applicable")[place] for place in rng.integers(7, size=N)]
        one = [None if unit % 13 == 0 else said[unit] for unit in self.units]
        two = [None if unit % 5 == 0 else one[unit] for unit in self.units]
        for unit in range(0, N, 11):
            one[unit], two[unit] = "refutes", "insufficient-neutral"
        self.n_labels = [sum(label is not None for label in labels) for labels in zip(one, two, strict=True)]
        self.stance = [None if unit % 11 == 0 else one[unit] for unit in self.units]
        self.n_stances = [
            int(first not in (None, "not_applicable")) + int(second not in (None, "not_applicable"))
            for first, second in zip(one, two, strict=True)
        ]
        self.length = np.where(rng.random(N) < 0.2, np.nan, rng.integers(1, 90, N))
        self.flesch = np.where(np.isnan(self.length), np.nan, rng.normal(50, 9, N))
        self.hedging = np.where(np.arange(N) % 6 == 1, np.nan, rng.integers(0, 2, N))
        self.before, self.after = {}, {}
        for model in MODELS:
            before, after = rng.dirichlet([1, 1, 1], N), rng.dirichlet([1, 1, 1], N)
            before[3::17] = (0.4, 0.4, 0.2)  # two answers as probable
            before[4], after[4] = (0, 0, 1), (0, 0, 1)  # certain, and stays so
            after[5] = (0.2, np.nan, 0.8)
            self.before[model], self.after[model] = before, after
        measured = {"evidence_length": self.length, "evidence_flesch": self.flesch, "hedging": self.hedging}
        measured["claim_length"] = rng.integers(1, 9, N)
        scores = [("characteristics", {}, measured)]
        scores += [
            ("answer-probabilities", {"model": model}, answer_scores(self.before[model], self.after[model]))
            for model in MODELS
        ]
        sources = [SOURCES[claim % 3] for claim in range(N_CLAIMS)]
        planted = Planted(self.claim, [one, two], scores, sources=sources, gold=self.gold)
        self.result = REPORT.compute(planted, test="units")
        titles = {one["name"]: one["title"] for one in self.result["stances"]}
        self.names = {title: (name,) for name, title in titles.items()}
        self.names |= {", ".join(titles[one] for one in stances): stances for stances in PAPER}
        self.names |= {"all relevant": SIX}

    def rows(self, beginning: str):
        table = next(one for one in REPORT.tables(self.result) if one.title.startswith(beginning))
        assert table.rows
        for row in table.rows:
            yield dict(zip(table.columns, row, strict=True))

    def opened(self, cell) -> list[int]:
        """Of a cell without a link nothing; whatever a cell opens must be there and have words."""
        if not isinstance(cell, Linked):
            return []
        return self.behind(cell.figure)

    def behind(self, figure: str) -> list[int]:
        found = REPORT.units_behind(self.result["behind"], figure)
        assert found is not None, figure
        assert Items.from_json(self.result["behind"]).words(Filter.decoded(figure))
        return found

    def where(self, holds) -> list[int]:
        return [unit for unit in self.units if holds(unit)]

    def under(self, name: str) -> list[int]:
        return self.where(lambda unit: name in ("all", self.source[unit]))

    def of(self, title: str) -> list[int]:
        """Units of a stance by its title, or of several."""
        return self.where(lambda unit: self.stance[unit] in self.names[title])

    def values(self, title: str) -> np.ndarray:
        known = {"Evidence length": self.length, "Flesch reading ease": self.flesch, "Contains hedging": self.hedging}
        return known.get(title, np.zeros(N))

    def answer(self, table: np.ndarray, unit: int) -> str | None:
        row = table[unit].tolist()
        if np.isnan(row).any() or sorted(row)[-1] == sorted(row)[-2]:
            return None
        return ANSWERS[row.index(max(row))]

    def change(self, model: str, unit: int) -> list[float | None]:
        """dP of each answer, of equation 1."""
        found = []
        for before, after in zip(self.before[model][unit], self.after[model][unit], strict=True):
            room = 1 - before if after >= before else before
            found.append(None if np.isnan(after) or room == 0 else (after - before) / room)
        return found

    def uses(self, model: str, unit: int) -> bool:
        return self.stance[unit] is not None and None not in self.change(model, unit)


@pytest.fixture(scope="module")
def world():
    return World()


def named(cell) -> str:
    return value_of(cell)


def test_sources_open_their_evidence_gold_evidence_and_pairs_with_two_labels(world):
    for row in world.rows("Claims and evidence by source"):
        name = named(row["Source"])
        here = world.under(name)
        assert [world.opened(row[one]) for one in ("Claims", "Pairs")] == [here] * 2
        assert world.opened(row["Gold evidence"]) == [unit for unit in here if world.gold[unit]]
        assert world.opened(row["Alpha, relevance, nominal"]) == [unit for unit in here if world.n_labels[unit] > 1]
        stances = [unit for unit in here if world.n_stances[unit] > 1]
        assert world.opened(row["Alpha, stance, nominal"]) == world.opened(row["Alpha, stance, ordinal"]) == stances


def test_conflicts_and_verdicts_open_the_evidence_of_their_claims(world):
    stances = [[world.stance[unit] for unit in world.units if world.claim[unit] == claim] for claim in range(N_CLAIMS)]
    for row in world.rows("Claims with conflicting evidence"):
        name = named(row["Source"])
        here = world.under(name)
        both = [
            unit
            for unit in here
            if world.stance[unit] and sum(one is not None for one in stances[world.claim[unit]]) > 1
        ]
        assert world.opened(row["With two stances or more"]) == both == world.opened(row["Share"])
        against = [unit for unit in both if {"refutes", "supports"} <= set(stances[world.claim[unit]])]
        decided = [unit for unit in against if world.stance[unit] in ("refutes", "supports")]
        assert world.opened(row["In conflict"]) == decided
    assert {named(row["Verdict"]) for row in world.rows("Claims by verdict")} == {"Half/true", "none", "False"}
    for row in world.rows("Claims by verdict"):
        verdict = named(row["Verdict"]).replace("none", "")
        assert world.opened(row["Claims"]) == world.where(lambda unit, verdict=verdict: world.verdict[unit] == verdict)


def test_labels_open_their_pairs_of_each_source(world):
    for row in world.rows("Stance of evidence (tables 8 and 9)"):
        if row["Label"].startswith("no label"):
            continue
        assert world.opened(row["Pairs"]) == world.of(row["Label"])
    rows = list(world.rows("Stance of evidence by source"))
    titles = [label["title"] for label in world.result["content"]["dimensions"][-1]["labels"]]
    assert {row["Source"] for row in rows} == set(SOURCES) and len(titles) > 5
    for row in rows:
        for title in titles:
            here = [unit for unit in world.of(title) if world.source[unit] == row["Source"]]
            assert world.opened(row[title]) == here and len(here) == value_of(row[title])


def test_means_of_characteristics_open_the_pairs_that_have_a_value(world):
    for beginning, of in (
        ("Characteristics of evidence (table 10)", lambda row: world.units),
        ("Characteristics of evidence by stance", lambda row: world.of(row["Stance"])),
        ("Characteristics of evidence by source", lambda row: world.under(row["Source"])),
    ):
        for row in world.rows(beginning):
            values, here = world.values(row["Characteristic"]), of(row)
            known = [unit for unit in here if not np.isnan(values[unit])]
            assert [world.opened(row[one]) for one in ("Mean", "SD", "Pairs")] == [known] * 3, row
            assert world.opened(row["Undefined"]) == [unit for unit in here if np.isnan(values[unit])]


def test_context_usage_opens_the_pairs_that_have_it(world):
    for row in world.rows("Accumulated context usage"):
        here = world.of(row["Stance"])
        used = [unit for unit in here if world.uses(row["Model"], unit)]
        cells = ("acu_mean", "acu_mean, SD", "acu_sum", "acu_sum, SD", "Pairs")
        assert [world.opened(row[cell]) for cell in cells] == [used] * 5
        assert world.opened(row["Undefined"]) == [unit for unit in here if unit not in used]
    assert {4, 5} & {unit for row in world.rows("Accumulated") for unit in world.opened(row["Undefined"])}
    for row in world.rows("Difference of context usage"):
        used = [unit for unit in world.of(row["Stance"]) if all(world.uses(model, unit) for model in MODELS)]
        assert [world.opened(row[cell]) for cell in ("acu_mean", "acu_sum", "Pairs")] == [used] * 3


def test_changes_of_probabilities_open_the_pairs_of_each_answer(world):
    deviations = world.rows("Standard deviation of these changes")
    for row, deviation in zip(world.rows("Change of probabilities"), deviations, strict=True):
        for place, answer in enumerate(("False", "None", "True")):
            here = [unit for unit in world.of(row["Stance"]) if world.change(row["Model"], unit)[place] is not None]
            assert world.opened(row[f"dP({answer})"]) == world.opened(deviation[f"dP({answer}), SD"]) == here


@pytest.mark.parametrize(("beginning", "column"), [("Answers with evidence", "Stance"), ("The same in", "Evidence")])
def test_shifts_open_the_answers_and_the_moves(world, beginning, column):
    rows = list(world.rows(beginning))
    if column == "Stance":
        moves = world.rows("Desired moves and memory conflicts")
        rows = [row | more for row, more in zip(rows, moves, strict=True)]
    for row in rows:
        model, title = row["Model"], row[column]
        before = {unit: world.answer(world.before[model], unit) for unit in world.of(title)}
        after = {unit: world.answer(world.after[model], unit) for unit in before}
        known = [unit for unit in before if before[unit] and after[unit]]
        assert world.opened(row["Pairs"]) == known
        for answer in ANSWERS:
            words = answer.capitalize()
            assert world.opened(row[words]) == [unit for unit in known if after[unit] == answer]
            moved = [unit for unit in known if (after[unit] == answer) != (before[unit] == answer)]
            assert world.opened(row[f"{words}, change"]) == moved
        sign = dict(zip(ANSWERS, SIGNS[world.names[title][-1]], strict=True))
        assert world.opened(row["Desired moves"]) == [unit for unit in known if sign[before[unit]] != sign[after[unit]]]
        against = {"refutes": "true", "supports": "false"}
        conflicts = [unit for unit in known if before[unit] == against.get(world.stance[unit])]
        if column == "Evidence":
            assert world.opened(row["Memory conflicts, share"]) == conflicts
            continue
        assert world.opened(row["per pair"]) == known
        assert world.opened(row["Memory conflicts"]) == conflicts and len(conflicts) == value_of(
            row["Memory conflicts"]
        )
        assert world.opened(row["Share"]) == [unit for unit in before if before[unit]]


def test_correlations_open_the_pairs_with_both_values(world):
    for model in MODELS:
        for name in ("Spearman", "Pearson"):
            for row in world.rows(f"{name} correlation of characteristics with context usage, {model}"):
                values, here = world.values(row["Characteristic"]), world.of(row["Stance"])
                both = [unit for unit in here if world.uses(model, unit) and not np.isnan(values[unit])]
                assert [world.opened(row[cell]) for cell in ("Pairs", "Claims", name)] == [both] * 3


def test_places_in_pictures_open_what_their_cells_do(world):
    pictures = {one.name: one for one in REPORT.pictures(world.result)}
    for name, of in (
        ("characteristics", world.of),
        ("stances", world.of),
        ("sources", world.under),
        ("correlations-0", lambda title: [unit for unit in world.of(title) if world.uses(MODELS[1], unit)]),
        ("correlations-1", lambda title: [unit for unit in world.of(title) if world.uses(MODELS[0], unit)]),
    ):
        picture = pictures[name]
        if name.startswith("correlations"):
            assert picture.title.endswith(f", {MODELS[1] if name.endswith('0') else MODELS[0]}")
        for row, figures in zip(picture.rows, picture.figures, strict=True):
            for column, figure in zip(picture.columns, figures, strict=True):
                known = [unit for unit in of(column) if not np.isnan(world.values(row)[unit])]
                assert (world.behind(figure) if figure else []) == known
    for item in pictures["usage"].items:
        assert world.behind(item.figure) == [unit for unit in world.of(item.row) if world.uses(item.series, unit)]


def test_every_link_leads_somewhere_and_what_is_stored_stays_modest(world):
    cells = [cell for table in REPORT.tables(world.result) for row in table.rows for cell in row]
    linked = {cell.figure for cell in cells if isinstance(cell, Linked)}
    assert len(linked) > 200 and all(world.behind(figure) is not None for figure in linked)
    # A column for what the data are and for each characteristic, and six for each model; none for a figure.
    assert set(world.result["behind"]["columns"]) == {
        *("source", "claim", "gold", "several", "conflict", "verdict", "relevance", "stance"),
        *(f"pairable.{name}" for name in world.result["content"]["metrics"]),
        *(f"of.{name}" for name in SOURCES),
        *(f"value.{name}" for name in ("evidence_length", "evidence_flesch", "hedging", "claim_length")),
        *(f"{name}{model}" for name in ("usage", "before", "after", "shift") for model in (0, 1)),
        *(f"change{model}.{answer}" for model in (0, 1) for answer in ANSWERS),
    }
    wanted = Filter({"value.evidence_length": "undefined"})
    assert REPORT.units_behind(world.result["behind"], wanted.encoded) == world.where(
        lambda unit: np.isnan(world.length[unit])
    )


def test_claims_whose_evidence_is_split_open_all_of_it():
    """Evidence of one claim comes from two sources: the claim counts under both, with its other evidence."""
    planted = PlantedSource([0, 0, 1, 1], [["supports", "refutes", "supports", None]])
    frame = planted.unit_frame
    planted.unit_frame = lambda kind: frame(kind).assign(source=["a", "b", "b", "b"])
    result = REPORT.compute(planted)
    (conflicts,) = [one for one in REPORT.tables(result) if one.title.startswith("Claims with conflicting")]
    opened = {
        row[0]: [REPORT.units_behind(result["behind"], row[place].figure) for place in (1, 2, 3)]
        for row in conflicts.rows
    }
    assert opened == {
        "all": [[0, 1, 2, 3], [0, 1], [0, 1]],
        "b": [[1, 2, 3], [0, 1], [0, 1]],
        "a": [[0], [0, 1], [0, 1]],
    }


@pytest.mark.parametrize("figure", ["value=nothing", "value.hedging=yes", "stance=x", "usage7=defined"])
def test_a_figure_that_there_is_not_opens_nothing(world, figure):
    assert REPORT.units_behind(world.result["behind"], figure) is None
