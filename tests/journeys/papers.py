"""The human work of the five papers at their sizes, and some at a small one: what is asked of whom, and what they say.

Only numbers and lengths are the papers'; the texts are ours. Where a paper gives no number, the function says what is
chosen here instead.
"""

from collections.abc import Iterator

from .plans import Mark, Plan, Sheet, plan, prose

# ---- ICAT: aspects that an answer covers ----

COVERED, NOT = "covered", "not_covered"
# One question has 20 aspects and an answer of 8,000 words; the others have three to seven: TREC's have at most seven.
SMALL_ASPECTS = (2, 3, 2, 3, 2, 20)
PAPER_ASPECTS = (20, *(3, 4, 5, 6, 7) * 9, 3, 4, 5, 7)


def aspect_coverage(*, paper: bool = True) -> Plan:
    """Answers of four models to the 50 queries of the human study, three annotators: the paper names both numbers and
    not which answers were shown, so all are. At the small size one model's to six."""
    counts, models = (PAPER_ASPECTS, 4) if paper else (SMALL_ASPECTS, 1)
    queries: list[dict] = []
    answers: dict[str, list[dict]] = {f"model-{model}.jsonl": [] for model in range(models)}
    sheets = []
    for number, count in enumerate(counts):
        query = f"q{number:03}"
        subtopics = [prose(5, f"{query} {place}") for place in range(count)]
        queries.append({"query_id": query, "query": prose(9, query), "subtopics": subtopics})
        for model, file in enumerate(answers):
            is_longest = count == 20 and model == 0
            text = prose(8000 if is_longest else 180 + 37 * ((number + model) % 9), f"{query}/{model}")
            answers[file].append({"query_id": query, "model_response": text})
            response = f"model-{model}/{query}"
            units = tuple(f"{response} # {query}/a{place}" for place in range(count))
            sheets.append(Sheet(response, units, {"response": text}))
    return plan(
        "aspect-coverage",
        "aspect-coverage/-/1",
        {"queries.jsonl": queries, **answers},
        sheets,
        ["coverage"],
        # Three unanimous yes, three unanimous no, one where the third person and one where the second says otherwise.
        [(COVERED,) * 3, (NOT,) * 3] * 3 + [(COVERED, COVERED, NOT), (NOT, COVERED, NOT)],
        marks=_coverage_marks,
        format="icat",
    )


