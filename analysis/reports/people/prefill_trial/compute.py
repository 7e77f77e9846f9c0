"""What seeing a suggestion did: to agreeing with it, to the time of an answer, and to alpha."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import COUNTS, Items
from analysis.figures.results import PENDING, EffectFigure, Ends, Figure, number
from analysis.reports.effects import no_effect, to_effect, without_interval
from analysis.reports.labels.derived import derived_from, fields_of_question, read_labels, with_derived_labels
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.raters import NamedRater, people_of
from analysis.reports.labels.reference import decisions_left_out
from analysis.reports.people.prefill_trial.report import (
    COLUMNS,
    EVERYBODY_SAW,
    NO_ANSWERS,
    NO_OUTSIDE,
    NOBODY_SAW,
    OTHERS,
    SETTING,
    SIDES,
    TITLES,
    WHAT_TO_DO,
    AgreementStratum,
    AlphaStratum,
    AnswerTimes,
    PersonFollowing,
    PrefillTrial,
    RevisedLabels,
    TimeStratum,
    TrialQuestion,
)
from analysis.reports.people.prefill_trial.rows import (
    KEYS,
    Trial,
    first_answers,
    revised_answers,
    strata_of,
    trial_of,
    unseen_votes,
)
from analysis.reports.words.numbers import either, left_out, n_of
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import latest, untouched_decisions
from analysis.stats import (
    Estimate,
    Labels,
    agreement_effect,
    clustered_agreement,
    clustered_mean,
    krippendorff_alpha,
    suggestion_effect,
    time_effect,
    wilson_interval,
)
from analysis.stats.annotators.suggestions import AgreementWithSuggestion
from annotation.models import Project

OF_SLOT = "by an exchangeable rater"
FEW = 5


def compute(
    source: Source, *, run: str = "", reference: str = OTHERS, quick: bool = False
) -> tuple[PrefillTrial, Items]:
    """The report on the trial of one run's suggestions; without a run, of the one that people saw most.

    First answers are compared: those given with a suggestion of the run in view, and those given with none. Answers
    that came before the suggestion and could be changed after it are compared with themselves. `reference` is a key of
    TITLES. Wrong values raise ValueError.
    """
    chosen = _run(source, run)
    kind, units, everything = read_labels(source, every_revision=True)
    slots = everything["rater_kind"] == SLOT
    labels = everything[~slots].reset_index(drop=True)
    suggested = with_derived_labels(kind, source.suggestion_frame(chosen)[["unit", "dimension", "label"]])
    decided = (
        None if reference == OTHERS else with_derived_labels(kind, untouched_decisions(source, reference, [chosen]))
    )
    left_out = decisions_left_out(source, reference, units, [chosen])
    first, left, counts = first_answers(source, labels, chosen)
    revised = revised_answers(source, labels, chosen)
    items = new_items(units, runs=[chosen.uuid], decisions="" if reference == OTHERS else reference, first=True)
    origins, questions, trials, columns = derived_from(kind), [], [], []
    for dimension in dimensions_to_show(kind, latest(labels)):
        votes = unseen_votes(dimension, units, first)
        trial = trial_of(dimension, units, first, suggested, votes, decided)
        after = trial_of(dimension, units, revised, suggested, votes, decided)
        _add_pairs(items, trial)
        columns.append(_columns(trial, after, units))
        questions.append(
            TrialQuestion(
                **fields_of_question(dimension, origins),
                level=dimension.level,
                n_without_suggestion=trial.n_without_suggestion,
                n_without_reference=int((trial.right < 0).sum()),
                **_agreement(trial, quick=quick),
                alpha=_alpha(trial, len(units), quick=quick),
                people=_people(trial, people_of(source), quick=quick),
                revised=_revised(after, quick=quick),
            )
        )
        if not origins.get(dimension.slug):
            trials.append(trial)
    of_slots = everything[slots & everything["is_latest"].astype(bool)].assign(**{COUNTS: OF_SLOT})
    add_judgements(
        items,
        kind,
        first.merge(pd.concat(columns), on=KEYS, how="left"),
        pd.concat([left, of_slots], ignore_index=True),
        COLUMNS,
    )
    return PrefillTrial(
        run=chosen.uuid,
        checker=chosen.checker,
        version=chosen.version,
        reference=reference,
        reference_title=TITLES[reference],
        n_units=len(units),
        n_people=int(first["rater"].nunique()),
        n_labels_of_slots=int(slots.sum()),
        **counts,
        time=_time(source, labels, first, trials, quick=quick),
        dimensions=questions,
        notes=_what_to_do(counts, chosen) + _notes(source, counts, first) + ([left_out.words] if left_out else []),
    ), items


def _run(source: Source, run: str) -> Run:
    if run:
        chosen = source.run(run)
        if chosen.gives != "labels":
            raise ValueError(
                f"{chosen.checker} gives scores and no labels, so it suggests none that people could follow: choose a "
                "run that gives labels"
            )
        return chosen
    runs = source.labelling_runs()
    if not runs:
        raise ValueError(
            source.how_to_have_runs()
            or f"project {source.slug} has no finished checker run that gives labels: start one first"
        )
    exposures = source.exposure_frame()
    times = exposures.loc[exposures["shown_at"].notna(), "run"].value_counts()
    return max(runs, key=lambda one: int(times.get(one.uuid, 0)))  # the newest of equally much seen ones


def _one_sided(n_seen: int, n_unseen: int) -> str:
    """Why these answers cannot be compared; empty where there are both kinds."""
    if n_seen and n_unseen:
        return ""
    if n_seen:
        return EVERYBODY_SAW
    return NOBODY_SAW if n_unseen else NO_ANSWERS


def _what_to_do(counts: dict[str, int], run: Run) -> list[str]:
    """Where first answers cannot be compared, because nobody or everybody had the suggestion in view."""
    why = _one_sided(counts["n_seen"], counts["n_unseen"])
    if why not in WHAT_TO_DO:
        return []
    reason = why.replace("the suggestion", f"a suggestion of {run.name}")
    return [f"{reason[0].upper()}{reason[1:]}, so first answers cannot be compared: {WHAT_TO_DO[why]} ({SETTING})."]


NOT_DRAWN = (
    "A difference is an effect of seeing the suggestion only if chance decided who saw it. This project showed "
    "suggestions to everybody or to nobody at a time, so what changed with time changed as well; 'within annotators' "
    "at least compares everybody with themselves."
)
DRAWN = (
    "Chance decided for each item and annotator whether suggestions were shown, from the project's seed, so a "
    "difference is an effect of seeing them."
)


def _notes(source: Source, counts: dict[str, int], first: pd.DataFrame) -> list[str]:
    notes = [NOT_DRAWN]
    if source.prefill == Project.Prefill.DRAWN:
        answers = first.drop_duplicates("annotation")
        arms = answers["annotation"].map(source.arms())
        n_unlike = int(((arms == Project.Prefill.SHOWN) != answers["seen"]).sum())
        notes = [DRAWN]
        if n_unlike:
            count = f"{n_of(n_unlike, 'answers')} {either(n_unlike, 'counts', 'count')}"
            notes.append(f"{count} by what was seen, not by what was drawn: no suggestion appeared, or one did.")
    people = {seen: part["rater"].nunique() for seen, part in first.groupby("seen")}
    if len(people) == 2 and min(people.get(True, 0), people.get(False, 0)) < FEW:
        notes.append(
            f"{n_of(people.get(True, 0), 'people')} answered with suggestions and {people.get(False, 0)} without: "
            "intervals that allow for differences between people need more of them."
        )
    notes.append(left_out(counts["n_unknown"], "answers for which it is unknown whether a suggestion was seen"))
    notes.append(left_out(counts["n_other_run"], "answers given with another run's suggestions in view"))
    return list(filter(None, notes))


# ---- the items behind figures ----


def _columns(trial: Trial, after: Trial, units: pd.DataFrame) -> pd.DataFrame:
    """KEYS of the labels that have a suggestion, and the columns that say how they were counted."""

    def keys(of: Trial, rows: np.ndarray) -> dict:
        unit = units["unit"].to_numpy()[of.unit[rows]]
        return {"annotation": of.annotation[rows], "unit": unit, "dimension": of.dimension.slug}

    before, now = ~after.seen, after.seen  # each label twice, in the same order
    changed = after.code[now] != after.code[before]
    could_revise = pd.DataFrame(
        {
            **keys(after, now),
            "revised": np.select([~changed, after.agrees[now]], ["kept", "followed"], "changed"),
        }
    )
    frame = pd.DataFrame(
        {
            **keys(trial, np.arange(len(trial.unit))),
            "side": np.where(trial.seen, "seen", "unseen"),
            "agrees": np.where(trial.agrees, "yes", "no"),
            "right": pd.Series(trial.right).map({1: "right", 0: "wrong"}).astype(object),
        }
    )
    return frame.merge(could_revise, on=KEYS, how="left")


def _add_pairs(items: Items, trial: Trial) -> None:
    """Units with a pair of answers on one side, as alpha counts them."""
    n_units, slug = len(items.units), trial.dimension.slug
    paired = {
        side: np.bincount(trial.unit[rows], minlength=n_units) > 1
        for side, rows in (("seen", trial.seen), ("unseen", ~trial.seen))
    }
    for stratum, where in strata_of(_right_of_units(trial, n_units)).items():
        of = "" if stratum == "all" else f", where the suggestion is {stratum}"
        title = f"{trial.dimension.title}: with a pair of answers"
        sets = {side: (f"{title} given {SIDES[side]}{of}", (paired[side] & where).astype(int)) for side in paired}
        items.add_sets(f"{slug}.paired.{stratum}", "", sets)


def _right_of_units(trial: Trial, n_units: int) -> np.ndarray:
    right = np.full(n_units, -1)
    right[trial.unit] = trial.right
    return right


# ---- figures ----


def _agreement(trial: Trial, *, quick: bool) -> dict:
    """Shares that agree with the suggestion, with and without it in view, and the effect of seeing it: `strata` and
    `contrast`."""
    effect = None if quick else suggestion_effect(trial.agrees, trial.seen, trial.right, trial.rater, trial.cluster)
    strata = [
        _stratum(name, trial, where, effect.strata[name] if effect else None) for name, where in trial.strata().items()
    ]
    if effect is None:
        return {"strata": strata, "contrast": no_effect()}
    parts = [(one.stratum, _one_sided(one.n_seen, one.n_unseen)) for one in strata[1:]]
    one_sided = next((f"{name} suggestions: {why}" for name, why in parts if why), "")
    return {"strata": strata, "contrast": no_effect(one_sided) if one_sided else to_effect(effect.contrast, 2)}


def _stratum(name: str, trial: Trial, where: np.ndarray, agreement: AgreementWithSuggestion | None) -> AgreementStratum:
    """One stratum's shares and effects; None: in a first pass."""
    sides = {}
    for side, rows in (("seen", where & trial.seen), ("unseen", where & ~trial.seen)):
        share = _share(trial, rows, quick=agreement is None)
        sides |= {f"n_{side}": int(rows.sum()), f"n_{side}_agree": int(trial.agrees[rows].sum()), side: share}
    names = ("difference", "within", "marginal", "odds_ratio")
    if reason := _one_sided(sides["n_seen"], sides["n_unseen"]) if agreement else PENDING:
        return AgreementStratum(stratum=name, **sides, **dict.fromkeys(names, no_effect(reason)))
    effects = {one: to_effect(getattr(agreement, one), None if one == "odds_ratio" else 1) for one in names}
    return AgreementStratum(stratum=name, **sides, **effects)


