"""Tables whose highlights count from 1, and that have a word for 'nothing is marked', as XSum's hallucinations do."""

import pytest

from annotation.formats import Options
from annotation.formats.records import AnnotationRecord, OddRecord, RowError
from annotation.formats.tables import ratings
from annotation.formats.tables.highlights import SHIFTS
from annotation.formats.tables.oddities import BASE, NO_HIGHLIGHT

from . import shaped
from .helpers import put

XSUM = {
    "rater": "worker_id", "system": "system", "text": "summary", "document": "bbcid", "quote": "hallucinated_span",
    "start": "hallucinated_span_start", "end": "hallucinated_span_end", "highlight": "hallucination_type",
}  # fmt: skip
ROLES = {"id": "id", "text": "text", "rater": "rater", "start": "start", "end": "end"}
TEXTS = ("The rocket launch failed.", "One idea after another", "Straße nach Köln", "a plain rocket")
WORDS = ("rocket", "idea", "Köln", "plain")


def read(tmp_path, text: str, roles: dict, values=None, **treat: str) -> tuple[list, dict[str, OddRecord], list]:
    """Quotes by answer, odd rows by kind, bad rows."""
    source = put(tmp_path, "t.csv", text)
    records = list(ratings.read([source], Options(mapping=roles, treat=treat, values=values or {})))
    answers = [one.judgements for one in records if isinstance(one, AnnotationRecord)]
    quotes = [[span.quote for one in said for span in one.spans] for said in answers]
    odd = {one.kind: one for one in records if isinstance(one, OddRecord)}
    return quotes, odd, [one for one in records if isinstance(one, RowError)]


def marked(shift: str, *, quoted: bool, words=WORDS) -> str:
    """A table whose places count as the shift says."""
    before, after = SHIFTS[shift]
    lines = ["id,text,rater,start,end,quote"]
    for number, (text, word) in enumerate(zip(TEXTS, words, strict=True)):
        start = text.index(word)
        place = f"{start - before},{start + len(word) - after}"
        lines.append(f"{number},{text},r,{place},{word if quoted else ''}")
    return "\n".join(lines)


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_quotes_tell_what_places_count_from(tmp_path, shift):
    found, odd, bad = read(tmp_path, marked(shift, quoted=True), ROLES | {"quote": "quote"})
    assert found == [[word] for word in WORDS] and not bad
    if shift == "zero":
        assert not odd
    else:
        assert (odd[BASE].is_open, odd[BASE].number, odd[BASE].first) == (False, 4, "t.csv, line 2")
        assert f"fit from {'1' if 'one' in shift else '0'}, to" in odd[BASE].what


@pytest.mark.parametrize("shift", SHIFTS)
def test_without_quotes_it_is_asked(tmp_path, shift):
    text = marked(shift, quoted=False)
    found, odd, _ = read(tmp_path, text, ROLES)
    assert (BASE in odd) == (shift != "zero") and all(one.is_open for one in odd.values())
    found, odd, bad = read(tmp_path, text, ROLES, **{BASE: shift})
    assert found == [[word] for word in WORDS] and not bad and not any(one.is_open for one in odd.values())


def test_quotes_that_contradict_each_other_are_asked_about(tmp_path):
    one, zero = marked("one", quoted=True).splitlines(), marked("zero", quoted=True).splitlines()
    text = "\n".join([*one[:3], *zero[3:]])
    _, odd, _ = read(tmp_path, text, ROLES | {"quote": "quote"})
    assert odd[BASE].is_open and "from 0, to before the end: 2, from 1, to before the end: 2" in odd[BASE].what
    found, odd, bad = read(tmp_path, text, ROLES | {"quote": "quote"}, **{BASE: "one"})
    assert found == [["rocket"], ["idea"]] and not odd[BASE].is_open
    assert [row.reason for row in bad] == ["differs from the text at this position"] * 2


def test_half_words_are_no_reason_to_ask(tmp_path):
    """People mark parts of words, too."""
    found, odd, _ = read(tmp_path, marked("zero", quoted=False, words=("ocke", "dea", "Köl", "rock")), ROLES)
    assert found == [["ocke"], ["dea"], ["Köl"], ["rock"]] and not odd


def test_a_word_for_nothing_is_asked_about_and_is_an_answer(tmp_path):
    text = shaped.xsum_hallucination()
    found, odd, bad = read(tmp_path, text, XSUM)
    assert not bad and (odd[NO_HIGHLIGHT].what, odd[NO_HIGHLIGHT].number) == ("t.csv: NULL", 4)
    assert odd[NO_HIGHLIGHT].is_open and not odd[BASE].is_open
    again, odd, _ = read(tmp_path, text, XSUM, **{NO_HIGHLIGHT: "none"})
    assert again == found and not odd[NO_HIGHLIGHT].is_open
    assert len(found) == 36 and sum(not one for one in found) == 4
    assert all(one == [row.split(",")[2][:8]] for one, row in zip(found, text.splitlines()[1:], strict=True) if one)
    left, _, bad = read(tmp_path, text, XSUM, **{NO_HIGHLIGHT: "leave-out"})
    assert len(left) == 32 and [row.is_chosen for row in bad] == [True] * 4


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("nichts,nichts,nichts", {}),
        (",,nichts", {"highlights": {"nichts": ""}}),
        ("-1,-1,nichts", {"highlights": {"nichts": ""}}),
        (",,None", {}),
    ],
)
def test_any_word_can_be_chosen(tmp_path, cells, said):
    """With a place of its own it is asked about; in place of quoted words the mapping's values say so."""
    text = f"id,text,rater,start,end,quote\n1,None is a word here? No: some text,r,0,4,None\n2,x,r,{cells}\n"
    found, odd, bad = read(tmp_path, text, ROLES | {"quote": "quote"}, said)
    assert found == [["None"], []] and not bad and (NO_HIGHLIGHT in odd) == (not said)


def test_a_rater_who_marks_and_marks_nothing_marks(tmp_path):
    text = "id,text,rater,start,end\n1,one two,r,0,3\n1,one two,r,NULL,NULL\n"
    source = put(tmp_path, "t.csv", text)
    records = ratings.read([source], Options(mapping=ROLES, treat={NO_HIGHLIGHT: "none"}))
    [answer] = [one for one in records if isinstance(one, AnnotationRecord)]
    assert [(one.label, len(one.spans)) for one in answer.judgements] == [("marked", 1)]
