"""Texts that shift spans elsewhere: what the browser counts and quotes is what the server stored."""

import json

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Dataset, Evidence, Triplet
from tests.factories import make_claim_evidence, make_dataset, make_project, make_responses_with_triplets, make_user
from tests.web.pages import spans

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
TEXTS = {
    "emoji": f"The {FAMILY} saw \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5} target signs",
    "combining marks": "Cafe\u0301 nai\u0308ve z\u0351\u036bal\u0334go target words",
    "astral letters": "\U0001d4d0\U0001d4d1 \U00010330\U00010331 \U00020bb7 target \U0001f600",
    "right-to-left": "قال التقرير target إن الميناء بقي مفتوحا",
    "lone carriage return": "One\rtwo\r\rthree target four",
    "leading newline": "\n\n  target after blank lines\n",
    "markup": "<b>bold</b> &amp; &#13; <script>target</script> ]]>",
    "tabs and wide spaces": "a\tb\u00a0\u2003target\u200b \u2028c",
}


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_offsets_and_quotes_are_those_of_the_stored_text(label, text):
    ann, dataset = make_user(), make_dataset()
    make_claim_evidence(dataset, 2, texts=[text] * 2)
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    start = text.index("target")
    expected = [(start, start + 6, "target")]
    assert page.text("evidence") == text

    page.press("1", "6")
    begin = utf16(text[:start])
    page.drag("evidence", begin, begin + 6)
    first = page.answer()
    page.is_saved()
    assert spans(first, ann) == expected

    # The next item came as a fragment; the keyboard walks to the word.
    assert page.text("evidence") == text
    page.press("1", "6", "h")
    caret = page.page.locator("mark.caret")
    for _ in range(20):
        if "".join(caret.all_text_contents()) == "target":
            break
        page.press(
            "ArrowLeft"
            if page.page.evaluate("getComputedStyle(document.activeElement).direction") == "rtl"
            else "ArrowRight"
        )
    page.press("Enter", "Escape")
    second = page.answer()
    page.is_saved()
    assert spans(second, ann) == expected


def test_the_caret_never_splits_a_letter_or_an_emoji(label):
    ann, dataset = make_user(), make_dataset()
    text = f"e\u0301{FAMILY}\U0001d4d0x"
    make_claim_evidence(dataset, 1, texts=[text])
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    page.press("1", "6", "h")
    page.press("Alt+ArrowLeft", "Alt+ArrowLeft", "Alt+ArrowLeft", "Alt+ArrowLeft")
    seen = []
    for _ in range(4):
        seen.append("".join(page.page.locator("mark.caret").all_text_contents()))
        page.press("Enter", "Alt+ArrowRight")
    assert seen == ["e\u0301", FAMILY, "\U0001d4d0", "x"]
    page.press("Escape")
    only = page.answer()
    page.is_saved()
    assert spans(only, ann) == [(0, 2, seen[0]), (2, 7, FAMILY), (7, 8, seen[2]), (8, 9, "x")]


def test_a_selection_over_half_an_emoji_takes_all_of_it(label):
    ann, dataset = make_user(), make_dataset()
    make_claim_evidence(dataset, 1, texts=[f"See {FAMILY} there"])
    page = label(make_project(dataset, overlap=1, annotators=[ann]), ann)
    page.press("1", "6")
    page.page.evaluate(
        """() => {
          const text = document.querySelector('[data-field="evidence"]').firstChild;
          document.getSelection().setBaseAndExtent(text, 5, text, 7);  // inside the first surrogate pair
        }"""
    )
    page.press("h")
    assert page.chips() == [FAMILY]
    only = page.answer()
    page.is_saved()
    assert spans(only, ann) == [(4, 9, FAMILY)]


def test_crlf_of_a_file_is_one_line_feed_everywhere(label, tmp_path):
    ann, owner = make_user(), make_user(is_superuser=True)
    row = {
        "id": "r1",
        "claim_id": "c1",
        "claim_source": "a.example",
        "claim": "It froze.\r\nAll of it.",
        "claimant": "A",
        "claim_date": "2024-01-01",
        "evidence_source": "https://b.example/1",
        "evidence": "First line.\r\nSecond target line.",
        "evidence_date": "2024-01-02",
        "factcheck_verdict": "False",
        "is_gold": False,
        "relevant": None,
        "evidence_stance": None,
    }
    path = tmp_path / "druid.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8", newline="")
    call_command("import_dataset", str(path), format="druid", dataset="lines", owner=owner.email, verbosity=0)
    text = Evidence.objects.get().text
    assert text == "First line.\nSecond target line."
    page = label(make_project(Dataset.objects.get(slug="lines"), overlap=1, annotators=[ann]), ann)
    assert page.text("evidence") == text and page.text("claim") == "It froze.\nAll of it."
    page.press("1", "6")
    start = text.index("target")
    page.drag("evidence", start, start + 6)
    only = page.answer()
    page.is_saved()
    assert spans(only, ann) == [(start, start + 6, "target")]


def test_words_of_triplets_are_shown_as_they_are(label):
    ann, dataset = make_user(), make_dataset()
    unit = make_responses_with_triplets(dataset, 1, triplets=1)[0]
    head = f"\n <i>{FAMILY}</i>\r&"
    Triplet.objects.filter(response=unit.response).update(head=head)
    page = label(make_project(dataset, "triplets/-/1", overlap=1, annotators=[ann]), ann)
    shown = page.page.locator(".triplet span").first
    expect(shown).to_be_visible()
    assert shown.evaluate("element => element.textContent") == head
