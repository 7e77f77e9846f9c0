"""A setting of a project is a line of the table: forms, bounds, the API, exports, history and documentation follow."""

import json

import pytest

from annotation.projects import managing
from annotation.projects.carried_settings import SettingsProblem, make_project, parse, settings_of
from annotation.projects.setting_kinds.kinds import (
    ALWAYS,
    NEVER,
    UNLESS_DEFAULT,
    DaySetting,
    DrawnSetting,
    FlagSetting,
    NumberSetting,
    ProjectSetting,
    RunSetting,
    ShareSetting,
)
from annotation.projects.settings import SETTINGS, TIME, in_words
from tests.api.programs import DOCS, Program, problem_of
from tests.factories import MORE_SETTINGS, join, make_claim_evidence, make_dataset, make_user
from tests.factories import make_project as project_with_items
from tests.world import client_of

KIND = "claim-evidence/six-way/1"
# A column of projects that is no setting.
MADE_UP = NumberSetting(
    name="queue_epoch",
    label="Pause between items",
    help="For a rest.",
    bounds=(0, 9),
    most=12,
    unit="breaths",
    section=TIME,
    can_change=True,
    exported=UNLESS_DEFAULT,
)
HEAD = "| setting | meaning | values | default | can be set | annotators see it | in exports |"
EXPORTED = {ALWAYS: "yes", UNLESS_DEFAULT: "unless it is the default", NEVER: "no"}


def table() -> str:
    """As docs/api.md has it."""
    rows = [f"| {' | '.join(row(one))} |" for one in SETTINGS.values()]
    return "\n".join([HEAD, "|---" * HEAD.count(" | ") + "|---|", *rows])


def row(one: ProjectSetting) -> list[str]:
    kept = f", as `{one.name}`" if isinstance(one, ShareSetting) else ""
    when = " and ".join(["at creation"] * bool(one.section) + ["later"] * one.can_change)
    seen = "yes" if one.is_public else "no"
    said = [f"`{one.field_name}`", one.description, values(one), default(one), when, seen]
    return [*said, EXPORTED[one.exported] + kept]


def values(one: ProjectSetting) -> str:
    match one.limits:
        case {"decimal_places": places}:
            return f"an amount with {places} decimals"
        case {"min_value": least, "max_value": most}:
            return f"a whole number from {least} to {most:,}"
        case {"choices": choices}:
            return f"one of {', '.join(value for value, _ in choices)}"
        case {"max_length": most}:
            return f"a text of at most {most:,} characters"
    if isinstance(one, DaySetting):
        return "a day such as 2026-12-24, or null"
    return "true or false" if isinstance(one, FlagSetting) else "the UUID of a run, or null"


def default(one: ProjectSetting) -> str:
    match one:
        case DrawnSetting():
            return "drawn"
        case RunSetting() | DaySetting():
            return "none"
        case FlagSetting():
            return f"{one.default}".lower()
    value = one.form_field().prepare_value(one.default)
    return f"{value}" if value != "" else "required" if one.is_required else "empty"


def test_the_documentation_has_the_table():
    assert table() in DOCS, f"docs/api.md needs this table:\n{table()}"


@pytest.fixture
def owner():
    return make_user("rosa", is_staff=True, is_superuser=True)


@pytest.fixture
def project(owner):
    dataset = make_dataset(owner, slug="ice")
    make_claim_evidence(dataset, 2)
    return project_with_items(dataset, KIND, slug="frost")


@pytest.fixture
def made_up(monkeypatch, project):
    """With the value that the project has, since making items raised it."""
    monkeypatch.setitem(SETTINGS, MADE_UP.name, MADE_UP)
    type(project).objects.update(queue_epoch=0)
    project.refresh_from_db()


