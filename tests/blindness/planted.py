"""A project of any task type in which everything that an annotator must not know is recognisable.

Each text column of the content holds a marker with its own name; so do keys, metadata, other people, what they said,
what was decided, and suggestions. What a page shows on purpose is named here, by the contents and units of a task type.
"""

from types import SimpleNamespace

from django.db.models import CharField, F, TextField, Value
from django.db.models.functions import Concat

from annotation.models import (
    Annotation,
    Aspect,
    AtomicClaim,
    CheckerRun,
    Claim,
    Dataset,
    Decision,
    Evidence,
    Item,
    OutputComparison,
    Pair,
    Project,
    Question,
    Rater,
    Response,
    Revision,
    SubSentence,
    Suggestion,
    Triplet,
    Unit,
)
from annotation.projects.raters import rater_of
from tests import factories
from tests.kinds import answer_all, make_kind_project

MARK = "zqx"  # in every marker, and in nothing else
SEED = 918_273_645_546
CONTENT = (Claim, Question, Evidence, Response, Triplet, SubSentence, AtomicClaim, Aspect, Pair, OutputComparison)
PASSAGES = ("evidence.text", "evidence.publisher", "evidence.url")
ASKED = ("question.text", "claim.text")
OUTPUTS = ("outputcomparison.output_a", "outputcomparison.output_b", "outputcomparison.output_c")
# The columns that the page of a task shows, by its contents, and by its units where these have words of their own.
SHOWN = {
    "evidence": (*ASKED, *PASSAGES, "claim.claimant", "claim.source"),
    "response": (*ASKED, *PASSAGES, "response.text"),
    "response-alone": (*ASKED, "response.text"),
    "response-graded": (*ASKED, "response.text", "question.answers"),
    "document": (*ASKED, *PASSAGES, "response.text"),
    "question": (*ASKED, *PASSAGES),
    "question-alone": ASKED,
    "claim": ("claim.text",),
    "pair": ("pair.premise", "pair.hypothesis"),
    "comparison": ("question.text", *OUTPUTS),
    "atomic-claim": ("atomicclaim.text",),
}
UNITS = {
    "triplet": ("triplet.head", "triplet.relation", "triplet.tail"),
    "sub_sentence": ("subsentence.text",),
    "aspect": ("aspect.text",),
    "response_aspect": ("aspect.text",),
}


def marker(*names: str) -> str:
    return "-".join((MARK, *names)).replace("_", "-")


def shown_markers(project: Project) -> set[str]:
    columns = (*SHOWN[project.type.contents], *UNITS.get(project.type.unit_kind, ()))
    gold_alone = project.type.contents == "document"
    return {marker(*column.split(".")) for column in columns} | (set() if gold_alone else {marker("not", "gold")})


def make_planted(identifier: str, *, prefill: str = "off", **fields) -> SimpleNamespace:
    """The project with an annotator who has done nothing yet, and another one and an adjudicator who have."""
    project = make_kind_project(identifier, overlap=3, prefill=prefill, seed=SEED, **fields)
    annotator = factories.join(project, factories.make_user("Ann"))
    answer_all(project, people=1, free_text=marker("words"), comment=marker("comment"))
    adjudicator = factories.join(project, factories.make_user("Ada"), "adjudicator")
    run = factories.make_suggestions(project)
    dimension = project.type.asked_dimensions[0]
    Decision.objects.bulk_create(
        Decision(
            project=project,
            unit_id=unit,
            dimension=dimension.slug,
            label=dimension.values[number % len(dimension.values)],
            method=method,
            decided_by=rater_of(project, adjudicator),
            note=marker("decision", "note"),
        )
        for number, unit in enumerate(project.items.values_list("item_units__unit", flat=True).exclude(item_units=None))
        for method in ("adjudicated", "imported")
    )
    for model in CONTENT:
        _plant(model)
    for model in (Unit, Item):
        model.objects.update(key=Concat(Value(marker("key", model.__name__.lower()) + "/"), F("key")))
    Question.objects.update(answers=[marker("question", "answers"), "1963"])
    Evidence.objects.filter(is_gold=False).update(text=Concat(F("text"), Value(" " + marker("not", "gold"))))
    Dataset.objects.update(title=marker("dataset", "title"), slug=marker("dataset", "slug"))
    CheckerRun.objects.update(
        version=marker("run", "version"), parameters={"a": marker("run", "parameters")}, provenance=[marker("run")]
    )
    Suggestion.objects.update(probability=0.87654321, input_hash=marker("hash"))
    if prefill == "off":
        Suggestion.objects.update(label=marker("suggestion"))
    others = Rater.objects.filter(project=project).exclude(user=annotator)
    for rater in others:
        rater.name, rater.pseudonym = (f"{marker('rater', name)}-{rater.pk}" for name in ("name", "pseudonym"))
        rater.save()
    for person in (adjudicator, *(rater.user for rater in others)):
        person.name, person.email = marker("person", "name"), f"{marker('person', 'mail')}{person.pk}@example.org"
        person.username = person.email
        person.save()
    Revision.objects.update(metadata={"free_text": {"question": "?", "answer": marker("words")}, "x": marker("meta")})
    project.refresh_from_db()
    return SimpleNamespace(
        project=project,
        annotator=annotator,
        adjudicator=adjudicator,
        run=run,
        foreign=Annotation.objects.filter(item__project=project).first(),
    )


def _plant(model) -> None:
    """A marker at the end of each text column, and as the beginning of the key."""
    name = model.__name__.lower()
    columns = [
        field.name
        for field in model._meta.concrete_fields
        if isinstance(field, CharField | TextField) and field.name != "key"
    ]
    rows = model.objects
    for column in columns:
        is_text = column == "text" or column.startswith("output_")
        said = rows.exclude(**{column: ""}) if is_text else rows.all()  # an empty answer stays one
        if column == "url":
            said.update(url=f"https://{marker(name, 'url')}.example.org/")
        else:
            said.update(**{column: Concat(F(column), Value(" " + marker(name, column)))})
    rows.update(key=Concat(Value(marker("key", name) + "/"), F("key")), metadata={"x": marker("metadata", name)})
