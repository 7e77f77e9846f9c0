"""What is judged: typed tables of a data set, and the units that labels point at.

Rows come in batches. A batch is invisible until it is published in one short step, so a long import neither shows half
of itself nor holds the database. A row whose text changed after it was judged is superseded by a new version; nothing
that was judged is rewritten.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Dataset(models.Model):
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="datasets")
    created_at = models.DateTimeField(auto_now_add=True)
    # Which texts are in which format (`annotation.rendering`); those left out are as they are found.
    text_formats = models.JSONField(default=dict, blank=True, db_default={})

    def __str__(self) -> str:
        return self.title


class DatasetGrant(models.Model):
    """Lets a person other than the owner make projects from a data set, and import into it if `can_edit`."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="dataset_grants")
    can_edit = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "user"], name="grant_once_per_user")]

    def __str__(self) -> str:
        return f"{self.user} on {self.dataset}"


class ContentBatch(models.Model):
    """The rows of one import. Staged rows are seen by nobody; publishing flips one field."""

    class State(models.TextChoices):
        STAGED = "staged"
        PUBLISHED = "published"
        DISCARDED = "discarded"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="batches")
    state = models.CharField(max_length=10, choices=State.choices, default=State.STAGED)
    job = models.OneToOneField("annotation.Job", on_delete=models.SET_NULL, null=True, related_name="batch")
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"], condition=Q(state="staged"), name="one_staged_batch_per_dataset"
            ),
        ]

    def __str__(self) -> str:
        return f"Batch {self.pk} of {self.dataset} ({self.state})"


class PublishedQuerySet(models.QuerySet):
    def published(self):
        """Rows that readers may see, in their newest version."""
        return self.filter(batch__state=ContentBatch.State.PUBLISHED, superseded_at=None)


