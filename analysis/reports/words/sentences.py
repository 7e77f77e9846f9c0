"""What methods paragraphs have in common: how intervals were made, read from the figures themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import to_builtins

from analysis.figures.results import Figure, Record, Result
from analysis.reports.words.numbers import n_of

MOST_WARNINGS = 3

OF_TABLE = "Clusters are those of the table's column cluster; a unit that has none there is one of its own."
SOURCES = (
    "Intervals end at expanded bias-corrected and accelerated quantiles (Efron 1987; Hesterberg 2015), which widen "
    "them for small numbers."
)


def figures_in(part: object) -> Iterator[dict]:
    """Every figure of a result that has an interval."""
    if isinstance(part, Record):
        part = to_builtins(part)
    if isinstance(part, dict):
        if part.get("low") is not None and isinstance(part.get("interval"), dict) and part["interval"].get("method"):
            yield part
        for inner in part.values():
            yield from figures_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from figures_in(inner)


def is_of_table(result: dict | Result) -> bool:
    return made_from(result).get("kind") == "table"


def made_from(result: dict | Result) -> dict:
    return result.made_from if isinstance(result, Result) else result.get("made_from", {})


def clusters_of(result: dict | Result) -> tuple[str, str]:
    """What units come in, one and several. A table says what, but not that these are claims or questions."""
    return ("cluster", "clusters") if is_of_table(result) else ("claim or question", "claims or questions")


def defined_clusters(result: dict | Result) -> str:
    """The last sentence of a paragraph that names clusters of a table; empty for projects, whose are known."""
    return OF_TABLE if is_of_table(result) else ""


def intervals_in(result: dict | Result, clusters_are: tuple[str, str] | None = None) -> str:
    """A sentence on the intervals that the result holds; empty where it holds none. `clusters_are` one, and many, where
    they are other ones than `clusters_of` says."""
    found = [figure["interval"] for figure in figures_in(result)]
    if not found:
        return ""
    level = ", ".join(sorted({f"{one['level']:.0%}".replace("%", " %") for one in found}))
    resamples = sorted({one["n_resamples"] for one in found})
    number = f"{resamples[-1]:,}" if len(resamples) == 1 else f"{resamples[0]:,} to {resamples[-1]:,}"
    clusters = [one["n_clusters"] for one in found if one["n_clusters"]]
    one, many = clusters_are or clusters_of(result)
    drawn = f"whole {many} (all units of one {one} together, {max(clusters):,} at most)" if clusters else "units"
    made = f"Intervals ({level}) are from {number} bootstrap resamples of {drawn}. {SOURCES}"
    defined = defined_clusters(result) if clusters and clusters_are is None else ""
    return sentences(made, _warnings(found), defined)


def _warnings(intervals: list[dict]) -> str:
    """What the most frequent notes beside intervals say, and of how many; empty where there are none."""
    notes = Counter(one["note"] for one in intervals if one.get("note"))
    if not notes:
        return ""
    said = [f"{note} ({n:,} of {len(intervals):,})" for note, n in notes.most_common(MOST_WARNINGS)]
    return f"Intervals to be read with care: {'; '.join(said)}{'; and others' if len(notes) > MOST_WARNINGS else ''}."


def checker_name(of: dict | Record) -> str:
    """A checker with its version; models of a table have none."""
    if isinstance(of, Record):
        return f"{of.checker} {of.version}".strip()
    return f"{of['checker']} {of['version']}".strip()


def listed(words: list[str], last: str = "and") -> str:
    """'a, b and c'."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def left_out_of(figure: dict | Figure) -> str:
    """What did not enter a figure, in brackets; empty where all did."""
    left_out = figure.left_out or {} if isinstance(figure, Figure) else figure["left_out"]
    reasons = [f"{n:,} {reason}" for reason, n in left_out.items() if n]
    return f" (left out: {listed(reasons)})" if reasons else ""


def labels_counted(result: dict | Result, of: str = "the checker") -> str:
    """Which of people's labels count against a checker; empty where decisions do."""
    if isinstance(result, Result):
        result = {"reference": result.reference, "touched": result.touched}
    if result["reference"] not in ("majority", "dawid-skene"):
        return ""
    if result["touched"]:
        return f"All labels of people count, those given after a suggestion of {of} was seen too."
    return f"Only labels count that were given before a suggestion of {of} was seen, or without one."


def said_of_labels_seen(result: dict) -> str:
    """What became of answers whose authors had been served others' labels; empty where there are none."""
    found = result.get("made_from", {}).get("labels_seen")
    if not found:
        return ""
    several = found["answers"] != 1
    return (
        f"{n_of(found['answers'], 'answers')} that {'were' if several else 'was'} given or changed after "
        f"{'their authors' if several else 'its author'} had been served others' labels of the project "
        f"{('count' if several else 'counts') if found['counted'] else ('are left out' if several else 'is left out')}."
    )
