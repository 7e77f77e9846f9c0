"""Scores of a judged file in the log of Inspect that its rows are from."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from analysis.judge.files.destinations import further_scores
from analysis.judge.parts import Answered
from analysis.judge.table import TableProblem, read_cells
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.records import FormatError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.mapping import preview
from annotation.formats.tools.inspect_logs import ENTRIES, is_log, looks_like_log

Samples = dict[tuple[str, int], dict[str, dict]]


def write_inspect_log(path: Path, log: Path, out: Path, every: Sequence[Answered]) -> None:
    """A copy of the log with a score of each further column in the samples of the file's rows, which `id` and `epoch`
    name. TableProblem where a row has no sample, a sample has such a score already, or a file cannot be used."""
    scores = _scores(path, every)
    known = {name for of_sample in scores.values() for name in of_sample}
    left = set(scores)
    if out.exists() and log.exists() and out.samefile(log):
        raise TableProblem(f"{out}: is the log itself; name another file")
    part = out.with_name(f"{out.name}.part")
    try:
        source = SourceFile(log)
        if is_log([entry.filename for entry in entries_of(source)]):
            _write_archive(source, part, scores, left, known)
        else:
            _write_json(source, part, scores, left, known)
        if left:
            sample, epoch = min(left)
            raise TableProblem(f"{log}: has no sample {sample!r} in epoch {epoch}, which {path} has")
        part.replace(out)
    except FormatError as error:
        raise TableProblem(str(error)) from None
    except OSError as error:
        raise TableProblem(f"{error.filename or out}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _scores(path: Path, every: Sequence[Answered]) -> Samples:
    try:
        columns = preview(SourceFile(path)).columns
    except FormatError as error:
        raise TableProblem(str(error)) from None
    if "id" not in columns:
        raise TableProblem(f"{path}: has no column 'id' with the ids of samples, as Inspect's `samples_df` writes it")
    has_epochs = "epoch" in columns
    cells = read_cells(path, ["id", "epoch"] if has_epochs else ["id"])
    samples: list[tuple[str, int]] = []
    for number, sample in enumerate(cells["id"]):
        epoch = cells["epoch"][number] if has_epochs else "1"
        if not sample or not epoch.isdecimal():
            raise TableProblem(f"{path}: row {number + 1}: has no id of a sample, or an epoch that is no whole number")
        samples.append((sample, int(epoch)))
    if len(set(samples)) < len(samples):
        twice = next(one for place, one in enumerate(samples) if one in samples[:place])
        raise TableProblem(f"{path}: has the sample {twice[0]!r} twice; rows of several epochs need a column 'epoch'")
    found: Samples = defaultdict(dict)
    for score in further_scores(samples, every):
        found[score.trace][score.name] = {"value": score.value, "metadata": {"source": "assay judge"}}
    return dict(found)


def _write_archive(source: SourceFile, out: Path, scores: Samples, left: set, known: set[str]) -> None:
    """Each file of the log; scores stand in those of samples and in summaries."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for blob in open_blobs([source], _unlimited()):
            name = blob.name.removeprefix(f"{source.label}/")
            with blob.on_disk() as file:
                content = file.read()
            is_sample = PurePosixPath(name).parent.name == "samples"
            if is_sample or "summaries" in name:
                value = json.loads(content)
                for sample in [value] if is_sample else value:
                    _add(source, sample, scores, left if is_sample else set(), known)
                content = json.dumps(value, ensure_ascii=False)
            archive.writestr(name, content)


def _write_json(source: SourceFile, out: Path, scores: Samples, left: set, known: set[str]) -> None:
    content = source.path.read_bytes()
    if not looks_like_log(content[:4096]):
        raise TableProblem(f"{source.label}: is no log of Inspect")
    try:
        value = json.loads(content)
    except ValueError as error:
        raise TableProblem(f"{source.label}: is not valid JSON ({error})") from None
    for sample in value.get("samples") or ():
        _add(source, sample, scores, left, known)
    out.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")


def _add(source: SourceFile, sample: dict, scores: Samples, left: set, known: set[str]) -> None:
    place = str(sample.get("id")), sample.get("epoch", 1)
    there = sample.get("scores") or {}
    if again := sorted(known & there.keys()):
        raise TableProblem(f"{source.label}: has a score {again[0]!r} already")
    if place in scores:
        sample["scores"] = there | scores[place]
        left.discard(place)


def _unlimited() -> Options:
    """A log is the user's own, and is copied as it is."""
    limits = Options().limits
    return Options(limits=replace(limits, entries=ENTRIES))
