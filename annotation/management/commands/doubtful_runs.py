"""List the checker runs whose stored probabilities may be false."""

from django.core.management.base import BaseCommand

from annotation.machines.runs.queries.doubtful import doubtful_runs, doubtful_units


class Command(BaseCommand):
    help = (
        "List runs of language models in which the missing probability of a letter may be stored as 0. "
        "Changes nothing; start such a run again to judge its units again."
    )

    def handle(self, **options) -> None:
        doubtful = [(run, doubtful_units(run)) for run in doubtful_runs().select_related("project").order_by("pk")]
        for run, units in doubtful:
            if units:
                named = f"{run.project.slug}  {run.checker} {run.version}  {run.created_at:%Y-%m-%d %H:%M} UTC"
                self.stdout.write(f"{named}  {run.uuid}  {units} units")
        affected = sum(units > 0 for _, units in doubtful)
        self.stdout.write(
            f"{affected} of {len(doubtful)} runs of the versions in question may hold false probabilities"
        )
