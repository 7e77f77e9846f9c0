"""What the columns and lists of published data sets are taken for, and what is refused in place of a wrong guess."""

import json
import time
from collections import Counter

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.cells import BadCell
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    LostRecord,
    OddRecord,
    PairRecord,
    ResponseRecord,
    RowError,
)
from annotation.formats.tables.guessing.columns import columns_of
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.guessing.shapes import as_table, refusal
from annotation.formats.tables.highlights import unmarked
from annotation.formats.tables.mapping import Preview, preview
from annotation.formats.tables.nested import MOST_ENTRIES, opened
from annotation.formats.tables.questions import range_in
from annotation.formats.tables.ratings import label_set_of
from annotation.formats.tables.summary import raters_in, sentences
from tests.formats import shaped


def put(tmp_path, text: str, name: str) -> SourceFile:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return SourceFile(tmp_path / name)


def guessed(source: SourceFile) -> tuple[dict[str, str], list[str]]:
    seen = as_table(preview(source))
    roles = guess_roles(seen.columns, seen.rows)
    return roles, sentences(roles, raters_in(roles, seen.rows))


def read(source: SourceFile, **options) -> list:
    roles, _ = guessed(source)
    found = list(get_format("ratings").read([source], Options(mapping=roles, **options)))
    assert [one for one in found if isinstance(one, RowError)] == []
    return found


def of(found: list, kind: type) -> list:
    return [one for one in found if isinstance(one, kind)]


def test_people_are_raters_and_what_describes_them_is_no_question(tmp_path):
    source = put(tmp_path, shaped.popquorn(), "popquorn.csv")
    roles, said = guessed(source)
    described = ("gender", "race", "age", "occupation", "education")
    assert roles == {
        "rater": "user_id", "id": "instance_id", "text": "text", "label/offensiveness": "offensiveness",
        **{f"about/{name}": name for name in described},
    }  # fmt: skip
    assert "10 raters from user_id; 5 columns describe them: gender, race, age, occupation, education." in said
    people = of(read(source), AnnotationRecord)
    assert len({one.rater for one in people}) == 12 and {one.rater_kind for one in people} == {"person"}
    assert people[0].metadata["rater"] == {
        "gender": "Man", "race": "White", "age": "20-24", "occupation": "Employed", "education": "College",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["userid", "User ID", "worker_id", "participant_id", "prolific_id", "PROLIFIC_PID", "annotator_id"]
)
def test_names_of_raters(name):
    rows = [{"text": f"T {n}.", name: f"p{n % 3}", "label": "ab"[n % 2]} for n in range(6)]
    assert guess_roles(list(rows[0]), rows)["rater"] == name


@pytest.mark.parametrize("name", ["evidence", "references", "passage", "context", "passages"])
def test_names_of_what_a_claim_is_judged_against(name):
    rows = [{"claim": f"Ice melts {n}.", name: f"It melted in {n}.", "label": "ab"[n % 2]} for n in range(6)]
    assert guess_roles(list(rows[0]), rows) == {"text": "claim", "context": name, "label/label": "label"}


@pytest.mark.parametrize("n_labels", [13, 40, 77, 150, 1000, 1001])
def test_a_column_that_is_called_label_may_have_many_labels(tmp_path, n_labels):
    lines = [f"{n},Text {n} of it.,r{who},intent {n % n_labels}" for n in range(max(100, n_labels)) for who in (1, 2)]
    source = put(tmp_path, "\n".join(["id,text,rater,label", *lines]), "intents.csv")
    roles, _ = guessed(source)
    assert roles == {"id": "id", "text": "text", "rater": "rater", "label/label": "label"}
    if n_labels > 1000:
        with pytest.raises(FormatError, match="label has 1,001 different values.* at most 1,000 labels"):
            label_set_of([source], Options(mapping=roles), "intents")
    else:
        assert len(label_set_of([source], Options(mapping=roles), "intents")["questions"][0]["labels"]) == n_labels


def test_a_column_without_a_known_name_describes_raters_where_it_never_changes_for_one():
    rows = [
        {"text": f"T {n}.", "rater": f"r{who}", "answer": "ab"[(n + who) % 2], "years": str(3 + who)}
        for who in range(3) for n in range(6)
    ]  # fmt: skip
    roles = guess_roles(list(rows[0]), rows)
    assert roles["about/years"] == "years" and roles["label/answer"] == "answer"
    lazy = [row | {"answer": "ab"[int(row["rater"][1]) % 2]} for row in rows]  # whoever always says the same has labels
    del lazy[0]["years"]
    only = [{name: row[name] for name in ("text", "rater", "answer")} for row in lazy]
    assert guess_roles(list(only[0]), only)["label/answer"] == "answer"


