"""Small tables with columns of people and models: what is guessed of them, by names and shared labels."""

import pytest

from annotation.formats.tables.guessing.columns import columns_of
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.mapping import Preview

TEXTS = [f"The river froze in {year}." for year in range(1900, 1920)]
GIVEN = ["good", "bad", "fair", "good"] * 5


def table(header: str, labels=GIVEN) -> list[dict]:
    """A row per text: its id and words in the columns of these names, and labels, shifted by column, in the others."""
    rows = []
    for place, text in enumerate(TEXTS):
        row = {}
        for number, column in enumerate(header.split(",")):
            known = {"text": text, "model": "ab"[place % 2]}
            is_id = column in ("id", "text_id", "item")
            row[column] = f"t{place}" if is_id else known.get(column, labels[(place + number) % len(labels)])
        rows.append(row)
    return rows


def roles(header: str, **more) -> dict[str, str]:
    return guess_roles(header.split(","), table(header, **more))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            "text_id,text,ann_1,ann_2,ann_3",
            {"id": "text_id", "text": "text"} | {f"label/label/ann_{n}": f"ann_{n}" for n in (1, 2, 3)},
        ),
        ("id,text,human,judge", {"label/label/human": "human", "prediction/judge/label": "judge"}),
        ("id,h1,h2,judge", {"label/label/h1": "h1", "label/label/h2": "h2", "prediction/judge/label": "judge"}),
        ("id,human_label,gpt-4_label", {"label/label/human": "human_label", "prediction/gpt-4/label": "gpt-4_label"}),
        ("item,label,llm", {"id": "item", "label/label": "label", "prediction/llm/label": "llm"}),
        (
            "id,text,human_tone,llama3_tone",
            {"label/tone/human": "human_tone", "prediction/llama3/tone": "llama3_tone"},
        ),
        ("id,text,model,ann_1,ann_2", {"system": "model", "label/label/ann_1": "ann_1", "label/label/ann_2": "ann_2"}),
        ("id,text,judge_1,judge_2", {"label/label/judge_1": "judge_1", "label/label/judge_2": "judge_2"}),
        ("id,text,ann_1,judge_1", {"label/label/ann_1": "ann_1", "prediction/judge_1/label": "judge_1"}),
    ],
)  # fmt: skip
def test_columns_of_people_and_models(header, expected):
    found = roles(header)
    assert {role: found.get(role) for role in expected} == expected
    assert "rater" not in found and set(found) <= {*expected, "id", "text"}


def test_columns_that_share_no_label_are_no_raters():
    rows = [row | {"judge": f"j{place % 3}"} for place, row in enumerate(table("id,text,human,judge"))]
    found = guess_roles(list(rows[0]), rows)
    assert found["rater"] == "judge" and "label/human" in found


def test_a_column_of_raters_wins_over_columns_that_sound_like_people():
    rows = [row | {"annotator": f"a{place % 3}"} for place, row in enumerate(table("id,text,human,judge"))]
    found = guess_roles(list(rows[0]), rows)
    assert found["rater"] == "annotator" and not any(role.count("/") > 1 for role in found)


def test_a_model_beside_a_row_per_label_answers_its_question():
    rows = [
        {"annotator": who, "text_id": f"t{place}", "rating": GIVEN[place - n], "gpt4_label": GIVEN[place]}
        for place in range(20)
        for n, who in enumerate(("ada", "ben"))
    ]
    assert guess_roles(list(rows[0]), rows) == {
        "rater": "annotator",
        "id": "text_id",
        "label/rating": "rating",
        "prediction/gpt4/rating": "gpt4_label",
    }


def test_a_label_may_have_more_values_than_other_columns():
    many = [f"label {number}" for number in range(15)] + [f"label {number}" for number in range(5)]
    assert roles("text_id,text,label", labels=many)["label/label"] == "label"
    assert "label/kind" not in roles("text_id,text,kind", labels=many)


def test_the_line_says_how_the_columns_are_read():
    rows = table("id,text,human,judge")
    guess = columns_of(Preview("t.csv", "delimited", tuple(rows[0]), tuple(rows), ()))
    assert guess.format == "ratings" and guess.names_raters
    assert guess.line == (
        "Columns read as: Texts from text, ids from id. 1 rater with a column of their own: human. 1 question: label. "
        "1 column of a checker's labels: judge."
    )
    claims = [{"claim": "The river froze.", "evidence": "It was cold."}]
    guess = columns_of(Preview("c.csv", "delimited", ("claim", "evidence"), tuple(claims), ()))
    assert guess.format == "table" and guess.line == (
        "Columns read as: Claim from claim, evidence from evidence. Rows with the same text in claim are one claim."
    )


def test_where_evidence_is_from_is_no_label_of_it():
    columns = ("claim_id", "claim", "evidence_id", "evidence", "source")
    lines = (
        ("c1", "The bridge opened in 1932.", "e1", "The Harbour Bridge was opened in March 1932.", "encyclopedia"),
        ("c1", "The bridge opened in 1932.", "e2", "Trains cross it, too.", "blog"),
        ("c2", "Tea is grown in Iceland.", "e3", "China and India grow most of the world's tea.", "news"),
        ("c3", "Cats are reptiles.", "e4", "Cats are mammals.", "encyclopedia"),
    )
    rows = [dict(zip(columns, line, strict=True)) for line in lines]
    guess = columns_of(Preview("c.csv", "delimited", columns, tuple(rows), ()))
    assert guess.chosen.layout == "claim-evidence" and "source" not in guess.chosen.mapping.values()
