"""INCEpTION's documents, made by the library that reads them elsewhere: what comes in, what is listed, and what is
refused."""

import io
import json
import zipfile

import pytest
from cassis import Cas, TypeSystem

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import AnnotationRecord, ClaimRecord, DecisionRecord, LostRecord, SpanRecord
from annotation.formats.tools.inception import documents
from annotation.task_types.label_sets import problems_of
from tests.formats.helpers import errors, of, put

TEXT = "Ada 👩🏽‍🔬 met Bo in Köln."
NER = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
ADA, BO, PLACE = (0, 8), (13, 15), (19, 23)


def types() -> TypeSystem:
    made = TypeSystem()
    string, annotation = "uima.cas.String", "uima.tcas.Annotation"
    made.create_type(TOKEN, annotation)
    made.create_feature(made.create_type(NER, annotation), "value", string)
    role = made.create_type("webanno.custom.Role", annotation)
    made.create_feature(role, "kind", string)
    made.create_feature(role, "sure", "uima.cas.Boolean")
    made.create_feature(role, "links", "uima.cas.FSArray")
    relation = made.create_type("webanno.custom.Knows", annotation)
    for end in ("Governor", "Dependent"):
        made.create_feature(relation, end, role)
    made.create_type("webanno.custom.Nice", annotation)
    made.create_feature(made.create_type("webanno.custom.Tone", "uima.cas.AnnotationBase"), "value", string)
    return made


def cas(text: str = TEXT, *, tone: str = "", spans=((*ADA, "PER"), (*PLACE, "LOC")), more: bool = False) -> Cas:
    made = Cas(typesystem=types())
    made.sofa_string, made.sofa_mime = text, "text/plain"

    def add(name: str, **features):
        found = made.typesystem.get_type(name)(**features)
        made.add(found)
        return found

    add(TOKEN, begin=0, end=3)
    for start, end, label in spans:
        add(NER, begin=start, end=end, value=label)
    if tone:
        add("webanno.custom.Tone", value=tone)
    if more:
        one = add("webanno.custom.Role", begin=ADA[0], end=ADA[1], kind="guest", sure=True)
        other = add("webanno.custom.Role", begin=BO[0], end=BO[1], kind="host")
        one.links = made.typesystem.get_type("uima.cas.FSArray")(elements=[other])
        add("webanno.custom.Knows", begin=0, end=3, Governor=one, Dependent=other)
        add("webanno.custom.Nice", begin=BO[0], end=BO[1])
        add(NER, begin=BO[0], end=BO[1])
    return made


def xmi_zip(name: str, made: Cas) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(f"{name}.xmi", made.to_xmi())
        archive.writestr("TypeSystem.xml", made.typesystem.to_xml())
    return out.getvalue()


def project(tmp_path, files: dict[str, bytes | str], name: str = "project.zip") -> SourceFile:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("exportedproject123.json", "{}")
        archive.writestr("source/a.txt", TEXT)
        for entry, content in files.items():
            archive.writestr(entry, content)
    return SourceFile(path, name)


def read(*sources: SourceFile) -> tuple[dict, list]:
    known = get_format("inception")
    made = known.label_set_of(list(sources), Options(), "sample")
    assert not made or problems_of(made) == []
    return made, list(known.read(list(sources), Options(label_set=made)))


def spans_of(found: list) -> dict[tuple[str, str], list[tuple]]:
    return {
        (one.rater, each.dimension): [(span.start, span.end, span.quote, span.label) for span in each.spans]
        for one in of(found, AnnotationRecord)
        for each in one.judgements
    }


@pytest.mark.parametrize("kind", ["json", "xmi"])
def test_a_project_with_two_annotators_and_a_curation(tmp_path, kind):
    def file(name: str, made: Cas) -> dict:
        return (
            {f"{name}.json": made.to_json()} if kind == "json" else {f"{name}.zip": xmi_zip(name.split("/")[-1], made)}
        )

    source = project(
        tmp_path,
        file("annotation/a.txt/ada", cas(tone="kind", more=True))
        | file("annotation/a.txt/ben", cas(tone="cold", spans=((*ADA, "PER"),)))
        | file("annotation/a.txt/INITIAL_CAS", cas(spans=()))
        | file("annotation/b.txt/ben", cas("No one.", spans=()))
        | file("curation/a.txt/CURATION_USER", cas(tone="kind")),
    )
    assert detect(source.path, source.name) == "inception"
    made, found = read(source)
    assert errors(found) == []
    assert {(one.key, one.text) for one in of(found, ClaimRecord)} == {("a.txt", TEXT), ("b.txt", "No one.")}
    said = spans_of(found)
    assert said["ada", "namedentity"] == [(*ADA, "Ada 👩🏽‍🔬", "PER"), (*PLACE, "Köln", "LOC")]
    assert said["ben", "namedentity"] == []  # of b.txt, the last that is said of anything
    by_slug = {slug: spans for (rater, slug), spans in said.items() if rater == "ada"}
    assert [len(by_slug[slug]) for slug in by_slug if slug.startswith("role_")] == [2, 1]
    assert by_slug["nice"] == [(*BO, "Bo", "marked")]
    tones = {
        (one.item, one.rater): each.label
        for one in of(found, AnnotationRecord)
        for each in one.judgements
        if each.dimension == "tone"
    }
    assert tones == {("a.txt", "ada"): "kind", ("a.txt", "ben"): "cold"}
    decisions = {(one.unit, one.dimension): one for one in of(found, DecisionRecord)}
    assert decisions["a.txt", "tone"].label == "kind" and decisions["a.txt", "namedentity"].label == "marked"
    assert [(span.quote, span.label) for span in decisions["a.txt", "namedentity"].spans] == [
        ("Ada 👩🏽‍🔬", "PER"), ("Köln", "LOC"),
    ]  # fmt: skip
    lost = {one.what: one.number for one in of(found, LostRecord)}
    assert lost == {
        "Links and other features that are no word (Role.links)": 1,
        "Passages without a label (NamedEntity)": 1,
        "Relations (Knows)": 1,
    }


