"""What a project may change about its task: whatever is accepted, stored labels keep their value and meaning."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.task_types import OptionsError, configured, every_task_type, options_of, task_type

SIX = task_type("claim-evidence/six-way/1")
COVERAGE = task_type("aspect-coverage/-/1")
CONTEXT = task_type("sufficient-context/-/1")

words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).filter(str.strip)


@st.composite
def fitting_options(draw, description):
    """Options that mostly fit; titles may repeat, which is refused."""
    options = {}
    slugs = [dimension.slug for dimension in description.dimensions]
    if draw(st.booleans()):
        options["hidden"] = draw(st.lists(st.sampled_from(slugs), max_size=len(slugs) - 1, unique=True))
    for dimension in description.dimensions:
        if dimension.spans and draw(st.booleans()):
            options.setdefault("spans", {})[dimension.slug] = draw(st.sampled_from(("required", "optional", "off")))
        if draw(st.booleans()):
            options.setdefault("order", {})[dimension.slug] = draw(st.permutations(dimension.values))
        if draw(st.booleans()):
            names = ["title", "question", *(["spans"] if dimension.spans else [])]
            texts = st.dictionaries(st.sampled_from(("title", "hint")), words | st.just(""))
            captions = draw(st.dictionaries(st.sampled_from(names), words | st.just("")))
            captions["labels"] = draw(st.dictionaries(st.sampled_from(dimension.values), texts))
            options.setdefault("captions", {})[dimension.slug] = captions
    if draw(st.booleans()):
        asked = {"title": draw(words), "hint": draw(words | st.just("")), "required": draw(st.booleans())}
        options["free_text"] = draw(st.sampled_from((None, asked)))
    return options


described = st.sampled_from(every_task_type()).flatmap(lambda one: st.tuples(st.just(one), fitting_options(one)))


@settings(deadline=None, max_examples=200)
@given(described)
def test_accepted_options_change_nothing_that_is_stored(drawn):
    description, options = drawn
    try:
        asked = configured(description, options)
    except OptionsError as refused:
        assert all("the same title" in reason for _, reason in refused.problems)
        return
    assert asked.identifier == description.identifier
    assert [each.slug for each in asked.dimensions] == [each.slug for each in description.dimensions]
    for before, after in zip(description.dimensions, asked.dimensions, strict=True):
        assert after.values == before.values  # the scale's order, whatever the screen's
        assert (after.level, after.role, after.asked_when, after.derived) == (
            before.level, before.role, before.asked_when, before.derived,
        )  # fmt: skip
        assert [(label.polarity, label.key) for label in after.labels] == [
            (label.polarity, label.key) for label in before.labels
        ]
        assert sorted(label.value for label in after.shown_labels) == sorted(before.values)
        assert after.spans is None or (after.spans.fields, after.spans.labels) == (
            before.spans.fields, before.spans.labels,
        )  # fmt: skip
        assert all(label.title.strip() for label in after.labels) and after.title.strip()
    assert asked.asked_dimensions
    assert (asked.metrics, asked.checkers, asked.unit_kind) == (
        description.metrics, description.checkers, description.unit_kind,
    )  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(described)
def test_what_says_nothing_is_left_out_once_and_for_all(drawn):
    description, options = drawn
    try:
        kept = options_of(description, options)
    except OptionsError:
        return
    assert options_of(description, kept) == kept
    assert configured(description, kept) == configured(description, options)
    assert configured(description, kept) is configured(description, dict(reversed(kept.items())))
    assert bool(kept) == (configured(description, kept) != description)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just("\ud800") | st.just("a\0b"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=3),
    max_leaves=8,
)
slugs = st.sampled_from(["relevance", "stance", "unknown", "title", "labels", "hint", "required", "refutes", "spans"])
parts = st.sampled_from(["hidden", "spans", "captions", "order", "free_text", "other"])
nearly = st.recursive(
    anything,
    lambda inner: (
        st.lists(slugs | inner, max_size=3)
        | st.dictionaries(slugs, inner | st.sampled_from(["off", "refutes"]), max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=200)
@given(anything | st.dictionaries(parts, nearly, max_size=4))
def test_malformed_options_are_refused_with_a_place_and_never_otherwise(options):
    for function in (configured, options_of):
        try:
            function(SIX, options)
        except OptionsError as refused:
            assert refused.problems and str(refused)
            for place, reason in refused.problems:
                assert isinstance(place, str) and isinstance(reason, str) and reason
                assert place or "options are" in reason


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ([], ""),
        (None, ""),
        ({"hidden": {1, 2}}, "hidden"),
        ({"nothing": 1}, "nothing"),
        ({"hidden": "stance"}, "hidden"),
        ({"hidden": ["mood"]}, "hidden.mood"),
        ({"hidden": ["relevance", "stance"]}, "hidden"),
        ({"spans": ["stance"]}, "spans"),
        ({"spans": {"stance": "sometimes"}}, "spans.stance"),
        ({"spans": {"relevance": "off"}}, "spans.relevance"),  # has none
        ({"spans": {"mood": "off"}}, "spans.mood"),
        ({"captions": {"stance": "Attitude"}}, "captions.stance"),
        ({"captions": {"stance": {"name": "x"}}}, "captions.stance.name"),
        ({"captions": {"stance": {"title": 7}}}, "captions.stance.title"),
        ({"captions": {"stance": {"title": "x" * 201}}}, "captions.stance.title"),
        ({"captions": {"stance": {"title": " \u00a0"}}}, "captions.stance.title"),
        ({"captions": {"stance": {"title": "Relevance"}}}, "captions"),
        ({"captions": {"relevance": {"spans": "x"}}}, "captions.relevance.spans"),
        ({"captions": {"stance": {"labels": {"maybe": {}}}}}, "captions.stance.labels.maybe"),
        ({"captions": {"stance": {"labels": {"refutes": {"value": "x"}}}}}, "captions.stance.labels.refutes"),
        ({"captions": {"stance": {"labels": {"refutes": {"title": "a\0"}}}}}, "captions.stance.labels.refutes.title"),
        ({"captions": {"stance": {"labels": {"refutes": {"hint": "\ud800"}}}}}, "captions.stance.labels.refutes.hint"),
        ({"captions": {"stance": {"labels": {"refutes": {"title": "supports"}}}}}, "captions.stance.labels"),
        ({"order": {"stance": ["refutes"]}}, "order.stance"),
        ({"order": {"stance": [*SIX.dimension("stance").values, "refutes"]}}, "order.stance"),
        ({"order": {"relevance": "relevant"}}, "order.relevance"),
        ({"free_text": "Why?"}, "free_text"),
        ({"free_text": {}}, "free_text.title"),
        ({"free_text": {"title": "Why?", "limit": 3}}, "free_text"),
        ({"free_text": {"title": "Why?", "required": "yes"}}, "free_text.required"),
    ],
)
def test_every_mistake_is_told_with_its_place(options, place):
    with pytest.raises(OptionsError) as refused:
        options_of(SIX, options)
    assert place in [at for at, _ in refused.value.problems]
    with pytest.raises(OptionsError):
        configured(SIX, options)


def test_all_mistakes_are_told_at_once():
    with pytest.raises(OptionsError) as refused:
        options_of(SIX, {"hidden": ["mood"], "order": {"stance": []}, "free_text": {"title": ""}})
    assert [place for place, _ in refused.value.problems] == ["hidden.mood", "order.stance", "free_text.title"]


def test_a_hidden_condition_holds():
    asked = configured(SIX, {"hidden": ["relevance"]})
    relevance, stance = asked.dimensions
    assert asked.asked_dimensions == (stance,)
    assert asked.is_asked(stance, {}) and not asked.is_asked(relevance, {})
    # What an earlier page or a file said about relevance does not take the question away either.
    assert asked.is_asked(stance, {"relevance": "not_relevant"})


def test_spans_can_be_made_required_optional_and_be_left_out():
    for choice, required in (("required", True), ("optional", False)):
        assert configured(COVERAGE, {"spans": {"coverage": choice}}).dimension("coverage").spans.required is required
    assert configured(COVERAGE, {"spans": {"coverage": "off"}}).dimension("coverage").spans is None
    assert options_of(COVERAGE, {"spans": {"coverage": "required"}}) == {}  # as the task has it


def test_captions_replace_words_and_an_empty_hint_takes_it_away():
    captions = {"title": "Attitude", "labels": {"refutes": {"title": "Contra", "hint": ""}, "supports": {"title": ""}}}
    stance = configured(SIX, {"captions": {"stance": captions}}).dimension("stance")
    assert (stance.title, stance.label("refutes").title, stance.label("refutes").hint) == ("Attitude", "Contra", "")
    assert stance.label("supports") == SIX.dimension("stance").label("supports")


def test_the_tasks_own_question_in_words_can_be_replaced_and_taken_away():
    assert configured(CONTEXT, {"free_text": None}).free_text is None
    assert configured(CONTEXT, {"free_text": {"title": "Why?"}}).free_text.title == "Why?"
    own = {"title": CONTEXT.free_text.title, "hint": CONTEXT.free_text.hint}
    assert options_of(CONTEXT, {"free_text": own}) == {}
    assert options_of(SIX, {"free_text": None}) == {}
