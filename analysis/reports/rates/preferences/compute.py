"""Which systems people prefer: strengths with intervals, what sways choices, and judges against people."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import PENDING, Ends, Figure, number
from analysis.reports.estimates import coded_labels, share_figure, to_figure
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.rates.preferences.report import (
    TITLES,
    BiasRow,
    JudgeRow,
    PairRow,
    Preferences,
    SystemRow,
)
from analysis.sources.base import Source
from analysis.sources.outline import MAJORITY, Run
from analysis.stats import Choices, SystemRanking, fit_strengths, kendall_tau_b, krippendorff_alpha, rank_systems
from annotation.formats.records import SYSTEMS
from annotation.formats.tools.preferences import SWAPPED
from annotation.task_types import Dimension
from annotation.task_types.base import OUTPUTS, PLACES
from annotation.task_types.preference import CHOICE

TIED, UNKNOWN, SAME = (
    "choices without a winner among more than two outputs",
    "choices between outputs whose systems are not all known",
    "choices between outputs of one system",
)


@dataclass(frozen=True, eq=False)
class ComparedOutputs:
    """The comparisons, in the order of units: systems by number (-1: none) and characters of their outputs (-1: no such
    output), (n, 5) each, and the prompt of each by number."""

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
    dimension = kind.dimension(CHOICE.slug)
    compared = _compared(source)
    units = compared.units
    people = source.label_frame(units)
    people = people[people["dimension"] == dimension.slug].reset_index(drop=True)
    answers = people
    if reference != MAJORITY:
        decided = source.decision_frame(reference)
        decided = decided[decided["dimension"] == dimension.slug]
        answers = decided.assign(rater="", annotation=-1).reset_index(drop=True)
    answers = _with_places(answers, units)
    choices, left_out = _choices(compared, answers)
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
        alpha=to_figure(krippendorff_alpha(coded_labels(people, units, dimension.values)), quick=quick),
        systems=_systems(compared, choices, ranking, quick=quick),
        pairs=pairs,
        biases=_biases(compared, answers, source.shown_orders(), quick=quick),
        judges=_judges(source, compared, dimension, people, ranking, quick=quick),
    ), items


def _compared(source: Source) -> ComparedOutputs:
    units = source.unit_frame(source.type.unit_kind)
    rows = source.content("comparison").set_index("key").reindex(units["unit_key"])
    systems = rows[list(SYSTEMS)].fillna("").to_numpy(dtype=str)
    texts = rows[list(OUTPUTS)].fillna("")
    characters = np.column_stack([texts[name].str.len() for name in OUTPUTS]).astype(int)
    characters[characters == 0] = -1
    names = sorted(set(systems[characters >= 0].tolist()) - {""})
    number_of = {name: place for place, name in enumerate(names)}
    of_system = np.array([[number_of.get(name, -1) for name in row] for row in systems]).reshape(
        len(units), len(PLACES)
    )
    cluster = pd.factorize(units["cluster"])[0]
    return ComparedOutputs(units, np.where(characters >= 0, of_system, -1), characters, names, cluster)


def _with_places(answers: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Answers about these units, with the unit's `place` and the `chosen` output: -1 where none was."""
    place = pd.Index(units["unit"]).get_indexer(answers["unit"])
    answers = answers.assign(place=place, chosen=pd.Index(PLACES).get_indexer(answers["label"]))
    return answers[place >= 0].reset_index(drop=True)


