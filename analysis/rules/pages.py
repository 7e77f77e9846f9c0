"""What pages say of a rule and its runs: units in words, labels by their titles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Exists, F, OuterRef, QuerySet

from analysis.rules.kinds import KINDS
from annotation.models import Item, Project, RuleRun, Shown, Unit, User
from annotation.task_types import Dimension
from annotation.work import showing
from annotation.work.queries import unit_words


def newest_runs(project: Project) -> QuerySet[RuleRun]:
    """The last run of each rule, by the rules' names."""
    later = RuleRun.objects.filter(project=project, name=OuterRef("name"), version__gt=OuterRef("version"))
    runs = RuleRun.objects.filter(~Exists(later), project=project).order_by("name")
    return runs.defer("left_open").select_related("created_by")


def in_words(project: Project, kind: str, parameters: Mapping) -> list[tuple[str, str]]:
    """The parameters as the form has them."""
    rule, found = KINDS.get(kind), []
    for one in rule.parameters if rule else ():
        value = parameters.get(one.name, one.default)
        found.append((one.title, one.offered(project.type).get(str(value), str(value))))
    return [(title, value) for title, value in found if value]


class Titles:
    """Questions and labels by their titles; what a table of verdicts calls them otherwise."""

    def __init__(self, project: Project, parameters: Mapping):
        self.known = {one.slug: one for one in project.type.dimensions}
        self.lifted = parameters.get("question", "")

    def question(self, slug: str) -> str:
        return self.known[slug].title if slug in self.known else slug

    def label(self, slug: str, value: str) -> str:
        return self.known[slug].title_of(value) if slug in self.known else value

    def votes(self, slug: str, votes: Mapping[str, int]) -> str:
        """How often each label was given, most frequent first. Of a verdict: the labels below it."""
        dimension: Dimension | None = self.known.get(slug) or self.known.get(self.lifted)
        counts = sorted(votes.items(), key=lambda one: (-one[1], one[0]))
        return ", ".join(f"{dimension.title_of(label) if dimension else label} {n:,}" for label, n in counts)


def counted(project: Project, parameters: Mapping, questions: Iterable[Mapping]) -> list[dict]:
    """What a run or a preview counts, question by question."""
    titles, found = Titles(project, parameters), []
    for one in questions:
        slug = one["question"]
        labels = [(titles.label(slug, label), n) for label, n in one["labels"].items()]
        found.append(
            dict(one)
            | {
                "title": titles.question(slug),
                "labels": labels,
                "open": list(one["open"].items()),
                "agreement": list(one["agreement"].items()),
            }
        )
    return found


def listed(project: Project, user: User, kind: str, parameters: Mapping, rows: Iterable[Mapping]) -> list[dict]:
    """Units of a run's list with their words and items. That their votes are shown to this person is noted."""
    rows, titles = list(rows), Titles(project, parameters)
    about = KINDS[kind].unit_kind(project.type) if kind in KINDS else project.type.unit_kind
    stored = Unit.objects.filter(dataset=project.dataset_id, kind=about, key__in={one["unit"] for one in rows})
    units = dict(stored.order_by("version").values_list("key", "pk"))
    words = unit_words.words_of(about, units.values())
    items = Item.objects.filter(project=project, item_units__unit__in=units.values())
    of_unit = {item.unit: item for item in items.annotate(unit=F("item_units__unit"))}
    showing.showed(project, user, of_unit.values(), [], labels=False, more=[Shown.UNNAMED_LABELS])
    found = []
    for one in rows:
        unit = units.get(one["unit"])
        title, text = words.get(unit, ("", ""))
        found.append(
            {
                "words": title or one["unit"],
                "text": text,
                "item": of_unit.get(unit),
                "question": titles.question(one.get("question", "")),
                "votes": titles.votes(one.get("question", ""), one["votes"]),
                "posterior": one.get("posterior"),
                "becomes": titles.label(one.get("question", ""), one.get("becomes", "")),
            }
        )
    return found
