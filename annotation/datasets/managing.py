"""A data set itself: made, named, renamed. Its content comes by imports."""

from contextlib import suppress

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from annotation import editing
from annotation.models import Dataset, SettingsChange, User
from annotation.rendering import FORMATS, TEXTS

CHANGEABLE = ("title", "description", "text_formats")
SLUG_STEM, SLUG_ATTEMPTS = 70, 8


def free_slug_in(rows: QuerySet, title: str, otherwise: str) -> str:
    """A short name from the title that none of the rows has; `otherwise` where the title has no letters for one."""
    stem = slugify(title)[:SLUG_STEM].strip("-") or otherwise
    if stem == "new":  # .../new/ is the form
        stem = f"new-{otherwise}"
    used = set(rows.filter(slug__startswith=stem).values_list("slug", flat=True))
    if stem not in used:
        return stem
    return next(f"{stem}-{number}" for number in range(2, len(used) + 3) if f"{stem}-{number}" not in used)


def free_slug(title: str) -> str:
    return free_slug_in(Dataset.objects.all(), title, "data-set")


def free_title(owner: User, title: str) -> str:
    """The title, with a number where the person has a data set that is called so: lists show titles alone."""
    most = Dataset._meta.get_field("title").max_length
    stem = title[: most - SLUG_ATTEMPTS]  # room for the number
    used = set(Dataset.objects.filter(owner=owner, title__startswith=stem).values_list("title", flat=True))
    if title not in used:
        return title
    return next(name for number in range(2, len(used) + 3) if (name := f"{stem} ({number})") not in used)


def create_dataset(owner: User, title: str) -> Dataset:
    """A data set with a short name from its title."""
    for _ in range(SLUG_ATTEMPTS):
        # Another of this title may be made at the same moment: then the next name is free.
        with suppress(IntegrityError), transaction.atomic():
            return Dataset.objects.create(owner=owner, title=title, slug=free_slug(title))
    return Dataset.objects.create(owner=owner, title=title, slug=free_slug(title))


def update_dataset(dataset: Dataset, by: User, **changes: str) -> None:
    """Store a new title, description or formats of texts, and nothing besides."""
    if unknown := set(changes) - set(CHANGEABLE):
        raise TypeError(f"These cannot be changed: {', '.join(sorted(unknown))}")
    with editing.locked(dataset):
        before = {name: getattr(dataset, name) for name in changes}
        for name, value in changes.items():
            setattr(dataset, name, value)
        dataset.save(update_fields=list(changes))
        before, after = _for_history(before), _for_history(changes)
        editing.record(by, dataset, SettingsChange.What.DATASET, before, after)


def _for_history(values: dict) -> dict:
    """The formats of texts one by one."""
    formats = values.get("text_formats", {})
    return {name: value for name, value in values.items() if name != "text_formats"} | {
        f"format of {title.lower()}": FORMATS[formats[name]].title if name in formats else "as found"
        for name, title in TEXTS.items()
        if "text_formats" in values
    }
