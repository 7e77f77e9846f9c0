"""Changes of a data set itself; its content comes by imports."""

from annotation import editing
from annotation.models import Dataset, SettingsChange, User

CHANGEABLE = ("title", "description")


def update_dataset(dataset: Dataset, by: User, **changes: str) -> None:
    """Store a new title or description, and nothing besides."""
    if unknown := set(changes) - set(CHANGEABLE):
        raise TypeError(f"These cannot be changed: {', '.join(sorted(unknown))}")
    with editing.locked(dataset):
        before = {name: getattr(dataset, name) for name in changes}
        for name, value in changes.items():
            setattr(dataset, name, value)
        dataset.save(update_fields=list(changes))
        editing.record(by, dataset, SettingsChange.What.DATASET, before, changes)
