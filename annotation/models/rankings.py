"""Which passages a retriever found for a claim, a question or an atomic claim, in which order and why."""

from django.db import models

from .content import EVIDENCE_PARENTS, Aspect, AtomicClaim, Claim, Evidence, Question, exactly_one_of
from .jobs import Job
from .projects import Project
from .runs import MachineRun


class RetrievalRun(MachineRun):
    """One retriever with one set of parameters over one body of documents, for the claims or questions of a project."""

    machine = "retriever"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="retrieval_runs")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="retrieval_run")
    asks = models.CharField(max_length=20)  # what is searched for: claim, question, atomic_claim, aspect
    # Where it is looked for. `own`: in all evidence of the data set; `each`: in each query's own passages alone; else
    # in the corpus of the site that has this name.
    corpus = models.CharField(max_length=80)
    corpus_hash = models.CharField(max_length=64, blank=True)  # of the documents that were searched
    top = models.PositiveIntegerField()  # passages that are kept of each query
    retriever = models.CharField(max_length=80)
    # Of a retrieval that a release brought: {"release": its SHA-256, "project", "run"}.
    origin = models.JSONField(default=dict, blank=True)

    @property
    def failures(self):
        """The queries without an answer."""
        return self.rankings.exclude(reason="")


class QueryRanking(models.Model):
    """What was found for one query: its passages are rows of their own."""

    run = models.ForeignKey(RetrievalRun, on_delete=models.CASCADE, related_name="rankings")
    claim = models.ForeignKey(Claim, on_delete=models.PROTECT, null=True, related_name="+")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True, related_name="+")
    atomic_claim = models.ForeignKey(AtomicClaim, on_delete=models.PROTECT, null=True, related_name="+")
    aspect = models.ForeignKey(Aspect, on_delete=models.PROTECT, null=True, related_name="+")
    text = models.TextField()  # the query's own words at that time
    expanded = models.TextField(blank=True)  # what was searched for, where that is something else
    made = models.JSONField(default=list)  # the documents in it that a language model made up for this search
    reason = models.CharField(max_length=80, blank=True)  # of the failure; empty where it was answered
    message = models.TextField(blank=True)
    is_permanent = models.BooleanField(default=False)
    # What each step of a pipeline took in, gave and dropped (`models_runtime.evidence.contracts.StepCount`).
    steps = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "claim"], name="claim_ranked_once"),
            models.UniqueConstraint(fields=["run", "question"], name="question_ranked_once"),
            models.UniqueConstraint(fields=["run", "atomic_claim"], name="atomic_claim_ranked_once"),
            models.UniqueConstraint(fields=["run", "aspect"], name="aspect_ranked_once"),
            models.CheckConstraint(condition=exactly_one_of(EVIDENCE_PARENTS), name="ranking_has_one_query"),
        ]

    def __str__(self) -> str:
        return f"{self.claim or self.question or self.atomic_claim or self.aspect} in {self.run_id}"


class RankedPassage(models.Model):
    ranking = models.ForeignKey(QueryRanking, on_delete=models.CASCADE, related_name="passages")
    rank = models.PositiveIntegerField()  # from 1
    score = models.FloatField()  # the last stage's
    scores = models.JSONField(default=dict)  # every stage's, by its name
    document = models.CharField(max_length=400)  # the evidence's key, or the document's id in its corpus
    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, null=True, related_name="+")
    start = models.PositiveIntegerField()  # of the passage in its document, in code points
    end = models.PositiveIntegerField()
    text = models.TextField()
    # Where the document is from: `url`, `publisher`, `date`, `title`, `is_gold`, `sha256` of its text, `retrieved_at`
    # and whatever else its corpus says of it.
    source = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ranking", "rank"], name="one_passage_per_rank")]

    def __str__(self) -> str:
        return f"{self.rank}: {self.document}"


class WebAnswer(models.Model):
    """What a search provider or a page answered in a run, asked once and kept, so that the run can go on, be read and
    be replayed. A search's `body` is the list of its results, a page's what was read of it, and a query's what a
    language model wrote to search for."""

    class Kind(models.TextChoices):
        QUERY = "query"
        SEARCH = "search"
        PAGE = "page"

    run = models.ForeignKey(RetrievalRun, on_delete=models.CASCADE, related_name="web_answers")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    asked = models.TextField()  # the query, the page's address, or the claim
    asked_sha256 = models.CharField(max_length=64)
    problem = models.CharField(max_length=300, blank=True)  # why there is no answer
    body = models.JSONField(default=dict)
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "kind", "asked_sha256"], name="web_asked_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.asked[:80]}"
