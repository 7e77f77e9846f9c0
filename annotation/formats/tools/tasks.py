"""What files of annotation tools have in common: texts, and people's and models' answers about each.

A tool's module turns its files into `Task`s, one at a time, with the names of questions and labels as its users wrote
them. Here they become records and a label set. What Assay cannot hold is counted by name and never dropped silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from annotation import incoming
from annotation.formats.cells import BadCell, SeenKeys, SeenParents, digest, label_order, number_in, row_error
from annotation.formats.files.tables import OpenTable
from annotation.formats.names import (
    TITLE_CHARS,
    chosen_value,
    find_label,
    highlight_value,
    label_key,
    label_value,
    question_slug,
    shown,
)
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    FormatError,
    JudgementRecord,
    LostRecord,
    OddRecord,
    PairRecord,
    Record,
    RowError,
    SpanRecord,
    SuggestionRecord,
)
from annotation.formats.sources import Options
from annotation.task_types.base import (
    MANY_LABELS,
    MAX_LABELS,
    MAX_OWN_LABELS,
    NONE_CHOSEN,
    SEPARATOR,
    TEXT_CHARS,
    number_text,
)

ONE, SEVERAL, RATING, WORDS, PASSAGES, NUMBER = "one", "several", "rating", "words", "passages", "number"
# A question about passages is answered whether there are any; the passages have labels of their own.
MARKED, NONE = "marked", "none"
MODEL_CHARS = 70
EXPLANATION_CHARS = 20_000
FORM_MARKS = str.maketrans({",": ";", "=": ":"})  # what parts the labels of passages in a form
FIELDS = {"claim": ["claim"], "pair": ["premise", "hypothesis"]}
MOST_QUESTIONS = 12
MOST_SPELLINGS = 20  # of one label, that are listed
MOST_LOST = 500  # different parts that are listed


@dataclass(frozen=True, slots=True)
class ToolSpan:
    """A marked passage of the text (or of its context), in code points of the text as it is stored."""

    label: str
    start: int
    end: int
    quote: str
    in_context: bool = False


@dataclass(slots=True)
class RaterAnswers:
    """The answer of one person or one model about a text. `who` is empty where the file does not name them."""

    who: str = ""
    # Question -> its labels, as the tool's users wrote them
    labels: dict[str, list[str]] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # question -> the text that was written
    numbers: set[str] = field(default_factory=set)  # those of the questions that are answered by a number
    spans: dict[str, list[ToolSpan]] = field(default_factory=dict)
    incomplete: set[str] = field(default_factory=set)  # questions that lost a marked passage
    sees_all: bool = False  # whether no passage of a question means that there is none
    probability: float | None = None  # of a model
    explanations: dict[str, str] = field(default_factory=dict)  # question -> a model's reasons
    active_ms: int | None = None
    submitted_at: datetime | None = None
    comment: str = ""


@dataclass(slots=True)
class Task:
    """A text with all answers about it. `context` is what it was judged against, where that is shown."""

    file: str
    line: int
    key: str
    text: str
    context: str = ""
    metadata: dict = field(default_factory=dict)
    people: list[RaterAnswers] = field(default_factory=list)
    models: list[RaterAnswers] = field(default_factory=list)
    decided: list[RaterAnswers] = field(default_factory=list)  # what stands, such as a curation
    lost: Counter[str] = field(default_factory=Counter)
    errors: list[RowError] = field(default_factory=list)  # regions without a place; the other answers count


# --- names ----------------------------------------------------------------------------------------------------------


def model_name(name: str) -> str:
    """The name of a model, as long as a run's may be."""
    title = shown(name)
    return title if len(title) <= MODEL_CHARS else f"{title[: MODEL_CHARS - 8]}… {digest(name).hex()[:6]}"


# --- rows -----------------------------------------------------------------------------------------------------------


def tasks_in(tables: Iterable[OpenTable], parse: Callable[[str, int, dict], Task]) -> Iterator[Task | RowError]:
    """The task that `parse` makes of the file, the line and the cells of each row."""
    for table in tables:
        yield from table.parsed(lambda line, cells, file=table.name: [parse(file, line, cells)])


