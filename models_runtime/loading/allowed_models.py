"""Which models a run may name, so that a user who starts one cannot make a worker read any folder or fetch anything.

Assay restricts them at start to what its settings say (`registry.restrict_models`). Elsewhere, as in a notebook,
nothing is restricted, since nobody there loads what another person named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..contracts import ModelError

VARIABLE, LIMIT_VARIABLE = "ASSAY_MODELS", "ASSAY_MODEL_LIMIT_GB"
KIND = "model"  # of a parameter that names one
ANY = "*"
GIGABYTE = 10**9
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_OWNER = re.compile(r"([A-Za-z0-9][\w.-]*)/\*")


@dataclass(frozen=True, slots=True)
class Allowed:
    """Folders that models may lie in, at any depth; names, on the hub or of packages, with the revision that is meant
    (empty: the newest); owners on the hub all of whose models may be loaded."""

    folders: tuple[Path, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    owners: tuple[str, ...] = ()
    is_any: bool = False

    def allows(self, model: str) -> bool:
        if self.is_any or model in self.names:
            return True
        if model.startswith("/"):
            return any(_is_below(model, folder) for folder in self.folders)
        owner, _, name = model.partition("/")
        return bool(name) and owner in self.owners and _NAME.fullmatch(model) is not None

    def __str__(self) -> str:
        owners = (f"all of {owner} on the Hugging Face Hub" for owner in self.owners)
        folders = (f"folders in {folder}" for folder in self.folders)
        return ", ".join([*self.names, *owners, *folders])


_allowed: Allowed | None = None
_most_bytes: int | None = None


def restrict_to(allowed: Allowed | None, most_gigabytes: float | None = None) -> None:
    """From now on no other models may be named, nor larger ones loaded; None: whatever there is."""
    global _allowed, _most_bytes
    _allowed = allowed
    _most_bytes = None if most_gigabytes is None else int(most_gigabytes * GIGABYTE)


def parse_models(raw: str) -> Allowed:
    """What the variable says; ValueError says what is wrong with it."""
    folders, names, owners, is_any = [], {}, [], False
    for entry in (part.strip() for part in raw.split(",")):
        name, _, revision = entry.partition("@")
        if entry == ANY:
            is_any = True
        elif entry.startswith("/"):
            if ".." in Path(entry).parts:
                raise ValueError(f"must give the folder {entry!r} without ..")
            folders.append(Path(entry))
        elif owner := _OWNER.fullmatch(entry):
            owners.append(owner[1])
        elif _NAME.fullmatch(name) and (not revision or re.fullmatch(r"\w[\w.-]*", revision)):
            names[name] = revision
        else:
            raise ValueError(
                f"has {entry!r}, which is not an absolute folder, owner/name, owner/name@revision, owner/* or *"
            )
    return Allowed(tuple(folders), names, tuple(owners), is_any)


def problem_of(model: str) -> str:
    """Why this model must not be named; empty where it may be. What is not allowed is not looked for, so the answer is
    the same whether it is there or not."""
    if _allowed is None or not model or _allowed.allows(model):
        return ""
    return f"{model!r} is not one of the models that this site allows ({_allowed})"


def described() -> str:
    """What may be named, for the user; empty if that is anything."""
    return "" if _allowed is None or _allowed.is_any else str(_allowed)


def revision_of(model: str) -> str:
    """The revision on the hub that the site means by this name; empty: the newest."""
    return _allowed.names.get(model, "") if _allowed else ""


def check_size(model: str, n_bytes: int) -> None:
    if _most_bytes is not None and n_bytes > _most_bytes:
        gigabytes, most = n_bytes / GIGABYTE, _most_bytes / GIGABYTE
        raise ModelError(
            f"{model} has {gigabytes:.3g} GB, and this site loads {most:.3g} GB at most ({LIMIT_VARIABLE})"
        )


def _is_below(model: str, folder: Path) -> bool:
    """By its name, and by where links lead. Nothing is asked of the disk about what lies elsewhere by its name."""
    path = Path(model)
    if ".." in path.parts or not path.is_relative_to(folder):
        return False
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except ValueError:  # a NUL, or half a surrogate pair
        return False
