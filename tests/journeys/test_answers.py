"""From questions to the tables of RefChecker and of Sufficient Context: models answer, people and models judge."""

import json
import re
import uuid
from collections import defaultdict
from statistics import fmean

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.access import assignment_for
from annotation.jobs import lifecycle
from annotation.machines.drafts import publishing
from annotation.models import (
    CheckerRun,
    Dataset,
    Draft,
    ExtractionRun,
    Item,
    Job,
    Question,
    Response,
    RunFailure,
    Suggestion,
    Triplet,
    Unit,
)
from annotation.work import annotating, assigning
from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE
from tests.factories import make_project, make_user
from tests.llm.server import FakeServer, completion

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
N = 20
OPENED = re.compile(r"The harbour of Town(\d+) opened in (\d+)\.")
CARE = ["retries=0", "wait_seconds=0"]
ASKED_ON = "2024-05-01"


def year(number: int) -> int:
    return 1800 + 7 * number


class RecordedModel(FakeServer):
    """A server with one model, which answers as it did when it was recorded: `say(request, task, texts)` by what it is
    asked for, the texts by their names."""

    def __init__(self, name: str, say) -> None:
        super().__init__(lambda request, n: self._reply(request))
        self.name, self.say = name, say
        self.card["id"] = name

    def _reply(self, request: dict) -> dict:
        instructions, *examples, texts = (one["content"] for one in request["messages"])
        named = dict(re.findall(r"\[begin ([^\]]+?) \w{12}\]\n(.*?)\n\[end ", texts, re.DOTALL))
        task = next(name for words, name in TASKS.items() if words in instructions)
        assert bool(examples) == (task == "extract")
        return completion(self.say(instructions, task, named), usage=(len(texts) // 4, 20))


# What the instructions of each task have, and no others.
TASKS = {
    "Take the answer apart into facts": "extract",
    "whether passages suffice": "sufficiency",
    "How probable is it that the answer is right": "confidence",
    "grade answers to questions": "grade",
    "check statements against texts": "entailment",
    "how well models answer": "answer",
    "Turn it into one simple question": "question",
    "You are asked what you know": "knowledge",
    "to hide parts of a text": "masking",
}
EXAMPLES = json.dumps(
    [{"text": "Oslo is wet.", "pieces": [{"head": "Oslo", "relation": "is", "tail": "wet", "from": "Oslo is wet."}]}]
)


def letter_of(title: str, instructions: str) -> str:
    return re.search(rf"^([A-Z]): {title}\b", instructions, re.MULTILINE)[1]


@pytest.fixture
def models(monkeypatch):
    """Starts recorded models and makes each an endpoint of its name."""
    started: list[RecordedModel] = []

    def start(**says) -> None:
        for name, say in says.items():
            started.append(RecordedModel(name, say))
            started[-1].start()
        known = {one.name: {"url": one.url, "model": one.name} for one in started}
        monkeypatch.setenv(VARIABLE, json.dumps(known))
        registry._cache.clear()

    yield start
    registry._cache.clear()
    for one in started:
        one.stop()


def import_questions(tmp_path, rows) -> Dataset:
    make_user("admin", is_superuser=True)
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    call_command("import_dataset", str(file), format="content", dataset="harbours", title="Harbours")
    return Dataset.objects.get(slug="harbours")


def label_all(project, person, dimension: str, says) -> None:
    """The person labels item after item, as the labelling page sends it; `says` gives a unit its label."""
    while (taken := assigning.take(project, person)) is not None:
        assignment = assignment_for(person, taken.uuid)
        units = Unit.objects.filter(item_units__item=assignment.item)
        judgements = [{"unit": unit.key, "dimension": dimension, "label": says(unit), "spans": []} for unit in units]
        annotating.submit(assignment, person, {"client_id": str(uuid.uuid4()), "judgements": judgements})


def told(figure: dict) -> float:
    return round(figure["estimate"], 6)


def page_of(client, address: str, **options) -> str:
    """The report's page, once a worker has computed it."""
    client.get(address, options)
    assert lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT)).state == Job.State.DONE
    return client.get(address, options).content.decode()


# --- RefChecker -----------------------------------------------------------------------------------------------------


def wrong(model: str, number: int) -> bool:
    return number % 4 == 3 if model == "careful" else number % 2 == 1


def says_nothing(model: str, number: int) -> bool:
    return model == "bold" and number % 10 == 9


