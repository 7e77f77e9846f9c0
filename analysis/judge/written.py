"""The verdict on a judge as sentences and tables: for the terminal, as JSON, and as one page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from types import ModuleType

from analysis.judge import verdict
from analysis.judge.parts import Answered, TextTable, valued
from analysis.judge.soft import soft_fields, soft_table
from analysis.judge.verdict import FEW_CLUSTERS


def _words(answered: Answered) -> ModuleType:
    """What words the verdict on this judge: a module with `sentence`, `rule`, `slices_in_words`, `tables`,
    `comparison`, `fields` and `picture`."""
    from analysis.judge import by_label, by_scale

    return by_scale if answered.judgement.is_scale else by_label


def sentence(answered: Answered) -> str:
    """The verdict first, as a reader would repeat it."""
    return _words(answered).sentence(answered)


def rule(answered: Answered) -> str:
    return _words(answered).rule(answered)


def slices_in_words(answered: Answered) -> list[str]:
    """Which values of the column of --by differ; empty without that column."""
    return _words(answered).slices_in_words(answered)


def tables(answered: Answered) -> Iterator[TextTable]:
    if answered.judgement.n:
        yield from _words(answered).tables(answered)
        if (of_soft := soft_table(answered)) is not None:
            yield of_soft


def comparison(every: Sequence[Answered]) -> TextTable | None:
    """Judges two by two; None for one."""
    return _words(every[0]).comparison([one.judgement for one in every]) if len(every) > 1 else None


def level_words(answered: Answered) -> str:
    """How numbers were taken where nobody chose; empty without."""
    return f"Labels: {answered.level_note}." if answered.level_note else ""


def caution(answered: Answered) -> str:
    """The warning about intervals of few clusters; empty if none is needed."""
    n = answered.judgement.n_clusters
    if n is None or n >= FEW_CLUSTERS:
        return ""
    return f"Caution: only {n} cluster{'' if n == 1 else 's'}, the intervals may be too narrow."


# ---- the terminal, JSON, a page ----


def as_text(table: TextTable) -> str:
    widths = [max(len(row[at]) for row in (table.columns, *table.rows)) for at in range(len(table.columns))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (table.columns, *table.rows)
    ]
    return "\n".join([table.title, *lines, *([f"  {table.note}"] if table.note else [])])


def as_json(answered: Answered) -> dict:
    one = answered.judgement
    fields = {"judge": one.judge, "n": one.n, "n_rows": one.columns.n_rows, "n_ties": answered.n_ties}
    fields |= {"level": one.level}
    fields |= {"humans": list(answered.humans), "margin" if one.has_peers else "floor": one.bound}
    fields |= {"sentence": sentence(answered), "caution": caution(answered)}
    if one.n:
        fields |= _words(answered).fields(one) | {"passes": one.passes}
    for name, shares in (("repeats", answered.repeats), ("swapped", answered.swaps)):
        if shares:
            fields[name] = {column: valued(asdict(share)) for column, share in shares.items()}
    for column in answered.swaps:
        fields["swapped"][column]["labels"] = [asdict(each) for each in verdict.shifts(one.columns, one.judge, column)]
    if answered.soft is not None:
        fields["soft"] = soft_fields(answered)
    if answered.slices:
        fields["by"] = {"column": answered.by, "sentences": slices_in_words(answered)}
        fields["by"] |= {name: [asdict(one) for one in getattr(answered, name)] for name in ("slices", "differences")}
    return _without_nan(fields)


def with_fingerprints(
    path: Path,
    every: Sequence[Answered],
    cluster: str = "",
    describe: Sequence[str] = (),
    is_long: bool = False,
    release: str = "",
) -> list[dict]:
    """The verdicts as JSON, each with what it is about. With the hash of a release, these are the data."""
    from analysis.judge.fingerprint import described, fingerprints

    judges, first = [one.judgement.judge for one in every], every[0]
    kept = {*first.humans, *filter(None, (first.by, cluster))}
    found = fingerprints(
        path, judges, kept, first.judgement.columns.labels, described(describe), is_long, first.probabilities
    )
    of_release = {"data": f"release sha256:{release}"} if release else {}
    return [as_json(one) | {"fingerprint": found[judge] | of_release} for one, judge in zip(every, judges, strict=True)]


def _without_nan(value):
    """JSON has no nan: undefined is null."""
    if isinstance(value, dict):
        return {name: _without_nan(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


STYLE = """
:root { color-scheme: light dark; --edge: light-dark(#d5d9dd, #3a4046); --quiet: light-dark(#58616a, #a3adb6); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
.answer { font-size: 1.2rem; } .rule, .note { color: var(--quiet); }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.wide { overflow-x: auto; }
"""


def as_page(every: Sequence[Answered], file: str) -> str:
    """One page that needs nothing else: sentences, pictures, tables."""
    parts = []
    for answered in every:
        parts.append(f"<p class=answer>{escape(sentence(answered))}</p><p class=rule>{escape(rule(answered))}</p>")
        parts += [f"<p class=answer>{escape(words)}</p>" for words in slices_in_words(answered)]
        if words := level_words(answered):
            parts.append(f"<p class=rule>{escape(words)}</p>")
        if warning := caution(answered):
            parts.append(f"<p class=note>{escape(warning)}</p>")
        if answered.judgement.n:
            parts.append(_words(answered).picture(answered.judgement))
    shown = [table for answered in every for table in tables(answered)]
    if (between := comparison(every)) is not None:
        shown.insert(0, between)
    parts += [_table(table) for table in shown]
    title = f"May the judge be used? {file}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>\n"
    )


def _table(table: TextTable) -> str:
    head = "".join(f"<th scope=col>{escape(one)}</th>" for one in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f"<p class=note>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2><div class=wide><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{note}"
    )
