"""Every page in both colour schemes and on a phone: axe-core finds nothing serious, nothing scrolls sideways."""

import html
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.models import Job, Membership
from tests.factories import join, make_user
from tests.retrieval.harbour import ranked
from tests.routes import all_routes
from tests.web.looks import faults
from tests.world import client_of, label_one, make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OF_PROJECT = (
    "project_detail",
    "project_settings",
    "project_webhooks",
    "project_options",
    "project_members",
    "invite_members",
    "project_learning",
    "project_progress",
    "project_pay",
    "project_start",
    "project_guidelines",
    "project_items",
    "project_comments",
    "project_runs",
    "project_training",
    "project_prompts",
    "project_rules",
    "project_retrieval",
    "settings_history",
    "project_exports",
    "project_releases",
    "project_card",
    "project_reports",
    "project_agreement",
    "project_comparison",
    "project_difference",
    "project_annotators",
    "project_alternative_annotator",
    "project_prevalence",
    "study_links",
    "extend_last_days",
    "study_consent",
    "study_questionnaires",
)
OF_SITE = ("home", "help_start", "study_new", "project_new", "dataset_list", "dataset_new", "checker_list",
           "label_set_list", "label_set_new",
           "account", "account_keys", "account_tokens", "mfa_index", "mfa_activate_totp", "account_change_password",
           "usersessions_list",
           "account_logout")  # fmt: skip
OF_ADMINISTRATORS = (
    "site_invitations", "site_health", "site_address", "account_list", "accounts_invite", "account_history",
)  # fmt: skip
OF_STRANGERS = ("account_login", "account_reset_password", "account_reset_password_done")
OF_ONE_THING = {
    "help": lambda world: ["formats"],
    "dataset_detail": lambda world: [world.dataset.slug],
    "dataset_settings": lambda world: [world.dataset.slug],
    "import_new": lambda world: [world.dataset.slug],
    "study_file": lambda world: [world.dataset.slug],
    "import_detail": lambda world: [world.import_job.uuid],
    "pairs_new": lambda world: [world.dataset.slug],
    "pairs_detail": lambda world: [world.pairs_job.uuid],
    "job_detail": lambda world: [world.job.uuid],
    "run_detail": lambda world: [world.run.uuid],
    "project_drafts": lambda world: [world.drafting.slug],
    "project_generations": lambda world: [world.drafting.slug],
    "generation_detail": lambda world: [world.generation.uuid],
    "extraction_new": lambda world: [world.drafting.slug],
    "extraction_detail": lambda world: [world.extraction.uuid],
    "draft_source": lambda world: [world.drafting.slug, world.draft.response_id],
    "training_detail": lambda world: [world.trained_model.uuid],
    "retrieval_detail": lambda world: [world.retrieval.uuid],
    "item_detail": lambda world: [world.project.slug, world.item.uuid],
    "thread": lambda world: [world.project.slug, world.thread.uuid],
    "item_key": lambda world: [world.project.slug, world.item.uuid],
    "label_set_detail": lambda world: [world.label_set.pk],
    "label_set_next": lambda world: [world.label_set.pk],
    "webhook_detail": lambda world: [world.webhook.uuid],
    "rule_new": lambda world: [world.project.slug, "majority"],
    "rule_job": lambda world: [world.rule_job.uuid],
    "claims_new": lambda world: [world.dataset.slug],
    "claims_detail": lambda world: [world.collection.uuid],
}
WITH_A_QUERY = ("project_behind", "retrieval_ranking")  # in their addresses
# Labelling has tests of its own; the rest are answers to forms, fragments, files, or wait for a step before them.
ELSEWHERE = {
    # tests/participation/test_in_chromium.py, tests/web/test_who_gets_what.py, tests/progress
    "study_link", "withdraw_member", "return_to_study", "join_study", "play_participant", "end_play", "new_return_code",
    "participants_csv", "participant_outcome", "study_link_state", "study_questionnaire", "questionnaire_csv",
    "answer_questionnaire", "taking_part", "give_consent", "finish_study", "withdraw_consent", "my_hours", "own_pay",
    "project_items_return", "reserved_items", "reserve_by_table", "reserving_groups", "project_items_order",
    "work_page", "work_worker", "invitation", "withdraw_invitation", "guidelines_preview", "project_options_preview",
    "project_state", "project_make_items", "password_link",
    "member_roles", "item_more", "item_release", "item_withdraw", "project_items_priority", "import_columns",
    "study", "study_columns",
    "project_items_stuck", "learner_decision", "project_weekly_mail", "pay_csv", "panel_pay_csv", "history_csv",
    "project_rates", "project_coverage", "project_report_tables", "project_report",
    "project_picture", "project_release", "project_release_withdraw", "project_release_changes",
    "project_release_public", "project_release_hub", "public_release", "public_release_file",
    "import_start", "pairs_start", "import_mapping", "import_left_out",
    "import_errors_csv",
    "import_errors_md", "job_progress", "job_cancel", "job_resume", "run_progress", "extraction_progress",
    "generation_progress", "generation_retry", "generation_limits", "generation_publish", "generation_estimate",
    "extraction_limits",
    "revoke_token", "run_estimate", "run_limits", "run_retry", "run_show", "training_run", "artifact_download",
    "retrieval_progress",
    "retrieval_retry", "retrieval_limits", "retrieval_publish", "retrieval_documents", "retrieval_estimate",
    "retrieval_trec", "retrieval_jsonl",
    "drafts_publish", "draft_add", "label_set_file", "drafts_accept", "draft_decide", "extraction_retry",
    "drafts_accept_undecided", "extraction_estimate",
    "webhook_ping", "webhook_remove", "delivery_repeat",
    # tests/web/test_adjudication.py
    "adjudication", "adjudication_next", "adjudication_item", "adjudication_decide", "adjudication_undo",
    "adjudication_reveal", "adjudication_snapshot", "guideline_examples",
    # tests/journeys/test_decisions.py
    "project_rule",
    "claims_csv", "claims_publish", "retrieval_web",
    # tests/operation/test_health.py
    "healthz", "readyz", "metrics",
    # tests/web/test_languages.py
    "choose_language",
    # tests/accounts/
    "account_detail", "account_action", "invitation_code",
    # tests/llm/test_calibrating.py
    "prompt_detail", "prompt_estimate",
}  # fmt: skip


