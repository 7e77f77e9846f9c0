"""A data set of the hub (`ASSAY_HUB`) by its name: `hf:OWNER/NAME`, with `@REVISION` and `:PATTERN` of its files."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from django.conf import settings

from annotation.imports.importing import ImportProblem
from plugins.extras import why_missing

NAMED = re.compile(r"hf:(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w.-]+))?(?::(?P<files>.+))?")
TABLES = [f"*.{ending}{packed}" for ending in ("parquet", "jsonl", "json", "csv", "tsv") for packed in ("", ".gz")]


def fetched(asked: str) -> Path:
    """The folder with its tables. ImportProblem where there is none of that name, or the hub cannot be reached."""
    if missing := why_missing("huggingface_hub"):
        raise ImportProblem(missing)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    named = NAMED.fullmatch(asked)
    if named is None:
        raise ImportProblem(
            f"{asked}: write hf:OWNER/NAME, hf:OWNER/NAME@REVISION or hf:OWNER/NAME:data/train*.parquet"
        )
    folder = Path(settings.MEDIA_ROOT) / "hub" / named["name"].replace("/", "--") / (named["revision"] or "main")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        snapshot_download(
            named["name"],
            repo_type="dataset",
            revision=named["revision"],
            allow_patterns=named["files"] or TABLES,
            local_dir=folder,
            endpoint=settings.HUB,
        )
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise ImportProblem(f"{asked}: could not be downloaded from {settings.HUB}: {error}") from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # what the library notes of its downloads
    if not any(path.is_file() for path in folder.rglob("*")):
        raise ImportProblem(f"{asked}: has no files {named['files'] or 'that are tables'}")
    return folder
