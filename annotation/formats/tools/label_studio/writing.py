"""Tasks for Label Studio: the JSON that it imports, and a labelling configuration for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from annotation.formats.cells import digest, number_in
from annotation.formats.content.assay import instant_text
from annotation.formats.records import SpanRecord
from annotation.formats.tools.label_studio.reading import KEPT, KEY
from annotation.formats.tools.offsets import UTF_16, offset_of
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask

FILE, CONFIG = "label-studio.json", "label-studio.xml"
LOSES = (
    "Names: annotators are called by their pseudonyms in completed_by",
    "Ids of annotations, predictions and results are new",
    "Suggestions that nothing is to be highlighted, and scores of single highlights",
    "Rankings with ties, and highlights in ranked outputs",
)
OUTPUTS, RANKER = "outputs", "ranker"


def write(tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], folder: Path) -> None:
    """The two files, in `folder`."""
    ranking = next((one for one in questions if one.orders), None)
    if ranking is not None:
        _dump(folder / FILE, (_ranked_task(task, ranking) for task in tasks))
        config = _ranker_config(ranking)
    else:
        fields: dict[str, str] = {}
        controls: dict[str, list[str]] = {}
        _dump(folder / FILE, _judged_tasks(tasks, questions, fields, controls))
        config = _config(questions, fields, controls)
    (folder / CONFIG).write_text(config, encoding="utf-8")


def _dump(path: Path, tasks: Iterable[dict]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as out:
        mark = "[\n"
        for task in tasks:
            out.write(mark + json.dumps(task, ensure_ascii=False, allow_nan=False))
            mark = ",\n"
        out.write("[]\n" if mark == "[\n" else "\n]\n")


def _judged_tasks(
    tasks: Iterable[WrittenTask], questions: list[WrittenQuestion], fields: dict[str, str], controls: dict
) -> Iterator[dict]:
    """`fields` and `controls` are filled with what the tasks have."""
    for task in tasks:
        kept = task.metadata.get(KEPT)
        kept = kept if isinstance(kept, dict) else {}
        names = _fields(task, kept)
        for name in names:
            fields.setdefault(name, name)
        for name, (kind, to) in _controls(kept).items():
            controls.setdefault(name, [kind, to])
            fields.setdefault(to, names[-1])
        yield _task(task, questions, kept, names)


def _fields(task: WrittenTask, kept: dict) -> list[str]:
    """The names that the texts have in the task's data: those of the file that they came from."""
    names = kept.get("fields")
    is_known = isinstance(names, list) and len(names) == len(task.texts) and all(isinstance(one, str) for one in names)
    return names if is_known else list(task.texts)


def _controls(kept: dict) -> dict[str, tuple[str, str]]:
    """Question -> type of its results, and the object that they are about."""
    found = kept.get("controls")
    pairs = found.items() if isinstance(found, dict) else ()
    return {
        name: (one[0], one[1])
        for name, one in pairs
        if isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
    }


def _task(task: WrittenTask, questions: list[WrittenQuestion], kept: dict, names: list[str]) -> dict:
    data = {name: value for name, value in task.metadata.items() if name != KEPT}
    data |= dict(zip(names, task.texts.values(), strict=True))
    found = _keyed(task, data)
    controls = _controls(kept)

    def results(answers: WrittenAnswers) -> list[dict]:
        found = []
        for question in questions:
            if question.slug in answers.labels and not question.is_of_passages:
                meta = {"meta": {"text": [why]}} if (why := answers.explanations.get(question.slug)) else {}
                place = controls.get(question.title, ("choices", names[-1]))
                found.append(_result(task, question, answers, *place) | meta)
            for span in answers.spans.get(question.slug, ()):
                name = _name_of_passages(question)
                place = names[list(task.texts).index(span.field)] if span.field in task.texts else names[-1]
                found.append(_region(task, name, answers.who, span, controls.get(name, ("labels", place))[1]))
        return found

    found["data"] = data
    found["annotations"] = [_annotation(one, results(one)) for one in task.people]
    found["predictions"] = [_prediction(one, results(one)) for one in task.models]
    return found


def _keyed(task: WrittenTask, data: dict) -> dict:
    """The id that the task has there; a key that is none stands in the data."""
    number = int(task.key) if task.key.isascii() and task.key.isdecimal() and len(task.key) < 16 else None
    if number is None or str(number) != task.key:
        data[KEY] = task.key
    return {} if KEY in data else {"id": number}


def _annotation(answers: WrittenAnswers, results: list[dict]) -> dict:
    return (
        ({"completed_by": {"email": answers.who}} if answers.who else {})
        | {"result": results}
        | ({"lead_time": answers.active_ms / 1000} if answers.active_ms is not None else {})
        | ({"updated_at": instant_text(answers.submitted_at)} if answers.submitted_at else {})
    )