def test_facts_of_an_answer_are_judged_texts(tmp_path):
    source = put(tmp_path, shaped.factscore(), "factscore.jsonl")
    roles, said = guessed(source)
    assert roles == {
        "text": "annotations[].human-atomic-facts[].text", "context": "output",
        "label/label": "annotations[].human-atomic-facts[].label",
    }  # fmt: skip
    assert "One row for each entry of annotations, annotations[].human-atomic-facts." in said
    found = read(source)
    pairs = of(found, PairRecord)
    assert len(pairs) == len({one.key for one in pairs}) == 18  # the same words twice in one answer are two facts
    assert (pairs[0].premise, pairs[0].hypothesis) == (
        "It is the harbour. It is seen from afar.", "It is the harbour.",
    )  # fmt: skip
    assert pairs[0].metadata["topic"] == "the harbour" and pairs[0].metadata["annotations[].is-relevant"] is True
    assert Counter(one.label for one in of(found, DecisionRecord)) == {"S": 12, "NS": 3, "IR": 3}
    assert of(found, AnnotationRecord) == []
    [lost] = of(found, LostRecord)
    assert (lost.number, lost.first) == (1, "factscore.jsonl, line 7")


def test_a_row_of_the_file_with_one_empty_list_keeps_its_other_texts():
    row = {"a": [{"b": [{"text": "x"}]}, {"b": []}, {"b": None}]}
    found = list(opened(row, {"a[]", "a[].b[]"}, {"a[]", "a[].b[]"}))
    assert [(place, cells["a[].b[].text"]) for place, cells in found] == [((1, 1), "x")]


def test_documents_with_a_label_each_are_evidence_once_their_texts_are_there(tmp_path):
    claims, corpus = shaped.scifact()
    sources = [put(tmp_path, claims, "claims_dev.jsonl"), put(tmp_path, corpus, "corpus.jsonl")]
    assert [detect(source.path) for source in sources] == ["scifact", "scifact"]
    found = list(get_format("scifact").read(sources, Options()))
    assert [one.key for one in of(found, ClaimRecord)] == ["0", "1", "2"]
    assert [(one.key, one.text, one.is_gold) for one in of(found, EvidenceRecord)][:2] == [
        ("0/70", "Lakes froze. They thawed.", False), ("1/71", "Ice was. It went. It was May.", True),
    ]  # fmt: skip
    assert {one.unit: one.label for one in of(found, DecisionRecord)} == {
        "0/70": "not_enough_info", "1/71": "supports", "1/70": "not_enough_info", "2/71": "refutes",
    }  # fmt: skip
    with pytest.raises(FormatError, match=r"such as 70 of claim 0: choose also corpus\.jsonl"):
        list(get_format("scifact").read(sources[:1], Options()))
    test_set = put(tmp_path, claims.replace('"evidence": {}, ', ""), "test.jsonl")
    found = list(get_format("scifact").read([test_set, sources[1]], Options()))
    assert not [one for one in of(found, DecisionRecord) if one.unit == "0/70"]
    lacking = put(tmp_path, corpus.replace('"doc_id": 71', '"doc_id": 99'), "lacking.jsonl")
    errors = of(list(get_format("scifact").read([sources[0], lacking], Options())), RowError)
    assert [(one.line, one.reason) for one in errors] == [
        (2, "is a document that the files do not hold"), (3, "is a document that the files do not hold"),
    ]  # fmt: skip


def test_pieces_of_evidence_are_no_raters(tmp_path):
    source = put(tmp_path, shaped.factcheck_gpt(), "factcheck.jsonl")
    roles, _ = guessed(source)
    assert roles == {
        "text": "sentences{}.claims[]", "context": "sentences{}.auto_evidence[][]",
        "label/stance_claim_autoevid": "sentences{}.stance_claim_autoEvid[][]",
    }  # fmt: skip
    found = read(source)
    assert len(of(found, PairRecord)) == len(of(found, DecisionRecord)) == (1 + 2 + 3) * 2 * 2 * 5
    first = of(found, PairRecord)[0]
    assert first.hypothesis == "One knows the harbour well, part 1."
    assert first.premise == "Page 0 on claim 0 of the harbour, part 1."
    assert first.metadata["sentences{}.key"] == "sentence1"


