"""Tables of texts with labels, ratings and scores, as people have them."""

import csv
import json
from datetime import UTC, date, datetime

import pytest

from annotation.formats import FormatError, Options, SourceFile, get_format
from annotation.formats.names import label_value
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    DecisionRecord,
    PairRecord,
    QuestionRecord,
    ResponseRecord,
    RowError,
    ScoreRecord,
    SuggestionRecord,
)
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.mapping import preview
from annotation.formats.tables.ratings import label_set_of
from annotation.task_types.label_sets import problems_of


def table(tmp_path, text: str, name: str = "table.csv") -> SourceFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return SourceFile(path)


def roles_of(text: str) -> dict[str, str]:
    rows = list(csv.DictReader(text.splitlines()))
    return guess_roles(list(rows[0]), rows)


def records(tmp_path, text: str, mapping: dict | None = None, treat: dict | None = None) -> list:
    options = Options(mapping=roles_of(text) if mapping is None else mapping, treat=treat or {})
    return list(get_format("ratings").read([table(tmp_path, text)], options))


def said(found: list) -> dict[tuple[str, str, int], dict[str, str]]:
    return {
        (one.item, one.rater, one.revision): {each.dimension: each.label for each in one.judgements}
        for one in found
        if isinstance(one, AnnotationRecord)
    }


SUMMARIES = """\
doc_id,model,article,summary,expert_1_coherence,expert_2_coherence,expert_1_fluency,expert_2_fluency,rouge
d1,A,Long text one.,Short one.,5,4,3,3,0.31
d1,B,Long text one.,Other one.,2,,3,4.0,0.22
d2,A,Long text two.,Short two.,1,2,5,5,1e-1
"""
LONG = """text_id,text,annotator,label
1,The port froze.,anna,Yes
1,The port froze.,ben,no
2,Snow fell.,anna,YES
2,Snow fell.,anna,yes
3,It rained.,ben,yes
3,It rained.,ben,no
"""


def test_a_wide_table_of_summaries(tmp_path):
    roles = roles_of(SUMMARIES)
    assert roles == {
        "system": "model",
        "document": "doc_id",
        "text": "summary",
        "context": "article",
        "label/coherence/expert_1": "expert_1_coherence",
        "label/coherence/expert_2": "expert_2_coherence",
        "label/fluency/expert_1": "expert_1_fluency",
        "label/fluency/expert_2": "expert_2_fluency",
        "score/rouge": "rouge",
    }
    found = records(tmp_path, SUMMARIES)
    assert [one for one in found if isinstance(one, QuestionRecord)] == [
        QuestionRecord("d1", "Long text one."),
        QuestionRecord("d2", "Long text two."),
    ]
    assert [(one.key, one.model, one.text) for one in found if isinstance(one, ResponseRecord)] == [
        ("d1/A", "A", "Short one."),
        ("d1/B", "B", "Other one."),
        ("d2/A", "A", "Short two."),
    ]
    assert said(found) == {
        ("d1/A", "expert_1", 1): {"coherence": "5", "fluency": "3"},
        ("d1/A", "expert_2", 1): {"coherence": "4", "fluency": "3"},
        ("d1/B", "expert_1", 1): {"coherence": "2", "fluency": "3"},
        ("d1/B", "expert_2", 1): {"fluency": "4"},  # an empty cell is a missing label, and 4.0 is 4
        ("d2/A", "expert_1", 1): {"coherence": "1", "fluency": "5"},
        ("d2/A", "expert_2", 1): {"coherence": "2", "fluency": "5"},
    }
    assert [(one.unit, one.value) for one in found if isinstance(one, ScoreRecord)] == [
        ("d1/A", 0.31), ("d1/B", 0.22), ("d2/A", 0.1),
    ]  # fmt: skip


