"""Asking for a release to be published: what is checked before, and the rows that a worker goes by."""

from __future__ import annotations

import re

from django.db import transaction

from analysis.models import HubPublication, HubToken, Release
from analysis.releases.hub import secrets
from analysis.sources.releases.files import ANNOTATIONS, DECISIONS, MANIFEST
from annotation.jobs.lifecycle import create_job
from annotation.models import Job
from plugins.extras import why_missing

PART = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9])?"
REPOSITORY = re.compile(rf"{PART}/{PART}\Z")
TOKEN_CHARS = 200


class HubError(ValueError):
    """A publication that cannot be asked for; `field` is what is wrong."""

    def __init__(self, field: str, reason: str):
        super().__init__(reason)
        self.field = field


def check_repository(name: str) -> str:
    if not REPOSITORY.match(name) or ".." in name or "--" in name:
        raise HubError(
            "repository",
            "Write OWNER/NAME, such as harbour-institute/ports: letters, digits, dots, hyphens and underscores",
        )
    return name


def check_token(token: str) -> str:
    if not token or len(token) > TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise HubError("token", "Paste the hub's token as it is: letters, digits and signs without spaces")
    return token


def files_to_send(release: Release, with_comments: bool) -> list[dict]:
    """What a dry run lists: `name`, `bytes`, and what is left out of the file."""
    manifest = release.manifest
    of_people = () if with_comments else (ANNOTATIONS, DECISIONS)
    every = manifest["files"] | manifest.get("beside", {})
    rows = [
        {"name": name, "bytes": digest["bytes"], "without": name.rsplit("/", 1)[-1] in of_people}
        for name, digest in sorted(every.items())
    ]
    return [{"name": MANIFEST, "bytes": None, "without": False}, *rows]


def keep_token(user, token: str) -> None:
    HubToken.objects.update_or_create(user=user, defaults={"secret": secrets.encrypt(token)})


def forget_token(user) -> None:
    HubToken.objects.filter(user=user).delete()


def start_publishing(
    release: Release,
    user,
    repository: str,
    token: str = "",
    *,
    is_private: bool = True,
    is_update: bool = False,
    with_comments: bool = False,
    keeps_token: bool = False,
) -> HubPublication:
    """A job that sends the release to the repository. Without a token, with the one that the person keeps here.
    HubError where something is missing."""
    check_repository(repository)
    if token:
        secret = secrets.encrypt(check_token(token))
    elif kept := HubToken.objects.filter(user=user).first():
        secret = kept.secret
    else:
        raise HubError("token", "Enter a token of the hub with write access; none is stored for you")
    if missing := why_missing("huggingface_hub"):
        raise HubError("", missing)
    if not release.is_ready or release.is_withdrawn:
        raise HubError("", f"The release is {'withdrawn' if release.is_withdrawn else 'not frozen'}")
    with transaction.atomic():
        if token and keeps_token:
            keep_token(user, token)
        parameters = {"release": release.number, "repository": repository}
        job = create_job(Job.Kind.HUB, user, chunks=[({}, 0)], project=release.project, parameters=parameters)
        # A publication that broke off may have made the repository: it is this project's.
        ours = HubPublication.objects.filter(release__project=release.project, repository=repository, is_created=True)
        return HubPublication.objects.create(
            release=release,
            job=job,
            repository=repository,
            is_private=is_private,
            is_update=is_update,
            is_created=ours.exists(),
            with_comments=with_comments,
            secret=secret,
            created_by=user,
        )
