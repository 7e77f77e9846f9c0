"""Checks that a task type's description fits the rest of the code: each problem in a sentence.

A description refers to the rest by names: of texts, kinds, layouts, roles, checkers, templates. A name that nothing
answers to would only show at its first use, in front of an annotator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from analysis.sources.links import ORIGINS
from annotation.exports.layouts import LAYOUTS
from annotation.imports.span_texts import FIELDS, PASSAGE_PARENTS
from annotation.machines.runs.checker_inputs import READERS
from annotation.models import Judgement, Project, Span, UnitKind
from annotation.projects.item_making import UNITS_OF
from annotation.task_types import Dimension, Label, TaskType
from annotation.task_types.base import ANSWERS
from annotation.task_types.keys import PAGE_KEYS
from annotation.task_types.problems import LEVELS, VALUE, VALUE_CHARS, fits_level
from annotation.work.queries.contents import CONTENTS, PASSAGES, UNIT_TEXTS
from models_runtime.contracts import ROLES
from models_runtime.registry import list_infos

DIGITS = 9  # labels that a digit can pick
PICKS = ("labels", "units")
PARENTS = ("", "question", "claim")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def _longest(model: type, field: str) -> int:
    return model._meta.get_field(field).max_length


def problems_of(description: TaskType) -> list[str]:
    """What is wrong with one description. Names that are wrong hide what depends on them."""
    return [f"{description.identifier}: {problem}" for check in CHECKS for problem in check(description)]


def problems_among(descriptions: Sequence[TaskType]) -> Iterator[str]:
    """What is wrong with several descriptions together."""
    for identifier in _repeated([one.identifier for one in descriptions]):
        yield f"two task types are called {identifier}"
    newest = {(one.slug, one.variant): one for one in sorted(descriptions, key=lambda one: one.version)}
    for title in _repeated([one.title for one in newest.values()]):
        yield f"two task types have the title “{title}”, so nobody could choose between them"


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _names(kind: TaskType) -> Iterator[str]:
    for name in (kind.slug, *([kind.variant] if kind.variant else [])):
        if not NAME.fullmatch(name) or "." in name:
            yield f"{name!r} is not a name of letters, digits, - and _"
    if len(kind.identifier) > _longest(Project, "task_type"):
        yield f"its identifier has more than {_longest(Project, 'task_type')} characters"
    if kind.version < 1:
        yield f"its version is {kind.version}; the first is 1"
    if kind.keys_pick not in PICKS:
        yield f"keys_pick is {kind.keys_pick!r}, not one of {', '.join(PICKS)}"
    if not kind.dimensions:
        yield "it asks nothing"


def _kinds(kind: TaskType) -> Iterator[str]:
    known = list(UnitKind)
    unknown = [name for name in (kind.anchor_kind, kind.unit_kind) if name not in known]
    if unknown:
        yield f"there is no kind of unit {unknown[0]!r}; available: {', '.join(known)}"
        return
    is_own = kind.anchor_kind == kind.unit_kind
    if not is_own and (kind.anchor_kind, kind.unit_kind) not in UNITS_OF:
        yield f"UNITS_OF does not say which {kind.unit_kind} units stand on the page of a {kind.anchor_kind}"
    if not is_own and kind.unit_kind not in UNIT_TEXTS:
        yield f"UNIT_TEXTS has no words for a {kind.unit_kind}"
    if is_own and (kind.units_title or kind.keys_pick == "units" or kind.has_unit_colours):
        yield "an item has one unit, so units have no title, no keys and no colours"
    if not is_own and not kind.units_title:
        yield "an item has several units; units_title says what they are called together"
    if kind.unit_kind not in ORIGINS:
        yield f"ORIGINS does not say what a {kind.unit_kind} comes in"
    if kind.anchor_parent not in PARENTS:
        yield f"anchor_parent is {kind.anchor_parent!r}, not one of question, claim or empty"


def _texts(kind: TaskType) -> Iterator[str]:
    source = CONTENTS.get(kind.contents)
    if source is None:
        yield f"CONTENTS has no {kind.contents!r}; it has {', '.join(CONTENTS)}"
        return
    if not all(path.split("__")[0] in (kind.anchor_kind, f"{kind.anchor_kind}_id") for path in source.paths):
        yield f"the contents {kind.contents!r} are not those of a {kind.anchor_kind}"
    for dimension in kind.dimensions:
        for field in dimension.spans.fields if dimension.spans else ():
            if field not in source.fields and not any(_stands_for(name, field) for name in source.fields):
                yield f"{dimension.slug} takes spans in {field!r}; the page has {', '.join(source.fields)}"
            elif not _is_known_to_imports(kind, field):
                yield f"span_texts cannot look up {field!r} of a {kind.anchor_kind}, so spans would not come back"


def _stands_for(name: str, field: str) -> bool:
    return name.endswith("*") and field.startswith(name[:-1])


def _is_known_to_imports(kind: TaskType, field: str) -> bool:
    if field in FIELDS.get(kind.anchor_kind, ()):
        return True
    return kind.contents in PASSAGES and kind.anchor_kind in PASSAGE_PARENTS and field.startswith("passage-")


def _template(kind: TaskType) -> Iterator[str]:
    try:
        get_template(kind.template)
    except TemplateDoesNotExist:
        yield f"it needs the template {kind.template}"


def _export(kind: TaskType) -> Iterator[str]:
    layout = LAYOUTS.get(kind.export_layout)
    if layout is None:
        yield f"LAYOUTS has no {kind.export_layout!r}; it has {', '.join(LAYOUTS)}"
        return
    roles = {dimension.role for dimension in kind.dimensions}
    if layout.judges not in (None, (kind.anchor_kind, kind.unit_kind)):
        yield f"the layout {kind.export_layout!r} is for {layout.judges[1]} units of {layout.judges[0]} items"
    elif missing := [role for role in layout.roles if role not in roles]:
        yield f"the layout {kind.export_layout!r} needs a dimension with the role {missing[0]}"


def _checkers(kind: TaskType) -> Iterator[str]:
    known = {info.slug for info in list_infos() if info.gives in ("labels", "scores")}
    yield from (f"it names the unknown checker {slug!r}" for slug in kind.checkers if slug not in known)
    for dimension in kind.dimensions:
        if dimension.role and dimension.role not in ROLES:
            yield f"{dimension.slug} has the role {dimension.role!r}, not one of {', '.join(ROLES)}"
    if kind.checkers and not any(dimension.role for dimension in kind.dimensions):
        yield "it names checkers, and no dimension has a role that they could answer"
    if kind.checkers and (kind.contents, kind.unit_kind) not in READERS:
        yield f"READERS does not say what a checker is given of a {kind.unit_kind} among {kind.contents!r}"


def _dimensions(kind: TaskType) -> Iterator[str]:
    yield from (f"two dimensions are called {slug}" for slug in _repeated([one.slug for one in kind.dimensions]))
    yield from (
        f"two dimensions have the title “{title}”" for title in _repeated([one.title for one in kind.dimensions])
    )
    before: dict[str, Dimension] = {}
    for dimension in kind.dimensions:
        slug, condition = dimension.slug, dimension.asked_when
        if not NAME.fullmatch(slug) or "." in slug or len(slug) > _longest(Judgement, "dimension"):
            yield f"{slug!r} is not a name of a dimension: letters, digits, - and _, not too many"
        if dimension.level not in LEVELS:
            yield f"{slug} has the level {dimension.level!r}, not one of {', '.join(LEVELS)}"
        elif wrong := [value for value in dimension.values if not fits_level(value, dimension.level)]:
            yield f"{slug} has the level {dimension.level}, and {wrong[0]!r} is not a number of it"
        if condition and condition.dimension not in before:
            yield f"{slug} is asked depending on {condition.dimension!r}, which is no dimension before it"
        elif condition and not condition.labels:
            yield f"{slug} is asked on no label of {condition.dimension}, so never"
        elif condition and (unknown := set(condition.labels) - set(before[condition.dimension].values)):
            yield f"{slug} is asked on unknown labels of {condition.dimension}: {', '.join(sorted(unknown))}"
        if dimension.answer not in ANSWERS:
            yield f"{slug} has the answer {dimension.answer!r}, not one of {', '.join(ANSWERS)}"
        if dimension.takes_number != (dimension.number is not None) or (dimension.takes_number and dimension.labels):
            yield f"{slug} is answered by a number where it has a range and no labels, and only there"
        if dimension.takes_text and (dimension.labels or dimension.spans or dimension.role or dimension.derived):
            yield f"{slug} is answered in words, so it has no labels, no spans, no role and nothing derived"
        if dimension.is_optional and not dimension.takes_text:
            yield f"{slug} may be left empty, which only questions that are answered in words may"
        if dimension.takes_number and (dimension.level not in LEVELS[2:] or dimension.role or dimension.derived):
            yield f"{slug} takes a number, so it is interval or ratio, with no role and nothing derived"
        if dimension.takes_several and (dimension.level != "nominal" or dimension.role or dimension.derived):
            yield f"{slug} takes several labels, so it has no order, no role and nothing derived"
        if dimension.takes_several and kind.keys_pick == "units":
            yield f"{slug} takes several labels, and digits pick units"
        if dimension.spans and (unknown := set(dimension.spans.labels) - set(dimension.values)):
            yield f"{slug} takes spans for unknown labels: {', '.join(sorted(unknown))}"
        if dimension.spans and any(len(field) > _longest(Span, "field") for field in dimension.spans.fields):
            yield f"{slug} takes spans in a text whose name is too long to store"
        if dimension.shown_order or dimension.is_hidden:
            yield f"{slug}: shown_order and is_hidden are a project's to set"
        before[slug] = dimension


def _labels(kind: TaskType) -> Iterator[str]:
    for dimension in kind.dimensions:
        if not (dimension.takes_number or dimension.takes_text):
            yield from (f"{dimension.slug} {problem}" for problem in _of_labels(dimension.labels))
        if kind.keys_pick == "labels" and len(dimension.labels) > DIGITS and not dimension.takes_ranking:
            yield f"{dimension.slug} has {len(dimension.labels)} labels; digits pick {DIGITS}"
    if kind.keys_pick != "units":
        return
    for dimension in kind.dimensions:
        for label in dimension.labels:
            if not label.key:
                yield f"digits pick units, so {label.value} of {dimension.slug} needs a key of its own"
            elif label.key in PAGE_KEYS:
                yield f"the key {label.key!r} of {label.value} is the page's own"
            elif len(label.key) > 1 or label.key != label.key.lower():
                yield f"the key {label.key!r} of {label.value} is not one small character"
    keys = [label.key for dimension in kind.dimensions for label in dimension.labels if label.key]
    yield from (f"two labels have the key {key!r}" for key in _repeated(keys))


def _of_labels(labels: tuple[Label, ...]) -> Iterator[str]:
    if len(labels) < 2:
        yield "has less than two labels"
    yield from (f"has the label {value} twice" for value in _repeated([label.value for label in labels]))
    yield from (f"has two labels “{title}”" for title in _repeated([label.title for label in labels]))
    for label in labels:
        if not VALUE.fullmatch(label.value) or len(label.value) > VALUE_CHARS:
            yield f"has the label {label.value!r}, which is not a name of letters, digits, -, . and _, not too many"
        if label.polarity is not None and not -1 <= label.polarity <= 1:
            yield f"has {label.value} at the polarity {label.polarity}, which is not between -1 and 1"


def _derived(kind: TaskType) -> Iterator[str]:
    for dimension in kind.dimensions:
        yield from (f"{dimension.slug} has two {slug}" for slug in _repeated([one.slug for one in dimension.derived]))
        for derived in dimension.derived:
            place = f"{derived.slug} of {dimension.slug}"
            yield from (f"{place} {problem}" for problem in _of_labels(derived.labels))
            of = [value for value, _ in derived.of]
            if sorted(of) != sorted(dimension.values):
                yield f"{place} does not say once for each label what it becomes"
            if unknown := {to for _, to in derived.of} - set(derived.values):
                yield f"{place} makes unknown labels: {', '.join(sorted(unknown))}"


def _metrics(kind: TaskType) -> Iterator[str]:
    known = {dimension.slug: dimension for dimension in kind.dimensions}
    for metric in kind.metrics:
        if metric.dimension not in known:
            yield f"the measure {metric.name!r} is of {metric.dimension!r}, which is no dimension"
            continue
        dimension = known[metric.dimension]
        if metric.level not in LEVELS:
            yield f"the measure {metric.name!r} has the level {metric.level!r}, not one of {', '.join(LEVELS)}"
        elif metric.level != "nominal" and dimension.level == "nominal":
            yield f"the measure {metric.name!r} is {metric.level}; the labels of {dimension.slug} have no order"
        if metric.derived and metric.derived not in [one.slug for one in dimension.derived]:
            yield f"the measure {metric.name!r} is of {metric.derived!r}, which {dimension.slug} does not have"
        if metric.missing_as in dimension.values or (metric.missing_as and dimension.asked_when is None):
            yield f"the measure {metric.name!r} counts what was not asked of {dimension.slug} as a label of its own"


CHECKS: tuple[Callable[[TaskType], Iterator[str]], ...] = (
    _names,
    _kinds,
    _texts,
    _template,
    _export,
    _checkers,
    _dimensions,
    _labels,
    _derived,
    _metrics,
)
