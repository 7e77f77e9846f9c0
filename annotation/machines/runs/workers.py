"""What the workers of one run must agree on, and what they note of themselves, be it a run of a checker, an extractor
or a retriever. All of it is kept in the run's `provenance`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from django.db.models import F

from annotation.jobs.lifecycle import JobError
from annotation.models import MachineRun
from models_runtime import registry
from models_runtime.contracts import CheckerError, CheckerInfo, UnavailableError, Usage

# Descriptions of workers with another device or other libraries, in addition to the first worker's.
OTHER_WORKERS = "other_workers"
# Runs that answers were taken over from.
REUSED_FROM = "reused_from"
# Which version of a prompt a run tries, and on which part of the items.
CALIBRATION = "calibration"


@contextmanager
def final_errors() -> Iterator[None]:
    """What a checker says of itself ends the job, since it would be the same on the next attempt."""
    try:
        yield
    except CheckerError as error:
        raise JobError(str(error)) from error


def info_of(slug: str, version: str) -> CheckerInfo:
    """The registry's entry; JobError where it is not the version that the run began with."""
    with final_errors():
        info = registry.get_info(slug)
    if info.version != version:
        raise JobError(f"This run began with version {version} of {slug}; here is {info.version}")
    return info


def described(checker) -> dict:
    """How what was loaded describes itself, with the package that it comes from, as the database gives it back, where
    tuples have become lists. What cannot be had just now is tried again later."""
    try:
        described = json.loads(json.dumps(checker.describe()))
        package = registry.package_of(described.get("checker", ""))
        return described | ({"package": package} if package else {})
    except UnavailableError:
        raise
    except CheckerError as error:
        raise JobError(str(error)) from error


def check_identity(began: Mapping, here: Mapping, names: Iterable[str], parameters: Mapping) -> None:
    """JobError where a worker is not like the first one, whose answers are stored; `began` is empty before that.

    `parameters` are those that the run was started with. One that was added since is at its default, with which a
    checker of the same version answers as it did without it."""
    for name in names if began else ():
        before, now = began.get(name), here.get(name)
        if name == "parameters" and before and now:
            added = (before.keys() ^ now.keys()) - parameters.keys()
            before, now = ({one: values[one] for one in values if one not in added} for values in (before, now))
        if before != now:
            raise JobError(f"This run began with {name} {before!r}, and this worker has {now!r}")


def descriptions(provenance: Mapping) -> list[dict]:
    """Of all workers of the run, the first one's first."""
    first = {name: value for name, value in provenance.items() if name not in (OTHER_WORKERS, REUSED_FROM)}
    return [first, *provenance.get(OTHER_WORKERS, [])]


def note_worker(provenance: dict, description: dict) -> None:
    """Add how a worker describes itself where none was like it."""
    if not provenance:
        provenance.update(description)
    elif description not in descriptions(provenance):
        provenance.setdefault(OTHER_WORKERS, []).append(description)


def store_description(run: MachineRun, described: dict, identity: Iterable[str]) -> None:
    """Note on the run how this worker describes itself. Belongs into the transaction that closes its chunk."""
    if described in descriptions(run.provenance):
        return
    stored = type(run).objects.select_for_update().get(pk=run.pk)
    check_identity(stored.provenance, described, identity, stored.parameters)
    note_worker(stored.provenance, described)
    stored.save(update_fields=["provenance"])


def add_usage(run: MachineRun, usages: Iterable[Usage | None]) -> None:
    """Add what answers cost to the run's sums. Belongs into the transaction that closes their chunk."""
    total = sum((usage for usage in usages if usage), Usage())
    type(run).objects.filter(pk=run.pk).update(
        prompt_tokens=F("prompt_tokens") + total.prompt_tokens,
        completion_tokens=F("completion_tokens") + total.completion_tokens,
        device_seconds=F("device_seconds") + total.device_seconds,
    )