def test_the_document_of_a_text_is_kept_where_no_key_holds_it(tmp_path):
    pairs = "doc_id,article,text,annotator,label\nd1,Cold,Ice lay.,anna,yes\nd1,Cold,It snowed.,anna,no\n"
    claims = "text_id,doc_id,text,annotator,label\n1,d1,The port froze.,anna,yes\n2,d1,Snow fell.,anna,no\n"
    for table, kind in ((pairs, PairRecord), (claims, ClaimRecord)):
        texts = [one for one in records(tmp_path, table) if isinstance(one, kind)]
        assert [one.metadata for one in texts] == [{"document": "d1"}] * 2, kind
    keys = [one.key for one in records(tmp_path, claims.replace("text_id", "day")) if isinstance(one, ClaimRecord)]
    assert keys[0] == "d1"
    assert keys[1].startswith("d1/")


def test_a_long_table_with_a_rater_column_and_revisions(tmp_path):
    found = records(tmp_path, LONG, treat={"spellings": "fold"})
    assert [one for one in found if isinstance(one, ClaimRecord)] == [
        ClaimRecord("1", "The port froze."),
        ClaimRecord("2", "Snow fell."),
        ClaimRecord("3", "It rained."),
    ]
    assert said(found) == {
        ("1", "anna", 1): {"label": "Yes"},
        ("1", "ben", 1): {"label": "no"},
        ("2", "anna", 1): {"label": "Yes"},  # the same row twice, whatever its case
        ("3", "ben", 1): {"label": "Yes"},
        ("3", "ben", 2): {"label": "no"},  # another label of the same rater: a revision
    }


def test_one_row_per_question(tmp_path):
    text = "id,sentence,worker,criterion,rating\n1,A b.,w1,Tone,2\n1,A b.,w1,Style,3\n1,A b.,w2,Tone,1\n"
    assert said(records(tmp_path, text)) == {
        ("1", "w1", 1): {"tone": "2", "style": "3"},
        ("1", "w2", 1): {"tone": "1"},
    }


def test_several_labels_stand_in_a_cell_or_on_a_row_each(tmp_path):
    text = (
        "id,who,topics,at,gpt\n1,ann,Money; Health,,health\n1,ben,Health,,\n1,ben,Sport,,\n"
        "2,ann,(none),,\n2,ben,,,(none)\n"
        '3,ann,"[""Sport""]",2024-06-01,"sport, money"\n3,ann,"Money, Sport",2024-06-02,\n'
    )
    roles = {"id": "id", "rater": "who", "labels/topics": "topics", "time": "at", "prediction/gpt/topics": "gpt"}
    assert said(records(tmp_path, text, roles)) == {
        ("1", "ann", 1): {"topics": "Health|Money"},
        ("1", "ben", 1): {"topics": "Health|Sport"},
        ("2", "ann", 1): {"topics": "(none)"},
        ("3", "ann", 1): {"topics": "Sport"},
        ("3", "ann", 2): {"topics": "Money|Sport"},  # of another day: a revision
    }
    found = [one for one in records(tmp_path, text, roles) if isinstance(one, SuggestionRecord)]
    assert [(one.unit, one.label) for one in found] == [("1", "Health"), ("2", "(none)"), ("3", "Money|Sport")]
    assert roles_of(text.replace(",who,", ",rater,").replace(",gpt", ",more"))["labels/topics"] == "topics"
    made = label_set_of([table(tmp_path, text)], Options(mapping=roles), "x")
    [question] = made["questions"]
    assert problems_of(made) == [] and question["answer"] == "labels"
    assert [one["title"] for one in question["labels"]] == ["Health", "Money", "Sport"]
    # The order of a label set that there is, and a value that it lacks.
    options = Options(mapping=roles, labels={"topics": ("sport", "money")}, values={"topics": {"Health": "money"}})
    answers = said(list(get_format("ratings").read([table(tmp_path, text)], options)))
    assert answers["1", "ann", 1] == {"topics": "money"} and answers["1", "ben", 1] == {"topics": "sport|money"}
    with pytest.raises(FormatError, match="topics has columns of one label and of several"):
        records(tmp_path, text, {"id": "id", "labels/topics": "topics", "label/topics": "gpt"})


