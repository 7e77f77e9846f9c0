"""Two releases compared: texts and units that came, went or changed, labels that changed and to what, and agreement
before and after. From the files alone; plain data, so that a command, a page and the API show the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from django.db import transaction

from analysis.models import Release
from analysis.releases.cards.citation import version_of
from analysis.releases.cards.facts import agreement_of
from analysis.releases.cards.final_labels import final_labels
from analysis.releases.cards.readme import written
from analysis.releases.cards.writing import FIGURES
from analysis.sources.releases.archives import path_for
from analysis.sources.releases.files import ReleaseError
from analysis.sources.releases.frames import ReleaseSource
from annotation.datasets.kinds import KIND_NAMED
from annotation.jobs.leases import JobError
from annotation.jobs.lifecycle import Lease
from annotation.models import Chunk, Job

# Of each kind of change, how many are shown one by one.
SHOWN = 100


def compare(before: ReleaseSource, after: ReleaseSource, shown: int | None = None) -> dict:
    """What changed. `shown` bounds every list of single changes; counts are of all. ReleaseError where the two have
    nothing to compare."""
    if before.task_type.rpartition("/")[0] != after.task_type.rpartition("/")[0]:
        raise ReleaseError(
            f"the releases ask different things ({before.task_type} and {after.task_type}); compare two of one project"
        )
    return {
        "before": _named(before),
        "after": _named(after),
        "is_same": before.files.manifest["release"]["sha256"] == after.files.manifest["release"]["sha256"],
        "texts": [one for kind in KIND_NAMED if (one := _texts(kind, before, after, shown))],
        "units": _keys(*(set(one.unit_frame(one.type.unit_kind)["unit_key"]) for one in (before, after)), shown),
        "labels": _labels(before, after, shown),
        "judgements": _judgements(before, after),
        "annotators": _keys(*(set(one.rater_frame()["rater"]) for one in (before, after)), shown),
        "guidelines": _guidelines(before, after),
        "label_set_changed": before.files.manifest["labels"] != after.files.manifest["labels"],
        "agreement": _agreement(before, after),
    }


def _named(source: ReleaseSource) -> dict:
    release = source.files.manifest["release"]
    named = {name: release[name] for name in ("number", "note", "moment", "sha256")}
    return named | {"project": source.slug, "version": version_of(release)}


def _keys(before: set[str], after: set[str], shown: int | None) -> dict:
    added, removed = sorted(after - before), sorted(before - after)
    return {
        "before": len(before),
        "after": len(after),
        "added": len(added),
        "removed": len(removed),
        "added_keys": added[:shown],
        "removed_keys": removed[:shown],
    }


def _texts(kind: str, before: ReleaseSource, after: ReleaseSource, shown: int | None) -> dict | None:
    """Rows of a kind of content; None where neither release has any. A row that has changed is one of the same key with
    another value."""
    old, new = (
        {row["key"]: row for row in source.files.rows(f"frames/content/{kind}.jsonl")} for source in (before, after)
    )
    if not old and not new:
        return None
    changed = [key for key in sorted(old.keys() & new.keys()) if old[key] != new[key]]
    return (
        {"kind": kind, "title": kind.replace("_", " ").capitalize()}
        | _keys(set(old), set(new), shown)
        | {"changed": len(changed), "changes": list(_changes(changed[:shown], old, new))}
    )


def _changes(keys: list[str], old: dict[str, dict], new: dict[str, dict]) -> Iterator[dict]:
    for key in keys:
        one, other = old[key], new[key]
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                yield {"key": key, "name": name, "before": _as_text(one.get(name)), "after": _as_text(other.get(name))}


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _labels(before: ReleaseSource, after: ReleaseSource, shown: int | None) -> list[dict]:
    """By question, what became of the one label of every unit that both releases have."""
    sides = []
    for source in (before, after):
        keys = source.unit_frame(source.type.unit_kind).set_index("unit")["unit_key"].to_dict()
        sides.append({(keys[unit], name): one for (unit, name), one in final_labels(source).items()})
    old, new = sides
    both = sorted({key for key, _ in old} & {key for key, _ in new})
    known = {one.slug for one in before.type.dimensions}
    found = []
    for dimension in after.type.dimensions:
        if dimension.slug not in known:
            continue
        pairs = [(key, old[key, dimension.slug], new[key, dimension.slug]) for key in both]
        changed = [(key, one, other) for key, one, other in pairs if one.label != other.label]
        moves = Counter((one.label, other.label) for _, one, other in changed)
        found.append(
            {
                "dimension": dimension.slug,
                "title": dimension.title,
                "units": len(both),
                "same": len(both) - len(changed),
                "gained": sum(n for (one, _), n in moves.items() if one is None),
                "lost": sum(n for (_, other), n in moves.items() if other is None),
                "changed": sum(n for move, n in moves.items() if None not in move),
                "moves": [
                    {"before": one, "after": other, "units": n}
                    for (one, other), n in sorted(moves.items(), key=lambda row: (-row[1], str(row[0])))
                ],
                "changes": [
                    {"unit": key, "before": one.label, "after": other.label, "by": other.method}
                    for key, one, other in changed[:shown]
                ],
            }
        )
    return found


def _judgements(before: ReleaseSource, after: ReleaseSource) -> dict:
    """Individual labels: of the latest answers, by unit, question and person."""
    old, new = ({place: label for place, label in _individual_labels(source)} for source in (before, after))
    both = old.keys() & new.keys()
    return {
        "before": len(old),
        "after": len(new),
        "added": len(new) - len(both),
        "removed": len(old) - len(both),
        "changed": sum(old[place] != new[place] for place in both),
    }


def _individual_labels(source: ReleaseSource) -> Iterator[tuple]:
    units = source.unit_frame(source.type.unit_kind)
    keys = units.set_index("unit")["unit_key"].to_dict()
    labels = source.label_frame(units)
    for unit, *place, label in labels[["unit", "dimension", "rater", "label"]].itertuples(index=False):
        yield (keys[unit], *place), label


def _guidelines(before: ReleaseSource, after: ReleaseSource) -> dict:
    counts = [len([one for one in _versions(source) if one]) for source in (before, after)]
    return {"before": counts[0], "after": counts[1], "changed": _versions(before) != _versions(after)}


def _versions(source: ReleaseSource) -> list[str]:
    return source.files.manifest.get("settings", {}).get("guidelines", [])


def _agreement(before: ReleaseSource, after: ReleaseSource) -> list[dict]:
    old, new = (
        {(one["dimension"], figure["name"]): (one, figure) for one in figures_of(source) for figure in one["figures"]}
        for source in (before, after)
    )
    return [
        {
            "dimension": dimension,
            "title": question["title"],
            "figure": figure["title"],
            "before": _with_words(*old.get((dimension, name), ({}, None))),
            "after": _with_words(question, figure),
        }
        for (dimension, name), (question, figure) in new.items()
    ]


def _with_words(question: dict, figure: dict | None) -> dict:
    if figure is None:
        return {"words": "not computed", "estimate": None, "units": 0}
    return figure | {"words": written(figure), "units": question["units"]}


def figures_of(source: ReleaseSource) -> list[dict]:
    """Agreement as its card has it, where that file is as it was written; else computed again."""
    files = source.files
    if FIGURES in files.manifest.get("beside", {}) and FIGURES not in files.changed_beside():
        return json.loads(files.text(FIGURES))["agreement"]
    return agreement_of(source)


# ---- of releases that are kept ----


class CompareHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        rows = {str(one.uuid): one for one in Release.objects.filter(uuid__in=job.parameters.values())}
        try:
            sides = [path_for(rows[job.parameters[side]], job.project) for side in ("before", "after")]
            found = compare(*map(ReleaseSource, sides), SHOWN)
        except ReleaseError as error:
            raise JobError(str(error)) from None
        with transaction.atomic():
            lease.complete()
            Job.objects.filter(pk=job.pk).update(result=found)

    def finish(self, job: Job, lease: Lease) -> dict:
        return job.result

    def clean_up(self, job: Job) -> None:
        """It stages nothing."""


HANDLER = CompareHandler()


# ---- as text ----


def as_lines(found: dict) -> Iterator[str]:
    """For a terminal."""
    before, after = found["before"], found["after"]
    yield f"{before['project']} {before['version']} -> {after['project']} {after['version']}"
    if found["is_same"]:
        yield "No changes: the hashes are equal."
    for one in found["texts"]:
        yield _counted(one["title"], one) + f", {one['changed']:,} changed"
        for change in one["changes"]:
            yield f"  {change['key']} {change['name']}: {change['before'][:60]!r} -> {change['after'][:60]!r}"
    yield _counted("Units", found["units"])
    yield _counted("Judgements", found["judgements"]) + f", {found['judgements']['changed']:,} changed"
    yield _counted("Annotators", found["annotators"])
    for one in found["labels"]:
        yield (
            f"{one['title']}: of {one['units']:,} units in both {one['same']:,} keep their label, {one['changed']:,} "
            f"have another, {one['gained']:,} gained one, {one['lost']:,} lost theirs"
        )
        for move in one["moves"]:
            yield f"  {move['before'] or 'none'} -> {move['after'] or 'none'}: {move['units']:,}"
    for one in found["agreement"]:
        yield f"{one['title']}, {one['figure']}: {one['before']['words']} -> {one['after']['words']}"


def _counted(title: str, one: dict) -> str:
    return f"{title}: {one['before']:,} -> {one['after']:,}, {one['added']:,} added, {one['removed']:,} removed"