def test_curated_documents_alone_are_what_somebody_marked(tmp_path):
    _, found = read(project(tmp_path, {"curation/a.txt/CURATION_USER.json": cas().to_json()}))
    assert [len(spans) for spans in spans_of(found).values()] == [2]
    assert [one.rater for one in of(found, AnnotationRecord)] == ["CURATION_USER"]


def test_single_documents_and_an_unpacked_export(tmp_path):
    alone = put(tmp_path, "letter.json", cas().to_json())
    assert detect(alone.path, "letter.json") == "inception"
    _, found = read(alone)
    assert [one.key for one in of(found, ClaimRecord)] == ["letter"]
    assert [one.rater_kind for one in of(found, AnnotationRecord)] == ["slot"]
    xmi = put(tmp_path, "letter.xmi", cas().to_xmi())
    assert (
        "give the TypeSystem.xml along with it"
        in errors(list(get_format("inception").read([xmi], Options())))[0].reason
    )
    _, found = read(xmi, put(tmp_path, "TypeSystem.xml", types().to_xml()))
    assert [len(spans) for spans in spans_of(found).values()] == [2]
    folder = tmp_path / "annotation" / "a.txt"
    folder.mkdir(parents=True)
    (folder / "ada.json").write_text(cas().to_json())
    _, found = read(SourceFile(folder / "ada.json", "a.txt/ada.json"))
    assert [(one.item, one.rater) for one in of(found, AnnotationRecord)] == [("a.txt", "ada")]


def test_line_ends_of_windows_move_no_passage(tmp_path):
    text = "One.\r\n😀 Two."
    made = cas(text, spans=((6, 11, "NUM"),))
    _, found = read(put(tmp_path, "a.json", made.to_json()))
    [[span]] = spans_of(found).values()
    assert span == (5, 10, "😀 Two", "NUM") and of(found, ClaimRecord)[0].text == "One.\n😀 Two."


HOSTILE = "x=None): pass\nimport os; os.abort()\ndef f(a"
XXE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><x>&e;</x>'


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"a.json": "{"}, "is not readable JSON"),
        ({"a.json": '{"_views": {}, "_referenced_fss": {}}'}, "is UIMA's older JSON"),
        ({"a.json": '{"%TYPES": {}, "%FEATURE_STRUCTURES": 3}'}, "is no UIMA CAS JSON"),
        ({"a.json": '{"%TYPES": {}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "a.B"}]}'}, "cannot be read"),
        (
            {"a.json": json.dumps({"%TYPES": {"a.B": {"%SUPER_TYPE": "uima.cas.TOP", HOSTILE: {"%RANGE": "x"}}}})[:-1]
             + ', "%FEATURE_STRUCTURES": []}'},
            "is not a name of a feature",
        ),
        ({"a.json": '{"%TYPES": {"a b": {}}, "%FEATURE_STRUCTURES": []}'}, "is not a name of a type"),
        ({"a.xmi": XXE, "TypeSystem.xml": types().to_xml()}, "has a document type or entities"),
        ({"a.xmi": cas().to_xmi(), "TypeSystem.xml": XXE}, "has a document type or entities"),
        ({"a.xmi": "<x", "TypeSystem.xml": types().to_xml()}, "is not readable XML"),
        ({"a.json": cas(" ", spans=()).to_json()}, "is empty"),
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_read_is_one_bad_row_and_the_others_come_in(tmp_path, files, reason):
    good = {"annotation/b.txt/ada.json": cas().to_json()}
    source = project(tmp_path, {f"annotation/a.txt/{name}": content for name, content in files.items()} | good)
    _, found = read(source)
    [error] = errors(found)
    assert reason in error.reason and "annotation/a.txt/a." in error.file
    assert [one.key for one in of(found, ClaimRecord)] == ["b.txt"]


def test_types_are_held_to_names_before_the_library_makes_classes_of_them(monkeypatch):
    def load(*arguments, **options):
        raise AssertionError("the library was asked")

    monkeypatch.setattr("cassis.load_cas_from_json", load)
    monkeypatch.setattr("cassis.load_typesystem", load)
    described = types().to_xml().replace("<name>kind</name>", f"<name>{HOSTILE}</name>")
    with pytest.raises(documents.BadCell, match="not a name of a feature"):
        documents.TypeSystems().read(described.encode())
    raw = json.dumps({"%TYPES": {"a.B": {"class": {}}}, "%FEATURE_STRUCTURES": []}).encode()
    with pytest.raises(documents.BadCell, match="not a name of a feature"):
        documents.cas_of_json(raw)


def test_an_export_in_javas_own_form_says_what_to_do(tmp_path):
    source = project(tmp_path, {"annotation_ser/a.txt/ada.ser": b"\xac\xed"})
    assert detect(source.path, source.name) == "inception"
    with pytest.raises(FormatError, match="export the project once more with the format UIMA CAS JSON"):
        read(source)


def test_spans_are_code_points_of_the_library(tmp_path):
    _, found = read(put(tmp_path, "a.json", cas().to_json()))
    [annotation] = of(found, AnnotationRecord)
    assert annotation.judgements[0].spans == (
        SpanRecord("claim", *ADA, "Ada 👩🏽‍🔬", "PER"),
        SpanRecord("claim", *PLACE, "Köln", "LOC"),
    )