def test_rows_of_nobody_are_places_or_decisions(tmp_path):
    twice = "text,label\nSnow fell.,good\nSnow fell.,bad\nIt rained.,good\n"
    found = [one for one in records(tmp_path, twice) if isinstance(one, AnnotationRecord)]
    assert {one.rater_kind for one in found} == {"slot"}
    assert [one.rater for one in found] == ["place 1", "place 2", "place 1"]
    once = "premise,hypothesis,label\nSnow fell.,It was cold.,good\nIt rained.,It was dry.,bad\n"
    found = records(tmp_path, once, {"context": "premise", "text": "hypothesis", "label/label": "label"})
    assert [(one.premise, one.hypothesis) for one in found if isinstance(one, PairRecord)] == [
        ("Snow fell.", "It was cold."), ("It rained.", "It was dry."),
    ]  # fmt: skip
    assert [one.label for one in found if isinstance(one, DecisionRecord)] == ["good", "bad"]


def test_groups_of_raters_stay_apart(tmp_path):
    text = "id,text,annotator,group,label\n1,A b.,1,expert,good\n1,A b.,1,crowd,bad\n"
    found = [one for one in records(tmp_path, text) if isinstance(one, AnnotationRecord)]
    assert {(one.rater, one.rater_group) for one in found} == {("expert/1", "expert"), ("crowd/1", "crowd")}


def test_labels_of_a_checker(tmp_path):
    mapping = {"text": "text", "rater": "who", "label/tone": "tone", "prediction/gpt/tone": "gpt"}
    text = "text,who,tone,gpt\nA b.,anna,good,Bad\nA b.,ben,bad,bad\nC d.,anna,good,good\n"
    found = [one for one in records(tmp_path, text, mapping) if isinstance(one, SuggestionRecord)]
    assert {(one.checker, one.dimension) for one in found} == {("gpt", "tone")}
    assert [one.label for one in found] == ["bad", "good"]


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("id,text,score\n1,A b.,0.5\n1,C d.,0.5\n", "id", "is the id of another text on line 2"),
        ("id,text,score\n1,A b.,0.5\n1,A b.,0.6\n", "score", "differs from the score on line 2"),
        ("id,text,score\n1,A b.,x\n", "score", "not a number"),
        ("id,text,score\n1,A b.,1e400\n", "score", "not a number"),
        ("id,text,score\n1,A b.,inf\n", "score", "not a number"),
        ("id,text,score\n1,,0.1\n", "text", "is empty"),
    ],
)
def test_a_bad_row_is_told_and_the_rest_is_read(tmp_path, text, column, reason):
    mapping = {"id": "id", "text": "text", "score/m": "score"}
    found = records(tmp_path, text + "9,Last.,nan\n", mapping)
    [error] = [one for one in found if isinstance(one, RowError)]
    assert error.column == column and reason in error.reason and error.line
    assert "Last." in [one.text for one in found if isinstance(one, ClaimRecord)]


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({"text": "a", "colour": "b"}, "no role 'colour'"),
        ({"text": "a", "score": "b"}, "no role 'score'"),
        ({"text": "a", "score/": "b"}, "no role 'score/'"),
        ({"label/x": "a"}, "which column holds the text"),
        ({"text": "a", "label": "b"}, "the question's name"),
        ({"text": "a", "rater": "b", "label/x/y": "c"}, "not in both"),
        ({"text": "a", "label/x": "a"}, "two roles"),
        ({"text": "z"}, "missing columns: z"),
    ],
)
def test_roles_that_do_not_fit_are_refused(tmp_path, mapping, reason):
    with pytest.raises(FormatError, match=reason):
        records(tmp_path, "a,b,c\n1,2,3\n", mapping)


