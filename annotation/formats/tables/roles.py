"""What each column of a table of texts with labels, ratings and scores is: roles, their guess, and what goes together.

`Options.mapping` is role -> column:

    text, context         what was judged, and what it is judged against (an article, a question, a premise)
    id, document, system  what identifies a text: its own id, or the document that it is of and the system that wrote it
    rater, group          who gave the labels of the row, and the group that they belong to (experts, crowd)
    question              the question that the row's label answers, where there is one row per label
    label/QUESTION        labels of a question, by the row's rater; `label` alone where the row names the question
    label/QUESTION/RATER  labels of a question by one rater, where each rater has a column
    label/QUESTION/GROUP/RATER  the same of one rater of a group
    labels/QUESTION, with RATER or GROUP/RATER likewise: several labels of it at once
    score/NAME            a number that a checker elsewhere gave
    prediction/NAME/QUESTION   a label that a checker elsewhere gave
    probability/NAME/QUESTION  how probable that label is to it, or an object in JSON: label -> probability
    probability/NAME/QUESTION/LABEL   how probable one label is, where each has a column
    checker               a checker elsewhere, of which the row's labels, `score` and `probability` are
    spans, spans/QUESTION highlights of the row's rater as a list in JSON; of a question of their own, or of that one
    start, end, quote     one highlight of the row's rater: its place in the text, its words, or both
    highlight             what the highlight is called
    least, most           the ends of the scale of the row's labels
    comment, time         words of the rater, and when the labels were given
    marked                text, with highlights of the row's rater as <v>marks</v> in it
    row/NAME              kept with the row's labels, as it is
    date, url, source, split   of the text; kept with it under these names
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from unicodedata import combining, normalize

from annotation.formats.cells import BadCell, digest, number_in, to_date, to_instant, to_text
from annotation.formats.records import FormatError
from annotation.formats.tables.highlights import MARK
from annotation.formats.tables.mapping import LOOKED_AT
from annotation.formats.tables.questions import parts_of
from annotation.task_types.base import number_text

# How many names follow a role, at least and at most; none follow others.
_NAMES_AFTER = {"label": (0, 3), "score": (0, 1), "prediction": (2, 2), "probability": (0, 3), "spans": (0, 1)}
_NAMES_AFTER |= {"row": (1, 1), "labels": (1, 3)}
OF_TEXT = ("date", "url", "source", "split")
ROLE_TITLES = {
    "": "Keep with the text",
    "text": "Text that was judged",
    "marked": "Judged text with <v>highlights</v>",
    "context": "Context: article, question or premise",
    "id": "Id of the text",
    "document": "Id of the document or question",
    "system": "System that wrote the text",
    "rater": "Rater",
    "group": "Group of the rater",
    "question": "Name of the question",
    "label": "Label or rating",
    "labels": "Several labels at once",
    "score": "Score of a checker",
    "prediction": "Label of a checker",
    "probability": "Probability of a checker's label",
    "checker": "Checker that gave the row's labels and score",
    "comment": "Comment of the rater",
    "time": "When the labels were given",
    "spans": "Highlights, as a list in JSON",
    "start": "Highlight: start",
    "end": "Highlight: end",
    "quote": "Highlight: words",
    "highlight": "Highlight: label",
    "least": "Lowest value of the scale",
    "most": "Highest value of the scale",
    "date": "Date of the text",
    "url": "URL of the text",
    "source": "Where the text is from",
    "split": "Split: train, dev, test",
    "row": "Keep with the row's labels",
}
# Column names that mean a role, in small letters without separators.
_SPELLINGS = {
    "text": "text summary sentence response answer output decoded claim hypothesis story translation generation target "
    "modeloutput systemoutput",
    "context": "context article source document dialogue prompt question reference premise input src",
    "id": "id textid itemid unitid instanceid exampleid segmentid segid globalsegid storyid summaryid responseid "
    "answerid",
    "document": "docid documentid articleid questionid promptid sourceid",
    "system": "system systemid systemname model modelid modelname modeltype",
    "rater": "rater annotator raterid annotatorid worker workerid judge user evaluator coder assessor",
    "group": "group ratergroup annotatortype ratertype",
    "question": "criterion dimension aspect questionname",
    "label": "label rating annotation judgement judgment score value",
    "comment": "comment comments note notes justification rationale",
    "checker": "checker metric metricname checkername",
    "time": "time timestamp submittedat annotatedat labelledat labeledat annotationtime createdat",
    "spans": "spans highlights",
    "start": "start spanstart startoffset startchar",
    "end": "end spanend endoffset endchar",
    "quote": "quote quotedtext spantext highlightedtext",
    "highlight": "spanlabel spantype highlightlabel",
    "least": "scalemin scaleminimum minrating",
    "most": "scalemax scalemaximum maxrating",
    "date": "date published publisheddate publicationdate textdate",
    "url": "url link sourceurl",
    "source": "publisher site domain sourcename corpus",
    "split": "split fold partition subset",
}
OF_BATCH = re.compile(r"^(?:Input|Answer)\.")  # of Mechanical Turk's results, where only answers are by workers
NAMES = {role: names.split() for role, names in _SPELLINGS.items()}
WRITTEN = [name for name in NAMES["text"] if name not in ("text", "sentence", "claim")]
SCORE_NAMES = re.compile(
    r"rouge|bleu|meteor|bert_?score|bleurt|comet|chrf|ter$|mover|bartscore|unieval|summac|score|metric|prob|sim", re.I
)
# `rater1_coherence`, `expert_2 fluency`, `coherence (annotator 3)`, `annotator_1`.
_RATER = r"(?:(?:rater|annotator|expert|turker|crowd|judge|worker|coder|human|user|a|r)[ _.-]?\d+)"
WIDE = (
    re.compile(rf"^(?P<rater>{_RATER})(?:[ _.:/-]+(?P<question>.+))?$", re.I),
    re.compile(rf"^(?P<question>.+?)[ _.:/([-]+(?P<rater>{_RATER})[)\]]?$", re.I),
)
SEGMENTS = re.compile(r"seg(ment)?[ _.-]?id$", re.I)
IDS = re.compile(r"(^|[ _.-])[iI][dD]$|[a-z]I[dD]$")  # `Worker ID`, `docSegId`, and not `valid`
# What stands inside other columns (`tables.nested`): `expert_annotations.2.fluency`, and `fluency.2`.
NESTED = re.compile(r"^(?P<base>[^.]+)\.(?P<number>\d+)(?:\.(?P<question>.+))?$")
MANY_REPEATS = 12  # more rows about the same texts, and nobody who disagrees: not what they were asked
# What highlights are called, beside marks in the text.
OF_MARKS = ("severity", "errorseverity", "category", "errortype")
MOST_GUESSED = 12  # different values of a column that is taken for labels


def value_of(text: str) -> str:
    """What is stored for a cell: numbers in one spelling, small letters, and `_` for spaces and hyphens."""
    number = number_in(text)
    if number is not None:
        return number_text(number)
    return re.sub(r"[^\w.+]+", "_", text.strip().casefold()).strip("_") or text.strip()


def name_of(title: str) -> str:
    """A question's column name from its title."""
    plain_title = "".join(char for char in normalize("NFKD", title.lower()) if not combining(char))
    name = re.sub(r"[^a-z0-9]+", "_", plain_title).strip("_").lstrip("0123456789_")[:40]
    if plain_title.isascii():
        return name or "label"
    return f"{name[:30] or 'label'}_{digest(title.casefold()).hex()[:6]}"


