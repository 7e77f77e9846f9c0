"""Train a checker on a project's own labels, in the workers or in this process, and let it judge the project."""

from dataclasses import asdict

from django.core.management.base import CommandError

from annotation.machines.runs import suggesting
from annotation.machines.training import training
from annotation.management.running import RunCommand
from annotation.management.shared import done_here, find_project_and_owner, seconds_of
from annotation.models import TrainedModel

DEFAULTS = training.TrainingRequest()


class Command(RunCommand):
    help = (
        "Train a checker on a project's labels. Without --here, workers train it and the command returns immediately."
    )
    kind_name = "training"

    def add_own_arguments(self, parser) -> None:
        parser.add_argument(
            "--representation", default=DEFAULTS.representation, choices=sorted(training.REPRESENTATIONS)
        )
        parser.add_argument("--classifier", default=DEFAULTS.classifier, choices=sorted(training.CLASSIFIERS))
        parser.add_argument(
            "--encoder", default="", metavar="MODEL", help="a folder or hub name; default: the packaged one"
        )
        parser.add_argument("--source", default=DEFAULTS.source, help="which labels, such as majority or rule:NAME")
        parser.add_argument("--hidden-model", default="", metavar="MODEL", help="for hidden-states")
        parser.add_argument("--layers", default=DEFAULTS.layers, help="for hidden-states")
        parser.add_argument("--pooling", default=DEFAULTS.pooling, choices=sorted(training.POOLINGS))
        parser.add_argument(
            "--minimum", type=int, default=DEFAULTS.minimum, help="labels per class (default %(default)s)"
        )
        parser.add_argument("--unbalanced", action="store_true", help="do not weight labels by inverse frequency")
        parser.add_argument("--skip-rare", action="store_true", help="leave out labels that are too rare")
        parser.add_argument("--include-touched", action="store_true", help="also labels given with a suggestion shown")
        parser.add_argument("--run", action="store_true", help="with --here: then judge the project's units with it")

    def handle(self, *, project: str, here: bool, run: bool, user, unbalanced: bool, **options) -> None:
        found, person = find_project_and_owner(project, user)
        if run and not here:
            raise CommandError("--run waits for the training: give --here with it")
        parameters = {name: options[name] for name in asdict(DEFAULTS) if name in options}
        try:
            request = training.TrainingRequest(**parameters, balanced=not unbalanced)
            model = training.start_training(found, person, request, wake_workers=not here)
        except training.TrainingError as error:
            raise CommandError(str(error)) from None
        if not here:
            self.stdout.write(f"Training {model.uuid} on the queue {model.job.queue}")
            return
        job = done_here(model.job, "Training")
        model.refresh_from_db()
        self._tell(model, seconds_of(job))
        if run:
            started = suggesting.start_run(
                found, person, "trained", {"model": model.file_hash}, queue=model.job.queue, wake_workers=False
            )
            job = done_here(started.job, f"Run {started.uuid}")
            self.stdout.write(f"Run {started.uuid}: {job.progress_total} inputs, {job.result['failed']} failed")

    def _tell(self, model: TrainedModel, seconds: float) -> None:
        self.stdout.write(f"Trained checker {model.file_hash} in {seconds:.1f} s")
        for dimension, figures in model.figures.items():
            scores, baseline = (figures["evaluation"][name] for name in ("scores", "baseline"))
            self.stdout.write(
                f"  {dimension}: accuracy {scores['accuracy']:.3f}, macro-F1 {scores['macro_f1']:.3f} out of fold; "
                f"most frequent label {baseline['accuracy']:.3f}, {baseline['macro_f1']:.3f} (n = {figures['n']})"
            )