def _prediction(answers: WrittenAnswers, results: list[dict]) -> dict:
    score = {"score": answers.probability} if answers.probability is not None else {}
    return {"model_version": answers.who, "result": results} | score


def _ranked_task(task: WrittenTask, question: WrittenQuestion) -> dict:
    """The prompt and a list of the outputs, which a Ranker puts in order."""
    data = {name: value for name, value in task.metadata.items() if name != KEPT} | {"prompt": task.judged}
    data[OUTPUTS] = [
        {"id": name, "title": "", "body": task.texts[name]} | ({"model": system} if system else {})
        for name, system in task.systems.items()
    ]

    def results(answers: WrittenAnswers) -> list[dict]:
        [title] = answers.labels.get(question.slug, [""])
        order = question.orders.get(title, ())
        if not order or any(len(rank) > 1 for rank in order):
            return []
        own = digest(task.key, answers.who, question.slug).hex()[:10]
        value = {RANKER: {"rank": [name for [name] in order]}}
        return [{"id": own, "from_name": question.title, "to_name": OUTPUTS, "type": RANKER, "value": value}]

    found = _keyed(task, data) | {"data": data}
    found["annotations"] = [_annotation(one, ranked) for one in task.people if (ranked := results(one))]
    found["predictions"] = [_prediction(one, ranked) for one in task.models if (ranked := results(one))]
    return found


def _ranker_config(question: WrittenQuestion) -> str:
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name="prompt", value="$prompt")
    ElementTree.SubElement(view, "List", name=OUTPUTS, value=f"${OUTPUTS}", title=question.title)
    ElementTree.SubElement(view, "Ranker", name=question.title, toName=OUTPUTS)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _result(task: WrittenTask, question: WrittenQuestion, answers: WrittenAnswers, kind: str, to: str) -> dict:
    labels = answers.labels[question.slug]
    if kind == "rating" and len(labels) == 1 and (number := number_in(labels[0])) is not None:
        value: dict = {"rating": int(number) if number.is_integer() else number}
    elif kind == "pairwise" and len(labels) == 1:
        value = {"selected": labels[0]}
    elif question.takes_text:
        kind, value = "textarea", {"text": labels}
    elif question.takes_number and (number := number_in(labels[0])) is not None:
        kind, value = "number", {"number": int(number) if number.is_integer() else number}
    else:
        kind, value = "choices", {"choices": labels}
    name = digest(task.key, answers.who, question.slug).hex()[:10]
    return {"id": name, "from_name": question.title, "to_name": to, "type": kind, "value": value}


def _name_of_passages(question: WrittenQuestion) -> str:
    return question.title if question.is_of_passages else f"{question.title}: {question.passages_title}"


def _region(task: WrittenTask, name: str, who: str, span: SpanRecord, to: str) -> dict:
    """A labelled passage; Label Studio counts UTF-16 code units."""
    text = task.texts[span.field]
    start, end = (offset_of(text, place, UTF_16) for place in (span.start, span.end))
    value = {"start": start, "end": end, "text": span.quote, "labels": [span.label]}
    own = digest(task.key, who, name, str(start), str(end), span.label).hex()[:10]
    return {"id": own, "from_name": name, "to_name": to, "type": "labels", "value": value}


def _config(questions: list[WrittenQuestion], fields: dict[str, str], controls: dict[str, list[str]]) -> str:
    view = ElementTree.Element("View")
    shown = {field for name, field in fields.items() if name != field}
    objects = {name: field for name, field in fields.items() if name != field or field not in shown}
    for name, field in objects.items():
        ElementTree.SubElement(view, "Text", name=name, value=f"${field}")
    last = list(objects)[-1] if objects else "text"
    for question in questions:
        if question.passages:
            name = _name_of_passages(question)
            element = ElementTree.SubElement(view, "Labels", name=name, toName=controls.get(name, ["", last])[1])
            for title in question.passages.values():
                ElementTree.SubElement(element, "Label", value=title)
        if question.is_of_passages:
            continue
        kind, to = controls.get(question.title, ["choices", last])
        if kind == "rating":
            most = max((int(float(value)) for value in question.labels if number_in(value) is not None), default=5)
            ElementTree.SubElement(view, "Rating", name=question.title, toName=to, maxRating=str(most))
            continue
        if question.takes_text:
            ElementTree.SubElement(view, "TextArea", name=question.title, toName=to)
            continue
        if question.takes_number:
            ElementTree.SubElement(view, "Number", name=question.title, toName=to)
            continue
        if kind == "pairwise":
            ElementTree.SubElement(view, "Pairwise", name=question.title, toName=to)
            continue
        choice = "multiple" if question.takes_several else "single"
        element = ElementTree.SubElement(view, "Choices", name=question.title, toName=to, choice=choice)
        for title in question.labels.values():
            ElementTree.SubElement(element, "Choice", value=title)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"
