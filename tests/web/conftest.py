"""A real Chromium before the real pages: live server with static files, people signed in, the policy on."""

import pytest

from tests.web.pages import LabellingPage


@pytest.fixture
def label(open_context):
    """Opens a project's labelling page as a person."""

    def open_page(project, user, *, acknowledges=True, **options):
        return LabellingPage(open_context(user, **options).new_page(), project).open(acknowledges=acknowledges)

    return open_page
