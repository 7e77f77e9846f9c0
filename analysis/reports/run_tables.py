"""Tables of the comparison: probabilities, two runs or scores against the same people, everybody side by side."""

from __future__ import annotations

from analysis.reports.equivalence import verdict
from analysis.reports.intervals import estimate, intervals
from analysis.reports.methods_words import checker_name
from analysis.reports.tabular import Cell, Table, linked


def probabilities(title: str, found: dict) -> list[Table]:
    bins = [
        (f"{row['low']:.1f} to {row['high']:.1f}", row["n"], row["confidence"], *estimate(row["accuracy"]))
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
        Table(f"{title}: reliability", ("Probability", "n", "Mean probability", *intervals("Share right")), bins),
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


TEST_COLUMNS = ("p", "Holm", "Benjamini-Hochberg")
PERMUTATIONS = "Permutations"
MCNEMAR_SUPPOSES = (
    "McNemar's test takes units as independent; the permutation test of macro-F1 keeps those of a claim or question "
    "together."
)
SCORE_TESTS_SUPPOSE = (
    "The permutation test swaps both scores for whole claims or questions. Williams's t and Steiger's Z take units as "
    "independent, and find too much where a score errs alike on the units of a claim or question."
)
EQUIVALENT = ("Equivalent", "90 % interval, low", "90 % interval, high")


def adjusted(test: dict) -> tuple[Cell, ...]:
    """A test's p value as it is, and adjusted for all of its kind that the page shows."""
    if test["p_value"] is None:
        return f"undefined: {test['undefined']}", None, None
    return test["p_value"], test["holm"], test["benjamini_hochberg"]


def _equivalent(found: dict) -> tuple[Cell, ...]:
    return verdict(found), found["low"], found["high"]


def versus(result: dict, title: str, found: dict) -> list[Table]:
    run = checker_name(result)
    other = checker_name(result["other"])
    rows = [
        (row["title"], row["run"], row["other"], *estimate(row), *_equivalent(row["equivalence"]), row["n_pairable"])
        for row in found["figures"]
    ]
    counts = [(f"only {run} is right", found["n_only_run"]), (f"only {other} is right", found["n_only_other"])]
    return [
        Table(
            f"{title}: {run} and {other} against the same people",
            ("Measure", "Run", "Other run", *intervals("Difference"), *EQUIVALENT, "n"),
            rows,
            note=f"Equivalent: two one-sided tests find the difference below {result['margin']:g}.",
        ),
        Table(
            f"{title}: tests of the difference",
            ("Test", *TEST_COLUMNS, PERMUTATIONS),
            [(test["name"], *adjusted(test), test["n_permutations"]) for test in found["tests"]],
            note=_note(MCNEMAR_SUPPOSES, family(result, "versus")),
        ),
        Table(f"{title}: units where one run alone is right", ("Units where", "n"), counts),
    ]


SEVERAL_SUPPOSES = (
    "Are all of them equally often right, on the units that people and every one of them label? Tests of pairs say "
    "little where this one finds no difference. The permutation changes their places for whole claims or questions; "
    "Cochran's Q takes units as independent."
)


def several(result: dict, title: str, found: dict | None) -> list[Table]:
    """Three checkers or more at once."""
    if not found:
        return []
    rows = [
        (test["name"], test["statistic"], *adjusted(test), test["n_permutations"], found["n_discordant"])
        + (linked(found["n_pairable"], found["figure"]),)
        for test in found["tests"]
    ]
    columns = ("Test", "Q", *TEST_COLUMNS, PERMUTATIONS, "Units that only some are right on", "n")
    name = f"{title}: {len(found['runs'])} checkers at once, accuracy"
    right = ", ".join(f"{row['name']} {row['n_right']}" for row in found["runs"])
    note = _note(SEVERAL_SUPPOSES, f"Right: {right}." if found["n_pairable"] else "", family(result, "several"))
    return [Table(name, columns, rows, note)]


def rivals(result: dict, title: str, found: list[dict], all_at_once: dict | None = None) -> list[Table]:
    """The run against the newest run of every other checker, each over the same people; before it all at once."""
    if not found:
        return []
    columns = ("Other checker", "Measure", "Run", "Other", *intervals("Difference"), *EQUIVALENT, "Test", *TEST_COLUMNS)
    rows = [
        (other["name"], row["title"], row["run"], row["other"], *estimate(row), *_equivalent(row["equivalence"]))
        + (test["name"], *adjusted(test), linked(row["n_pairable"], other["figure"]))
        for other in found
        for row, test in zip(other["figures"], other["tests"], strict=True)
    ]
    run = checker_name(result)
    note = _note(MCNEMAR_SUPPOSES, family(result, "rivals"))
    pairs = Table(f"{title}: {run} and every other checker", (*columns, "n"), rows, note=note)
    return [*several(result, title, all_at_once), pairs]


def _note(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def family(result: dict, name: str) -> str:
    """What the adjusted p values were adjusted for."""
    n = result["families"].get(name, 0)
    return f"Adjusted for the {n} tests of this kind over all questions and checkers here." if n > 1 else ""


def scores(result: dict, title: str, found: list[dict]) -> list[Table]:
    """Two scores against the same people."""
    if not found:
        return []
    a, b = (" of ".join(filter(None, side)) for side in result["score_pair"])
    return [
        Table(
            f"{title}: {a} and {b} against the same people",
            ("Correlation", a, b, "Of the two", *intervals("Difference"), *EQUIVALENT, "n"),
            [
                (row["title"], row["with_a"], row["with_b"], row["between"], *estimate(row))
                + (*_equivalent(row["equivalence"]), linked(row["n_pairable"], row["figure"]))
                for row in found
            ],
            note=f"Equivalent: two one-sided tests find the difference below {result['margin']:g}.",
        ),
        Table(
            f"{title}: tests of the difference between {a} and {b}",
            ("Correlation", "Test", *TEST_COLUMNS, PERMUTATIONS),
            [
                (row["title"], test["name"], *adjusted(test), test["n_permutations"])
                for row in found
                for test in row["tests"]
            ],
            note=_note(SCORE_TESTS_SUPPOSE, family(result, "scores")),
        ),
    ]


def labellers(result: dict, title: str, found: dict) -> list[Table]:
    """Every checker and person against the reference, and every checker against every person."""
    checkers = [row for row in found["labellers"] if row["kind"] == "checker"]
    expected = dict(zip([row["id"] for row in checkers], found["posterior"]["expected_accuracy"], strict=True))
    columns = ("Labeller", "Kind", *intervals("Accuracy", "Macro-F1", "Expected accuracy by Dawid-Skene"), "n")
    tables = [
        Table(
            f"{title}: every checker and every person against {result['reference_title'].lower()}",
            columns,
            [
                (row["name"], row["kind"], *estimate(row["accuracy"]), *estimate(row["macro_f1"]))
                + (*estimate(expected.get(row["id"])), linked(row["accuracy"]["n_pairable"], row["figure"]))
                for row in found["labellers"]
            ],
            note=_about_people(result, found),
        )
    ]
    if found["people"]:
        tables.append(
            Table(
                f"{title}: every checker against every single person",
                ("Checker", "Person", *intervals("Same label"), "n"),
                [
                    (checker["name"], person, *estimate(cell), linked(cell["n_pairable"], f"{cell['figure']}/both"))
                    for checker, row in zip(checkers, found["against_people"], strict=True)
                    for person, cell in zip(found["people"], row, strict=True)
                ],
            )
        )
    return tables


def _about_people(result: dict, found: dict) -> str:
    n_checkers = sum(row["kind"] == "checker" for row in found["labellers"])
    notes = []
    if n_checkers > 1:
        own = "Each checker is measured on all units that it labels."
        notes.append(own if result["own_units"] else "Checkers are compared on the units that all of them label.")
    if result["reference"] == "majority" and found["people"]:
        notes.append("A person is held against the majority of the others, on the units that they labelled.")
    if result["reference"] == "dawid-skene" and found["people"]:
        notes.append("A person's own labels are part of Dawid-Skene's truth, so their accuracy is too high.")
    notes.append(
        "Expected accuracy is the mean probability, by the posterior of Dawid-Skene over all people, of the checker's "
        "label."
    )
    if found["n_people_not_listed"]:
        notes.append(f"{found['n_people_not_listed']} more people are not listed.")
    return " ".join(notes)
