"""The settings of a project on their way to another Assay: what a manifest says of them, and a new project made so.

Members, checker runs and labels are no settings. How many judgements an item gets is stored and shown, but asked for
only if the importing user wants people to label: the labels that a file brings do not fill these places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from django.db import transaction

from annotation import incoming
from annotation.formats.content.assay import instant_text
from annotation.models import Dataset, Project, RuleRun, User
from annotation.projects import guidelines as guideline_service
from annotation.projects.cards import CardError, card_of
from annotation.projects.label_sets import save_label_set
from annotation.projects.managing import ProjectError, create_project
from annotation.projects.options import set_options
from annotation.projects.setting_kinds.kinds import NEVER
from annotation.projects.settings import SETTINGS
from annotation.task_types import LabelSetError, OptionsError, TaskType, learn, options_of, task_type

RULE_CHARS = 10_000  # of a parameter, such as a table of verdicts


class SettingsProblem(ValueError):
    """The settings of a file cannot be taken over; the message says which and why."""


@dataclass(frozen=True, slots=True)
class CarriedRun:
    """A run of a rule: what its decisions were made by. Without a kind nobody knows how it decided."""

    name: str
    version: int
    created_at: datetime
    kind: str
    parameters: Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class CarriedSettings:
    """`plain` are those of the table (annotation/projects/settings.py) that the file says; `options` and `guidelines`
    all versions, oldest first."""

    task_type: str
    label_set: Mapping | None = None  # the description, where the task type is not one that Assay ships
    plain: Mapping[str, object] = field(default_factory=dict)
    options: tuple[dict, ...] = ()
    guidelines: tuple[str, ...] = ()
    card: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[CarriedRun, ...] = ()

    @property
    def title(self) -> str:
        return self.plain.get("title", "")

    @property
    def overlap(self) -> int:
        return self.plain.get("overlap", 0)


def settings_of(project: Project) -> dict:
    """What a manifest says of them; the options are next to it."""
    return {
        **{one.name: value for one in SETTINGS.values() if one.is_exported(value := getattr(project, one.name))},
        "overlap": project.planned_overlap,
        "guidelines": list(project.guidelines.order_by("version").values_list("markdown", flat=True)),
        **({"card": project.card} if project.card else {}),
        **({"rules": rules} if (rules := _runs_of(project)) else {}),
    }


def _runs_of(project: Project) -> list[dict]:
    runs = RuleRun.objects.filter(project=project).order_by("name", "version")
    return [
        {"name": run.name, "version": run.version, "created_at": instant_text(run.created_at)}
        | ({"kind": run.kind, "parameters": run.parameters} if run.kind else {})
        for run in runs.defer("left_open", "counts")
    ]


def parse(manifest: Mapping) -> CarriedSettings:
    """The settings in a manifest. One that was written before there were settings in it has options alone, a release's
    also its title, overlap and use of suggestions. SettingsProblem where they cannot be taken over."""
    release, settings = manifest.get("release", {}), manifest.get("settings", {})
    if not isinstance(release, Mapping) or not isinstance(settings, Mapping):
        raise SettingsProblem("settings: is not a JSON object")
    settings_given = {**release, **settings}
    kind = task_type_of(manifest)
    guidelines = settings_given.get("guidelines", [])
    if not isinstance(guidelines, list) or not all(isinstance(text, str) for text in guidelines):
        raise SettingsProblem("guidelines: is not a list of texts")
    return CarriedSettings(
        task_type=kind.identifier,
        label_set=manifest.get("label_set"),
        plain=_plain(settings_given),
        options=_options(kind, manifest),
        guidelines=tuple(guidelines),
        card=_card(settings_given.get("card", {})),
        rules=_rules(settings_given.get("rules", [])),
    )


def task_type_of(manifest: Mapping) -> TaskType:
    """The task type that a manifest names, or whose label set it brings. SettingsProblem where neither is known."""
    identifier, description = manifest.get("task_type"), manifest.get("label_set")
    try:
        kind = task_type(identifier) if description is None else learn(description)
    except KeyError:
        raise SettingsProblem(f"task_type: this Assay has no task type {identifier!r}") from None
    except LabelSetError as error:
        raise SettingsProblem(f"label_set: {error}") from None
    if kind.identifier != identifier:
        raise SettingsProblem(f"label_set: is {kind.identifier}, and task_type says {identifier!r}")
    return kind


def make_project(
    user: User, settings: CarriedSettings, dataset: Dataset, *, slug: str, title: str, overlap: int
) -> Project:
    """A new project that is set up like that: all of it or, with a ProjectError, nothing."""
    with transaction.atomic():
        if settings.label_set is not None:
            save_label_set(user, settings.label_set)
        project = create_project(
            user,
            slug=slug,
            dataset=dataset,
            task_type=settings.task_type,
            guidelines=settings.guidelines[0] if settings.guidelines else "",
            **{**settings.plain, "title": title or settings.title or slug, "overlap": overlap},
        )
        if settings.card:
            Project.objects.filter(pk=project.pk).update(card=dict(settings.card))
            project.card = dict(settings.card)
        RuleRun.objects.bulk_create(RuleRun(project=project, **asdict(run)) for run in settings.rules)
        for markdown in settings.guidelines[1:]:
            guideline_service.publish(project, user, markdown)
        for options in settings.options:
            set_options(project, user, options)
        # Labels name versions by number.
        numbered = project.options_version, project.guidelines.count()
        if numbered != (len(settings.options), max(1, len(settings.guidelines))):
            raise ProjectError("Two versions of the options or guidelines in a row say the same")
    return project


def _plain(data: Mapping) -> dict[str, object]:
    found = {}
    for one in SETTINGS.values():
        if one.exported != NEVER and one.name in data:
            try:
                found[one.name] = one.from_file(data[one.name])
            except incoming.Refused as refused:
                raise SettingsProblem(f"{one.name}: {refused}") from None
    return found


def _card(data: object) -> dict[str, str]:
    try:
        return card_of(data)
    except CardError as error:
        raise SettingsProblem(f"card.{error}") from None


def _options(kind, manifest: Mapping) -> tuple[dict, ...]:
    versions = manifest.get("options_versions", {})
    numbers = [str(number) for number in range(1, len(versions) + 1)] if isinstance(versions, Mapping) else None
    if numbers is None or set(versions) != set(numbers):
        raise SettingsProblem("options_versions: is not a JSON object with the versions 1, 2, … as keys")
    checked = []
    for number in numbers:
        try:
            checked.append(options_of(kind, versions[number]))
        except OptionsError as error:
            raise SettingsProblem(f"options_versions.{number}: {error}") from None
    return tuple(checked)


def _rules(data: object) -> tuple[CarriedRun, ...]:
    """Whether a kind takes its parameters shows when it is run again."""
    found: dict[tuple[str, int], CarriedRun] = {}
    if not isinstance(data, list):
        raise SettingsProblem("rules: is not a list")
    for place, one in enumerate(data):
        try:
            run = _run(one if isinstance(one, dict) else {})
        except incoming.Refused as refused:
            raise SettingsProblem(f"rules.{place}.{refused.place}: {refused}") from None
        if (run.name, run.version) in found:
            raise SettingsProblem(f"rules.{place}: version {run.version} of {run.name} occurs twice")
        found[run.name, run.version] = run
    return tuple(found.values())


def _run(data: dict) -> CarriedRun:
    def value(name: str, check: Callable, *limits: int):
        try:
            return check(data.get(name, "" if name == "kind" else None), *limits)
        except incoming.Refused as refused:
            raise incoming.Refused(str(refused), name) from None

    name = value("name", incoming.text, RuleRun.NAME_CHARS)
    if not RuleRun.is_name(name):
        raise incoming.Refused("must be small letters, digits and hyphens", "name")
    parameters = data.get("parameters", {})
    known = parameters.values() if isinstance(parameters, dict) else [None]
    if any(type(one) not in (str, int, float) or len(str(one)) > RULE_CHARS for one in known):
        raise incoming.Refused("must be texts and numbers by name", "parameters")
    return CarriedRun(
        name,
        value("version", incoming.whole, 1, incoming.MAX_INTEGER),
        value("created_at", incoming.instant),
        value("kind", incoming.text, RuleRun._meta.get_field("kind").max_length),
        parameters,
    )