def test_lists_that_do_not_match_are_bad_rows(tmp_path):
    rows = [{"claims": [f"Ice melts {n}.", f"It is late {n}."], "labels": ["yes", "no"]} for n in range(12)]
    rows[9]["labels"] = ["yes"]
    source = put(tmp_path, shaped.as_lines(rows), "lists.jsonl")
    rows[9]["labels"] = ["yes", "no"]
    roles, _ = guessed(put(tmp_path, shaped.as_lines(rows), "good.jsonl"))
    assert roles == {"text": "claims[]", "label/label": "labels[]"}
    found = list(get_format("ratings").read([source], Options(mapping=roles)))
    [error] = of(found, RowError)
    assert error.line == 10 and "different lengths" in error.reason and len(of(found, ClaimRecord)) == 22


def test_references_are_the_context_of_a_claim(tmp_path):
    source = put(tmp_path, shaped.attribution_bench(), "attribution.jsonl")
    roles, _ = guessed(source)
    assert roles == {
        "id": "id", "text": "claim", "context": "references", "source": "src_dataset",
        "label/attribution_label": "attribution_label",
    }  # fmt: skip
    found = read(source)
    assert of(found, PairRecord)[1].premise == "Page 1 tells of it.\n\nAnother page does not."
    assert len(of(found, DecisionRecord)) == 14


def test_a_list_of_texts_that_are_labels_has_a_rater_for_each_place(tmp_path):
    source = put(tmp_path, shaped.snli(), "snli.jsonl")
    roles, said = guessed(source)
    assert roles == {
        "id": "pairID", "text": "sentence2", "context": "sentence1",
        **{f"label/label/annotator_labels/{n}": f"annotator_labels.{n}" for n in range(1, 6)},
    }  # fmt: skip
    assert "5 raters, one for each place in annotator_labels." in said
    found = read(source)
    people = of(found, AnnotationRecord)
    assert len(people) == 100 and {one.rater_kind for one in people} == {"slot"}
    assert of(found, DecisionRecord) == [] and of(found, PairRecord)[0].metadata["gold_label"] == "entailment"


def test_columns_that_a_number_tells_apart_are_places(tmp_path):
    """In SNLI's tables `label2` of two pairs is by two annotators, who have no names."""
    labels = ("neutral,neutral", "entailment,neutral", "contradiction,contradiction") * 4
    pairs = [f"p{n},A man {n} rides.,Someone {n} sits.,{two}" for n, two in enumerate(labels)]
    source = put(tmp_path, "\n".join(["pairID,sentence1,sentence2,label1,label2", *pairs]), "snli.csv")
    people = of(read(source), AnnotationRecord)
    assert {(one.rater, one.rater_kind) for one in people} == {("label1", "slot"), ("label2", "slot")}
    named = put(tmp_path, "\n".join(["pairID,sentence1,sentence2,annotator1,annotator2", *pairs]), "named.csv")
    assert {one.rater_kind for one in of(read(named), AnnotationRecord)} == {"person"}


def test_labels_that_are_told_apart_by_a_number_have_a_rater_each(tmp_path):
    """As in SNLI's tables. Questions with other labels, and columns beside a rater's, are none."""
    labels = ("neutral", "entailment", "contradiction")

    def roles_of(columns: str, *values) -> dict[str, str]:
        rows = [f"p{n},A man {n} rides.,Someone {n} sits.," + ",".join(one(n) for one in values) for n in range(20)]
        roles, _ = guessed(put(tmp_path, "\n".join([f"pairID,sentence1,sentence2,{columns}", *rows]), "a.csv"))
        return {role: column for role, column in roles.items() if role.startswith("label")}

    said = [lambda n, place=place: labels[(n + place) % 3] if n % 4 or not place else "" for place in range(3)]
    gold = roles_of("gold_label,label1,label2,label3", said[0], *said)
    assert gold == {f"label/label/label{n}": f"label{n}" for n in (1, 2, 3)}
    other = roles_of("label1,label2", said[0], lambda n: "yes" if n % 2 else "no")
    assert other == {"label/label1": "label1", "label/label2": "label2"}
    beside = roles_of("rater,label1,label2", lambda n: f"r{n % 2}", *said[:2])
    assert beside == {"label/label1": "label1", "label/label2": "label2"}


