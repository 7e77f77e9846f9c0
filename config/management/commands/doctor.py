"""`manage.py doctor`: what is wrong with this installation, and what to do."""

import json
import sys

from django.core.management.base import BaseCommand

from config.health.checks import CHECKS
from config.health.findings import State, run, state_of


class Command(BaseCommand):
    help = "Check the installation and say what to do. Exits with 1 if there is an error."
    requires_system_checks = []  # it reports them itself

    def add_arguments(self, parser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *, json: bool, **options) -> None:
        rows = []
        for row in run(CHECKS):
            rows.append(row)
            if not json:
                self._write(row)
        state = state_of(rows)
        if json:
            self.stdout.write(_as_json(rows, state))
        if state is State.ERROR:
            sys.exit(1)

    def _write(self, row) -> None:
        finding = row.finding
        self.stdout.write(f"{finding.state.word:8} {row.title:12} {finding.message}")
        if finding.todo:
            self.stdout.write(f"{'':21} {finding.todo}")


def _as_json(rows, state: State) -> str:
    return json.dumps({"state": state.word, "findings": [row.as_dict() for row in rows]}, indent=2)