# --- what columns mean ----------------------------------------------------------------------------------------------


def guess_roles(columns: Sequence[str], rows: Iterable[Mapping[str, object]] = ()) -> dict[str, str]:
    """Role -> column, from names and the first rows. A role that two columns could have goes to the first of them."""
    rows = list(rows)[:LOOKED_AT]
    found: dict[str, str] = {}
    free = list(columns)

    def take(role: str, column: str) -> None:
        found[role] = column
        free.remove(column)

    for role in ("rater", "group", "system", "document", "id", "question", "comment", "text", "context"):
        spelt = _spelt(free)
        column = next((spelt[name] for name in NAMES[role] if name in spelt), None)
        if column is not None:
            take(role, column)
    if {"text", "system"} <= found.keys() and "context" not in found and _spelling(found["text"]) == "text":
        # What systems wrote has a name of its own; the text is what they wrote it from, as in SummEval's paired file.
        spelt = _spelt(free)
        column = next((spelt[name] for name in WRITTEN if name in spelt), None)
        if column is not None:
            found["context"] = found.pop("text")
            take("text", column)
    if "text" not in found and "context" in found and "system" not in found:
        found["text"] = found.pop("context")
    if {"id", "system", "text"} <= found.keys() and (
        SEGMENTS.search(found["id"])
        or _is_of_several(found["id"], found["text"], rows)
        or (len(rows) == LOOKED_AT and len({str(row.get(found["system"])) for row in rows}) == 1)
    ):
        # Each system wrote something for it, although a file that is sorted by system may not show it so soon.
        free += [found["document"]] if "document" in found else []
        found["document"] = found.pop("id")
    if "text" in found and "rater" in found and _has_marks([found["text"], found.get("context")], rows):
        found["marked"] = found.pop("text")
        spelt = _spelt(free)
        column = next((spelt[name] for name in OF_MARKS if name in spelt), None)
        if column is not None:
            take("highlight", column)
    _take_more(found, free, rows, take)
    for column in list(free):
        nested = NESTED.match(column)
        wide = next((match for pattern in WIDE if (match := pattern.match(column))), None)
        if nested and (nested["question"] or not wide):
            if _is_label(column, rows):
                base, number, question = nested.groups()
                take(
                    "/".join(("label", *((name_of(question), base) if question else (name_of(base),)), number)), column
                )
        elif wide and (_is_label(column, rows) or _are_numbers(column, rows)):
            take(f"label/{name_of(wide['question'] or 'label')}/{wide['rater']}", column)
    spelt = _spelt(free)
    if "question" in found:
        column = next((spelt[name] for name in NAMES["label"] if name in spelt), None)
        if column is not None:
            take("label", column)
    has_wide = any(role.count("/") > 1 for role in found)
    # Of the same text raters say different things, and what is known of it stays the same.
    about = [found[role] for role in ("id", "document", "system") if role in found]
    about += [] if {"id", "document"} & found.keys() else [found.get("marked", found.get("text", ""))]
    differing = {column for column in free if "rater" in found and _differs(column, about, rows)}
    for column in [one for one in free if one in differing and "label" not in found and _holds_several(one, rows)]:
        take(f"labels/{name_of(column)}", column)
        differing.remove(column)
    is_batch = any(column.startswith("Answer.") for column in columns)
    is_text = {column: not _are_numbers(column, rows) for column in free}
    has_labels = any(not is_text[column] or _is_label(column, rows) for column in differing)
    has_labels = has_labels and len(rows) - len({_about(row, about) for row in rows}) >= MANY_REPEATS
    for column in [column for column in free if not is_batch or column.startswith("Answer.")]:
        is_named = _spelling(column) in NAMES["label"]
        if (
            SCORE_NAMES.search(column)
            and not (is_named and "rater" in found)
            and not is_text[column]
            and column not in differing
        ):
            take(f"score/{column[:80]}", column)
        elif (
            not has_wide
            and "label" not in found
            and (_is_label(column, rows) or (is_named and "rater" in found and not is_text[column]))
            and (is_named or not is_text[column] or len(set(_values(column, rows))) > 1)
            and (is_named or not is_text[column] or not (has_labels and column not in differing or "marked" in found))
            and not IDS.search(column)
            and _spelling(column) not in [*NAMES["id"], *NAMES["document"]]
        ):
            take(f"label/{name_of(OF_BATCH.sub('', column))}", column)
        elif not is_text[column] and not _are_whole(column, rows) and column not in differing:
            take(f"score/{column[:80]}", column)
    if "rater" in found and not any(role.partition("/")[0] == "label" for role in found):
        # Each row is what a rater said: a number that nothing else is known of is theirs.
        scores = [role for role, column in found.items() if role[:6] == "score/" and not SCORE_NAMES.search(column)]
        free += [found.pop(role) for role in scores[:1]]
        column = next((column for column in free if _are_numbers(column, rows)), None)
        if column is not None and "marked" not in found:
            take(f"label/{name_of(column)}", column)
    for column in [one for one in free if one in differing]:
        take(f"row/{column.replace('/', '-')[:80]}", column)
    return found


