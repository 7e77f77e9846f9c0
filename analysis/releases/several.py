"""A release of several projects on one data set: a numbered folder for each, which is a release of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from analysis.releases.cards.several import ReleasePart, write_around
from analysis.releases.cards.writing import write_manifest
from analysis.sources.releases.files import combined, labels_in


def folder_of(place: int, slug: str) -> str:
    return f"{place}-{slug}"


def software_of(assay: str, packages: Iterable[str]) -> dict:
    """What a manifest says of the software: Assay's version, and the packages that the labels depend on."""
    packages = sorted(packages)
    return {"software": ", ".join([assay, *packages])} | ({"packages": packages} if packages else {})


def write_whole(folder: Path, parts: list[ReleasePart], title: str, without_comments_of: str = "") -> dict:
    """The manifest and what else stands around the parts, which are written; returns the manifest."""
    first = parts[0].manifest
    files = {f"{part.folder}/{name}": one for part in parts for name, one in part.manifest["files"].items()}
    of_labels = [f"{part.folder}/{name}" for part in parts for name in labels_in(part.manifest["files"])]
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.manifest["counts"])
    card = first["settings"].get("card", {})
    kept = ("version", "number", "note", "moment", "release_version", "overlap", "prefill")
    packages = {name for part in parts for name in part.manifest["release"].get("packages", ())}
    assay, *_ = first["release"]["software"].split(", ")
    manifest = {
        "assay_export": 1,
        "project": first["project"],
        "parts": [
            {
                "folder": part.folder,
                "project": part.manifest["project"],
                "task_type": part.manifest["task_type"],
                **{name: part.manifest["release"][name] for name in ("title", "sha256", "labels_sha256")},
            }
            for part in parts
        ],
        "settings": {"card": card} if card else {},
        "counts": dict(sorted(counts.items())),
        "files": files,
        "changes": first.get("changes", []),
        "release": {name: first["release"][name] for name in kept if name in first["release"]}
        | software_of(assay, packages)
        | {"title": title, "sha256": combined(files, files), "labels_sha256": combined(files, of_labels)},
    }
    if without_comments_of not in ("", manifest["release"]["sha256"]):
        manifest["release"]["without_comments_of"] = without_comments_of
    write_manifest(folder, manifest)
    manifest["beside"] = write_around(folder, manifest, parts)
    write_manifest(folder, manifest)
    return manifest
