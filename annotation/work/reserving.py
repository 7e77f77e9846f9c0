"""Items for named people and groups, and kept from people.

A place of an item is anybody's, a person's or a group's while it is open. A rule says of an item who is to judge it:
all of these people, so many of each of these groups, none of those people. Applying it reserves the item's open places
and adds planned ones where there are too few; whatever is left is anybody's. A rule takes the place of the item's
earlier one. What people hold or have answered stays, and counts for the rule.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from django.db import transaction
from django.db.models import F, Q

from annotation import incoming
from annotation.jobs import lifecycle
from annotation.models import (
    Annotation,
    Assignment,
    Chunk,
    Item,
    ItemExclusion,
    Job,
    Membership,
    Project,
    Rater,
    User,
)
from annotation.projects import cases, reach
from annotation.projects.raters import rater_of

ITEMS_AT_ONCE = 500
RESERVED = reach.RESERVED
MAX_ROWS = 50_000
MAX_BYTES = 4_000_000  # the page of the preview carries the file
MOST_NAMED = 50
MOST_OF_A_GROUP = 20
COLUMNS = ("item", "people", "without", "groups")
# For the statement of taking: the place is anybody's or this person's, and they are not kept from the item.
TAKEABLE = """
AND (a.reserved_rater_id IS NULL OR a.reserved_rater_id = %s) AND (a.reserved_group = '' OR a.reserved_group = %s)
AND NOT EXISTS (SELECT 1 FROM annotation_itemexclusion away WHERE away.item_id = a.item_id AND away.rater_id = %s)
"""
# Whether another open place of the item is this person's or their group's, where the place is not.
HAS_OWN_PLACE = """,
EXISTS (SELECT 1 FROM annotation_assignment mine WHERE mine.item_id = a.item_id AND mine.id <> a.id
AND mine.state = 'open' AND (mine.reserved_rater_id = %s OR (mine.reserved_group <> '' AND mine.reserved_group = %s)))
AS has_own_place
"""


class ReservingError(Exception):
    """What was asked for cannot be done; the message is for the person who asked. `problems`: of a table, one for each
    line that is wrong, at most MOST_NAMED."""

    def __init__(self, message: str, problems: Sequence[str] = ()):
        super().__init__(message)
        self.problems = list(problems) or [message]


@dataclass(frozen=True)
class ItemRule:
    """Raters by their numbers; `groups` are how many of each."""

    people: tuple[int, ...] = ()
    without: tuple[int, ...] = ()
    groups: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reserved:
    """Items with a rule, places that are reserved now, and places that were added for that."""

    items: int = 0
    reserved: int = 0
    added: int = 0


def takeable_by(rater_id: int) -> Q:
    """Places that are anybody's or the person's; whether they are kept from the item is not asked."""
    group = Rater.objects.filter(pk=rater_id).values("group")
    return (Q(reserved_rater=None) | Q(reserved_rater=rater_id)) & (Q(reserved_group="") | Q(reserved_group__in=group))


def take_own_place(place: Assignment, rater: Rater) -> None:
    """Before a person takes an open place: one of the item that is reserved for them or their group is the one that
    they take. Places of an item are alike, so the two change what they are reserved for."""
    if place.reserved_rater_id == rater.pk:
        return
    others = Assignment.objects.filter(item=place.item_id, state=Assignment.State.OPEN).exclude(pk=place.pk)
    own = others.filter(reserved_rater=rater).order_by("pk").first()
    if own is None and not place.reserved_group and rater.group:
        own = others.filter(reserved_group=rater.group).order_by("pk").first()
    if own is None:
        return
    now = {"reserved_rater_id": place.reserved_rater_id, "reserved_group": place.reserved_group}
    place.reserved_rater_id, place.reserved_group = own.reserved_rater_id, own.reserved_group
    Assignment.objects.filter(pk=own.pk).update(**now)
    Assignment.objects.filter(pk=place.pk).update(
        reserved_rater_id=place.reserved_rater_id, reserved_group=place.reserved_group
    )


# ---- who is meant ----


def annotators(project: Project) -> list[Rater]:
    """Raters of the active annotators, by name; those who have none yet get one."""
    active = Membership.objects.filter(
        project=project, role=Membership.Role.ANNOTATOR, is_active=True, user__is_active=True
    )
    known = set(Rater.objects.filter(project=project, user__isnull=False).values_list("user", flat=True))
    for member in active.exclude(user__in=known).select_related("user"):
        rater_of(project, member.user)
    rows = Rater.objects.filter(project=project, user__in=active.values("user")).select_related("user")
    return sorted(rows, key=lambda rater: (rater.name.casefold(), rater.pk))


def groups_of(raters: Iterable[Rater]) -> dict[str, int]:
    """How many of these people are in each group."""
    return dict(sorted(Counter(rater.group for rater in raters if rater.group).items()))


def rule_of(project: Project, people: Iterable[str], without: Iterable[str], groups: Mapping[str, int]) -> ItemRule:
    """A rule whose people are named by email address, pseudonym or UUID. ReservingError where one is no annotator
    of the project, is named on both sides, or a group has fewer members than are asked for."""
    return _Names(project).rule(people, without, groups)


class _Names:
    """The annotators of a project by what they are called."""

    def __init__(self, project: Project):
        raters = annotators(project)
        self.groups = groups_of(raters)
        self.raters: dict[str, int] = {}
        for rater in raters:
            names = (rater.user.username, rater.user.email, rater.pseudonym, str(rater.user.uuid))
            self.raters |= {name.casefold(): rater.pk for name in names if name}

    def rule(self, people: Iterable[str], without: Iterable[str], groups: Mapping[str, int]) -> ItemRule:
        wanted, kept_away = (tuple(dict.fromkeys(map(self._rater, names))) for names in (people, without))
        if both := set(wanted) & set(kept_away):
            raise ReservingError(f"{len(both)} of the people are to get the item and not to get it")
        for name, number in groups.items():
            there = self.groups.get(name, 0)
            if number > there:
                raise ReservingError(f"{number} of the group {name!r} are asked for, and it has {there}")
        return ItemRule(wanted, kept_away, {name: number for name, number in groups.items() if number})

    def _rater(self, name: str) -> int:
        try:
            return self.raters[name.strip().casefold()]
        except KeyError:
            raise ReservingError(f"{name.strip()!r} is no annotator of this project") from None


def rules_of_table(project: Project, content: bytes) -> dict[int, ItemRule]:
    """By item, the rules of a CSV file with the columns of COLUMNS: an item's key, people between semicolons, and
    groups such as `experts:2; crowd:1`. ReservingError names each line that is wrong."""
    try:
        text = content[: MAX_BYTES + 1].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReservingError("The file is not encoded as UTF-8") from None
    if len(content) > MAX_BYTES:
        raise ReservingError(f"The file has more than {MAX_BYTES // 1_000_000} MB")
    reader = csv.DictReader(io.StringIO(text))
    missing = {"item"} - set(reader.fieldnames or ())
    if missing or not set(reader.fieldnames or ()) & set(COLUMNS[1:]):
        raise ReservingError(f"The file needs the column item, and one or more of {', '.join(COLUMNS[1:])}")
    names, rows, lines, problems = _Names(project), {}, {}, {}
    try:
        for row in reader:
            if len(rows) >= MAX_ROWS:
                raise ReservingError(f"At most {MAX_ROWS:,} items can be listed at once")
            if len(problems) == MOST_NAMED:
                break
            cells = [row.get(name) or "" for name in COLUMNS]
            key = cells[0].strip()
            try:
                if not all(map(incoming.is_storable, cells)):
                    raise ReservingError(f"it {incoming.BAD_CHARACTER}")
                if key in rows:
                    raise ReservingError(f"the item {key!r} is listed twice")
                rows[key], lines[key] = names.rule(*map(listed, cells[1:3]), _numbers(cells[3])), reader.line_num
            except ReservingError as error:
                problems[reader.line_num] = str(error)
    except csv.Error as error:
        problems[reader.line_num] = str(error)
    known = _known_items(project, rows)
    problems |= {lines[key]: f"the project has no item {key!r} to judge" for key in rows if key not in known}
    if problems:
        named = [f"Line {line}: {problem}" for line, problem in sorted(problems.items())]
        raise ReservingError(named[0], named[:MOST_NAMED])
    return by_item(project, rows)


def by_item(project: Project, rules: Mapping[str, ItemRule]) -> dict[int, ItemRule]:
    """The rules by the items' numbers. ReservingError where there is no such item to judge."""
    found = _known_items(project, rules)
    if unknown := [key for key in rules if key not in found]:
        raise ReservingError(f"The project has no item {unknown[0]!r} to judge ({len(unknown):,} such rows)")
    return {found[key]: rule for key, rule in rules.items()}


