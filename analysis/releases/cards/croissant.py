"""croissant.json: the tables of a release as record sets, with what the responsible-AI vocabulary asks."""

from __future__ import annotations

import json

from analysis.releases.cards.citation import authors_of, citation_words, title_of, version_of
from analysis.releases.cards.facts import is_slot
from analysis.releases.cards.readme import PREFILL, written
from analysis.reports.words.numbers import n_of

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
TYPES = {"text": "sc:Text", "boolean": "sc:Boolean", "integer": "sc:Integer", "number": "sc:Float"}


def croissant_of(manifest: dict, facts: dict, tables: dict, digests: dict[str, dict]) -> str:
    release, settings = manifest["release"], manifest["settings"]
    card = settings.get("card", {})
    found = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": title_of(manifest),
        "description": settings.get("description") or card.get("motivation") or title_of(manifest),
        "version": version_of(release) if _is_numbered(version_of(release)) else f"0.0.{release['number']}",
        "datePublished": release["moment"][:10],
        "citeAs": citation_words(manifest),
        "license": _license(card.get("license", "")),
        "url": card.get("homepage") or f"urn:sha256:{release['sha256']}",
        "creator": [
            {"@type": "sc:Person" if "," in name else "sc:Organization", "name": name} for name in authors_of(card)
        ]
        or [{"@type": "sc:Organization", "name": f"The makers of {title_of(manifest)}"}],
        **({"inLanguage": card["languages"].split(", ")} if card.get("languages") else {}),
        **_responsible(manifest, card, facts),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "encodingFormat": "application/x-parquet",
                "contentSize": f"{digests[path]['bytes']} B",
                "sha256": digests[path]["sha256"],
            }
            for table in tables.values()
            for path in table["files"].values()
        ],
        "recordSet": [
            _records(name, split, path, table["columns"])
            for name, table in tables.items()
            for split, path in table["files"].items()
        ],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


def _is_numbered(version: str) -> bool:
    parts = version.split(".")
    return len(parts) == 3 and all(part.isdigit() for part in parts)


def _license(spdx: str) -> str:
    if not spdx:
        return "None yet"
    return f"https://spdx.org/licenses/{spdx}.html" if " " not in spdx and not spdx.startswith("LicenseRef-") else spdx


def _records(table: str, split: str, path: str, columns: list[list[str]]) -> dict:
    name = f"{table}_{split}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The table {table}, split {split}",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": words,
                "dataType": TYPES[kind],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind, words in columns
        ],
    }


def _responsible(manifest: dict, card: dict, facts: dict) -> dict:
    """What is known; unknown properties are left out."""
    people = [one for one in facts["raters"] if not is_slot(one)]
    agreement = "; ".join(
        f"{question['title']}: {figure['title']} {written(figure)}"
        for question in facts["agreement"]
        for figure in question["figures"]
    )
    decided = ", ".join(f"{n:,} by {method}" for method, n in facts["decided_by"].items())
    time = []
    if facts["first_answer"]:
        time = [facts["first_answer"], facts["last_answer"]]
    guidelines = [text for text in manifest["settings"].get("guidelines", []) if text]
    found = {
        "rai:dataCollection": card.get("collection"),
        "rai:dataCollectionTimeframe": time,
        "rai:dataUseCases": card.get("motivation"),
        "rai:dataLimitations": card.get("limits"),
        "rai:personalSensitiveInformation": card.get("ethics"),
        "rai:dataAnnotationProtocol": (
            f"{manifest['release']['overlap']} judgements planned per item. "
            f"{PREFILL.get(manifest['release']['prefill'], '')} Versions of written guidelines: {len(guidelines)}. "
            f"One label per unit: {decided or 'none yet'}."
        ),
        "rai:dataAnnotationPlatform": manifest["release"]["software"],
        "rai:dataAnnotationAnalysis": agreement,
        "rai:annotationsPerItem": f"{facts['answers'] / facts['items']:.2f}" if facts["items"] else None,
        "rai:machineAnnotationTools": sorted({f"{one['checker']} {one['version']}" for one in facts["checkers"]}),
        "rai:dataReleaseMaintenancePlan": f"Contact: {card['contact']}" if card.get("contact") else None,
    }
    found["rai:dataAnnotationProtocol"] += f" {n_of(len(people), 'people')} labelled."
    return {name: value for name, value in found.items() if value}