def test_the_label_set_is_what_the_file_says(tmp_path):
    found = label_set_of([table(tmp_path, SUMMARIES)], Options(mapping=roles_of(SUMMARIES)), "summaries")
    assert problems_of(found) == [] and found["page"] == "response"
    assert [(one["slug"], one["level"], [label["value"] for label in one["labels"]]) for one in found["questions"]] == [
        ("coherence", "interval", ["1", "2", "4", "5"]),
        ("fluency", "interval", ["3", "4", "5"]),
    ]
    many = "text,label\n" + "".join(f"Text {n}.,word {n}\n" for n in range(1_050))
    with pytest.raises(FormatError, match="at most 1,000 labels"):
        label_set_of([table(tmp_path, many)], Options(mapping={"text": "text", "label/label": "label"}), "many")
    plain = "text,label\nA b.,only\n"
    one = label_set_of([table(tmp_path, plain)], Options(mapping={"text": "text", "label/label": "label"}), "x")
    assert problems_of(json.loads(json.dumps(one))) == []


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1.0", "1"), ("1", "1"), ("0.50", "0.5"), (" Very Good ", "Very Good"), ("not-sure", "not-sure"), ("-1", "-1"),
     ("+1", "+1"), ("00", "00"), ("Ja", "Ja"), ("ليس", "ليس"), ("1e2", "100"), ("a|b", "a|b"), ("C#", "C#")],
)  # fmt: skip
def test_values_are_as_they_are_written_and_numbers_have_the_decimals_that_they_need(cell, value):
    assert label_value(cell) == value


def test_labels_and_questions_that_differ_in_marks_alone_stay_apart(tmp_path):
    text = "id,text,rater,criterion,label\n" + "".join(
        f"{number},T {number},ann,{question},{label}\n"
        for number, (question, label) in enumerate(
            [
                ("流暢さ", "<5"),
                ("流暢さ", "≥5"),
                ("一貫性", "👍"),
                ("一貫性", "👎"),
                ("Cohérence", "1_2"),
                ("Cohérence", "12"),
            ]
        )
    )
    mapping = {"id": "id", "text": "text", "rater": "rater", "question": "criterion", "label": "label"}
    made = label_set_of([table(tmp_path, text)], Options(mapping=mapping), "x")
    assert problems_of(made) == []
    assert {one["title"]: {each["title"] for each in one["labels"]} for one in made["questions"]} == {
        "流暢さ": {"<5", "≥5"}, "一貫性": {"👍", "👎"}, "Cohérence": {"1_2", "12"},
    }  # fmt: skip
    assert made["questions"][2]["slug"] == "coherence"
    assert len({tuple(one.items()) for one in said(records(tmp_path, text, mapping)).values()}) == 6


def test_what_is_known_of_a_text_is_kept_where_it_belongs(tmp_path):
    text = (
        "text,published,link,publisher,fold,who,timestamp,grade\n"
        "A b.,2024-05-31,https://a.org/1,A,test,ann,2024-06-01 10:00,good\n"
    )
    roles = {"text": "text", "rater": "who", "label/grade": "grade", "date": "published", "url": "link",
             "source": "publisher", "split": "fold", "time": "timestamp"}  # fmt: skip
    claim, said, assumed = records(tmp_path, text, roles)
    assert (assumed.kind, assumed.number) == ("zone", 1)
    assert (claim.date, claim.source) == (date(2024, 5, 31), "A")
    assert claim.metadata == {"url": "https://a.org/1", "split": "test"}
    assert said.submitted_at == datetime(2024, 6, 1, 10, tzinfo=UTC)
    guess = roles_of(text.replace(",who,", ",rater,"))
    assert {role: guess[role] for role in ("date", "url", "source", "split", "time")} == {
        role: roles[role] for role in ("date", "url", "source", "split", "time")
    }
    [error] = [one for one in records(tmp_path, text.replace("2024-05-31", "May"), roles) if isinstance(one, RowError)]
    assert (error.line, error.column, error.cells["fold"]) == (2, "published", "test")