def _known_items(project: Project, keys: Iterable[str]) -> dict[str, int]:
    """The numbers of the items with these keys that can be judged."""
    found: dict[str, int] = {}
    keys = list(keys)
    for start in range(0, len(keys), ITEMS_AT_ONCE):
        rows = Item.objects.filter(project=project, key__in=keys[start : start + ITEMS_AT_ONCE], unit_count__gt=0)
        found |= dict(rows.exclude(state=Item.State.RETIRED).values_list("key", "pk"))
    return found


def rules_in_words(project: Project, rules: Mapping[int, ItemRule]) -> list[tuple[str, str]]:
    """What the first rules say, each with its item's key."""
    first = dict(list(rules.items())[:MOST_NAMED])
    keys = dict(Item.objects.filter(pk__in=first).values_list("pk", "key"))
    names = {rater.pk: rater.name for rater in annotators(project)}
    return [(keys[pk], _in_words(rule, names)) for pk, rule in first.items()]


def _in_words(rule: ItemRule, names: Mapping[int, str]) -> str:
    parts = [f"for {', '.join(names[pk] for pk in rule.people)}"] if rule.people else []
    parts += [f"{number} of {group}" for group, number in rule.groups.items()]
    parts += [f"not for {', '.join(names[pk] for pk in rule.without)}"] if rule.without else []
    return "; ".join(parts) or "for anybody"


