"""What rules there are and what can be asked of each: pages, the command and the checks come from this table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from analysis.rules.tables import TableError, parse_table, table_for
from annotation.models import RuleRun, UnitKind
from annotation.task_types import Dimension, TaskType

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
# What becomes of a unit for which the rule has several answers or none.
UNDECIDED, FIRST, LAST, LABEL = "undecided", "first", "last", "label"
LOWER, UPPER = "lower", "upper"
DROP, COMPETENCE, KEEP = "drop", "competence", "keep"
WAIT, IGNORE = "wait", "ignore"
ALL = ""  # every question that the rule can decide
DAWID_SKENE, MACE = "dawid-skene", "mace"
MEAN, MEDIAN = "mean", "median"
# Units that hang below another unit, and the way from their content to it.
PARENTS: dict[str, tuple[str, str]] = {
    UnitKind.EVIDENCE: (UnitKind.CLAIM, "evidence__claim__units"),
    UnitKind.TRIPLET: (UnitKind.RESPONSE, "triplet__response__units"),
    UnitKind.SUB_SENTENCE: (UnitKind.RESPONSE, "sub_sentence__response__units"),
    UnitKind.ATOMIC_CLAIM: (UnitKind.RESPONSE, "atomic_claim__response__units"),
    UnitKind.RESPONSE_ASPECT: (UnitKind.RESPONSE, "response__units"),
}


class RuleError(ValueError):
    """The rule cannot be run so; the message is for the user. `parameter` is the one that is wrong, if one is."""

    def __init__(self, message: str, parameter: str = ""):
        self.parameter = parameter
        super().__init__(message)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a rule. `choices` are value -> title; without them it is a whole number, a number or a
    text, as its default is."""

    name: str
    title: str
    default: str | int | float
    help: str = ""
    choices: Mapping[str, str] | Callable[[TaskType], Mapping[str, str]] | None = None
    low: float | None = None
    high: float | None = None
    is_long: bool = False  # a text of several lines

    @property
    def argument(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    def offered(self, kind: TaskType) -> dict[str, str]:
        return dict(self.choices(kind) if callable(self.choices) else self.choices or {})

    def value(self, kind: TaskType, raw: object) -> str | int | float:
        if raw is None or (raw == "" and not self.choices):
            return self.default
        if self.choices is not None:
            offered = self.offered(kind)
            if str(raw) not in offered:
                known = ", ".join(filter(None, offered)) or "none here"
                raise RuleError(f"{self.title}: is one of {known}, not {raw!r}", self.name)
            return str(raw)
        if isinstance(self.default, str):
            return str(raw).replace("\r\n", "\n").strip()
        make = type(self.default)
        try:
            value = make(str(raw))
        except ValueError:
            what = "a whole number" if make is int else "a number"
            raise RuleError(f"{self.title}: {raw!r} is not {what}", self.name) from None
        if not self.low <= value <= self.high:
            raise RuleError(f"{self.title}: {value:,} is not from {self.low:,} to {self.high:,}", self.name)
        return value


@dataclass(frozen=True)
class RuleKind:
    slug: str
    title: str
    summary: str
    parameters: tuple[Parameter, ...]
    decide: str = ""  # the function in deciding.py, which loads numpy, that makes outcomes of labels
    weighs_people: bool = False  # so that raters have to be people
    lifts_decisions: bool = False  # of units, in place of their labels, to what the units hang below
    # Whether the rule can decide a question.
    takes: Callable[[Dimension], bool] = field(default=lambda dimension: bool(dimension.labels))
    # Why the rule fits no project of this task type; empty where it does.
    refuses: Callable[[TaskType], str] = lambda kind: ""

    # Looks at the parameters together, and completes them. RuleError says what is wrong.
    check: Callable[[dict, TaskType, Sequence[Dimension]], None] = lambda found, kind, dimensions: None

    def why_not(self, kind: TaskType) -> str:
        if reason := self.refuses(kind):
            return reason
        if not any(map(self.takes, kind.asked_dimensions)):
            return f"{self.title} decides no question of this project"
        return ""

    def unit_kind(self, kind: TaskType) -> str:
        """What it decides about."""
        return PARENTS[kind.unit_kind][0] if self.lifts_decisions else kind.unit_kind

    def dimensions(self, kind: TaskType, parameters: Mapping) -> list[Dimension]:
        """Those that are decided, a condition before what depends on it."""
        chosen = parameters.get("question", ALL)
        found = [one for one in kind.asked_dimensions if self.takes(one) and chosen in (ALL, one.slug)]
        return sorted(found, key=lambda one: one.asked_when is not None)


def is_single(dimension: Dimension) -> bool:
    return bool(dimension.labels) and not dimension.takes_several


def has_order(dimension: Dimension) -> bool:
    return dimension.takes_number or (is_single(dimension) and dimension.level != "nominal")


def _questions(takes: Callable[[Dimension], bool]) -> Callable[[TaskType], dict[str, str]]:
    def offered(kind: TaskType) -> dict[str, str]:
        found = {one.slug: one.title for one in kind.asked_dimensions if takes(one)}
        return {ALL: "all questions that the rule can decide"} | found

    return offered


def _question(takes: Callable[[Dimension], bool]) -> Parameter:
    return Parameter("question", "Question", ALL, "the question to decide; all of them without it", _questions(takes))


def _no_druid(kind: TaskType) -> str:
    roles = {dimension.role for dimension in kind.asked_dimensions}
    missing = [role for role in ("relevance", "stance") if role not in roles]
    if not missing:
        return ""
    return f"DRUID's rule needs questions of relevance and stance; this project has none of {missing[0]}"


def _no_parent(kind: TaskType) -> str:
    if kind.unit_kind in PARENTS:
        return ""
    return (
        f"What is judged here ({kind.unit_kind.replace('_', ' ')}) hangs below nothing that a decision could be about"
    )


def _check_tie_label(found: dict, kind: TaskType, dimensions: Sequence[Dimension]) -> None:
    if found["ties"] != LABEL:
        found["tie_label"] = ""
        return
    fits = [one for one in dimensions if one.takes(found["tie_label"])]
    if not fits:
        known = "; ".join(f"{one.title}: {one.known_answers}" for one in dimensions)
        raise RuleError(f"Label for ties: {found['tie_label']!r} is not a label of the question. {known}", "tie_label")


def lifted_question(kind: TaskType, chosen: str = "") -> Dimension:
    """The question whose decisions are lifted: the last one, where none is chosen."""
    questions = [one for one in kind.asked_dimensions if is_single(one)]
    return next((one for one in questions if one.slug == chosen), questions[-1])


def _check_lift(found: dict, kind: TaskType, dimensions: Sequence[Dimension]) -> None:
    found["question"] = lifted_question(kind, found["question"]).slug
    values = kind.dimension(found["question"]).values
    found["table"] = found["table"] or table_for(values)
    try:
        parse_table(found["table"], values)
    except TableError as error:
        raise RuleError(f"Table: {error}", "table") from None
    if not NAME.fullmatch(found["verdict"].replace("_", "-")) or len(found["verdict"]) > 40:
        raise RuleError(f"Name of the verdict: {found['verdict']!r} is not a name", "verdict")
    if found["verdict"] in {one.slug for one in kind.dimensions}:
        raise RuleError(f"Name of the verdict: {found['verdict']!r} is a question of the project", "verdict")
    if found["decisions"] and not NAME.fullmatch(found["decisions"]):
        raise RuleError(f"Decisions: {found['decisions']!r} is not the name of a rule", "decisions")


MIN_LABELS = Parameter("at_least", "Labels at least", 1, "units with fewer labels stay undecided", low=1, high=1000)
SEED = Parameter("seed", "Seed", 0, "of MACE's random starts", low=0, high=2**31 - 1)
TIES = {
    UNDECIDED: "stay undecided",
    FIRST: "the first of the tied labels in the scale's order",
    LAST: "the last of the tied labels in the scale's order",
    LABEL: "the label named below",
}

KINDS: dict[str, RuleKind] = {
    kind.slug: kind
    for kind in (
        RuleKind(
            "majority",
            "Majority",
            "The label that most people gave. Ties stay undecided or get a label, as you choose.",
            (
                _question(lambda one: bool(one.labels)),
                Parameter("ties", "Ties", UNDECIDED, "undecided, first, last or label", TIES),
                Parameter("tie_label", "Label for ties", "", "a label of the question, where ties get one"),
                MIN_LABELS,
            ),
            "by_majority",
            check=_check_tie_label,
        ),
        RuleKind(
            "weighted",
            "Weighted by competence",
            "The most probable label under a model of the annotators' errors, where its posterior is high enough. "
            "Equally probable labels stay undecided.",
            (
                _question(is_single),
                Parameter(
                    "model",
                    "Model",
                    DAWID_SKENE,
                    "dawid-skene or mace",
                    {DAWID_SKENE: "Dawid-Skene: a table of errors per person", MACE: "MACE: who knows and who guesses"},
                ),
                Parameter(
                    "minimum", "Minimum posterior", 0.5, "less probable labels stay undecided", low=0.0, high=1.0
                ),
                SEED,
            ),
            "by_weight",
            weighs_people=True,
            takes=is_single,
        ),
        RuleKind(
            "centre",
            "Mean or median",
            "The mean or median of the answers, for questions with ordered labels or numbers.",
            (
                _question(has_order),
                Parameter("centre", "Centre", MEDIAN, "mean or median", {MEDIAN: "median", MEAN: "mean"}),
                Parameter(
                    "between",
                    "Halfway between two labels",
                    UNDECIDED,
                    "undecided, lower or upper",
                    {UNDECIDED: "stays undecided", LOWER: "the lower label", UPPER: "the higher label"},
                ),
                MIN_LABELS,
            ),
            "by_centre",
            takes=has_order,
        ),
        RuleKind(
            "druid",
            "DRUID's rule",
            "Drops pairs on which people differ strongly, or whose quality an annotator questioned. In small "
            "disagreements the annotator whom MACE finds more competent decides; equal competence stays undecided.",
            (
                Parameter(
                    "threshold",
                    "Steps of the scale",
                    3,
                    "stances that lie so many steps apart are dropped; closer ones go to the more competent",
                    low=1,
                    high=100,
                ),
                Parameter(
                    "relevance",
                    "Disagreement on relevance",
                    COMPETENCE,
                    "competence, drop or undecided",
                    {COMPETENCE: "goes to the more competent", DROP: "drops the pair", UNDECIDED: "stays undecided"},
                ),
                Parameter(
                    "quality",
                    "Notes on quality",
                    DROP,
                    "a comment on the pair: drop or keep",
                    {DROP: "drop the pair", KEEP: "change nothing"},
                ),
                SEED,
            ),
            "by_druid",
            weighs_people=True,
            takes=lambda one: one.role in ("relevance", "stance"),
            refuses=_no_druid,
        ),
        RuleKind(
            "lift",
            "Derive a verdict",
            "A verdict on a claim from the decisions about its evidence, or on a response from those about its pieces, "
            "by a table of conditions.",
            (
                Parameter(
                    "question",
                    "Question",
                    ALL,
                    "the question with the decisions to lift",
                    lambda kind: {one.slug: one.title for one in kind.asked_dimensions if is_single(one)},
                ),
                Parameter(
                    "decisions",
                    "Decisions",
                    "",
                    "the rule whose decisions are lifted, by its name; a person's decision comes before it. Without a "
                    "name, people's decisions alone",
                ),
                Parameter(
                    "table",
                    "Table",
                    "",
                    "a verdict per line with its conditions: any LABEL, no LABEL, all LABEL, most LABEL, otherwise; "
                    "the first line that holds counts; by default one that fits the labels",
                    is_long=True,
                ),
                Parameter("verdict", "Name of the verdict", "verdict", "stored in place of the name of a question"),
                Parameter(
                    "undecided",
                    "Parents with an undecided child",
                    WAIT,
                    "wait or ignore",
                    {WAIT: "stay undecided", IGNORE: "are decided by the others"},
                ),
            ),
            lifts_decisions=True,
            takes=is_single,
            refuses=_no_parent,
            check=_check_lift,
        ),
    )
}


def get_kind(slug: str) -> RuleKind:
    if slug not in KINDS:
        raise RuleError(f"There is no kind of rule {slug!r}; there are {', '.join(KINDS)}", "kind")
    return KINDS[slug]


def checked(slug: str, name: str, values: Mapping[str, object], kind: TaskType) -> dict:
    """All parameters of the rule; RuleError names the first that is wrong."""
    rule = get_kind(slug)
    if not NAME.fullmatch(name) or len(name) > RuleRun.NAME_CHARS:
        raise RuleError(
            f"Name: {name!r} is not made of small letters, digits and hyphens, {RuleRun.NAME_CHARS} at most", "name"
        )
    if reason := rule.why_not(kind):
        raise RuleError(reason, "kind")
    known = [parameter.name for parameter in rule.parameters]
    for unknown in sorted(set(values) - set(known)):
        raise RuleError(f"{rule.title} has no parameter {unknown!r}; it has {', '.join(known)}", unknown)
    found = {parameter.name: parameter.value(kind, values.get(parameter.name)) for parameter in rule.parameters}
    rule.check(found, kind, rule.dimensions(kind, found))
    return found
