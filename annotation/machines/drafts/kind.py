"""Runs of extractors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from annotation.access import drafts_project_for
from annotation.imports.publishing import REFUSE
from annotation.machines.drafts import extraction, forms, publishing, reviewing, shapes, views
from annotation.machines.kinds import MachineKind, Publishing
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries.costs import RunEstimate
from annotation.models import ExtractionRun, Job, Project, User
from annotation.projects.draft_kinds import DRAFT_KINDS


def start(project: Project, user: User, asked: Mapping[str, Any], *, wake_workers: bool = True) -> list[ExtractionRun]:
    """Take texts apart that have no pieces yet. What is proposed waits for review."""
    options = {"limits": CostLimits.asked(asked), "wake_workers": wake_workers}
    options |= {name: asked[name] for name in ("everything", "again")}
    chosen = (asked["extractor"], asked["parameters"], asked["queue"])
    return [extraction.start_extraction(project, user, *chosen, **options)]


def estimate(project: Project, user: User, asked: Mapping[str, Any]) -> RunEstimate | None:
    """About what a run of an extractor would cost: as the newest run with these parameters took per text, or from the
    requests for some of the texts. POST what would start it; nothing is started."""
    return extraction.estimate_of(project, asked["extractor"], asked["parameters"], everything=asked["everything"])


@transaction.atomic
def publish(
    user: User, run: ExtractionRun, *, piece_set: str | None = None, on_judged: str = REFUSE, wake_workers: bool = True
) -> Job:
    reviewing.accept_undecided(run.project, DRAFT_KINDS[run.kind], user, run)
    options = {"piece_set": piece_set, "on_judged": on_judged, "wake_workers": wake_workers}
    return publishing.start(user, run.project, **options)


KIND = MachineKind(
    name="extraction",
    model=ExtractionRun,
    start=start,
    estimate=estimate,
    described="Runs in which extractors draft what the project judges: triplets, sub-sentences, atomic claims, "
    "aspects.",
    shape=shapes.ExtractionShape,
    request_shape=shapes.NewExtraction,
    retry=extraction.retry_failures,
    project_for=drafts_project_for,
    publishing=Publishing(
        start=publish,
        described="Accept what the run proposed and nobody has decided about, and publish what is accepted: a job does "
        "it.",
        shape=shapes.PublishedDrafts,
        job=Job.Kind.DRAFTS,
    ),
    one="source",
    several="sources",
    title="Drafts",
    tab="project_drafts",
    form=forms.ExtractionForm,
    offered=views.offered,
    list_url="extraction_new",
    list_path="projects/<slug:slug>/drafts/extract/",
    list_template="annotation/drafts/new.html",
    list_parts=views.start_parts,
    path="extractions/",
    template="annotation/drafts/run.html",
    parts=views.parts_of,
    crumb="project_drafts",
    pages=views.urlpatterns,
)
