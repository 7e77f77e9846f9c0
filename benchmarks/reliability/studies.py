"""The study that is labelled, and what is stored of it in the end; in processes of their own."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

from benchmarks.labelling.submit import SLUG, make_content, session_of
from benchmarks.reliability.people import OTHER

K = 3  # answers per item
UNFINISHED = ("queued", "running")
GIVEN_UP = "Workers died or hung"  # a part that five deaths interrupted fails its job, by rule


def prepare(folder: Path, items: int, annotators: int) -> None:
    from django.core.management import call_command

    from annotation.jobs import lifecycle
    from annotation.models import Dataset, Guideline, Membership, Project, User
    from annotation.projects import guidelines, item_job, managing, tokens

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create_user(username="owner@example.org", email="owner@example.org", is_superuser=True)
    dataset = Dataset.objects.create(slug=SLUG, title="Labelled", owner=owner)
    Dataset.objects.create(slug=OTHER, title="Imported into", owner=owner)
    make_content(dataset, items)
    task_type = "claim-evidence/six-way/1"
    project = Project.objects.create(
        slug=SLUG, title="Labelled", dataset=dataset, task_type=task_type, overlap=K, created_by=owner
    )
    managing.add_member(project, owner, Membership.Role.RESEARCHER)
    Guideline.objects.create(project=project, version=1, markdown="Read twice.", created_by=owner)
    job = lifecycle.run_here(item_job.start_item_job(project, owner))
    assert job.state == "done", job.message
    sessions = []
    for number in range(annotators):
        email = f"annotator{number}@example.org"
        user = User.objects.create_user(username=email, email=email)
        managing.add_member(project, user, Membership.Role.ANNOTATOR)
        guidelines.acknowledge(project, user, 1)
        sessions.append(session_of(user))
    token = tokens.make_token(owner, "reliability", ["read", "write"], 7)[1]
    (folder / "study.json").write_text(json.dumps({"sessions": sessions, "token": token}))


def unfinished(jobs: list[str]) -> list[str]:
    from annotation.models import Job

    kinds = {line.split()[1]: line.split()[0] for line in jobs}
    states = Job.objects.filter(uuid__in=kinds, state__in=UNFINISHED).values_list("uuid", "state", "message")
    return [f"{kinds[str(uuid)]} {uuid}: {state} {message}" for uuid, state, message in states]


def check(folder: Path) -> dict:
    """What was acknowledged against what is stored."""
    from django.db.models import Count

    from annotation.models import (
        Annotation,
        Artifact,
        Assignment,
        CheckerRun,
        ContentBatch,
        Item,
        Job,
        Judgement,
        Revision,
        Suggestion,
    )

    record = json.loads((folder / "record.json").read_text())
    sent = {one["client_id"]: one["label"] for one in record["answers"]}
    stored = dict(
        Judgement.objects.filter(dimension="stance", revision__client_id__isnull=False).values_list(
            "revision__client_id", "label"
        )
    )
    stored = {str(name): label for name, label in stored.items()}
    counted = Annotation.objects.filter(is_surplus=False).values("item").annotate(n=Count("pk")).filter(n__gt=K)
    done = Assignment.objects.filter(state="done").values("item").annotate(n=Count("pk")).filter(n__gt=K)
    planned = Assignment.objects.exclude(state__in=["skipped", "cancelled"]).values("item").annotate(n=Count("pk"))
    jobs = {line.split()[1]: line.split()[0] for line in record["jobs"]}
    rows = list(Job.objects.filter(uuid__in=jobs).values_list("uuid", "state", "message"))
    failed = [f"{jobs[str(uuid)]} {uuid}: {message}" for uuid, state, message in rows if state == "failed"]
    units = Item.objects.filter(project__slug=SLUG).count()
    half = [
        str(run.uuid)
        for run in CheckerRun.objects.filter(job__state="done", project__slug=SLUG)
        if Suggestion.objects.filter(run=run, dimension="relevance").count() != units
    ]
    return {
        "acknowledged": len(sent),
        "lost": sum(name not in stored for name in sent),
        "changed": sum(name in stored and stored[name] != label for name, label in sent.items()),
        "stored": Revision.objects.filter(client_id__isnull=False).count(),
        "beyond_k": len(set(counted.values_list("item", flat=True)) | set(done.values_list("item", flat=True))),
        "off_plan": planned.exclude(n=K).count(),
        "same_person_twice": Annotation.objects.values("item", "rater").annotate(n=Count("pk")).filter(n__gt=1).count(),
        "jobs": dict(Counter(f"{jobs[str(uuid)]} {state}" for uuid, state, _ in rows)),
        "unknown": len(jobs) - len(rows),
        "stuck": unfinished(record["jobs"]),
        "failed": [line for line in failed if GIVEN_UP not in line],
        "given_up": [line for line in failed if GIVEN_UP in line],
        "half_runs": half,
        "half_imports": ContentBatch.objects.filter(job__state="done").exclude(state="published").count(),
        "broken_files": [str(one.uuid) for one in Artifact.objects.filter(job__state="done") if not is_whole(one)],
        "refused": record["refused"],
        "repeats": record["repeats"],
    }


def is_whole(artifact) -> bool:
    from annotation.exports.releasing import artifact_path

    path = artifact_path(artifact)
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == artifact.sha256


def main() -> None:
    import django

    django.setup()
    what, folder, *more = sys.argv[1:]
    if what == "prepare":
        prepare(Path(folder), *map(int, more))
    elif what == "unfinished":
        print(json.dumps(unfinished(json.loads((Path(folder) / "record.json").read_text())["jobs"])))
    else:
        print(json.dumps(check(Path(folder))))


if __name__ == "__main__":
    main()
