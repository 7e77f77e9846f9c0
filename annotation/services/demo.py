"""The demo's people, data sets and projects. Making them again adds only what is missing.

The labels of the shipped files stay out of the database: they are what the demo's two annotators lean on, each with
slips of their own, so that agreement, disagreement and a comparison with a checker can be looked at.
"""

import csv
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path

from allauth.account.models import EmailAddress
from django.conf import settings
from django.utils import timezone

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER, assignment_for
from annotation.models import Dataset, Job, Project, User
from annotation.queries import pages
from annotation.services import annotating, assigning, importing, item_job, jobs, projects, suggesting
from annotation.services.demo_accounts import DEMO_ACCOUNTS
from annotation.task_types import TaskType, task_type

FIXTURES = Path(settings.BASE_DIR) / "fixtures" / "demo"
CHECKER = "lexical"

# Labels as the files write them -> as the task type stores them.
LABELS = {"Entailment": "entailment", "Neutral": "neutral", "Contradiction": "contradiction"}

CLAIM_GUIDELINES = """\
## What you judge

Read the claim, then the evidence. Use nothing but the evidence: what you know otherwise does not count.

1. **Relevant?** It is when it says something about *what is claimed*, for or against. The same topic is not enough.
2. **Stance.** *Supports* or *refutes* when the evidence settles the claim. When it does not, say where it leans.
3. **Mark** the words that made you decide.

## Hard cases

| The evidence | Label |
| --- | --- |
| speaks of another year or place | not relevant, unless it lets you conclude something |
| has one half for and one half against the claim | contradictory |
| quotes somebody who says so | leans, it does not settle |

Everything in this project is made up.
"""

TRIPLET_GUIDELINES = """\
Each triplet says one thing that the answer says. Compare it with the **passages**, not with what you know.

- *Entailment*: at least one passage supports it.
- *Contradiction*: a passage says otherwise.
- *Neutral*: the passages leave it open.
- *Bad triplet*: it does not convey what the answer says.
"""


@dataclass(frozen=True, slots=True)
class DemoSet:
    slug: str
    title: str
    file: str
    format: str
    answers: Callable[[], dict[str, dict[str, str]]]  # labels by unit key and dimension


@dataclass(frozen=True, slots=True)
class DemoProject:
    slug: str
    title: str
    dataset: str
    task_type: str
    guidelines: str
    prefill: str
    judged: tuple[int, int]  # items that the first and the second annotator have done
    description: str = ""


def _claim_answers() -> dict[str, dict[str, str]]:
    with (FIXTURES / "claims.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {
        row["id"]: {"relevance": "relevant", "stance": row["evidence_stance"]}
        if row["relevant"] == "True"
        else {"relevance": "not_relevant"}
        for row in rows
    }


def _triplet_answers() -> dict[str, dict[str, str]]:
    answers = {}
    for row in json.loads((FIXTURES / "answers.json").read_text(encoding="utf-8")):
        for index, one in enumerate(row["demo_response_kg"]):
            key = f"{row['setting']}/{row['model']}/{row['id']}/{index}"
            answers[key] = {"entailment": LABELS.get(one["human_label"], one["human_label"])}
    return answers


DATASETS = (
    DemoSet("demo-claims", "Everyday claims (made up)", "claims.tsv", "druid", _claim_answers),
    DemoSet("demo-answers", "Answers of two models (made up)", "answers.json", "refchecker", _triplet_answers),
)
PROJECTS = (
    DemoProject(
        "demo-triplets",
        "Do the answers hold?",
        "demo-answers",
        "triplets/-/1",
        TRIPLET_GUIDELINES,
        Project.Prefill.OFF,
        (12, 10),
        "Claim-triplets of two models' answers against reference passages.",
    ),
    DemoProject(
        "demo-stance",
        "Evidence on everyday claims, all judged",
        "demo-claims",
        "claim-evidence/six-way/1",
        CLAIM_GUIDELINES,
        Project.Prefill.OFF,
        (59, 59),
        "Both annotators are through: look at agreement, the checker and the disagreements.",
    ),
    DemoProject(
        "demo-open",
        "Evidence on everyday claims, open work",
        "demo-claims",
        "claim-evidence/six-way/1",
        CLAIM_GUIDELINES,
        Project.Prefill.AFTER,
        (3, 8),
        "Open work, with a checker's suggestions after the first answer.",
    ),
)


def make_demo(say: Callable[[str], None] = lambda line: None) -> None:
    """Everything the demo needs, as far as it is not there."""
    if not settings.DEMO:
        raise RuntimeError("Demo accounts belong into a demo only; set ASSAY_DEMO=1")
    people = make_people()
    researcher = people["researcher"]
    for described in DATASETS:
        if not Dataset.objects.filter(slug=described.slug).exists():
            say(f"Importing {described.title}")
            _import(described, researcher)
    for described in PROJECTS:
        if not Project.objects.filter(slug=described.slug).exists():
            say(f"Making the project {described.title}")
            _make_project(described, people)


