"""Every way in which a description can miss what the rest of the house has is told at start, by name."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.checks import run_checks

from annotation import task_types
from annotation.task_types import Condition, Derived, Label, Metric, SpanRule, keys, task_type
from annotation.work.queries.contents import CONTENTS
from annotation.work.queries.pages import load_page
from config.task_type_checks import PAGE_KEYS, problems_among, problems_of
from tests.kinds import make_kind_project

TEMPLATES = Path(__file__).parent.parent / "templates/annotation"
SIX = task_type("claim-evidence/six-way/1")
COVERAGE = task_type("aspect-coverage/-/1")
GRADE = task_type("answer-grade/-/1")


def with_dimension(description, slug, /, **changes):
    dimensions = [replace(one, **changes) if one.slug == slug else one for one in description.dimensions]
    return replace(description, dimensions=tuple(dimensions))


def labelled(*labels):
    return with_dimension(COVERAGE, "coverage", labels=labels, spans=None)


def spans(description, dimension, **changes):
    return with_dimension(description, dimension, spans=replace(description.dimension(dimension).spans, **changes))


def measured(description, **changes):
    return replace(description, metrics=(replace(description.metrics[0], **changes),))


YES, NO = Label("yes", "Yes", key="y"), Label("no", "No", key="n")
OUTCOME = GRADE.dimensions[0].derived[0]
TEN = tuple(Label(f"l{number}", f"L{number}") for number in range(10))

BROKEN = {
    "has no 'evidences'": replace(SIX, contents="evidences"),
    "are not those of a evidence": replace(SIX, contents="pair"),
    "no kind of unit 'passage'": replace(SIX, anchor_kind="passage"),
    "UNITS_OF does not say": replace(SIX, unit_kind="triplet", units_title="Triplets"),
    "UNIT_TEXTS has no words": replace(COVERAGE, unit_kind="pair"),
    "an item has one unit": replace(SIX, units_title="Evidence"),
    "units_title says": replace(COVERAGE, units_title=""),
    "not one of question, claim": replace(COVERAGE, anchor_parent="triplet"),
    "takes spans in 'passage-*'; the page has claim, evidence": spans(SIX, "stance", fields=("passage-*",)),
    "takes spans in 'evidenc'": spans(SIX, "stance", fields=("evidenc",)),
    "cannot look up 'answer-1'": replace(
        GRADE, dimensions=(replace(GRADE.dimensions[0], spans=SpanRule(("answer-1",), "Where")),)
    ),
    "takes spans for unknown labels: refute": spans(SIX, "stance", labels=("refute",)),
    "needs the template": replace(SIX, template="annotation/tasks/no.html"),
    "LAYOUTS has no 'tsv'": replace(SIX, export_layout="tsv"),
    "is for triplet units": replace(SIX, export_layout="responses"),
    "needs a dimension with the role stance": with_dimension(SIX, "stance", role="entailment"),
    "unknown checker 'oracle'": replace(SIX, checkers=("oracle",)),
    "has the role 'mood'": with_dimension(SIX, "stance", role="mood"),
    "no dimension has a role": with_dimension(COVERAGE, "coverage", role=""),
    "READERS does not say": replace(task_type("nli/atomic-claim/1"), checkers=("lexical",)),
    "depending on 'mood'": with_dimension(SIX, "stance", asked_when=Condition("mood", ("good",))),
    "no dimension before it": replace(SIX, dimensions=tuple(reversed(SIX.dimensions))),
    "so never": with_dimension(SIX, "stance", asked_when=Condition("relevance", ())),
    "unknown labels of relevance: maybe": with_dimension(SIX, "stance", asked_when=Condition("relevance", ("maybe",))),
    "has the level 'cardinal'": with_dimension(SIX, "stance", level="cardinal"),
    "has the level interval, and": with_dimension(SIX, "stance", level="interval"),
    "two dimensions are called relevance": replace(SIX, dimensions=(SIX.dimensions[0], *SIX.dimensions)),
    "two dimensions have the title": with_dimension(SIX, "stance", title="Relevance"),
    "a project's to set": with_dimension(SIX, "relevance", is_hidden=True),
    "not a name of a dimension": with_dimension(SIX, "stance", slug="a/b"),
    "asks nothing": replace(SIX, dimensions=(), metrics=()),
    "less than two labels": labelled(YES),
    "has the label yes twice": labelled(YES, replace(YES, title="Ja", key="j")),
    "has two labels “Yes”": labelled(YES, replace(NO, title="Yes")),
    "not a name of letters": labelled(YES, replace(NO, value="no no")),
    "which is not between -1 and 1": labelled(YES, replace(NO, polarity=-2.0)),
    "digits pick 9": with_dimension(SIX, "stance", labels=TEN, asked_when=None),
    "needs a key of its own": labelled(YES, replace(NO, key="")),
    "is the page's own": labelled(YES, replace(NO, key="s")),
    "the key '3' of no": labelled(YES, replace(NO, key="3")),
    "not one small character": labelled(YES, replace(NO, key="no")),
    "two labels have the key 'y'": labelled(YES, replace(NO, key="y")),
    "does not say once for each label": with_dimension(GRADE, "grade", derived=(replace(OUTCOME, of=OUTCOME.of[1:]),)),
    "makes unknown labels: wrong": with_dimension(
        GRADE, "grade", derived=(replace(OUTCOME, of=(*OUTCOME.of[:3], ("missing", "wrong"))),)
    ),
    "has two outcome": with_dimension(GRADE, "grade", derived=(OUTCOME, OUTCOME)),
    "outcome of grade has less than two labels": with_dimension(
        GRADE,
        "grade",
        derived=(
            Derived(
                "outcome",
                "Outcome",
                (Label("any", "Any"),),
                tuple((value, "any") for value in GRADE.dimensions[0].values),
            ),
        ),
    ),  # fmt: skip
    "which is no dimension": measured(SIX, dimension="mood"),
    "is ordinal; the labels of relevance have no order": measured(SIX, level="ordinal"),
    "has the level 'hierarchical'": measured(SIX, level="hierarchical"),
    "is ratio; the labels of relevance have no order": measured(SIX, level="ratio"),
    "which relevance does not have": measured(SIX, derived="outcome"),
    "as a label of its own": replace(SIX, metrics=(Metric("x", "stance", missing_as="refutes"),)),
    "keys_pick is 'spans'": replace(SIX, keys_pick="spans"),
    "the first is 1": replace(SIX, version=0),
    "not a name of letters, digits, - and _": replace(SIX, variant="six/way"),
    "more than 80 characters": replace(SIX, variant="x" * 80),
}


@pytest.mark.parametrize("words", BROKEN)
def test_a_broken_description_is_told(words):
    found = problems_of(BROKEN[words])
    assert any(words in problem for problem in found), found
    assert all(problem.startswith(BROKEN[words].identifier) for problem in found)


def test_what_the_house_has_is_whole():
    assert [problem for one in task_types.every_task_type() for problem in problems_of(one)] == []
    assert list(problems_among(task_types.every_task_type())) == []


def test_two_types_need_two_names_and_two_titles():
    other = replace(SIX, variant="seven-way")
    assert "have the title" in "".join(problems_among((SIX, other)))
    assert list(problems_among((SIX, replace(SIX, version=2)))) == []  # a version takes the title over
    assert "are called" in "".join(problems_among((SIX, SIX)))


def test_django_tells_at_start(monkeypatch):
    assert [error for error in run_checks() if error.id == "assay.E001"] == []
    wrong = replace(SIX, contents="nothing", variant="x")
    monkeypatch.setitem(task_types.TASK_TYPES.entries, wrong.identifier, wrong)
    told = "\n".join(error.msg for error in run_checks() if error.id == "assay.E001")
    assert "claim-evidence/x/1: CONTENTS has no 'nothing'" in told and "have the title" in told


def test_both_pages_take_their_keys_from_one_table():
    """A key has one action on both pages, which its button names; what labels may not have is what labelling has."""
    labelling, desk = keys.actions_of(keys.LABELLING), keys.actions_of(keys.DESK)
    assert all(desk[key] == action for key, action in labelling.items() if key in desk)
    assert {key for key in labelling if len(key) == 1} | set("0123456789") == PAGE_KEYS
    # `n` is a label of aspects and `o` a view: neither reveals nor records anything at the desk.
    assert not {"n", "o"} & set(desk) and {desk["x"], desk["v"]} == {"without", "reveal"}
    for folder, table in (("work", labelling), ("adjudication", desk)):
        pages = "".join(path.read_text("utf-8") for path in (TEMPLATES / folder).glob("*.html"))
        buttons = re.findall(r'data-do="(\w+)"[^>]* aria-keyshortcuts="([^"{]+)"', pages)
        assert len(buttons) > 4
        assert [(action, key) for action, key in buttons if table[key] != action] == []
    lists = [keys.shortcuts_of(SIX, page) for page in (keys.LABELLING, keys.DESK)]
    assert [any("flag" in line["words"] for line in lines) for lines in lists] == [True, False]


@pytest.mark.django_db
@pytest.mark.parametrize("identifier", [one.identifier for one in task_types.every_task_type()])
def test_pages_have_the_texts_that_their_contents_name(identifier):
    description = task_type(identifier)
    project = make_kind_project(identifier)
    named = CONTENTS[description.contents].fields
    for item in project.items.all():
        texts = load_page(item.pk, description).contents.texts
        for name in named:
            if not name.endswith("*"):
                assert name in texts
        assert all(any(re.fullmatch(one.replace("*", r"(?:\d+|[a-e])"), text) for one in named) for text in texts)
