"""Tables of what the comparison says of a run's probabilities, and of two runs against the same people."""

from __future__ import annotations

from analysis.reports.people_tables import estimate, intervals
from analysis.reports.tabular import Table


def probabilities(title: str, found: dict) -> list[Table]:
    bins = [
        (f"{row['low']:.1f} to {row['high']:.1f}", row["n"], row["confidence"], row["accuracy"])
        for row in found["bins"]
    ]
    scores = [(name, *estimate(found[slug]), found[slug]["n_pairable"]) for slug, name in CALIBRATION]
    labels = [
        (row["title"], row["share"])
        + sum((estimate(row[name]) for name in ("roc_auc", "average_precision", "f1", "accuracy")), ())
        + (", ".join(f"{threshold:g}" for threshold in row["chosen"]),)
        for row in found["labels"]
    ]
    names = ("threshold", "n_taken", "precision", "recall", "f1", "accuracy")
    return [
        Table(f"{title}: calibration", ("Measure", *intervals("Value"), "n"), scores),
        Table(f"{title}: reliability", ("Probability", "n", "Mean probability", "Share right"), bins),
        Table(
            f"{title}: telling each label from the rest",
            ("Label", "Share")
            + intervals("ROC area", "Average precision", "F1, out of fold", "Accuracy, out of fold")
            + ("Thresholds of the folds",),
            labels,
        ),
        *(
            Table(
                f"{title}: thresholds of {row['title']}",
                ("Threshold", "Taken", "Precision", "Recall", "F1", "Accuracy"),
                [tuple(at[name] for name in names) for at in row["thresholds"]],
            )
            for row in found["labels"]
        ),
    ]


CALIBRATION = (("ece", "Expected calibration error"), ("brier", "Brier score"))


def versus(result: dict, title: str, found: dict) -> list[Table]:
    run = f"{result['checker']} {result['version']}"
    other = f"{result['other']['checker']} {result['other']['version']}"
    rows = [(row["title"], row["run"], row["other"], *estimate(row), row["n_pairable"]) for row in found["figures"]]
    tests = [
        (test["name"], f"undefined: {test['undefined']}" if test["p_value"] is None else test["p_value"])
        for test in found["tests"]
    ]
    counts = [(f"only {run} is right", found["n_only_run"]), (f"only {other} is right", found["n_only_other"])]
    return [
        Table(
            f"{title}: {run} and {other} against the same people",
            ("Measure", "Run", "Other run", *intervals("Difference"), "n"),
            rows,
        ),
        Table(f"{title}: tests of the difference", ("Test", "p"), tests),
        Table(f"{title}: units where one run alone is right", ("Units where", "n"), counts),
    ]