def make_people() -> dict[str, User]:
    """The demo's accounts by slug. They have no password: the one-click sign-in is the only way in."""
    people = {user.username: user for user in User.objects.filter(username__in=[one.email for one in DEMO_ACCOUNTS])}
    for account in DEMO_ACCOUNTS:
        if account.email not in people:
            user = User(username=account.email, email=account.email, name=account.name)
            user.is_staff = account.role == RESEARCHER
            user.set_unusable_password()
            user.save()
            EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
            people[account.email] = user
    return {account.slug: people[account.email] for account in DEMO_ACCOUNTS}


def _import(described: DemoSet, owner: User) -> None:
    dataset = Dataset.objects.create(
        slug=described.slug,
        title=described.title,
        description="Written for the demo; nothing in it is true.",
        owner=owner,
    )
    request = importing.ImportRequest(
        format=described.format, files=importing.files_of_paths([FIXTURES / described.file])
    )
    _done(importing.start(owner, dataset, request, is_dry_run=False, wake_workers=False))


def _done(job: Job) -> None:
    job = jobs.run_here(job)
    if job.state != Job.State.DONE:
        raise RuntimeError(f"The demo's {job.kind} ended as {job.state}: {job.message}")


def _make_project(described: DemoProject, people: dict[str, User]) -> None:
    researcher = people["researcher"]
    annotators = [people["annotator"], people["second-annotator"]]
    project = projects.create_project(
        researcher,
        title=described.title,
        slug=described.slug,
        description=described.description,
        dataset=Dataset.objects.get(slug=described.dataset),
        task_type=described.task_type,
        seed=7,
        prefill=described.prefill,
        guidelines=described.guidelines,
        members=[(annotator, ANNOTATOR) for annotator in annotators] + [(people["adjudicator"], ADJUDICATOR)],
    )
    _done(item_job.start_item_job(project, researcher))
    project.refresh_from_db()
    run = suggesting.start_run(project, researcher, CHECKER, wake_workers=False)
    _done(run.job)
    if described.prefill != Project.Prefill.OFF:
        suggesting.show_to_annotators(run)
    answers = next(one for one in DATASETS if one.slug == described.dataset).answers()
    for annotator, number in zip(annotators, described.judged, strict=True):
        _label(project, annotator, number, answers)


def _label(project: Project, annotator: User, number: int, answers: dict[str, dict[str, str]]) -> None:
    description = task_type(project.task_type)
    for _ in range(number):
        taken = assigning.take(project, annotator)
        if taken is None:
            return
        assignment = assignment_for(annotator, taken.uuid)
        page = pages.load_page(assignment.item_id, description)
        now = timezone.now()
        seconds = 8 + _chance(annotator, assignment.item.key) % 40
        judgements = [
            judgement
            for unit in page.unit_keys
            for judgement in _judgements(description, annotator, unit, answers[unit], page.contents.texts)
        ]
        body = {
            "client_id": str(uuid.uuid4()),
            "shown_at": (now - timedelta(seconds=seconds)).isoformat(),
            "submitted_at": now.isoformat(),
            "active_ms": seconds * 1000,
            "judgements": judgements,
        }
        annotating.submit(assignment, annotator, body)


def _chance(person: User, key: str) -> int:
    """A number that is the same on every machine, so that every demo shows the same figures."""
    return int.from_bytes(blake2b(f"{person.username}\0{key}".encode(), digest_size=4).digest(), "big")


def _judgements(kind: TaskType, person: User, unit: str, truth: dict[str, str], texts: dict[str, str]) -> list[dict]:
    """The file's labels, but now and then the neighbouring one, with the first sentence marked here and there."""
    judgements, said = [], {}
    for dimension in kind.dimensions:
        if not kind.is_asked(dimension, said) or dimension.slug not in truth:
            continue
        chance = _chance(person, f"{unit}\0{dimension.slug}")
        values = list(dimension.values)
        place = values.index(truth[dimension.slug])
        # A scale invites more slips than a choice between two.
        if chance % (4 if len(values) > 4 else 12) == 0 and len(values) > 2:
            place = place + 1 if place + 1 < len(values) else place - 1
        said[dimension.slug] = values[place]
        judgement = {"unit": unit, "dimension": dimension.slug, "label": values[place], "spans": []}
        rule = dimension.spans
        if rule and chance % 3 and rule.field in texts:
            quote = texts[rule.field].split(". ")[0].split(", ")[0]
            judgement["spans"] = [{"field": rule.field, "start": 0, "end": len(quote), "quote": quote}]
        judgements.append(judgement)
    return judgements
