"""Which systems people prefer: strengths with intervals, what sways choices, and judges against people."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import PENDING, Ends, Figure, number
from analysis.reports.effects import to_effect
from analysis.reports.estimates import bounded_figure, coded_labels, share_figure, to_figure
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.rates.preferences.report import (
    TITLES,
    BiasRow,
    ConcordanceRow,
    JudgeRankingRow,
    JudgeRow,
    PairRow,
    Preferences,
    Ranks,
    ScoreRow,
    SystemRow,
)
from analysis.sources.base import Source
from analysis.sources.outline import MAJORITY, Run
from analysis.stats import (
    Choices,
    Concordance,
    SystemRanking,
    best_worst_scores,
    fit_strengths,
    kendall_tau_b,
    krippendorff_alpha,
    rank_agreement,
    rank_concordance,
    rank_systems,
)
from analysis.stats.agreement.alpha import Alpha
from annotation.formats.records import SAME_OUTPUT, SYSTEMS
from annotation.formats.tools.preferences import SWAPPED
from annotation.task_types import Dimension
from annotation.task_types.base import OUTPUTS, PLACES, REST

PAIRS = tuple(combinations(range(len(OUTPUTS)), 2))
NOTHING = 2  # a label says nothing of a pair
TIED, UNKNOWN, SAME = (
    "choices without a winner among more than two outputs",
    "choices between outputs whose systems are not all known",
    "choices between outputs of one system",
)


@dataclass(frozen=True, eq=False)
class ComparedOutputs:
    """The comparisons, in the order of units: systems of each output by number (-1: none), (n, 5, most of an output),
    characters of outputs (-1: no such output), (n, 5), and the prompt of each by number."""

    units: pd.DataFrame
    system: np.ndarray
    characters: np.ndarray
    names: list[str]
    cluster: np.ndarray

    @property
    def n_outputs(self) -> np.ndarray:
        return (self.characters >= 0).sum(axis=1)


def compute(source: Source, *, reference: str = MAJORITY, quick: bool = False) -> tuple[Preferences, Items]:
    """The report on preferences: of all labels of people, or of decisions where `reference` names them."""
    kind = source.type
    dimension = kind.comparing
    orders = orders_by_label(dimension)
    compared = _compared(source)
    units = compared.units
    people = source.label_frame(units)
    people = people[people["dimension"] == dimension.slug].reset_index(drop=True)
    answers = people
    if reference != MAJORITY:
        decided = source.decision_frame(reference)
        decided = decided[decided["dimension"] == dimension.slug]
        answers = decided.assign(rater="", annotation=-1).reset_index(drop=True)
    answers = _with_places(answers, units, dimension)
    choices, left_out = _choices(compared, answers, orders)
    ranking = rank_systems(choices, quick=quick)
    items = new_items(units, decisions="" if reference == MAJORITY else reference)
    pairs = _pairs(items, compared, choices, ranking)
    add_judgements(items, kind, people)
    cycles, n_triples = _cycles(choices, compared.names)
    return Preferences(
        reference=reference,
        reference_title=TITLES[reference],
        n_units=int(answers["place"].nunique()),
        n_answers=len(answers),
        n_people=int(people["rater"].nunique()) if reference == MAJORITY else 0,
        n_prompts=int(len(np.unique(compared.cluster[answers["place"]]))),
        n_choices=len(choices.outcome),
        left_out={why: n for why, n in left_out.items() if n},
        undefined=ranking.undefined,
        tie=number(ranking.tie),
        cycles=cycles,
        n_triples=n_triples,
        alpha=to_figure(_alpha(compared, dimension, people, orders), quick=quick),
        ranks=_ranks(dimension),
        concordance=_concordance(compared, dimension, people, orders),
        scores=_scores(compared, dimension, answers, ranking.order),
        systems=_systems(compared, choices, ranking, quick=quick),
        pairs=pairs,
        biases=_biases(compared, answers, orders, source.shown_orders(), quick=quick),
        judges=_judges(source, compared, dimension, people, orders, ranking, quick=quick),
        judge_rankings=_judge_rankings(source, compared, dimension, people, orders),
    ), items


def _ranks(dimension: Dimension) -> Ranks:
    if not dimension.takes_ranking:
        return "best"
    return "ends" if any(REST in label.ranks for label in dimension.labels) else "all"


def orders_by_label(dimension: Dimension) -> np.ndarray:
    """What each label says of each of PAIRS: 1 where the first is better, -1 where the second is, 0 where they are
    equal, or NOTHING."""
    compares = [[label.compares(OUTPUTS[i], OUTPUTS[j]) for i, j in PAIRS] for label in dimension.labels]
    return np.array([[NOTHING if one is None else one for one in row] for row in compares], dtype=np.int8)


def _compared(source: Source) -> ComparedOutputs:
    units = source.unit_frame(source.type.unit_kind)
    rows = source.content("comparison").set_index("key").reindex(units["unit_key"])
    systems = rows[list(SYSTEMS)].fillna("").to_numpy(dtype=str)
    texts = rows[list(OUTPUTS)].fillna("")
    characters = np.column_stack([texts[name].str.len() for name in OUTPUTS]).astype(int)
    characters[characters == 0] = -1
    systems[characters < 0] = ""
    code, written = pd.factorize(systems.ravel())
    several = [sorted({*filter(None, map(str.strip, one.split(SAME_OUTPUT)))}) for one in written]
    names = sorted({name for one in several for name in one})
    number_of = {name: place for place, name in enumerate(names)}
    numbers = np.full((len(several), max([1, *map(len, several)])), -1)
    for place, one in enumerate(several):
        numbers[place, : len(one)] = [number_of[name] for name in one]
    cluster = pd.factorize(units["cluster"])[0]
    of_system = numbers[code.reshape(systems.shape)]
    return ComparedOutputs(units, of_system, characters, names, cluster)


def _with_places(answers: pd.DataFrame, units: pd.DataFrame, dimension: Dimension) -> pd.DataFrame:
    """Answers about these units, with the unit's `place` and the label's number, `code`."""
    place = pd.Index(units["unit"]).get_indexer(answers["unit"])
    answers = answers.assign(place=place, code=pd.Index(dimension.values).get_indexer(answers["label"]))
    return answers[(place >= 0) & (answers["code"] >= 0)].reset_index(drop=True)


def _of_pairs(compared: ComparedOutputs, answers: pd.DataFrame, orders: np.ndarray) -> np.ndarray:
    """What each answer says of each of PAIRS. Two outputs tie where a label names none of them."""
    has = compared.characters[answers["place"]] >= 0
    found = orders[answers["code"]].copy()
    found[(found == NOTHING).all(axis=1) & (has.sum(axis=1) == 2), 0] = 0
    for pair, (i, j) in enumerate(PAIRS):
        found[~(has[:, i] & has[:, j]), pair] = NOTHING
    return found


def _choices(compared: ComparedOutputs, answers: pd.DataFrame, orders: np.ndarray) -> tuple[Choices, dict[str, int]]:
    """Choices between two systems, and how many answers give none."""
    place, person = answers["place"].to_numpy(), pd.factorize(answers["rater"])[0]
    system, has = compared.system[place], compared.characters[place] >= 0
    outcome = _of_pairs(compared, answers, orders)
    without = (outcome == NOTHING).all(axis=1)
    known = ((system[..., 0] >= 0) | ~has).all(axis=1)
    parts, n_same = [], 0
    for pair, (i, j) in enumerate(PAIRS):
        here = known & (outcome[:, pair] != NOTHING)
        for one, other in product(range(system.shape[2]), repeat=2):  # each of those whose output it is
            first, second = system[:, i, one], system[:, j, other]
            both = here & (first >= 0) & (second >= 0)
            n_same += int((both & (first == second)).sum())
            rows = np.flatnonzero(both & (first != second))
            parts.append(np.column_stack([first[rows], second[rows], outcome[rows, pair], place[rows], person[rows]]))
    first, second, result, of, who = np.concatenate(parts).astype(int).T
    left_out = {TIED: int(without.sum()), UNKNOWN: int((~known & ~without).sum()), SAME: n_same}
    return Choices(first, second, result, compared.cluster[of], who, len(compared.names)), left_out


# ---- agreement on rankings, and best-worst scores ----


def _alpha(compared: ComparedOutputs, dimension: Dimension, people: pd.DataFrame, orders: np.ndarray) -> Alpha:
    """Of the chosen output; of rankings, of the order of two outputs."""
    if not dimension.takes_ranking:
        return krippendorff_alpha(coded_labels(people, compared.units, dimension.values))
    answers = _with_places(people, compared.units, dimension)
    outcome = _of_pairs(compared, answers, orders)
    row, pair = np.nonzero(outcome != NOTHING)
    labels = pd.DataFrame(
        {
            "unit": answers["place"].to_numpy()[row] * len(PAIRS) + pair,
            "label": outcome[row, pair].astype(str),
            "rater": answers["rater"].to_numpy()[row],
        }
    )
    units = pd.DataFrame({"unit": np.arange(len(compared.units) * len(PAIRS))})
    units["cluster"] = np.repeat(compared.cluster, len(PAIRS))
    return krippendorff_alpha(coded_labels(labels, units, ("-1", "0", "1")), "interval")


def _concordance(
    compared: ComparedOutputs, dimension: Dimension, people: pd.DataFrame, orders: np.ndarray
) -> list[ConcordanceRow]:
    if _ranks(dimension) != "all":
        return []
    answers = _with_places(people, compared.units, dimension)
    outcome = _of_pairs(compared, answers, orders)
    place = answers["place"].to_numpy()
    found = rank_concordance(_order_of(outcome), place, compared.cluster[place])
    rows = (("Kendall's tau of two people", found.tau), ("Kendall's W", found.w))
    return [ConcordanceRow(title=title, figure=to_effect(one), n=one.n) for title, one in rows]


def _order_of(outcome: np.ndarray) -> np.ndarray:
    """What is better than what, of each answer: (n, outputs, outputs)."""
    order = np.zeros((len(outcome), len(PLACES), len(PLACES)), dtype=int)
    for pair, (i, j) in enumerate(PAIRS):
        order[:, i, j] = np.where(outcome[:, pair] == NOTHING, 0, outcome[:, pair])
        order[:, j, i] = -order[:, i, j]
    return order


def _scores(
    compared: ComparedOutputs, dimension: Dimension, answers: pd.DataFrame, order: np.ndarray
) -> list[ScoreRow]:
    """In the order of strength."""
    if _ranks(dimension) != "ends":
        return []
    ends = [label.ranks for label in dimension.labels]
    best, worst = (np.array([OUTPUTS.index(ranks[at][0]) for ranks in ends])[answers["code"]] for at in (0, -1))
    place, person = answers["place"].to_numpy(), pd.factorize(answers["rater"])[0]
    row, output, of = np.nonzero(compared.system[place] >= 0)
    choice = (output == best[row]).astype(int) - (output == worst[row])
    system, prompt = compared.system[place[row], output, of], compared.cluster[place[row]]
    found = best_worst_scores(choice, system, prompt, person[row], len(compared.names))
    return [
        ScoreRow(
            system=compared.names[one],
            score=bounded_figure(
                found.scores[one],
                found.low[one],
                found.high[one],
                "its answers do not vary" if found.n[one] else "never shown",
                int(found.n[one]),
            ),
            n_best=int(((system == one) & (choice > 0)).sum()),
            n_worst=int(((system == one) & (choice < 0)).sum()),
            n=int(found.n[one]),
        )
        for one in order.tolist()
    ]


# ---- systems ----


def _figure(
    value: float, low: float, high: float, ranking: SystemRanking, undefined: str, n: int, *, quick: bool
) -> Figure:
    why = undefined or ("" if np.isfinite(low) else PENDING if quick else ranking.no_interval)
    return Figure(
        estimate=number(value),
        undefined=undefined,
        low=number(low),
        high=number(high),
        interval=Ends(
            undefined=why,
            method="bootstrap over prompts and people" if ranking.n_people > 1 else "bootstrap over prompts",
            level=0.95,
            n_resamples=0 if why else 1000,
            n_undefined=0,
            n_clusters=ranking.n_prompts,
            note="",
        ),
        n_pairable=n,
    )


def _systems(compared: ComparedOutputs, choices: Choices, ranking: SystemRanking, *, quick: bool) -> list[SystemRow]:
    if len(compared.names) < 2:
        return []
    wins, ties = choices.counted
    won, lost, tied = wins.sum(axis=1), wins.sum(axis=0), ties.sum(axis=0) + ties.sum(axis=1)
    letters: dict[int, str] = {}
    has_places = bool(np.isfinite(ranking.low).any())
    for place, group in enumerate(ranking.groups() if has_places else []):
        for system in group:
            letters[system] = letters.get(system, "") + _letter(place)
    order = ranking.order if not ranking.undefined else np.argsort(-np.nan_to_num(ranking.rates), kind="stable")
    rows = []
    for system in order.tolist():
        stronger = ranking.strengths > ranking.strengths[system]
        n_above = int((ranking.is_apart[system] & stronger).sum())
        n_below = int((ranking.is_apart[system] & ~stronger).sum())
        mine = compared.characters[(compared.system == system).any(axis=2)]
        n = int(won[system] + lost[system] + tied[system])
        no_rate = "" if n else "no comparison counts"
        rows.append(
            SystemRow(
                system=compared.names[system],
                groups=letters.get(system, ""),
                best=1 + n_above if has_places else None,
                worst=len(compared.names) - n_below if has_places else None,
                strength=_figure(
                    ranking.strengths[system],
                    ranking.low[system],
                    ranking.high[system],
                    ranking,
                    ranking.undefined,
                    n,
                    quick=quick,
                ),
                rate=_figure(
                    ranking.rates[system],
                    ranking.rates_low[system] if n else np.nan,
                    ranking.rates_high[system] if n else np.nan,
                    ranking,
                    no_rate,
                    n,
                    quick=quick,
                ),
                n_won=int(won[system]),
                n_tied=int(tied[system]),
                n_lost=int(lost[system]),
                characters=number(mine.mean()) if len(mine) else None,
            )
        )
    return rows


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"({place + 1})"


def _pairs(items: Items, compared: ComparedOutputs, choices: Choices, ranking: SystemRanking) -> list[PairRow]:
    wins, ties = choices.counted if choices.n_systems else (np.zeros((0, 0)), np.zeros((0, 0)))
    order = [int(one) for one in (ranking.order if not ranking.undefined else range(choices.n_systems))]
    rows = []
    for one, other in combinations(order, 2):
        is_of = (compared.system == one).any(axis=(1, 2)) & (compared.system == other).any(axis=(1, 2))
        tied = int(ties[one, other] + ties[other, one])
        if not is_of.any():
            continue
        name, against = compared.names[one], compared.names[other]
        key = f"{one}-{other}"
        items.add_flag(f"pair.{key}", f"{name} against {against}", is_of)
        rows.append(
            PairRow(
                system=name,
                other=against,
                n_units=int(is_of.sum()),
                n_won=int(wins[one, other]),
                n_tied=tied,
                n_lost=int(wins[other, one]),
                apart="yes" if ranking.is_apart[one, other] else "no" if np.isfinite(ranking.low).any() else "",
                key=key,
            )
        )
    return rows


def _cycles(choices: Choices, names: list[str]) -> tuple[list[str], int]:
    """Triples in which each system beats the next more often than not, and how many triples were all compared."""
    if choices.n_systems < 3:
        return [], 0
    wins, ties = choices.counted
    beats, played = wins > wins.T, wins + wins.T + ties + ties.T > 0
    cycles, n = [], 0
    for a, b, c in combinations(range(len(names)), 3):
        n += int(played[a, b] and played[b, c] and played[a, c])
        for one, two, three in ((a, b, c), (a, c, b)):
            if beats[one, two] and beats[two, three] and beats[three, one]:
                cycles.append(" > ".join(names[each] for each in (one, two, three, one)))
    return cycles, n


# ---- what sways choices ----


def _biases(
    compared: ComparedOutputs,
    answers: pd.DataFrame,
    orders: np.ndarray,
    shown: dict[int, tuple[str, ...]],
    *,
    quick: bool,
) -> list[BiasRow]:
    """Of pairs of outputs where one is better."""
    place = answers["place"].to_numpy()
    outcome = _of_pairs(compared, answers, orders)
    seen = [shown.get(one, ()) for one in answers["annotation"].tolist()]
    at = np.array([[one.index(name) if name in one else -1 for name in OUTPUTS] for one in seen], dtype=int)
    at, characters = at.reshape(len(answers), len(OUTPUTS)), compared.characters[place]
    row, pair = np.nonzero(np.abs(outcome) == 1)
    better, worse = (np.array(PAIRS)[pair, side] for side in (0, 1))
    is_second = outcome[row, pair] < 0
    better, worse = np.where(is_second, worse, better), np.where(is_second, better, worse)
    rows = []
    for name, title, more, less in (
        ("first", "the one that was shown before the other", at[row, worse], at[row, better]),
        ("longer", "the longer one", characters[row, better], characters[row, worse]),
    ):
        counts = (more != less) & (np.minimum(more, less) >= 0)
        share = share_figure(
            (more > less)[counts], compared.cluster[place[row[counts]]], quick=quick, undefined="no such pair"
        )
        rows.append(BiasRow(name=name, title=title, share=share, n=int(counts.sum())))
    return rows


# ---- judges ----


def _judges(
    source: Source,
    compared: ComparedOutputs,
    dimension: Dimension,
    people: pd.DataFrame,
    orders: np.ndarray,
    ranking: SystemRanking,
    *,
    quick: bool,
) -> list[JudgeRow]:
    runs = {run.checker: run for run in source.newest_labelling_runs()}
    votes = _votes(compared, people, dimension)
    most, between, of_person = _most(votes), *_against_others(compared, people, dimension, votes)
    between_people = share_figure(between, compared.cluster[of_person], quick=quick, undefined="no two people")
    by_people = most, between_people, orders, ranking
    return [
        _judge(source, compared, dimension, run, runs.get(run.checker + SWAPPED), *by_people, quick)
        for run in runs.values()
        if not (run.checker.endswith(SWAPPED) and run.checker.removesuffix(SWAPPED) in runs)
    ]


def _votes(compared: ComparedOutputs, labels: pd.DataFrame, dimension: Dimension) -> np.ndarray:
    """How many people gave each label of each unit."""
    votes = np.zeros((len(compared.units), len(dimension.values)), dtype=int)
    place = pd.Index(compared.units["unit"]).get_indexer(labels["unit"])
    code = pd.Index(dimension.values).get_indexer(labels["label"])
    np.add.at(votes, (place[(place >= 0) & (code >= 0)], code[(place >= 0) & (code >= 0)]), 1)
    return votes


def _most(votes: np.ndarray) -> np.ndarray:
    """The label that most people gave, -1 where several are as many."""
    highest = votes.max(axis=1, initial=0)
    is_one = (votes == highest[:, None]).sum(axis=1) == 1
    return np.where(is_one & (highest > 0), votes.argmax(axis=1), -1)


def _against_others(
    compared: ComparedOutputs, people: pd.DataFrame, dimension: Dimension, votes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each label is the one that most of the others gave, of those whose others have one, and its unit."""
    place = pd.Index(compared.units["unit"]).get_indexer(people["unit"])
    code = pd.Index(dimension.values).get_indexer(people["label"])
    others = votes[place].copy()
    others[np.arange(len(place)), code] -= 1
    most = _most(others)
    return (most == code)[most >= 0], place[most >= 0]