MQM = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
A\tn1\t1\t7\trater1\tDer Hafen blieb zu.\tThe <v>port</v> stayed shut.\tAccuracy/Mistranslation\tMajor
A\tn1\t1\t7\trater1\tDer Hafen blieb zu.\tThe port stayed <v>shut.</v>\tFluency/Grammar\tMinor
A\tn1\t1\t7\trater2\tDer Hafen blieb zu.\tThe port stayed shut.\tNo-error\tno-error
A\tn1\t1\t7\trater3\tDer <v>Hafen</v> blieb zu.\tThe port stayed shut.\tAccuracy/Omission\tMajor
B\tn1\t1\t7\trater1\tDer Hafen blieb zu.\tShut.\tNo-error\tno-error
"""


def test_marks_in_texts_are_highlights(tmp_path):
    """As WMT's tables of MQM have them: a row per error, a text that is marked otherwise on each of its rows."""
    source = table(tmp_path, MQM, "mqm.tsv")
    rows = list(csv.DictReader(MQM.splitlines(), delimiter="\t"))
    roles = guess_roles(list(rows[0]), rows)
    assert roles == {
        "system": "system", "document": "seg_id", "rater": "rater", "context": "source", "marked": "target",
        "highlight": "severity", "row/category": "category",
    }  # fmt: skip
    found = list(get_format("ratings").read([source], Options(mapping=roles)))
    assert not [one for one in found if isinstance(one, RowError)]
    assert [(one.key, one.text) for one in found if isinstance(one, ResponseRecord)] == [
        ("7/A", "The port stayed shut."), ("7/B", "Shut."),
    ]  # fmt: skip
    assert [one.text for one in found if isinstance(one, QuestionRecord)] == ["Der Hafen blieb zu."]
    by_rater = {one.rater: one for one in found if isinstance(one, AnnotationRecord) and one.item == "7/A"}
    [errors] = by_rater["rater1"].judgements
    assert (errors.dimension, errors.label) == ("highlights", "marked")
    assert [(span.start, span.end, span.quote, span.label) for span in errors.spans] == [
        (4, 8, "port", "Major"), (16, 21, "shut.", "Minor"),
    ]  # fmt: skip
    assert by_rater["rater1"].metadata == {"row": {"category": ["Accuracy/Mistranslation", "Fluency/Grammar"]}}
    assert [one.label for one in by_rater["rater2"].judgements] == ["none"]
    # What is marked in the source alone is no error of the target's words, and no "none" either.
    assert by_rater["rater3"].judgements == ()
    assert by_rater["rater3"].metadata == {"row": {"category": ["Accuracy/Omission"], "source": [[[4, 9]]]}}
    made = label_set_of([source], Options(mapping=roles), "x")
    assert problems_of(made) == []
    assert [one["title"] for one in made["questions"][0]["spans"]["own_labels"]] == ["Major", "Minor"]
    nobody = {role: column for role, column in roles.items() if role != "rater" and not role.startswith("row/")}
    places = list(get_format("ratings").read([source], Options(mapping=nobody)))
    assert [(one.rater, len(one.judgements[0].spans) if one.judgements else None)
            for one in places if isinstance(one, AnnotationRecord) and one.item == "7/A"] == [
        ("place 1", 1), ("place 2", 1), ("place 3", 0), ("place 4", None),
    ]  # fmt: skip
    # Since 2023: a comment that ends the header, ids in other words, and a space at the end that somebody marked.
    newer = MQM.replace("doc_id\tseg_id", "docSegId\tglobalSegId").replace("severity\n", "severity\t# See the site.\n")
    newer = table(tmp_path, newer.replace("shut.</v>", "shut. </v>").replace("B\tn1\t1\t", "B\tn1\t2\t"), "newer.tsv")
    seen = preview(newer)
    assert guess_roles(seen.columns, seen.rows) == roles | {"document": "globalSegId"}
    again = list(get_format("ratings").read([newer], Options(mapping=guess_roles(seen.columns, seen.rows))))
    kept = [one for one in again if not isinstance(one, ResponseRecord)]
    assert kept == [one for one in found if not isinstance(one, ResponseRecord)]
    by_system = [row for row in rows if row["system"] == "A"][:2]  # the other systems come later in the file
    assert guess_roles(list(rows[0]), by_system) == roles
    many = [{"id": str(n), "model": "A", "summary": f"T{n}.", "fluency": str(n % 3), "rater": "r"} for n in range(200)]
    for rows_of_a, role in ((many, "document"), (many[:50], "id")):  # a longer file may have other systems
        assert guess_roles(list(many[0]), rows_of_a)[role] == "id"
    hashed = table(tmp_path, "text\twords\t# words\nA b.\t2\t2\n", "hashed.tsv")
    assert preview(hashed).columns == ("text", "words", "# words")
    broken = table(tmp_path, MQM.replace("port</v>", "port"), "broken.tsv")
    [error] = [one for one in get_format("ratings").read([broken], Options(mapping=roles)) if isinstance(one, RowError)]
    assert (error.line, error.column) == (2, "target") and "mark that is not closed" in error.reason


