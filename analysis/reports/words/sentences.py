"""What methods paragraphs have in common: how intervals were made, read from the figures themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from analysis.figures.results import AgainstReference, Figure, Record, Result, to_json
from analysis.reports.words.numbers import either, n_of
from annotation.formats.names import run_name

MOST_WARNINGS = 3

OF_TABLE = "Clusters are those of the table's column cluster; a unit that has none there is one of its own."
SOURCES = (
    "Intervals end at expanded bias-corrected and accelerated quantiles (Efron 1987; Hesterberg 2015), which widen "
    "them for small numbers."
)


def _intervals_of(part: object) -> Iterator[dict]:
    """How the intervals of all figures came about."""
    if isinstance(part, dict):
        how = part.get("interval")
        if part.get("low") is not None and isinstance(how, dict) and how.get("method"):
            yield how
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _intervals_of(inner)


def is_of_table(result: Result) -> bool:
    return result.made_from.get("kind") == "table"


def clusters_of(result: Result) -> tuple[str, str]:
    """What units come in, one and several. A table says what, but not that these are claims or questions."""
    return ("cluster", "clusters") if is_of_table(result) else ("claim or question", "claims or questions")


def defined_clusters(result: Result) -> str:
    """The last sentence of a paragraph that names clusters of a table; empty for projects, whose are known."""
    return OF_TABLE if is_of_table(result) else ""


def intervals_in(result: Result, clusters_are: tuple[str, str] | None = None) -> str:
    """A sentence on the intervals that the result holds; empty where it holds none. `clusters_are` one, and many, where
    they are other ones than `clusters_of` says."""
    intervals = list(_intervals_of(to_json(result)))
    if not intervals:
        return ""
    level = ", ".join(sorted({f"{one['level']:.0%}".replace("%", " %") for one in intervals}))
    resamples = sorted({one["n_resamples"] for one in intervals})
    number = f"{resamples[-1]:,}" if len(resamples) == 1 else f"{resamples[0]:,} to {resamples[-1]:,}"
    clusters = [one["n_clusters"] for one in intervals if one["n_clusters"]]
    one, many = clusters_are or clusters_of(result)
    drawn = f"whole {many} (all units of one {one} together, {max(clusters):,} at most)" if clusters else "units"
    made = f"Intervals ({level}) are from {number} bootstrap resamples of {drawn}. {SOURCES}"
    defined = defined_clusters(result) if clusters and clusters_are is None else ""
    return sentences(made, _warnings(intervals), defined)


def _warnings(intervals: list[dict]) -> str:
    """The most frequent notes on intervals, with the number of intervals; empty if there are none."""
    notes = Counter(one["note"] for one in intervals if one.get("note"))
    if not notes:
        return ""
    texts = [f"{note} ({n:,} of {len(intervals):,})" for note, n in notes.most_common(MOST_WARNINGS)]
    return f"Intervals to be read with care: {'; '.join(texts)}{'; and others' if len(notes) > MOST_WARNINGS else ''}."


def checker_title(checker: str) -> str:
    """One whose labels were imported has the name that it brought."""
    return run_name(checker)


def checker_name(of: Record) -> str:
    """A checker with its version; models of a table have none."""
    return run_name(of.checker, of.version)


def listed(words: list[str], last: str = "and") -> str:
    """'a, b and c'."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def no_interval(figure: Figure) -> str:
    """Why an estimate stands without its interval."""
    why = figure.why_no_interval
    return f"no interval: {why}" if why else "the interval is still being computed"


def left_out_of(figure: Figure) -> str:
    """What did not enter a figure, in brackets; empty where all did."""
    reasons = [f"{n:,} {reason}" for reason, n in (figure.left_out or {}).items() if n]
    return f" (left out: {listed(reasons)})" if reasons else ""


def also_left_out(n: int, words: str) -> str:
    """The end of a sentence on a share: of how many it does not speak; empty where it speaks of all.

    >>> also_left_out(2, "answers without a decided label"), also_left_out(0, "ties")
    ('; 2 answers without a decided label are left out', '')
    """
    return f"; {n_of(n, words)} {either(n, 'is', 'are')} left out" if n else ""


def labels_counted(result: AgainstReference) -> str:
    """Which of people's labels count against a checker; empty where decisions do."""
    if result.reference not in ("majority", "dawid-skene"):
        return ""
    if result.touched:
        return "All labels of people count, also those given after the annotator saw a suggestion."
    return "Only labels given before the annotator saw a suggestion of the checker are counted."


def note_on_labels_seen(result: dict) -> str:
    """What became of answers whose authors had been served others' labels; empty where there are none."""
    counts = result.get("made_from", {}).get("labels_seen")
    if not counts:
        return ""
    n = counts["answers"]
    fate = either(n, "counts", "count") if counts["counted"] else either(n, "is left out", "are left out")
    return (
        f"{n_of(n, 'answers')} that {either(n, 'was', 'were')} given or changed after "
        f"{either(n, 'its author', 'their authors')} had been served others' labels of the project {fate}."
    )


def note_on_further(n: int, counts: bool) -> str:
    """What became of answers that were asked for because answers differed; empty where there are none."""
    if not n:
        return ""
    fate = either(n, "counts", "count") if counts else either(n, "is left out", "are left out")
    why = "which biases agreement" if counts else "since they come only where people disagree"
    return f"{n_of(n, 'answers')} asked for because the answers of an item differed {fate}, {why}."


def taken_together(groups: Sequence[str]) -> str:
    """That raters of several groups are pooled."""
    return f"Raters of {len(groups)} groups are taken together: {', '.join(groups)}."