def _judge(
    source: Source,
    compared: ComparedOutputs,
    dimension: Dimension,
    run: Run,
    swapped: Run | None,
    most: np.ndarray,
    between: Figure,
    orders: np.ndarray,
    ranking: SystemRanking,
    quick: bool,
) -> JudgeRow:
    own = _codes(source, compared, dimension, run)
    both = (own >= 0) & (most >= 0)
    choices, _ = _choices(compared, _as_answers(compared, dimension, own), orders)
    other = _codes(source, compared, dimension, swapped) if swapped else np.full(len(own), -1)
    twice = (own >= 0) & (other >= 0)
    # In the first order output A stands first, in the other one output B does.
    first = (orders[own, 0] == 1) & (orders[other, 0] == -1)
    changes = twice & (own != other) & (np.abs(orders[own, 0] * orders[other, 0]) == 1) & (compared.n_outputs == 2)
    return JudgeRow(
        checker=run.checker,
        version=run.version,
        n=int(both.sum()),
        agreement=share_figure(
            (own == most)[both], compared.cluster[both], quick=quick, undefined="no comparison has both"
        ),
        between=between,
        tau=_tau(choices, ranking),
        same=share_figure(
            (own == other)[twice], compared.cluster[twice], quick=quick, undefined="no choices in both orders"
        ),
        first=share_figure(first[changes], compared.cluster[changes], quick=quick, undefined="no choice changes"),
    )


