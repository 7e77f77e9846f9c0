"""Column names that mean a role, in small letters without separators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotation.formats.tables.nested import depth_of

_SPELLINGS = {
    "text": "text summary sentence response answer output decoded claim hypothesis story translation generation target "
    "modeloutput systemoutput sentence2 text2 fact statement messages conversation conversations turns",
    "context": "context article source document dialogue prompt question reference premise input src sentence1 text1",
    "id": "id textid itemid unitid instanceid exampleid sampleid segmentid segid globalsegid storyid summaryid "
    "responseid answerid pairid",
    "document": "docid documentid articleid questionid promptid sourceid",
    "system": "system systemid systemname model modelid modelname modeltype",
    "rater": "rater annotator raterid annotatorid worker workerid judge judgeid user userid username evaluator "
    "evaluatorid coder coderid assessor assessorid participant participantid prolificid prolificpid subjectid "
    "respondentid turker turkerid crowdworker crowdworkerid labeler labelerid labeller labellerid annid",
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
    "source": "publisher site domain sourcename corpus srcdataset sourcedataset source",
    "split": "split fold partition subset",
}
OF_BATCH = re.compile(r"^(?:Input|Answer)\.")  # of Mechanical Turk's results, where only answers are by workers
NAMES = {role: names.split() for role, names in _SPELLINGS.items()}
WRITTEN = [name for name in NAMES["text"] if name not in ("text", "sentence", "claim", "sentence2", "text2")]
# What a claim or an answer is judged against; before systems' texts, references are what people wrote in their place.
EVIDENCE = ["evidence", "evidences", "passage", "passages", "references", "context", "contexts"]
# What is judged in a table with a column of evidence, most likely first.
JUDGED = ["claim", "statement", "fact", "hypothesis"]
NAME_CHARS = 300
# What is asked of people about themselves.
OF_RATERS = re.compile(
    r"gender|(^|[ _.-])(sex|age|race|job)($|[ _.-])|ethnic|occupation|education|nationality|country|native|language"
    r"|religio|politic|income|marital|profession|expertise|demograph|birth|annotatorage|agegroup|years ?of",
    re.I,
)


def own_name(column: str) -> str:
    """Of a column inside lists, its own name; of a list of texts or labels, the name of one of them."""
    if not depth_of(column):
        return OF_BATCH.sub("", column)
    own = re.split(r"\[\]|\{\}", column)[-1].lstrip(".")
    return own or re.split(r"\[\]|\{\}|\.", column.rstrip("[]{}"))[-1].removesuffix("s")


def spelling(column: str) -> str:
    """Longer names than any of these are spelt as they are."""
    if len(column) > NAME_CHARS:
        return column
    return re.sub(r"[^a-z0-9]", "", own_name(column).lower())


def spelt(columns: Sequence[str]) -> dict[str, str]:
    """Spelling -> column, the first of those spelt alike."""
    return {spelling(column): column for column in reversed(columns)}