def addresses(world: SimpleNamespace) -> dict[str, str]:
    found = {name: reverse(name) for name in OF_SITE}
    found |= {name: reverse(name, args=[world.project.slug]) for name in OF_PROJECT}
    found["project_behind"] = world.behind
    found["retrieval_ranking"] = _ranking_beside_another(world)
    return found | {name: reverse(name, args=arguments(world)) for name, arguments in OF_ONE_THING.items()}


def _ranking_beside_another(world: SimpleNamespace) -> str:
    query = {"query": world.retrieval.rankings.first().claim.key, "other": world.other_retrieval.uuid}
    return f"{reverse('retrieval_ranking', args=[world.retrieval.uuid])}?{urlencode(query)}"


@pytest.fixture
def world():
    world = make_world(9)
    world.other_retrieval = ranked(world.project, retriever="dense")
    researcher, annotator = world.people["researcher"], world.people["annotator"]
    other = make_user("second-annotator")
    join(world.project, other, Membership.Role.ANNOTATOR)
    for person in (annotator, other, annotator, other):
        label_one(world.project, person)
    client = client_of(researcher)
    for name in ("project_agreement", "project_comparison"):
        client.get(reverse(name, args=[world.project.slug]))
    for job in Job.objects.filter(kind=Job.Kind.REPORT):
        lifecycle.run_here(job)
    agreement = client.get(reverse("project_agreement", args=[world.project.slug])).content.decode()
    behind = reverse("project_behind", args=[world.project.slug, "agreement"])
    world.behind = html.unescape(agreement[agreement.index(behind) :].split('"', 1)[0])
    return world


def test_no_page_is_forgotten():
    known = {
        *OF_ADMINISTRATORS,
        "my_work",
        "style",
        *WITH_A_QUERY,
        *OF_SITE,
        *OF_PROJECT,
        *OF_STRANGERS,
        *OF_ONE_THING,
        *ELSEWHERE,
    }
    ours = {
        entry.name
        for address, entry in all_routes().items()
        if entry.name and not address.startswith(("accounts/", "api/"))
    }
    assert ours - known == set()


def test_no_page_has_anything_grave_or_scrolls_sideways(open_context, world, settings):
    problems = []

    def look(page, name, address):
        response = page.goto(address)
        problems.extend(faults(page, name) if response.ok else [f"{name}: answered {response.status}"])

    page = open_context(world.people["researcher"], color_scheme="dark").new_page()
    for name, address in addresses(world).items():
        look(page, name, address)
    settings.DEMO = True  # which alone has it
    look(page, "style", reverse("style"))
    settings.DEMO = False
    administrator = open_context(world.people["admin"], color_scheme="dark").new_page()
    for name in OF_ADMINISTRATORS:
        look(administrator, name, reverse(name))
    annotator = open_context(world.people["annotator"], color_scheme="dark").new_page()
    look(annotator, "my_work", reverse("my_work", args=[world.project.slug]))
    stranger = open_context(color_scheme="dark").new_page()
    for name in OF_STRANGERS:
        look(stranger, name, reverse(name))
    assert not problems, "\n".join(problems)