# --- records --------------------------------------------------------------------------------------------------------


def records_of(
    tasks: Iterable[Task | RowError | LostRecord | OddRecord], options: Options, *, has_repeats: bool = False
) -> Iterator[Record]:
    """Content and the answers about it, task by task, then what was lost. `options.label_set` says what is asked.

    With `has_repeats` one text may stand in several places, with what different people say of it; else it may not.
    """
    records = _Records(options, has_repeats)
    for task in tasks:
        if isinstance(task, RowError | OddRecord):
            yield task
            continue
        if isinstance(task, LostRecord):
            records.lose(task.what, task.number, task.first)
            continue
        try:
            yield from records.of(task)
        except BadCell as problem:
            yield row_error(task.file, task.line, problem)
        yield from task.errors
    yield from records.lost()


class _Records:
    def __init__(self, options: Options, has_repeats: bool):
        made = options.label_set or {}
        self.questions = {one["slug"]: one for one in made.get("questions", ())}
        self.labels = {slug: _labels_in(one) for slug, one in self.questions.items()}
        self.page = made.get("page")
        self.seen = SeenParents("text", ("text", "context")) if has_repeats else SeenKeys()
        self.file = ""
        # By digest of text and rater: how many revisions there are; of text: how many nobody made
        self.revisions: Counter[bytes] = Counter()
        # By digest of text and rater: question -> answer, where a person's questions may stand in several places
        self.earlier: dict[bytes, dict[str, JudgementRecord]] | None = (
            {} if has_repeats and len(self.questions) > 1 else None
        )
        self.suggested: set[bytes] = set()
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self.unheld: dict[str, set[str]] = {}  # by what is lost: labels of passages that no question holds
        # By question and value: its spellings, each with where it stands first
        self.spellings: dict[tuple[str, str], dict[str, str]] = {}

    def of(self, task: Task) -> Iterator[Record]:
        if task.file != self.file:
            self.file = task.file
            self.seen.start(task.file)
        if isinstance(self.seen, SeenKeys):
            self.seen.add(task.key, "id", task.line)
            is_new = True
            self.revisions.clear()  # no more answers about the texts before
            self.suggested.clear()
        else:
            is_new = self.seen.is_new(task.key, (task.text, task.context), task.line)
        if is_new and task.context and self.page != "claim":
            yield PairRecord(task.key, task.context, task.text, metadata=task.metadata)
        elif is_new:
            context = {"context": task.context} if task.context else {}
            yield ClaimRecord(task.key, task.text, metadata=task.metadata | context)
        yield from self._annotations_of(task)
        for what, number in task.lost.items():
            if number:
                self.lose(what, number, f"{task.file}, line {task.line:,}")

    def lose(self, what: str, number: int, place: str) -> None:
        if what not in self.first and len(self.first) >= MOST_LOST:
            what = "Further parts of other names"
        self.first.setdefault(what, place)
        self.counts[what] += number

    def _stored(self, slug: str, label: str) -> str:
        return find_label(label, self.labels[slug]) or label_value(label)

    def _spell(self, task: Task, name: str, slug: str, labels: Iterable[str]) -> None:
        """Labels that become one, such as `1` and `1.0`, are listed."""
        for label in labels:
            known = self.spellings.setdefault((name, self._stored(slug, label)), {})
            if label not in known and len(known) < MOST_SPELLINGS:
                known[label] = f"{task.file}, line {task.line:,}"

    def lost(self) -> Iterator[LostRecord]:
        for (name, _), known in self.spellings.items():
            if len(known) > 1:
                spelt = ", ".join(map(shown, known))
                self.lose(f"Spellings that become one label ({shown(name)}: {spelt})", len(known), [*known.values()][1])
        for what, number in sorted(self.counts.items()):
            n = len(self.unheld.get(what, ()))
            why = f": {n:,} labels; highlights have at most {MAX_OWN_LABELS}" if n > MAX_OWN_LABELS else ""
            yield LostRecord(f"{what}{why}", number, self.first[what])

    def _annotations_of(self, task: Task) -> Iterator[Record]:
        for answers in task.people:
            judgements = tuple(
                JudgementRecord(task.key, slug, answer, spans)
                for slug, answer, spans, _ in self._answers(task, answers)
            )
            if not judgements and not answers.comment:
                task.lost["Annotations that answer no question"] += 1
                continue
            rater, kind = answers.who, "person"
            if not answers.who:
                nobody = digest(task.key)
                self.revisions[nobody] += 1
                rater, kind = f"place {self.revisions[nobody]}", "slot"
            place = digest(task.key, rater, kind)
            self.revisions[place] += 1
            if self.earlier is not None and answers.who:
                self.earlier[place] = self.earlier.get(place, {}) | {one.dimension: one for one in judgements}
                judgements = tuple(self.earlier[place].values())
            yield AnnotationRecord(
                task.key,
                rater,
                judgements,
                rater_kind=kind,
                revision=self.revisions[place],
                active_ms=answers.active_ms,
                submitted_at=answers.submitted_at,
                comment=answers.comment,
            )
        for answers in task.models:
            for slug, answer, spans, name in self._answers(task, answers):
                place = digest(task.key, answers.who, slug)
                if place in self.suggested:
                    task.lost[f"Further predictions of one model for one text ({shown(name)})"] += 1
                    continue
                self.suggested.add(place)
                explanation = answers.explanations.get(name, "")
                if len(explanation) > EXPLANATION_CHARS:
                    task.lost[f"Explanations of more than {EXPLANATION_CHARS:,} characters ({shown(name)})"] += 1
                    explanation = ""
                yield SuggestionRecord(
                    task.key, answers.who, slug, answer, answers.probability, explanation=explanation, spans=spans
                )
        for answers in task.decided:
            for slug, answer, spans, _ in self._answers(task, answers):
                yield DecisionRecord(task.key, slug, answer, spans=spans)

    def _answers(self, task: Task, answers: RaterAnswers) -> Iterator[tuple[str, str, tuple[SpanRecord, ...], str]]:
        """Question's slug, the answer as it is stored with its passages, and the question's name."""
        yield from self._passages(task, answers)
        yield from self._words(task, answers)
        for name, labels in answers.labels.items():
            slug = question_slug(name)
            question = self.questions.get(slug)
            if question is None or "spans" in question:
                task.lost[f"Answers of another kind than the question's others ({shown(name)})"] += bool(labels)
                continue
            if question.get("answer") == "text":
                continue
            values = {self._stored(slug, label) for label in labels}
            if question.get("answer") != "number":
                self._spell(task, name, slug, labels)
            if question.get("answer") == "labels":
                inside = [each["value"] for each in question["labels"] if each["value"] in values]
                yield slug, SEPARATOR.join(inside) or NONE_CHOSEN, (), name
            elif question.get("answer") == "number":
                number = number_in(labels[0]) if len(values) == 1 else None
                if number is None:
                    task.lost[f"Answers that are no number ({shown(name)})"] += bool(labels)
                else:
                    yield slug, number_text(number), (), name
            elif values:
                yield slug, values.pop(), (), name

    def _words(self, task: Task, answers: RaterAnswers) -> Iterator[tuple[str, str, tuple[SpanRecord, ...], str]]:
        written = {name: "\n".join(labels) for name, labels in answers.labels.items()} | answers.words
        for name, words in written.items():
            slug, text = question_slug(name), words.replace("\r", "").strip()
            if self.questions.get(slug, {}).get("answer") == "text" and text:
                if len(text) > TEXT_CHARS:
                    task.lost[f"Answers of more than {TEXT_CHARS:,} characters ({shown(name)})"] += 1
                else:
                    yield slug, text, (), name
            elif name in answers.words and text:
                task.lost[f"Answers of another kind than the question's others ({shown(name)})"] += 1

    def _passages(self, task: Task, answers: RaterAnswers) -> Iterator[tuple[str, str, tuple[SpanRecord, ...], str]]:
        spans_of = {question_slug(name): spans for name, spans in answers.spans.items()}
        incomplete = {question_slug(name) for name in answers.incomplete}
        for name, spans in answers.spans.items():
            if "spans" not in self.questions.get(question_slug(name), ()):
                what = f"Labelled passages ({shown(name)})"
                task.lost[what] += len(spans)
                self.unheld.setdefault(what, set()).update(label_value(span.label) for span in spans)
        for slug, question in self.questions.items():
            if "spans" not in question or not (answers.sees_all or slug in spans_of):
                continue
            name, fields = question["title"], question["spans"]["fields"]
            found = set()
            for span in spans_of.get(slug, ()):
                if span.in_context and len(fields) < 2:
                    task.lost[f"Labelled passages of the context ({name})"] += 1
                    continue
                field = fields[0 if span.in_context else -1]
                self._spell(task, name, slug, [span.label])
                record = SpanRecord(field, span.start, span.end, span.quote, self._stored(slug, span.label))
                task.lost[f"Passages that one person marked twice ({name})"] += record in found
                found.add(record)
            if not found and slug in incomplete:
                continue  # what was marked is lost, and "none" would be untrue
            marked = sorted(found, key=lambda one: (one.field, one.start, one.end, one.label))
            yield slug, MARKED if marked else NONE, tuple(marked), name


