"""What seeing a suggestion did: to agreeing with it, to the time of an answer, and to alpha."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.effects import effect, without, without_interval
from analysis.reports.figures import PENDING, is_quick
from analysis.reports.numbers import either, n_of
from analysis.reports.opened import UNITS, Behind, together
from analysis.reports.prefill_rows import (
    STRATA,
    Trial,
    first_answers,
    revised_answers,
    strata_of,
    trial_of,
    unseen_votes,
)
from analysis.reports.prefill_tables import body, in_words, methods
from analysis.reports.reference import REFERENCES, decisions_left_out
from analysis.sources import Run, Source
from analysis.sources.base import SLOT, dimensions_to_show
from analysis.sources.touched import latest, untouched_decisions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Estimate, Labels

__all__ = ["body", "compute", "in_words", "methods", "opened", "references_of_trial"]

HAS_QUICK_PASS = True
OTHERS = "others"
# What says whether a suggestion is right. It must not have been touched by it.
TITLES = {
    "imported": REFERENCES["imported"],
    OTHERS: "Majority of other people's answers without a suggestion",
    "adjudicated": REFERENCES["adjudicated"],
}
# Why nothing can be compared.
NO_ANSWERS = "there are no such answers"
NOBODY_SAW = "nobody answered with the suggestion in view"
EVERYBODY_SAW = "everybody answered with the suggestion in view"
WHAT_TO_DO = {
    NOBODY_SAW: "choose a run whose suggestions people saw, or show its suggestions for some of the answers to come",
    EVERYBODY_SAW: "withhold suggestions for some of the answers to come",
}
SETTING = "“Suggestions of checkers” in the project's settings"
NO_OUTSIDE = "what is right is read off the labels that are compared; take decisions as the reference"
FEW = 5


def references_of_trial(source: Source) -> dict[str, str]:
    known = {OTHERS, *source.references()}
    return {name: title for name, title in TITLES.items() if name in known}


def compute(source: Source, run: str = "", reference: str = OTHERS) -> dict:
    """The report on the trial of one run's suggestions; without a run, of the one that people saw most.

    First answers are compared: those given with a suggestion of the run in view, and those given with none. Answers
    that came before the suggestion and could be changed after it are compared with themselves. `reference` is a key of
    TITLES. Wrong values raise ValueError.
    """
    if reference not in TITLES:
        raise ValueError(f"reference is one of {', '.join(TITLES)}, not {reference!r}")
    chosen = _run(source, run)
    kind = with_derived(source.type)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units, every_revision=True))
    n_slots = int((labels["rater_kind"] == SLOT).sum())
    labels = labels[labels["rater_kind"] != SLOT].reset_index(drop=True)
    suggested = with_derived_labels(kind, source.suggestion_frame(chosen)[["unit", "dimension", "label"]])
    decided = (
        None if reference == OTHERS else with_derived_labels(kind, untouched_decisions(source, reference, [chosen]))
    )
    left_out = decisions_left_out(source, reference, units, [chosen])
    first, counts = first_answers(source, labels, chosen)
    revised = revised_answers(source, labels, chosen)
    origins, found, behind, trials = derived_from(kind), [], {UNITS: units["unit"].tolist()}, []
    for dimension in dimensions_to_show(kind, latest(labels)):
        votes = unseen_votes(dimension, units, first)
        trial = trial_of(dimension, units, first, suggested, votes, decided)
        after = trial_of(dimension, units, revised, suggested, votes, decided)
        result = _dimension(trial, len(units)) | {"revised": _revised(after)}
        found.append(result | {"derived_from": origins.get(dimension.slug)})
        behind |= _behind(trial, units) | _behind_parts(trial, after, units)
        if not origins.get(dimension.slug):
            trials.append(trial)
    return {
        "report": "prefill-trial",
        "project": source.slug,
        "task_type": source.task_type,
        "run": chosen.uuid,
        "checker": chosen.checker,
        "version": chosen.version,
        "reference": reference,
        "reference_title": TITLES[reference],
        "n_units": len(units),
        "n_people": int(first["rater"].nunique()),
        "n_labels_of_slots": n_slots,
        **counts,
        "time": _time(source, labels, first, trials),
        "dimensions": found,
        "notes": _what_to_do(counts, chosen) + _notes(counts, first) + ([left_out["words"]] if left_out else []),
        "behind": behind,
    }


def _run(source: Source, run: str) -> Run:
    if run:
        chosen = source.run(run)
        if chosen.gives != "labels":
            raise ValueError(
                f"{chosen.checker} gives scores and no labels, so it suggests none that people could follow"
            )
        return chosen
    runs = source.labelling_runs()
    if not runs:
        raise ValueError(
            source.how_to_have_runs() or f"project {source.slug} has no finished checker run that gives labels"
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
    said = why.replace("the suggestion", f"a suggestion of {run.name}")
    return [f"{said[0].upper()}{said[1:]}, so first answers cannot be compared: {WHAT_TO_DO[why]} ({SETTING})."]


def _notes(counts: dict[str, int], first: pd.DataFrame) -> list[str]:
    notes = [
        "A difference is an effect of seeing the suggestion only if chance decided who saw it. A project shows "
        "suggestions to everybody or to nobody at a time, so what changed with time changed as well; 'within "
        "annotators' at least compares everybody with themselves."
    ]
    people = {seen: part["rater"].nunique() for seen, part in first.groupby("seen")}
    if len(people) == 2 and min(people.get(True, 0), people.get(False, 0)) < FEW:
        notes.append(
            f"{n_of(people.get(True, 0), 'people')} answered with suggestions and {people.get(False, 0)} without: "
            "intervals that allow for differences between people need more of them."
        )
    if counts["n_unknown"]:
        notes.append(
            f"{n_of(counts['n_unknown'], 'answers')} of which it is not known whether a suggestion was seen "
            f"{either(counts['n_unknown'], 'is', 'are')} left out."
        )
    if counts["n_other_run"]:
        notes.append(
            f"{n_of(counts['n_other_run'], 'answers')} given with another run's suggestions in view "
            f"{either(counts['n_other_run'], 'is', 'are')} left out."
        )
    return notes


def _dimension(trial: Trial, n_units: int) -> dict:
    dimension = trial.dimension
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "level": dimension.level,
        "n_without_suggestion": trial.n_without_suggestion,
        "n_without_reference": int((trial.right < 0).sum()),
        **_agreement(trial),
        "alpha": _alpha(trial, n_units),
    }


def _behind(trial: Trial, units: pd.DataFrame) -> dict[str, list[int]]:
    import numpy as np

    ids, behind = units["unit"].to_numpy(), {}
    for name, rows in trial.strata().items():
        for seen, side in ((True, "seen"), (False, "unseen")):
            for agrees, says in ((True, "agree"), (False, "differ")):
                cell = rows & (trial.seen == seen) & (trial.agrees == agrees)
                behind[f"{trial.dimension.slug}/{name}/{side}/{says}"] = ids[np.unique(trial.unit[cell])].tolist()
    return behind


def _behind_parts(trial: Trial, after: Trial, units: pd.DataFrame) -> Behind:
    """Units with a pair of answers on one side, as alpha counts them, and those of answers that could be revised."""
    import numpy as np

    ids, slug, behind = units["unit"].to_numpy(), trial.dimension.slug, {}
    right = _right_of_units(trial, len(units))
    for name, where in strata_of(right).items():
        for side, rows in (("seen", trial.seen), ("unseen", ~trial.seen)):
            paired = np.bincount(trial.unit[rows], minlength=len(units)) > 1
            behind[f"{slug}/paired/{name}/{side}"] = ids[paired & where].tolist()
    for name, rows in after.strata().items():
        behind[f"{slug}/revised/{name}"] = ids[np.unique(after.unit[rows & after.seen])].tolist()
    return behind


def opened(behind: Behind, figure: str) -> list[int] | None:
    """All answers of one side, equal to the suggestion or not."""
    match figure.split("/"):
        case [slug, stratum, "seen" | "unseen" as side] if stratum in STRATA:
            return together(behind, [f"{slug}/{stratum}/{side}/{says}" for says in ("agree", "differ")]) or None
    return None


def _right_of_units(trial: Trial, n_units: int) -> np.ndarray:
    import numpy as np

    right = np.full(n_units, -1)
    right[trial.unit] = trial.right
    return right


def _agreement(trial: Trial) -> dict:
    """Shares that agree with the suggestion, with and without it in view, and the effect of seeing it."""
    from analysis.stats import suggestion_effect

    rows = [_shares(name, trial, where) for name, where in trial.strata().items()]
    if is_quick():
        return {"strata": rows, "contrast": without()}
    found = suggestion_effect(trial.agrees, trial.seen, trial.right, trial.rater, trial.cluster)
    for row in rows:
        one = found.strata[row["stratum"]]
        if reason := _one_sided(row["n_seen"], row["n_unseen"]):
            row |= dict.fromkeys(("difference", "within", "odds_ratio", "marginal"), without(reason))
            continue
        row |= {name: effect(getattr(one, name), 1) for name in ("difference", "within", "marginal")}
        row["odds_ratio"] = effect(one.odds_ratio)
    parts = [(row["stratum"], _one_sided(row["n_seen"], row["n_unseen"])) for row in rows[1:]]
    one_sided = next((f"{name} suggestions: {why}" for name, why in parts if why), "")
    return {"strata": rows, "contrast": without(one_sided) if one_sided else effect(found.contrast, 2)}


def _shares(name: str, trial: Trial, where: np.ndarray) -> dict:
    row: dict = {"stratum": name}
    for side, chosen in (("seen", where & trial.seen), ("unseen", where & ~trial.seen)):
        n, n_agree = int(chosen.sum()), int(trial.agrees[chosen].sum())
        row |= {f"n_{side}": n, f"n_{side}_agree": n_agree, side: _share(trial, chosen)}
    return row | dict.fromkeys(("difference", "within", "odds_ratio", "marginal"), without())


def _share(trial: Trial, chosen: np.ndarray) -> dict:
    """Of these labels the share that equals the suggestion; people and items are both taken for a sample."""
    from analysis.stats import clustered_mean

    agrees = trial.agrees[chosen].astype(float)
    if is_quick() or not len(agrees):
        return without_interval(agrees.mean() if len(agrees) else None, len(agrees), NO_ANSWERS)
    return effect(clustered_mean(agrees, [trial.rater[chosen], trial.cluster[chosen]]), 1, 0)


def _revised(after: Trial) -> dict | None:
    """What became of answers given before the suggestion appeared; None where there is none."""
    if not len(after.code):
        return None
    changed = after.code[after.seen] != after.code[~after.seen]
    return {
        "n": int(after.seen.sum()),
        "n_changed": int(changed.sum()),
        "n_to_suggestion": int((changed & after.agrees[after.seen]).sum()),
        **_agreement(after),
    }


def _alpha(trial: Trial, n_units: int) -> list[dict]:
    """Alpha among answers with the suggestion in view and among those without, on units of each stratum."""
    from analysis.stats import agreement_effect, clustered_agreement, krippendorff_alpha

    level = "ordinal" if trial.dimension.level == "ordinal" else "nominal"

    def measure(labels: Labels) -> Estimate:
        return krippendorff_alpha(labels, level)

    rows = []
    for name, units in strata_of(_right_of_units(trial, n_units)).items():
        row: dict = {"stratum": name, "level": level, "seen": None, "unseen": None, "n_seen": 0, "n_unseen": 0}
        if name != "all" and not trial.is_outside:
            rows.append(row | {"difference": without(NO_OUTSIDE)})
            continue
        sides = [_labels(trial, side, n_units).select_units(units) for side in (trial.seen, ~trial.seen)]
        for side, labels in zip(("seen", "unseen"), sides, strict=True):
            alpha = measure(labels)
            row[f"n_{side}"] = alpha.n_pairable
            row[side] = (
                without_interval(alpha.estimate, alpha.n_pairable, alpha.undefined)
                if is_quick() or alpha.undefined
                else effect(clustered_agreement(measure, labels), 1)
            )
        reason = _one_sided(int(trial.seen.sum()), int((~trial.seen).sum()))
        difference = without(reason or PENDING)
        if not is_quick() and not reason:
            difference = effect(agreement_effect(measure, *sides))
        rows.append(row | {"difference": difference})
    return rows


def _labels(trial: Trial, side: np.ndarray, n_units: int) -> Labels:
    import numpy as np

    from analysis.stats import Labels

    cluster = np.full(n_units, -1)
    cluster[trial.unit] = trial.cluster
    names = tuple(str(code) for code in range(int(trial.rater.max(initial=-1)) + 1))
    columns = (trial.unit[side], trial.rater[side], trial.code[side])
    return Labels(*columns, n_units, trial.dimension.values, cluster=cluster, rater_names=names)


def _time(source: Source, labels: pd.DataFrame, first: pd.DataFrame, trials: list[Trial]) -> dict:
    """Of answers that were never revised, since the time is that of the latest revision. Suggestions about an item are
    right where all of them are, and wrong where any is."""
    import numpy as np
    import pandas as pd

    from analysis.stats import clustered_mean, time_effect

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
    if is_quick():
        return {"strata": [], **counts}
    codes = answers["rater"].astype("category").cat.codes.to_numpy()
    seen, cluster = answers["seen"].to_numpy(dtype=bool), answers["cluster"].to_numpy()
    found = time_effect(seconds, seen, right, codes, cluster)
    logs = np.log(seconds, out=np.full(len(seconds), np.nan), where=seconds > 0)
    rows = []
    for name, where in strata_of(right).items():
        one, row = found[name], {"stratum": name}
        for side, chosen in (("seen", where & seen), ("unseen", where & ~seen)):
            mean = clustered_mean(logs[chosen], [codes[chosen], cluster[chosen]])
            row |= {side: effect(mean.exponentiated()), f"n_{side}": getattr(one, f"n_{side}")}
        reason = _one_sided(one.n_seen, one.n_unseen)
        parts = {"ratio": one.ratio, "within": one.within}
        rows.append(row | {part: without(reason) if reason else effect(of) for part, of in parts.items()})
    return {"strata": rows, **counts}
