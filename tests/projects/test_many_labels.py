"""Label sets of many labels: the limit by number, groups, and the form that takes them as lines."""

import json

import pytest

from annotation.models import LabelSet
from annotation.task_types.label_sets import LabelSetError, canonical, description_of, task_type_of
from tests.factories import make_user
from tests.world import client_of


def many(n: int, page: str = "claim", n_questions: int = 1) -> dict:
    labels = [{"value": f"v{place}", "title": f"Label {place}", "group": f"Group {place // 10}"} for place in range(n)]
    questions = [
        {"slug": f"q{place}", "title": f"Q{place}", "level": "nominal", "labels": labels}
        for place in range(n_questions)
    ]
    return {"name": "Many", "version": 1, "page": page, "summary": "", "questions": questions}


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (many(1_001), "has 1,001 labels; a question has 2 to 1,000"),
        (many(600, n_questions=2), "has 1,200 labels in all; a label set has at most 1,000"),
        # Each piece of an answer shows all labels.
        (many(41, "triplets"), "has 41 labels; a question on the page triplets has 2 to 40"),
    ],
)
def test_the_limit_is_stated_by_number(description, words):
    with pytest.raises(LabelSetError) as refused:
        task_type_of(description)
    assert any(words in reason for _, reason in refused.value.problems)


def test_groups_are_part_of_the_label_set_and_others_keep_their_hash():
    kind = task_type_of(many(1_000))
    assert kind.dimensions[0].has_many_labels and kind.dimensions[0].labels[15].group == "Group 1"
    again = description_of(kind, "claim", "Many")
    assert task_type_of(again).identifier == kind.identifier
    plain = many(3)
    for label in plain["questions"][0]["labels"]:
        del label["group"]
    assert "group" not in canonical(description_of(task_type_of(plain), "claim", "Many"))


@pytest.mark.django_db
def test_the_form_takes_lines_and_gives_them_back():
    client = client_of(make_user("rosa", is_staff=True))
    lines = "# Cards\nCard arrival\tcard_arrival\tA card that has not come\n" + "\n".join(
        f"Intent {place}" for place in range(75)
    )
    said = {"name": "Banking", "page": "claim", "questions.1.title": "Intent", "questions.1.level": "nominal"}
    made = client.post("/label-sets/new/", said | {"questions.1.lines": lines + "\n#\nOther"})
    assert made.status_code == 302, made.content.decode()
    [label_set] = LabelSet.objects.all()
    labels = label_set.description["questions"][0]["labels"]
    assert len(labels) == 77 and labels[0] == {
        "value": "card_arrival", "title": "Card arrival", "hint": "A card that has not come", "group": "Cards",
    }  # fmt: skip
    assert "group" not in labels[-1] and labels[1]["group"] == "Cards"
    edited = client.get(f"{made['Location']}next/").content.decode()
    assert "Card arrival\tcard_arrival\tA card that has not come" in edited
    assert "questions.1.labels.1.title" not in edited and len(edited) < 60_000
    wrong = client.post("/label-sets/new/", said | {"questions.1.lines": lines + "\nCard arrival"})
    assert wrong.status_code == 422 and "wo labels have the title" in wrong.content.decode()
    too_many = "\n".join(f"Intent {place}" for place in range(1_500))
    refused = client.post("/label-sets/new/", said | {"questions.1.lines": too_many})
    assert "a question has 2 to 1,000" in refused.content.decode() and LabelSet.objects.count() == 1
    json.dumps(label_set.description)
