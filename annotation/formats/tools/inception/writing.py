"""Documents for INCEpTION as UIMA CAS JSON 0.4 or as XMI, laid out as its own project exports are: a file per text and
annotator (of XMI a zip with its types), with a layer for each question."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotation.formats.tools.inception.reading import ANNOTATION, BASE, KEY_TYPE
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask

FILE, XMI_FILE = "inception.zip", "inception-xmi.zip"
LAYER = "webanno.custom."
NOBODY = "anonymous"
LOSES = (
    "Names: annotators are called by their pseudonyms",
    "Titles of questions: layers are called as questions are stored",
    "Texts other than the judged one, metadata, and times",
)
STRING = "uima.cas.String"


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """One zip of JSON in `folder`."""
    _write(tasks, questions, folder / FILE, "json", lambda cas: cas.to_json().encode())


def write_xmi(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """One zip of XMI in `folder`."""
    _write(tasks, questions, folder / XMI_FILE, "zip", _with_types)


def _write(tasks: Iterable[WrittenTask], questions: list, path: Path, ending: str, written: Callable) -> None:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for number, task in enumerate(tasks):
            document = f"{number:06d}-{quote(task.key, safe='')[:80]}.txt"
            places = 0
            for answers in task.people or [WrittenAnswers("INITIAL_CAS")]:
                places += not answers.who
                user = quote(answers.who or f"{NOBODY}-{places}", safe=" @")
                cas = _document(task, questions, answers)
                archive.writestr(_entry(f"annotation/{document}/{user}.{ending}"), written(cas))


def _entry(name: str) -> ZipInfo:
    """Of a fixed moment, so that the same labels give the same bytes."""
    entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = ZIP_DEFLATED
    return entry


def _with_types(cas) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        archive.writestr(_entry("document.xmi"), cas.to_xmi())
        archive.writestr(_entry("TypeSystem.xml"), cas.typesystem.to_xml())
    return out.getvalue()


def _document(task: WrittenTask, questions: list[WrittenQuestion], answers: WrittenAnswers):
    from cassis import Cas

    types = _types(questions)
    cas = Cas(typesystem=types)
    cas.sofa_string = list(task.texts.values())[-1]
    cas.sofa_mime = "text/plain"
    cas.add(types.get_type(KEY_TYPE)(key=task.key))
    judged = list(task.texts)[-1]
    for question in questions:
        if question.slug in answers.labels and not question.is_of_passages:
            layer = types.get_type(f"{LAYER}{question.slug}")
            for label in answers.labels[question.slug]:
                cas.add(layer(value=label))
        for span in answers.spans.get(question.slug, ()):
            if span.field == judged:
                layer = types.get_type(_layer_of_passages(question))
                cas.add(layer(begin=span.start, end=span.end, value=span.label))
    return cas


def _layer_of_passages(question: WrittenQuestion) -> str:
    return f"{LAYER}{question.slug}" + ("" if question.is_of_passages else "_passages")


def _types(questions: list[WrittenQuestion]):
    from cassis import TypeSystem

    types = TypeSystem()
    types.create_feature(types.create_type(KEY_TYPE, BASE), "key", STRING)
    for question in questions:
        if not question.is_of_passages:
            layer = types.create_type(f"{LAYER}{question.slug}", BASE, description=question.title)
            types.create_feature(layer, "value", STRING)
        if question.passages:
            title = question.passages_title or question.title
            layer = types.create_type(_layer_of_passages(question), ANNOTATION, description=title)
            types.create_feature(layer, "value", STRING)
    return types
