"""Writes the files that a release's hash does not cover: made from the frozen files, they carry versions and dates, and
may be made again in another way without changing what was frozen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from analysis.releases.cards.citation import citation_file
from analysis.releases.cards.croissant import croissant_of
from analysis.releases.cards.facts import facts_of
from analysis.releases.cards.final_labels import final_labels
from analysis.releases.cards.readme import readme_of
from analysis.releases.cards.tables import write_tables
from analysis.releases.cards.zenodo import zenodo_of
from analysis.releases.writing import release_memory
from analysis.sources.releases.files import MANIFEST, digest_of, names_of
from analysis.sources.releases.frames import ReleaseSource

CARD, CROISSANT, CITATION, ZENODO = "README.md", "croissant.json", "CITATION.cff", ".zenodo.json"
FIGURES, CHECKSUMS = "figures.json", "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class WrittenCard:
    """What was written: digests by name, and what the card was made of."""

    digests: dict[str, dict]
    facts: dict
    tables: dict
    has_spans: bool


def write_beside(folder: Path, changes: list[dict]) -> WrittenCard:
    """Write tables, card, Croissant, citation, figures and checksums.

    `changes` is the changelog, newest first: {"number", "version", "date", "note"}.
    """
    source = ReleaseSource(folder)
    manifest = source.files.manifest
    found = final_labels(source)
    release_memory()
    facts = facts_of(source, found)
    release_memory()
    card = manifest["settings"].get("card", {})
    tables = write_tables(source, folder, found, card.get("splits", ""))
    has_spans = bool(len(source.span_frame(source.unit_frame(source.type.unit_kind))))
    digests = {path: digest_of(folder / path) for table in tables.values() for path in table["files"].values()}
    texts = {
        CARD: readme_of(manifest, facts, tables, changes, has_spans),
        CROISSANT: croissant_of(manifest, facts, tables, digests),
        CITATION: citation_file(manifest),
        ZENODO: zenodo_of(manifest, facts),
        FIGURES: as_text(facts),
    }
    return WrittenCard(digests | write_texts(folder, texts), facts, tables, has_spans)


def write_texts(folder: Path, texts: dict[str, str]) -> dict[str, dict]:
    """Write the texts, and then the checksums of all that is in the folder; returns the digests of these."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    names = [name for name in names_of(folder) if name != CHECKSUMS]
    every = {name: digest_of(folder / name)["sha256"] for name in names}
    (folder / CHECKSUMS).write_text(
        "".join(f"{digest}  {name}\n" for name, digest in every.items()), encoding="utf-8", newline=""
    )
    return {name: digest_of(folder / name) for name in (*texts, CHECKSUMS)}


def as_text(facts: dict) -> str:
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def write_manifest(folder: Path, manifest: dict) -> None:
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def figures_again(path: Path) -> str:
    """The figures of the card, computed from the release's folder or zip."""
    source = ReleaseSource(path)
    return as_text(facts_of(source, final_labels(source)))