def test_raters_two_lists_deep_name_themselves(tmp_path):
    source = put(tmp_path, shaped.qags(), "qags.jsonl")
    roles, said = guessed(source)
    assert roles == {
        "rater": "summary_sentences[].responses[].worker_id", "text": "summary_sentences[].sentence",
        "context": "article", "label/response": "summary_sentences[].responses[].response",
    }  # fmt: skip
    assert "5 raters from summary_sentences[].responses[].worker_id." in said
    found = read(source)
    assert len(of(found, PairRecord)) == 12 and len(of(found, AnnotationRecord)) == 36
    assert {one.rater for one in of(found, AnnotationRecord)} == set("01234")


def test_texts_of_one_document_come_again(tmp_path):
    source = put(tmp_path, shaped.hanna_study(), "study.csv")
    roles, _ = guessed(source)
    assert (roles["text"], roles["document"]) == ("Input.explanation", "Input.story_id")
    found = read(source, treat={"identical": "places"})
    claims = of(found, ClaimRecord)
    assert len(claims) == len({one.key for one in claims}) == 20
    people = of(found, AnnotationRecord)
    assert len(people) == 60 and Counter(one.rater for one in people) == {f"place {n}": 20 for n in (1, 2, 3)}
    again = read(source, treat={"identical": "places"})
    assert [one.key for one in of(again, ClaimRecord)] == [one.key for one in claims]


def test_an_id_beside_systems_is_the_document_s(tmp_path):
    source = put(tmp_path, shaped.xsum_factuality(), "xsum.csv")
    roles, _ = guessed(source)
    assert roles == {
        "rater": "worker_id", "system": "system", "text": "summary", "document": "bbcid",
        "label/is_factual": "is_factual",
    }  # fmt: skip
    found = read(source)
    assert len(of(found, ResponseRecord)) == 12 and len(of(found, AnnotationRecord)) == 36
    roles, _ = guessed(put(tmp_path, shaped.xsum_hallucination(), "spans.csv"))
    assert roles == {
        "rater": "worker_id", "system": "system", "text": "summary", "document": "bbcid",
        "quote": "hallucinated_span", "start": "hallucinated_span_start", "end": "hallucinated_span_end",
        "highlight": "hallucination_type",
    }  # fmt: skip


@pytest.mark.parametrize("odd", ["unknown", "NULL", "NA", "", "n/a"])
def test_an_odd_cell_leaves_times_and_places_what_they_are(odd):
    made = ["2026-03-29T02:30:00Z", "2026-03-29T02:31:00Z", odd, "2026-03-29T02:30:00Z"]
    rows = [
        {
            "id": f"{n // 2}",
            "text": f"Some text {n // 2}.",
            "rater": f"r{n % 2}",
            "tone": ["good", "bad"][n > 1],
            "time": time,
        }
        | dict.fromkeys(("start", "end"), odd if time == odd else str(n + 1))
        for n, time in enumerate(made)
    ]
    roles = guess_roles(list(rows[0]), rows)
    assert {role: roles.get(role) for role in ("time", "start", "end")} == {r: r for r in ("time", "start", "end")}
    assert [role for role in roles if role.startswith("label")] == ["label/tone"]
    moved = [{"when": row.pop("time")} | row for row in rows]
    assert "label/when" not in guess_roles(list(moved[0]), moved)


