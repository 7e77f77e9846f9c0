"""The demo's data sets and projects: one project for every kind of judgement, and a second for the first of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from annotation.demo.answers import FIXTURES, SIX_WAY, THREE_WAY, DemoAnswer, answers_in, claim_answers, verdict_answers
from annotation.demo.study import PARTICIPANTS, SETTINGS, STUDY, Participant
from annotation.models import Project


@dataclass(frozen=True, slots=True)
class DemoSet:
    slug: str
    title: str
    file: str
    format: str
    about: str
    text_formats: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> str:
        return f"{self.about} Written for the demo: everything in it is made up, and nothing should be quoted."


@dataclass(frozen=True, slots=True)
class DemoProject:
    slug: str
    title: str
    dataset: str
    task_type: str
    guidelines: str  # a file in fixtures/demo/guidelines
    answers: Callable[[], dict[str, DemoAnswer]]  # what the annotators lean on, by unit
    judged: tuple[int, int]  # items that the first and the second annotator have done
    about: str
    prefill: str = Project.Prefill.OFF
    doubts: int = 2  # an annotator follows one in so many doubts
    settings: Mapping[str, object] = field(default_factory=dict)
    participants: tuple[Participant, ...] = ()  # who came by the link of a study
    takes_labels: bool = False  # of the data set's file, such as a judge's

    @property
    def description(self) -> str:
        return f"{self.about} Everything in it is made up."

    @property
    def guidelines_text(self) -> str:
        return (FIXTURES / "guidelines" / f"{self.guidelines}.md").read_text(encoding="utf-8")


DATASETS = (
    DemoSet(
        "demo-claims",
        "Everyday claims (made up)",
        "claims.tsv",
        "druid",
        "Claims with two or three pieces of evidence each.",
    ),
    DemoSet(
        "demo-answers",
        "Answers in triplets (made up)",
        "answers.json",
        "refchecker",
        "Answers of two models with passages and claim-triplets.",
        {"response": "markdown"},
    ),
    DemoSet(
        "demo-questions",
        "Questions with passages (made up)",
        "questions.jsonl",
        "content",
        "Questions with true answers, passages, and the answers of two models in sub-sentences.",
    ),
    DemoSet(
        "demo-long-answers",
        "Long answers (made up)",
        "coverage.jsonl",
        "content",
        "Questions with their aspects, long answers of two models, and atomic claims drawn from them.",
        {"response": "markdown"},
    ),
    DemoSet(
        "demo-aspects",
        "Generated aspects (made up)",
        "aspects.jsonl",
        "content",
        "Questions with aspects as a model might propose them, relevant and not.",
    ),
    DemoSet(
        "demo-documents",
        "Generated documents (made up)",
        "documents.jsonl",
        "content",
        "Claims with gold evidence, documents generated for them by two methods, and pairs of evidence and sentence.",
    ),
    DemoSet(
        "demo-pairs",
        "Premises and hypotheses (made up)",
        "pairs.jsonl",
        "content",
        "Pairs that belong to no claim and no question.",
    ),
    DemoSet(
        "demo-outputs",
        "Outputs of four systems (made up)",
        "outputs.jsonl",
        "preferences",
        "Prompts with two to four outputs each, and a judge's choices with the outputs in both orders.",
        {"response": "markdown"},
    ),
)

# Made in this order. The list of projects shows the newest first, so what a newcomer should open first comes last.
PROJECTS = (
    DemoProject(
        "demo-verdicts",
        "What is the verdict on the claims?",
        "demo-claims",
        "claim-verdict/three-way/1",
        "claim-verdict",
        partial(verdict_answers, "not_enough_evidence"),
        (22, 20),
        "Claims alone: supported, refuted, or not enough evidence. Checkers judge them by retrieved passages.",
    ),
    DemoProject(
        "demo-verdicts-four",
        "Verdicts with conflicting evidence",
        "demo-claims",
        "claim-verdict/four-way/1",
        "claim-verdict",
        partial(verdict_answers, "conflicting_evidence"),
        (20, 18),
        "The same claims with a fourth verdict, for evidence that points both ways.",
    ),
    DemoProject(
        "demo-inference",
        "What follows from what?",
        "demo-pairs",
        "nli/three-way/1",
        "nli-three-way",
        partial(answers_in, "nli-three-way"),
        (8, 8),
        "Premise and hypothesis, in three labels.",
    ),
    DemoProject(
        "demo-sentences",
        "Does it follow from the evidence?",
        "demo-documents",
        "nli/two-way/1",
        "nli-two-way",
        partial(answers_in, "nli-two-way"),
        (17, 16),
        "Gold evidence against single sentences of generated documents, in two labels.",
    ),
    DemoProject(
        "demo-inclusion",
        "Is the evidence in the document?",
        "demo-documents",
        "evidence-inclusion/-/1",
        "evidence-inclusion",
        partial(answers_in, "evidence-inclusion"),
        (15, 13),
        "Documents that a model wrote for a claim, compared with all of the claim's gold evidence.",
    ),
    DemoProject(
        "demo-aspect-relevance",
        "Do the aspects belong there?",
        "demo-aspects",
        "nli/aspect-relevance/1",
        "aspect-relevance",
        partial(answers_in, "aspect-relevance"),
        (5, 5),
        "Aspects that a model proposed for a question.",
    ),
    DemoProject(
        "demo-atomic-claims",
        "Do the claims stand alone?",
        "demo-long-answers",
        "nli/atomic-claim/1",
        "atomic-claim",
        partial(answers_in, "atomic-claim"),
        (18, 16),
        "Atomic claims drawn from long answers, shown without them.",
    ),
    DemoProject(
        "demo-coverage",
        "What do the long answers cover?",
        "demo-long-answers",
        "aspect-coverage/-/1",
        "aspect-coverage",
        partial(answers_in, "aspect-coverage"),
        (5, 5),
        "Five to twelve aspects per question, marked in answers of some 250 words.",
    ),
    DemoProject(
        "demo-grades",
        "How good are the answers?",
        "demo-questions",
        "answer-grade/-/1",
        "answer-grade",
        partial(answers_in, "answer-grade"),
        (20, 20),
        "Answers graded against the truth; correct, hallucinated or abstained follows from the grade.",
    ),
    DemoProject(
        "demo-sufficiency",
        "Do the passages suffice?",
        "demo-questions",
        "sufficient-context/-/1",
        "sufficient-context",
        partial(answers_in, "sufficient-context"),
        (8, 8),
        "Whether an answer to the question could be inferred from its passages at all.",
    ),
    DemoProject(
        "demo-sub-sentences",
        "Do the sentences hold?",
        "demo-questions",
        "triplets/sub-sentences/1",
        "sub-sentences",
        partial(answers_in, "sub-sentences"),
        (14, 12),
        "Short sentences of two models' answers against passages, with a checker's suggestions after the first answer.",
        prefill=Project.Prefill.AFTER,
    ),
    DemoProject(
        "demo-preferences",
        "Which output is best?",
        "demo-outputs",
        "preference/-/1",
        "preference",
        partial(answers_in, "preference", ("preference",)),
        (34, 32),
        "Outputs of four systems for one prompt, as Markdown, with a judge that saw them in both orders.",
        takes_labels=True,
    ),
    DemoProject(
        "demo-preference-strength",
        "Which is best, and by how much?",
        "demo-outputs",
        "preference/strength/1",
        "preference",
        partial(answers_in, "preference", ("preference", "strength")),
        (9, 10),
        "The same outputs, with how much better the best one is.",
        doubts=3,
        takes_labels=True,
    ),
    DemoProject(
        "demo-ranking",
        "How do the outputs rank?",
        "demo-outputs",
        "ranking/-/1",
        "ranking",
        partial(answers_in, "preference", ("ranking",)),
        (30, 28),
        "The same outputs in order, the best first.",
    ),
    DemoProject(
        "demo-ranking-ties",
        "How do the outputs rank, with ties?",
        "demo-outputs",
        "ranking/ties/1",
        "ranking",
        partial(answers_in, "preference", ("ranking",)),
        (9, 8),
        "The same outputs in order, where some may be equally good.",
        doubts=3,
    ),
    DemoProject(
        "demo-best-worst",
        "Which is best, and which is worst?",
        "demo-outputs",
        "ranking/best-worst/1",
        "best-worst",
        partial(answers_in, "preference", ("best_worst",)),
        (30, 30),
        "The best and the worst of the same outputs, from which systems get scores.",
    ),
    DemoProject(
        "demo-triplets",
        "Do the triplets hold?",
        "demo-answers",
        "triplets/-/1",
        "triplets",
        partial(answers_in, "triplets"),
        (10, 9),
        "Claim-triplets of two models' answers against reference passages.",
    ),
    DemoProject(
        "demo-three-way",
        "Evidence on claims: three labels",
        "demo-claims",
        "claim-evidence/three-way/1",
        "claim-evidence-three",
        partial(claim_answers, THREE_WAY),
        (24, 20),
        "The same claims as in the six-way projects, without leanings.",
        doubts=4,
    ),
    DemoProject(
        STUDY,
        "A study with participants",
        "demo-claims",
        "claim-evidence/three-way/1",
        "claim-evidence-three",
        partial(claim_answers, THREE_WAY),
        (0, 0),
        "People come by a link, consent, learn and qualify; suggestions are a trial with three arms.",
        prefill=Project.Prefill.DRAWN,
        doubts=4,
        settings=SETTINGS,
        participants=PARTICIPANTS,
    ),
    DemoProject(
        "demo-stance",
        "Evidence on claims: all judged",
        "demo-claims",
        "claim-evidence/six-way/1",
        "claim-evidence",
        partial(claim_answers, SIX_WAY),
        (59, 59),
        "Both annotators have finished: see agreement, the checker and the disagreements.",
        doubts=4,
    ),
    DemoProject(
        "demo-open",
        "Evidence on claims: open work",
        "demo-claims",
        "claim-evidence/six-way/1",
        "claim-evidence",
        partial(claim_answers, SIX_WAY),
        (18, 22),
        "Open work, with a checker's suggestions after the first answer.",
        prefill=Project.Prefill.AFTER,
        doubts=4,
    ),
)
