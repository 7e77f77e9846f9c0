"""`manage.py rule PROJECT KIND --name NAME`: derive decisions by a rule; `--preview` writes nothing."""

from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError

from analysis.rules.kinds import KINDS, Parameter, RuleError
from analysis.rules.running import preview, run_rule
from annotation.management.shared import find_project
from annotation.models import User


class Command(BaseCommand):
    help = "Apply a rule that decides labels; its decisions form a set of their own: " + ", ".join(KINDS)

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("kind", choices=list(KINDS), help="the kind of rule")
        parser.add_argument("--name", help="the rule's name (default: its kind)")
        parser.add_argument("--preview", action="store_true", help="print what it would decide and write nothing")
        parser.add_argument(
            "--as-user", metavar="USER", help="e-mail address of the account that runs it (default: none)"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        named: dict[str, list[tuple[str, Parameter]]] = {}
        for kind in KINDS.values():
            for parameter in kind.parameters:
                named.setdefault(parameter.argument, []).append((kind.slug, parameter))
        for argument, users in named.items():
            slugs, [first, *_] = ", ".join(slug for slug, _ in users), [parameter for _, parameter in users]
            parser.add_argument(argument, dest=f"rule_{first.name}", help=f"{slugs}: {first.help or first.title}")

    def handle(self, *args, project, kind, name, as_user, **options):
        row = find_project(project)
        user = User.objects.filter(username=as_user).first() if as_user else None
        if as_user and user is None:
            raise CommandError(f"There is no user {as_user!r}")
        parameters = {key.removeprefix("rule_"): value for key, value in options.items() if key.startswith("rule_")}
        parameters = {key: value for key, value in parameters.items() if value is not None}
        try:
            if options["preview"]:
                outcome = preview(row, name or kind, kind, parameters)
            else:
                run = run_rule(row, user, name or kind, kind, parameters)
                outcome = {"name": run.name, "version": run.version, **run.counts}
        except RuleError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(outcome, indent=2, ensure_ascii=False))
            return
        for one in outcome["questions"]:
            self.stdout.write(
                f"{one['question']}: {one['decided']:,} of {one['units']:,} units decided, {one['dropped']:,} dropped, "
                f"{one['undecided']:,} undecided"
            )
            for label, n in one["labels"].items():
                self.stdout.write(f"  {label}: {n:,}")
            for why, n in one["open"].items():
                self.stdout.write(f"  {why}: {n:,}")
            self.stdout.write(
                f"  {one['new']:,} new decisions, {one['withdrawn']:,} withdrawn, {one['unchanged']:,} unchanged"
            )
