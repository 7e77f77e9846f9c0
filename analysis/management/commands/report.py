"""`manage.py report PROJECT NAME`: the numbers that the page shows, computed anew."""

import json

from django.core.management.base import BaseCommand, CommandError

from analysis.queries import runs_with_suggestions
from analysis.reports.alternative_annotator import SCORINGS
from analysis.reports.annotators import CHECKERS, UNITS
from analysis.reports.coverage import TIES
from analysis.reports.metrics import REPORTS, get_report
from analysis.reports.tables import tables_of
from analysis.reports.tabular import WRITERS
from analysis.reports.text import as_text
from annotation.models import Project


class Command(BaseCommand):
    help = "Compute a report: " + ", ".join(REPORTS)

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("name", choices=list(REPORTS))
        parser.add_argument("--format", choices=["table", "json", *WRITERS], default="table")
        parser.add_argument("--raters", choices=["all", "members", "imported"], help="agreement: whose labels")
        parser.add_argument(
            "--run",
            help="comparison, prevalence, matched, difference: the run's UUID, or a checker's slug for its newest run",
        )
        parser.add_argument(
            "--other", help="difference: the run that it starts from; comparison: one set against the same people"
        )
        parser.add_argument("--reference", help="whose labels: majority, imported or adjudicated")
        parser.add_argument("--score", help="comparison: which of the run's scores is correlated")
        parser.add_argument("--checkers", choices=list(CHECKERS), help="annotators: with checkers as raters or without")
        parser.add_argument("--units", choices=list(UNITS), help="annotators: of which units the posterior is listed")
        parser.add_argument("--epsilon", type=float, help="alternative-annotator: the discount, such as 0.15")
        parser.add_argument("--scoring", choices=list(SCORINGS), help="alternative-annotator: how labels are close")
        parser.add_argument("--min-units", type=int, help="alternative-annotator: units that a person needs")
        parser.add_argument("--k", type=int, help="coverage: how many labels an aspect needs")
        parser.add_argument("--ties", choices=list(TIES), help="coverage: what a tied aspect is")
        parser.add_argument("--touched", action="store_true", default=None, help="with --run: count touched labels too")

    def handle(self, *args, project, name, format, **options):
        found = Project.objects.filter(slug=project).first()
        if found is None:
            raise CommandError(f"There is no project {project!r}")
        names = {parameter for report in REPORTS.values() for parameter in report.parameters}
        parameters = {key: options[key] for key in sorted(names) if options[key] is not None}
        if name in ("comparison", "prevalence") or "run" in parameters:
            parameters["run"] = self.run_of(found, parameters.get("run"))
        if "other" in parameters:
            parameters["other"] = self.run_of(found, parameters["other"])
        if name == "difference" and not {"run", "other"} <= set(parameters):
            raise CommandError("difference needs two runs: --run and --other")
        try:
            result = get_report(name).compute(found, **parameters)
        except ValueError as error:
            raise CommandError(str(error)) from None
        result.pop("behind", None)  # ids of rows: they mean something in this database only
        if format == "json":
            self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))
        elif format in WRITERS:
            self.stdout.write(WRITERS[format](tables_of(result)))
        else:
            self.stdout.write(as_text(result))

    def run_of(self, project: Project, wanted: str | None) -> str:
        runs = runs_with_suggestions(project)
        for run in runs:
            if wanted in (None, str(run.uuid), run.checker):
                return str(run.uuid)
        known = ", ".join(f"{run.checker} ({run.uuid})" for run in runs) or "none"
        raise CommandError(f"Project {project.slug} has no such finished checker run; it has: {known}")