def test_results_of_mechanical_turk_need_no_further_word(tmp_path):
    """Their header names two columns for reviews that no row has; what workers answered is told from all the rest."""
    header = (
        "HITId,Reward,AssignmentId,WorkerId,WorkTimeInSeconds,Input.model,Input.source,Input.summary,Answer.Fluency"
    )
    rows = [f"H{n // 2},$0.10,A{n},W{n % 2},{60 + n},{'AB'[n // 2 % 2]},Text {n // 4}.,Short {n // 2}.,{n % 5 + 1}"
            for n in range(16)]  # fmt: skip
    source = table(tmp_path, "\n".join([header + ",Approve,Reject", *rows]))
    seen = preview(source)
    roles = guess_roles(seen.columns, seen.rows)
    assert roles == {
        "rater": "WorkerId", "system": "Input.model", "context": "Input.source", "text": "Input.summary",
        "label/fluency": "Answer.Fluency", "row/AssignmentId": "AssignmentId",
        "row/WorkTimeInSeconds": "WorkTimeInSeconds",
    }  # fmt: skip
    found = list(get_format("ratings").read([source], Options(mapping=roles)))
    assert not [one for one in found if isinstance(one, RowError)]
    answers = [one for one in found if isinstance(one, AnnotationRecord)]
    assert len(answers) == 16 and answers[3].metadata == {"row": {"AssignmentId": ["A3"], "WorkTimeInSeconds": ["63"]}}
    cut = table(tmp_path, "\n".join([header, *rows, "H9,$0.10"]), "cut.csv")
    [error] = [one for one in get_format("ratings").read([cut], Options(mapping=roles)) if isinstance(one, RowError)]
    assert error.line == 18 and "has 2 cells where the header has 9" in error.reason


def test_quotes_in_tables_with_tabs_may_be_plain_characters(tmp_path):
    """No row is taken for a part of another one, however quotes stand at the ends of cells."""
    cells = ['"Yes" she said', '"I came.', 'I saw."', 'A "b" c', '"one ""two"" three"', '"two\nlines"', 'b"']
    text = "id\ttext\twho\tlabel\n" + "".join(f"{n}\t{cell}\tann\tx\n" for n, cell in enumerate(cells))
    mapping = {"id": "id", "text": "text", "rater": "who", "label/label": "label"}
    found = list(get_format("ratings").read([table(tmp_path, text, "t.tsv")], Options(mapping=mapping)))
    expected = [*cells[:4], 'one "two" three', "two\nlines", 'b"']
    assert [one.text for one in found if isinstance(one, ClaimRecord)] == expected


