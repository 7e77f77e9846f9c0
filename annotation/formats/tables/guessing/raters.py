"""Columns that hold the labels of one rater or one model each, by their names and by the labels that they share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from annotation.formats.names import label_key, question_slug
from annotation.formats.tables.guessing.spellings import NAMES, own_name, spelling
from annotation.formats.tables.guessing.values import is_label, is_number, values_in
from annotation.formats.tables.nested import NESTED

# `rater1_coherence`, `expert_2 fluency`, `coherence (annotator 3)`, `annotator_1`.
_RATER = r"(?P<rater>(?:rater|annotator|expert|turker|crowd|judge|worker|coder|human|user|a|r)[ _.-]?\d+)"
_FIRST, _LAST = (
    re.compile(rf"{_RATER}(?:[ _.:/-]+(?P<question>.+))?", re.I),
    re.compile(rf"(?<=[ _.:/([-]){_RATER}[)\]]?$", re.I),
)
WIDE_CHARS = 200  # longer names are of no rater
# Of columns that share their labels with others, `ann_1`, `h2`, `human` and `human_fluency` are people's, too.
_PERSON = re.compile(
    r"(?P<rater>(?:ann|annot|person|reviewer|labell?er|student|h|p)[ _.-]?\d+"
    r"|humans?|people|person|annotators?|experts?)(?:[ _.:/-]+(?P<question>.+))?",
    re.I,
)
_MODEL = re.compile(
    r"(?:judge|llm|model|checker|classifier|chatgpt|gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek)s?(\d\w*)?",
    re.I,
)
# Columns of labels that a number alone tells apart: SNLI's label1 to label5.
NUMBERED = re.compile(r"(label|annotation|judge?ment)[ _.-]?\d{1,2}", re.I)
_BETWEEN = re.compile(r"[ _.:/-]+")
_FINAL = frozenset(["gold", "goldlabel", "truth", "groundtruth", "truelabel"])
_WORDS_FOR_LABELS = frozenset([*NAMES["label"], "labels", "verdict", "answer", "decision", "prediction", "pred"])
LABEL = "label"


def rater_in(column: str) -> tuple[str, str] | None:
    """The rater that a column's name begins or ends with, and the question."""
    if len(column) > WIDE_CHARS:
        return None
    if first := _FIRST.fullmatch(column):
        return first["rater"], first["question"] or ""
    last = _LAST.search(column)
    question = column[: last.start()].rstrip(" _.:/([-") if last else ""
    return (last["rater"], question) if question else None


def is_slot(names: Sequence[str], column: str) -> bool:
    """Whether the rater whom the role of a column of labels names is a place: in a list of groups of raters, or in a
    row, where `label2` of two texts may be by two people."""
    return bool((names[2:] and NESTED.match(column)) or (names[1:] and NUMBERED.fullmatch(names[-1])))


def roles_of_raters(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Role -> column of columns of people and models that answer the same questions, or of models and the final label;
    none where a column names raters, and for columns that share no label with another."""
    rows = list(rows)
    labels = {
        column: {label_key(value) for value in values_in(column, rows)}
        for column in columns
        if len(column) <= WIDE_CHARS and is_label(column, rows)
    }
    people = {column: found for column in labels if (found := _person_in(column)) is not None}
    models = [column for column in labels if is_called_model(own_name(column))]
    if people.keys() <= set(models):
        models = [column for column in models if column not in people]  # judges who are numbered, and nobody else
    if not models and all(map(rater_in, people)):
        return {}  # their names are enough
    of_question: dict[str, dict[str, str]] = defaultdict(dict)  # question -> column -> role
    for column, (rater, question) in people.items():
        if column not in models:
            of_question[question][column] = f"label/{question_slug(question)}/{rater.replace('/', '-')}"
    for column in models:
        name, question = _model_in(column, of_question)
        if question in of_question:
            of_question[question][column] = f"prediction/{name.replace('/', '-')}/{question_slug(question)}"
    finals = [column for column in labels if column not in models and spelling(column) in {*NAMES["label"], *_FINAL}]
    if models and not of_question and len(finals) == 1:
        of_question[LABEL] = {finals[0]: f"label/{LABEL}"}
        of_question[LABEL] |= {column: f"prediction/{_model_in(column, ())[0]}/{LABEL}" for column in models}
    roles = {}
    for found in of_question.values():
        alike = {column: role for column, role in found.items() if _shares(column, found, labels)}
        roles |= {role: column for column, role in alike.items()} if len(alike) > 1 else {}
    used = set(roles.values())
    return {} if any(spelling(one) in NAMES["rater"] for one in columns if one not in used) else roles


def is_called_label(column: str) -> bool:
    """Whether a column's name says that it holds labels, and nothing else."""
    return spelling(column) in _WORDS_FOR_LABELS


def is_called_model(name: str) -> bool:
    return any(map(_MODEL.fullmatch, _BETWEEN.split(name)))


def holds_shared_labels(column: str, columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether another column has the words of this one, too: labels then, and no names of raters."""
    words = {label_key(value) for value in values_in(column, rows)}
    if not words or any(map(is_number, words)) or not is_label(column, rows):
        return False
    others = [one for one in columns if one != column and is_label(one, rows)]
    return any(2 * len(words & {label_key(value) for value in values_in(one, rows)}) > len(words) for one in others)


def roles_of_models(label: str, columns: Iterable[str], rows: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Role -> column of models that answer the question of a column with a row per label, `label`."""
    own, question = {label_key(value) for value in values_in(label, rows)}, own_name(label)
    models = [
        one for one in columns if len(one) <= WIDE_CHARS and is_called_model(own_name(one)) and is_label(one, rows)
    ]
    return {
        f"prediction/{_model_in(one, [question])[0].replace('/', '-')}/{question_slug(question)}": one
        for one in models
        if own & {label_key(value) for value in values_in(one, rows)}
    }


def _person_in(column: str) -> tuple[str, str] | None:
    """Rater and question."""
    found = rater_in(column)
    if found is None and (match := _PERSON.fullmatch(own_name(column))) is not None:
        found = match["rater"], match["question"] or ""
    if found is None:
        return None
    return found[0], LABEL if not found[1] or is_called_label(found[1]) else found[1]


def _model_in(column: str, questions: Iterable[str]) -> tuple[str, str]:
    """Model and question: one that people answer, where the name begins or ends with it."""
    name = own_name(column)
    for question in questions:
        for rest in (name.removeprefix(question), name.removesuffix(question)):
            model = rest.strip(" _.:/-")
            if question != LABEL and model not in (name, rest):
                return model, question
    *words, last = _BETWEEN.split(name)
    return name[: -len(last)].rstrip(" _.:/-") if words and spelling(last) in _WORDS_FOR_LABELS else name, LABEL


def _shares(column: str, group: Iterable[str], labels: Mapping[str, set[str]]) -> bool:
    others = set().union(*(labels[one] for one in group if one != column))
    return bool(labels[column] & others)
