"""Libraries that come with an extra of the package, and what to say where one is missing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Library:
    """`extra`: of the package; its file of requirements pins the distribution. `needed_by`: how a sentence begins that
    says what needs it."""

    distribution: str
    extra: str
    needed_by: str


# By the name that is imported. Checkers name their own packages (`models_runtime/packages.py`).
LIBRARIES = {
    "pyarrow": Library("pyarrow", "formats", "Parquet files, Arrow files and releases need"),
    "cassis": Library("dkpro-cassis", "formats", "Files of INCEpTION need"),
    "pypdf": Library("pypdf", "formats", "PDF files need"),
    "huggingface_hub": Library("huggingface_hub", "formats", "Data sets of a hub need"),
    "spacy": Library("spacy", "checkers", "Dividing texts into sentences needs"),
    "sklearn": Library("scikit-learn", "statistics", "Logistic regression needs"),
}


class MissingLibrary(ValueError):
    """What was asked for needs a library that is not installed here; says which, and what to type."""


def why_missing(module: str) -> str:
    """Which library is not installed here, for what, and what to type; empty where it is."""
    if find_spec(module) is not None:
        return ""
    library = LIBRARIES[module]
    package = f"{library.distribution}, which is not installed here"
    return f"{library.needed_by} {package}: pip install 'assay[{library.extra}]'"


def check_library(module: str) -> None:
    """MissingLibrary where it is not installed."""
    if reason := why_missing(module):
        raise MissingLibrary(reason)