class Content(models.Model):
    """`key` is built by the format from the file's own ids; it identifies the row in exports and second imports."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    batch = models.ForeignKey(ContentBatch, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=400)
    version = models.PositiveSmallIntegerField(default=1)
    superseded_at = models.DateTimeField(null=True)
    metadata = models.JSONField(default=dict)

    objects = PublishedQuerySet.as_manager()

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key", "version"], name="%(class)s_key_per_dataset"),
            models.UniqueConstraint(
                fields=["dataset", "key"], condition=Q(superseded_at=None), name="%(class)s_one_newest_version"
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Claim(Content):
    text = models.TextField()
    claimant = models.TextField(blank=True)
    date = models.DateField(null=True)
    source = models.TextField(blank=True)
    verdict = models.CharField(max_length=200, blank=True)


class Question(Content):
    text = models.TextField(blank=True)  # empty where a file only has the question's id
    date = models.DateField(null=True)
    answers = models.JSONField(default=list)


class OfClaimOrQuestion(Content):
    claim = models.ForeignKey(Claim, on_delete=models.PROTECT, null=True)
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True)

    class Meta(Content.Meta):
        abstract = True
        constraints = [
            *Content.Meta.constraints,
            models.CheckConstraint(
                condition=Q(claim=None, question__isnull=False) | Q(claim__isnull=False, question=None),
                name="%(class)s_has_one_parent",
            ),
        ]


class EvidenceQuerySet(PublishedQuerySet):
    def in_order(self):
        """As people, checkers and exports see the passages of one parent: `passage-1` is the same to all."""
        parents = ("question_id", "claim_id", "atomic_claim_id", "aspect_id")
        return self.order_by(*parents, F("rank").asc(nulls_last=True), "id")


# What evidence is about, as its links are called.
EVIDENCE_PARENTS = ("claim", "question", "atomic_claim", "aspect")


def exactly_one_of(links: tuple[str, ...]) -> Q:
    found = Q()
    for one in links:
        found |= Q(**{f"{link}__isnull": link != one for link in links})
    return found


class Evidence(Content):
    claim = models.ForeignKey(Claim, on_delete=models.PROTECT, null=True)
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True)
    atomic_claim = models.ForeignKey("annotation.AtomicClaim", on_delete=models.PROTECT, null=True)
    aspect = models.ForeignKey("annotation.Aspect", on_delete=models.PROTECT, null=True)
    text = models.TextField()
    url = models.TextField(blank=True)
    publisher = models.TextField(blank=True)
    date = models.DateField(null=True)
    is_gold = models.BooleanField(null=True)
    rank = models.IntegerField(null=True)

    objects = EvidenceQuerySet.as_manager()

    class Meta(Content.Meta):
        constraints = [
            *Content.Meta.constraints,
            models.CheckConstraint(condition=exactly_one_of(EVIDENCE_PARENTS), name="evidence_has_one_parent"),
        ]
        # Whether a data set has some of a kind is asked by pages, also where it has none.
        indexes = tuple(
            models.Index(fields=["dataset"], condition=Q(**{f"{parent}__isnull": False}), name=f"evidence_of_{parent}")
            for parent in EVIDENCE_PARENTS
        )

    @property
    def parent(self):
        """What it is about."""
        return self.claim or self.question or self.atomic_claim or self.aspect


class Response(OfClaimOrQuestion):
    text = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    method = models.CharField(max_length=200, blank=True)
    repetition = models.IntegerField(default=0)
    context_setting = models.CharField(max_length=200, blank=True)


class OfSet(Content):
    """A piece. `piece_set` is the set that it belongs to, such as an extractor's or people's; empty: the unnamed one.
    It never changes, and a project judges the pieces of one set."""

    piece_set = models.CharField(max_length=80, blank=True, default="", db_default="")

    class Meta(Content.Meta):
        abstract = True


class PieceOfResponse(OfSet):
    response = models.ForeignKey(Response, on_delete=models.PROTECT)
    index = models.IntegerField()

    class Meta(OfSet.Meta):
        abstract = True


class Triplet(PieceOfResponse):
    head = models.TextField(blank=True)
    relation = models.TextField(blank=True)
    tail = models.TextField(blank=True)


class SubSentence(PieceOfResponse):
    text = models.TextField()


class AtomicClaim(PieceOfResponse):
    text = models.TextField()


class Aspect(OfSet):
    question = models.ForeignKey(Question, on_delete=models.PROTECT)
    index = models.IntegerField()
    text = models.TextField()


class Pair(Content):
    """Premise and hypothesis, with links to where they come from."""

    premise = models.TextField()
    hypothesis = models.TextField()
    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, null=True)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, null=True)


class OutputComparison(Content):
    """Outputs for one prompt, from which the best is chosen. There are two to five; the others are empty."""

    question = models.ForeignKey(Question, on_delete=models.PROTECT)
    output_a = models.TextField()
    output_b = models.TextField()
    output_c = models.TextField(blank=True)
    output_d = models.TextField(blank=True)
    output_e = models.TextField(blank=True)
    system_a = models.CharField(max_length=200, blank=True)
    system_b = models.CharField(max_length=200, blank=True)
    system_c = models.CharField(max_length=200, blank=True)
    system_d = models.CharField(max_length=200, blank=True)
    system_e = models.CharField(max_length=200, blank=True)


class StagedChange(models.Model):
    """A row of a file that differs from what is stored: applied when the batch is published, or not at all."""

    batch = models.ForeignKey(ContentBatch, on_delete=models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=400)
    fields = models.JSONField()
    is_judged = models.BooleanField(default=False)
    # Of a row that gets one more piece: "set:" and the piece's set, which alone it concerns. Empty: all that is judged.
    alters = models.CharField(max_length=84, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "kind", "key", "alters"], name="one_change_per_row")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class UnitKind(models.TextChoices):
    CLAIM = "claim"
    EVIDENCE = "evidence"
    PAIR = "pair"
    QUESTION = "question"
    RESPONSE = "response"
    TRIPLET = "triplet"
    SUB_SENTENCE = "sub_sentence"
    ATOMIC_CLAIM = "atomic_claim"
    ASPECT = "aspect"
    RESPONSE_ASPECT = "response_aspect"  # an aspect in a response
    COMPARISON = "comparison"


# Which of a unit's links are set, by kind; everything else is null.
UNIT_LINKS = {
    UnitKind.CLAIM: ("claim",),
    UnitKind.EVIDENCE: ("evidence",),
    UnitKind.PAIR: ("pair",),
    UnitKind.QUESTION: ("question",),
    UnitKind.RESPONSE: ("response",),
    UnitKind.TRIPLET: ("triplet",),
    UnitKind.SUB_SENTENCE: ("sub_sentence",),
    UnitKind.ATOMIC_CLAIM: ("atomic_claim",),
    UnitKind.ASPECT: ("aspect",),
    UnitKind.RESPONSE_ASPECT: ("response", "aspect"),
    UnitKind.COMPARISON: ("comparison",),
}
# Kinds of units that are pieces, or judge one -> the link to the piece.
PIECE_LINKS = {
    UnitKind.TRIPLET: "triplet",
    UnitKind.SUB_SENTENCE: "sub_sentence",
    UnitKind.ATOMIC_CLAIM: "atomic_claim",
    UnitKind.ASPECT: "aspect",
    UnitKind.RESPONSE_ASPECT: "aspect",
}
_ALL_LINKS = tuple(dict.fromkeys(link for links in UNIT_LINKS.values() for link in links))


def _links_fit_kind() -> Q:
    fits = Q()
    for kind, links in UNIT_LINKS.items():
        fits |= Q(kind=kind, **{f"{link}__isnull": link not in links for link in _ALL_LINKS})
    return fits


class UnitQuerySet(PublishedQuerySet):
    def in_set(self, kind: str, piece_set: str):
        """Of units of a kind those of the set, where they are pieces; else all."""
        link = PIECE_LINKS.get(kind)
        return self.filter(**{f"{link}__piece_set": piece_set}) if link else self


class Unit(models.Model):
    """The thing a label is about. Judgements, suggestions, decisions and scores all point here."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="units")
    batch = models.ForeignKey(ContentBatch, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=20, choices=UnitKind.choices)
    key = models.CharField(max_length=400)
    version = models.PositiveSmallIntegerField(default=1)
    superseded_at = models.DateTimeField(null=True)
    claim = models.ForeignKey(Claim, on_delete=models.PROTECT, null=True, related_name="units")
    evidence = models.ForeignKey(Evidence, on_delete=models.PROTECT, null=True, related_name="units")
    pair = models.ForeignKey(Pair, on_delete=models.PROTECT, null=True, related_name="units")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, null=True, related_name="units")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, null=True, related_name="units")
    triplet = models.ForeignKey(Triplet, on_delete=models.PROTECT, null=True, related_name="units")
    sub_sentence = models.ForeignKey(SubSentence, on_delete=models.PROTECT, null=True, related_name="units")
    atomic_claim = models.ForeignKey(AtomicClaim, on_delete=models.PROTECT, null=True, related_name="units")
    aspect = models.ForeignKey(Aspect, on_delete=models.PROTECT, null=True, related_name="units")
    comparison = models.ForeignKey(OutputComparison, on_delete=models.PROTECT, null=True, related_name="units")

    objects = UnitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "kind", "key", "version"], name="unit_key_per_dataset"),
            models.UniqueConstraint(
                fields=["dataset", "kind", "key"], condition=Q(superseded_at=None), name="unit_one_newest_version"
            ),
            models.CheckConstraint(condition=_links_fit_kind(), name="unit_links_fit_kind"),
            models.CheckConstraint(condition=~Q(key=""), name="unit_has_key"),
        ]
        indexes = [models.Index(F("dataset"), F("kind"), F("id"), name="unit_by_kind")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
