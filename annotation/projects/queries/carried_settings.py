"""The settings that an export brings along, in the words of the page before its import."""

from __future__ import annotations

from annotation.projects import settings as project_settings
from annotation.projects.cards import PART_NAMED
from annotation.projects.carried_settings import CarriedSettings
from annotation.task_types import TaskType, configured, task_type


def in_words(settings: CarriedSettings) -> list[tuple[str, str]]:
    """Pairs of what is set and how. What the file does not say is left out, since the usual value holds then."""
    kind = task_type(settings.task_type)
    words = [
        ("Task", kind.title),
        ("Questions", _questions(kind, settings)),
        *project_settings.in_words(settings.plain),
    ]
    if any(settings.guidelines):
        number, newest = len(settings.guidelines), settings.guidelines[-1]
        versions = "1 version" if number == 1 else f"{number} versions"
        words.append(("Guidelines", f"{versions}; the newest has {len(newest):,} characters"))
    if settings.card:
        words.append(("Data set card", ", ".join(PART_NAMED[name].title.lower() for name in settings.card)))
    if settings.rules:
        words.append(("Rules", ", ".join(dict.fromkeys(run.name for run in settings.rules))))
    return words


def _questions(kind: TaskType, settings: CarriedSettings) -> str:
    options = settings.options[-1] if settings.options else {}
    if not options:
        return "The task's own"
    titles = {dimension.slug: dimension.title for dimension in kind.dimensions}
    asked = configured(kind, options).free_text
    parts = [
        ("not asked: {}", [titles[slug] for slug in options.get("hidden", ())]),
        ("highlights: {}", [f"{titles[slug]} {choice}" for slug, choice in options.get("spans", {}).items()]),
        ("its own captions for {}", [titles[slug] for slug in options.get("captions", ())]),
        ("its own order of labels for {}", [titles[slug] for slug in options.get("order", ())]),
        ("free-text question: {}", [asked.title if asked else "nothing"] if "free_text" in options else []),
    ]
    changes = "; ".join(words.format(", ".join(named)) for words, named in parts if named)
    return f"Version {len(settings.options)} of the project's options: {changes}"