def _choices(compared: ComparedOutputs, answers: pd.DataFrame) -> tuple[Choices, dict[str, int]]:
    """Choices between two systems, and how many answers give none."""
    place, chosen = answers["place"].to_numpy(), answers["chosen"].to_numpy()
    person = pd.factorize(answers["rater"])[0]
    system, has = compared.system[place], compared.characters[place] >= 0
    n_outputs = has.sum(axis=1)
    is_tie = chosen < 0
    chosen = np.where(is_tie, 0, chosen)  # of two that tie, either may stand first
    exists = has[np.arange(len(chosen)), chosen] if len(chosen) else np.zeros(0, bool)
    winner = system[np.arange(len(chosen)), chosen] if len(chosen) else np.zeros(0, int)
    known = ((system >= 0) | ~has).all(axis=1)
    tied = is_tie & (n_outputs > 2)
    counts = exists & known & ~tied
    parts = []
    n_same = 0
    for other in range(len(PLACES)):
        against = counts & has[:, other] & (chosen != other)
        same = against & (system[:, other] == winner)
        n_same += int(same.sum())
        rows = np.flatnonzero(against & ~same)
        outcome = np.where(is_tie[rows], 0, 1)
        parts.append(np.column_stack([winner[rows], system[rows, other], outcome, place[rows], person[rows]]))
    first, second, outcome, of, who = np.concatenate(parts).astype(int).T
    left_out = {TIED: int(tied.sum()), UNKNOWN: int((exists & ~known & ~tied).sum()), SAME: n_same}
    return Choices(first, second, outcome, compared.cluster[of], who, len(compared.names)), left_out


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
        mine = compared.characters[compared.system == system]
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
        is_of = (compared.system == one).any(axis=1) & (compared.system == other).any(axis=1)
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
    compared: ComparedOutputs, answers: pd.DataFrame, orders: dict[int, tuple[str, ...]], *, quick: bool
) -> list[BiasRow]:
    place, chosen = answers["place"].to_numpy(), answers["chosen"].to_numpy()
    of_two = (chosen >= 0) & (chosen < 2) & (compared.n_outputs[place] == 2)
    firsts = [orders.get(one, ("",))[:1] for one in answers["annotation"].tolist()]
    first = np.array([OUTPUTS.index(one[0]) if one and one[0] in OUTPUTS else -1 for one in firsts], dtype=int)
    characters = compared.characters[place]
    longer = np.where(characters[:, 0] == characters[:, 1], -1, (characters[:, 1] > characters[:, 0]).astype(int))
    rows = []
    for name, title, wanted in (
        ("first", "the one that was shown first", first),
        ("longer", "the longer one", longer),
    ):
        counts = of_two & (wanted >= 0)
        share = share_figure(
            (chosen == wanted)[counts], compared.cluster[place[counts]], quick=quick, undefined="no such choice"
        )
        rows.append(BiasRow(name=name, title=title, share=share, n=int(counts.sum())))
    return rows


# ---- judges ----


def _judges(
    source: Source,
    compared: ComparedOutputs,
    dimension: Dimension,
    people: pd.DataFrame,
    ranking: SystemRanking,
    *,
    quick: bool,
) -> list[JudgeRow]:
    runs = {run.checker: run for run in source.newest_labelling_runs()}
    votes = _votes(compared, people, dimension)
    most, between, of_person = _most(votes), *_against_others(compared, people, dimension, votes)
    between_people = share_figure(between, compared.cluster[of_person], quick=quick, undefined="no two people")
    return [
        _judge(source, compared, dimension, run, runs.get(run.checker + SWAPPED), most, between_people, ranking, quick)
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
    ranking: SystemRanking,
    quick: bool,
) -> JudgeRow:
    own = _codes(source, compared, dimension, run)
    both = (own >= 0) & (most >= 0)
    labels = _as_answers(compared, dimension, own)
    choices, _ = _choices(compared, labels)
    other = _codes(source, compared, dimension, swapped) if swapped else np.full(len(own), -1)
    twice = (own >= 0) & (other >= 0)
    # In the first order output A stands first, in the other one output B does.
    first = (own == 0) & (other == 1)
    changes = twice & (own != other) & (own < len(PLACES)) & (other < len(PLACES)) & (compared.n_outputs == 2)
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
    return _with_places(rows, compared.units)


def _tau(choices: Choices, ranking: SystemRanking) -> float | None:
    """Of the judge's strengths with people's, over systems."""
    if ranking.undefined or choices.n_systems < 3 or not len(choices.outcome):
        return None
    wins, ties = choices.counted
    strengths = fit_strengths(wins[None], ties[None], penalty=1e-3).strengths[0]
    return number(kendall_tau_b(strengths, ranking.strengths).estimate)