# --- the questions of the files -------------------------------------------------------------------------------------


@dataclass(slots=True)
class ToolQuestion:
    """A question as a file or a tool's configuration tells it: labels by value, in order."""

    name: str
    kind: str = ONE
    labels: dict[str, str] = field(default_factory=dict)
    titles: set[str] = field(default_factory=set)  # of the labels
    is_listed: bool = False  # whether the configuration lists the labels, in their order

    @property
    def is_held(self) -> bool:
        if self.kind in (NUMBER, WORDS):
            return True
        most = MAX_OWN_LABELS if self.kind == PASSAGES else MAX_LABELS
        return 0 < len(self.labels) <= most

    def add(self, label: str) -> None:
        value = label_value(label)
        is_known = value in self.labels or (self.is_listed and find_label(label, self.labels) is not None)
        if not is_known:
            title = shown(label) or value
            is_taken = title in self.titles
            self.labels[value] = f"{title[: TITLE_CHARS - 9]} ({digest(label).hex()[:6]})" if is_taken else title
            self.titles.add(self.labels[value])


def label_set_of(
    tasks: Iterable[Task | RowError | LostRecord],
    name: str,
    configured: Mapping[str, ToolQuestion] | None = None,
    may_be_words: Collection[str] = (),
) -> dict:
    """The label set of people's and models' answers: a question for each, with the labels that occur or that the tool's
    configuration lists; {} without any answers. Numbers are at the interval level. Questions of `may_be_words` with
    more different answers than a question has labels are answered in words.

    Raises FormatError for another question with more than 1,000 labels, and for more than 12 questions.
    """
    asked = dict(configured or {})
    is_pair, n_tasks = True, 0
    for task in tasks:
        if isinstance(task, RowError | LostRecord | OddRecord):
            continue
        n_tasks += 1
        is_pair = is_pair and bool(task.context)
        for answers in (*task.people, *task.models, *task.decided):
            for question, spans in answers.spans.items():
                of_question = asked.setdefault(question_slug(question), ToolQuestion(question, PASSAGES))
                for span in spans if of_question.kind == PASSAGES else ():
                    of_question.add(span.label)
            for question in answers.words:
                asked.setdefault(question_slug(question), ToolQuestion(question, WORDS))
            for question, labels in answers.labels.items():
                slug = question_slug(question)
                of_question = asked.setdefault(slug, ToolQuestion(question))
                if question in answers.numbers and not of_question.labels:
                    of_question.kind = NUMBER
                if of_question.kind == ONE and len({label_value(label) for label in labels}) > 1:
                    of_question.kind = SEVERAL
                for label in labels if of_question.kind not in (WORDS, PASSAGES, NUMBER) else ():
                    of_question.add(label)
                    if len(of_question.labels) > MANY_LABELS and slug in may_be_words:
                        of_question.kind = WORDS
                        break
                    if len(of_question.labels) > MAX_LABELS:
                        raise FormatError(
                            f"{question} has more than {MAX_LABELS:,} different labels, such as "
                            f"{', '.join(list(of_question.labels.values())[:3])}; a question has at most that many. "
                            f"Merge labels in the tool and export again, or take the answers to {question} out of the "
                            "file; as a column of a table of your own they can be kept with the texts"
                        )
    asked = {slug: one for slug, one in asked.items() if one.is_held}
    if not asked:
        return {}
    if len(asked) > MOST_QUESTIONS:
        raise FormatError(
            f"The file asks {len(asked)} questions; a label set has at most {MOST_QUESTIONS}. Split the file"
        )
    page = "pair" if is_pair and n_tasks else "claim"
    questions = [_question(slug, one, FIELDS[page]) for slug, one in asked.items()]
    titles: set[str] = set()
    for question in questions:
        if question["title"].casefold() in titles:
            question["title"] = f"{question['title'][: TITLE_CHARS - 50]} ({question['slug']})"
        titles.add(question["title"].casefold())
    return {"name": shown(name)[:150] or "Labels", "version": 1, "page": page, "summary": "", "questions": questions}


