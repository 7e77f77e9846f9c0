"""Every table: content, work, judgements, suggestions, jobs. What each holds is said in its own module."""

from .claims import ClaimCollection, CollectedClaim
from .content import (
    EVIDENCE_PARENTS,
    PIECE_LINKS,
    Aspect,
    AtomicClaim,
    Claim,
    ContentBatch,
    Dataset,
    DatasetGrant,
    Evidence,
    Pair,
    Question,
    Response,
    StagedChange,
    SubSentence,
    Triplet,
    Unit,
    UnitKind,
)
from .drafts import Draft, ExtractedSource, ExtractionRun
from .generations import GeneratedText, GenerationRun
from .jobs import Artifact, Chunk, ColumnMapping, Job, Upload
from .judgements import Annotation, Case, Decision, Disagreement, Judgement, Revision, RuleRun, Shown, Span, set_name
from .people import Invitation, User
from .projects import (
    Guideline,
    GuidelineAcknowledgement,
    LabelAccess,
    LabelSet,
    Membership,
    Project,
    ProjectOptions,
    Rater,
)
from .prompts import HeldOutPart, PromptVersion
from .rankings import QueryRanking, RankedPassage, RetrievalRun, WebAnswer
from .runs import MachineRun
from .suggestions import CheckerRun, RunFailure, RunSample, Score, Suggestion
from .tokens import ApiToken, StoredAnswer
from .training import TrainedModel
from .webhooks import Webhook, WebhookDelivery
from .work import Assignment, Item, ItemUnit

__all__ = [
    "EVIDENCE_PARENTS",
    "Annotation",
    "ApiToken",
    "Artifact",
    "Aspect",
    "Assignment",
    "AtomicClaim",
    "Case",
    "CheckerRun",
    "Chunk",
    "Claim",
    "ColumnMapping",
    "ContentBatch",
    "Dataset",
    "DatasetGrant",
    "Decision",
    "Disagreement",
    "Draft",
    "Evidence",
    "ExtractedSource",
    "ExtractionRun",
    "GeneratedText",
    "GenerationRun",
    "Guideline",
    "GuidelineAcknowledgement",
    "HeldOutPart",
    "Invitation",
    "Item",
    "ItemUnit",
    "Job",
    "Judgement",
    "LabelAccess",
    "LabelSet",
    "MachineRun",
    "Membership",
    "PIECE_LINKS",
    "Pair",
    "Project",
    "ProjectOptions",
    "PromptVersion",
    "QueryRanking",
    "Question",
    "RankedPassage",
    "Rater",
    "Response",
    "RetrievalRun",
    "Revision",
    "RuleRun",
    "RunFailure",
    "RunSample",
    "Score",
    "Shown",
    "Span",
    "StagedChange",
    "StoredAnswer",
    "SubSentence",
    "Suggestion",
    "TrainedModel",
    "Triplet",
    "Unit",
    "UnitKind",
    "Upload",
    "User",
    "Webhook",
    "WebhookDelivery",
    "set_name",
    "WebAnswer",
    "ClaimCollection",
    "CollectedClaim",
]