def _share(trial: Trial, chosen: np.ndarray, *, quick: bool) -> EffectFigure:
    """Of these labels the share that equals the suggestion; people and items are both taken for a sample."""
    agrees = trial.agrees[chosen].astype(float)
    if not len(agrees):
        return no_effect(NO_ANSWERS)
    if quick:
        return without_interval(agrees.mean(), len(agrees), NO_ANSWERS)
    return to_effect(clustered_mean(agrees, [trial.rater[chosen], trial.cluster[chosen]]), 1, 0)


def _people(trial: Trial, known: dict[str, NamedRater], *, quick: bool) -> list[PersonFollowing]:
    """Who equals the suggestion most often with it in view first, and those who never had it last."""
    rows = []
    for code, who in enumerate(trial.raters):
        own, sides = trial.rater == code, {}
        for side, rows_of_side in (("seen", own & trial.seen), ("unseen", own & ~trial.seen)):
            agrees = trial.agrees[rows_of_side]
            sides |= {f"n_{side}": len(agrees), side: _share_of_person(int(agrees.sum()), len(agrees), quick=quick)}
        if own.any():
            rows.append(PersonFollowing(id=who, name=known[who].name if who in known else who, **sides))
    return sorted(rows, key=lambda row: (-(row.seen.estimate if row.n_seen else -1.0), row.id))