def listed(cell: str) -> list[str]:
    """Names with semicolons between them."""
    return [name.strip() for name in cell.split(";") if name.strip()]


def _numbers(cell: str) -> dict[str, int]:
    found = {}
    for part in listed(cell):
        name, _, number = part.rpartition(":")
        if not name.strip() or not number.strip().isascii() or not number.strip().isdecimal():
            raise ReservingError(f"{part!r} is not a group and a number, such as experts:2")
        if int(number[:9]) > MOST_OF_A_GROUP:
            raise ReservingError(f"At most {MOST_OF_A_GROUP} of a group can be asked for")
        found[name.strip()] = int(number)
    return found


# ---- applying rules ----


def apply(project: Project, rules: Mapping[int, ItemRule]) -> Reserved:
    """Give these items their rules, at most ITEMS_AT_ONCE of them."""
    with transaction.atomic():
        cases.lock(project.pk)
        items = {
            item.pk: item
            for item in Item.objects.filter(project=project, pk__in=rules).exclude(state=Item.State.RETIRED)
        }
        rules = {pk: rule for pk, rule in rules.items() if pk in items}
        ItemExclusion.objects.filter(item__in=rules).delete()
        ItemExclusion.objects.bulk_create(
            ItemExclusion(item_id=pk, rater_id=rater) for pk, rule in rules.items() for rater in rule.without
        )
        rows = Assignment.objects.filter(item__in=rules).select_for_update(no_key=True, of=("self",)).order_by("pk")
        opened, had = defaultdict(list), defaultdict(set)
        for row in rows:
            if row.state == Assignment.State.OPEN:
                opened[row.item_id].append(row)
            elif row.rater_id:
                had[row.item_id].add(row.rater_id)
        for pk, rater in Annotation.objects.filter(item__in=rules).values_list("item", "rater"):
            had[pk].add(rater)
        group_of = dict(Rater.objects.filter(project=project).exclude(group="").values_list("pk", "group"))
        reserved, added = 0, []
        for pk, rule in rules.items():
            wanted = _places_wanted(rule, had[pk], group_of)
            reserved += len(wanted)
            for place, (rater, group) in zip(opened[pk], [*wanted, *[(None, "")] * len(opened[pk])], strict=False):
                place.reserved_rater_id, place.reserved_group = rater, group
            for rater, group in wanted[len(opened[pk]) :]:
                row = Assignment(project=project, item_id=pk, position=items[pk].position)
                row.reserved_rater_id, row.reserved_group = rater, group
                added.append(row)
        places = [place for of_item in opened.values() for place in of_item]
        Assignment.objects.bulk_update(places, ["reserved_rater", "reserved_group"], batch_size=200)
        Assignment.objects.bulk_create(added)
        for pk, n in Counter(row.item_id for row in added).items():
            Item.objects.filter(pk=pk).update(planned=F("planned") + n)
        # Places that were kept from a person may lie behind their cursor.
        states = [Assignment.State.OPEN, Assignment.State.LEASED]  # what is leased may come back
        is_any = Assignment.objects.filter(RESERVED, project=project, state__in=states).exists()
        is_any = is_any or ItemExclusion.objects.filter(item__project=project).exists()
        Project.objects.filter(pk=project.pk).update(queue_epoch=F("queue_epoch") + 1, reserves_items=is_any)
        reach.check(rules)
    return Reserved(len(rules), reserved, len(added))


def _places_wanted(rule: ItemRule, had: set[int], group_of: Mapping[int, str]) -> list[tuple[int | None, str]]:
    """For whom places are needed: people who have not had the item, and what is missing of each group. People who are
    named do not count for their group."""
    wanted: list[tuple[int | None, str]] = [(rater, "") for rater in rule.people if rater not in had]
    for name, number in rule.groups.items():
        there = sum(group_of.get(rater) == name for rater in had - set(rule.people))
        wanted += [(None, name)] * max(0, number - there)
    return wanted


def start(project: Project, rules: Mapping[int, ItemRule], by: User) -> Job:
    """Apply the rules in the background."""
    rows = [[pk, list(rule.people), list(rule.without), dict(rule.groups)] for pk, rule in sorted(rules.items())]
    parts = [rows[first : first + ITEMS_AT_ONCE] for first in range(0, len(rows), ITEMS_AT_ONCE)]
    chunks = [({"rules": part}, len(part)) for part in parts]
    return lifecycle.create_job(Job.Kind.RESERVING, by, chunks=chunks, project=project)


class ReservingHandler:
    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        rows = chunk.payload["rules"]
        rules = {pk: ItemRule(tuple(people), tuple(without), groups) for pk, people, without, groups in rows}
        with transaction.atomic():
            effect = apply(chunk.job.project, rules)
            Chunk.objects.filter(pk=chunk.pk).update(payload={"effect": asdict(effect)})
            lease.complete()

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        found = Counter()
        for payload in job.chunks.values_list("payload", flat=True):
            found.update(payload.get("effect", {}))
        return asdict(Reserved()) | dict(found)

    def clean_up(self, job: Job) -> None:
        """Rules that were applied stay."""


HANDLER = ReservingHandler()