def _judge_rankings(
    source: Source, compared: ComparedOutputs, dimension: Dimension, people: pd.DataFrame, orders: np.ndarray
) -> list[JudgeRankingRow]:
    """Judges against people and people against each other, on the comparisons that a judge and people ranked."""
    if _ranks(dimension) != "all":
        return []
    answers = _with_places(people, compared.units, dimension)
    order, place = _order_of(_of_pairs(compared, answers, orders)), answers["place"].to_numpy()
    rows = []
    for run in source.newest_labelling_runs():
        ranked = _as_answers(compared, dimension, _codes(source, compared, dimension, run))
        own = np.zeros((len(compared.units), *order.shape[1:]), dtype=int)
        own[ranked["place"]] = _order_of(_of_pairs(compared, ranked, orders))
        both = own[place].any(axis=(1, 2))
        mine, of_people = rank_agreement(own, order, place, compared.cluster), place[both]
        among = rank_concordance(order[both], of_people, compared.cluster[of_people])
        rows.append(
            JudgeRankingRow(
                checker=run.checker,
                version=run.version,
                n=mine.n,
                tau=to_effect(mine),
                between=to_effect(among.tau),
                w=to_effect(_with_judge(order[both], of_people, own, compared.cluster).w),
                w_between=to_effect(among.w),
            )
        )
    return rows


