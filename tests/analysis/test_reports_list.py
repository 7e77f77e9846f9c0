"""The list of reports: it begins with stored figures, and computes nothing."""

import re

import pytest
from django.urls import reverse

from annotation.models import Job, LabelAccess, Membership
from tests.analysis.looks import compute_pages
from tests.factories import join, make_user
from tests.world import client_of
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db


def test_it_begins_with_the_figures_of_agreement_and_comparison(client):
    project, _ = WORLDS["agreement"]()
    page = reverse("project_reports", args=[project.slug])
    before = client_of(project.created_by).get(page).content.decode()
    assert "Not computed yet" in before and not Job.objects.filter(kind=Job.Kind.REPORT).exists()
    agreement = reverse("project_agreement", args=[project.slug])
    compute_pages(client, project.created_by, [agreement])
    figures = re.findall("<strong>[^<]*</strong> <span>[^<]*</span>", client.get(agreement).content.decode())
    shown = client.get(page).content.decode()
    assert len(figures) == 2 and all(figure in shown for figure in figures) and 'class="word"' in shown
    assert "labels have changed since" not in shown
    person = join(project, make_user(), Membership.Role.ANNOTATOR, Membership.Role.RESEARCHER)
    assert 'class="headlines' not in client_of(person).get(page).content.decode()
    assert not LabelAccess.objects.filter(user=person).exists()


def test_commands_are_for_administrators():
    project, _ = WORLDS["agreement"]()
    page = reverse("project_reports", args=[project.slug])
    assert "manage.py" not in client_of(project.created_by).get(page).content.decode()
    shown = client_of(make_user(is_superuser=True)).get(page).content.decode()
    assert shown.count("manage.py report") == 1