def test_metrics_that_are_called_like_raters_are_scores():
    rows = [{"system_bbcid": f"a_{n}", "R1": f"0.{n}1", "R2": f"0.{n}2", "Factual": f"0.{n}7"} for n in range(9)]
    assert guess_roles(list(rows[0]), rows) == {
        "id": "system_bbcid", "score/R1": "R1", "score/R2": "R2", "score/Factual": "Factual",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("column", "is_of_raters"),
    [
        ([[1, 2], [2, 1]], True),
        ([[1, 2], [2]], False),
        ([["a", "b"], ["b", "a"]], True),
        ([["rare", "Europe"], ["common", "Asia"]], False),  # places that never share a word: tags
        ([[{"tone": "good"}, {"tone": "bad"}], [{"tone": "bad"}, {"tone": "good"}]], True),
        ([[{"tone": "good"}, {"tone": "bad"}], [{"tone": "bad"}]], False),
        ([[{"tone": "good"}, {"style": "bad"}], [{"tone": "bad"}, {"style": "good"}]], False),
    ],
)
def test_lists_are_raters_where_they_are_alike(tmp_path, column, is_of_raters):
    rows = [{"text": f"It is number {n}.", "facets": column[n % 2]} for n in range(20)]
    roles, _ = guessed(put(tmp_path, shaped.as_lines(rows), "lists.jsonl"))
    assert any(role.count("/") > 1 for role in roles) == is_of_raters
    named = [{"text": row["text"], "ratings": row["facets"]} for row in rows]
    roles, _ = guessed(put(tmp_path, shaped.as_lines(named), "named.jsonl"))
    assert any(role.count("/") > 1 for role in roles) == (is_of_raters or column[0][:1] != ["rare"])


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (
            shaped.pairwise(),
            "p.csv",
            ("between two texts, response_a and response_b", "choice in preference"),
        ),
        ("prompt,chosen,rejected\nSay it.,So it is.,It is not.\n", "d.csv", ("chosen and rejected",)),
        (
            "question,answer1,answer2,winner\nWhy?,Of old.,Of late.,model_1\n",
            "w.csv",
            ("answer1 and answer2", "winner"),
        ),
    ],
)
def test_what_no_table_of_ratings_holds_is_named(tmp_path, text, name, words):
    seen = preview(put(tmp_path, text, name))
    said = refusal(seen.columns, seen.rows)
    assert all(one in said for one in (*words, "choose the columns by hand"))


@pytest.mark.parametrize("text", [shaped.snli(), shaped.qags(), shaped.factscore(), shaped.factcheck_gpt()])
def test_other_files_are_not_refused(tmp_path, text):
    seen = preview(put(tmp_path, text, "t.jsonl"))
    assert refusal(seen.columns, seen.rows) == ""


def test_a_row_without_a_rater_among_named_ones_is_a_question(tmp_path):
    source = put(tmp_path, shaped.UNNAMED, "t.csv")
    odd = {one.kind: one for one in of(read(source), OddRecord)}
    assert odd["unnamed"].number == 2 and odd["unnamed"].is_open and odd["unnamed"].first == "t.csv, line 5"
    places = read(source, treat={"unnamed": "places"})
    assert {one.rater for one in of(places, AnnotationRecord)} == {"r1", "r2", "place 1", "place 2"}
    assert not [one for one in of(places, OddRecord) if one.kind == "unnamed" and one.is_open]
    final = read(source, treat={"unnamed": "decisions"})
    assert [(one.unit, one.label) for one in of(final, DecisionRecord)] == [("3", "yes")]
    roles, _ = guessed(source)
    without = get_format("ratings").read([source], Options(mapping=roles, treat={"unnamed": "leave-out"}))
    assert [one.line for one in of(list(without), RowError) if one.is_chosen] == [5, 6]
    two = put(tmp_path, shaped.UNNAMED + "3,x,,no\n", "two.csv")
    found = list(get_format("ratings").read([two], Options(mapping=roles, treat={"unnamed": "decisions"})))
    assert [one.reason for one in of(found, RowError)] == ["differs from the final label on an earlier row"]


# --- bounds ---------------------------------------------------------------------------------------------------------


