"""The two rows of a project's navigation: sections, and the pages of the current one, by role."""

import re

import pytest

from annotation.models import Membership, Project
from annotation.templatetags.project_pages import SECTIONS

from ..factories import join
from ..world import client_of, make_world

pytestmark = pytest.mark.django_db
COUNTED = r'(?: <span class="badge.*</span></span>)?'
LINK = re.compile(rf'<a href="([^"]*)"(?: class="push")?(?: aria-current="(\w+)")?>([^<]*?){COUNTED}</a>')


@pytest.fixture
def world():
    return make_world()


def rows(person, path: str) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Titles of the sections, of the pages below, and what is marked as current."""
    page = client_of(person).get(path).content.decode()
    nav = page[page.index('<nav class="places"') :].split("</nav>")[0]
    sections, _, below = nav.partition('<div class="tabs within">')
    marked = [(title, mark) for _, mark, title in LINK.findall(nav) if mark]
    return [row[2] for row in LINK.findall(sections)], [row[2] for row in LINK.findall(below)], marked


def test_a_researcher_has_five_sections_and_the_settings(world):
    sections, below, marked = rows(world.people["researcher"], "/projects/ports/agreement/")
    assert sections == list(SECTIONS)
    assert below == ["Reports", "Agreement", "Checkers and people", "Rules", "Releases", "Exports"]
    assert marked == [("Results", "true"), ("Agreement", "page")]


def test_a_section_of_one_page_has_its_title_and_no_second_row(world):
    sections, below, marked = rows(world.people["annotator"], "/projects/ports/guidelines/")
    assert (sections, below) == (["Overview", "My work", "Guidelines"], [])
    assert marked == [("Guidelines", "page")]


def test_pages_that_the_project_has_no_use_for_are_left_out(world):
    _, below, _ = rows(world.people["researcher"], "/projects/ports/runs/")
    assert "Drafts" not in below and "Training" in below


def test_who_still_labels_is_not_led_to_labels(world):
    Project.objects.filter(slug="ports").update(state="open")
    adjudicator = world.people["adjudicator"]
    before, _, _ = rows(adjudicator, "/projects/ports/items/")
    join(Project.objects.get(slug="ports"), adjudicator, Membership.Role.ANNOTATOR)
    after, below, _ = rows(adjudicator, "/projects/ports/items/")
    assert "Results" in before and "Results" not in after
    assert below == ["Items", "My work"]
