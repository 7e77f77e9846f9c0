"""Labels of a tool's files that differ only in their spelling."""

import json

from annotation.formats import Options
from annotation.formats.records import AnnotationRecord, LostRecord
from annotation.formats.tools.label_studio import reading as label_studio

from ..helpers import put


def task(number: int, label: str) -> dict:
    result = {"from_name": "country", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"id": number, "data": {"text": f"Text {number}."}, "annotations": [{"completed_by": 1, "result": [result]}]}


def read(tmp_path, *labels: str) -> list:
    source = put(tmp_path, "tasks.json", json.dumps([task(n, label) for n, label in enumerate(labels, 1)]))
    made = label_studio.label_set_of([source], Options(), "Set")
    return list(label_studio.read([source], Options(label_set=made)))


def test_labels_that_differ_in_case_are_two_and_those_that_become_one_are_listed(tmp_path):
    records = read(tmp_path, "US", "us", "2", "2.0", "US")
    said = [one.judgements[0].label for one in records if isinstance(one, AnnotationRecord)]
    assert said == ["US", "us", "2", "2", "US"]
    lost = [(one.what, one.number) for one in records if isinstance(one, LostRecord)]
    assert lost == [("Spellings that become one label (country: 2, 2.0)", 2)]