HOSTILE = [
    "_" * 100_000,
    "a1" * 50_000,
    "x " * 50_000 + "a1",
    "a" + "1" * 100_000 + "x",
    ".1" * 50_000,
    "a" + "[]" * 50_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_header_of_100_kilobytes_is_looked_at_quickly(tmp_path, number):
    name = HOSTILE[number]
    began = time.process_time()
    guess_roles([name, "text"], [{name: "1", "text": "T."}])
    as_table(preview(put(tmp_path, "text,b\nT.,1\n", "t.csv")))
    with pytest.raises(FormatError, match="at most 300 are read"):
        preview(put(tmp_path, f"{name},text\n1,T.\n", "h.csv"))
    with pytest.raises(FormatError, match="at most 300 are read"):
        preview(put(tmp_path, shaped.as_lines([{name: 1}]), "h.jsonl"))
    assert time.process_time() - began < 5  # of minutes before


def test_marks_and_scales_are_looked_at_quickly():
    began = time.process_time()
    with pytest.raises(BadCell, match="not closed"):
        unmarked("<v>" * 33_000, "t")
    with pytest.raises(FormatError, match="is not a range"):
        range_in("." * 100_000 + "x", "q")
    assert time.process_time() - began < 5  # of minutes before


def test_a_guess_looks_at_so_many_cells_and_no_more(tmp_path):
    wide = [{f"column {n}": "1" for n in range(1_000)} for _ in range(200)]
    deep = [{"a": {f"k{n}": {f"m{m}": [1] * 50 for m in range(20)} for n in range(20)}} for _ in range(3)]
    began = time.process_time()
    guess_roles(list(wide[0]), wide)
    assert time.process_time() - began < 20
    seen = as_table(preview(put(tmp_path, shaped.as_lines(deep), "deep.jsonl")))
    assert len(seen.columns) <= 1_000
    long = put(tmp_path, shaped.as_lines({"text": "x" * 1_000_000} for _ in range(9)), "long.jsonl")
    assert len(preview(long).rows) == 3
    with pytest.raises(BadCell, match="10,000 entries"):
        list(opened({"a": [{"b": [1] * 200}] * 200}, {"a[]", "a[].b[]"}))
    assert MOST_ENTRIES == 10_000


def own_table(ids: list[int]) -> Preview:
    claims = ("The lake freezes.", "The lake freezes.", "Bees sleep.", "Bees sleep.")
    rows = [
        {"id": n, "claim": claim, "evidence": f"Report {place}."}
        for place, (n, claim) in enumerate(zip(ids, claims, strict=True))
    ]
    return Preview("own.csv", "delimited", ("id", "claim", "evidence"), tuple(rows), ())


@pytest.mark.parametrize(
    ("ids", "role"), [([1, 2, 3, 4], "evidence_id"), ([1, 1, 2, 2], "claim_id"), ([1, 1, 1, 2], None)]
)
def test_what_an_id_is_of_follows_from_its_values(ids, role):
    mapping = columns_of(own_table(ids)).chosen.mapping
    assert [name for name, column in mapping.items() if column == "id"] == ([role] if role else [])


def test_equal_claims_that_merge_are_named_unless_they_have_ids():
    assert "Rows with the same text in claim are one claim." in columns_of(own_table([1, 2, 3, 4])).sentences
    assert len(columns_of(own_table([1, 1, 2, 2])).sentences) == 1


def test_texts_with_labels_and_no_claim_are_ratings():
    rows = tuple({"text": f"Answer {n}.", "ann": "good", "ben": "bad" if n % 2 else "good"} for n in range(8))
    assert columns_of(Preview("a.csv", "delimited", ("text", "ann", "ben"), rows, ())).format == "ratings"


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_text_and_its_label_are_known_however_many_labels_there_are(tmp_path, is_sorted):
    """As in banking77 and CLINC150, whose files are sorted or not."""
    labels = [number // 26 if is_sorted else number % 77 for number in range(2000)]
    rows = "".join(f"My card {number} is late,intent_{label}\n" for number, label in enumerate(labels))
    source = put(tmp_path, f"utterance,intent\n{rows}", "banking.csv")
    assert columns_of(preview(source)).chosen.mapping == {"text": "utterance", "label/intent": "intent"}


def test_a_column_that_is_called_label_is_one_where_none_comes_again_in_the_first_rows(tmp_path):
    rows = "".join(f"My card {number} is late,intent_{number % 1_000}\n" for number in range(3_000))
    source = put(tmp_path, f"text,label\n{rows}", "many.csv")
    assert columns_of(preview(source)).chosen.mapping == {"text": "text", "label/label": "label"}


def test_words_that_never_come_again_are_no_labels(tmp_path):
    rows = "".join(f"My card {number} is late,note_{number}\n" for number in range(300))
    source = put(tmp_path, f"utterance,remark\n{rows}", "notes.csv")
    assert "label/remark" not in columns_of(preview(source)).chosen.mapping


def test_one_bad_conversation_does_not_make_the_others_something_else(tmp_path):
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    bad = ([{"content": "nobody speaks"}], "hello")
    rows = [{"id": number, "messages": turns} for number in range(8)] + [{"id": "x", "messages": one} for one in bad]
    source = put(tmp_path, "\n".join(map(json.dumps, rows)), "chat.jsonl")
    found = columns_of(preview(source)).chosen
    assert (found.layout, found.mapping["response"]) == ("responses", "messages")
