"""What the pages of generations show: which models can be asked, and what they wrote."""

from typing import Any

from annotation.jobs.queues import look_up_waits
from annotation.machines.generations import generating, queries
from annotation.models import Evidence, GenerationRun, Job, Project
from models_runtime.contracts import CheckerInfo

LISTED = 50


def offered(request, project: Project) -> tuple[dict[str, CheckerInfo], dict[str, Any]]:
    has_passages = Evidence.objects.published().filter(dataset=project.dataset, question__isnull=False).exists()
    choices = {"has_passages": has_passages, "retrievals": generating.retrievals_for(project)[:LISTED]}
    return generating.generators(), choices


def list_parts(request, project: Project, choices: dict[str, Any]) -> dict[str, Any]:
    rows = list(queries.runs_of(project, LISTED))
    look_up_waits(run.job for run, _ in rows)
    return {"rows": rows, "n_questions": generating.questions_in(project.dataset).count()}


def parts_of(request, run: GenerationRun) -> dict[str, Any]:
    failed = "failed" in request.GET
    return {
        "shown": queries.with_words([run])[0][1],
        "numbers": run.job.result if run.job.state == Job.State.DONE else None,
        "texts": queries.texts_page(run, request.GET.get("page"), failed=failed),
        "failed": failed,
        "query": "failed=1" if failed else "",
    }