def refchecker_model(name: str):
    def say(instructions: str, task: str, texts: dict[str, str]) -> str:
        if task == "answer":
            number = int(re.search(r"Town(\d+)", texts["question"])[1])
            assert f"opened in {year(number)}." in texts["passage 1"]
            if says_nothing(name, number):
                return "I don't know."
            more = f" The lighthouse of Town{number} is red." if name == "careful" and number % 5 == 0 else ""
            said = year(number) + wrong(name, number)
            return f"The harbour of Town{number} opened in {said}.{more}"
        if task == "extract":
            sentences = re.findall(r"[^.]+\.", texts["answer"])
            rows = []
            for sentence in map(str.strip, sentences):
                head, relation, tail = re.match(r"(.+?) (opened in|is) (.+)\.", sentence).groups()
                rows.append({"from": sentence, "head": head, "relation": relation, "tail": tail})
            return json.dumps({"triplets": rows})
        if task == "question":
            return f"Is it so that {texts['statement']}?"
        if task == "knowledge":
            assert texts.keys() == {"question"}
            return letter_of(remembered(texts["question"]), instructions)
        if task == "masking":  # the right year, whichever the statement has
            opened = OPENED.search(texts["passage"]) if "opened" in texts["statement"] else None
            return json.dumps({"stretches": [opened[2]] if opened else []})
        assert task == "entailment"
        is_masked = "opened in ####" in str(texts)
        claims = [text for named, text in texts.items() if named.startswith(("claim", "triplet"))]
        found = [judged(claim, is_masked) for claim in claims]
        if "The statements are numbered" in instructions:
            assert 1 <= len(claims) <= 2
            return json.dumps({str(n): letter_of(one, instructions) for n, one in enumerate(found, 1)})
        return letter_of(found[0], instructions)

    return say


def number_in(text: str) -> int:
    return int(re.search(r"Town(\d+)", text)[1])


def says_so(claim: str) -> bool:
    return f"opened in {year(number_in(claim))}" in claim


def remembered(claim: str) -> str:
    """The model knows the first ten towns."""
    return "Unsure" if number_in(claim) >= 10 or "lighthouse" in claim else "Yes" if says_so(claim) else "No"


def judged(claim: str, is_masked: bool) -> str:
    if "lighthouse" in claim or (is_masked and number_in(claim) >= 10):
        return "Neutral"
    # It misses every third contradiction.
    return "Entailment" if says_so(claim) else "Neutral" if number_in(claim) % 3 == 0 else "Contradiction"


def truth_of(triplet: Triplet) -> str:
    number = int(re.search(r"Town(\d+)", triplet.head)[1])
    if "lighthouse" in triplet.head:
        return "neutral"
    return "entailment" if triplet.tail == str(year(number)) else "contradiction"