def _coverage_marks(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
    """Stretches of one to three words among the first twelve, so that those of different aspects overlap."""
    if label != COVERED:
        return ()
    first = Mark("response", (2 * number + person) % 10, 1 + (number + person) % 3)
    return (first, Mark("response", 12 + number % 3)) if number % 11 == 0 else (first,)


# ---- Sufficient Context ----

SUFFICIENT, INSUFFICIENT = "sufficient", "insufficient"
# The models' percentages fit no fewer than 63 questions with sufficient context and 52 without, and these are the
# 54.8 % and 45.2 % that the appendix names.
PAPER_QUESTIONS = 115


def _questions(count: int, models: int = 0) -> Iterator[dict]:
    for number in range(count):
        question = f"q{number:03}"
        row = {
            "question": {
                "id": question,
                "text": prose(12, question),
                "date": f"2024-05-{number % 28 + 1:02}",
                "answers": [prose(2, f"answer {number}"), prose(3, f"alternative {number}")],
            },
        }
        if models:
            row["responses"] = [
                {
                    "id": f"{question}/m{model}",
                    "text": "I don't know." if (number + model) % 5 == 0 else prose(6, f"{question} {model}"),
                    "model": f"model-{model}",
                }
                for model in range(models)
            ]
        else:  # five retrieved passages of 100 words
            row["passages"] = [
                {"id": f"{question}/p{rank}", "text": prose(100, f"{question} {rank}"), "title": f"Page {rank}"}
                for rank in range(5)
            ]
        yield row


def sufficient_context() -> Plan:
    rows = list(_questions(PAPER_QUESTIONS))
    sheets = [
        Sheet(
            row["question"]["id"],
            (row["question"]["id"],),
            {f"passage-{place}": passage["text"] for place, passage in enumerate(row["passages"], 1)},
        )
        for row in rows
    ]

    def whole(number: int, person: int, sheet: Sheet, label: str) -> str:
        return f"passage-{number % 5 + 1}" if label == SUFFICIENT and number % 3 == 1 else ""

    def marks(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
        if label != SUFFICIENT or number % 3 == 2:
            return ()
        return Mark("passage-1", 2 + person, 2), Mark(f"passage-{2 + number % 2}", number % 6, 3)

    return plan(
        "sufficient-context",
        "sufficient-context/-/1",
        {"content.jsonl": rows},
        sheets,
        ["sufficiency"],
        [(SUFFICIENT,) * 2, (INSUFFICIENT,) * 2] * 2 + [(SUFFICIENT, INSUFFICIENT)],
        marks=marks,
        whole=whole,
        note=lambda number, person: f"Note {number} of person {person}: 1s, 2? Ü" if number % 4 == 0 else "",
    )


def answer_grade() -> Plan:
    """Answers of five models to the same questions."""
    rows = list(_questions(PAPER_QUESTIONS, 5))
    sheets = [Sheet(response["id"], (response["id"],)) for row in rows for response in row["responses"]]
    p, a, i, m = "perfect", "acceptable", "incorrect", "missing"
    cycle = [(p, p), (i, i), (m, m), (p, a), (a, i)]
    return plan("answer-grade", "answer-grade/-/1", {"content.jsonl": rows}, sheets, ["grade"], cycle)


# ---- the knowledge-leakage study ----

ENTAILMENT, NEUTRAL, CONTRADICTION, OTHER = "entailment", "neutral", "contradiction", "non-entailment"


def _pairs(count: int) -> tuple[dict[str, list[dict]], list[Sheet]]:
    rows = [
        {"No": f"pair-{number:03}", "Evidence": prose(30, f"e{number}"), "Sentence": prose(15, f"s{number}")}
        for number in range(count)
    ]
    return {"pairs.csv": rows}, [Sheet(row["No"], (row["No"],)) for row in rows]


def nli_two(*, paper: bool = True) -> Plan:
    """Appendix E: 200 pairs, two authors, entailment or not."""
    cycle = [(ENTAILMENT,) * 2] * 3 + [(OTHER,) * 2] * 4 + [(ENTAILMENT, OTHER)] * 2 + [(OTHER, ENTAILMENT)]
    return plan("nli-two-way", "nli/two-way/1", *_pairs(200 if paper else 10), ["entailment"], cycle, format="table")


def nli_three() -> Plan:
    """The labels of the paper's automatic NLI, which no person gave; at the size of its human sample."""
    same = [(ENTAILMENT,) * 2] * 3 + [(NEUTRAL,) * 2] * 3 + [(CONTRADICTION,) * 2] * 2
    cycle = [*same, (ENTAILMENT, NEUTRAL), (NEUTRAL, CONTRADICTION)]
    return plan("nli-three-way", "nli/three-way/1", *_pairs(200), ["entailment"], cycle, format="table")


INCLUDED, ABSENT = "included", "not_included"


def evidence_inclusion() -> Plan:
    """500 claims with a document by Query2doc and one by HyDE each, two authors."""
    rows, sheets = [], []
    for number in range(500):
        claim = f"c{number:03}"
        documents = [
            {"id": f"{claim}/{method}", "text": prose(100, f"{claim} {method}"), "model": "a-model", "method": method}
            for method in ("Query2doc", "HyDE")
        ]
        gold = [
            {"id": f"{claim}/e{rank}", "text": prose(25, f"{claim} {rank}"), "gold": True, "rank": rank}
            for rank in range(1 + number % 3)
        ]
        rows.append({"claim": {"id": claim, "text": prose(14, claim)}, "passages": gold, "responses": documents})
        sheets += [Sheet(one["id"], (one["id"],), {"response": one["text"]}) for one in documents]

    def marks(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
        if label != INCLUDED or number % 3:
            return ()
        return (Mark("response", number % 4 + person, 1 + number % 3),)

    cycle = [(INCLUDED,) * 2] * 5 + [(ABSENT,) * 2] * 4 + [(INCLUDED, ABSENT)]
    return plan(
        "evidence-inclusion",
        "evidence-inclusion/-/1",
        {"content.jsonl": rows},
        sheets,
        ["inclusion"],
        cycle,
        marks=marks,
    )


# ---- ICAT's components (appendix A.5) ----


def atomic_claims() -> Plan:
    """Claims of the answers to 50 questions; how many the paper does not say, here eight of each."""
    questions, each = 50, 8
    rows, sheets = [], []
    for number in range(questions):
        question = f"q{number:03}"
        claims = [{"id": f"{question}/c{place}", "text": prose(9, f"{question} {place}")} for place in range(each)]
        response = {"id": f"{question}/m", "text": prose(60, question), "model": "a-model", "atomic_claims": claims}
        rows.append({"question": {"id": question, "text": prose(8, question)}, "responses": [response]})
        sheets += [Sheet(claim["id"], (claim["id"],)) for claim in claims]
    good, context, pronoun = ("well_formed",), ("badly_formed", "missing_context"), ("badly_formed", "open_pronoun")
    cycle = [
        *[(good, good)] * 6,
        (context, context),
        (pronoun, pronoun),
        (pronoun, context),
        (("badly_formed", "not_verifiable"), good),
    ]
    return plan("atomic-claim", "nli/atomic-claim/1", {"content.jsonl": rows}, sheets, ["form", "fault"], cycle)


def aspect_relevance() -> Plan:
    """Up to ten generated aspects for each of the same 50 questions; here always ten."""
    questions, each = 50, 10
    rows, sheets = [], []
    for number in range(questions):
        question = f"q{number:03}"
        aspects = [{"id": f"{question}/a{place}", "text": prose(4, f"{question} {place}")} for place in range(each)]
        rows.append({"question": {"id": question, "text": prose(8, question)}, "aspects": aspects})
        sheets.append(Sheet(question, tuple(aspect["id"] for aspect in aspects)))
    cycle = [("relevant",) * 2] * 8 + [("not_relevant",) * 2, ("relevant", "not_relevant")]
    return plan("aspect-relevance", "nli/aspect-relevance/1", {"content.jsonl": rows}, sheets, ["relevance"], cycle)


# ---- RefChecker ----


def _answer(question: str, passages: int, pieces: str, made: list[dict], text: str) -> tuple[dict, Sheet]:
    texts = [prose(60, f"{question} {rank}") for rank in range(passages)]
    row = {
        "question": {"id": question, "text": prose(8, question)},
        "passages": [{"id": f"{question}/p{rank}", "text": each, "rank": rank} for rank, each in enumerate(texts)],
        "responses": [{"id": f"{question}/m", "text": text, "model": "a-model", "setting": "noisy", pieces: made}],
    }
    fields = {f"passage-{number}": each for number, each in enumerate(texts, 1)}
    return row, Sheet(f"{question}/m", tuple(piece["id"] for piece in made), fields)


def _decides(number: int, person: int, sheet: Sheet, label: str) -> str:
    """Which passage decided, for a third of what is entailed or contradicted."""
    return f"passage-{number % 3 + 1}" if label in (ENTAILMENT, CONTRADICTION) and number % 3 == 0 else ""


def _support(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
    if label not in (ENTAILMENT, CONTRADICTION) or number % 4:
        return ()
    return (Mark(f"passage-{1 + number % 2}", (number + person) % 9, 1 + number % 3),)


def sub_sentences() -> Plan:
    """The 100 questions of Noisy Context, one model's answer each: 110 words, taken apart into six pieces; three of
    their passages are shown. The granularity study had checkers label them and names no human sample."""
    answers, each = 100, 6
    rows, sheets = [], []
    for number in range(answers):
        question = f"q{number:03}"
        pieces = [{"id": f"{question}/m/s{place}", "text": prose(12, f"{question} {place}")} for place in range(each)]
        text = " ".join(piece["text"] for piece in pieces)
        row, sheet = _answer(question, 3, "sub_sentences", pieces, text)
        rows.append(row)
        sheets.append(sheet)
    cycle = [
        *[(ENTAILMENT,) * 2] * 4,
        *[(NEUTRAL,) * 2] * 2,
        (CONTRADICTION,) * 2,
        ("bad_sub_sentence",) * 2,
        (ENTAILMENT, NEUTRAL),
        (ENTAILMENT, CONTRADICTION),
    ]
    labels = ["entailment"]
    return plan(
        "sub-sentences",
        "triplets/sub-sentences/1",
        {"content.jsonl": rows},
        sheets,
        labels,
        cycle,
        marks=_support,
        whole=_decides,
    )


def triplets(*, paper: bool = True) -> Plan:
    """One answer with 200 triplets among short ones; at the small size it stands alone beside one of ten."""
    counts = (200, *(10,) * 9) if paper else (200, 10)
    rows, sheets = [], []
    for number, count in enumerate(counts):
        question = f"q{number:03}"
        made = [
            {
                "id": f"{question}/m/t{place}",
                "head": prose(2, f"h{number} {place}"),
                "relation": "reached",
                "tail": prose(2, f"t{number} {place}"),
            }
            for place in range(count)
        ]
        row, sheet = _answer(question, 3, "triplets", made, prose(5 * count, question))
        rows.append(row)
        sheets.append(sheet)
    cycle = [
        *[(ENTAILMENT,) * 2] * 6,
        *[(NEUTRAL,) * 2] * 2,
        (CONTRADICTION,) * 2,
        (ENTAILMENT, "bad_triplet"),
    ]

    def marks(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
        return _support(number, person, sheet, label) if number % 5 == 1 else ()

    def whole(number: int, person: int, sheet: Sheet, label: str) -> str:
        return _decides(number, person, sheet, label) if number % 5 == 0 else ""

    return plan(
        "triplets", "triplets/-/1", {"content.jsonl": rows}, sheets, ["entailment"], cycle, marks=marks, whole=whole
    )