def test_later_answers_are_later_revisions_whatever_the_order_of_rows(tmp_path):
    text = "text,who,grade,at\nA b.,ann,good,2024-06-02T10:00Z\nA b.,ann,bad,2024-06-01T10:00Z\n"
    found = records(tmp_path, text, {"text": "text", "rater": "who", "label/grade": "grade", "time": "at"})
    said = [one for one in found if isinstance(one, AnnotationRecord)]
    assert [(one.revision, one.judgements[0].label) for one in said] == [(1, "bad"), (2, "good")]


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ('t,who,s,e,q,k\n"a\r\nbc d",ann,3,5,bc,PER\n"a\r\nbc d",ann,6,7,,LOC\n"a\r\nbc d",ben,,,,\n',
         {"start": "s", "end": "e", "quote": "q", "highlight": "k"}),
        ('t,who,marks\n"a\r\nbc d",ann,"[[3, 5, ""PER""], {""start"": 6, ""end"": 7, ""label"": ""LOC""}]"\n'
         '"a\r\nbc d",ben,[]\n', {"spans": "marks"}),
    ],
)  # fmt: skip
def test_highlights_are_places_in_the_text_of_the_file(tmp_path, text, roles):
    """The file counts a line end as two characters; Assay counts it as one."""
    mapping = {"text": "t", "rater": "who", "label/grade": "grade"} | roles
    lines = text.replace("t,who,", "t,who,grade,", 1).replace(",ann,", ",ann,good,").replace(",ben,", ",ben,bad,")
    (tmp_path / "t.csv").write_bytes(lines.encode())
    source = SourceFile(tmp_path / "t.csv")
    claim, *people = get_format("ratings").read([source], Options(mapping=mapping))
    assert claim.text == "a\nbc d"
    by_rater = {
        one.rater: {said.dimension: said for said in one.judgements}
        for one in people
        if isinstance(one, AnnotationRecord)
    }
    marked = by_rater["ann"]["highlights"]
    assert marked.label == "marked" and by_rater["ben"]["highlights"].label == "none"
    assert [(span.start, span.end, span.quote, span.label) for span in marked.spans] == [
        (2, 4, "bc", "PER"), (5, 6, "d", "LOC"),
    ]  # fmt: skip
    made = label_set_of([source], Options(mapping=mapping), "x")
    assert problems_of(made) == []
    [spans] = [one["spans"] for one in made["questions"] if one["slug"] == "highlights"]
    assert [one["title"] for one in spans["own_labels"]] == ["LOC", "PER"]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [("9,12,", "not a position in the text"), ("0,1,b", "differs from the text"), (",,zz", "does not occur"),
     (",,a", "more than once"), ("x,2,", "whole numbers")],
)  # fmt: skip
def test_highlights_that_are_not_there_are_bad_rows(tmp_path, cells, reason):
    text = f"t,who,s,e,q\na b a,ann,{cells}\n"
    found = records(tmp_path, text, {"text": "t", "rater": "who", "start": "s", "end": "e", "quote": "q"})
    assert reason in next(one.reason for one in found if isinstance(one, RowError))


def test_a_quote_tells_what_its_offsets_count(tmp_path):
    """Characters, UTF-16 code units, or bytes."""
    said, quote = "😀é 日本 came.", "日本"
    places = [(3, 5), (4, 6), (7, 13)]
    rows = "".join(f"{n},{said},ann,{start},{end},{quote}\n" for n, (start, end) in enumerate(places))
    roles = {"id": "id", "text": "t", "rater": "who", "start": "s", "end": "e", "quote": "q"}
    found = records(tmp_path, f"id,t,who,s,e,q\n{rows}", roles)
    spans = [one.judgements[0].spans[0] for one in found if isinstance(one, AnnotationRecord)]
    assert [(span.start, span.end, span.quote) for span in spans] == [(3, 5, quote)] * 3