def test_twenty_questions_with_references_become_refcheckers_tables(models, tmp_path, client):
    models(careful=refchecker_model("careful"), bold=refchecker_model("bold"))
    rows = [
        {
            "question": {"id": f"q{number:02}", "text": f"When did the harbour of Town{number} open?"},
            "passages": [
                {"id": f"q{number:02}/p0", "text": f"The harbour of Town{number} opened in {year(number)}."},
                {"id": f"q{number:02}/p1", "text": "Herring is caught from May to September."},
            ],
        }
        for number in range(N)
    ]
    dataset = import_questions(tmp_path, rows)
    people = [make_user(name) for name in ("Anna", "Ben", "Cleo")]
    project = make_project(dataset, "triplets/-/1", overlap=3, annotators=people)
    assert not project.items.exists()

    call_command("answer", project.slug, endpoint=["careful", "bold"], passages="own", publish=True, param=CARE)
    assert Response.objects.published().filter(dataset=dataset).count() == 2 * N == project.items.count()

    drafting = [*CARE, "endpoint=careful", f"examples={EXAMPLES}"]
    call_command("extract", project.slug, "llm-extractor", here=True, param=drafting)
    extraction = ExtractionRun.objects.get()
    assert extraction.job.result == {"answered": 40, "failed": 0, "failures": {}, "empty": 2, "pieces": 42}
    client.force_login(dataset.owner)
    drafted = Draft.objects.filter(project=project)
    assert all(
        OPENED.search(one.response.text[one.start : one.end]) for one in drafted.filter(parts__relation="opened in")
    )
    for source in sorted(set(drafted.values_list("response_id", flat=True))):
        mine = drafted.filter(response=source).order_by("pk")
        sent = {"draft": [str(one.uuid) for one in mine]}
        sent |= {name: [one.parts[name] for one in mine] for name in ("head", "relation", "tail")}
        assert client.post(reverse("drafts_accept", args=[project.slug, source]), sent).status_code == 302
    published = lifecycle.run_here(publishing.start(dataset.owner, project, wake_workers=False))
    assert published.result["noted"] == 42 and Triplet.objects.published().filter(dataset=dataset).count() == 42
    stated = Triplet.objects.get(response__question__key="q05", response__model="careful", relation="is")
    assert stated.metadata["stated_in"]["quote"] == "The lighthouse of Town5 is red."

    for person in people:  # Ben takes every seventh question for open
        errs = person.email.startswith("ben")

        def says(unit: Unit, errs: bool = errs) -> str:
            number = int(re.search(r"Town(\d+)", unit.triplet.head)[1])
            return "neutral" if errs and number % 7 == 0 else truth_of(unit.triplet)

        label_all(project, person, "entailment", says)
    together = [*CARE, "endpoint=careful", "pieces=joint", "pieces_at_once=2"]
    call_command("run_checker", project.slug, "llm", here=True, param=together)
    call_command("run_checker", project.slug, "lexical", here=True)
    probing = [*CARE, "endpoint=bold", "form=question", "question_endpoint=careful"]
    call_command("run_checker", project.slug, "model-knowledge", here=True, param=probing)
    for masking in ("model", "words"):
        hiding = [*CARE, "endpoint=bold", "mask=object", f"masking={masking}"]
        call_command("run_checker", project.slug, "masked-reference-server", here=True, param=hiding)
    llm, lexical, *_ = CheckerRun.objects.order_by("pk")
    # A method elsewhere gives whole answers a score, by what is wrong in them.
    right = defaultdict(list)
    for triplet in Triplet.objects.published().select_related("response"):
        right[triplet.response.key].append(truth_of(triplet) == "entailment")
    body = "\n".join(json.dumps({"unit": key, "value": 1 - fmean(of)}) for key, of in right.items())
    address = f"/api/v1/projects/{project.slug}/scores/?checker=selfcheckgpt"
    sent = client.post(address, body, content_type="application/x-ndjson")
    assert lifecycle.run_here(Job.objects.get(uuid=sent.json()["uuid"])).state == Job.State.DONE
    assert not RunFailure.objects.exists() and Suggestion.objects.filter(run=llm).count() == 42
    assert llm.provenance["prompts"]["entailment"][0]["name"] == "entailment-joint"

    result = get_report("refchecker").compute(DatabaseSource(project))
    assert (result["n_responses"], result["n_units"], result["n_decided"]) == (40, 42, 42)
    (rates,) = result["rates"]
    assert (rates["setting"], rates["models"], rates["n_abstained"]) == ("given passages", ["bold", "careful"], 2)
    assert [told(one) for one in rates["abstained"]["models"]] == [0.1, 0.0]
    by_rule = {rule["rule"]: {one["model"]: one["shares"] for one in rule["models"]} for rule in rates["rules"]}
    shares = {
        (rule, model): tuple(told(by_rule[rule][model][label]) for label in ("entailment", "neutral", "contradiction"))
        for rule in ("soft", "strict")
        for model in ("careful", "bold")
    }
    # Of 20 answers of the careful model 5 have a wrong year and 4 a lighthouse beside it, one of them both; of 18 of
    # the bold one 8 have a wrong year.
    assert shares == {
        ("soft", "careful"): (0.675, 0.1, 0.225),
        ("strict", "careful"): (0.6, 0.15, 0.25),
        ("soft", "bold"): (round(10 / 18, 6), 0.0, round(8 / 18, 6)),
        ("strict", "bold"): (round(10 / 18, 6), 0.0, round(8 / 18, 6)),
    }
    checkers = {one["run"]: one for one in result["checkers"]}
    assert set(checkers) == {str(llm.uuid), str(lexical.uuid)}
    pieces = checkers[str(llm.uuid)]["pieces"]["settings"][0]
    # It misses the contradictions about towns 3 and 15, of either model.
    assert told(pieces["accuracy"]) == round(38 / 42, 6)
    assert pieces["confusion"] == [[25, 0, 0], [0, 4, 0], [0, 4, 9]]
    ranked = checkers[str(llm.uuid)]["rankings"]["settings"][0]["models"]
    assert {one["model"]: one["contradiction"]["people_rank"] for one in ranked} == {"careful": 1, "bold": 2}
    (known,) = result["knowledge"]
    # People's labels from contradicted to entailed.
    assert next(row["counts"] for row in known["rows"] if row["model"] == "bold") == {
        "yes": [0, 0, 5],
        "no": [4, 0, 0],
        "unsure": [4, 0, 5],
    }
    literally, hidden = result["masked"]
    by_model = {row["model"]: row for row in literally["rows"]}
    assert [by_model[name]["n"] for name in ("careful", "bold")] == [15, 10]  # wrong years are not in the passages
    by_model = {row["model"]: row for row in hidden["rows"]}
    assert {name: (row["n"], row["n_without"]) for name, row in by_model.items()} == {
        "careful": (20, 4),
        "bold": (18, 0),
    }
    assert [told(one) for one in by_model["bold"]["shares"]] == [round(n / 18, 6) for n in (5, 10, 3)]
    (scored,) = result["scored"]
    assert "selfcheckgpt" in scored["title"] and told(scored["settings"][0]["spearman"]) == 1
    page = page_of(client, reverse("project_report", args=[project.slug, "refchecker"]))
    for part in (
        "selfcheckgpt",
        "Labels of bold, object masked from masked references",
        "Labels of bold, object masked by a model from masked references",
        "What bold, asked questions, knows",
        "questions made of the triplets",
    ):
        assert part in page, part
    assert client.get(reverse("project_agreement", args=[project.slug])).status_code == 200


