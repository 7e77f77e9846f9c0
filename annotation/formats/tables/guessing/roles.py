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
    checker               a checker elsewhere that gave the row's labels, `score` and `probability`
    spans, spans/QUESTION highlights of the row's rater as a list in JSON; of a question of their own, or of that one
    start, end, quote     one highlight of the row's rater: its place in the text, its words, or both
    highlight             what the highlight is called
    least, most           the ends of the scale of the row's labels
    comment, time         words of the rater, and when the labels were given
    marked                text, with highlights of the row's rater as <v>marks</v> in it
    row/NAME              kept with the row's labels, as it is
    about/NAME            describes the row's rater, such as their age; kept with their labels
    date, url, source, split   of the text; kept with it under these names
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from annotation.formats.cells import to_date
from annotation.formats.names import question_slug
from annotation.formats.records import FormatError
from annotation.formats.tables.guessing.raters import (
    NUMBERED,
    holds_shared_labels,
    is_called_label,
    rater_in,
    roles_of_models,
    roles_of_raters,
)
from annotation.formats.tables.guessing.spellings import (
    EVIDENCE,
    JUDGED,
    NAMES,
    OF_RATERS,
    WRITTEN,
    own_name,
    spelling,
    spelt,
)
from annotation.formats.tables.guessing.values import (
    MOST_GUESSED,
    all_are,
    are_free_texts,
    are_numbers,
    are_places,
    are_whole,
    holds_several,
    is_label,
    is_number,
    is_tag,
    nearly_all,
    texts_in,
    values_in,
)
from annotation.formats.tables.highlights import MARK
from annotation.formats.tables.mapping import LOOKED_AT
from annotation.formats.tables.nested import NESTED, depth_of
from annotation.formats.tables.times import is_time
from annotation.formats.tools import flat_tables

__all__ = ["NAMES", "NAMES_AFTER", "ROLE_TITLES", "check_roles", "guess_roles"]