def _share_of_person(n_equal: int, n: int, *, quick: bool) -> Figure:
    if not n:
        return Figure(estimate=None, undefined=NO_ANSWERS)
    if quick:
        return Figure(estimate=n_equal / n, undefined="", interval=Ends(undefined=PENDING))
    interval = wilson_interval(n_equal, n)
    how = Ends(method=interval.method, level=interval.level, undefined="")
    ends = {"low": number(interval.low), "high": number(interval.high), "interval": how}
    return Figure(estimate=n_equal / n, undefined="", **ends)


def _revised(after: Trial, *, quick: bool) -> RevisedLabels | None:
    """What became of answers given before the suggestion appeared; None where there is none."""
    if not len(after.code):
        return None
    changed = after.code[after.seen] != after.code[~after.seen]
    return RevisedLabels(
        n=int(after.seen.sum()),
        n_changed=int(changed.sum()),
        n_to_suggestion=int((changed & after.agrees[after.seen]).sum()),
        **_agreement(after, quick=quick),
    )


def _alpha(trial: Trial, n_units: int, *, quick: bool) -> list[AlphaStratum]:
    """Alpha among answers with the suggestion in view and among those without, on units of each stratum."""
    level = trial.dimension.level

    def measure(labels: Labels) -> Estimate:
        return krippendorff_alpha(labels, level)

    def figure(labels: Labels, alpha: Estimate) -> EffectFigure:
        if quick or alpha.undefined:
            return without_interval(alpha.estimate, alpha.n_pairable, alpha.undefined)
        return to_effect(clustered_agreement(measure, labels), 1)

    reason = _one_sided(int(trial.seen.sum()), int((~trial.seen).sum())) or (PENDING if quick else "")
    rows = []
    for name, units in strata_of(_right_of_units(trial, n_units)).items():
        if name != "all" and not trial.is_outside:
            rows.append(AlphaStratum(stratum=name, level=level, difference=no_effect(NO_OUTSIDE)))
            continue
        seen, unseen = (_labels(trial, side, n_units).select_units(units) for side in (trial.seen, ~trial.seen))
        of_seen, of_unseen = measure(seen), measure(unseen)
        rows.append(
            AlphaStratum(
                stratum=name,
                level=level,
                seen=figure(seen, of_seen),
                unseen=figure(unseen, of_unseen),
                n_seen=of_seen.n_pairable,
                n_unseen=of_unseen.n_pairable,
                difference=no_effect(reason) if reason else to_effect(agreement_effect(measure, seen, unseen)),
            )
        )
    return rows