def _holds_several(column: str, rows: list) -> bool:
    """Lists of a few different short words, or cells with | or ; between them."""
    different, n_several = set(), 0
    try:
        for row in rows:
            cell = row.get(column)
            if isinstance(cell, str) and cell[:1] != "[" and not re.search(r"[|;]", cell):
                parts = [cell] if cell else []
            else:
                parts = parts_of(cell, column) or []
                n_several += len(parts) > 1
            different.update(parts)
    except BadCell:
        return False
    return n_several > 0 and len(different) <= MOST_GUESSED and all(len(part) <= 40 for part in different)


def _spelling(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", OF_BATCH.sub("", column).lower())


def _spelt(columns: Sequence[str]) -> dict[str, str]:
    """Spelling -> column, the first of those spelt alike."""
    return {_spelling(column): column for column in reversed(columns)}


def _has_marks(columns: list[str | None], rows: list) -> bool:
    return any(isinstance(cell := row.get(column), str) and MARK.search(cell) for row in rows for column in columns)


def _differs(column: str, about: list[str], rows: list) -> bool:
    """Whether rows about one text say different things in a column."""
    first: dict[tuple, str] = {}
    return any(first.setdefault(_about(row, about), str(row.get(column))) != str(row.get(column)) for row in rows)


def _about(row: Mapping[str, object], about: list[str]) -> tuple[str, ...]:
    return tuple(str(row.get(one)) for one in about)


def _is_of_several(of: str, text: str, rows: list) -> bool:
    """Whether one value of a column stands beside different texts."""
    first: dict[str, object] = {}
    return any(first.setdefault(str(row.get(of)), row.get(text)) != row.get(text) for row in rows)


def _take_more(found: dict[str, str], free: list[str], rows: list, take: Callable[[str, str], None]) -> None:
    """Columns by their names, where what stands in them fits."""
    fits = {
        "date": lambda column: _all_are(to_date, column, rows),
        "time": lambda column: _all_are(to_instant, column, rows),
        "spans": lambda column: all(value.startswith("[") for value in _texts(column, rows)),
        "start": lambda column: _are_numbers(column, rows),
        "end": lambda column: _are_numbers(column, rows),
        "least": lambda column: _are_numbers(column, rows),
        "most": lambda column: _are_numbers(column, rows),
    }
    spelt = _spelt(free)
    chosen: dict[str, str] = {}
    for role in (*OF_TEXT, "time", "checker", "spans", "start", "end", "quote", "highlight", "least", "most"):
        column = next((spelt[name] for name in NAMES[role] if name in spelt), None)
        if column in free and column not in chosen.values() and fits.get(role, lambda column: True)(column):
            chosen[role] = column
    for one, other in (("start", "end"), ("end", "start"), ("least", "most"), ("most", "least")):
        if one in chosen and other not in chosen:
            del chosen[one]
    if not {"start", "quote"} & chosen.keys() or "spans" in chosen or "text" not in found:
        chosen = {role: column for role, column in chosen.items() if role not in ("start", "end", "quote", "highlight")}
    if "text" not in found:
        chosen.pop("spans", None)
    if "checker" in chosen:
        column = next((spelt[name] for name in ("score", "value", "metricscore") if name in spelt), None)
        if column in free and _are_numbers(column, rows):
            chosen["score"] = column
        elif "rater" in found:
            del chosen["checker"]
    for role, column in chosen.items():
        take(role, column)


def _all_are(read: Callable[[object, str], object], column: str, rows: list) -> bool:
    try:
        return any([read(row.get(column), column) is not None for row in rows])
    except BadCell:
        return False


def _texts(column: str, rows: list) -> list[str]:
    return [str(row[column]).strip() for row in rows if row.get(column) not in (None, "", [])]


def _values(column: str, rows: list) -> list[str]:
    """The texts in a column; none where it holds lists or objects."""
    try:
        return [text for row in rows if (text := to_text(row.get(column), column).strip())]
    except BadCell:
        return []


def _are_numbers(column: str, rows: list) -> bool:
    values = _values(column, rows)
    return bool(values) and all(number_in(value) is not None for value in values)


def _are_whole(column: str, rows: list) -> bool:
    return all(number_in(value).is_integer() for value in _values(column, rows))


def _is_label(column: str, rows: list) -> bool:
    """Few different values, which come again; numbers from 0 to 10 at the most in halves."""
    values = _values(column, rows)
    different = {value_of(value) for value in values}
    if not different or len(different) > MOST_GUESSED or any(len(value) > 40 for value in different):
        return False
    if _are_numbers(column, rows):
        return all(0 <= float(value) <= 10 and (2 * float(value)).is_integer() for value in different)
    return len(different) < len(values) or len(values) < 3


def check_roles(mapping: Mapping[str, str]) -> None:
    """FormatError for roles that there are not, or that do not go together."""
    for role, column in mapping.items():
        kind, *names = role.split("/")
        least, most = _NAMES_AFTER.get(kind, (0, 0))
        if kind in ("score", "probability") and "checker" not in mapping:
            least = most if kind == "score" else 2
        if kind == "probability" and len(names) == 1:
            least = 2
        if kind not in ROLE_TITLES or not least <= len(names) <= most or not all(names):
            raise FormatError(
                f"{column}: there is no role {role!r}; the roles are {', '.join(filter(None, ROLE_TITLES))}"
                + (", and a score or probability has the checker's name" if kind in ("score", "probability") else "")
            )
    labels = [role for role in mapping if role.split("/")[0] in ("label", "labels")]
    one, several = ({role.split("/")[1] for role in labels if role.startswith(kind)} for kind in ("label/", "labels/"))
    if both := one & several:
        raise FormatError(f"The question {min(both)} has columns of one label and of several; it takes either")
    if {"text", "marked"} <= mapping.keys():
        raise FormatError("The judged text must be in one column, with marks or without")
    has_text = bool({"text", "marked"} & mapping.keys())
    if "row" in {role.partition("/")[0] for role in mapping} and "rater" not in mapping:
        raise FormatError("What is kept with a row's labels needs the column of their rater")
    if not has_text and "id" not in mapping and not {"document", "system"} <= mapping.keys():
        raise FormatError("Say which column holds the text that was judged, or its id")
    for one, other in (("start", "end"), ("least", "most")):
        if (one in mapping) != (other in mapping):
            raise FormatError(f"Choose the columns of both {one} and {other}")
    spans = [role for role in mapping if role.split("/")[0] == "spans"]
    places = {"start", "quote"} & mapping.keys()
    if (spans or places) and not has_text:
        raise FormatError("Highlights are places in a text: choose the column that holds it")
    if bool(spans) + bool(places) + ("marked" in mapping) > 1:
        raise FormatError("Highlights stand in one column as a list, one to a row, or as marks in the text, not in two")
    if "highlight" in mapping and not places and "marked" not in mapping:
        raise FormatError("The label of a highlight needs its place or its words")
    if ("label" in mapping) != ("question" in mapping):
        raise FormatError("One row per label needs the column of the label and that of the question's name")
    if "label" in mapping and len(labels) > 1:
        raise FormatError(
            "Labels are in one column with a column of questions' names, or in one per question, not in both"
        )
    if "rater" in mapping and any(role.count("/") > 1 for role in labels):
        raise FormatError("The rater is either in a column of its own or in the names of columns, not in both")
    if len(set(mapping.values())) < len(mapping):
        [(column, _)] = Counter(mapping.values()).most_common(1)
        raise FormatError(f"The column {column} has two roles")