# How many names follow a role, at least and at most; none follow others.
NAMES_AFTER = {"label": (0, 3), "score": (0, 1), "prediction": (2, 2), "probability": (0, 3), "spans": (0, 1)}
NAMES_AFTER |= {"row": (1, 1), "about": (1, 1), "labels": (1, 3)}
OF_TEXT = ("date", "url", "source", "split")
ROLE_TITLES = {
    "text": "Text that was judged",
    "marked": "Judged text with <v>highlights</v>",
    "context": "Context: article, question or premise",
    "id": "Id of the text",
    "document": "Id of the document or question",
    "system": "System that wrote the text",
    "rater": "Rater",
    "group": "Group of the rater",
    "about": "Describes the rater",
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
SCORE_NAMES = re.compile(
    r"rouge|bleu|meteor|bert_?score|bleurt|comet|chrf|ter$|mover|bartscore|unieval|summac|score|metric|prob|sim", re.I
)
SEGMENTS = re.compile(r"seg(ment)?[ _.-]?id$", re.I)
IDS = re.compile(r"(^|[ _.-])[iI][dD]$|[a-z]I[dD]$")  # `Worker ID`, `docSegId`, and not `valid`
_WORDS_FOR_RATERS = re.compile(r"(?:annotator|rater|worker|judge|coder|expert|turker|crowd|human)s?[ _.-]?", re.I)
MANY_REPEATS = 12  # more rows about the same texts, and nobody who disagrees: not what they were asked
MANY_ROWS = 5  # of one rater who is described alike on each of them
# What highlights are called, apart from marks in the text.
OF_MARKS = ("severity", "errorseverity", "category", "errortype")
MOST_CELLS = 20_000  # that are looked at: of wide tables fewer rows


# --- what columns mean ----------------------------------------------------------------------------------------------


def guess_roles(columns: Sequence[str], rows: Iterable[Mapping[str, object]] = ()) -> dict[str, str]:
    """Role -> column, from names and the first rows. A role that two columns could have goes to the first of them."""
    rows = list(rows)[: max(20, min(LOOKED_AT, MOST_CELLS // max(1, len(columns))))]
    if flat_tables.is_flat(columns):
        return flat_tables.roles_of(columns, rows)
    of_raters = roles_of_raters(columns, rows)
    found: dict[str, str] = {}
    deepest = max(map(depth_of, columns), default=0)
    free = [one for one in columns if one not in of_raters.values()]
    free.sort(key=depth_of, reverse=True)  # of columns that are called alike the innermost

    def take(role: str, column: str) -> None:
        found[role] = column
        free.remove(column)

    _take_main(found, free, rows, take, deepest)
    if {"text", "system"} <= found.keys() and "context" not in found and spelling(found["text"]) == "text":
        # What systems wrote has a name of its own; the text is what they wrote it from, as in SummEval's paired file.
        by_name = spelt(free)
        column = next((by_name[name] for name in WRITTEN if name in by_name), None)
        if column is not None:
            found["context"] = found.pop("text")
            take("text", column)
    if "text" not in found and "context" in found and "system" not in found:
        found["text"] = found.pop("context")
    _take_ids(found, free, rows, take, deepest)
    if "text" in found and "rater" in found and _has_marks([found["text"], found.get("context")], rows):
        found["marked"] = found.pop("text")
        by_name = spelt(free)
        column = next((by_name[name] for name in OF_MARKS if name in by_name), None)
        if column is not None:
            take("highlight", column)
    _take_more(found, free, rows, take)
    if "rater" in found:
        _take_descriptions(found, free, rows, take)
    else:
        _take_numbered(free, rows, take)
    found |= of_raters
    for column in list(free):
        nested = NESTED.match(column)
        wide = rater_in(column)
        if nested and (nested["question"] or not wide):
            if is_label(column, rows):
                base, number, question = nested.groups()
                named = (
                    question_slug(question)
                    if question
                    else question_slug(_WORDS_FOR_RATERS.sub("", base).removesuffix("s"))
                )
                take(f"label/{named}/{base}/{number}", column)
        elif wide and (is_label(column, rows) or (len(wide[0]) > 2 and are_numbers(column, rows))):
            take(f"label/{question_slug(wide[1] or 'label')}/{wide[0]}", column)
    by_name = spelt(free)
    if "question" in found:
        column = next((by_name[name] for name in NAMES["label"] if name in by_name), None)
        if column is not None:
            take("label", column)
    has_wide = any(role.count("/") > 1 for role in found)
    # Of the same text raters say different things, and what is known of it stays the same.
    about = [found[role] for role in ("id", "document", "system") if role in found]
    about += [] if {"id", "document"} & found.keys() and not deepest else [found.get("marked", found.get("text", ""))]
    differing = {column for column in free if "rater" in found and _differs(column, about, rows)}
    for column in [one for one in free if one in differing and "label" not in found and holds_several(one, rows)]:
        take(f"labels/{question_slug(column)}", column)
        differing.remove(column)
    labels = [one for one in free if "rater" in found and is_called_label(one) and is_label(one, rows)]
    for role, column in roles_of_models(labels[0], [*free], rows).items() if len(labels) == 1 else ():
        if column not in differing:
            take(role, column)
    is_batch = any(column.startswith("Answer.") for column in columns)
    is_text = {column: not are_numbers(column, rows) for column in free}
    has_labels = any(not is_text[column] or is_label(column, rows) for column in differing)
    has_labels = has_labels and len(rows) - len({_about(row, about) for row in rows}) >= MANY_REPEATS
    innermost = [column for column in columns if column in free and depth_of(column) == deepest]
    for column in [column for column in innermost if not is_batch or column.startswith("Answer.")]:
        is_named = spelling(column) in NAMES["label"]
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
            and (
                is_label(column, rows)
                or (is_named and (is_label(column, rows, len(rows)) if is_text[column] else "rater" in found))
            )
            and (is_named or not is_text[column] or len(set(values_in(column, rows))) > 1)
            and (is_named or not is_text[column] or not (has_labels and column not in differing or "marked" in found))
            and not IDS.search(column)
            and spelling(column) not in [*NAMES["id"], *NAMES["document"]]
        ):
            take(f"label/{question_slug(own_name(column))}", column)
        elif not is_text[column] and not are_whole(column, rows) and column not in differing:
            take(f"score/{column[:80]}", column)
    kinds = {role.partition("/")[0] for role in found}
    if (
        kinds == {"text"}
        and len(free) == 1
        and is_label(free[0], rows, len(rows), must_repeat=not is_called_label(free[0]))
    ):
        # A text and what it is called: however many labels there are, in whatever order the rows stand.
        take(f"label/{question_slug(own_name(free[0]))}", free[0])
    if "rater" in found and "label" not in kinds:
        # Each row is one rater's answer: a number of unknown meaning is theirs.
        scores = [role for role, column in found.items() if role[:6] == "score/" and not SCORE_NAMES.search(column)]
        free += [found.pop(role) for role in scores[:1]]
        column = next((column for column in free if are_numbers(column, rows)), None)
        if column is not None and "marked" not in found:
            take(f"label/{question_slug(own_name(column))}", column)
    for column in [one for one in free if one in differing]:
        take(f"row/{column.replace('/', '-')[:80]}", column)
    return found


Take = Callable[[str, str], None]


def _take_main(found: dict[str, str], free: list[str], rows: list, take: Take, deepest: int) -> None:
    """Raters, texts and ids by their names."""

    def named(role: str, names: Iterable[str], fits: Callable[[str], bool] = lambda column: True) -> None:
        by_name = spelt(free)
        column = next((by_name[name] for name in names if name in by_name and fits(by_name[name])), None)
        if column is not None:
            take(role, column)

    def is_text(column: str) -> bool:
        return not is_tag(column, rows)

    def has_words(column: str) -> bool:
        entries = (entry for row in rows for entry in _entries(row.get(column)))
        return are_free_texts(list(dict.fromkeys(entry for entry in entries if not isinstance(entry, list | dict))))

    def is_long(column: str) -> bool:
        return are_free_texts([entry for row in rows for entry in _entries(row.get(column))])

    def is_unit(column: str) -> bool:
        return has_words(column) and (len(set(values_in(column, rows))) > 5 or not is_label(column, rows))

    named("rater", NAMES["rater"], lambda column: not holds_shared_labels(column, free, rows))
    for role in ("group", "system", "document", "id", "question", "comment"):
        named(role, NAMES[role])
    if "id" not in found:
        named("id", ("item", "unit"), lambda column: is_tag_of_rows(column, rows))
    if deepest:
        # Units of an answer or an article are judged against it.
        for depth in sorted({depth_of(column) for column in free} - {0}, reverse=True):
            if "text" not in found:
                named("text", NAMES["text"], lambda column, depth=depth: depth_of(column) == depth and is_unit(column))
        inner = [column for column in free if depth_of(column) == deepest and OF_EVIDENCE.search(spelling(column))]
        for column in filter(has_words, inner[:1] if "text" in found else []):
            take("context", column)
        if "context" not in found and "text" in found:
            named("context", [*EVIDENCE, "article", "document", *WRITTEN], has_words)
    elif "system" not in found and any(name in spelt(free) for name in EVIDENCE):
        if any(has_words(column) for name, column in spelt(free).items() if name in EVIDENCE):
            named("text", JUDGED, is_long)
        if "text" in found:
            named("context", EVIDENCE, has_words)
    for role in ("text", "context"):
        if role not in found:
            named(role, NAMES[role], is_text)
    if not {"text", "context"} & found.keys():
        column = next((one for one in free if not one.startswith("Answer.") and is_long(one)), None)
        if column is not None:
            take("text", column)


OF_EVIDENCE = re.compile(r"(evidence|passage|reference)s?$")


def _entries(cell: object) -> list:
    return cell if isinstance(cell, list) else [cell]


def _take_ids(found: dict[str, str], free: list[str], rows: list, take: Take, deepest: int) -> None:
    """What the ids of the file are of."""
    if {"id", "system", "text"} <= found.keys() and (
        SEGMENTS.search(found["id"])
        or (_is_of_several(found["id"], found["text"], rows) and not deepest)
        or (len(rows) == LOOKED_AT and len({str(row.get(found["system"])) for row in rows}) == 1)
    ):
        # Each system wrote something for it, although a file that is sorted by system may not show it so soon.
        free += [found["document"]] if "document" in found else []
        found["document"] = found.pop("id")
    elif {"id", "text"} <= found.keys() and "document" not in found and not deepest:
        n_several, n_ids = _count_several(found["id"], found["text"], rows)
        if len(rows) >= 10 and 3 * n_several >= n_ids:  # fewer are mistakes
            found["document"] = found.pop("id")
    if {"id", "document", "context"} & found.keys():
        return
    if {"text", "system"} <= found.keys():
        column = next((one for one in free if one.lower().endswith("id") and is_tag_of_rows(one, rows)), None)
        if column is not None:
            take("document", column)
    elif "text" not in found:
        column = next((one for one in free if one.lower().endswith("id") and _is_unique(one, rows)), None)
        if column is not None:
            take("id", column)


def is_tag_of_rows(column: str, rows: list) -> bool:
    """Whether it holds words without spaces, and more than one of them."""
    values = set(values_in(column, rows))
    return len(values) > 1 and not any(re.search(r"\s", value) for value in values)


def _is_unique(column: str, rows: list) -> bool:
    values = values_in(column, rows)
    return len(values) > 1 and len(set(values)) == len(values)


def _take_descriptions(found: dict[str, str], free: list[str], rows: list, take: Take) -> None:
    """Columns that say the same of a rater on all of their rows."""
    rater, text = found["rater"], found.get("text", found.get("id", ""))
    alike, sure = [], []
    for column in free:
        values_of: dict[str, set[str]] = {}
        texts: dict[str, set[str]] = {}
        for row in rows:
            who = str(row.get(rater))
            values_of.setdefault(who, set()).add(str(row.get(column)))
            texts.setdefault(who, set()).add(str(row.get(text)))
        if not values_of or any(len(values) > 1 for values in values_of.values()) or not values_in(column, rows):
            continue
        if OF_RATERS.search(column) and spelling(column) not in NAMES["label"]:
            sure.append(column)
        elif (
            len([who for who in values_of if len(texts[who]) >= MANY_ROWS]) > 1
            and len(set().union(*values_of.values())) > 1
            and spelling(column) not in NAMES["label"]
        ):
            alike.append(column)
    if not any(is_label(column, rows) or are_numbers(column, rows) for column in free if column not in {*alike, *sure}):
        alike = []
    for column in sure + alike:
        take(f"about/{column.replace('/', '-')[:80]}", column)


def _take_numbered(free: list[str], rows: list, take: Take) -> None:
    """Labels of one question by a rater for each column, whose names tell the columns by a number alone."""
    columns = [column for column in free if NUMBERED.fullmatch(column) and is_label(column, rows)]
    labels = [set(values_in(column, rows)) for column in columns]
    if len(columns) > 1 and set.intersection(*labels) and len(set.union(*labels)) <= MOST_GUESSED:
        for column in columns:
            take(f"label/{question_slug(column.rstrip('0123456789').rstrip(' _.-'))}/{column}", column)


def _has_marks(columns: list[str | None], rows: list) -> bool:
    return any(isinstance(cell := row.get(column), str) and MARK.search(cell) for row in rows for column in columns)


def _differs(column: str, about: list[str], rows: list) -> bool:
    """Whether rows about one text say different things in a column."""
    first: dict[tuple, str] = {}
    return any(first.setdefault(_about(row, about), str(row.get(column))) != str(row.get(column)) for row in rows)


def _about(row: Mapping[str, object], about: list[str]) -> tuple[str, ...]:
    return tuple(str(row.get(one)) for one in about)


def _is_of_several(of: str, text: str, rows: list) -> bool:
    """Whether one value of a column occurs with different texts."""
    return _count_several(of, text, rows)[0] > 0


def _count_several(of: str, text: str, rows: list) -> tuple[int, int]:
    """How many values of a column occur with different texts, and how many there are."""
    texts: dict[str, set[str]] = {}
    for row in rows:
        texts.setdefault(str(row.get(of)), set()).add(str(row.get(text)))
    return sum(len(one) > 1 for one in texts.values()), len(texts)


def _take_more(found: dict[str, str], free: list[str], rows: list, take: Take) -> None:
    """Columns by their names, where what stands in them fits."""
    fits = {
        "date": lambda column: all_are(to_date, column, rows),
        "time": lambda column: nearly_all(is_time, column, rows),
        "spans": lambda column: all(value.startswith("[") for value in texts_in(column, rows)),
        "start": lambda column: nearly_all(is_number, column, rows),
        "end": lambda column: nearly_all(is_number, column, rows),
        "least": lambda column: are_numbers(column, rows),
        "most": lambda column: are_numbers(column, rows),
    }
    by_name = spelt(free)
    chosen: dict[str, str] = {}
    for role in (*OF_TEXT, "time", "checker", "spans", "start", "end", "quote", "highlight", "least", "most"):
        column = next((by_name[name] for name in NAMES[role] if name in by_name), None)
        if column in free and column not in chosen.values() and fits.get(role, lambda column: True)(column):
            chosen[role] = column
    if not {"start", "quote", "spans"} & chosen.keys():
        chosen |= _marked_by_name(free, rows)
    for one, other in (("start", "end"), ("end", "start"), ("least", "most"), ("most", "least")):
        if one in chosen and other not in chosen:
            del chosen[one]
    if not {"start", "quote"} & chosen.keys() or "spans" in chosen or "text" not in found:
        chosen = {role: column for role, column in chosen.items() if role not in ("start", "end", "quote", "highlight")}
    if "text" not in found:
        chosen.pop("spans", None)
    if "checker" in chosen:
        column = next((by_name[name] for name in ("score", "value", "metricscore") if name in by_name), None)
        if column in free and are_numbers(column, rows):
            chosen["score"] = column
        elif "rater" in found:
            del chosen["checker"]
    for role, column in chosen.items():
        take(role, column)


def _marked_by_name(free: list[str], rows: list) -> dict[str, str]:
    """A column of quoted words with columns of its places, `NAME`, `NAME_start` and `NAME_end`, and with their type."""
    for column in free:
        ends = {end: f"{column}_{end}" for end in ("start", "end")}
        if all(one in free and are_places(one, rows) for one in ends.values()):
            kind = next((one for one in free if re.search(r"(type|label|category|severity)$", one, re.I)), None)
            return {"quote": column, **ends} | ({"highlight": kind} if kind and is_label(kind, rows) else {})
    return {}


def check_roles(mapping: Mapping[str, str]) -> None:
    """FormatError for roles that there are not, or that do not go together."""
    for role, column in mapping.items():
        kind, *names = role.split("/")
        least, most = NAMES_AFTER.get(kind, (0, 0))
        if kind in ("score", "probability") and "checker" not in mapping:
            least = most if kind == "score" else 2
        if kind == "probability" and len(names) == 1:
            least = 2
        if kind not in ROLE_TITLES or not least <= len(names) <= most or not all(names):
            raise FormatError(
                f"{column}: there is no role {role!r}; the roles are {', '.join(ROLE_TITLES)}"
                + (", and a score or probability has the checker's name" if kind in ("score", "probability") else "")
            )
    labels = [role for role in mapping if role.split("/")[0] in ("label", "labels")]
    one, several = ({role.split("/")[1] for role in labels if role.startswith(kind)} for kind in ("label/", "labels/"))
    if both := one & several:
        raise FormatError(f"The question {min(both)} has columns of one label and of several; it takes either")
    if {"text", "marked"} <= mapping.keys():
        raise FormatError("The judged text must be in one column, with marks or without")
    has_text = bool({"text", "marked"} & mapping.keys())
    if {"row", "about"} & {role.partition("/")[0] for role in mapping} and "rater" not in mapping:
        raise FormatError("What describes raters or is kept with a row's labels needs the column of the rater")
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
