"""A real Chromium before the real pages: live server with static files, people signed in, the policy on."""

import pytest

from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage


@pytest.fixture
def ann():
    return make_user("ann")


@pytest.fixture
def project(ann):
    """Eight pairs of a claim and evidence, which Ann alone labels."""
    dataset = make_dataset()
    make_claim_evidence(dataset, 8)
    return make_project(dataset, overlap=1, annotators=[ann])


@pytest.fixture
def label(open_context):
    """Opens a project's labelling page as a person."""

    def open_page(project, user, *, acknowledges=True, **options):
        return LabellingPage(open_context(user, **options).new_page(), project).open(acknowledges=acknowledges)

    return open_page