def _labels(trial: Trial, side: np.ndarray, n_units: int) -> Labels:
    cluster = np.full(n_units, -1)
    cluster[trial.unit] = trial.cluster
    names = tuple(str(code) for code in range(int(trial.rater.max(initial=-1)) + 1))
    columns = (trial.unit[side], trial.rater[side], trial.code[side])
    return Labels(*columns, n_units, trial.dimension.values, cluster=cluster, rater_names=names)


def _time(
    source: Source, labels: pd.DataFrame, first: pd.DataFrame, trials: list[Trial], *, quick: bool
) -> AnswerTimes:
    """Of answers that were never revised, since the time is that of the latest revision. Suggestions about an item are
    right where all of them are, and wrong where any is."""
    parts = [pd.DataFrame({"annotation": one.annotation, "right": one.right, "cluster": one.cluster}) for one in trials]
    of_labels = pd.concat(parts, ignore_index=True)
    known = of_labels.assign(wrong=of_labels["right"] == 0).groupby("annotation", sort=False)
    answers = pd.DataFrame({"least": known["right"].min(), "wrong": known["wrong"].max()})
    answers["cluster"] = known["cluster"].first()
    answers = answers.join(first.groupby("annotation")[["seen", "rater"]].first(), how="inner")
    revised = labels.loc[~labels["is_latest"].astype(bool), "annotation"].unique()
    n_before = len(answers)
    answers = answers[~answers.index.isin(revised)]
    seconds = answers.index.map(source.active_seconds()).to_numpy(dtype=float)
    right = np.where(answers["wrong"].to_numpy(dtype=bool), 0, np.where(answers["least"] == 1, 1, -1))
    counts = {"n_revised": n_before - len(answers), "n_untimed": int((~(seconds > 0)).sum())}
    if quick:
        return AnswerTimes(strata=[], **counts)
    codes = answers["rater"].astype("category").cat.codes.to_numpy()
    seen, cluster = answers["seen"].to_numpy(dtype=bool), answers["cluster"].to_numpy()
    effect = time_effect(seconds, seen, right, codes, cluster)
    logs = np.log(seconds, out=np.full(len(seconds), np.nan), where=seconds > 0)
    rows = []
    for name, where in strata_of(right).items():
        one = effect[name]
        means = {
            side: to_effect(clustered_mean(logs[chosen], [codes[chosen], cluster[chosen]]).exponentiated())
            for side, chosen in (("seen", where & seen), ("unseen", where & ~seen))
        }
        reason = _one_sided(one.n_seen, one.n_unseen)
        effects = {part: no_effect(reason) if reason else to_effect(getattr(one, part)) for part in ("ratio", "within")}
        rows.append(TimeStratum(stratum=name, n_seen=one.n_seen, n_unseen=one.n_unseen, **means, **effects))
    return AnswerTimes(strata=rows, **counts)
