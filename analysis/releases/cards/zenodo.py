""".zenodo.json: the metadata of a deposit, as Zenodo reads it from a folder or a repository."""

from __future__ import annotations

import json
from html import escape

from analysis.releases.cards.citation import authors_of, citation_words, title_of, version_of


def zenodo_of(manifest: dict, facts: dict) -> str:
    release, settings = manifest["release"], manifest["settings"]
    card = settings.get("card", {})
    texts = [settings.get("description"), card.get("motivation"), card.get("collection"), card.get("limits")]
    texts.append(f"{facts['units']:,} units, {facts['answers']:,} answers. SHA-256 of the data: {release['sha256']}.")
    found = {
        "upload_type": "dataset",
        "title": title_of(manifest),
        "version": version_of(release),
        "publication_date": release["moment"][:10],
        "creators": [{"name": name} for name in authors_of(card)] or [{"name": f"The makers of {title_of(manifest)}"}],
        # Zenodo shows this as HTML.
        "description": "".join(f"<p>{escape(text)}</p>" for text in texts if text),
        "access_right": "open" if card.get("license") else "closed",
        "keywords": ["annotation", "natural language processing"],
        "notes": citation_words(manifest),
    }
    if card.get("license"):
        found["license"] = card["license"].lower()
    if card.get("languages"):
        found["language"] = card["languages"].split(", ")[0]
    if card.get("homepage"):
        found["related_identifiers"] = [{"identifier": card["homepage"], "relation": "isDocumentedBy"}]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
