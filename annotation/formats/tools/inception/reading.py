"""INCEpTION's (and WebAnno's) documents, as UIMA CAS XMI or UIMA CAS JSON 0.4.

A project's export has `annotation/DOCUMENT/USER.json`, or `annotation/DOCUMENT/*.zip` with `USER.xmi` and its type
system, and `curation/DOCUMENT/...` in the same way. A document's own export is one such file. Types of annotations are
layers: of each feature that holds a word, the marked passages make a question.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from annotation.formats.cells import BadCell, required_text, row_error, to_key, to_text
from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.files.libraries import require
from annotation.formats.records import FormatError, Record, RowError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools import tasks as common
from annotation.formats.tools.inception.documents import TypeSystems, cas_of_json, cas_of_xmi
from annotation.formats.tools.offsets import CODE_POINTS, place
from annotation.formats.tools.tasks import RaterAnswers, Task, ToolSpan, shown

READ = (".json", ".xmi")
COMPANIONS = (".xml", ".zip")
FOLDERS = ("annotation", "curation")
SERIALIZED = ("annotation_ser", "curation_ser")
CURATION, INITIAL = "CURATION_USER", "INITIAL_CAS"
DOCUMENT_BYTES = 64 * MIB
ANNOTATION, BASE = "uima.tcas.Annotation", "uima.cas.AnnotationBase"
# What tokenizers and the tool itself write in addition to people's annotations.
NO_LAYERS = (
    "uima.",
    "de.tudarmstadt.ukp.dkpro.core.api.segmentation.",
    "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
    "de.tudarmstadt.ukp.dkpro.core.api.xml.",
    "de.tudarmstadt.ukp.dkpro.core.api.transform.",
    "org.dkpro.core.api.xml.",
    "de.tudarmstadt.ukp.clarin.webanno.api.type.",
    "de.tudarmstadt.ukp.inception.",
)
WORDS = ("uima.cas.String", "uima.cas.Boolean", "uima.cas.Integer", "uima.cas.Long", "uima.cas.Short")
OWN = {"begin", "end", "sofa"}
KEY_TYPE = "assay.Document"  # with the key that the text had here
MARKED = "marked"


@dataclass(frozen=True, slots=True)
class CasFile:
    """A file of one person's annotations; `user` is empty where nothing names them."""

    source: SourceFile
    name: str  # as errors call it
    key: str
    user: str
    is_curation: bool = False
    types: SourceFile | None = None  # the type system of XMI


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    return common.records_of(tasks_of(sources, options), options, has_repeats=True)


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    return common.label_set_of(tasks_of(sources, options), name)


def is_export(names: list[str]) -> bool:
    """Whether an archive is the export of a project, or of a document as XMI."""
    if any(name.lower().endswith(".xmi") for name in names):
        return True
    parts = [PurePosixPath(name).parts for name in names]
    return any(len(one) > 2 and one[-3] in (*FOLDERS, *SERIALIZED) for one in parts)


