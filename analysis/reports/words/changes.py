"""What reports say of answers that changed after a decision, and of labels whose captions changed."""

from __future__ import annotations

from analysis.reports.words.numbers import either, n_of

REVISED = "revised_after_decisions"  # in what a result was made from
CAPTIONS = "captions_changed"
SHOWN = 5  # of each that changed


def notes_on_changes(result: dict) -> list[str]:
    made_from = result.get("made_from", {})
    words = {REVISED: _revised, CAPTIONS: _captions}
    return [sentence(made_from[name]) for name, sentence in words.items() if made_from.get(name)]


def _captions(found: list) -> str:
    shown = "; ".join(
        f"{question}: {', '.join(f'{caption} ({n:,})' for caption, n in captions)}"
        for question, _, captions in found[:SHOWN]
    )
    more = f"; and {n_of(len(found) - SHOWN, 'further labels')}" if len(found) > SHOWN else ""
    return (
        f"Caution: {n_of(len(found), 'labels')} had another caption when some of the answers were given, and all "
        f"answers are counted together. Answers by caption: {shown}{more}."
    )


def _revised(found: dict) -> str:
    n, changes = found["answers"], found["changes"]
    shown = "; ".join(
        f"{question} {then or 'not answered'}, now {now or 'not answered'}"
        f"{f', decided {decision}' if decision else ''} ({number:,})"
        for question, then, now, decision, number in changes[:SHOWN]
    )
    more = f"; {len(changes) - SHOWN:,} further kinds of changes" if len(changes) > SHOWN else ""
    return (
        f"Note: {n_of(n, 'answers')} on {n_of(found['units'], 'units')} {either(n, 'was', 'were')} changed after the "
        f"decision. Figures count the answers as they are now. At the decision and now: {shown}{more}."
    )
