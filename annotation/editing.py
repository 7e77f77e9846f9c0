"""What several people may edit at the same time: forms that know the version they were made from, and the history.

A `SharedForm` carries a digest of each value that it showed. The view looks at it while the row is `locked`; where a
value was changed by another person in between, the form is not valid, shows both, and asks per field which to keep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from django import forms
from django.core.exceptions import BadRequest
from django.db import models, transaction
from django.utils.functional import cached_property

from annotation.models import SettingsChange, User

MADE_FROM, ASKED, KEEP = "made_from", "asked", "keep."
MINE, THEIRS = "mine", "theirs"


@contextmanager
def locked(row: models.Model, when: bool = True) -> Iterator[None]:
    """The row is as stored now, and nobody else edits it until the block ends; with `when` false, nothing is done."""
    if not when:
        yield
        return
    with transaction.atomic():
        type(row)._default_manager.select_for_update(no_key=True).get(pk=row.pk)
        row.refresh_from_db()
        yield


def record(user, row: models.Model, what: str, before: Mapping, after: Mapping, about: str = "") -> None:
    """Add what differs between `before` and `after` to the history of a project, a data set or an account."""
    changes = {name: [before.get(name), value] for name, value in after.items() if before.get(name) != value}
    if changes:
        place = {_place_of(row): row}
        SettingsChange.objects.create(user=user, what=what, about=about[:200], changes=changes, **place)


def _place_of(row: models.Model) -> str:
    return "account" if isinstance(row, User) else row._meta.model_name


def last_change(row: models.Model, what: str, about: str = "") -> SettingsChange | None:
    changes = SettingsChange.objects.filter(**{_place_of(row): row}, what=what)
    changes = changes.filter(about=about[:200]) if about else changes
    return changes.select_related("user").order_by("-pk").first()


def digest_of(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class FieldConflict:
    """A field that another person has changed since the form was made. `is_both`: this person changed it too."""

    name: str
    label: str
    theirs: str
    mine: str
    is_both: bool


class SharedForm(forms.BaseForm):
    """To be mixed into a form whose initial values are those that are stored. One without the version that it was made
    from is taken as it is: programs name what they change."""

    is_shared = True
    last_change: SettingsChange | None = None  # whose change it is, for the page; set by the view

    def full_clean(self) -> None:
        self.differences: list[FieldConflict] = []
        self.own_changes: list[str] = []
        if self.is_bound and self.data.get(MADE_FROM):
            self._compare(_version_in(self.data[MADE_FROM]))
        super().full_clean()
        if self.differences:
            self.add_error(None, "Nothing is saved yet: another person has changed this since you opened the page")

    @property
    def has_conflict(self) -> bool:
        return self.is_bound and bool(self.errors) and bool(self.differences)

    @cached_property
    def made_from(self) -> str:
        """What the hidden field of the page holds: the version that is stored now."""
        return json.dumps({name: digest_of(value) for name, value in self._stored.items()})

    @cached_property
    def _stored(self) -> dict[str, object]:
        return {name: _plain(self._initial(name)) for name in self.fields}

    def _initial(self, name: str) -> object:
        field = self.fields[name]
        return field.prepare_value(self.get_initial_for_field(field, name))

    def _entered(self, name: str) -> object:
        field = self.fields[name]
        value = field.widget.value_from_datadict(self.data, self.files, self.add_prefix(name))
        with suppress(forms.ValidationError):  # it is compared as it was typed
            value = field.clean(value)
        return _plain(field.prepare_value(value))

    def _compare(self, made_from: Mapping[str, str]) -> None:
        self.data = data = self.data.copy()
        asked = set(data.getlist(ASKED))
        for name, stored in self._stored.items():
            keep, entered = data.get(f"{KEEP}{name}"), self._entered(name)
            is_theirs = made_from.get(name, digest_of(stored)) != digest_of(stored)
            is_own = made_from.get(name, digest_of(entered)) != digest_of(entered)
            if is_theirs and entered != stored or name in asked and keep not in (MINE, THEIRS):
                label = self.shared_label(name)
                words = (self._in_words(name, value) for value in (stored, entered))
                self.differences.append(FieldConflict(name, label, *words, is_own or not is_theirs))
            elif name in asked and keep == THEIRS and not is_theirs:
                self._take_stored(name)
            elif is_own:
                self.own_changes.append(self.shared_label(name))

    def _take_stored(self, name: str) -> None:
        value, key = self._initial(name), self.add_prefix(name)
        if isinstance(self.fields[name], forms.BooleanField):
            self.data.pop(key, None)
            if value:
                self.data[key] = "on"
        elif isinstance(value, list | tuple):
            self.data.setlist(key, [str(one) for one in value])
        else:
            self.data[key] = "" if value is None else str(value)

    def shared_label(self, name: str) -> str:
        return str(self.fields[name].label or name.replace("_", " ").capitalize())

    def _in_words(self, name: str, value: object) -> str:
        field = self.fields[name]
        if isinstance(value, bool):
            return "Yes" if value else "No"
        choices = {str(key): str(title) for key, title in getattr(field, "choices", ())}
        if isinstance(value, list):
            return ", ".join(choices.get(one, one) for one in value)
        return choices.get(value, value)


def _version_in(text: str) -> Mapping[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest("made_from is no version of this form")
    return found


def _plain(value: object) -> str | bool | list[str]:
    """The value as it is compared: what a browser makes of line ends and blanks around a text is no change."""
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple | set):
        return [str(one) for one in value]
    return "" if value is None else str(value).replace("\r\n", "\n").strip()
