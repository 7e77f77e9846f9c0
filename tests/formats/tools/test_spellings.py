"""Labels of a tool's files that differ only in their spelling."""

import json

from annotation.formats import Options
from annotation.formats.records import LostRecord
from annotation.formats.tools.label_studio import reading as label_studio

from ..helpers import put


def task(number: int, label: str) -> dict:
    result = {"from_name": "country", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"id": number, "data": {"text": f"Text {number}."}, "annotations": [{"completed_by": 1, "result": [result]}]}


def test_labels_that_differ_in_case_are_listed(tmp_path):
    source = put(tmp_path, "tasks.json", json.dumps([task(1, "US"), task(2, "us"), task(3, "DE"), task(4, "US")]))
    made = label_studio.label_set_of([source], Options(), "Set")
    records = list(label_studio.read([source], Options(label_set=made)))
    lost = [(one.what, one.number) for one in records if isinstance(one, LostRecord)]
    assert lost == [("Spellings that become one label (country: US, us)", 2)]
