"""Rankings of outputs as task types describe them: which there are on a page, what they say of two outputs, and which
answers are refused."""

import pytest

from annotation.formats.records import ComparisonRecord, QuestionRecord
from annotation.models import Revision
from annotation.task_types import task_type
from tests.factories import make_dataset, make_project, make_user
from tests.kinds import bring_in
from tests.work.browser import Annotator

THREE = ("output_a", "output_b", "output_c")


@pytest.mark.parametrize(
    ("kind", "n"), [("ranking/-/1", 6), ("ranking/ties/1", 13), ("ranking/best-worst/1", 6), ("preference/-/1", 5)]
)
def test_a_page_has_the_labels_of_its_outputs_in_its_order(kind, n):
    description = task_type(kind).on_page({*THREE, "question"}, ("output_c", "output_a", "output_b"))
    dimension = description.comparing
    assert len(dimension.labels) == n
    assert description.shuffled.names == {"output_c": "Output 1", "output_a": "Output 2", "output_b": "Output 3"}
    first = dimension.shown_labels[0]
    assert first.value[0] == "c" and first.title.startswith("Output 1")


@pytest.mark.parametrize(
    ("kind", "value", "orders"),
    [
        ("ranking/-/1", "b-c-a", (-1, -1, 1)),
        ("ranking/ties/1", "b-a.c", (-1, 0, 1)),
        ("ranking/best-worst/1", "b-_-c", (-1, 1, 1)),
        ("preference/-/1", "b", (-1, None, 1)),
        ("preference/-/1", "tie", (None, None, None)),
    ],
)
def test_what_a_label_says_of_two_outputs(kind, value, orders):
    label = task_type(kind).comparing.label(value)
    pairs = (("output_a", "output_b"), ("output_a", "output_c"), ("output_b", "output_c"))
    assert tuple(label.compares(*pair) for pair in pairs) == orders
    assert [label.compares(other, one) for one, other in pairs] == [None if one is None else -one for one in orders]


@pytest.mark.django_db
def test_an_answer_that_is_no_ranking_of_the_page_is_refused():
    dataset, user = make_dataset(), make_user()
    outputs = dict(zip(THREE, ("One.", "Two.", "Three."), strict=True))
    bring_in(dataset, [QuestionRecord("q", "Which?"), ComparisonRecord("c", "q", **outputs)])
    ann = Annotator(user, make_project(dataset, "ranking/-/1", overlap=1, annotators=[user]))
    payload = ann.next()["payload"]
    [unit] = payload["units"]

    def send(value: str):
        return ann.submit(payload, [{"unit": unit, "dimension": "ranking", "label": value, "spans": []}])

    for value in ("a-b", "a-a-b", "a-b-d", "a-b.c", "c-b-a-d", "a-_-b", "tie", ""):
        answer = send(value)
        assert answer.status_code == 422 and "no such label" in answer.json()["errors"][0]["message"], value
    assert not Revision.objects.exists()
    assert send("c-a-b").status_code == 200