def _with_judge(order: np.ndarray, place: np.ndarray, own: np.ndarray, cluster: np.ndarray) -> Concordance:
    """Of people's rankings with the judge's among them."""
    units = np.unique(place)
    place = np.concatenate([place, units])
    return rank_concordance(np.concatenate([order, own[units]]), place, cluster[place])


def _codes(source: Source, compared: ComparedOutputs, dimension: Dimension, run: Run) -> np.ndarray:
    found = source.suggestion_frame(run)
    found = found[found["dimension"] == dimension.slug]
    codes = np.full(len(compared.units), -1)
    place = pd.Index(compared.units["unit"]).get_indexer(found["unit"])
    codes[place[place >= 0]] = pd.Index(dimension.values).get_indexer(found["label"])[place >= 0]
    return codes


def _as_answers(compared: ComparedOutputs, dimension: Dimension, codes: np.ndarray) -> pd.DataFrame:
    places = np.flatnonzero(codes >= 0)
    labels = [dimension.values[code] for code in codes[places]]
    rows = pd.DataFrame({"unit": compared.units["unit"].to_numpy()[places], "label": labels, "rater": ""})
    return _with_places(rows, compared.units, dimension)


def _tau(choices: Choices, ranking: SystemRanking) -> float | None:
    """Of the judge's strengths with people's, over systems."""
    if ranking.undefined or choices.n_systems < 3 or not len(choices.outcome):
        return None
    wins, ties = choices.counted
    strengths = fit_strengths(wins[None], ties[None], penalty=1e-3).strengths[0]
    return number(kendall_tau_b(strengths, ranking.strengths).estimate)