def _question(slug: str, asked: ToolQuestion, fields: list[str]) -> dict:
    title = shown(asked.name) or slug
    if asked.kind == PASSAGES:
        own = [
            {"value": highlight_value(value), "title": label.translate(FORM_MARKS)}
            for value, label in (asked.labels.items() if asked.is_listed else _sorted(asked.labels).items())
        ]
        labels = [{"value": MARKED, "title": "Marked"}, {"value": NONE, "title": "None"}]
        spans = {"title": title, "fields": fields, "labels": [MARKED], "own_labels": own}
        return {"slug": slug, "title": title, "level": "nominal", "labels": labels, "spans": spans}
    if asked.kind == WORDS:
        return {"slug": slug, "title": title, "answer": "text", "optional": True}
    if asked.kind == NUMBER:
        return {"slug": slug, "title": title, "level": "interval", "answer": "number"}
    stored_as = chosen_value if asked.kind == SEVERAL else label_value
    labels = {stored_as(value): title for value, title in asked.labels.items()}
    numbers = {number_in(value) for value in labels}
    are_numbers = None not in numbers and len(numbers) == len(labels)  # `0` and `00` are no scale
    if not asked.is_listed:
        labels = _sorted(labels)
    if len(labels) == 1:  # a question has two labels at least; the other one did not occur
        [(value, label)] = labels.items()
        other = ("1" if value == "0" else "0") if are_numbers else label_key(f"not {label}"[:TITLE_CHARS])
        labels[other] = other if are_numbers else f"not {label}"[:TITLE_CHARS]
    level = "interval" if are_numbers and len(labels) > 2 and asked.kind != SEVERAL else "nominal"
    several = {"answer": "labels"} if asked.kind == SEVERAL else {}
    found = [{"value": value, "title": title} for value, title in labels.items()]
    return {"slug": slug, "title": title, "level": level, "labels": found} | several


def _labels_in(question: Mapping) -> dict[str, str]:
    """Of a description of a question, its labels or those of its highlights: value -> title."""
    labels = question["spans"].get("own_labels", ()) if "spans" in question else question.get("labels", ())
    return {one["value"]: one["title"] for one in labels}


def _sorted(labels: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(labels.items(), key=lambda one: label_order(one[0])))


# --- values that tools write alike ----------------------------------------------------------------------------------


def milliseconds(seconds: object) -> int | None:
    """How long a person took, if a file has it in seconds."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        return None
    return round(seconds * 1000) if seconds * 1000 <= incoming.MAX_ACTIVE_MS else None


def instant(value: object) -> datetime | None:
    try:
        return incoming.instant(value) if isinstance(value, str) else None
    except incoming.Refused:
        return None
