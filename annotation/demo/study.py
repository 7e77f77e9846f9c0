"""The demo's study: what its participants go through, and those who have been there.

They come by a study link, consent, answer questions, learn and qualify, and label in the arms of a trial of
suggestions, with checks among their items. Of suggestions that they see they follow one in three, so that the report on
suggestions has something to find.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.access import assignment_for
from annotation.demo.answers import FIXTURES, DemoAnswer
from annotation.demo.labelling import chance, followed, label
from annotation.models import ItemKey, Participation, Project, StudyLink, Suggestion, User
from annotation.participation import consent, joining, leaving, links, questionnaires
from annotation.participation.steps import SCREENING
from annotation.projects import guidelines, label_sets
from annotation.work import assigning
from annotation.work.learning import keys
from annotation.work.queries import pages

STUDY = "demo-study"
FILES = FIXTURES / "study"
Purpose = ItemKey.Purpose
SETTINGS = {
    "prefill_shown_percent": 40,
    "prefill_after_percent": 30,
    "further": Project.Further.TIED,
    "further_budget": 20,
    "check_every": 6,
    "qualification_tries": 2,
}
# Items by their key, with their purpose, and the reason for the right answer.
KEYS = {
    "demo-01-1": (Purpose.TRAINING, "Eighteen departures on Sundays contradict the claim as it stands."),
    "demo-02-2": (Purpose.TRAINING, "It makes the claim likely, but does not say how much is kept in the skin."),
    "demo-06-1": (Purpose.QUALIFICATION, ""),
    "demo-08-1": (Purpose.QUALIFICATION, ""),
    "demo-04-1": (Purpose.CHECK, ""),
    "demo-09-1": (Purpose.CHECK, ""),
}
NOTHING = DemoAnswer({"relevance": "not_relevant"})
FOLLOWS = 3  # one in so many suggestions that a participant sees


@dataclass(frozen=True, slots=True)
class Participant:
    """`doubts` is as of a project; none: says that nothing is relevant, and is right about no item of qualification."""

    name: str
    items: int
    doubts: int = 4
    language: str = "english"


PARTICIPANTS = (
    Participant("participant-1", 14, doubts=6),
    Participant("participant-2", 14),
    Participant("participant-3", 14, doubts=2),
    Participant("participant-4", 9),
    Participant("participant-5", 14, doubts=0),
    Participant("participant-6", 0, language="other"),
)
MOST_ITEMS = max(one.items for one in PARTICIPANTS)


def set_up(project: Project, researcher: User, answers: Mapping[str, DemoAnswer]) -> None:
    """Consent, questions, items with right answers, and the link; what is there is left as it is."""
    consent.publish(project, researcher, (FILES / "consent.md").read_text(encoding="utf-8"), consent.REMOVE)
    about = json.loads((FILES / "about-you.json").read_text(encoding="utf-8"))
    identifier = label_sets.save_label_set(researcher, about).identifier
    questionnaires.publish(project, researcher, SCREENING, identifier, {"language": ["other"]})
    for key, (purpose, reason) in KEYS.items():
        item = project.items.get(key=key)
        page = pages.load_page(item.pk, project.type)
        right = [
            {"unit": unit, "dimension": dimension, "label": value}
            for unit in page.unit_keys
            for dimension, value in answers[unit].labels.items()
        ]
        keys.set_apart(project, item, researcher, purpose, right, reason=reason)
    if not project.study_links.exists():
        values = {"places": 50, "most_items": MOST_ITEMS, "endings": {"complete": "DEMO-COMPLETE"}}
        links.make_link(project, researcher, title="Evidence on claims, with participants", **values)


def link() -> StudyLink | None:
    """The study's link, by which visitors of the demo take part."""
    return StudyLink.objects.select_related("project").filter(project__slug=STUDY).order_by("pk").first()


def take_part(project: Project, participants: tuple[Participant, ...], answers: Mapping[str, DemoAnswer]) -> None:
    for one in participants:
        joined, _ = joining.join_as_new(project.study_links.get())
        person = joined.user
        person.username = f"{one.name}@demo.invalid"  # what they say follows from it
        person.save(update_fields=["username"])
        consent.give(project, person, 1)
        asked = questionnaires.newest(project, SCREENING)
        if not questionnaires.store(asked, person, {"language": one.language, "reads": "news"}):
            continue
        guidelines.acknowledge(project, person, 1)
        _work(project, joined, one, answers)


def _work(project: Project, joined: Participation, one: Participant, answers: Mapping[str, DemoAnswer]) -> None:
    person, done = joined.user, 0
    while done < one.items and (assignment := assigning.take(project, person)):
        row = assignment_for(person, assignment.uuid)
        page = pages.load_page(row.item_id, project.type)
        is_lesson, more = row.reason in row.LEARNING, {}
        own = {unit: answers[unit] if one.doubts else NOTHING for unit in page.unit_keys}
        if one.doubts and not is_lesson:
            own = {unit: followed(answer, person, unit, one.doubts) for unit, answer in own.items()}
        if row.prefill_arm == Project.Prefill.SHOWN and (seen := _suggested(project, page, answers)):
            assigning.expose(row, project.prefill_run, len(seen))
            more["suggestions_shown_at"] = row.leased_at.isoformat()
            own |= {unit: answer for unit, answer in seen.items() if chance(person, f"{unit}\0seen") % FOLLOWS == 0}
        label(row, person, own.__getitem__, **more)
        done += not is_lesson
    if done == MOST_ITEMS:
        leaving.end(joined, Participation.State.COMPLETE)


def _suggested(project: Project, page: pages.LabellingPage, answers: Mapping[str, DemoAnswer]) -> dict[str, DemoAnswer]:
    """What the checker says of each unit, with the words that a person would mark."""
    keys, labels = {unit.pk: unit.key for unit in page.units}, defaultdict(dict)
    for row in Suggestion.objects.filter(run=project.prefill_run_id, unit__in=keys):
        labels[keys[row.unit_id]][row.dimension] = row.label
    found = {}
    for unit, suggested in labels.items():
        asked = {
            one.slug: suggested.get(one.slug) for one in page.type.dimensions if page.type.is_asked(one, suggested)
        }
        if all(asked.values()):
            quotes = answers[unit].quotes or (answers[unit].doubt or answers[unit]).quotes
            found[unit] = DemoAnswer(asked, quotes)
    return found