@pytest.mark.django_db
@pytest.mark.usefixtures("made_up")
def test_pages_ask_for_a_new_setting_within_its_bounds_and_tell_whose_change_it_is(owner, project):
    client = client_of(owner)
    for address in ("/projects/new/", "/projects/frost/settings/"):
        field = client.get(address).context["form"]["queue_epoch"]
        assert field.label == "Pause between items, in breaths" and f"{field.label}</label>" in page(client, address)
    new = {"title": "Thaw", "dataset": project.dataset.pk, "task_type": KIND, "overlap": 1, "multiple_percent": 50}
    new |= {"order": "file", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 9}
    refused = client.post("/projects/new/", new | {"queue_epoch": 10}).content.decode()
    assert refused.count("Ensure this value is less than or equal to 9.") == 1
    assert client.post("/projects/new/", new | {"queue_epoch": 7}).status_code == 302
    made = type(project).objects.get(slug="thaw")
    assert (made.multiple_share, made.order, made.lease_minutes) == (0.5, "file", 9)
    settings = MORE_SETTINGS | {"title": "Frost", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    refused = client.post("/projects/frost/settings/", settings | {"queue_epoch": 10}).content.decode()
    assert refused.count("Ensure this value is less than or equal to 9.") == 1
    assert client.post("/projects/frost/settings/", settings | {"queue_epoch": 8}).status_code == 302
    [change] = project.settings_changes.all()
    assert change.changes["queue_epoch"] == [0, 8]
    assert "Pause between items, in breaths: " in page(client, "/projects/frost/settings/history/")
    annotator = make_user("ann")
    join(project, annotator, "annotator")
    assert "<dt>Pause between items</dt><dd><bdi>8 breaths</bdi></dd>" in page(client, "/projects/frost/")
    assert "Pause between items" not in page(client_of(annotator), "/projects/frost/")


def page(client, address: str) -> str:
    return client.get(address).content.decode()


@pytest.mark.django_db
@pytest.mark.usefixtures("made_up")
def test_programs_read_and_change_a_new_setting_within_its_bounds(owner, project):
    program = Program(owner)
    before = program.read("projects/frost/settings/")
    assert before["queue_epoch"] == 0
    [error] = problem_of(program.send("projects/frost/settings/", {"queue_epoch": 10}), 422)["errors"]
    assert error == {"field": "queue_epoch", "message": "Ensure this value is less than or equal to 9."}
    assert program.send("projects/frost/settings/", {"queue_epoch": 5}).json() == before | {"queue_epoch": 5}
    new = {"title": "Thaw", "dataset": "ice", "task_type": KIND}
    [error] = problem_of(program.send("projects/", new | {"queue_epoch": -1}), 422)["errors"]
    assert error["field"] == "queue_epoch"
    assert program.send("projects/", new | {"queue_epoch": 4}).status_code == 201


@pytest.mark.django_db
@pytest.mark.usefixtures("made_up")
def test_exports_carry_a_new_setting_unless_it_is_the_default(owner, project):
    manifest = {"task_type": KIND, "settings": settings_of(project)}
    assert "queue_epoch" not in manifest["settings"]
    type(project).objects.update(queue_epoch=11)
    project.refresh_from_db()
    manifest = json.loads(json.dumps({"task_type": KIND, "settings": settings_of(project)}))
    assert manifest["settings"]["queue_epoch"] == 11
    again = make_project(owner, parse(manifest), project.dataset, slug="again", title="Again", overlap=0)
    again.refresh_from_db()
    assert again.queue_epoch == 11
    manifest["settings"]["queue_epoch"] = 13
    with pytest.raises(SettingsProblem, match="^queue_epoch: 13 is not a whole number from 0 to 12$"):
        parse(manifest)


@pytest.mark.usefixtures("made_up")
@pytest.mark.django_db
def test_the_documentation_would_have_a_new_setting():
    words = "Pause between items, in breaths. For a rest. | a whole number from 0 to 9 | 0 | at creation and later | no"
    assert f"| `queue_epoch` | {words} | unless it is the default |" in table() and table() not in DOCS


def test_defaults_are_within_the_bounds():
    for one in SETTINGS.values():
        if one.exported != NEVER and one.default is not None:
            assert one.from_file(one.default) == one.default, one.name


@pytest.mark.django_db
def test_a_project_keeps_a_value_from_before_there_was_a_bound(owner, project):
    stored = 100_000
    type(project).objects.update(minimum_seconds=stored)
    program = Program(owner)
    assert program.send("projects/frost/settings/", {"title": "Ice"}).json()["minimum_seconds"] == stored
    problem_of(program.send("projects/frost/settings/", {"minimum_seconds": stored}), 422)
    settings = MORE_SETTINGS | {"title": "Ice", "prefill": "off", "minimum_seconds": stored, "lease_minutes": 60}
    assert client_of(owner).post("/projects/frost/settings/", settings).status_code == 302


@pytest.mark.django_db
def test_programs_and_the_page_accept_the_same_times(owner, project):
    program, client = Program(owner), client_of(owner)
    for name, most in (("minimum_seconds", 86_400), ("lease_minutes", 525_600)):
        assert program.send("projects/frost/settings/", {name: most}).json()[name] == most
        problem_of(program.send("projects/frost/settings/", {name: most + 1}), 422)
        settings = MORE_SETTINGS | {"title": "Frost", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
        assert client.post("/projects/frost/settings/", settings | {name: most}).status_code == 302
        assert client.post("/projects/frost/settings/", settings | {name: most + 1}).status_code == 200


@pytest.mark.django_db
def test_groups_that_few_projects_use_are_folded_until_this_one_does():
    project = project_with_items(make_dataset())
    client, place = client_of(project.created_by), f"/projects/{project.slug}/settings/"

    def folded() -> list[str]:
        return [title for title, _, is_folded in client.get(place).context["form"].groups if is_folded]

    assert folded() == [
        "Further judgements where answers differ",
        "How much one person and one group label",
        "Qualification and checks",
        "Pay",
    ]
    managing.update_project(project, check_every=5)
    assert folded() == ["Further judgements where answers differ", "How much one person and one group label", "Pay"]


def test_pages_list_settings_that_few_projects_use_where_they_are_changed():
    """Of qualification, checks and limits a project without them says nothing."""
    values = {one.name: one.default for one in SETTINGS.values()} | {"seed": 1}
    shown = {label for label, _ in in_words(values)}
    assert "Judgements per item" in shown and "Time to answer" in shown
    assert not shown & {"Pass mark of the qualification, in %", "Tries", "After failed checks", "Items ready ahead"}
    assert ("Tries", "3") in in_words(values | {"qualification_tries": 3})
