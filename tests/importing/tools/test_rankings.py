"""Rankings come out as Label Studio and Argilla have them, and in again as they were."""

import uuid

import pytest

from annotation.formats import detect
from annotation.models import Judgement, OutputComparison, Project, Suggestion
from tests.importing.tools.files import export, import_by_command
from tests.world.preferred import PEOPLE, STRENGTHS, import_rows, ranked_rows

pytestmark = pytest.mark.django_db

FILES = {"label-studio": ("label-studio.json", "label-studio.xml"), "argilla": ("argilla.zip",)}
TIED = 3  # comparisons in which one person ranks two outputs alike


def ranked() -> Project:
    """Five prompts with rankings by three people and a judge. Ties are Ada's."""
    found = list(ranked_rows(5))
    judged = [one | {"ranking": " > ".join(STRENGTHS), "judge": "model:judge-x"} for one in found[:: len(PEOPLE)]]
    for one in found[: TIED * len(PEOPLE) : len(PEOPLE)]:
        one["ranking"] = " = ".join(one["ranking"].rsplit(" > ", 1))
    return import_rows([*found, *judged], "ranked")


def contents(project: Project) -> dict[str, tuple]:
    rows = OutputComparison.objects.filter(dataset=project.dataset)
    names = [f"{part}_{place}" for part in ("output", "system") for place in "abcde"]
    return {key: tuple(more) for key, *more in rows.values_list("key", "question__text", *names)}


def answers(project: Project) -> set[tuple[str, str, str]]:
    judgements = Judgement.objects.filter(revision__annotation__item__project=project)
    return set(judgements.values_list("unit__key", "revision__annotation__rater__name", "label"))


def suggestions(project: Project) -> set[tuple[str, str, str]]:
    found = Suggestion.objects.filter(run__project=project)
    return set(found.values_list("unit__key", "run__checker", "label"))


def name_in(tool: str, pseudonym: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, pseudonym)) if tool == "argilla" else pseudonym


@pytest.mark.parametrize("tool", FILES)
def test_rankings_come_in_as_they_went_out(tmp_path, tool):
    project = ranked()
    lost = export(project, tool, tmp_path)["lost"][tool]
    paths = [tmp_path / name for name in FILES[tool]]
    assert detect(paths[0]) == "rankings"
    again = import_by_command(*paths, format="rankings", slug="again")
    assert again.task_type == "ranking/ties/1"
    assert contents(again) == contents(project) and len(contents(project)) == 5
    pseudonyms = dict(project.raters.values_list("name", "pseudonym"))
    expected = {(unit, name_in(tool, pseudonyms[name]), label) for unit, name, label in answers(project)}
    tied = {one for one in expected if "." in one[2]}
    assert len(tied) == TIED
    assert answers(again) == (expected if tool == "argilla" else expected - tied)
    assert ("Rankings with ties" in str(lost)) == (tool == "label-studio")
    assert suggestions(again) == suggestions(project) and len(suggestions(project)) == 5
