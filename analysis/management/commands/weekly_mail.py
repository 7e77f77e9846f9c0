"""Print the weekly mail of a project, or send it to those who chose it and have not had it this week."""

from django.core.management.base import BaseCommand

from analysis.progress import mail
from annotation.management.shared import find_project


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("--send", action="store_true", help="send it to those who have not had it this week")

    def handle(self, *args, **options):
        project = find_project(options["project"])
        if options["send"]:
            self.stdout.write(f"{mail.send_due(project.pk)} sent")
            return
        text = mail.text_for(project, mail.count_now(project))
        self.stdout.write(f"{text.subject}\n\n{text.body}")
