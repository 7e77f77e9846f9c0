"""Files that people send, stored under names that the server chooses."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.db import transaction

from annotation.models import Dataset, Upload, User

NAME_CHARS = 300


class UploadError(Exception):
    """The file cannot be taken; the message is for its sender."""


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "uploads"


def path_of(upload: Upload) -> Path:
    """Where an upload lies. The name its sender gave it has no part in this."""
    return upload.stored_at


def title_of(file_name: str) -> str:
    """What to call the content of a file: its name without folders, endings and underscores."""
    return PurePosixPath(file_name).name.partition(".")[0].replace("_", " ").strip()


def store(user: User, dataset: Dataset, file) -> Upload:
    """Write the sent file in pieces. `file` has `name` and `chunks()`, as Django's uploaded files do."""
    name = shown_name(file.name or "")
    identifier = uuid.uuid4()
    folder().mkdir(parents=True, exist_ok=True)
    target = folder() / identifier.hex
    partial = target.with_suffix(".part")
    digest, size = hashlib.sha256(), 0
    try:
        with open(partial, "xb") as out:
            for block in file.chunks():
                size += len(block)
                if size > settings.UPLOAD_LIMIT:
                    raise UploadError(
                        f"{name} is larger than {settings.UPLOAD_LIMIT // 1024**2:,} MB; split it, compress it, or ask "
                        "the administrator to raise ASSAY_UPLOAD_LIMIT_MB"
                    )
                digest.update(block)
                out.write(block)
        if size == 0:
            raise UploadError(f"{name} is empty")
        os.replace(partial, target)
        with transaction.atomic():
            return Upload.objects.create(
                uuid=identifier, owner=user, dataset=dataset, file_name=name, size=size, sha256=digest.hexdigest()
            )
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    finally:
        partial.unlink(missing_ok=True)


def store_all(user: User, dataset: Dataset, files: Iterable) -> list[Upload]:
    """Store several files; all or none."""
    stored: list[Upload] = []
    try:
        for file in files:
            stored.append(store(user, dataset, file))
    except BaseException:
        for upload in stored:
            remove(upload)
        raise
    return stored


def remove(upload: Upload) -> None:
    """With its file."""
    upload.delete()


def shown_name(raw: str) -> str:
    """The sender's name for the file without anything that could lead somewhere: parts like `..` and empty ones go."""
    cleaned = "".join(character for character in raw.replace("\\", "/") if character.isprintable())
    parts = [part for part in PurePosixPath(cleaned).parts if part not in ("..", ".", "/")]
    return "/".join(parts)[-NAME_CHARS:] or "file"