# --- Sufficient Context ---------------------------------------------------------------------------------------------


def is_sufficient(number: int) -> bool:
    return number < 12


def knows(model: str, number: int) -> str:
    """What becomes of the model's answer: correct, abstain or hallucinate."""
    if is_sufficient(number):
        return "hallucinate" if number % 4 == 3 else "correct"
    if model == "careful":
        return "correct" if number == 12 else "abstain"
    return "correct" if number in (12, 13) else "hallucinate"


def sufficiency_model(name: str):
    def say(instructions: str, task: str, texts: dict[str, str]) -> str:
        number = number_in(texts.get("question") or texts["question asked"])
        assert texts["date of the question"] == ASKED_ON
        if task == "sufficiency":  # too generous with every sixth question
            passage = next(text for named, text in texts.items() if named.startswith("passage"))
            enough = OPENED.search(passage) or number % 6 == 2
            return (
                f"Which year did the harbour of Town{number} open? The passages "
                f"{'tell it' if enough else 'do not tell it'}.\n"
                + json.dumps(
                    {
                        "explanation": "One passage names the year." if enough else "No passage names the year.",
                        "quotes": [OPENED.search(passage)[0]] if OPENED.search(passage) else [],
                        "answer": letter_of("Sufficient" if enough else "Insufficient", instructions),
                    }
                )
            )
        if task == "answer":
            found = {"correct": str(year(number)), "hallucinate": str(year(number) + 1), "abstain": "I don't know"}
            return f"I looked for the year of Town{number}. The answer is: {found[knows(name, number)]}"
        if task == "confidence":  # surer where it is right, but for one
            return "90" if texts["answer"] == str(year(number)) or number == 3 else "30"
        assert task == "grade"
        answer, truth = texts["response"], texts["ground truth"]
        grade = "Missing" if "know" in answer else "Perfect" if answer == truth else "Incorrect"
        explanation = f"It says {answer}, and right is {truth}."
        return json.dumps({"explanation": explanation, "quotes": [answer], "answer": letter_of(grade, instructions)})

    return say


