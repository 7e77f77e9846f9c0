"""`manage.py check_cases [PROJECT ...]`: count anew what waits for adjudicators; `--mend` stores what differs."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Item, Project
from annotation.projects import cases

SHOWN = 20


class Command(BaseCommand):
    help = "Compare the stored cases of items with those that follow from answers and decisions"

    def add_arguments(self, parser):
        parser.add_argument("project", nargs="*", help="slugs of projects; all, if none is named")
        parser.add_argument("--mend", action="store_true", help="store the recount where it differs")

    def handle(self, *args, project, mend, **options):
        projects = Project.objects.order_by("slug")
        missing = set(project) - set(projects.values_list("slug", flat=True))
        if missing:
            raise CommandError(f"There is no project {sorted(missing)[0]!r}")
        found = 0
        for one in projects.filter(slug__in=project) if project else projects:
            wrong = list(cases.mismatches(one))
            found += len(wrong)
            self.stdout.write(f"{one.slug}: {len(wrong):,} of {one.cases.count():,} cases differ")
            keys = dict(Item.objects.filter(pk__in=[pk for pk, *_ in wrong[:SHOWN]]).values_list("pk", "key"))
            for pk, stored, counted in wrong[:SHOWN]:
                line = f"stored {_words(stored)}; counted {_words(counted)}"
                self.stdout.write(f"  {keys[pk]}: {'its sums or its position' if stored == counted else line}")
            if len(wrong) > SHOWN:
                self.stdout.write(f"  and {len(wrong) - SHOWN:,} more")
            if mend and wrong:
                cases.recount(one, [pk for pk, *_ in wrong])
                self.stdout.write("  mended")
        if found and not mend:
            raise CommandError("Stored cases differ; --mend stores the recount")


def _words(state: cases.CaseState) -> str:
    differing, undecided, distance, entropy = state.numbers()
    words = [f"{undecided} of {differing} undecided, distance {distance:g}, entropy {entropy:g}"]
    return ", ".join(words + ["flagged"] * state.is_flagged + ["commented"] * state.is_commented)