def test_a_model_may_highlight_beside_people_and_one_that_does_not_says_nothing(tmp_path):
    rows = "a b c,ann,,good,0,1,a,PER\na b c,,tagger,,2,3,b,LOC\na b c,,tagger,,0,1,a,PER\na b c,,nli,good,,,,\n"
    (tmp_path / "t.csv").write_text(f"t,who,model,grade,s,e,q,k\n{rows}", encoding="utf-8")
    roles = {"text": "t", "rater": "who", "checker": "model", "label/grade": "grade", "start": "s", "end": "e",
             "quote": "q", "highlight": "k"}  # fmt: skip
    source = SourceFile(tmp_path / "t.csv")
    found = list(get_format("ratings").read([source], Options(mapping=roles)))
    assert [one for one in found if isinstance(one, RowError)] == []
    said = {(one.checker, one.dimension): one for one in found if isinstance(one, SuggestionRecord)}
    assert said.keys() == {("tagger", "highlights"), ("nli", "grade")}
    marked = said["tagger", "highlights"]
    assert (marked.label, [(one.quote, one.label) for one in marked.spans]) == ("marked", [("a", "PER"), ("b", "LOC")])
    [spans] = [
        one["spans"] for one in label_set_of([source], Options(mapping=roles), "x")["questions"] if "spans" in one
    ]
    assert [one["title"] for one in spans["own_labels"]] == ["LOC", "PER"]


def test_models_may_stand_in_a_column_and_say_how_sure_they_are(tmp_path):
    text = (
        "id,who,model,grade,sure,score\n1,ann,,good,,\n1,,nli,good,0.9,\n1,,len,,,12.5\n2,ben,,bad,,\n"
        '2,,nli,bad,"{""good"": 0.3, ""bad"": 0.7}",\n'
    )
    roles = {"id": "id", "rater": "who", "checker": "model", "label/grade": "grade", "probability": "sure",
             "score": "score"}  # fmt: skip
    found = records(tmp_path, text, roles)
    assert [one for one in found if isinstance(one, RowError)] == []
    assert [one for one in found if isinstance(one, ScoreRecord)] == [ScoreRecord("1", "len", 12.5)]
    assert [one for one in found if isinstance(one, SuggestionRecord)] == [
        SuggestionRecord("1", "nli", "grade", "good", 0.9),
        SuggestionRecord("2", "nli", "grade", "bad", 0.7, {"good": 0.3, "bad": 0.7}),
    ]
    assert {one.rater for one in found if isinstance(one, AnnotationRecord)} == {"ann", "ben"}


def test_columns_of_probabilities_tell_the_label_where_no_column_does(tmp_path):
    text = "id,who,grade,p good,p bad\n1,ann,good,0.2,0.8\n2,ann,bad,0.6,1.4\n"
    roles = {"id": "id", "rater": "who", "label/grade": "grade", "probability/nli/grade/Good": "p good",
             "probability/nli/grade/bad": "p bad"}  # fmt: skip
    found = records(tmp_path, text, roles)
    assert [one for one in found if isinstance(one, SuggestionRecord)] == [
        SuggestionRecord("1", "nli", "grade", "bad", 0.8, {"good": 0.2, "bad": 0.8})
    ]
    assert [one.reason for one in found if isinstance(one, RowError)] == ["is not a probability from 0 to 1"]


@pytest.mark.parametrize("how", ["mapping", "columns"])
def test_a_scale_holds_labels_that_nobody_gave_and_no_others(tmp_path, how):
    text = "id,who,grade,low,high\n1,ann,2,1,5\n1,ben,3.5,1,5\n2,ann,6,1,5\n"
    roles = {"id": "id", "rater": "who", "label/grade": "grade"}
    ends = {"least": "low", "most": "high"} if how == "columns" else {}
    options = Options(mapping=roles | ends, ranges={} if ends else {"grade": "1 to 5"})
    made = label_set_of([table(tmp_path, text)], options, "x")
    assert [one["value"] for one in made["questions"][0]["labels"]] == ["1", "2", "3", "3.5", "4", "5"]
    found = list(get_format("ratings").read([table(tmp_path, text)], options))
    assert [one.reason for one in found if isinstance(one, RowError)] == ["is outside the scale from 1 to 5"]