def test_twenty_questions_with_passages_become_stratified_tables_and_curves(models, tmp_path, client):
    models(careful=sufficiency_model("careful"), bold=sufficiency_model("bold"))
    rows = [
        {
            "question": {
                "id": f"q{number:02}",
                "text": f"When did the harbour of Town{number} open?",
                "date": ASKED_ON,
                "answers": [str(year(number))],
            },
            "passages": [
                {
                    "id": f"q{number:02}/p0",
                    "text": f"The harbour of Town{number} opened in {year(number)}."
                    if is_sufficient(number)
                    else f"The harbour of Town{number} has two piers.",
                },
                {"id": f"q{number:02}/p1", "text": "Herring is caught from May to September."},
            ],
        }
        for number in range(N)
    ]
    dataset = import_questions(tmp_path, rows)
    people = [make_user(name) for name in ("Anna", "Ben", "Cleo")]
    project = make_project(dataset, "sufficient-context/-/1", overlap=3, annotators=people)

    def number_of(unit: Unit) -> int:
        return int(re.search(r"Town(\d+)", (unit.question or unit.response.question).text)[1])

    for person in people:
        errs = person.email.startswith("ben")
        label_all(
            project,
            person,
            "sufficiency",
            lambda unit, errs=errs: (
                "sufficient" if is_sufficient(number_of(unit)) or (errs and number_of(unit) == 19) else "insufficient"
            ),
        )
    reasoning = [*CARE, "endpoint=careful", "reasoning=free"]
    call_command("run_checker", project.slug, "llm", here=True, param=reasoning)
    autorater = CheckerRun.objects.get()
    said = Suggestion.objects.get(run=autorater, unit__key="q01")
    assert said.label == "sufficient" and said.explanation == "One passage names the year."
    assert [(span["field"], span["quote"]) for span in said.spans] == [
        ("passage-1", f"The harbour of Town1 opened in {year(1)}.")
    ]

    asked = {"passages": "own", "publish": True, "param": [*CARE, "form=reasons", "confidence=asked"]}
    call_command("answer", project.slug, endpoint=["careful", "bold"], **asked)
    assert Response.objects.published().filter(dataset=dataset).count() == 2 * N
    one = Response.objects.get(question__key="q00", model="bold")
    assert one.text == str(year(0)) and one.metadata["confidence"] == 0.9
    assert one.metadata["generation"]["reasons"].startswith("I looked for the year")
    assert one.metadata["generation"]["passages"] == ["q00/p0", "q00/p1"]

    grades = make_project(dataset, "answer-grade/-/1", overlap=1, annotators=people[:1], slug="grades")
    assert Item.objects.filter(project=grades).count() == 2 * N
    stored = {"correct": "perfect", "abstain": "missing", "hallucinate": "incorrect"}
    label_all(grades, people[0], "grade", lambda unit: stored[knows(unit.response.model, number_of(unit))])
    call_command("run_checker", grades.slug, "llm", here=True, param=[*CARE, "endpoint=bold", "reasoning=json"])
    grader = CheckerRun.objects.get(project=grades)
    graded = Suggestion.objects.get(run=grader, unit__response=one)
    assert (graded.label, graded.explanation) == ("perfect", f"It says {year(0)}, and right is {year(0)}.")
    assert not RunFailure.objects.exists() and Question.objects.count() == N

    options = {"grades": grades.slug, "run": str(autorater.uuid), "withhold": "confidence-and-sufficiency"}
    source = DatabaseSource(project)
    result = get_report("sufficiency").compute(source, **options)
    assert (result["n_sufficient"], result["n_insufficient"], result["n_undecided"]) == (12, 8, 0)
    (rated,) = result["autoraters"]
    # Question 14 has no answer in its passages, and the autorater believes so.
    assert rated["counts"] == {"hits": 12, "false": 1, "missed": 0, "rest": 7}
    assert (told(rated["accuracy"]), told(rated["f1"])) == (0.95, 0.96)
    systems = {one["model"]: one["groups"] for one in result["systems"]}
    cells = {
        (model, group): tuple(told(systems[model][group][name]) for name in ("correct", "abstain", "hallucinate"))
        for model in ("careful", "bold")
        for group in ("sufficient", "insufficient")
    }
    assert cells == {
        ("careful", "sufficient"): (0.75, 0.0, 0.25),
        ("careful", "insufficient"): (0.125, 0.875, 0.0),
        ("bold", "sufficient"): (0.75, 0.0, 0.25),
        ("bold", "insufficient"): (0.25, 0.0, 0.75),
    }
    contains = next(one for one in result["contains"] if one["model"] == "bold" and one["group"] == "all")
    assert told(contains["contains"]) == told(contains["judged"]) == 0.55
    by_grader = get_report("sufficiency").compute(source, **options | {"judge": str(grader.uuid)})
    assert [one["groups"]["all"]["correct"]["n"] for one in by_grader["systems"]] == [
        one["groups"]["all"]["correct"]["n"] for one in result["systems"]
    ]
    by_confidence = get_report("sufficiency").compute(source, **options | {"withhold": "confidence"})
    (curve,) = (one for one in by_confidence["curves"] if one["model"] == "bold")
    # Of 20 answers 11 are right. The 12 that it is surest of are these and one more.
    assert told(curve["overall"]) == 0.55
    points = {one["coverage"]: one["accuracy"] for one in curve["points"]}
    assert points[0.6] == pytest.approx(11 / 12) and points[1.0] == pytest.approx(0.55)
    assert curve["gain"]["estimate"] > 0
    (combined,) = (one for one in result["curves"] if one["model"] == "bold")
    assert combined["gain"]["estimate"] > 0 and "logistic regression" in result["score_title"]
    client.force_login(dataset.owner)
    page = page_of(client, reverse("project_report", args=[project.slug, "sufficiency"]), grades=grades.slug)
    for cell in ("0.750", "0.875", "0.125", "0.250"):
        assert cell in page, cell