def looks_like_document(head: bytes) -> bool:
    """Whether a single file is a document; its first bytes tell."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:4000]
    return start.startswith(b"<") and b"http://www.omg.org/XMI" in start or b'"%TYPES"' in start


def tasks_of(sources: list[SourceFile], options: Options) -> Iterator[Task | RowError]:
    require("cassis")
    systems, found = TypeSystems(), False
    with tempfile.TemporaryDirectory() as folder:
        documents = list(_documents(sources, options, folder))
        has_annotators = any(not one.is_curation for one in documents)
        for document in documents:
            found = True
            try:
                yield _task(document, options, systems, has_annotators)
            except BadCell as problem:
                yield row_error(document.name, 1, problem)
    if not found:
        raise FormatError(_why_nothing(sources))


def _why_nothing(sources: list[SourceFile]) -> str:
    names = [entry.filename for source in sources for entry in entries_of(source, also=(".ser",))]
    if any(part in SERIALIZED for name in names for part in PurePosixPath(name).parts):
        return (
            f"{sources[0].label}: holds its annotations in Java's own form alone; export the project once more with "
            "the format UIMA CAS JSON 0.4 or UIMA CAS XMI"
        )
    return f"{sources[0].label}: has no document as UIMA CAS JSON or XMI"


# --- the files ------------------------------------------------------------------------------------------------------


def _documents(sources: list[SourceFile], options: Options, folder: str) -> Iterator[CasFile]:
    """The documents of the sources, in order; archives within an archive are unpacked into the folder."""
    by_folder: dict[tuple[str, PurePosixPath], list[SourceFile]] = {}
    for source in sources:
        entries = entries_of(source, also=(*COMPANIONS, *READ))
        if len(entries) > (most := options.limits.entries):
            raise FormatError(f"{source.label}: holds {len(entries):,} files; at most {most:,} are read")
        for one in [SourceFile(source.path, source.name, entry.filename) for entry in entries] or [source]:
            by_folder.setdefault((str(source.path) if entries else "", _path(one).parent), []).append(one)
    for files in by_folder.values():
        yield from _of_folder(files, options, folder, nested=True)


def _path(source: SourceFile) -> PurePosixPath:
    """Where a file lies in its archive; for one by itself, its name, or its place in the folder of an export."""
    on_disk = PurePosixPath(os.fspath(source.path))
    if source.entry:
        return PurePosixPath(source.entry)
    return on_disk if set(on_disk.parts[-4:-1]) & {*FOLDERS, *SERIALIZED} else PurePosixPath(source.label)


def _of_folder(files: list[SourceFile], options: Options, folder: str, *, nested: bool) -> Iterator[CasFile]:
    """Of files in one place: a type system next to documents as XMI is theirs."""
    paths = {one: _path(one) for one in files}
    types = next((one for one in files if paths[one].suffix.lower() == ".xml"), None)
    for one, path in paths.items():
        key, user, is_curation, is_other = _place_of(path)
        if is_other:
            continue
        if path.suffix.lower() == ".zip" and nested:
            yield from _of_archive(one, options, folder, key, is_curation)
        elif path.suffix.lower() in READ and user != INITIAL:
            yield CasFile(one, _name(one), key, user, is_curation, types)


def _of_archive(source: SourceFile, options: Options, folder: str, key: str, is_curation: bool) -> Iterator[CasFile]:
    with closing(open_blobs([source], options)) as blobs:
        handle, path = tempfile.mkstemp(dir=folder, suffix=".zip")
        with os.fdopen(handle, "wb") as out:
            stream = next(blobs).stream
            while block := stream.read(MIB):
                out.write(block)
                if stream.out > DOCUMENT_BYTES:
                    raise FormatError(f"{_name(source)}: is larger than {DOCUMENT_BYTES // MIB} MB; leave it out")
    inner = SourceFile(path, _name(source))
    each = [SourceFile(path, inner.name, entry.filename) for entry in entries_of(inner, also=(*COMPANIONS, *READ))]
    for document in _of_folder(each, options, folder, nested=False):
        user = PurePosixPath(document.source.entry).stem
        if user != INITIAL:
            is_project = bool(key)
            yield replace(
                document,
                key=key or document.key,
                user=user if is_project else "",
                is_curation=is_curation or user == CURATION,
            )


def _place_of(path: PurePosixPath) -> tuple[str, str, bool, bool]:
    """Key of the document, its user, whether it is a curation, and whether it is a file of something else."""
    parts = path.parts
    if len(parts) > 2 and parts[-3] in FOLDERS:
        return parts[-2], path.stem, parts[-3] == "curation", False
    if any(part in (*SERIALIZED, "source", "log", "kb", "project_info") for part in parts[:-1]):
        return "", "", False, True
    if path.name.startswith("exportedproject"):
        return "", "", False, True
    return ("" if path.suffix.lower() == ".zip" else path.stem), "", path.stem == CURATION, False


def _name(source: SourceFile) -> str:
    return f"{source.label}/{source.entry}" if source.entry else source.label


@contextmanager
def _bytes(source: SourceFile, options: Options) -> Iterator[bytes]:
    with closing(open_blobs([source], options.quiet())) as blobs:
        raw = next(blobs).stream.peek(DOCUMENT_BYTES + 1)
    if len(raw) > DOCUMENT_BYTES:
        raise BadCell("", "", f"is larger than {DOCUMENT_BYTES // MIB} MB; split the document")
    yield raw


# --- one document ---------------------------------------------------------------------------------------------------


def _task(document: CasFile, options: Options, systems: TypeSystems, has_annotators: bool) -> Task:
    with _bytes(document.source, options) as raw:
        if PurePosixPath(document.source.entry or document.source.label).suffix.lower() == ".json":
            cas = cas_of_json(raw)
        elif document.types is None:
            raise BadCell("", "", "is XMI without its type system: give the TypeSystem.xml along with it")
        else:
            with _bytes(document.types, options) as described:
                typesystem = systems.read(described)
            cas = cas_of_xmi(raw, typesystem)
    try:
        return _task_of(cas, document, options, has_annotators)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadCell("", "", f"cannot be read as a UIMA document ({type(error).__name__}: {error})"[:300]) from error


def _task_of(cas, document: CasFile, options: Options, has_annotators: bool) -> Task:
    raw = cas.sofa_string
    text = required_text(raw, "sofaString")
    structures = [fs for fs in cas.select_all_fs() if fs.type.name != "uima.cas.Sofa"]
    own = next((fs.key for fs in structures if fs.type.name == KEY_TYPE), None)
    key = to_key(own if isinstance(own, str) else document.key, "document", options.limits.key_chars)
    task = Task(document.name, 1, key, text, lost=Counter())
    curated = document.is_curation and has_annotators
    answers = RaterAnswers("" if curated else document.user, sees_all=True)
    for fs in sorted(structures, key=_place):
        if fs.type.name.startswith(NO_LAYERS) or fs.type.name == KEY_TYPE:
            continue
        layer, is_span = _layer(fs.type)
        if not layer:
            continue
        names = {feature.name for feature in fs.type.all_features}
        if {"Governor", "Dependent"} <= names:
            task.lost[f"Relations ({shown(layer)})"] += 1
        elif "next" in names or (not is_span and "first" in names):
            task.lost[f"Chains ({shown(layer)})"] += 1
        else:
            _read_structure(fs, layer, is_span, raw, answers, task)
    (task.decided if curated else task.people).append(answers)
    task.lost["Line ends of Windows, which become plain ones"] += "\r\n" in raw
    return task


def _place(fs) -> tuple:
    begin, end = getattr(fs, "begin", None), getattr(fs, "end", None)
    return (begin if isinstance(begin, int) else -1, end if isinstance(end, int) else -1, fs.type.name, fs.xmiID or 0)


def _layer(kind) -> tuple[str, bool]:
    """The name of a type's layer: that of its last ancestor below annotations; and whether it marks passages. Empty for
    what is no annotation, such as the ends of links."""
    while kind.supertype is not None:
        if kind.supertype.name in (ANNOTATION, BASE):
            return kind.name.rsplit(".", 1)[-1], kind.supertype.name == ANNOTATION
        kind = kind.supertype
    return "", False


def _read_structure(fs, layer: str, is_span: bool, raw: str, answers: RaterAnswers, task: Task) -> None:
    spans = place(raw, fs.begin, fs.end, None, (CODE_POINTS,)) if is_span else None
    if is_span and spans is None:
        task.lost[f"Passages without a character ({shown(layer)})"] += 1
        return
    quote = raw.replace("\r\n", "\n")[spans[0] : spans[1]] if spans else ""
    features = [one for one in fs.type.all_features if one.name not in OWN]
    holds_words = [one for one in features if one.rangeType.name in WORDS]
    labelled = False
    for feature in features:
        value = getattr(fs, "type_" if feature.name == "type" else feature.name, None)
        question = layer if feature.name == "value" else f"{layer}.{feature.name}"
        if value is None or value == "" or getattr(value, "elements", value) == []:
            continue
        if feature not in holds_words:
            task.lost[f"Links and other features that are no word ({shown(question)})"] += 1
        else:
            label = to_text(str(value).lower() if isinstance(value, bool) else value, question)
            labelled = True
            if spans:
                answers.spans.setdefault(question, []).append(ToolSpan(label, *spans, quote))
            else:
                answers.labels.setdefault(question, []).append(label)
    if spans and not labelled:
        if holds_words:
            task.lost[f"Passages without a label ({shown(layer)})"] += 1
        else:
            answers.spans.setdefault(layer, []).append(ToolSpan(MARKED, *spans, quote))
