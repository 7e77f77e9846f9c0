"""Let language models answer the questions of a project's data set, in the workers or here; publish the answers."""

from annotation.machines.generations import generating
from annotation.management.running import RunCommand
from models_runtime import registry


class Command(RunCommand):
    help = (
        "Ask language models to answer the questions of a project's data set. Without --here or --publish, workers do "
        "it and this command returns at once."
    )
    kind_name = "generation"

    def add_own_arguments(self, parser) -> None:
        parser.add_argument("--generator", default="llm-answers", help=f"one of {', '.join(generating.generators())}")
        parser.add_argument(
            "--endpoint", action="append", default=[], help="may be repeated: each is a run; default: the first"
        )
        parser.add_argument(
            "--passages", default="", metavar="own|RETRIEVAL", help="what the models are shown; default: nothing"
        )
        parser.add_argument("--most-passages", type=int, default=generating.PASSAGES, help="for each question")
        parser.add_argument("--repetitions", type=int, default=1)
        parser.add_argument("--setting", default="", help="context setting of the responses")
        parser.add_argument("--publish", action="store_true", help="run here, and publish the answers as responses")

    def is_here(self, options) -> bool:
        return options["here"] or options["publish"]

    def asked_of(self, project, person, options):
        asked = {name: options[name] for name in ("generator", "passages", "most_passages", "repetitions")}
        asked["context_setting"] = options["setting"]
        for endpoint in options["endpoint"] or [next(iter(registry.endpoint_names()), "")]:
            yield asked | {"parameters": {"endpoint": endpoint}}

    def words_for(self, estimate) -> str:
        return f"{estimate.number:,} answers, {estimate.in_words}"

    def title_of(self, run) -> str:
        return f"Run {run.uuid} of {run.provenance['model']}"

    def details(self, run, result) -> list[str]:
        more = f", {result['abstained']} of them “I don't know”; {run.prompt_tokens:,} tokens sent, "
        failures = [f"{reason}: {number}" for reason, number in result["failures"].items()]
        return [f"{more}{run.completion_tokens:,} received", *failures]

    def follow_up(self, person, run, options) -> None:
        if options["publish"]:
            result = self.publish(person, run).result
            self.stdout.write(f"Published: {result['new_responses']} new responses, {result['new_items']} new items")
