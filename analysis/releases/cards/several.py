"""What stands around the numbered folders of a release of several projects: card, Croissant, citation, checksums."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from analysis.releases.cards.citation import authors_of, citation_file, title_of
from analysis.releases.cards.croissant import croissant_of
from analysis.releases.cards.readme import again, changes_section, head_of, section, table_of, written
from analysis.releases.cards.tables import LABELS
from analysis.releases.cards.writing import (
    CARD,
    CITATION,
    CROISSANT,
    FIGURES,
    ZENODO,
    WrittenCard,
    as_text,
    write_texts,
)
from analysis.releases.cards.zenodo import zenodo_of
from analysis.sources.releases.files import MANIFEST, digest_of


@dataclass(frozen=True, slots=True)
class ReleasePart:
    folder: str
    manifest: dict
    card: WrittenCard


def write_around(folder: Path, manifest: dict, parts: list[ReleasePart]) -> dict[str, dict]:
    """Write the files next to the folders; returns the digests of all that no hash covers."""
    tables = {
        f"{part.folder}-{name}": table
        | {"files": {split: f"{part.folder}/{path}" for split, path in table["files"].items()}}
        for part in parts
        for name, table in part.card.tables.items()
    }
    digests = {f"{part.folder}/{name}": one for part in parts for name, one in part.card.digests.items()}
    digests |= {name: digest_of(folder / name) for part in parts for name in [f"{part.folder}/{MANIFEST}"]}
    facts = _merged(parts)
    texts = {
        CARD: _readme(manifest, facts, tables, parts),
        CROISSANT: croissant_of(manifest, facts, tables, digests),
        CITATION: citation_file(manifest),
        ZENODO: zenodo_of(manifest, facts),
        FIGURES: as_text({part.folder: part.card.facts for part in parts}),
    }
    return digests | write_texts(folder, texts)


def _merged(parts: list[ReleasePart]) -> dict:
    """The facts that are sums, and lists one after another with the project's title before what they are about."""
    every = [part.card.facts for part in parts]
    decided: Counter[str] = Counter()
    for facts in every:
        decided.update(facts["decided_by"])
    moments = [facts for facts in every if facts["first_answer"]]
    named = [
        question | {"title": f"{part.manifest['release']['title']}: {question['title']}"}
        for part in parts
        for question in part.card.facts["agreement"]
    ]
    return {name: sum(facts[name] for facts in every) for name in ("units", "items", "answers", "judgements")} | {
        "raters": [rater for facts in every for rater in facts["raters"]],
        "agreement": named,
        "decided_by": dict(sorted(decided.items())),
        "first_answer": min((one["first_answer"] for one in moments), default=None),
        "last_answer": max((one["last_answer"] for one in moments), default=None),
        "checkers": [run for facts in every for run in facts["checkers"]],
    }


def _readme(manifest: dict, facts: dict, tables: dict, parts: list[ReleasePart]) -> str:
    release, card = manifest["release"], manifest["settings"].get("card", {})
    title = title_of(manifest)
    has_spans = any(part.card.has_spans for part in parts)
    head = head_of(card | {"title": title}, facts, tables, has_spans, default=f"{parts[0].folder}-{LABELS}")
    rows = [
        (f"`{part.folder}`", part.manifest["release"]["title"], part.manifest["task_type"])
        + tuple(f"{part.card.facts[name]:,}" for name in ("units", "answers"))
        for part in parts
    ]
    agreement = [
        (question["title"], figure["title"], written(figure), f"{question['units']:,}")
        for question in facts["agreement"]
        for figure in question["figures"]
    ]
    read = (
        "Every folder is a release of its own, with its card; reports are computed from one of them.\n\n"
        '```python\nfrom datasets import load_dataset\n\nlabels = load_dataset("FOLDER", "'
        f'{parts[0].folder}-{LABELS}")\n```'
    )
    lines = [
        f"---\n{head}---\n",
        f"# {title}\n",
        section("Purpose", card.get("motivation")),
        section("Licence", card.get("license") or "None yet: ask the authors before you use the data."),
        section("Authors", "\n".join(f"- {name}" for name in authors_of(card)) or None, is_plain=False),
        section("Contact", " ".join(filter(None, (card.get("contact"), card.get("homepage")))) or None),
        f"## Projects\n\n{table_of(('Folder', 'Project', 'Task type', 'Units', 'Answers'), rows)}\n\n{read}\n",
        "## Agreement\n\nBetween annotators, before anybody decided.\n\n"
        + table_of(("Question", "Figure", "Estimate [95 % interval]", "Units with two labels or more"), agreement)
        + "\n",
        section("How texts and annotators were chosen", card.get("collection")),
        section("Ethics and personal data", card.get("ethics")),
        section("Known limits", card.get("limits")),
        again(release, parts[0].folder),
        changes_section(manifest.get("changes", [])),
    ]
    return "\n".join(lines)
