"""Every file format there is. To add one: a module beside this one with `read` and `write`, and a line in `FORMATS`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from .records import FormatError
from .sources import Limits, Options, SourceFile

TEXT_TABLES = (".tsv", ".csv", ".jsonl", ".json", ".parquet", ".arrow")


@dataclass(frozen=True, slots=True)
class Format:
    """`module` is imported on first use. `task_type` is the identifier of the task type that fits its labels."""

    slug: str
    title: str
    extensions: tuple[str, ...]  # each also with .gz, and several of them in a .zip
    reads: str
    module: str
    task_type: str = ""
    needs_mapping: bool = False
    # Labels in the file make the questions: `label_set_of(sources, options, name)` gives them, {} where there are none.
    makes_label_set: bool = False

    def load(self) -> ModuleType:
        """The module, with `read(sources, options)` and `write(…)`."""
        return import_module(self.module)

    def read(self, sources: list[SourceFile], options: Options | None = None):
        """Records of the sources, streamed; FormatError where a file as a whole cannot be read."""
        return self.load().read(sources, options if options is not None else Options())


FORMATS: dict[str, Format] = {
    "druid": Format(
        slug="druid",
        title="DRUID / DRUID+",
        extensions=TEXT_TABLES,
        reads="Claims with evidence, and relevance and stance where the file has them.",
        module="annotation.formats.studies.druid",
        task_type="claim-evidence/six-way/1",
    ),
    "climate-fever": Format(
        slug="climate-fever",
        title="CLIMATE-FEVER",
        extensions=(".jsonl", ".json"),
        reads="Claims with five pieces of evidence each, and every vote on them.",
        module="annotation.formats.studies.climate_fever",
        task_type="claim-evidence/three-way/1",
    ),
    "claim-review": Format(
        slug="claim-review",
        title="ClaimReview (JSON-LD, Fact Check Tools API, Data Commons feed), or a table of claims",
        extensions=(".json", ".jsonl", ".csv", ".tsv", ".parquet"),
        reads="Claims that fact-checkers reviewed, with their verdicts as the fact-checkers word them.",
        module="annotation.formats.studies.claim_review",
    ),
    "averitec": Format(
        slug="averitec",
        title="AVeriTeC",
        extensions=(".json", ".jsonl"),
        reads="Claims with questions, answers as their evidence, and verdicts.",
        module="annotation.formats.studies.averitec",
        makes_label_set=True,
    ),
    "beir": Format(
        slug="beir",
        title="BEIR layout (FEVER, SciFact, …)",
        extensions=(".jsonl", ".tsv"),
        reads="Queries, the documents that are judged for them, and their relevance, together.",
        module="annotation.formats.studies.beir",
        task_type="claim-evidence/six-way/1",
    ),
    "scifact": Format(
        slug="scifact",
        title="SciFact (claims with their corpus)",
        extensions=(".jsonl",),
        reads="Claims, the documents that they cite, and whether these support them: claims and corpus, together.",
        module="annotation.formats.studies.scifact",
        task_type="claim-evidence/three-way/1",
    ),
    "refchecker": Format(
        slug="refchecker",
        title="RefChecker human annotations",
        extensions=(".json", ".jsonl"),
        reads="Answers of several models with their claim-triplets and human labels.",
        module="annotation.formats.studies.refchecker",
        task_type="triplets/-/1",
    ),
    "icat": Format(
        slug="icat",
        title="ICAT",
        extensions=(".jsonl", ".json", ".tsv", ".txt", ".parquet"),
        reads="Queries with subtopics, answers with human coverage labels, ICAT's results, qrels and corpus, together.",
        module="annotation.formats.studies.icat.format",
        task_type="aspect-coverage/-/1",
    ),
    "table": Format(
        slug="table",
        title="Table with columns of your own",
        extensions=TEXT_TABLES,
        reads="Claims with evidence, responses with triplets, or pairs, from the columns that you name.",
        module="annotation.formats.tables.format",
        needs_mapping=True,
    ),
    "ratings": Format(
        slug="ratings",
        title="Table of texts with labels, ratings and scores",
        extensions=TEXT_TABLES,
        reads="Texts with the labels of several raters and the scores of checkers elsewhere, in columns that you name.",
        module="annotation.formats.tables.ratings",
        needs_mapping=True,
        makes_label_set=True,
    ),
    "label-studio": Format(
        slug="label-studio",
        title="Label Studio JSON",
        extensions=(".json", ".jsonl", ".xml"),
        reads="Tasks with choices and ratings of annotators, and predictions; the labelling configuration, too.",
        module="annotation.formats.tools.label_studio.reading",
        makes_label_set=True,
    ),
    "doccano": Format(
        slug="doccano",
        title="doccano JSON Lines",
        extensions=(".jsonl",),
        reads="Texts with labels and labelled passages, a file per annotator.",
        module="annotation.formats.tools.doccano",
        makes_label_set=True,
    ),
    "prodigy": Format(
        slug="prodigy",
        title="Prodigy JSON Lines",
        extensions=(".jsonl",),
        reads="Texts with choices, accepted and rejected labels, and spans of several annotators.",
        module="annotation.formats.tools.prodigy",
        makes_label_set=True,
    ),
    "potato": Format(
        slug="potato",
        title="Potato output (zip or folder)",
        extensions=(".json", ".jsonl", ".yaml"),
        reads="The output folder of Potato 1 or 2, with the file of the texts and the configuration.",
        module="annotation.formats.tools.potato.reading",
        makes_label_set=True,
    ),
    "alt-test": Format(
        slug="alt-test",
        title="Alternative annotator test (zip or folder)",
        extensions=(".json",),
        reads="Labels of people and of models for the same items, by rater.",
        module="annotation.formats.tools.alt_test",
        makes_label_set=True,
    ),
    "argilla": Format(
        slug="argilla",
        title="Argilla records",
        extensions=(".json",),
        reads="Records with responses of several people and suggestions of models; the settings, too.",
        module="annotation.formats.tools.argilla",
        makes_label_set=True,
    ),
    "inception": Format(
        slug="inception",
        title="INCEpTION (UIMA CAS JSON or XMI)",
        extensions=(".json", ".xmi", ".xml"),
        reads="Documents with labelled passages of several annotators, as exported from a project or one by one.",
        module="annotation.formats.tools.inception.reading",
        makes_label_set=True,
    ),
    "inspect": Format(
        slug="inspect",
        title="Inspect log (.eval or .json)",
        extensions=(".eval", ".json"),
        reads="Samples with a model's answers, and the scores of each.",
        module="annotation.formats.tools.inspect_logs",
        makes_label_set=True,
    ),
    "content": Format(
        slug="content",
        title="Assay content (questions, claims, passages, answers)",
        extensions=(".jsonl", ".json"),
        reads="Questions or claims with passages, aspects, responses and their pieces, and pairs to compare.",
        module="annotation.formats.content.format",
    ),
    "assay": Format(
        slug="assay",
        title="Assay export",
        extensions=TEXT_TABLES,
        reads="A content file together with the file of its single annotations.",
        module="annotation.formats.content.assay",
    ),
}


def get_format(slug: str) -> Format:
    """The format of that name. Unknown names raise KeyError."""
    try:
        return FORMATS[slug]
    except KeyError:
        raise KeyError(f"There is no format {slug!r}; available: {', '.join(FORMATS)}") from None


def detect(path, original_name: str = "") -> str | None:
    """The slug of the format that a file most likely has, from its columns; None where it has no readable row."""
    return import_module("annotation.formats.detection").detect(SourceFile(path, original_name))


__all__ = ["FORMATS", "Format", "FormatError", "Limits", "Options", "SourceFile", "detect", "get_format"]
