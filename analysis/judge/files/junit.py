"""Verdicts on judges as JUnit XML, which build servers read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from analysis.judge.baseline import Change, change_sentence

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(file: str, every: Sequence[dict], changes: Sequence[Change]) -> str:
    """A test case for each judge, which fails unless it is usable, and with a baseline one that fails where the verdict
    got worse. `every` are the verdicts as JSON has them."""
    suite = ElementTree.Element("testsuite", name="assay judge")
    properties = ElementTree.SubElement(suite, "properties")
    for one in every:
        print_of = one.get("fingerprint", {})
        for name, value in ({"data": print_of.get("data", "")} | print_of.get("judge", {})).items():
            ElementTree.SubElement(properties, "property", name=_text(f"{one['judge']}.{name}"), value=_text(value))
    cases = [(f"{one['judge']} is usable", one["sentence"], not one.get("passes")) for one in every]
    cases += [
        (f"{one.judge} is not worse than the baseline", change_sentence(one), bool(one.is_worse)) for one in changes
    ]
    for name, sentence, failed in cases:
        case = ElementTree.SubElement(suite, "testcase", classname=_text(file), name=_text(name))
        if failed:
            ElementTree.SubElement(case, "failure", message=_text(sentence))
        else:
            ElementTree.SubElement(case, "system-out").text = _text(sentence)
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(failed for *_, failed in cases)))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _text(text: str) -> str:
    """Without characters that XML cannot hold."""
    return NOT_XML.sub("\ufffd", str(text))
