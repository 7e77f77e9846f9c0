"""A release as what judges are held against: people's labels of one question, under the release's hash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.judge.table import TableProblem
from analysis.sources.releases.files import ANNOTATIONS, Files, ReleaseError
from annotation.formats.records import FormatError
from annotation.formats.tables.joining import joined
from annotation.task_types.base import CANNOT_JUDGE

KEY, RATER = "id", "rater"


@dataclass(frozen=True)
class AnchorSet:
    """`file` has a row for each person's label of a unit, with the judges' columns; `columns` are those of units,
    raters and labels. `order` are the labels, lowest first, of an ordinal question."""

    file: Path
    columns: tuple[str, str, str]
    people: tuple[str, ...]
    level: str
    order: tuple[str, ...]
    sha256: str
    title: str

    @property
    def line(self) -> str:
        return f"People's labels: {self.title}, SHA-256 {self.sha256[:12]}."


@contextmanager
def anchored(release: Path, files: Sequence[Path], question: str = "", by: str = KEY) -> Iterator[AnchorSet]:
    """The labels of a release, folder or zip, whose files are checked by its hash first, with the judges' files, whose
    column `by` holds the units' keys. TableProblem where the release or the question cannot be used."""
    try:
        kept = Files(release)
        kept.verify()
        if kept.parts:
            raise TableProblem(f"{release}: holds several projects; name one of them: {', '.join(kept.parts)}")
        asked = _question(release, kept.manifest.get("labels", ()), question)
        rows = _labels(kept, asked["dimension"], by)
        if not rows:
            raise TableProblem(f"{release}: has no label of {asked['dimension']} that a checker did not touch")
        about = kept.manifest["release"]
        number = f"release {about['number']}" if about["number"] else "a release"
        with TemporaryDirectory() as folder:
            people = Path(folder, "labels of the release.jsonl")
            people.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
            with joined([people, *files], by) as file:
                _check_units(file, [by, RATER, asked["dimension"], "item"], files, by)
                yield AnchorSet(
                    file,
                    (by, RATER, asked["dimension"]),
                    tuple(dict.fromkeys(row[RATER] for row in rows)),
                    asked["level"],
                    tuple(label["value"] for label in asked["labels"]) if asked["level"] == "ordinal" else (),
                    about["sha256"],
                    f"{number} of {about['title']}",
                )
    except (ReleaseError, FormatError) as error:
        raise TableProblem(str(error)) from None


def _check_units(file: Path, of_people: Sequence[str], files: Sequence[Path], by: str) -> None:
    """TableProblem where no row of the judges' files is about a unit of the release."""
    strange = ""
    for line in file.open(encoding="utf-8"):
        row = json.loads(line)
        is_judged = any(value not in (None, "") for name, value in row.items() if name not in of_people)
        if is_judged and row.get(RATER):
            return
        strange = strange or (row[by] if is_judged else "")
    names = ", ".join(one.name for one in files)
    raise TableProblem(
        f"{names}: no {by}, such as {strange!r}, is the key of a unit of the release that people labelled"
    )


def _question(release: Path, questions: Sequence[dict], name: str) -> dict:
    known = {one["dimension"]: one for one in questions}
    if not name and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        raise TableProblem(f"{release}: name a question with --question: {', '.join(known)}")
    return known[name]


def _labels(kept: Files, question: str, by: str) -> list[dict]:
    """Each person's last label of each unit before a suggestion was shown, in the order of the release. Who could not
    judge gave none."""
    found: dict[tuple[str, str], dict] = {}
    for answer in kept.rows(ANNOTATIONS):
        if answer.get("suggestion_shown"):
            continue
        for one in answer["judgements"]:
            if one["dimension"] == question:
                place = one["unit"], answer["annotator"]
                row = {by: one["unit"], "item": answer["item"], RATER: answer["annotator"], question: one["label"]}
                if place not in found or answer["revision"] >= found[place][""]:
                    found[place] = {"": answer["revision"]} | row
    rows = [row for row in found.values() if row[question] != CANNOT_JUDGE]
    return [{name: value for name, value in row.items() if name} for row in rows]
