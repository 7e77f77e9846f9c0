"""The labelling configuration of a Label Studio project: which field of a task a text comes from, and what is asked."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace

from annotation.formats.files.containers import entries_of, open_blobs
from annotation.formats.records import FormatError
from annotation.formats.sources import MIB, Options, SourceFile
from annotation.formats.tools.tasks import NUMBER, ONE, PASSAGES, RATING, SEVERAL, WORDS, ToolQuestion, question_slug

TEXTS = ("Text", "HyperText", "Paragraphs")
MOST_STARS = 40
CONFIGS = (".xml",)


@dataclass(slots=True)
class Config:
    fields: dict[str, str] = field(default_factory=dict)  # name of an object -> field of the task's data
    asked: dict[str, ToolQuestion] = field(default_factory=dict)


def split(sources: list[SourceFile]) -> tuple[list[SourceFile], Config | None]:
    """The files of tasks, and what the configuration among the files says."""
    tasks, configs = [], []
    for source in sources:
        names = [entry.filename for entry in entries_of(source, also=CONFIGS)]
        configs += [replace(source, entry=name) for name in names if name.lower().endswith(CONFIGS)]
        (configs if is_config(source) else tasks).append(source)
    if len(configs) > 1:
        raise FormatError(f"{configs[1].label}: is a second labelling configuration; give one")
    return tasks, read_config(configs[0]) if configs else None


def is_config(source: SourceFile) -> bool:
    try:
        with open(source.path, "rb") as file:
            return file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    except OSError:
        return False


def read_config(source: SourceFile) -> Config:
    """FormatError for what is no XML, and for XML with a document type or entities."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    with closing(open_blobs([source], Options())) as blobs:
        raw = next(blobs).stream.peek(MIB)
    if len(raw) >= MIB:
        raise FormatError(f"{source.label}: a labelling configuration of more than {MIB:,} bytes is not read")
    try:
        root = fromstring(raw, forbid_dtd=True)
    except DefusedXmlException as error:
        raise FormatError(f"{source.label}: has a document type or entities, which are not read") from error
    except (ParseError, ValueError, LookupError) as error:
        raise FormatError(f"{source.label}: is not readable XML ({error})") from error
    found = Config()
    for element in root.iter():
        name, value = element.get("name", ""), element.get("value", "")
        if element.tag in TEXTS and name and value.startswith("$"):
            found.fields[name] = value[1:]
        elif element.tag == "Choices" and name:
            kind = SEVERAL if element.get("choice", "single") == "multiple" else ONE
            labels = [each.get("alias") or each.get("value") or "" for each in element.iter("Choice")]
            _ask(found, name, kind, labels)
        elif element.tag == "Labels" and name:
            _ask(
                found, name, PASSAGES, [each.get("alias") or each.get("value") or "" for each in element.iter("Label")]
            )
        elif element.tag == "TextArea" and name:
            found.asked[question_slug(name)] = ToolQuestion(name, WORDS)
        elif element.tag == "Number" and name:
            found.asked[question_slug(name)] = ToolQuestion(name, NUMBER)
        elif element.tag == "Rating" and name:
            stars = element.get("maxRating", "5")
            most = int(stars) if stars.isascii() and stars.isdecimal() and len(stars) < 3 else 5
            _ask(found, name, RATING, [str(star) for star in range(1, min(most, MOST_STARS) + 1)])
    return found


def _ask(config: Config, name: str, kind: str, labels: list[str]) -> None:
    asked = ToolQuestion(name, kind, is_listed=True)
    for label in filter(None, labels):
        asked.add(label)
    config.asked[question_slug(name)] = asked
